/* What a running Kafka answered to some 350 Produce requests, right and wrong ones: the verdicts must be the same, and
 * so what is stored. */
#include "fakebroker/tests/bench.h"

#define TABLE "fakebroker/tests/data/produce_kafka_4.4.0.json"

enum { MAX_TOPICS = 32, TEXTS_SINCE = 8 };

static struct bench benches[MAX_TOPICS];
static size_t nbenches;
static int64_t file_now;
static int bad_rows;

static struct bench *find(const char *topic)
{
	for (size_t i = 0; i < nbenches; i++)
		if (strcmp(benches[i].topic, topic) == 0)
			return &benches[i];
	fail_msg("no topic %s", topic);
	return NULL;
}

static int codec_of(const char *compression_type)
{
	return strcmp(compression_type, "uncompressed") == 0 ? KW_NONE : kw_codec_find(compression_type);
}

static void configure(struct kw_topic_conf *conf, const char *name, json_t *value)
{
	const char *text = json_string_value(value);
	int64_t n = json_integer_value(value);

	if (strcmp(name, "cleanup.policy") == 0)
		conf->compact = strcmp(text, "compact") == 0;
	else if (strcmp(name, "compression.type") == 0)
		conf->compression = codec_of(text);
	else if (strcmp(name, "max.decompressed.message.bytes") == 0)
		conf->maxDecompressedMessageBytes = (int32_t)n;
	else if (strcmp(name, "max.message.bytes") == 0)
		conf->maxMessageBytes = (int32_t)n;
	else if (strcmp(name, "message.timestamp.after.max.ms") == 0)
		conf->afterMaxMs = n;
	else if (strcmp(name, "message.timestamp.before.max.ms") == 0)
		conf->beforeMaxMs = n;
	else if (strcmp(name, "message.timestamp.type") == 0)
		conf->logAppendTime = strcmp(text, "LogAppendTime") == 0;
	else if (strcmp(name, "segment.bytes") == 0)
		conf->segmentBytes = (int32_t)n;
	else
		fail_msg("config %s", name);
}

/* ---- comparison ---- */

static void differ(json_t *row, const char *what, const char *is, const char *wanted)
{
	printf("%s %s (%s): %s is %s, not %s\n", json_string_value(json_object_get(row, "group")),
	       json_string_value(json_object_get(row, "case")), json_string_value(json_object_get(row, "how")), what,
	       is ? is : "null", wanted ? wanted : "null");
	bad_rows++;
}

static void compare_number(json_t *row, const char *what, int64_t is, int64_t wanted)
{
	char a[32], b[32];

	if (is == wanted)
		return;
	snprintf(a, sizeof a, "%lld", (long long)is);
	snprintf(b, sizeof b, "%lld", (long long)wanted);
	differ(row, what, a, b);
}

static void compare_text(json_t *row, const char *what, const char *is, const char *wanted)
{
	if (is ? !wanted || strcmp(is, wanted) != 0 : wanted != NULL)
		differ(row, what, is, wanted);
}

static void compare_record_errors(json_t *row, const struct kw_verdict *v, json_t *wanted)
{
	size_t i;
	json_t *error;

	compare_number(row, "number of record errors", v->nrecordErrors, (int64_t)json_array_size(wanted));
	if (v->nrecordErrors != (int64_t)json_array_size(wanted))
		return;
	json_array_foreach(wanted, i, error) {
		compare_number(row, "batch index", v->recordErrors[i].batchIndex,
			       json_integer_value(json_array_get(error, 0)));
		compare_text(row, "record error", v->recordErrors[i].batchIndexErrorMessage.s,
			     json_string_value(json_array_get(error, 1)));
	}
}

/* A number, or "now". */
static int64_t number(json_t *value, const struct bench *bench)
{
	return json_is_string(value) ? bench->now : json_integer_value(value);
}

static void compare_records(json_t *row, const struct kw_batch *batch, const char *wanted)
{
	struct kw_buf inflated = {0}, hex = {0};

	assert_int_equal(kw_decompress(batch->attributes & KW_A_CODEC, batch->p + KW_B_RECORDS,
				       batch->size - KW_B_RECORDS, 1 << 20, &inflated, NULL), 0);
	for (size_t i = 0; i < inflated.n; i++) {
		char digits[3];

		snprintf(digits, sizeof digits, "%02x", inflated.p[i]);
		kw_put(&hex, digits, 2);
	}
	kw_put(&hex, "", 1);
	compare_text(row, "records", (const char *)hex.p, wanted);
	kw_buf_fini(&inflated);
	kw_buf_fini(&hex);
}

