#include "loadgen/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "kw_messages.h"
#include "lib/wire/batch.h"
#include "loadgen/clock.h"

enum { PRODUCE_MAX = 12, FETCH_MAX = 12 };   /* from version 13 on topics are named by id */
enum { CORRELATION_AT = 8 };                 /* in a frame: behind size, key and version */

static int64_t soon(void)
{
	return kc_now_ms() + LG_BLOCK_MS;
}

/* ---- encoding ---- */

static int put_batch(const struct lg_requests *requests, struct kw_buf *batch, struct kt_err *err)
{
	struct kw_record *records = calloc((size_t)requests->records, sizeof *records);
	char *value = malloc((size_t)requests->size);
	struct kw_batch_spec spec = kw_batch_spec_default;
	int rc = KT_ENOMEM;

	if (records && value) {
		for (int i = 0; i < requests->size; i++)
			value[i] = (char)('a' + i % 26);
		for (int i = 0; i < requests->records; i++)
			records[i] = (struct kw_record){.offsetDelta = i, .key = {NULL, -1},
							.value = {(const uint8_t *)value, requests->size}};
		spec.attributes = (int16_t)requests->codec;
		spec.baseTimestamp = lg_wall() / LG_MS;
		rc = kw_batch_build(&spec, records, requests->records, batch, err);
	} else {
		kt_fail(err, rc, "no memory");
	}
	free(value);
	free(records);
	return rc;
}

static int put_produce(struct lg_blocks *blocks, int version, const struct kw_buf *batch, struct kt_err *err)
{
	int32_t n = blocks->requests->partitions;
	struct kw_ProduceRequest_PartitionProduceData *data;
	struct kw_ProduceRequest_TopicProduceData topic = {.name = kw_str(blocks->requests->topic)};
	struct kw_ProduceRequest request = {
		.transactionalId = KW_NULL_STR, .acks = (int16_t)blocks->requests->acks, .timeoutMs = LG_BLOCK_MS,
		.topicData = {&topic, 1},
	};

	data = kw_new_array(&kw_ProduceRequest_PartitionProduceData_struct, n, &blocks->arena);
	if (!data)
		return kt_fail(err, KT_ENOMEM, "no memory");
	for (int32_t i = 0; i < n; i++) {
		data[i].index = i;
		data[i].records = (struct kw_records){.p = batch->p, .n = (int32_t)batch->n};
	}
	topic.partitionData.v = data;
	topic.partitionData.n = n;
	return kc_encode(blocks->conn, LG_BLOCK_PRODUCE, version, &request, &blocks->frames, NULL, err);
}

/* Asks each partition for the one batch that was written to it. */
static int put_fetch(struct lg_blocks *blocks, int version, const struct kw_buf *batch, struct kt_err *err)
{
	int32_t n = blocks->requests->partitions;
	struct kw_FetchRequest *request = kw_new(kw_request(LG_BLOCK_FETCH), &blocks->arena);
	struct kw_FetchRequest_FetchTopic topic = {.topic = kw_str(blocks->requests->topic)};
	struct kw_FetchRequest_FetchPartition *data;

	data = kw_new_array(&kw_FetchRequest_FetchPartition_struct, n, &blocks->arena);
	if (!request || !data)
		return kt_fail(err, KT_ENOMEM, "no memory");
	for (int32_t i = 0; i < n; i++) {
		data[i].partition = i;
		data[i].fetchOffset = blocks->next[i] - blocks->requests->records;
		data[i].partitionMaxBytes = (int32_t)batch->n;
	}
	topic.partitions.v = data;
	topic.partitions.n = n;
	request->maxBytes = 1 << 28;
	request->topics.v = &topic;
	request->topics.n = 1;
	return kc_encode(blocks->conn, LG_BLOCK_FETCH, version, request, &blocks->frames, NULL, err);
}

/* The one request of the block, then as many copies. */
static int repeat(struct lg_blocks *blocks, struct kt_err *err)
{
	blocks->frame = blocks->frames.n;
	for (int i = 1; i < blocks->requests->block; i++) {
		uint8_t *room = kw_buf_room(&blocks->frames, blocks->frame);

		if (!room)
			return kt_fail(err, KT_ENOMEM, "no memory");
		memcpy(room, blocks->frames.p, blocks->frame);
		blocks->frames.n += blocks->frame;
	}
	return 0;
}

/* ---- answers ---- */

/* The batch went behind the last one: nobody else's lies in between, so that what is deleted is ours alone. */
static int judge_batch(struct lg_blocks *blocks, const struct kw_ProduceResponse_PartitionProduceResponse *partition,
		       struct kt_err *err)
{
	int64_t *next;

	if (partition->index < 0 || partition->index >= blocks->requests->partitions)
		return kt_fail(err, KT_ECORRUPT, "Produce answers for partition %d", (int)partition->index);
	if (partition->errorCode)
		return lg_blocks_refused("Produce", partition->errorCode, partition->errorMessage, err);
	next = &blocks->next[partition->index];
	if (partition->baseOffset != *next)
		return kt_fail(err, KT_EPEER, "somebody else writes to topic \"%s\", too: its partition %d gave a "
			       "batch offset %lld, not %lld", blocks->requests->topic, (int)partition->index,
			       (long long)partition->baseOffset, (long long)*next);
	*next += blocks->requests->records;
	blocks->written = true;
	return 0;
}

