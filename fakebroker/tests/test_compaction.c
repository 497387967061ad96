/* What Kafka's log cleaner made of compacted partitions (the data file says how): the same requests must leave the same
 * bytes here, in the same segments, and the same answers. */
#include <time.h>

#include "fakebroker/tests/http.h"
#include "fakebroker/tests/talk.h"
#include "lib/text/base64.h"
#include "lib/wire/set.h"

#define DATA "fakebroker/tests/data/compaction_kafka_4.4.0.json"

static struct running run;
static struct kc_conn *conn;
static json_t *data;

static int set_up(void **state)
{
	static const char *set[] = {"transaction.partition.verification.enable=false"};
	struct fb_settings settings = {.set = {set, 1}};

	(void)state;
	data = json_load_file(DATA, 0, NULL);
	assert_non_null(data);
	running_start(&run, &settings);
	conn = dial(&run, 1);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	kc_free(conn);
	running_stop(&run);
	json_decref(data);
	return 0;
}

static struct fb_partition *partition_of(const char *topic)
{
	return fb_topic_find(run.process.cluster, kw_str(topic))->partitions;
}

static void clock_shows(int64_t ms)
{
	char body[100];

	snprintf(body, sizeof body, "{\"now\": %lld, \"frozen\": true}", (long long)ms);
	json_decref(http_json(&run, 200, "POST", "/v1/clock", body));
}

/* ---- requests ---- */

/* The members of a JSON object as configurations; for free(). */
static char *configs_text(json_t *configs, const char *before)
{
	char *text = calloc(1, 2000);
	const char *name;
	json_t *value;

	json_object_foreach(configs, name, value)
		snprintf(text + strlen(text), 2000 - strlen(text), "%s{'name': '%s', %s'value': '%s'}",
			 *text ? ", " : "", name, before, json_string_value(value));
	return text;
}

static void create(const char *topic, json_t *configs)
{
	char *text = configs_text(configs, "");

	assert_int_equal(ask_num(&run, conn, "topics.0.errorCode", "CreateTopics", 7,
				 "{'topics': [{'name': '%s', "
				 "'numPartitions': 1, 'replicationFactor': 1, 'configs': [%s]}], 'timeoutMs': 1000}",
				 topic, text), 0);
	free(text);
}

static void alter(const char *topic, json_t *configs)
{
	char *text = configs_text(configs, "'configOperation': 0, ");

	assert_int_equal(ask_num(&run, conn, "responses.0.errorCode", "IncrementalAlterConfigs", 1, "{'resources': [{"
				 "'resourceType': 2, 'resourceName': '%s', 'configs': [%s]}]}", topic, text), 0);
	free(text);
}

static void put(const char *topic, json_t *step)
{
	json_t *json = talk(&run, conn, "Produce", 9, "{'transactionalId': 't', 'acks': -1, 'topicData': [{'name': "
			    "'%s', 'partitionData': [{'index': 0, 'records': {'hex': '%s'}}]}]}",
			    topic, str_at(step, "records"));

	assert_int_equal(num_at(json, "responses.0.partitionResponses.0.errorCode"), 0);
	assert_int_equal(num_at(json, "responses.0.partitionResponses.0.baseOffset"), num_at(step, "baseOffset"));
	json_decref(json);
}

static void mark(const char *topic, json_t *step)
{
	assert_int_equal(ask_num(&run, conn, "markers.0.topics.0.partitions.0.errorCode", "WriteTxnMarkers", 1,
				 "{'markers': [{"
				 "'producerId': %lld, 'producerEpoch': %lld, 'coordinatorEpoch': %lld, "
				 "'transactionResult': %s, 'topics': [{'name': '%s', 'partitionIndexes': [0]}]}]}",
				 (long long)num_at(step, "marker.producerId"),
				 (long long)num_at(step, "marker.producerEpoch"),
				 (long long)num_at(step, "marker.coordinatorEpoch"),
				 num_at(step, "marker.commit") ? "true" : "false", topic), 0);
}

static void compact(const char *topic, json_t *step)
{
	json_t *refused = at(step, "refused"), *json;
	char path[100];

	snprintf(path, sizeof path, "/v1/partitions/%s/0/compact", topic);
	json = http_json(&run, refused ? 409 : 200, "POST", path, NULL);
	if (refused)
		assert_string_equal(str_at(json, "code"), json_string_value(refused));
	else
		assert_int_equal(num_at(json, "firstUncleanableOffset"), num_at(step, "cleanedTo"));
	json_decref(json);
}

