/* The topic of the blocks: what is written to it is deleted, so it must have no records of anybody else. */
#include <stdlib.h>

#include "kw_messages.h"
#include "lib/wire/errors.h"
#include "loadgen/blocks.h"
#include "loadgen/clock.h"

enum { API_LIST_OFFSETS = 2, API_CREATE_TOPICS = 19, API_DELETE_RECORDS = 21 };
enum { LATEST = -1, EARLIEST = -2 };         /* in place of a timestamp */

static int64_t soon(void)
{
	return kc_now_ms() + LG_BLOCK_MS;
}

int lg_blocks_refused(const char *what, int code, struct kw_str message, struct kt_err *err)
{
	char why[400];

	return kt_fail(err, KT_EPEER, "%s: %s", what, kw_error_text(code, message, why, sizeof why));
}

/* ---- taking it ---- */

static int make_topic(struct lg_blocks *blocks, struct kt_err *err)
{
	struct kw_CreateTopicsRequest_CreatableTopic topic = {
		.name = kw_str(blocks->requests->topic), .numPartitions = blocks->requests->partitions,
		.replicationFactor = 1,
	};
	struct kw_CreateTopicsRequest request = {.topics = {&topic, 1}, .timeoutMs = LG_BLOCK_MS};
	const struct kw_CreateTopicsResponse *response;
	struct kc_conn *conn;
	void *answer;

	if (kc_cluster_any(blocks->cluster, soon(), &conn, err) ||
	    kc_call(conn, API_CREATE_TOPICS, kc_version(conn, API_CREATE_TOPICS, -1), &request, soon(), &blocks->arena,
		    &answer, err))
		return err->code;
	response = answer;
	if (response->topics.n != 1)
		return kt_fail(err, KT_ECORRUPT, "CreateTopics answers for %d topics", (int)response->topics.n);
	if (response->topics.v[0].errorCode && response->topics.v[0].errorCode != KW_ERR_TOPIC_ALREADY_EXISTS)
		return lg_blocks_refused("CreateTopics", response->topics.v[0].errorCode,
					 response->topics.v[0].errorMessage, err);
	return 0;
}

static int take_offsets(const struct kw_ListOffsetsResponse *response, int32_t n, int64_t *offsets,
			struct kt_err *err)
{
	if (response->topics.n != 1 || response->topics.v[0].partitions.n != n)
		return kt_fail(err, KT_ECORRUPT,
			       "the answer to ListOffsets has not the partitions that were asked for");
	for (int32_t i = 0; i < n; i++) {
		const struct kw_ListOffsetsResponse_ListOffsetsPartitionResponse *partition =
			&response->topics.v[0].partitions.v[i];

		if (partition->errorCode)
			return lg_blocks_refused("ListOffsets", partition->errorCode, KW_NULL_STR, err);
		if (partition->partitionIndex < 0 || partition->partitionIndex >= n)
			return kt_fail(err, KT_ECORRUPT, "ListOffsets answers for partition %d",
				       (int)partition->partitionIndex);
		offsets[partition->partitionIndex] = partition->offset;
	}
	return 0;
}

static int list_offsets(struct lg_blocks *blocks, int64_t timestamp, int64_t *offsets, struct kt_err *err)
{
	int32_t n = blocks->requests->partitions;
	struct kw_ListOffsetsRequest_ListOffsetsPartition *partitions;
	struct kw_ListOffsetsRequest_ListOffsetsTopic topic = {.name = kw_str(blocks->requests->topic)};
	struct kw_ListOffsetsRequest request = {.replicaId = -1, .topics = {&topic, 1}, .timeoutMs = LG_BLOCK_MS};
	void *answer;

	kw_arena_reset(&blocks->arena);
	partitions = kw_new_array(&kw_ListOffsetsRequest_ListOffsetsPartition_struct, n, &blocks->arena);
	if (!partitions)
		return kt_fail(err, KT_ENOMEM, "no memory");
	for (int32_t i = 0; i < n; i++) {
		partitions[i].partitionIndex = i;
		partitions[i].timestamp = timestamp;
	}
	topic.partitions.v = partitions;
	topic.partitions.n = n;
	if (kc_call(blocks->conn, API_LIST_OFFSETS, kc_version(blocks->conn, API_LIST_OFFSETS, -1), &request, soon(),
		    &blocks->arena, &answer, err))
		return err->code;
	return take_offsets(answer, n, offsets, err);
}

