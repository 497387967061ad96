/* What a broker does wrong in a step is the broker's: more answers than there were requests, those of other requests,
 * those that cannot be read, those that never come to an end. */
#include "conformance/tests/faulty.h"

#include "conformance/run.h"
#include "conformance/verdict.h"
#include "lib/wire/record_time.h"

enum { PATIENCE = 20000, METADATA = 3, FETCH = 1, CREATE_TOPICS = 19, LIST_GROUPS = 16, UPDATE_FEATURES = 57 };

static struct faulty faulty;
static json_t *row;              /* of result.json */

/* Runs a case of these steps ('for ") against a broker. */
static void run_case(int api, enum faulty_fault fault, int timeout, const char *head, const char *steps)
{
	struct cf_profile profile = {.timeout = timeout, .patience = timeout, .topicPrefix = "t-"};
	struct cf_target target = {.profile = &profile, .host = "127.0.0.1", .broker_id = 1, .brokers = 1, .level = -1};
	struct cf_instance instance = {.version = -1, .id = "a.b"};
	struct kt_err err = {0};
	struct cf_case *cas;
	char text[2000];

	snprintf(text, sizeof text, "{'id': 'a.b', 'title': 't', %s'steps': [%s]}", head, steps);
	for (char *p = text; *p; p++)
		if (*p == '\'')
			*p = '"';
	if (cf_case_parse("x.json", text, &cas, &err))
		fail_msg("%s: %s", err.path, err.text);
	faulty.api = api;
	faulty.fault = fault;
	faulty_start(&faulty);
	target.port = faulty.port;
	instance.cas = cas;
	row = cf_instance_run(&instance, &target, "run", 0, 1);
	faulty_stop(&faulty);
	cf_case_free(cas);
}

static void finish(void)
{
	json_decref(row);
	row = NULL;
	faulty = (struct faulty){0};
}

static const char *of(const char *member)
{
	return json_string_value(json_object_get(row, member));
}

static json_t *step(const char *member)
{
	json_t *steps = json_object_get(row, "steps");

	return json_object_get(json_array_get(steps, json_array_size(steps) - 1), member);
}

static void expect_verdict(enum cf_verdict verdict, const char *reason)
{
	assert_string_equal(of("reason"), reason);
	assert_string_equal(of("verdict"), cf_verdict_word(verdict));
}

/* Runs one step, whose verdict is fail for that reason. */
static void expect_failure(int api, enum faulty_fault fault, const char *text, const char *reason)
{
	run_case(api, fault, PATIENCE, "", text);
	expect_verdict(CF_FAIL, reason);
}

#define ASK "'api': 'Metadata', 'version': 4, 'body': {'topics': []}"

/* ---- answers that nobody asked for ---- */

static void a_second_answer(void **state)
{
	(void)state;
	expect_failure(METADATA, FAULTY_TWICE, "{'send': {" ASK "}, 'expect': {'body': {'brokers': []}}}",
		       "step 1 send: connection: expected kept, got unasked");
	assert_int_equal(json_array_size(step("responseHex")), 2);
	assert_true(json_equal(json_array_get(step("responseHex"), 0), json_array_get(step("responseHex"), 1)));
	finish();
	expect_failure(METADATA, FAULTY_TWICE, "{'probe': {}}", "step 1 probe: connection: expected kept, got unasked");
	finish();
	expect_failure(METADATA, FAULTY_TWICE, "{'race': {'requests': [{'api': 'Metadata', 'body': {'topics': []}}]}, "
		       "'expect': {'body': {'answers': [{'brokers': []}]}}}",
		       "step 1 race: connection: expected kept, got unasked");
	finish();
	run_case(METADATA, FAULTY_TWICE, PATIENCE, "", "{'send': {" ASK "}, 'expect': {'connection': 'any', "
		 "'answer': 'some'}}");
	expect_verdict(CF_PASS, "");
	finish();
}

#define PRODUCE(acks) "{'produce': {'topic': 't', 'version': 9, 'acks': " #acks ", 'batches': [{'records': [{}]}]}, "

