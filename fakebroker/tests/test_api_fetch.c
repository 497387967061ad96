/* Reading over the wire: ListOffsets and Fetch. What is expected was measured on Apache Kafka 4.4.0, unless a line says
 * that it is the kit's. */
#include "fakebroker/cluster/log_line.h"
#include "fakebroker/tests/talk.h"
#include "lib/wire/errors.h"

static struct running run;
static struct kc_conn *conn;

static int set_up(void **state)
{
	struct fb_settings settings = {.nodes = 2};

	(void)state;
	running_start(&run, &settings);
	conn = dial(&run, 1);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	kc_free(conn);
	running_stop(&run);
	return 0;
}

/* ---- reading: two batches, of three records and of two ---- */

static const char first_batch[] = "{'batches': [{'baseTimestamp': 1000, 'records': [{'value': 'a'}, {'value': 'b', "
				  "'timestampDelta': 5}, {'value': 'c', 'timestampDelta': 3}]}]}";
static const char second_batch[] = "{'batches': [{'baseTimestamp': 2000, 'records': [{'value': 'd'}, {'value': 'e', "
				   "'timestampDelta': 7}]}]}";

enum { FIRST_SIZE = 61 + 3 * 8, SECOND_SIZE = 61 + 2 * 8 };

static void fill(const char *topic)
{
	make_topic(&run, topic);
	assert_int_equal(produce(&run, conn, topic, first_batch), 0);
	assert_int_equal(produce(&run, conn, topic, second_batch), 3);
}

/* ---- ListOffsets ---- */

static void offsets_are_found(void **state)
{
	static const struct { int version; int64_t timestamp; int error; int64_t found, offset; int epoch; } rows[] = {
		{1, -1, 0, -1, 5, -9}, {3, -2, 0, -1, 0, -9},   /* -9: no such field */
		{11, -1, 0, -1, 5, 0}, {11, -2, 0, -1, 0, 0}, {11, -3, 0, 2007, 4, 0}, {11, -4, 0, -1, 0, 0},
		{11, -5, 0, -1, -1, -1}, {11, -6, 0, -1, -1, -1}, {11, -7, 35, -1, -1, -1},
		{11, INT64_MIN, 35, -1, -1, -1},
		{6, -3, 35, -1, -1, -1}, {7, -3, 0, 2007, 4, 0}, {7, -4, 35, -1, -1, -1}, {8, -4, 0, -1, 0, 0},
		{8, -5, 35, -1, -1, -1}, {9, -5, 0, -1, -1, -1}, {10, -6, 35, -1, -1, -1},
		/* by time: the first record, in the order of offsets, that is not older */
		{11, 0, 0, 1000, 0, 0}, {11, 1000, 0, 1000, 0, 0}, {11, 1001, 0, 1005, 1, 0},
		{11, 1005, 0, 1005, 1, 0}, {11, 1006, 0, 2000, 3, 0}, {11, 2001, 0, 2007, 4, 0},
		{11, 2008, 0, -1, -1, -1}, {1, 1001, 0, 1005, 1, -9},
	};

	(void)state;
	fill("offsets");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		json_t *json = talk(&run, conn, "ListOffsets", rows[i].version,
				    "{'replicaId': -1, 'topics': [{'name': 'offsets', "
				    "'partitions': [{'partitionIndex': 0, 'timestamp': %lld}]}]}",
				    (long long)rows[i].timestamp);
		json_t *p = at(json, "topics.0.partitions.0");

		if (num_at(p, "errorCode") != rows[i].error || num_at(p, "timestamp") != rows[i].found ||
		    num_at(p, "offset") != rows[i].offset)
			fail_msg("v%d, %lld: %s", rows[i].version, (long long)rows[i].timestamp, json_dumps(p, 0));
		if (rows[i].epoch != -9)
			assert_int_equal(num_at(p, "leaderEpoch"), rows[i].epoch);
		json_decref(json);
	}
}

static int64_t offset_error(struct kc_conn *c, const char *topic, int partition, int epoch)
{
	return ask_num(&run, c, "topics.0.partitions.0.errorCode", "ListOffsets", 11,
		       "{'replicaId': -1, 'topics': [{'name': '%s', "
		       "'partitions': [{'partitionIndex': %d, 'timestamp': -1, 'currentLeaderEpoch': %d}]}]}",
		       topic, partition, epoch);
}