static int judge_produce(struct lg_blocks *blocks, const struct kw_ProduceResponse *response, struct kt_err *err)
{
	if (response->responses.n != 1 || response->responses.v[0].partitionResponses.n != blocks->requests->partitions)
		return kt_fail(err, KT_ECORRUPT, "the answer to Produce has not the partitions that were asked for");
	for (int32_t i = 0; i < blocks->requests->partitions; i++)
		if (judge_batch(blocks, &response->responses.v[0].partitionResponses.v[i], err))
			return err->code;
	return 0;
}

static int judge_fetch(const struct lg_blocks *blocks, const struct kw_FetchResponse *response, struct kt_err *err)
{
	if (response->errorCode)
		return lg_blocks_refused("Fetch", response->errorCode, KW_NULL_STR, err);
	if (response->responses.n != 1 || response->responses.v[0].partitions.n != blocks->requests->partitions)
		return kt_fail(err, KT_ECORRUPT, "the answer to Fetch has not the partitions that were asked for");
	for (int32_t i = 0; i < blocks->requests->partitions; i++) {
		const struct kw_FetchResponse_PartitionData *partition = &response->responses.v[0].partitions.v[i];
		struct kw_batch batch;

		if (partition->errorCode)
			return lg_blocks_refused("Fetch", partition->errorCode, KW_NULL_STR, err);
		if (partition->records.n < 0 ||
		    kw_batch_parse(partition->records.p, (size_t)partition->records.n, &batch, NULL) ||
		    batch.count != blocks->requests->records)
			return kt_fail(err, KT_EPEER, "Fetch: the answer has not the batch that was written");
	}
	return 0;
}

static int take_answer(struct lg_blocks *blocks, int api, int32_t expected, struct kt_err *err)
{
	const uint8_t *p;
	int32_t correlation;
	void *answer;
	size_t n;

	kw_arena_reset(&blocks->arena);
	if (kc_read_frame(blocks->conn, soon(), &p, &n, err) ||
	    kc_decode(api, blocks->version, p, n, &blocks->arena, &correlation, &answer, err))
		return err->code;
	if (correlation != expected)
		return kt_fail(err, KT_ECORRUPT, "an answer with correlation id %d where %d is due", (int)correlation,
			       (int)expected);
	return api == LG_BLOCK_PRODUCE ? judge_produce(blocks, answer, err) : judge_fetch(blocks, answer, err);
}

/* After a refusal the others' answers are read all the same: what was written must be known to be deleted. */
static int exchange(struct lg_blocks *blocks, int api, int n, struct kt_err *err)
{
	int32_t first = blocks->correlation + 1;
	struct kt_err why;

	for (int i = 0; i < n; i++)
		kw_wr32(blocks->frames.p + (size_t)i * blocks->frame + CORRELATION_AT, (uint32_t)++blocks->correlation);
	blocks->unread = kc_write(blocks->conn, blocks->frames.p, (size_t)n * blocks->frame, soon(), err) != 0;
	for (int i = 0; i < n && !blocks->unread; i++) {
		kt_err_init(&why);
		if (take_answer(blocks, api, first + i, &why) == 0)
			continue;
		if (!err->code)
			*err = why;
		blocks->unread = why.code != KT_EPEER;
	}
	return err->code;
}

int lg_blocks_run(struct lg_blocks *blocks, int n, struct kt_err *err)
{
	return exchange(blocks, (int)blocks->requests->api, n, err);
}

/* ---- life ---- */

static int pick_version(struct lg_blocks *blocks, int api, int max, struct kt_err *err)
{
	blocks->version = kc_version(blocks->conn, api, max);
	return blocks->version >= 9 || (api == LG_BLOCK_FETCH && blocks->version >= 4) ? 0 :
	       kt_fail(err, KT_EVERSION, "the broker has no version of API %d that this engine uses", api);
}

/* What is fetched is written first, once. */
static int prepare(struct lg_blocks *blocks, const struct kw_buf *batch, struct kt_err *err)
{
	kw_arena_reset(&blocks->arena);
	if (pick_version(blocks, LG_BLOCK_PRODUCE, PRODUCE_MAX, err) ||
	    put_produce(blocks, blocks->version, batch, err))
		return err->code;
	blocks->frame = blocks->frames.n;
	if (blocks->requests->api == LG_BLOCK_FETCH) {
		if (exchange(blocks, LG_BLOCK_PRODUCE, 1, err) ||
		    pick_version(blocks, LG_BLOCK_FETCH, FETCH_MAX, err))
			return err->code;
		kw_arena_reset(&blocks->arena);
		kw_buf_clear(&blocks->frames);
		put_fetch(blocks, blocks->version, batch, err);
	}
	return err->code ? err->code : repeat(blocks, err);
}

int lg_blocks_open(struct lg_blocks *blocks, const struct lg_requests *requests, const char *bootstrap,
		   struct kt_err *err)
{
	struct kw_buf batch;
	int rc;

	*blocks = (struct lg_blocks){.requests = requests};
	kw_buf_init(&blocks->frames, 0);
	kw_buf_init(&batch, 0);
	kw_arena_init(&blocks->arena, 64 << 20);
	rc = kc_cluster_open(bootstrap, "kassay-loadgen", NULL, soon(), &blocks->cluster, err);
	if (rc == 0)
		rc = lg_blocks_take_topic(blocks, err);
	if (rc == 0)
		rc = put_batch(requests, &batch, err);
	if (rc == 0)
		rc = prepare(blocks, &batch, err);
	kw_buf_fini(&batch);
	return rc;
}

void lg_blocks_fini(struct lg_blocks *blocks)
{
	kc_cluster_free(blocks->cluster);
	free(blocks->next);
	kw_buf_fini(&blocks->frames);
	kw_arena_fini(&blocks->arena);
}