/* ---- what it looks like afterwards ---- */

static json_t *fetch(const char *topic, int64_t offset, int isolation)
{
	return talk(&run, conn, "Fetch", 11, "{'replicaId': -1, 'maxWaitMs': 0, 'minBytes': 0, 'maxBytes': 10000000, "
		    "'isolationLevel': %d, 'topics': [{'topic': '%s', 'partitions': [{'partition': 0, 'fetchOffset': "
		    "%lld, 'partitionMaxBytes': 10000000}]}]}", isolation, topic, (long long)offset);
}

static int put_record(void *arg, int32_t index, const struct kw_record *record)
{
	(void)index;
	kw_record_put(arg, record);
	return 0;
}

/* A set with the records of its batches uncompressed: compressors may differ in their bytes, not in what they say. */
static void inflate_set(const uint8_t *p, size_t n, struct kw_buf *out)
{
	struct kw_set set = {.p = p, .n = n};
	struct kw_entry entry;
	enum kw_walk why;

	while (kw_set_next(&set, &entry, NULL) > 0) {
		struct kw_batch batch;

		assert_int_equal(kw_batch_parse(entry.p, entry.size, &batch, NULL), 0);
		assert_int_equal(batch.crc, kw_batch_crc(batch.p, batch.size));
		kw_put(out, entry.p, KW_B_RECORDS);
		if (batch.attributes & KW_A_CODEC) {
			memset(out->p + out->n - KW_B_RECORDS + KW_B_LENGTH, 0, 4);
			memset(out->p + out->n - KW_B_RECORDS + KW_B_CRC, 0, 4);
			assert_int_equal(kw_batch_walk(&batch, NULL, put_record, out, &why, NULL), 0);
		} else {
			kw_put(out, entry.p + KW_B_RECORDS, entry.size - KW_B_RECORDS);
		}
	}
	assert_int_equal(set.at, n);
}

static void same_sets(const char *name, const struct kw_buf *mine, const char *hex)
{
	uint8_t *wanted = malloc(strlen(hex) + 1);
	long n = kt_hex_decode(hex, strlen(hex), wanted);
	struct kw_buf a = {0}, b = {0};

	assert_true(n >= 0);
	inflate_set(mine->p, mine->n, &a);
	inflate_set(wanted, (size_t)n, &b);
	if (a.n != b.n || memcmp(a.p, b.p, a.n) != 0) {
		char *text = calloc(1, 2 * mine->n + 1);

		kt_hex_encode(mine->p, mine->n, text);
		fail_msg("%s: the log is\n%s\nnot\n%s", name, text, hex);
	}
	kw_buf_fini(&a);
	kw_buf_fini(&b);
	free(wanted);
}

/* Appends records that were fetched, and goes on behind them; false: none. */
static bool take_records(const char *base64, struct kw_buf *log, int64_t *offset)
{
	uint8_t *bytes = malloc(strlen(base64) + 3);
	long n = kt_base64_decode(base64, strlen(base64), bytes);
	struct kw_set set = {.p = bytes, .n = (size_t)n};
	struct kw_entry entry;
	struct kw_batch batch;

	assert_true(n >= 0);
	kw_put(log, bytes, (size_t)n);
	while (kw_set_next(&set, &entry, NULL) > 0) {
		assert_int_equal(kw_batch_parse(entry.p, entry.size, &batch, NULL), 0);
		*offset = batch.baseOffset + batch.lastOffsetDelta + 1;
	}
	free(bytes);
	return n > 0;
}

/* Appends the aborted transactions of an answer that are not in the list yet: [producerId, firstOffset]. */
static void take_aborted(json_t *json, json_t *list)
{
	json_t *row, *known;
	size_t i, k;

	json_array_foreach(at(json, "responses.0.partitions.0.abortedTransactions"), i, row) {
		json_t *pair = json_pack("[I, I]", (json_int_t)num_at(row, "producerId"),
					 (json_int_t)num_at(row, "firstOffset"));
		bool new = true;

		json_array_foreach(list, k, known)
			new = new && !json_equal(known, pair);
		if (new)
			json_array_append(list, pair);
		json_decref(pair);
	}
	json_decref(json);
}

