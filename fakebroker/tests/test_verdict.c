/* What the table of measured answers does not show: meters, offsets, memory, validators. */
#include "fakebroker/log/txns.h"
#include "fakebroker/tests/bench.h"
#include "lib/wire/errors.h"

/* ---- one batch at a time ---- */

static struct kw_arena arena;
static struct sent last;

static int setup(void **state)
{
	struct bench *bench = calloc(1, sizeof *bench);

	bench_init(bench, "t");
	kw_arena_init(&arena, 0);
	*state = bench;
	return 0;
}

static int teardown(void **state)
{
	bench_fini(*state);
	free(*state);
	fb_frame_unref(last.frame);
	last = (struct sent){0};
	kw_arena_fini(&arena);
	return 0;
}

/* Produces a JSON array of batches. The frame stays in `last` for the asserts. */
static const struct kw_verdict *send(struct bench *bench, const char *text)
{
	json_t *batches = json_of(text);

	fb_frame_unref(last.frame);
	last = (struct sent){.bench = bench, .frame = frame_of(batches)};
	json_decref(batches);
	produce(&last, 1, 12, NULL, false, &arena);
	return &last.v;
}

static const struct fb_entry *newest(const struct bench *bench)
{
	assert_true(bench->log.n > bench->log.first);
	return &bench->log.entries[bench->log.n - 1];
}

#define THREE "[{'baseTimestamp': 1000, 'records': [{'key': 'k', 'value': 'v', 'repeat': 3}]}]"

/* ---- meters and offsets ---- */

struct metered {
	const char *batches;
	int16_t error;
	bool real_start;                /* log_start_offset in the answer is the log's */
	struct kw_meters meters;
};

static const struct metered metered[] = {
	{"[{'baseOffset': 1, 'records': [{}]}]", 87, true, {.failedProduceRequests = 1}},
	{"[{'records': [{'value': {'size': 1000}}]}]", 10, false, {.bytesRejected = 1070}},
	{"[{'records': [{}], 'crc': 1}]", 2, false, {.invalidMessageCrcRecords = 1}},
	{"[{'records': [{}], 'attributes': 5}]", -1, true, {.failedProduceRequests = 1}},
	{"[{'records': [{}], 'lastOffsetDelta': -1}]", 87, true,
	 {.invalidOffsetOrSequenceRecords = 1, .failedProduceRequests = 1}},
	{"[{'records': [{}], 'count': 0}]", 87, true,
	 {.invalidOffsetOrSequenceRecords = 1, .failedProduceRequests = 1}},
	{"[{'records': [{}], 'count': 2}]", 87, true,
	 {.invalidOffsetOrSequenceRecords = 1, .failedProduceRequests = 1}},
	{"[{'records': [{}], 'attributes': 32}]", 87, true,
	 {.invalidOffsetOrSequenceRecords = 1, .failedProduceRequests = 1}},
	{"[{'records': [{}], 'producerId': 5}]", 87, true,
	 {.invalidOffsetOrSequenceRecords = 1, .failedProduceRequests = 1}},
	{"[{'body': {'hex': '00'}, 'lastOffsetDelta': 0}]", 87, true, {.failedProduceRequests = 1}},
	{"[{'body': {'hex': 'ffffffffff00'}, 'lastOffsetDelta': 0}]", -1, true, {.failedProduceRequests = 1}},
	{"[{'baseTimestamp': 9999999, 'records': [{'key': 'k'}, {'key': 'k'}]}]", 32, true,
	 {.failedProduceRequests = 1}},
	{"[{'baseTimestamp': 1, 'records': [{'repeat': 4}]}]", 87, true,
	 {.noKeyCompactedTopicRecords = 4, .failedProduceRequests = 1}},
	{"[]", 87, false, {0}},
	{"[{'records': [{}], 'magic': 1}]", 87, false, {0}},
	{"[{'records': [{}], 'magic': 3}]", 2, false, {0}},
	{"[{'records': [{}]}, {'records': [{}]}]", 87, false, {0}},
};

