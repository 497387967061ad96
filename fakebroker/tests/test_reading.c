/* Readers of a log: what a running Kafka 4.4.0 answered them, the fakebroker must answer. */
#include "fakebroker/cluster/log_line.h"
#include "fakebroker/tests/conversation.h"
#include "fakebroker/tests/http.h"

#define TABLE "fakebroker/tests/data/reading_kafka_4.4.0.json"

static int compare(json_t *a, json_t *b, const char *key)
{
	json_t *x = json_object_get(a, key), *y = json_object_get(b, key);

	if (json_is_string(x))
		return strcmp(json_string_value(x), json_string_value(y));
	return (json_integer_value(x) > json_integer_value(y)) - (json_integer_value(x) < json_integer_value(y));
}

/* Arrays are short here. */
static void sort(json_t *array, const char *key)
{
	for (size_t n = json_array_size(array); n > 1; n--) {
		for (size_t i = 0; i + 1 < n; i++) {
			json_t *a = json_array_get(array, i), *b = json_array_get(array, i + 1);

			if (compare(a, b, key) <= 0)
				continue;
			json_incref(a);
			json_array_set(array, i, b);
			json_array_set_new(array, i + 1, a);
		}
	}
}

/* Kafka answers these in the order of a hash map, which means nothing. */
static void put_in_order(json_t *step, json_t *answer)
{
	const char *api = json_string_value(json_object_get(step, "api"));
	json_t *topic;
	size_t i;

	if (strcmp(api, "ListOffsets") != 0 && strcmp(api, "DeleteRecords") != 0)
		return;
	json_array_foreach(json_object_get(answer, "topics"), i, topic)
		sort(json_object_get(topic, "partitions"), "partitionIndex");
	sort(json_object_get(answer, "topics"), "name");
}

static void readers_are_answered_as_by_4_4(void **state)
{
	/* The records are of 1970. */
	const char *set[] = {"log.retention.ms=-1", "auto.create.topics.enable=false",
			     "transaction.partition.verification.enable=false"};
	const struct fb_settings settings = {.set = {.v = set, .n = 3}};
	json_t *table = json_load_file(TABLE, JSON_REJECT_DUPLICATES, NULL), *step, *is;
	struct conversation talk = {.host = "127.0.0.1"};
	struct running run;
	struct kt_err err = {0};
	char line[1200];
	int restarts = 0, bad = 0;
	size_t i;

	(void)state;
	assert_non_null(table);
	running_start(&run, &settings);
	talk.port = run.process.cluster->nodes[0].port;
	json_array_foreach(json_object_get(table, "steps"), i, step) {
		if (json_object_get(step, "restart")) {
			conversation_end(&talk);
			json_decref(http_json(&run, 200, "POST", "/v1/nodes/1/stop", NULL));
			json_decref(http_json(&run, 200, "POST", "/v1/nodes/1/start", NULL));
			restarts++;
			continue;
		}
		is = conversation_put(&talk, step, &err);
		if (!is)
			fail_msg("step %zu: %s", i, kt_err_line(&err, line, sizeof line));
		put_in_order(step, is);
		put_in_order(step, json_object_get(step, "answer"));
		bad += !conversation_expect(i, step, is);
		json_decref(is);
	}
	assert_int_equal(bad, 0);
	assert_int_equal(restarts, 2);
	conversation_end(&talk);
	running_stop(&run);
	json_decref(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(readers_are_answered_as_by_4_4)};

	fb_log_level(KASSAY_ERROR);
	return cmocka_run_group_tests_name("reading", tests, NULL, NULL);
}
