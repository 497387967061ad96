/* The verdict on a record set: options in three bytes, then the record set, which is produced twice to a small log.
 * What is refused leaves the log as it was; what is accepted can be read back as it was told, and by old consumers. Or,
 * as with --lax, it is stored unjudged, and can be read back but for the leader's fields. Last the log is compacted. */
#include "fakebroker/log/compact.h"
#include "fakebroker/log/down_convert.h"
#include "fakebroker/log/lax.h"
#include "fakebroker/log/verdict.h"
#include "lib/text/fuzz/fuzz.h"
#include "lib/wire/set.h"

FUZZ_TARGET

enum { HEAD = 20, INFLATE_MAX = 1 << 20 };   /* HEAD: bytes of the frame before the record set */

enum {   /* of the first byte; the second is the version, the third compression.type */
	FIX_CRC = 1, TEXT_CHAIN = 2, JSON_CHAIN = 4, COMPACT = 8, LOG_APPEND_TIME = 16, TRANSACTIONAL = 32, SMALL = 64,
	OLD_RELEASE = 128,
	LAX = 128,   /* of the second */
};

struct partition {
	struct fb_log log;
	struct fb_producers producers;
	struct kw_topic_conf conf;
	struct kw_meters meters;
	struct fb_chain *chain;
	int version;
	bool transactional;
};

static const char *option(void *arg, const char *name)
{
	static const char *const options[][2] = {
		{"record.validator.MaxRecordSize.bytes", "100"}, {"record.validator.KeyPattern.pattern", "^k|^$"},
		{"record.validator.KeyPattern.nulls", "true"}, {"record.validator.Utf8.part", "both"},
		{"record.validator.TopicTag.required", "false"}, {"record.validator.RejectEvery.n", "3"},
		{"record.validator.RequiredHeader.name", "h"}, {"record.validator.JsonSyntax.unique.keys", "true"},
	};

	(void)arg;
	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
		if (strcmp(options[i][0], name) == 0)
			return options[i][1];
	return NULL;
}

static void set_up(struct partition *to, uint8_t flags, uint8_t version, uint8_t compression)
{
	static const struct fb_hook_env env = {.config = option};
	const char *classes = flags & JSON_CHAIN ? "JsonSyntax, RequiredHeader"
		: flags & TEXT_CHAIN ? "NonEmptyValue, MaxRecordSize, KeyPattern, Utf8, TopicTag, RejectEvery" : "";

	*to = (struct partition){
		.conf = {
			.maxMessageBytes = flags & SMALL ? 200 : 1 << 20, .segmentBytes = flags & SMALL ? 150 : 1 << 30,
			.compression = compression % 6 - 1, .compact = flags & COMPACT,
			.logAppendTime = flags & LOG_APPEND_TIME,
			.beforeMaxMs = flags & SMALL ? 1000 : INT64_MAX, .afterMaxMs = 3600000,
			.maxDecompressedMessageBytes = flags & OLD_RELEASE ? -1 : 0,
		},
		.version = version % LAX % 14,
		.transactional = flags & TRANSACTIONAL,
	};
	fb_log_init(&to->log, flags & SMALL ? 500 : 0);
	fb_producers_init(&to->producers);
	FUZZ_CHECK(fb_chain_new(classes, &env, &to->chain, NULL) == 0);
}

static void tear_down(struct partition *to)
{
	fb_log_fini(&to->log);
	fb_producers_fini(&to->producers);
	fb_chain_unref(to->chain);
}

/* All stages in the broker's order. */
static void produce(struct partition *to, struct fb_frame *frame, struct kw_arena *arena, struct kw_verdict *v)
{
	struct kw_ProduceRequest_PartitionProduceData data = {
		.records = {.p = frame->p + HEAD, .n = (int32_t)frame->n - HEAD},
	};
	struct kw_ProduceRequest_TopicProduceData topic = {.partitionData = {&data, 1}};
	struct kw_ProduceRequest request = {
		.transactionalId = kw_str(to->transactional ? "t" : NULL), .topicData = {&topic, 1},
	};
	struct fb_append a = {
		.log = &to->log, .producers = &to->producers, .topic = "topic", .leaderEpoch = 7, .conf = &to->conf,
		.chain = to->chain, .meters = &to->meters, .now = 1000000, .inflate_max = INFLATE_MAX,
		.old = to->version <= KW_OLD_PRODUCE,
	};
	struct kw_first_producer first = {0};
	struct kw_append_plan *plan;
	bool whole = false;

	kw_verdict_init(v);
	if (kw_verdict_request(&request, arena, v) && kw_verdict_shape(to->version, &data.records, arena, v, &whole) &&
	    kw_verdict_one_producer(&data.records, &first, v) && fb_verdict_check(&a, &data.records, arena, &plan, v) &&
	    plan)
		fb_verdict_append(&a, plan, frame, arena, v);
}