static void wrong_places_have_no_offsets(void **state)
{
	struct kc_conn *other = dial(&run, 2);
	json_t *json;

	(void)state;
	assert_int_equal(offset_error(conn, "offsets", 0, 0), 0);
	assert_int_equal(offset_error(conn, "offsets", 0, 1), 75);
	assert_int_equal(offset_error(conn, "offsets", 0, -5), 74);
	assert_int_equal(offset_error(conn, "offsets", 1, -1), 3);
	assert_int_equal(offset_error(conn, "nope", 0, -1), 3);
	assert_int_equal(offset_error(other, "offsets", 0, -1), 6);
	json = talk(&run, conn, "ListOffsets", 11, "{'replicaId': -1, 'topics': [{'name': 'offsets', 'partitions': ["
		    "{'partitionIndex': 0, 'timestamp': -1}, {'partitionIndex': 7, 'timestamp': -1}, "
		    "{'partitionIndex': 0, 'timestamp': -2}]}]}");
	assert_int_equal(json_array_size(at(json, "topics.0.partitions")), 2);
	assert_int_equal(num_at(json, "topics.0.partitions.0.errorCode"), 42);
	assert_int_equal(num_at(json, "topics.0.partitions.1.errorCode"), 3);
	json_decref(json);
	kc_free(other);
}

/* ---- Fetch ---- */

struct fetched {
	int64_t error, high, start, bytes;
	int64_t base;              /* of the first batch, -1 if there is none */
	int batches;               /* whole ones */
};

static struct fetched read_partition(const struct kw_FetchResponse_PartitionData *p)
{
	struct fetched f = {p->errorCode, p->highWatermark, p->logStartOffset, p->records.n, -1, 0};

	for (int32_t i = 0; i < p->records.n;) {
		struct kw_batch batch;

		if (kw_batch_parse(p->records.p + i, (size_t)(p->records.n - i), &batch, NULL) == KT_ETRUNC)
			break;
		if (f.batches++ == 0)
			f.base = batch.baseOffset;
		i += (int32_t)batch.size;
	}
	return f;
}

#define FETCH "{'maxWaitMs': 0, 'minBytes': 1, 'maxBytes': 100000, "

/* The first partition of the answer. */
static struct fetched fetch(struct kc_conn *c, int version, const char *fmt, ...)
{
	const struct kw_FetchResponse *response;
	va_list ap;

	va_start(ap, fmt);
	response = call(&run, c, 1, version, body_from(&run, 1, version, fmt, ap));
	va_end(ap);
	assert_int_equal(response->errorCode, 0);
	return read_partition(&response->responses.v[0].partitions.v[0]);
}

static struct fetched fetch_at(int64_t offset, int max, int partition_max)
{
	return fetch(conn, 12, "{'maxWaitMs': 0, 'minBytes': 1, 'maxBytes': %d, 'topics': [{'topic': 'log', "
		     "'partitions': [{'partition': 0, 'fetchOffset': %lld, 'partitionMaxBytes': %d}]}]}",
		     max, (long long)offset, partition_max);
}

static void assert_fetched(struct fetched f, int64_t base, int batches, int64_t bytes)
{
	assert_int_equal(f.error, 0);
	assert_int_equal(f.high, 5);
	assert_int_equal(f.start, 0);
	assert_int_equal(f.base, base);
	assert_int_equal(f.batches, batches);
	assert_int_equal(f.bytes, bytes);
}

static void batches_are_read(void **state)
{
	enum { ALL = FIRST_SIZE + SECOND_SIZE };

	(void)state;
	fill("log");
	assert_fetched(fetch_at(0, 100000, 100000), 0, 2, ALL);
	assert_fetched(fetch_at(2, 100000, 100000), 0, 2, ALL);      /* from the middle: the batch that holds it */
	assert_fetched(fetch_at(3, 100000, 100000), 3, 1, SECOND_SIZE);
	assert_fetched(fetch_at(4, 100000, 100000), 3, 1, SECOND_SIZE);
	assert_fetched(fetch_at(5, 100000, 100000), -1, 0, 0);
	/* the first batch is whole, whatever its size; another one is cut off where it does not fit */
	assert_fetched(fetch_at(0, 100000, 1), 0, 1, FIRST_SIZE);
	assert_fetched(fetch_at(0, 1, 100000), 0, 1, FIRST_SIZE);
	assert_fetched(fetch_at(0, 0, 100000), 0, 1, FIRST_SIZE);
	assert_fetched(fetch_at(0, 100000, 0), 0, 1, FIRST_SIZE);
	assert_fetched(fetch_at(0, 100000, FIRST_SIZE + 1), 0, 1, FIRST_SIZE + 1);
	assert_fetched(fetch_at(0, 100000, ALL - 1), 0, 1, ALL - 1);
	assert_fetched(fetch_at(0, ALL, 100000), 0, 2, ALL);
	assert_int_equal(fetch_at(0, -1, 100000).error, -1);
	assert_int_equal(fetch_at(0, 100000, -1).error, -1);
	assert_int_equal(fetch_at(5, -1, -1).error, 0);
	assert_int_equal(fetch_at(6, 100000, 100000).error, 1);
	assert_int_equal(fetch_at(6, 100000, 100000).high, -1);
	assert_int_equal(fetch_at(-1, 100000, 100000).error, 1);
}