/* Reads the log from its start on, as both kinds of reader: a fetch ends where a segment does. */
static void same_log(const char *topic, json_t *step)
{
	int64_t offset = num_at(step, "logStartOffset"), next = offset;
	json_t *aborted = json_array();
	struct kw_buf log = {0};
	bool more = true;

	while (more) {
		json_t *json = fetch(topic, offset, 0);

		more = take_records(str_at(json, "responses.0.partitions.0.records"), &log, &next);
		json_decref(json);
		if (more)
			take_aborted(fetch(topic, offset, 1), aborted);
		assert_true(!more || next > offset);
		offset = next;
	}
	same_sets(topic, &log, str_at(step, "log"));
	if (!json_equal(aborted, at(step, "aborted")))
		fail_msg("%s: the aborted transactions are %s", topic, json_dumps(aborted, 0));
	json_decref(aborted);
	kw_buf_fini(&log);
}

/* Where segments begin. Kafka's empty ones are a part of the next one here, and those below the log's start are
 * gone. */
static void same_segments(const char *name, json_t *step, const struct fb_log *log)
{
	json_t *segments = at(step, "segments"), *row;
	size_t i = log->first, k;
	int64_t base = -1;
	int missing = 0;

	json_array_foreach(segments, k, row) {
		base = base < 0 ? num_at(row, "0") : base;
		if (num_at(row, "1") == 0)
			continue;
		while (i < log->n && log->entries[i].baseOffset < base)
			i++;
		if (i == log->n || log->entries[i].baseOffset - log->entries[i].hole != base ||
		    (!log->entries[i].rolled && i > log->first))
			fail_msg("%s: no segment begins at %lld", name, (long long)base);
		base = -1;
		missing++;
	}
	for (i = log->first; i < log->n; i++)
		missing -= fb_log_begins_segment(log, i);
	if (missing)
		fail_msg("%s: Kafka has %d segments more", name, missing);
}

static void same_answers(const char *topic, json_t *step)
{
	size_t i;
	json_t *row;

	json_array_foreach(at(step, "listOffsets"), i, row) {
		json_t *json = talk(&run, conn, "ListOffsets", 7, "{'replicaId': -1, 'topics': [{'name': '%s', "
				    "'partitions': [{'partitionIndex': 0, 'timestamp': %lld}]}]}",
				    topic, (long long)num_at(row, "0"));
		json_t *found = at(json, "topics.0.partitions.0");

		if (num_at(found, "offset") != num_at(row, "1") || num_at(found, "timestamp") != num_at(row, "2"))
			fail_msg("%s: ListOffsets %lld finds %lld at %lld", topic, (long long)num_at(row, "0"),
				 (long long)num_at(found, "offset"), (long long)num_at(found, "timestamp"));
		json_decref(json);
	}
}

static void look(const char *topic, json_t *step)
{
	json_t *json = fetch(topic, num_at(step, "logStartOffset"), 0), *found = at(json, "responses.0.partitions.0");
	struct fb_log *log = &partition_of(topic)->log;

	assert_int_equal(num_at(found, "errorCode"), 0);
	assert_int_equal(num_at(found, "logStartOffset"), num_at(step, "logStartOffset"));
	assert_int_equal(num_at(found, "highWatermark"), num_at(step, "logEndOffset"));
	assert_int_equal(num_at(found, "lastStableOffset"), num_at(step, "lastStableOffset"));
	same_log(topic, step);
	same_segments(topic, step, log);
	same_answers(topic, step);
	json_decref(json);
}

/* ---- scenarios ---- */

static void run_step(const char *topic, json_t *step)
{
	if (at(step, "at"))
		clock_shows(num_at(step, "at"));
	if (at(step, "records"))
		put(topic, step);
	else if (at(step, "marker"))
		mark(topic, step);
	else if (at(step, "configs"))
		alter(topic, at(step, "configs"));
	else if (at(step, "compact"))
		compact(topic, step);
	else
		fb_cluster_tick(run.process.cluster, true);
	if (at(step, "log"))
		look(topic, step);
}

static void everything_is_as_in_kafka(void **state)
{
	json_t *scenario, *step;
	size_t i, k, rounds = 0;

	(void)state;
	json_array_foreach(at(data, "scenarios"), i, scenario) {
		const char *topic = str_at(scenario, "name");

		create(topic, at(scenario, "configs"));
		json_array_foreach(at(scenario, "steps"), k, step) {
			run_step(topic, step);
			rounds += at(step, "compact") != NULL;
		}
	}
	assert_int_equal(i, 26);
	assert_int_equal(rounds, 48);
}

