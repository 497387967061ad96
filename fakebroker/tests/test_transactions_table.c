/* What a running Kafka 4.4.0 answered to Produce and to the requests of transactions where something is there twice, is
 * odd, or was tried before to no avail: the answers must be the same, but for the order of what comes out of its hash
 * maps. */
#include "fakebroker/tests/conversation.h"
#include "fakebroker/tests/running.h"

#define TABLE "fakebroker/tests/data/transactions_kafka_4.4.0.json"

enum { PRINT = JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS };

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The same with every array in the order of its elements' texts. */
static json_t *sorted(json_t *json)
{
	size_t n = json_array_size(json), i;
	char **texts = calloc(n + 1, sizeof *texts);
	const char *name;
	json_t *value;
	void *next;

	json_object_foreach_safe(json, next, name, value) json_object_set_new(json, name, sorted(value));
	json_array_foreach(json, i, value) {
		json_t *element = sorted(value);

		texts[i] = json_dumps(element, PRINT);
		json_decref(element);
	}
	qsort(texts, n, sizeof *texts, by_text);
	for (i = 0; i < n; i++) {
		json_array_set_new(json, i, json_loads(texts[i], JSON_DECODE_ANY, NULL));
		free(texts[i]);
	}
	free(texts);
	return json_incref(json);
}

static void print(const char *what, json_t *json)
{
	printf("%s ", what);
	json_dumpf(json, stdout, PRINT);
	printf("\n");
}

static bool is_answered(struct conversation *talk, json_t *step, size_t i)
{
	json_t *wanted = json_object_get(step, "answer"), *is;
	struct kt_err err = {0};
	char line[1200];
	bool same;

	is = conversation_put(talk, step, &err);
	if (!is)
		fail_msg("step %zu: %s", i, kt_err_line(&err, line, sizeof line));
	json_decref(sorted(is));
	if (wanted)
		json_decref(sorted(wanted));
	same = !wanted || json_equal(is, wanted);
	if (!same) {
		printf("step %zu, %s %" JSON_INTEGER_FORMAT "\n", i, json_string_value(json_object_get(step, "api")),
		       json_integer_value(json_object_get(step, "version")));
		print("to", json_object_get(step, "body"));
		print("is", is);
		print("not", wanted);
	}
	json_decref(is);
	return same;
}

static void transactions_are_answered_as_by_4_4(void **state)
{
	/* The records are of 2023. */
	const char *set[] = {"log.retention.ms=-1"};
	const struct fb_settings settings = {.set = {.v = set, .n = 1}};
	json_t *table = json_load_file(TABLE, JSON_REJECT_DUPLICATES, NULL), *step;
	struct conversation talk = {.host = "127.0.0.1"};
	struct running run;
	int bad = 0;
	size_t i;

	(void)state;
	assert_non_null(table);
	running_start(&run, &settings);
	atomic_store(&run.process.cluster->next_producer_id, 0);   /* as in a new Kafka */
	talk.port = run.process.cluster->nodes[0].port;
	json_array_foreach(json_object_get(table, "steps"), i, step)
		bad += !is_answered(&talk, step, i);
	assert_int_equal(bad, 0);
	assert_int_equal(i, 237);
	conversation_end(&talk);
	running_stop(&run);
	json_decref(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(transactions_are_answered_as_by_4_4),
	};

	return cmocka_run_group_tests_name("transactions table", tests, NULL, NULL);
}