static int64_t fetch_error(struct kc_conn *c, int version, const char *topic, const char *partition)
{
	return fetch(c, version, FETCH "'topics': [{'%s': '%s', 'partitions': [{%s, 'partitionMaxBytes': 1000}]}]}",
		     version < 13 ? "topic" : "topicId", topic, partition).error;
}

static void wrong_places_have_no_records(void **state)
{
	struct kc_conn *other = dial(&run, 2);
	char id[23];

	(void)state;
	kw_uuid_text(fb_topic_find(run.process.cluster, kw_str("log"))->id, id);
	assert_int_equal(fetch_error(conn, 12, "log", "'partition': 1"), 3);
	assert_int_equal(fetch_error(conn, 12, "nope", "'partition': 0"), 3);
	assert_int_equal(fetch_error(other, 12, "log", "'partition': 0"), 6);
	assert_int_equal(fetch_error(conn, 12, "log", "'partition': 0, 'currentLeaderEpoch': 0"), 0);
	assert_int_equal(fetch_error(conn, 12, "log", "'partition': 0, 'currentLeaderEpoch': 1"), 75);
	assert_int_equal(fetch_error(conn, 12, "log", "'partition': 0, 'currentLeaderEpoch': -2"), 0);
	assert_int_equal(fetch_error(conn, 12, "log", "'partition': 0, 'lastFetchedEpoch': 0"), 0);
	assert_int_equal(fetch_error(conn, 12, "log", "'partition': 0, 'lastFetchedEpoch': 3"), 1);
	assert_int_equal(fetch_error(conn, 13, id, "'partition': 0"), 0);
	assert_int_equal(fetch_error(conn, 18, id, "'partition': 0"), 0);
	assert_int_equal(fetch_error(conn, 13, id, "'partition': 1"), 3);
	assert_int_equal(fetch_error(other, 13, id, "'partition': 0"), 6);
	assert_int_equal(fetch_error(conn, 13, "5Z5gKqsvTGGJxHMFXMuXUg", "'partition': 0"), 100);
	assert_int_equal(fetch_error(conn, 13, "AAAAAAAAAAAAAAAAAAAAAA", "'partition': 0"), 100);
	kc_free(other);
}

#define WANT(offset) "'topics': [{'topic': 'log', 'partitions': [{'partition': 0, 'fetchOffset': " #offset \
		     ", 'partitionMaxBytes': 1000}]}]}"