/* What a consumer gets from the base offset on. */
static void compare_stored(json_t *row, const struct sent *sent, json_t *stored)
{
	static uint8_t bytes[4 << 20];
	json_t *records = json_object_get(stored, "records");
	struct kw_arena arena;
	struct kw_batch batch;
	struct fb_read read;
	size_t n = 0;

	kw_arena_init(&arena, 0);
	assert_int_equal(fb_log_read(&sent->bench->log, sent->v.baseOffset, INT64_MAX, 1, true, &arena, &read), 0);
	assert_true(read.nframes == 1 && read.records.nv == 2 && (size_t)read.records.n <= sizeof bytes);
	for (int32_t i = 0; i < read.records.nv; n += read.records.v[i++].n)
		memcpy(bytes + n, read.records.v[i].p, read.records.v[i].n);
	assert_int_equal(kw_batch_parse(bytes, n, &batch, NULL), 0);
	compare_number(row, "batch size", (int64_t)batch.size, (int64_t)n);
	compare_number(row, "stored base offset", batch.baseOffset, sent->v.baseOffset);
	compare_number(row, "leader epoch", batch.partitionLeaderEpoch, 7);
	compare_number(row, "CRC", batch.crc, kw_batch_crc(bytes, n));
#define FIELD(name) compare_number(row, #name, batch.name, number(json_object_get(stored, #name), sent->bench))
	FIELD(attributes);
	FIELD(lastOffsetDelta);
	FIELD(baseTimestamp);
	FIELD(maxTimestamp);
	FIELD(producerId);
	FIELD(producerEpoch);
	FIELD(baseSequence);
	FIELD(count);
#undef FIELD
	if (records)
		compare_records(row, &batch, json_string_value(json_object_get(records, "hex")));
	fb_frame_unref(read.frames[0]);
	kw_arena_fini(&arena);
}

static void compare(json_t *row, json_t *wanted, int version, const struct sent *sent, int64_t end_before)
{
	const struct kw_verdict *v = &sent->v;
	json_t *baseOffset = json_object_get(wanted, "baseOffset"), *reason = json_object_get(wanted, "reason");
	json_t *log_append_time = json_object_get(wanted, "logAppendTime"), *stored = json_object_get(wanted, "stored");
	json_t *log_start = json_object_get(wanted, "logStartOffset");

	compare_number(row, "error", v->errorCode, json_integer_value(json_object_get(wanted, "error")));
	compare_number(row, "records appended", sent->bench->log.logEndOffset - end_before,
		       json_integer_value(json_object_get(wanted, "appended")));
	if (baseOffset || v->errorCode)
		compare_number(row, "base offset", v->baseOffset, baseOffset ? json_integer_value(baseOffset) : -1);
	if (version >= TEXTS_SINCE) {
		compare_text(row, "message", v->errorMessage, json_string_value(json_object_get(wanted, "message")));
		compare_record_errors(row, v, json_object_get(wanted, "recordErrors"));
	}
	if (log_append_time || v->errorCode)
		compare_number(row, "log append time", v->logAppendTimeMs,
			       log_append_time ? number(log_append_time, sent->bench) : -1);
	if (log_start)
		compare_number(row, "log start offset", v->logStartOffset, json_integer_value(log_start));
	if (stored && !v->errorCode)
		compare_stored(row, sent, stored);
	if (reason)
		compare_text(row, "reason", v->reason, json_string_value(reason));
	else if (v->errorCode && !v->reason)
		differ(row, "reason", NULL, "anything");
}

/* ---- rows ---- */

static void run(json_t *row)
{
	json_t *partitions = json_object_get(row, "partitions"), *now = json_object_get(row, "now");
	int version = (int)json_integer_value(json_object_get(row, "version"));
	int32_t n = partitions ? (int32_t)json_array_size(partitions) : 1;
	bool null = json_is_null(json_object_get(row, "records"));
	struct sent sent[MAX_PARTITIONS] = {0};
	int64_t ends[MAX_PARTITIONS];
	json_t *wanted[MAX_PARTITIONS];
	struct kw_arena arena;

	kw_arena_init(&arena, 0);
	for (int32_t i = 0; i < n; i++) {
		wanted[i] = partitions ? json_array_get(partitions, (size_t)i) : row;
		sent[i].bench = find(json_string_value(json_object_get(wanted[i], "topic")));
		sent[i].bench->now = now ? json_integer_value(now) : file_now;
		sent[i].frame = frame_of(null ? NULL : json_object_get(wanted[i], "batches"));
		ends[i] = sent[i].bench->log.logEndOffset;
	}
	produce(sent, n, version, json_string_value(json_object_get(row, "transactionalId")), null, &arena);
	for (int32_t i = 0; i < n; i++) {
		compare(row, wanted[i], version, &sent[i], ends[i]);
		fb_frame_unref(sent[i].frame);
	}
	kw_arena_fini(&arena);
}

static void test_table(void **state)
{
	json_error_t error;
	json_t *table = json_load_file(TABLE, JSON_REJECT_DUPLICATES, &error), *configs, *row, *value;
	const char *topic, *name;
	size_t i;

	(void)state;
	if (!table)
		fail_msg("%s:%d: %s", TABLE, error.line, error.text);
	file_now = json_integer_value(json_object_get(table, "now"));
	json_object_foreach(json_object_get(table, "topics"), topic, configs) {
		assert_true(nbenches < MAX_TOPICS);
		bench_init(&benches[nbenches], topic);
		json_object_foreach(configs, name, value)
			configure(&benches[nbenches].conf, name, value);
		nbenches++;
	}
	assert_true(json_array_size(json_object_get(table, "cases")) > 300);
	json_array_foreach(json_object_get(table, "cases"), i, row)
		run(row);
	for (i = 0; i < nbenches; i++)
		bench_fini(&benches[i]);
	json_decref(table);
	assert_int_equal(bad_rows, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_table)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