/* The bytes that were read, in one piece, without the references; for free(). */
static uint8_t *gather(const struct fb_read *read)
{
	uint8_t *bytes = malloc((size_t)read->records.n + 1), *at = bytes;

	FUZZ_CHECK(bytes);
	for (int32_t i = 0; i < read->records.nv; i++) {
		memcpy(at, read->records.v[i].p, read->records.v[i].n);
		at += read->records.v[i].n;
	}
	FUZZ_CHECK(at == bytes + read->records.n);
	for (size_t i = 0; i < read->nframes; i++)
		fb_frame_unref(read->frames[i]);
	return bytes;
}

/* The newest batch as a fetch gets it. */
static void check_stored(const struct partition *to, const struct kw_verdict *v, struct kw_arena *arena)
{
	const struct kw_walk_opts opts = {.inflate_max = 2 * INFLATE_MAX};
	enum kw_walk why;
	struct kw_batch batch;
	struct fb_read read;
	uint8_t *bytes;

	FUZZ_CHECK(fb_log_read(&to->log, v->baseOffset, INT64_MAX, 1, true, arena, &read) == 0 && read.nframes == 1);
	bytes = gather(&read);
	FUZZ_CHECK(kw_batch_parse(bytes, (size_t)read.records.n, &batch, NULL) == 0);
	FUZZ_CHECK(batch.size == (size_t)read.records.n && batch.magic == 2 && batch.partitionLeaderEpoch == 7);
	FUZZ_CHECK(batch.crc == kw_batch_crc(batch.p, batch.size));
	FUZZ_CHECK(batch.baseOffset == v->baseOffset && batch.count > 0 && batch.lastOffsetDelta == batch.count - 1);
	FUZZ_CHECK(batch.baseOffset + batch.count == to->log.logEndOffset);
	kw_batch_walk(&batch, &opts, NULL, NULL, &why, NULL);
	if (to->chain || (batch.attributes & KW_A_CODEC) == KW_NONE)
		FUZZ_CHECK(why == KW_WALK_END);
	free(bytes);
}

/* What an old consumer is sent of the log from an offset on: messages of its magic, and at the end what may be cut
 * off. */
static void check_converted(const struct partition *to, int magic, int64_t offset, struct kw_arena *arena)
{
	struct fb_frame *frame;
	struct kw_entry entry;
	struct kw_set set;
	struct fb_read read;
	struct kt_err err = {0};
	int code;

	FUZZ_CHECK(fb_log_read(&to->log, offset, INT64_MAX, 1 << 20, true, arena, &read) == 0);
	code = fb_down_convert(&read.records, magic, offset, &frame, &err);
	FUZZ_CHECK(code == err.code && (code == 0) == (frame != NULL));
	set = (struct kw_set){.p = frame ? frame->p : NULL, .n = frame ? frame->n : 0};
	while (frame && kw_set_next(&set, &entry, NULL) > 0)
		FUZZ_CHECK(entry.magic <= magic && kw_entry_check(&entry, NULL) == 0);
	FUZZ_CHECK(!frame || frame->n >= (size_t)read.records.n || frame->n == KW_E_BODY);
	fb_frame_unref(frame);
	for (size_t i = 0; i < read.nframes; i++)
		fb_frame_unref(read.frames[i]);
}

/* end, dropped: of the log, before */
static void check(const struct partition *to, const struct kw_verdict *v, int64_t end, uint64_t dropped,
		  struct kw_arena *arena)
{
	if (v->errorCode) {
		FUZZ_CHECK(to->log.logEndOffset == end && to->log.dropped == dropped && v->baseOffset == -1);
		FUZZ_CHECK(v->logAppendTimeMs == -1 && v->reason && v->reason[0]);
		for (int32_t i = 0; i < v->nrecordErrors; i++)
			FUZZ_CHECK(v->recordErrors[i].batchIndex >= 0 && v->recordErrors[i].batchIndex < v->records);
	} else if (v->baseOffset < 0) {   /* nothing to append */
		FUZZ_CHECK(to->version <= KW_OLD_PRODUCE && to->log.logEndOffset == end);
	} else if (v->duplicate) {
		FUZZ_CHECK(to->log.logEndOffset == end && v->baseOffset >= 0 && v->baseOffset < end);
	} else {
		FUZZ_CHECK(v->baseOffset == end && v->nrecordErrors == 0);
		FUZZ_CHECK((v->logAppendTimeMs == -1) == !to->conf.logAppendTime);
		check_stored(to, v, arena);
		for (int magic = 0; magic < 2; magic++)
			check_converted(to, magic, end, arena);
	}
}

