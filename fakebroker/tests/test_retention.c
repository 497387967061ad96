/* What goes by the clock: retention by time and size, segments, DeleteRecords. The clock is moved through the control
 * API. */
#include "fakebroker/cluster/clock.h"
#include "fakebroker/tests/http.h"
#include "fakebroker/tests/talk.h"

enum { BROKER = 1 };

static struct running run;
static struct kc_conn *conn;

static int setup(void **state)
{
	static struct fb_settings settings;

	(void)state;
	running_start(&run, &settings);
	conn = dial(&run, BROKER);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	kc_free(conn);
	running_stop(&run);
	return 0;
}

static json_t *clock_is(int status, const char *body)
{
	return http_json(&run, status, body ? "POST" : "GET", "/v1/clock", body);
}

static void create(const char *topic, const char *configs)
{
	assert_int_equal(ask_num(&run, conn, "topics.0.errorCode", "CreateTopics", 7,
				 "{'topics': [{'name': '%s', "
				 "'numPartitions': 1, 'replicationFactor': 1, 'configs': [%s]}], 'timeoutMs': 1000}",
				 topic, configs), 0);
}

/* A batch with one value of that size, as old as the clock says. */
static void put(const char *topic, int size)
{
	assert_int_equal(ask_num(&run, conn, "responses.0.partitionResponses.0.errorCode", "Produce", 9,
				 "{'acks': 1, 'topicData': "
				 "[{'name': '%s', 'partitionData': [{'index': 0, 'records': {'batches': "
				 "[{'baseTimestamp': %lld, 'records': [{'value': {'size': %d}}]}]}}]}]}",
				 topic, (long long)fb_cluster_now(run.process.cluster), size), 0);
}

static int64_t offset_of(const char *topic, int timestamp)
{
	return ask_num(&run, conn, "topics.0.partitions.0.offset", "ListOffsets", 7,
		       "{'topics': [{'name': '%s', 'partitions': [{'partitionIndex': 0, 'timestamp': %d}]}]}", topic,
		       timestamp);
}

static int64_t start_of(const char *topic)
{
	return offset_of(topic, -2);
}

/* log.initial.task.delay.ms; a clock that is moved asks for it at once. */
static void retention_waits_after_the_start(void **state)
{
	(void)state;
	create("aged", "");
	assert_int_equal(produce(&run, conn, "aged",
				 "{'batches': [{'baseTimestamp': 1000, 'records': [{'value': 'a'}]}]}"), 0);
	fb_cluster_tick(run.process.cluster, false);
	assert_int_equal(start_of("aged"), 0);
	fb_cluster_tick(run.process.cluster, true);
	assert_int_equal(start_of("aged"), 1);
}

static int known_producers(const char *topic)
{
	json_t *json = talk(&run, conn, "DescribeProducers", 0, "{'topics': [{'name': '%s', 'partitionIndexes': [0]}]}",
			    topic);
	int n = (int)json_array_size(at(json, "topics.0.partitions.0.activeProducers"));

	json_decref(json);
	return n;
}

/* Every producer.id.expiration.check.interval.ms after the log was made, and not with the rounds of retention. */
static void idle_producers_are_forgotten(void **state)
{
	enum { CHECK = 600000, DAY = 86400000 };
	struct fb_cluster *cluster = run.process.cluster;
	int64_t start = fb_cluster_now(cluster);
	char batch[200];

	(void)state;
	fb_clock_set(cluster->clock, start, true);
	create("idle", "{'name': 'retention.ms', 'value': '-1'}");
	assert_int_equal(produce(&run, conn, "idle", "{'batches': [{'baseTimestamp': 1000, 'producerId': 7, "
				 "'producerEpoch': 0, 'baseSequence': 0, 'records': [{}]}]}"), 0);
	fb_clock_set(cluster->clock, start + CHECK - 1, true);
	fb_cluster_tick(cluster, false);
	assert_int_equal(known_producers("idle"), 1);
	fb_clock_set(cluster->clock, start + CHECK, true);
	fb_cluster_tick(cluster, false);
	assert_int_equal(known_producers("idle"), 0);
	/* The next look comes as much later; producer.id.expiration.ms has passed long before. */
	snprintf(batch, sizeof batch, "{'batches': [{'baseTimestamp': %lld, 'producerId': 7, 'producerEpoch': 0, "
		 "'baseSequence': 9, 'records': [{}]}]}", (long long)(start + CHECK - DAY + 1));
	assert_int_equal(produce(&run, conn, "idle", batch), 1);
	fb_clock_set(cluster->clock, start + 2 * CHECK - 1, true);
	fb_cluster_tick(cluster, false);
	assert_int_equal(known_producers("idle"), 1);
	fb_cluster_tick(cluster, true);
	assert_int_equal(known_producers("idle"), 0);
	fb_clock_set(cluster->clock, start, false);
}