/* ---- what only a request has ---- */

/* The records below have the time of the system. */
static int64_t system_ms(void)
{
	return (int64_t)time(NULL) * 1000;
}

static void make(const char *topic, const char *policy)
{
	json_t *configs = json_pack("{s:s}", "cleanup.policy", policy);

	clock_shows(system_ms());
	create(topic, configs);
	json_decref(configs);
}

static int64_t offset_fetched(const char *topic, int64_t offset)
{
	json_t *json = fetch(topic, offset, 0);
	const char *base64 = str_at(json, "responses.0.partitions.0.records");
	uint8_t *p = malloc(strlen(base64) + 3);
	int64_t base = kt_base64_decode(base64, strlen(base64), p) > 0 ? (int64_t)kw_rd64(p) : -1;

	assert_int_equal(num_at(json, "responses.0.partitions.0.errorCode"), 0);
	free(p);
	json_decref(json);
	return base;
}

static void the_active_segment_can_be_ended(void **state)
{
	static const char path[] = "/v1/partitions/rolled/0/compact";
	json_t *json;

	(void)state;
	make("rolled", "compact");
	for (int i = 0; i < 4; i++)
		assert_int_equal(produce(&run, conn, "rolled", BATCH("{'key': 'k', 'value': 'v'}")), i);
	json = http_json(&run, 200, "POST", path, NULL);
	assert_int_equal(num_at(json, "batchesRead"), 0);
	assert_int_equal(num_at(json, "firstUncleanableOffset"), 0);
	json_decref(json);
	json = http_json(&run, 200, "POST", path, "{\"roll\": true}");
	assert_int_equal(num_at(json, "firstDirtyOffset"), 0);
	assert_int_equal(num_at(json, "firstUncleanableOffset"), 4);
	assert_int_equal(num_at(json, "recordsRead"), 4);
	assert_int_equal(num_at(json, "recordsKept"), 1);
	assert_int_equal(num_at(json, "bytesKept"), partition_of("rolled")->log.bytes);
	json_decref(json);
	assert_int_equal(offset_fetched("rolled", 0), 3);
	assert_int_equal(offset_fetched("rolled", 2), 3);
	assert_int_equal(produce(&run, conn, "rolled", BATCH("{'key': 'k', 'value': 'v'}")), 4);
	json = http_json(&run, 200, "POST", path, "{\"roll\": true}");
	assert_int_equal(num_at(json, "firstDirtyOffset"), 4);
	json_decref(json);
	assert_int_equal(offset_fetched("rolled", 0), 4);
	assert_int_equal(partition_of("rolled")->log.logStartOffset, 0);
	http_error(&run, 400, "POST", path, "{\"rol\": true}",
		   "body:1: $.rol: unknown member \"rol\"; did you mean \"roll\"?");
}

static uint32_t size_of_first(const char *topic)
{
	const struct fb_log *log = &partition_of(topic)->log;

	assert_true(log->n > log->first);
	return log->entries[log->first].size;
}

/* What is due goes, though no record came since the last round; the log's last batch goes only when it is that no
 * more. */
static void a_tombstone_s_time_is_up(void **state)
{
	static const char path[] = "/v1/partitions/due/0/compact", roll[] = "{\"roll\": true}";
	int64_t now = system_ms();
	json_t *json;

	(void)state;
	make("due", "compact");
	clock_shows(now);
	assert_int_equal(produce(&run, conn, "due", BATCH("{'key': 'k', 'value': null}")), 0);
	json_decref(http_json(&run, 200, "POST", path, roll));
	clock_shows(now + 86400000 - 1);
	json_decref(http_json(&run, 200, "POST", path, roll));
	assert_true(size_of_first("due") > KW_B_RECORDS);
	clock_shows(now + 86400000);
	json_decref(http_json(&run, 200, "POST", path, roll));
	assert_int_equal(offset_fetched("due", 0), 0);
	assert_int_equal(size_of_first("due"), KW_B_RECORDS);
	json = talk(&run, conn, "ListOffsets", 7, "{'replicaId': -1, 'topics': [{'name': 'due', 'partitions': [{"
		    "'partitionIndex': 0, 'timestamp': -3}]}]}");
	assert_int_equal(num_at(json, "topics.0.partitions.0.offset"), -1);
	/* Though a header still has the greatest. */
	assert_int_equal(num_at(json, "topics.0.partitions.0.timestamp"), -1);
	json_decref(json);
	assert_int_equal(produce(&run, conn, "due", BATCH("{'key': 'l'}")), 1);
	json_decref(http_json(&run, 200, "POST", path, roll));
	assert_int_equal(offset_fetched("due", 0), 1);
	assert_int_equal(end_of(&run, "due"), 2);
}

