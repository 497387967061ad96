/* The versions of requests that Kafka 3.9 was the last to serve: what a running 3.9.0 answered, --release 3.9 must answer. */
#include "fakebroker/tests/conversation.h"
#include "fakebroker/tests/running.h"

#define BROKEN "fakebroker/tests/data/broken_partitions_kafka_3.9.0.json"
#define TABLE "fakebroker/tests/data/old_versions_kafka_3.9.0.json"

static void old_versions_are_answered_as_by_3_9(void **state)
{
	/* The records are of 2023, and a slow run sees a round of retention. */
	const char *set[] = {"log.retention.ms=-1"};
	const struct fb_settings settings = {.release = "3.9", .set = {.v = set, .n = 1}};
	json_t *table = json_load_file(TABLE, JSON_REJECT_DUPLICATES, NULL), *step, *is;
	struct conversation talk = {.host = "127.0.0.1"};
	struct kt_err err = {0};
	struct running run;
	char line[1200];
	int bad = 0;
	size_t i;

	(void)state;
	assert_non_null(table);
	running_start(&run, &settings);
	talk.port = run.process.cluster->nodes[0].port;
	json_array_foreach(json_object_get(table, "steps"), i, step) {
		is = conversation_put(&talk, step, &err);
		if (!is)
			fail_msg("step %zu: %s", i, kt_err_line(&err, line, sizeof line));
		if (!json_equal(is, json_object_get(step, "answer"))) {
			printf("step %zu, %s %" JSON_INTEGER_FORMAT ":\n", i, json_string_value(json_object_get(step, "api")),
			       json_integer_value(json_object_get(step, "version")));
			json_dumpf(is, stdout, JSON_ENCODE_ANY | JSON_COMPACT);
			printf("\nnot\n");
			json_dumpf(json_object_get(step, "answer"), stdout, JSON_ENCODE_ANY | JSON_COMPACT);
			printf("\n");
			bad++;
		}
		json_decref(is);
	}
	assert_int_equal(bad, 0);
	conversation_end(&talk);
	running_stop(&run);
	json_decref(table);
}

/* Do all partitions have the code that the first one of `as` has? The order in which they are answered is of no account. */
static bool answers_alike(json_t *is, json_t *as)
{
	json_t *topic, *partition, *want = json_array_get(json_object_get(as, "responses"), 0);
	size_t i, k;

	want = json_object_get(json_array_get(json_object_get(want, "partitionResponses"), 0), "errorCode");
	json_array_foreach(json_object_get(is, "responses"), i, topic)
		json_array_foreach(json_object_get(topic, "partitionResponses"), k, partition)
			if (!json_equal(json_object_get(partition, "errorCode"), want))
				return false;
	return json_is_integer(want);
}

/* The one that comes first in Kafka's hash map. */
static void which_broken_partition_decides(void **state)
{
	const struct fb_settings settings = {.release = "3.9"};
	json_t *table = json_load_file(BROKEN, JSON_REJECT_DUPLICATES, NULL), *step, *is;
	struct conversation talk = {.host = "127.0.0.1"};
	struct kt_err err = {0};
	struct running run;
	size_t i, asked = 0;

	(void)state;
	assert_non_null(table);
	running_start(&run, &settings);
	talk.port = run.process.cluster->nodes[0].port;
	json_array_foreach(json_object_get(table, "steps"), i, step) {
		is = conversation_put(&talk, step, &err);
		assert_non_null(is);
		if (strcmp(json_string_value(json_object_get(step, "api")), "Produce") == 0) {
			asked++;
			if (!answers_alike(is, json_object_get(step, "answer")))
				fail_msg("step %zu", i);
		}
		json_decref(is);
	}
	assert_int_equal(asked, 94);
	conversation_end(&talk);
	running_stop(&run);
	json_decref(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(old_versions_are_answered_as_by_3_9),
		cmocka_unit_test(which_broken_partition_decides),
	};

	return cmocka_run_group_tests_name("old versions", tests, NULL, NULL);
}