static void the_clock_obeys(void **state)
{
	int64_t now, then;
	json_t *json = clock_is(200, "{\"now\": 1700000000000, \"frozen\": true}");

	(void)state;
	assert_int_equal(num_at(json, "now"), 1700000000000);
	json_decref(json);
	json = clock_is(200, NULL);
	assert_int_equal(num_at(json, "now"), 1700000000000);
	assert_true(json_is_true(at(json, "frozen")));
	json_decref(json);
	json = clock_is(200, "{\"advance\": 5}");
	assert_int_equal(num_at(json, "now"), 1700000000005);
	json_decref(json);
	json = clock_is(200, "{\"advance\": -10, \"frozen\": false}");
	then = num_at(json, "now");
	json_decref(json);
	assert_in_range(then, 1699999999995, 1699999999995 + 60000);
	do {
		json = clock_is(200, NULL);
		now = num_at(json, "now");
		json_decref(json);
	} while (now == then);
	assert_true(now > then);
	json_decref(clock_is(400, "{\"now\": -1}"));
	json_decref(clock_is(400, "{\"advance\": -100000000000000}"));
	json_decref(clock_is(400, "{\"frozn\": true}"));
}

/* Two segments of one batch each and the active one: the first two get too old, then the last as well. */
static void old_segments_go(void **state)
{
	(void)state;
	json_decref(clock_is(200, "{\"now\": 1700000000000, \"frozen\": true}"));
	create("old", "{'name': 'retention.ms', 'value': '86400000'}, {'name': 'segment.ms', 'value': '1000'}");
	for (int i = 0; i < 3; i++) {
		put("old", 10);
		json_decref(clock_is(200, "{\"advance\": 3600000}"));
	}
	json_decref(clock_is(200, "{\"now\": 1700086400000}"));   /* a day: not more than that */
	assert_int_equal(start_of("old"), 0);
	json_decref(clock_is(200, "{\"now\": 1700090000001}"));   /* an hour later */
	assert_int_equal(start_of("old"), 2);
	json_decref(clock_is(200, "{\"advance\": 86400000}"));
	assert_int_equal(start_of("old"), 3);
	assert_int_equal(offset_of("old", -1), 3);
	put("old", 10);
	assert_int_equal(offset_of("old", -1), 4);
}

/* All in one segment: that is removed when its latest record is too old. */
static void a_segment_is_as_old_as_its_latest_record(void **state)
{
	(void)state;
	json_decref(clock_is(200, "{\"now\": 1700000000000, \"frozen\": true}"));
	create("one", "{'name': 'retention.ms', 'value': '86400000'}");
	put("one", 10);
	json_decref(clock_is(200, "{\"advance\": 43200000}"));
	put("one", 10);
	json_decref(clock_is(200, "{\"advance\": 86400000}"));
	assert_int_equal(start_of("one"), 0);
	json_decref(clock_is(200, "{\"advance\": 300001}"));
	assert_int_equal(start_of("one"), 2);
}