static void requests_are_judged_as_a_whole(void **state)
{
	json_t *json;

	(void)state;
	assert_int_equal(ask_num(&run, conn, "errorCode", "Fetch", 12,
				 FETCH "'sessionId': 5, 'sessionEpoch': 1, " WANT(0)), 70);
	assert_int_equal(ask_num(&run, conn, "errorCode", "Fetch", 12,
				 FETCH "'sessionId': 0, 'sessionEpoch': 1, " WANT(0)), 70);
	assert_int_equal(ask_num(&run, conn, "responses.0.partitions.0.highWatermark", "Fetch", 12,
				 FETCH "'sessionId': 5, "
				 "'sessionEpoch': -1, " WANT(0)), 5);
	json = talk(&run, conn, "Fetch", 12, FETCH "'isolationLevel': 7, " WANT(0));
	assert_int_equal(num_at(json, "errorCode"), -1);
	assert_int_equal(num_at(json, "sessionId"), 0);
	assert_int_equal(num_at(json, "responses.0.partitions.0.errorCode"), -1);
	json_decref(json);
	json = talk(&run, conn, "Fetch", 12, FETCH "'isolationLevel': 1, " WANT(0));
	assert_int_equal(json_array_size(at(json, "responses.0.partitions.0.abortedTransactions")), 0);
	assert_true(json_is_array(at(json, "responses.0.partitions.0.abortedTransactions")));
	json_decref(json);
	json = talk(&run, conn, "Fetch", 12, FETCH WANT(0));
	assert_true(json_is_null(at(json, "responses.0.partitions.0.abortedTransactions")));
	json_decref(json);
	json = talk(&run, conn, "Fetch", 12, FETCH "'topics': [{'topic': 'nope', 'partitions': [{'partition': 0}]}]}");
	assert_true(json_is_array(at(json, "responses.0.partitions.0.abortedTransactions")));
	json_decref(json);
	json = talk(&run, conn, "Fetch", 12, FETCH "'replicaId': 5, " WANT(0));
	assert_int_equal(num_at(json, "responses.0.partitions.0.errorCode"), 6);
	json_decref(json);
	/* of two entries for one partition the last counts, in the first's place */
	json = talk(&run, conn, "Fetch", 12, FETCH "'topics': [{'topic': 'log', 'partitions': [{'partition': 0, "
		    "'fetchOffset': 0, 'partitionMaxBytes': 1000}, {'partition': 1}, {'partition': 0, 'fetchOffset': "
		    "5, 'partitionMaxBytes': 1000}]}]}");
	assert_int_equal(json_array_size(at(json, "responses.0.partitions")), 2);
	assert_string_equal(str_at(json, "responses.0.partitions.0.records"), "");
	assert_int_equal(num_at(json, "responses.0.partitions.0.highWatermark"), 5);
	assert_int_equal(num_at(json, "responses.0.partitions.1.errorCode"), 3);
	json_decref(json);
}

/* A fetch in a session; at most 10 ms of waiting. */
static json_t *go_on(int64_t id, int epoch, const char *rest)
{
	return talk(&run, conn, "Fetch", 12, "{'maxWaitMs': 10, 'minBytes': 1, 'maxBytes': 100000, 'sessionId': %lld, "
		    "'sessionEpoch': %d, %s}", (long long)id, epoch, rest);
}

static void a_session_tells_what_changed(void **state)
{
	json_t *json = go_on(0, 0, "'topics': [{'topic': 'log', 'partitions': [{'partition': 0, 'fetchOffset': 5, "
			     "'partitionMaxBytes': 1000}]}]");
	int64_t id = num_at(json, "sessionId");

	(void)state;
	assert_true(id > 0);
	assert_int_equal(num_at(json, "responses.0.partitions.0.highWatermark"), 5);
	json_decref(json);
	json = go_on(id, 1, "'topics': []");
	assert_int_equal(num_at(json, "sessionId"), id);
	assert_int_equal(json_array_size(at(json, "responses")), 0);
	json_decref(json);
	/* records, and a partition that is not there, which is told each time */
	json = go_on(id, 2, "'topics': [{'topic': 'nope', 'partitions': [{'partition': 0}]}, {'topic': 'log', "
		     "'partitions': [{'partition': 0, 'fetchOffset': 0, 'partitionMaxBytes': 1000}]}, "
		     "{'topic': 'offsets', 'partitions': [{'partition': 0, 'fetchOffset': 5}]}]");
	assert_int_equal(json_array_size(at(json, "responses")), 3);
	assert_string_equal(str_at(json, "responses.0.topic"), "log");
	assert_int_equal(num_at(json, "responses.2.partitions.0.errorCode"), 3);
	json_decref(json);
	/* what was sent records goes last, but for what is not there */
	json = go_on(id, 3, "'topics': [{'topic': 'offsets', 'partitions': [{'partition': 0, 'fetchOffset': 0, "
		     "'partitionMaxBytes': 1000}]}]");
	assert_string_equal(str_at(json, "responses.0.topic"), "offsets");
	assert_string_equal(str_at(json, "responses.1.topic"), "log");
	assert_string_equal(str_at(json, "responses.2.topic"), "nope");
	json_decref(json);
	json = go_on(id, 4, "'topics': [], 'forgottenTopicsData': [{'topic': 'log', 'partitions': [0, 7]}, {'topic': "
		     "'offsets', 'partitions': [0]}]");
	assert_int_equal(json_array_size(at(json, "responses")), 1);
	json_decref(json);
	json = go_on(id, 4, "'topics': []");
	assert_int_equal(num_at(json, "errorCode"), 71);
	assert_int_equal(num_at(json, "sessionId"), 0);
	json_decref(json);
	/* an empty session ends; what is named and forgotten at once is answered once more */
	json = go_on(id, 5, "'topics': [{'topic': 'log', 'partitions': [{'partition': 0, 'fetchOffset': 5}]}], "
		     "'forgottenTopicsData': [{'topic': 'nope', 'partitions': [0]}, "
		     "{'topic': 'log', 'partitions': [0]}]");
	assert_int_equal(num_at(json, "errorCode"), 0);
	assert_int_equal(num_at(json, "sessionId"), 0);
	assert_int_equal(json_array_size(at(json, "responses")), 1);
	assert_string_equal(str_at(json, "responses.0.topic"), "log");
	json_decref(json);
	json = go_on(id, 6, "'topics': []");
	assert_int_equal(num_at(json, "errorCode"), 70);
	json_decref(json);
}