static void test_meters_and_log_start_offset(void **state)
{
	struct bench *bench = *state;

	bench->conf.maxMessageBytes = 1000;
	bench->conf.compact = true;
	send(bench, THREE);
	fb_log_trim(&bench->log, 2);
	for (size_t i = 0; i < sizeof metered / sizeof metered[0]; i++) {
		const struct metered *m = &metered[i];

		bench->meters = (struct kw_meters){0};
		send(bench, m->batches);
		print_message("%s\n", m->batches);
		assert_int_equal(last.v.errorCode, m->error);
		assert_int_equal(last.v.logStartOffset, m->real_start ? 2 : -1);
		assert_memory_equal(&bench->meters, &m->meters, sizeof m->meters);
		assert_int_equal(last.v.baseOffset, -1);
		assert_int_equal(last.v.logAppendTimeMs, -1);
		assert_int_equal(bench->log.logEndOffset, 3);
	}
	bench->meters = (struct kw_meters){0};
	send(bench, THREE);
	assert_int_equal(last.v.errorCode, 0);
	assert_int_equal(last.v.logStartOffset, 2);
	assert_memory_equal(&bench->meters, &(struct kw_meters){0}, sizeof bench->meters);
}

static void test_verdict_tells_of_the_batch(void **state)
{
	struct bench *bench = *state;

	send(bench, THREE);
	assert_int_equal(last.v.records, 3);
	assert_int_equal(last.v.codec, KW_NONE);
	send(bench, "[{'codec': 'zstd', 'records': [{}, {}]}]");
	assert_int_equal(last.v.records, 2);
	assert_int_equal(last.v.codec, KW_ZSTD);
	send(bench, "[{'records': [{}], 'count': -7, 'attributes': 6}]");
	assert_int_equal(last.v.records, 0);
	assert_int_equal(last.v.codec, 6);
	send(bench, "[{'records': [{}], 'crc': 1}]");
	assert_int_equal(last.v.records, 1);
	send(bench, "[]");
	assert_int_equal(last.v.records, 0);
	assert_int_equal(last.v.codec, -1);
}

/* ---- what is kept ---- */

static void test_batch_stays_in_its_frame(void **state)
{
	struct bench *bench = *state;

	send(bench, "[{'records': [{'value': {'size': 500}}], 'maxTimestamp': 5, 'baseTimestamp': 1}]");
	assert_int_equal(last.v.errorCode, 0);
	assert_ptr_equal(newest(bench)->frame, last.frame);
	assert_ptr_equal(newest(bench)->body, last.frame->p + 20 + KW_B_RECORDS);
	/* The frame itself is as it was sent. */
	assert_int_equal(kw_rd64(last.frame->p + 20 + KW_B_MAX_TIMESTAMP), 5);
	assert_int_equal(kw_rd64(newest(bench)->header + KW_B_MAX_TIMESTAMP), 1);
}

static void test_trailing_bytes_are_dropped(void **state)
{
	struct bench *bench = *state;
	size_t whole;

	send(bench, THREE);
	whole = newest(bench)->size;
	send(bench, "[{'baseTimestamp': 1000, 'records': [{'key': 'k', 'value': 'v', 'repeat': 3}],"
		    " 'edits': [{'edit': 'append', 'hex': '656c6576656e2062797465'}]}]");
	assert_int_equal(last.v.errorCode, 0);
	assert_int_equal(newest(bench)->size, whole);
}

static void assert_max(struct bench *bench, const char *batches, int64_t offset, int64_t timestamp)
{
	struct fb_found found;

	assert_int_equal(send(bench, batches)->errorCode, 0);
	found = fb_log_max_time(&bench->log);
	assert_int_equal(found.offset, offset);
	assert_int_equal(found.timestamp, timestamp);
}