/* Where no record has a timestamp, it counts when the last was written. */
static void records_without_timestamps_grow_old(void **state)
{
	(void)state;
	json_decref(clock_is(200, "{\"now\": 1700000000000, \"frozen\": true}"));
	create("untimed", "{'name': 'retention.ms', 'value': '86400000'}");
	assert_int_equal(produce(&run, conn, "untimed",
				 "{'batches': [{'baseTimestamp': -1, 'records': [{'value': 'a'}]}]}"), 0);
	json_decref(clock_is(200, "{\"advance\": 86400000}"));
	assert_int_equal(start_of("untimed"), 0);
	json_decref(clock_is(200, "{\"advance\": 300001}"));
	assert_int_equal(start_of("untimed"), 1);
}

/* Segments hold two batches of 400 kB; what is left of 2.8 MB is not less than retention.bytes. */
static void large_logs_lose_segments(void **state)
{
	(void)state;
	json_decref(clock_is(200, "{\"now\": 1700000000000, \"frozen\": true}"));
	create("large", "{'name': 'retention.bytes', 'value': '1500000'}, {'name': 'segment.bytes', 'value': "
	       "'1048576'}, {'name': 'retention.ms', 'value': '-1'}");
	for (int i = 0; i < 7; i++)
		put("large", 400000);
	json_decref(clock_is(200, "{\"advance\": 300001}"));
	assert_int_equal(start_of("large"), 2);
}

static void compacted_logs_keep_their_segments(void **state)
{
	(void)state;
	json_decref(clock_is(200, "{\"now\": 1700000000000, \"frozen\": true}"));
	create("kept", "{'name': 'cleanup.policy', 'value': 'compact'}, {'name': 'retention.ms', 'value': '1'}");
	assert_int_equal(ask_num(&run, conn, "responses.0.partitionResponses.0.errorCode", "Produce", 9,
				 "{'acks': 1, 'topicData': "
				 "[{'name': 'kept', 'partitionData': [{'index': 0, 'records': {'batches': "
				 "[{'baseTimestamp': "
				 "1700000000000, 'records': [{'key': 'k', 'value': 'v'}]}]}}]}]}"), 0);
	json_decref(clock_is(200, "{\"advance\": 864000000}"));
	assert_int_equal(start_of("kept"), 0);
	assert_int_equal(ask_num(&run, conn, "topics.0.partitions.0.errorCode", "DeleteRecords", 2,
				 "{'topics': [{'name': 'kept', "
				 "'partitions': [{'partitionIndex': 0, 'offset': 1}]}]}"), 44);
}

/* Intervals that mean "never": the sum with the present does not fit. */
static void never_is_not_at_once(void **state)
{
	static const char *sets[] = {"log.retention.check.interval.ms=9223372036854775807",
				     "log.initial.task.delay.ms=9223372036854775807"};
	struct fb_settings settings = {.set = {sets, 2}};
	struct running other;
	struct kc_conn *c;

	(void)state;
	running_start(&other, &settings);
	c = dial(&other, BROKER);
	make_topic(&other, "kept");
	assert_int_equal(produce(&other, c, "kept",
				 "{'batches': [{'baseTimestamp': 1000, 'records': [{'value': 'a'}]}]}"), 0);
	for (int i = 0; i < 3; i++)
		fb_cluster_tick(other.process.cluster, false);
	assert_int_equal(fb_topic_find(other.process.cluster, kw_str("kept"))->partitions[0].log.logStartOffset, 0);
	kc_free(c);
	running_stop(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(retention_waits_after_the_start),
		cmocka_unit_test(idle_producers_are_forgotten),
		cmocka_unit_test(the_clock_obeys),
		cmocka_unit_test(old_segments_go),
		cmocka_unit_test(a_segment_is_as_old_as_its_latest_record),
		cmocka_unit_test(records_without_timestamps_grow_old),
		cmocka_unit_test(large_logs_lose_segments),
		cmocka_unit_test(compacted_logs_keep_their_segments),
		cmocka_unit_test(never_is_not_at_once),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