#define OF_PRODUCER(sequence) \
	"{'batches': [{'producerId': 7, 'producerEpoch': 0, 'baseSequence': " sequence ", 'records': [{'key': 'k'}]}]}"

static void duplicates_are_known_for_ever(void **state)
{
	(void)state;
	make("sequences", "compact");
	assert_int_equal(produce(&run, conn, "sequences", OF_PRODUCER("0")), 0);
	assert_int_equal(produce(&run, conn, "sequences", OF_PRODUCER("1")), 1);
	assert_int_equal(produce(&run, conn, "sequences", BATCH("{'key': 'k'}")), 2);
	json_decref(http_json(&run, 200, "POST", "/v1/partitions/sequences/0/compact", "{\"roll\": true}"));
	assert_int_equal(offset_fetched("sequences", 0), 1);
	assert_int_equal(size_of_first("sequences"), KW_B_RECORDS);
	assert_int_equal(produce(&run, conn, "sequences", OF_PRODUCER("0")), 0);
	assert_int_equal(produce(&run, conn, "sequences", OF_PRODUCER("1")), 1);
	assert_int_equal(produce(&run, conn, "sequences", OF_PRODUCER("3")), -45);
	assert_int_equal(produce(&run, conn, "sequences", OF_PRODUCER("2")), 3);
}

/* The record is of 1970. */
static void what_is_too_old_goes_behind_the_round(void **state)
{
	static const char ancient[] = "{'batches': [{'baseTimestamp': 5, 'records': [{'key': 'k'}]}]}";
	static const char *const policies[] = {"compact", "compact,delete"};

	(void)state;
	for (int i = 0; i < 2; i++) {
		char topic[20], path[60];

		snprintf(topic, sizeof topic, "old%d", i);
		snprintf(path, sizeof path, "/v1/partitions/%s/0/compact", topic);
		make(topic, policies[i]);
		assert_int_equal(produce(&run, conn, topic, ancient), 0);
		json_decref(http_json(&run, 200, "POST", path, "{\"roll\": true}"));
		assert_int_equal(partition_of(topic)->log.logStartOffset, i);
		assert_int_equal(partition_of(topic)->log.logEndOffset, 1);
	}
	/* Not where nothing could be compacted. */
	make("old2", "compact,delete");
	assert_int_equal(produce(&run, conn, "old2", ancient), 0);
	json_decref(http_json(&run, 200, "POST", "/v1/partitions/old2/0/append", "{\"records\": {\"hex\": \"00\"}}"));
	http_error(&run, 409, "POST", "/v1/partitions/old2/0/compact", "{\"roll\": true}",
		   "batch at offset 1: only batches of magic 2 are compacted");
	assert_int_equal(partition_of("old2")->log.logStartOffset, 0);
}

static void some_partitions_cannot_be_compacted(void **state)
{
	(void)state;
	make("deleting", "delete");
	http_error(&run, 409, "POST", "/v1/partitions/deleting/0/compact", NULL,
		   "cleanup.policy of topic deleting has no \"compact\"");
	http_error(&run, 404, "POST", "/v1/partitions/deleting/1/compact", NULL,
		   "there is no partition deleting/1; /v1/partitions/TOPIC/N is expected");
	make("nonsense", "compact");
	assert_int_equal(produce(&run, conn, "nonsense", BATCH("{'key': 'k'}")), 0);
	json_decref(
		http_json(&run, 200, "POST", "/v1/partitions/nonsense/0/append", "{\"records\": {\"hex\": \"00\"}}"));
	http_error(&run, 409, "POST", "/v1/partitions/nonsense/0/compact", "{\"roll\": true}",
		   "batch at offset 1: only batches of magic 2 are compacted");
	assert_int_equal(partition_of("nonsense")->log.n, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_as_in_kafka),
		cmocka_unit_test(the_active_segment_can_be_ended),
		cmocka_unit_test(a_tombstone_s_time_is_up),
		cmocka_unit_test(duplicates_are_known_for_ever),
		cmocka_unit_test(what_is_too_old_goes_behind_the_round),
		cmocka_unit_test(some_partitions_cannot_be_compacted),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