static void test_offset_of_max_timestamp(void **state)
{
	struct bench *bench = *state;
	static const char none[] = "[{'baseTimestamp': -1, 'maxTimestamp': -1, 'records': [{}, {}]}]";
	static const char below[] = "[{'baseTimestamp': -5, 'maxTimestamp': -5, 'records': [{}, {}]}]";
	static const char odd[] = "[{'baseTimestamp': 5, 'lastOffsetDelta': 2, 'records': [{'offsetDelta': 2},"
				  "{'offsetDelta': 1, 'timestampDelta': 9}, {'offsetDelta': 0}]}]";

	assert_max(bench, below, -1, -1);
	fb_log_trim(&bench->log, 2);
	assert_max(bench, none, 2, -1);
	assert_max(bench, "[{'baseTimestamp': 1, 'records': [{}, {'timestampDelta': 2, 'repeat': 2}]}]", 5, 3);
	bench->conf.compression = KW_GZIP;
	assert_max(bench, odd, 8, 14);
	bench->conf.compression = -1;
	assert_max(bench, "[{'baseTimestamp': 50, 'records': [{'offsetDelta': 3}], 'lastOffsetDelta': 0}]", 13, 50);
	bench->conf.logAppendTime = true;
	assert_max(bench, "[{'baseTimestamp': 1, 'records': [{}, {}]}]", 11, bench->now);
}

static void test_no_memory_changes_nothing(void **state)
{
	struct bench *bench = *state;

	bench->conf.compression = KW_NONE;
	for (size_t limit = 16; limit < 4096; limit += 48) {
		kw_arena_fini(&arena);
		kw_arena_init(&arena, limit);
		send(bench, "[{'codec': 'gzip', 'baseTimestamp': 1, 'records': [{'value': {'size': 1500},"
			    "'headers': [{'key': {'hex': 'ff'}}]}]}]");
		assert_true(last.v.errorCode == 0 || last.v.errorCode == -1);
		if (last.v.errorCode == 0)
			break;
		assert_string_equal(last.v.reason, "out of memory");
		assert_int_equal(bench->log.logEndOffset, 0);
	}
	assert_int_equal(last.v.errorCode, 0);
	assert_int_equal(bench->log.logEndOffset, 1);
}

static void test_inflation_is_bounded(void **state)
{
	struct bench *bench = *state;
	struct fb_append a = {
		.log = &bench->log, .producers = &bench->producers, .topic = "t", .conf = &bench->conf,
		.meters = &bench->meters, .now = bench->now, .inflate_max = 5000,
	};
	struct kw_append_plan *plan;
	struct kw_records records;
	struct kw_verdict v;

	bench->conf.afterMaxMs = INT64_MAX;
	for (int fits = 0; fits < 2; fits++) {
		send(bench, fits ? "[{'codec': 'gzip', 'records': [{'value': {'size': 4000}}]}]"
				 : "[{'codec': 'gzip', 'records': [{'value': {'size': 5000}}]}]");
		records = (struct kw_records){.p = last.frame->p + 20, .n = (int32_t)last.frame->n - 20};
		kw_verdict_init(&v);
		assert_int_equal(fb_verdict_check(&a, &records, &arena, &plan, &v), fits);
		assert_int_equal(v.errorCode, fits ? 0 : -1);
	}
}

/* ---- validators ---- */

static const char *config(void *arg, const char *name)
{
	(void)arg;
	return strcmp(name, "record.validator.RejectAll.error") == 0 ? "32" : NULL;
}

static void install(struct bench *bench, const char *classes)
{
	static const struct fb_hook_env env = {.config = config};
	struct kt_err err = {0};

	fb_chain_unref(bench->chain);
	bench->chain = NULL;
	if (fb_chain_new(classes, &env, &bench->chain, &err) < 0)
		fail_msg("%s", err.text);
}

static uint64_t seen(const struct bench *bench)
{
	struct fb_validator_stats stats;

	fb_chain_stats(bench->chain, 0, &stats);
	return stats.seen;
}