static void an_answer_to_acks_zero(void **state)
{
	(void)state;
	expect_failure(FAULTY_PRODUCE, FAULTY_ALWAYS, PRODUCE(0) "'expect': {'answer': 'none', 'connection': 'kept'}}",
		       "step 1 produce: connection: expected kept, got unasked");
	assert_int_equal(json_array_size(step("responseHex")), 1);
	finish();
	run_case(FAULTY_PRODUCE, FAULTY_SOUND, PATIENCE, "",
		 PRODUCE(0) "'expect': {'answer': 'none', 'connection': 'kept'}}");
	expect_verdict(CF_PASS, "");
	finish();
}

/* An answer that comes when nobody waits for it any more was asked for all the same. */
static void a_late_answer(void **state)
{
	(void)state;
	run_case(METADATA, FAULTY_LATE, 300, "",
		 "{'send': {" ASK "}, 'expect': {'answer': 'none', 'connection': 'kept'}}");
	expect_verdict(CF_PASS, "");
	assert_int_equal(json_array_size(step("responseHex")), 1);
	finish();
}

/* ---- answers to other requests ---- */

/* To Metadata 4 of client "c" with correlation id 5. */
#define METADATA_5 "0000001000030004000000050001630000000000"
#define OTHER "the answer to Metadata 4 cannot be read: correlation id 12, sent was 5"

static void another_correlation_id(void **state)
{
	(void)state;
	expect_failure(METADATA, FAULTY_OTHER_ID, "{'send': {" ASK "}, 'expect': {'body': {'brokers': []}}}",
		       "step 1 send: the answer to Metadata 4 cannot be read: correlation id 8, sent was 1");
	finish();
	expect_failure(METADATA, FAULTY_OTHER_ID, "{'send': {" ASK "}, 'expect': {}}",
		       "step 1 send: the answer to Metadata 4 cannot be read: correlation id 8, sent was 1");
	finish();
	expect_failure(METADATA, FAULTY_OTHER_ID, "{'raw': {'hex': '" METADATA_5 "', "
		       "'answer': {'api': 'Metadata', 'version': 4}}, 'expect': {'body': {'brokers': []}}}",
		       "step 1 raw: " OTHER);
	finish();
	expect_failure(METADATA, FAULTY_OTHER_ID, "{'frame': {'hex': '" METADATA_5 "', "
		       "'answer': {'api': 'Metadata', 'version': 4}}, 'expect': {'body': {'brokers': []}}}",
		       "step 1 frame: " OTHER);
	finish();
	expect_failure(METADATA, FAULTY_OTHER_ID, "{'raw': {'hex': '" METADATA_5 "'}, "
		       "'expect': {}}", "step 1 raw: connection: expected kept, got unasked");
	finish();
	expect_failure(METADATA, FAULTY_OTHER_ID, "{'race': {'requests': [{'api': 'Metadata', 'body': {'topics': []}}"
		       "]}, 'expect': {'body': {'answers': [{'brokers': []}]}}}",
		       "step 1 race: the answer to Metadata 13 cannot be read: correlation id 8, sent was 1");
	assert_int_equal(json_array_size(step("responseHex")), 1);
	finish();
	expect_failure(METADATA, FAULTY_OTHER_ID, "{'probe': {}}",
		       "step 1 probe: the answer to Metadata 13 cannot be read: correlation id 8, sent was 1");
	finish();
}

static void a_link_that_is_out_of_step_is_closed(void **state)
{
	struct cf_link link = {.host = "127.0.0.1", .timeout = PATIENCE};
	struct kt_err err = {0};
	json_t *answer;

	(void)state;
	faulty.api = LIST_GROUPS;
	faulty.fault = FAULTY_OTHER_ID;
	faulty_start(&faulty);
	link.port = faulty.port;
	assert_int_equal(cf_link_ask(&link, "ListGroups", 0, json_object(), &answer, &err), KT_ECORRUPT);
	assert_string_equal(err.text, "the answer to ListGroups 0 cannot be read: correlation id 8, sent was 1");
	assert_null(answer);
	assert_null(link.conn);
	err = (struct kt_err){0};
	assert_int_equal(cf_link_ask(&link, "Metadata", 4, json_pack("{s:[]}", "topics"), &answer, &err), 0);
	json_decref(answer);
	cf_link_close(&link);
	faulty_stop(&faulty);
	finish();
}