static void a_session_names_topics_as_it_began(void **state)
{
	json_t *json = go_on(0, 0, "'topics': [{'topic': 'log', 'partitions': [{'partition': 0, 'fetchOffset': 5}]}]");
	int64_t id = num_at(json, "sessionId");

	(void)state;
	json_decref(json);
	assert_int_equal(ask_num(&run, conn, "errorCode", "Fetch", 13,
				 "{'maxWaitMs': 10, 'sessionId': %lld, 'sessionEpoch': 1}",
				 (long long)id), 106);
	json_decref(go_on(id, -1, "'topics': []"));
	json = go_on(id, 1, "'topics': []");
	assert_int_equal(num_at(json, "errorCode"), 70);
	json_decref(json);
}

/* What is no topic's name is answered, and no memory is kept for it. */
static void a_session_keeps_no_long_names(void **state)
{
	char name[1000];
	json_t *json;

	(void)state;
	memset(name, 'x', sizeof name);
	name[250] = '\0';
	json = talk(&run, conn, "Fetch", 12, "{'maxWaitMs': 10, 'sessionEpoch': 0, 'topics': [{'topic': '%s', "
		    "'partitions': [{'partition': 0}]}]}", name);
	assert_int_equal(num_at(json, "sessionId"), 0);
	assert_int_equal(num_at(json, "responses.0.partitions.0.errorCode"), 3);
	json_decref(json);
	name[249] = '\0';
	json = talk(&run, conn, "Fetch", 12, "{'maxWaitMs': 10, 'sessionEpoch': 0, 'topics': [{'topic': '%s', "
		    "'partitions': [{'partition': 0}]}]}", name);
	assert_true(num_at(json, "sessionId") > 0);
	json_decref(json);
}

/* The bytes of log and log2, which have the same batches, in one answer. */
static void fetch_both(int max, int64_t bytes[2])
{
	const struct kw_FetchResponse *response;
	char text[400];

	snprintf(text, sizeof text, "{'maxWaitMs': 0, 'minBytes': 1, 'maxBytes': %d, 'topics': ["
		 "{'topic': 'log', 'partitions': [{'partition': 0, 'partitionMaxBytes': 100}]}, "
		 "{'topic': 'log2', 'partitions': [{'partition': 0, 'partitionMaxBytes': 1000}]}]}", max);
	response = call(&run, conn, 1, 12, body_of(&run, 1, 12, text));
	for (int i = 0; i < 2; i++)
		bytes[i] = read_partition(&response->responses.v[i].partitions.v[0]).bytes;
}

/* maxBytes is for all partitions together; the one batch that comes in any case is the answer's, not each
 * partition's. */
static void partitions_share_the_bytes(void **state)
{
	int64_t bytes[2];

	(void)state;
	fill("log2");
	fetch_both(200, bytes);
	assert_int_equal(bytes[0], 100);
	assert_int_equal(bytes[1], 100);
	fetch_both(1, bytes);
	assert_int_equal(bytes[0], FIRST_SIZE);
	assert_int_equal(bytes[1], 0);
}

/* ---- waiting ---- */

static void tell_fetch(struct kc_conn *c, int wait, int min)
{
	tell(&run, c, "Fetch", 12, "{'maxWaitMs': %d, 'minBytes': %d, 'maxBytes': 100000, 'topics': [{'topic': 'tail', "
	     "'partitions': [{'partition': 0, 'fetchOffset': 0, 'partitionMaxBytes': 100000}]}]}", wait, min);
}