/* Keys are there in 0 and 2, values in 1 and 2. */
#define MIXED "'baseTimestamp': 1, 'records': [{'key': 'k', 'value': ''}, {'value': 'v'}," \
	"{'key': 'k', 'value': 'v'}, {'key': 'k', 'value': ''}]"

static void test_validators_see_what_passed(void **state)
{
	struct bench *bench = *state;

	install(bench, "NonEmptyValue");
	bench->conf.compact = true;
	for (int gzip = 0; gzip < 2; gzip++) {
		uint64_t before = seen(bench);

		send(bench, gzip ? "[{'codec': 'gzip', " MIXED "}]" : "[{" MIXED "}]");
		assert_int_equal(last.v.errorCode, 87);
		assert_int_equal(last.v.nrecordErrors, 3);
		assert_int_equal(last.v.recordErrors[0].batchIndex, 0);
		assert_int_equal(last.v.recordErrors[1].batchIndex, 1);
		assert_int_equal(last.v.recordErrors[2].batchIndex, 3);
		assert_string_equal(last.v.recordErrors[1].batchIndexErrorMessage.s,
				    "Compacted topic cannot accept message without key in topic partition t-0");
		assert_non_null(strstr(last.v.recordErrors[0].batchIndexErrorMessage.s, "NonEmptyValue"));
		assert_non_null(strstr(last.v.errorMessage, "due to 3 record errors in total"));
		assert_int_equal(seen(bench) - before, 3);
	}
	assert_int_equal(bench->log.logEndOffset, 0);
}

static void test_validator_may_blame_the_timestamp(void **state)
{
	struct bench *bench = *state;

	install(bench, "RejectAll");
	send(bench, THREE);
	assert_int_equal(last.v.errorCode, 32);
	assert_string_equal(last.v.errorMessage, "One or more records have been rejected due to invalid timestamp");
	assert_int_equal(last.v.nrecordErrors, 3);
}

/* Kafka skims a compressed batch; a validator must see it whole, so that lies about sizes come out. */
static void test_validators_want_compressed_batches_whole(void **state)
{
	struct bench *bench = *state;
	static const char lie[] = "[{'codec': 'gzip', 'baseTimestamp': 1, 'lastOffsetDelta': 0,"
				  "'body': {'hex': '12000000026b027600'}}]";
	static const char odd[] = "[{'codec': 'gzip', 'baseTimestamp': 1, 'lastOffsetDelta': 1,"
				  "'records': [{'offsetDelta': 5, 'value': 'a'}, {'offsetDelta': 9, 'value': 'b'}]}]";
	struct kw_batch batch;
	struct kw_buf inflated = {0};

	assert_int_equal(send(bench, lie)->errorCode, 0);
	assert_int_equal(send(bench, odd)->errorCode, -1);
	assert_string_equal(last.v.reason, "key is skipped in PartialDefaultRecord");
	install(bench, "AllowAll");
	assert_int_equal(send(bench, lie)->errorCode, 87);
	assert_int_equal(send(bench, odd)->errorCode, 0);
	fb_entry_batch(newest(bench), &batch);
	assert_int_equal(batch.attributes, KW_GZIP);
	assert_int_equal(kw_decompress(KW_GZIP, batch.p + KW_B_RECORDS, batch.size - KW_B_RECORDS, 100, &inflated,
				       NULL), 0);
	assert_int_equal(inflated.n, 16);
	assert_memory_equal(inflated.p, "\x0e\0\0\0\1\2a\0\x0e\0\0\2\1\2b\0", 16);
	kw_buf_fini(&inflated);
}