/* ---- answers that cannot be read ---- */

static void a_cut_or_long_answer(void **state)
{
	(void)state;
	expect_failure(METADATA, FAULTY_LONG, "{'send': {" ASK "}, 'expect': {'body': {'brokers': []}}}",
		       "step 1 send: the answer to Metadata 4 cannot be read: 2 bytes follow the body of "
		       "MetadataResponse");
	assert_int_equal(json_array_size(step("responseHex")), 1);
	finish();
	expect_failure(METADATA, FAULTY_CUT, "{'send': {" ASK "}, 'expect': {}}",
		       "step 1 send: the answer to Metadata 4 cannot be read: topics: 4 bytes are needed, 3 are left "
		       "(at byte 18)");
	finish();
	run_case(METADATA, FAULTY_LONG, PATIENCE, "", "{'send': {" ASK "}, 'expect': {'answer': 'any'}}");
	expect_verdict(CF_PASS, "");
	finish();
}

/* Where the kit itself asks on the way of a step, the step fails and has the bytes. */
static void a_question_on_the_way(void **state)
{
	(void)state;
	expect_failure(UPDATE_FEATURES, FAULTY_LONG, "{'level': {'to': 7}}",
		       "step 1 level: the answer to UpdateFeatures 2 cannot be read: 2 bytes follow the body of "
		       "UpdateFeaturesResponse");
	assert_string_equal(json_string_value(step("api")), "UpdateFeatures");
	assert_int_equal(json_array_size(step("requestHex")), 1);
	assert_int_equal(json_array_size(step("responseHex")), 1);
	finish();
}

/* Before the first step nothing is judged yet. */
static void a_topic_that_cannot_be_made(void **state)
{
	(void)state;
	run_case(CREATE_TOPICS, FAULTY_CUT, PATIENCE, "'topics': {'x': {}}, ", "{'probe': {}}");
	assert_string_equal(of("verdict"), "inconclusive");
	assert_non_null(strstr(of("reason"), "the answer to CreateTopics 7 cannot be read: "));
	assert_string_equal(json_string_value(step("verb")), "topics");
	assert_int_equal(json_array_size(step("responseHex")), 1);
	finish();
}

/* ---- answers that are missing ---- */

static void a_race_with_one_answer(void **state)
{
	static const char requests[] = "{'race': {'requests': [{'api': 'Metadata', 'body': {'topics': []}}, "
				       "{'api': 'ListGroups', 'body': {}}]}, 'expect': {%s'body': {'answers': [%s, "
				       "{'errorCode': 0}]}}}";
	char text[400];

	(void)state;
	snprintf(text, sizeof text, requests, "", "{'brokers': []}");
	expect_failure(METADATA, FAULTY_CLOSE, text, "step 1 race: answers[0]: expected an object, got null");
	assert_int_equal(json_array_size(step("requestHex")), 2);
	assert_int_equal(json_array_size(step("responseHex")), 1);
	finish();
	snprintf(text, sizeof text, requests, "'connection': 'any', 'answer': 'some', ", "null");
	run_case(METADATA, FAULTY_CLOSE, PATIENCE, "", text);
	expect_verdict(CF_PASS, "");
	finish();
	expect_failure(METADATA, FAULTY_CLOSE, "{'race': {'requests': [{'api': 'Metadata', 'body': {'topics': []}}]}, "
		       "'expect': {}}", "step 1 race: expected an answer, got none");
	finish();
}

/* ---- a log without end ---- */

static int64_t offset_of(const void *request)
{
	const struct kw_FetchRequest *fetch = request;

	return fetch->topics.v[0].partitions.v[0].fetchOffset;
}

/* A batch of one record at the offset that is asked for, and an error code of the partition. */
static json_t *batch_at(int64_t offset, int error, int64_t end, int size)
{
	json_t *batches = json_pack("[{s:I, s:[{s:{s:i}}]}]", "baseOffset", (json_int_t)offset, "records", "value",
				    "size", size);

	return json_pack("{s:[{s:s, s:[{s:i, s:i, s:I, s:{s:o}}]}]}", "responses", "topic", "t", "partitions",
			 "partitionIndex", 0, "errorCode", error, "highWatermark", (json_int_t)end, "records",
			 "batches", batches);
}