static void hear_batches(struct kc_conn *c, int64_t high)
{
	json_t *json = hear(&run, c, "Fetch", 12);

	assert_int_equal(num_at(json, "responses.0.partitions.0.errorCode"), 0);
	assert_int_equal(num_at(json, "responses.0.partitions.0.highWatermark"), high);
	json_decref(json);
}

static void a_fetch_waits_for_enough(void **state)
{
	struct kc_conn *one = dial(&run, 1), *two = dial(&run, 1), *three = dial(&run, 1);
	int64_t began = kc_now_ms();

	(void)state;
	make_topic(&run, "tail");
	tell_fetch(one, 30, 1);
	hear_batches(one, 0);
	assert_true(kc_now_ms() - began >= 30);
	/* the first appended batch is enough for one, both are for two, three goes away */
	tell_fetch(one, 20000, 1);
	tell_fetch(two, 20000, FIRST_SIZE + 1);
	tell_fetch(three, 20000, 1000000);
	assert_int_equal(produce(&run, conn, "tail", first_batch), 0);
	hear_batches(one, 3);
	assert_false(kc_has_frame(two));
	kc_free(three);
	assert_int_equal(produce(&run, conn, "tail", second_batch), 3);
	hear_batches(two, 5);
	assert_true(kc_now_ms() - began < 15000);
	kc_free(one);
	kc_free(two);
}

/* What ends a wait without records: an error that is there, or comes to be. */
static void a_fetch_does_not_wait_for_what_cannot_come(void **state)
{
	struct kc_conn *c = dial(&run, 1);
	int64_t began = kc_now_ms();
	json_t *json;

	(void)state;
	tell(&run, c, "Fetch", 12, "{'maxWaitMs': 20000, 'minBytes': 1, 'maxBytes': 100000, 'topics': [{'topic': "
	     "'tail', 'partitions': [{'partition': 0, 'fetchOffset': 5, 'partitionMaxBytes': 100000}, "
	     "{'partition': 9}]}]}");
	json_decref(hear(&run, c, "Fetch", 12));
	tell(&run, c, "Fetch", 12, "{'maxWaitMs': 20000, 'minBytes': 1, 'maxBytes': 100000, 'topics': []}");
	json_decref(hear(&run, c, "Fetch", 12));
	tell(&run, c, "Fetch", 12, "{'maxWaitMs': 20000, 'minBytes': 1, 'maxBytes': 100000, 'topics': [{'topic': "
	     "'tail', 'partitions': [{'partition': 0, 'fetchOffset': 5, 'partitionMaxBytes': 100000}]}]}");
	json_decref(talk(&run, conn, "DeleteTopics", 5, "{'topicNames': ['tail'], 'timeoutMs': 5000}"));
	json = hear(&run, c, "Fetch", 12);
	assert_int_equal(num_at(json, "responses.0.partitions.0.errorCode"), 3);
	json_decref(json);
	assert_true(kc_now_ms() - began < 15000);
	kc_free(c);
}

static bool fetched(const char *topic, int64_t offset)
{
	json_t *json = talk(&run, conn, "Fetch", 12, "{'maxWaitMs': 600000, 'minBytes': 100000, 'maxBytes': 1000000, "
			    "'topics': [{'topic': '%s', 'partitions': [{'partition': 0, 'fetchOffset': %lld, "
			    "'partitionMaxBytes': 1000000}]}]}",
			    topic, (long long)offset);
	bool some = *str_at(json, "responses.0.partitions.0.records");

	json_decref(json);
	return some;
}

/* Kafka answers at once with what an older segment has, though it is not enough. */
static void a_fetch_does_not_wait_behind_a_segment(void **state)
{
	struct fb_partition *partition;

	(void)state;
	fill("rolled");
	partition = &fb_topic_find(run.process.cluster, kw_str("rolled"))->partitions[0];
	pthread_mutex_lock(&partition->lock);
	fb_log_roll(&partition->log);
	pthread_mutex_unlock(&partition->lock);
	assert_true(fetched("rolled", 0));
	assert_int_equal(produce(&run, conn, "rolled", BATCH("{'value': 'v'}")), 5);
	assert_true(fetched("rolled", 0));
	assert_true(fetched("rolled", 4));
}