static void test_validators_come_before_duplicates(void **state)
{
	struct bench *bench = *state;
	static const char batch[] = "[{'baseTimestamp': 1, 'producerId': 1, 'producerEpoch': 0, 'baseSequence': 0,"
				    "'records': [{'value': ''}]}]";

	assert_int_equal(send(bench, batch)->errorCode, 0);
	assert_false(last.v.duplicate);
	assert_int_equal(send(bench, batch)->errorCode, 0);
	assert_true(last.v.duplicate);
	assert_int_equal(last.v.baseOffset, 0);
	assert_int_equal(last.v.logAppendTimeMs, 1);
	install(bench, "NonEmptyValue");
	assert_int_equal(send(bench, batch)->errorCode, 87);
	assert_int_equal(bench->log.logEndOffset, 1);
}

/* ---- hostile bytes ---- */

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

/* Kafka makes room in the log before it looks at the producer: a segment may end for a batch that is not appended. */
static void test_a_batch_that_is_not_appended_rolls(void **state)
{
	static const char *const second[] = {
		/* A duplicate, a gap, and one that fits into the segment. */
		"[{'baseTimestamp': 1000000, 'producerId': 3, 'producerEpoch': 0, 'baseSequence': 0, "
		"'records': [{'value': {'size': 100}}]}]",
		"[{'baseTimestamp': 1000000, 'producerId': 3, 'producerEpoch': 0, 'baseSequence': 7, "
		"'records': [{'value': {'size': 100}}]}]",
		"[{'baseTimestamp': 1000000, 'producerId': 3, 'producerEpoch': 0, 'baseSequence': 7, 'records': [{}]}]",
	};
	struct bench *bench = *state;

	for (size_t i = 0; i < sizeof second / sizeof *second; i++) {
		bench_fini(bench);
		bench_init(bench, "t");
		bench->log.segmentBytes = 280;
		assert_int_equal(send(bench, second[0])->errorCode, 0);
		assert_int_equal(send(bench, second[i])->errorCode, i == 0 ? 0 : 45);
		assert_int_equal(bench->log.logEndOffset, 1);
		assert_int_equal(send(bench, "[{'baseTimestamp': 1000000, 'records': [{}]}]")->errorCode, 0);
		assert_int_equal(newest(bench)->rolled, i < 2);
	}
}

/* The coordinator found it to be of a transaction, which ended while the records were read: the batch must not open one
 * that nobody ends. Nor must one that nobody asked about. */
static void test_a_late_batch_opens_no_transaction(void **state)
{
	enum { IN_TIME, LATE, UNASKED, NCASES };
	struct bench *bench = *state;
	struct fb_marker marker = {.producerId = 7, .commit = true};
	struct fb_txns txns = {0};
	json_t *json = json_of("[{'attributes': 16, 'baseTimestamp': 1000000, 'producerId': 7, 'producerEpoch': 0, "
			       "'baseSequence': 0, 'records': [{}]}]");

	for (int how = 0; how < NCASES; how++) {
		struct kw_batch batch = {.producerId = 7};
		struct fb_frame *frame = frame_of(json);
		struct kw_records records = {.p = frame->p + 20, .n = (int32_t)frame->n - 20};
		struct fb_append a = {
			.log = &bench->log, .producers = &bench->producers, .topic = "t", .conf = &bench->conf,
			.meters = &bench->meters, .now = bench->now, .guarded = true,
		};
		struct kw_append_plan *plan;
		struct kw_verdict v;

		kw_verdict_init(&v);
		if (how != UNASKED)
			assert_int_equal(fb_producers_verify(a.producers, &batch, false, a.now, &a.guard), 0);
		assert_int_equal(a.guard != FB_NO_GUARD, how != UNASKED);
		assert_true(fb_verdict_check(&a, &records, &arena, &plan, &v));
		if (how == LATE)
			assert_int_equal(fb_txns_mark(&txns, &bench->log, &bench->producers, &marker, 0), 0);
		fb_verdict_append(&a, plan, frame, &arena, &v);
		assert_int_equal(v.errorCode, how == IN_TIME ? 0 : KW_ERR_INVALID_TXN_STATE);
		assert_int_equal(fb_producers_first_unstable(&bench->producers), how == IN_TIME ? 0 : FB_NO_TXN);
		fb_producers_fini(&bench->producers);
		fb_producers_init(&bench->producers);
		fb_frame_unref(frame);
	}
	json_decref(json);
	fb_txns_fini(&txns);
}