enum { FAR = INT32_MAX, LARGE = 8 << 20 };

static json_t *never_ends(int api, const void *request, int nth)
{
	(void)nth;
	return api == FETCH ? batch_at(offset_of(request), 0, FAR, 1) : NULL;
}

static json_t *never_ends_and_is_large(int api, const void *request, int nth)
{
	(void)nth;
	return api == FETCH ? batch_at(offset_of(request), 0, FAR, LARGE) : NULL;
}

static json_t *refuses_the_third(int api, const void *request, int nth)
{
	return api == FETCH ? batch_at(offset_of(request), nth == 2 ? 6 : 0, 4, 1) : NULL;
}

static json_t *has_four(int api, const void *request, int nth)
{
	(void)nth;
	return api == FETCH ? batch_at(offset_of(request), 0, 4, 1) : NULL;
}

static json_t *is_at_the_last_offset(int api, const void *request, int nth)
{
	(void)nth;
	(void)request;
	return api == FETCH ? batch_at(INT64_MAX, 0, FAR, 1) : NULL;
}

#define TO_END "{'fetch': {'topic': 't', 'offset': 0, 'version': 4, 'toEnd': true}, 'expect': {'error': 'NONE'}}"

static void a_log_that_never_ends(void **state)
{
	(void)state;
	faulty.answer = never_ends;
	run_case(-1, FAULTY_SOUND, 200, "", TO_END);
	assert_string_equal(of("verdict"), "fail");
	assert_non_null(strstr(of("reason"), "do not bring the end, offset 2147483647"));
	assert_true(json_array_size(step("responseHex")) > 2);
	assert_int_equal(json_array_size(step("responseHex")), json_array_size(step("requestHex")));
	finish();
	faulty.answer = never_ends_and_is_large;
	run_case(-1, FAULTY_SOUND, 10 * PATIENCE, "", TO_END);
	assert_non_null(strstr(of("reason"), "the log cannot be read from offset 5 on: 4 further requests with 33554"));
	finish();
}

static void a_log_that_breaks_off(void **state)
{
	(void)state;
	faulty.answer = has_four;
	run_case(-1, FAULTY_SOUND, PATIENCE, "", TO_END);
	expect_verdict(CF_PASS, "");
	assert_int_equal(json_array_size(json_object_get(step("got"), "records")), 4);
	assert_int_equal(json_array_size(step("responseHex")), 4);
	finish();
	faulty.answer = refuses_the_third;
	expect_failure(-1, FAULTY_SOUND, TO_END, "step 1 fetch: the log cannot be read from offset 2 on: "
		       "NOT_LEADER_OR_FOLLOWER (6)");
	assert_int_equal(json_array_size(step("responseHex")), 3);
	finish();
}

static void the_last_offset_of_all(void **state)
{
	(void)state;
	faulty.answer = is_at_the_last_offset;
	run_case(-1, FAULTY_SOUND, PATIENCE, "", TO_END);
	expect_verdict(CF_PASS, "");
	assert_true(json_integer_value(json_object_get(json_array_get(json_object_get(step("got"), "records"), 0),
						       "offset")) == INT64_MAX);
	assert_int_equal(json_array_size(step("responseHex")), 1);
	finish();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_second_answer),
		cmocka_unit_test(an_answer_to_acks_zero),
		cmocka_unit_test(a_late_answer),
		cmocka_unit_test(another_correlation_id),
		cmocka_unit_test(a_link_that_is_out_of_step_is_closed),
		cmocka_unit_test(a_cut_or_long_answer),
		cmocka_unit_test(a_question_on_the_way),
		cmocka_unit_test(a_topic_that_cannot_be_made),
		cmocka_unit_test(a_race_with_one_answer),
		cmocka_unit_test(a_log_that_never_ends),
		cmocka_unit_test(a_log_that_breaks_off),
		cmocka_unit_test(the_last_offset_of_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