static struct fb_frame *frame_of(const uint8_t *p, size_t n, bool fix_crc)
{
	struct fb_frame *frame = fb_frame_new(HEAD + n);
	struct kw_batch batch;

	FUZZ_CHECK(frame);
	frame->n = HEAD + n;
	memset(frame->p, 0x55, HEAD);
	if (n)
		memcpy(frame->p + HEAD, p, n);
	if (fix_crc && n && kw_batch_parse(frame->p + HEAD, n, &batch, NULL) == 0)
		kw_wr32(frame->p + HEAD + KW_B_CRC, kw_batch_crc(frame->p + HEAD, batch.size));
	return frame;
}

static void check_offsets(const struct fb_log *log)
{
	int64_t next = 0;
	size_t bytes = 0;

	for (size_t i = log->first; i < log->n; i++) {
		const struct fb_entry *entry = &log->entries[i];

		FUZZ_CHECK(entry->baseOffset >= next && entry->lastOffset >= entry->baseOffset);
		next = entry->lastOffset + 1;
		bytes += entry->size;
	}
	FUZZ_CHECK(next <= log->logEndOffset && bytes == log->bytes);
}

static void store(struct partition *to, const struct fb_frame *frame, struct kw_arena *arena)
{
	const uint8_t *p = frame->p + HEAD;
	size_t n = frame->n - HEAD, all;
	struct fb_read read;
	uint8_t *bytes;

	FUZZ_CHECK(fb_log_append_lax(&to->log, p, n, 7) == 0);
	check_offsets(&to->log);
	fb_log_by_time(&to->log, 1);
	fb_log_max_time(&to->log);
	FUZZ_CHECK(fb_log_read(&to->log, to->log.logStartOffset, to->log.logEndOffset, SIZE_MAX, true, arena,
			       &read) == 0);
	bytes = gather(&read);
	all = (size_t)read.records.n;
	/* A small log has lost its oldest batches. */
	FUZZ_CHECK(to->log.max_bytes || all == to->log.bytes);
	if (!to->log.max_bytes && n > KW_B_MAGIC)
		FUZZ_CHECK(memcmp(bytes + all - n + KW_B_LENGTH, p + KW_B_LENGTH,
				  KW_B_LEADER_EPOCH - KW_B_LENGTH) == 0);
	free(bytes);
}

/* Whatever lies there: it is compacted as far as it can be, or nothing changes. */
static void compact(struct partition *to)
{
	const struct fb_compaction conf = {
		.compacts = true, .deleteRetentionMs = 10, .record_max = to->conf.maxDecompressedMessageBytes,
		.inflate_max = INFLATE_MAX,
	};
	int64_t end = to->log.logEndOffset, start = to->log.logStartOffset;
	size_t bytes = to->log.bytes;
	struct fb_txns txns = {0};
	struct fb_compacted done;
	struct kt_err err = {0};

	fb_log_roll(&to->log);
	for (int64_t now = 1000000; now <= 1000010; now += 10) {
		if (fb_log_compact(&to->log, &to->producers, &txns, &conf, now, &done, &err) < 0)
			FUZZ_CHECK(err.code && err.text[0] && err.path[0] && to->log.bytes == bytes);
		else
			FUZZ_CHECK(to->log.bytes == bytes - done.bytesRead + done.bytesKept &&
				   done.recordsKept <= done.recordsRead);
		FUZZ_CHECK(to->log.logEndOffset == end && to->log.logStartOffset == start);
		check_offsets(&to->log);
		bytes = to->log.bytes;
		err = (struct kt_err){0};
	}
	fb_txns_fini(&txns);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	uint8_t flags = fuzz_byte(&p, &n), version = fuzz_byte(&p, &n), compression = fuzz_byte(&p, &n);
	struct fb_frame *frame = frame_of(p, n, flags & FIX_CRC);
	struct partition to;
	struct kw_verdict v;
	struct kw_arena arena;

	set_up(&to, flags, version, compression);
	for (int i = 0; i < 2; i++) {
		int64_t end = to.log.logEndOffset;
		uint64_t dropped = to.log.dropped;

		kw_arena_init(&arena, 16 << 20);
		if (version & LAX) {
			store(&to, frame, &arena);
		} else {
			produce(&to, frame, &arena, &v);
			check(&to, &v, end, dropped, &arena);
		}
		kw_arena_fini(&arena);
	}
	compact(&to);
	fb_frame_unref(frame);
	tear_down(&to);
	return 0;
}