/* Changes some bytes; most of the time the CRC then fits. */
static void mutate(struct fb_frame *frame, uint32_t *seed)
{
	uint8_t *p = frame->p + 20;
	size_t n = frame->n - 20;

	for (uint32_t i = next_random(seed) % 4; i > 0; i--)
		p[next_random(seed) % n] ^= (uint8_t)(1u << next_random(seed) % 8);
	if (next_random(seed) % 8 == 0)
		frame->n -= next_random(seed) % 40;
	if (frame->n - 20 >= KW_B_RECORDS && next_random(seed) % 8)
		kw_wr32(p + KW_B_CRC, kw_batch_crc(p, frame->n - 20));
}

/* Whatever arrives, what is stored has a right CRC, and offsets without a hole. */
static void test_mutated_batches(void **state)
{
	static const char *const seeds[] = {
		THREE, "[{'codec': 'gzip', " MIXED "}]", "[{'codec': 'lz4', " MIXED "}]",
		"[{'codec': 'snappy', " MIXED "}]", "[{'codec': 'zstd', " MIXED "}]",
		"[{'producerId': 3, 'producerEpoch': 0, 'baseSequence': 0, 'records': [{}]}]",
		"[{'records': [{'headers': [{'key': 'h', 'value': 'x'}, {'key': 'i'}]}]}]",
	};
	struct bench *bench = *state;
	uint32_t seed = 12345;
	int64_t next = 0;

	bench->now = INT64_C(4000000000000);   /* later than any batch of "now" */
	for (int i = 0; i < 6000; i++) {
		json_t *batches = json_of(seeds[i % 7]);

		fb_frame_unref(last.frame);
		last = (struct sent){.bench = bench, .frame = frame_of(batches)};
		json_decref(batches);
		mutate(last.frame, &seed);
		bench->conf.compression = (int)(next_random(&seed) % 6) - 1;
		bench->conf.compact = next_random(&seed) % 2;
		bench->conf.logAppendTime = next_random(&seed) % 2;
		produce(&last, 1, (int)(3 + next_random(&seed) % 10), "id", false, &arena);
		assert_true(last.v.errorCode == 0 || last.v.reason != NULL);
		kw_arena_reset(&arena);
	}
	for (size_t i = 0; i < bench->log.n; i++) {
		const struct fb_entry *entry = &bench->log.entries[i];
		uint32_t crc = kw_crc32c(0, entry->header + KW_B_ATTRIBUTES, KW_B_RECORDS - KW_B_ATTRIBUTES);

		assert_int_equal(entry->baseOffset, next);
		crc = kw_crc32c(crc, entry->body, entry->size - KW_B_RECORDS);
		assert_int_equal(crc, kw_rd32(entry->header + KW_B_CRC));
		next = entry->lastOffset + 1;
	}
	assert_int_equal(next, bench->log.logEndOffset);
	assert_in_range(bench->log.n, 500, 5500);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_meters_and_log_start_offset),
		T(test_verdict_tells_of_the_batch),
		T(test_batch_stays_in_its_frame),
		T(test_trailing_bytes_are_dropped),
		T(test_offset_of_max_timestamp),
		T(test_no_memory_changes_nothing),
		T(test_inflation_is_bounded),
		T(test_validators_see_what_passed),
		T(test_validator_may_blame_the_timestamp),
		T(test_validators_want_compressed_batches_whole),
		T(test_validators_come_before_duplicates),
		T(test_a_late_batch_opens_no_transaction),
		T(test_a_batch_that_is_not_appended_rolls),
		T(test_mutated_batches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