/* ---- the epoch of the reader's last record ---- */

static void divergence(int64_t offset, int last, int error, int64_t epoch, int64_t end)
{
	int wait = offset == 5 ? 0 : 600000;
	json_t *json = talk(&run, conn, "Fetch", 12, "{'replicaId': -1, 'maxWaitMs': %d, 'minBytes': 1, 'maxBytes': "
			    "1000000, 'sessionEpoch': -1, 'topics': [{'topic': 'apart', 'partitions': [{'partition': "
			    "0, 'fetchOffset': %lld, 'lastFetchedEpoch': %d, 'partitionMaxBytes': 1000000}]}]}", wait,
			    (long long)offset, last);
	json_t *p = at(json, "responses.0.partitions.0");

	assert_int_equal(num_at(p, "errorCode"), error);
	assert_int_equal(num_at(p, "highWatermark"), error ? -1 : 5);
	if (epoch < 0) {
		assert_null(at(p, "divergingEpoch"));
	} else {
		assert_int_equal(num_at(p, "divergingEpoch.epoch"), epoch);
		assert_int_equal(num_at(p, "divergingEpoch.endOffset"), end);
		assert_string_equal(str_at(p, "records"), "");
	}
	json_decref(json);
}

/* None of these waits but at the log's end. */
static void a_reader_is_told_where_its_epoch_ended(void **state)
{
	struct fb_partition *partition;

	(void)state;
	fill("apart");
	divergence(0, 0, 0, -1, -1);
	divergence(0, -2, 0, -1, -1);
	divergence(5, 0, 0, -1, -1);
	divergence(6, 0, 0, 0, 5);
	divergence(6, -1, KW_ERR_OFFSET_OUT_OF_RANGE, -1, -1);
	divergence(0, 1, KW_ERR_OFFSET_OUT_OF_RANGE, -1, -1);
	divergence(6, 1, KW_ERR_OFFSET_OUT_OF_RANGE, -1, -1);
	divergence(-1, 0, KW_ERR_OFFSET_OUT_OF_RANGE, -1, -1);
	partition = &fb_topic_find(run.process.cluster, kw_str("apart"))->partitions[0];
	pthread_mutex_lock(&partition->lock);
	partition->leaderEpoch = 2;
	assert_int_equal(fb_epochs_begin(&partition->epochs, 2, 5), 0);
	partition->epochs.v[1].start = 3;
	pthread_mutex_unlock(&partition->lock);
	divergence(3, 0, 0, -1, -1);
	divergence(4, 0, 0, 0, 3);
	divergence(4, 1, 0, 0, 3);
	divergence(0, 1, 0, 0, 3);
	divergence(4, 2, 0, -1, -1);
}

/* Nothing is there that could be too large: it waits as any other. */
static void a_limit_below_nothing_is_no_matter_at_the_end(void **state)
{
	int64_t began = kc_now_ms();

	(void)state;
	make_topic(&run, "below");
	assert_int_equal(ask_num(&run, conn, "responses.0.partitions.0.errorCode", "Fetch", 12,
				 "{'maxWaitMs': 30, 'minBytes': 1, 'maxBytes': 100000, 'topics': [{'topic': 'below', "
				 "'partitions': [{'partition': 0, 'fetchOffset': 0, 'partitionMaxBytes': -1}]}]}"), 0);
	assert_true(kc_now_ms() - began >= 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offsets_are_found),
		cmocka_unit_test(wrong_places_have_no_offsets),
		cmocka_unit_test(batches_are_read),
		cmocka_unit_test(a_reader_is_told_where_its_epoch_ended),
		cmocka_unit_test(a_fetch_does_not_wait_behind_a_segment),
		cmocka_unit_test(wrong_places_have_no_records),
		cmocka_unit_test(requests_are_judged_as_a_whole),
		cmocka_unit_test(a_session_tells_what_changed),
		cmocka_unit_test(a_session_names_topics_as_it_began),
		cmocka_unit_test(a_session_keeps_no_long_names),
		cmocka_unit_test(partitions_share_the_bytes),
		cmocka_unit_test(a_fetch_waits_for_enough),
		cmocka_unit_test(a_fetch_does_not_wait_for_what_cannot_come),
		cmocka_unit_test(a_limit_below_nothing_is_no_matter_at_the_end),
	};

	fb_log_level(KASSAY_ERROR);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