/* Records before ours would be deleted with them. */
static int find_empty(struct lg_blocks *blocks, struct kt_err *err)
{
	int32_t n = blocks->requests->partitions;
	int64_t *first = calloc((size_t)n, sizeof *first);

	blocks->next = calloc((size_t)n, sizeof *blocks->next);
	if (!first || !blocks->next)
		kt_fail(err, KT_ENOMEM, "no memory");
	else if (list_offsets(blocks, EARLIEST, first, err) == 0)
		list_offsets(blocks, LATEST, blocks->next, err);
	for (int32_t i = 0; i < n && !err->code; i++)
		if (blocks->next[i] != first[i])
			kt_fail(err, KT_EUSAGE, "topic \"%s\" has records, offsets %lld to %lld of partition %d, which "
				"would be deleted with those of the measurement: name another topic",
				blocks->requests->topic, (long long)first[i], (long long)blocks->next[i] - 1, (int)i);
	free(first);
	return err->code;
}

int lg_blocks_take_topic(struct lg_blocks *blocks, struct kt_err *err)
{
	if (make_topic(blocks, err) == 0 &&
	    kc_cluster_leader(blocks->cluster, blocks->requests->topic, 0, soon(), soon(), &blocks->conn, err) == 0)
		find_empty(blocks, err);
	return err->code;
}

/* ---- deleting ---- */

static int first_refusal(const struct kw_DeleteRecordsResponse *response)
{
	for (int32_t t = 0; t < response->topics.n; t++)
		for (int32_t i = 0; i < response->topics.v[t].partitions.n; i++)
			if (response->topics.v[t].partitions.v[i].errorCode)
				return response->topics.v[t].partitions.v[i].errorCode;
	return 0;
}

/* *code: Kafka's, of the first partition that refuses. */
static int delete_records(struct lg_blocks *blocks, int *code, struct kt_err *err)
{
	int32_t n = blocks->requests->partitions;
	struct kw_DeleteRecordsRequest_DeleteRecordsPartition *partitions;
	struct kw_DeleteRecordsRequest_DeleteRecordsTopic topic = {.name = kw_str(blocks->requests->topic)};
	struct kw_DeleteRecordsRequest request = {.topics = {&topic, 1}, .timeoutMs = LG_BLOCK_MS};
	void *answer;

	kw_arena_reset(&blocks->arena);
	partitions = kw_new_array(&kw_DeleteRecordsRequest_DeleteRecordsPartition_struct, n, &blocks->arena);
	if (!partitions)
		return kt_fail(err, KT_ENOMEM, "no memory");
	for (int32_t i = 0; i < n; i++) {
		partitions[i].partitionIndex = i;
		partitions[i].offset = blocks->next[i];
	}
	topic.partitions.v = partitions;
	topic.partitions.n = n;
	if (kc_call(blocks->conn, API_DELETE_RECORDS, kc_version(blocks->conn, API_DELETE_RECORDS, -1), &request,
		    soon(), &blocks->arena, &answer, err) == 0)
		*code = first_refusal(answer);
	return err->code;
}

/* With acks=1 the high watermark of a topic with several replicas, behind which nothing can be deleted, comes after the
 * answers. */
int lg_blocks_trim(struct lg_blocks *blocks, struct kt_err *err)
{
	int64_t deadline = soon();
	int code = 0;

	while (delete_records(blocks, &code, err) == 0 && code) {
		if (code != KW_ERR_OFFSET_OUT_OF_RANGE || kc_now_ms() >= deadline)
			return lg_blocks_refused("DeleteRecords", code, KW_NULL_STR, err);
		lg_pause(10 * LG_MS);
	}
	return err->code;
}

int lg_blocks_clear(struct lg_blocks *blocks, struct kt_err *err)
{
	if (!blocks->written)
		return 0;
	if (blocks->unread) {
		kc_cluster_drop(blocks->cluster, blocks->conn);
		if (kc_cluster_leader(blocks->cluster, blocks->requests->topic, 0, soon(), soon(), &blocks->conn, err))
			return err->code;
	}
	return lg_blocks_trim(blocks, err);
}
