/* The versions of requests that Kafka 3.9 was the last to serve: what a running 3.9.0 answered, --release 3.9 must
 * answer. */
#include <unistd.h>

#include "fakebroker/tests/conversation.h"
#include "fakebroker/tests/running.h"

#define BROKEN "fakebroker/tests/data/broken_partitions_kafka_3.9.0.json"
#define TABLE "fakebroker/tests/data/old_versions_kafka_3.9.0.json"

enum { FETCH = 1 };

struct measured {
	json_t *table;
	struct running run;
	struct conversation talk;
};

/* A broker of 3.9 and what is put to it. */
static void start(struct measured *m, const char *file, const struct fb_settings *settings)
{
	m->table = json_load_file(file, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(m->table);
	running_start(&m->run, settings);
	m->talk = (struct conversation){.host = "127.0.0.1", .port = m->run.process.cluster->nodes[0].port};
}

static void end(struct measured *m)
{
	conversation_end(&m->talk);
	running_stop(&m->run);
	json_decref(m->table);
}

/* Of an answer that refuses a partition observers are shown no bytes and no records. How many there were. */
static int look_at_refused(FILE *journal)
{
	json_t *line, *partition;
	int refused = 0;
	size_t i;

	while ((line = json_loadf(journal, JSON_DISABLE_EOF_CHECK, NULL))) {
		bool fetch = json_integer_value(json_object_get(line, "apiKey")) == FETCH;

		json_array_foreach(fetch ? json_object_get(line, "partitions") : NULL, i, partition) {
			json_int_t bytes = json_integer_value(json_object_get(partition, "bytes"));
			json_int_t records = json_integer_value(json_object_get(partition, "records"));

			if (!json_integer_value(json_object_get(partition, "error"))) {
				assert_int_equal(records > 0 || json_is_true(json_object_get(partition, "partial")),
						 bytes > 0);
				continue;
			}
			refused++;
			assert_true(json_is_null(json_object_get(partition, "codec")));
			assert_int_equal(bytes, 0);
			assert_int_equal(records, 0);
		}
		json_decref(line);
	}
	return refused;
}

static void old_versions_are_answered_as_by_3_9(void **state)
{
	char path[] = "/tmp/kassay-old-XXXXXX", file[64];
	/* The records are of 2023, and a slow run sees a round of retention. */
	const char *set[] = {"log.retention.ms=-1", "observer.class.name=JournalObserver", file};
	const struct fb_settings settings = {.release = "3.9", .set = {.v = set, .n = 3}};
	FILE *journal = fdopen(mkstemp(path), "r");
	struct kt_err err = {0};
	struct measured m;
	json_t *step, *is;
	char line[1200];
	int bad = 0;
	size_t i;

	(void)state;
	assert_non_null(journal);
	snprintf(file, sizeof file, "observer.JournalObserver.file=%s", path);
	start(&m, TABLE, &settings);
	json_array_foreach(json_object_get(m.table, "steps"), i, step) {
		is = conversation_put(&m.talk, step, &err);
		if (!is)
			fail_msg("step %zu: %s", i, kt_err_line(&err, line, sizeof line));
		bad += !conversation_expect(i, step, is);
		json_decref(is);
	}
	assert_int_equal(bad, 0);
	end(&m);
	assert_true(look_at_refused(journal) > 20);
	fclose(journal);
	unlink(path);
}

/* Do all partitions have the code that the first one of `as` has? The order in which they are answered is of no
 * account. */
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
	struct kt_err err = {0};
	struct measured m;
	json_t *step, *is;
	size_t i, asked = 0;

	(void)state;
	start(&m, BROKEN, &settings);
	json_array_foreach(json_object_get(m.table, "steps"), i, step) {
		is = conversation_put(&m.talk, step, &err);
		assert_non_null(is);
		if (strcmp(json_string_value(json_object_get(step, "api")), "Produce") == 0) {
			asked++;
			if (!answers_alike(is, json_object_get(step, "answer")))
				fail_msg("step %zu", i);
		}
		json_decref(is);
	}
	assert_int_equal(asked, 94);
	end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(old_versions_are_answered_as_by_3_9),
		cmocka_unit_test(which_broken_partition_decides),
	};

	return cmocka_run_group_tests_name("old versions", tests, NULL, NULL);
}
