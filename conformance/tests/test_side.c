/* diff: what became of a request and its connection, as one side tells it. */
#include "conformance/tests/faulty.h"

#include "conformance/diff/side.h"

enum { PATIENCE = 20000 };

static struct faulty faulty;
static json_t *outcome;

static json_t *fetches_nothing(int api, const void *request, int nth)
{
	(void)request;
	(void)nth;
	return api == 1 ? json_pack("{s:[{s:s, s:[{s:i, s:i, s:I}]}]}", "responses", "topic", "t", "partitions",
				    "partitionIndex", 0, "errorCode", 0, "highWatermark", (json_int_t)0)
			: NULL;
}

/* Sends a Produce request with those acks to a broker that answers it so. */
static void ask(enum faulty_fault fault, int acks, int timeout)
{
	struct cf_side side = {.label = "a", .link = {.host = "127.0.0.1", .timeout = timeout}, .broker_id = 1};
	json_t *mutation = json_pack("{s:s, s:i, s:i, s:[{s:i, s:[{s:[{}]}]}]}", "topic", "plain", "version", 9, "acks",
				     acks, "partitions", "index", 0, "batches", "records");
	struct kt_err err = {0};

	faulty = (struct faulty){.api = FAULTY_PRODUCE, .fault = fault, .answer = fetches_nothing};
	faulty_start(&faulty);
	side.link.port = faulty.port;
	side.topics = json_pack("{s:{s:s, s:[i]}}", "plain", "name", "t", "ends", 0);
	assert_int_equal(cf_side_ask(&side, mutation, &outcome, &err), 0);
	json_decref(mutation);
	json_decref(side.topics);
	cf_link_close(&side.link);
	faulty_stop(&faulty);
}

static void expect(const char *connection, json_t *answered)
{
	assert_string_equal(json_string_value(json_object_get(outcome, "connection")), connection);
	assert_true(json_equal(json_object_get(outcome, "answered"), answered));
	json_decref(answered);
	json_decref(outcome);
}

static void a_sound_broker(void **state)
{
	(void)state;
	ask(FAULTY_SOUND, -1, PATIENCE);
	expect("kept", json_true());
	ask(FAULTY_SOUND, 0, PATIENCE);
	expect("kept", json_false());
}

static void what_nobody_asked_for(void **state)
{
	(void)state;
	ask(FAULTY_ALWAYS, 0, PATIENCE);
	expect("unasked", json_false());
	ask(FAULTY_TWICE, -1, PATIENCE);
	expect("unasked", json_true());
	ask(FAULTY_OTHER_ID, -1, PATIENCE);
	expect("unasked",
	       json_string("unreadable: the answer to Produce 9 cannot be read: correlation id 8, sent was 1"));
}

/* Only who closes has closed. */
static void other_ends(void **state)
{
	(void)state;
	ask(FAULTY_LONG, -1, PATIENCE);
	expect("kept", json_string("unreadable: the answer to Produce 9 cannot be read: 2 bytes follow the body of "
				   "ProduceResponse"));
	ask(FAULTY_CLOSE, -1, PATIENCE);
	expect("closed", json_false());
	ask(FAULTY_LATE, -1, 200);
	expect("silent", json_false());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sound_broker),
		cmocka_unit_test(what_nobody_asked_for),
		cmocka_unit_test(other_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
