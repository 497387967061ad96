#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "conformance/case.h"
#include "conformance/judge.h"

/* Judges an answer (JSON, or NULL for none) by the expectation of a made-up step. */
static struct cf_judgement judge_evidence(const char *expect, const char *answer, enum cf_fate fate, json_t *evidence)
{
	struct cf_outcome out = {.answered = answer != NULL || evidence, .fate = fate};
	json_t *vars = json_pack("{s:s}", "topic", "t-1");
	struct cf_judgement j;
	struct cf_case *cas;
	struct kt_err err = {0};
	char text[1000];

	snprintf(text, sizeof text,
		 "{\"id\": \"a.b\", \"title\": \"t\", \"steps\": [{\"probe\": {}, \"expect\": %s}]}", expect);
	if (cf_case_parse("x.json", text, &cas, &err))
		fail_msg("%s: %s", err.path, err.text);
	out.evidence = evidence ? evidence : json_object();
	out.subject = answer ? json_loads(answer, 0, NULL) : NULL;
	j = cf_judge(&cas->steps.v[0], &out, vars);
	json_decref(out.subject);
	json_decref(out.evidence);
	json_decref(vars);
	cf_case_free(cas);
	return j;
}

static struct cf_judgement judge(const char *expect, const char *answer, enum cf_fate fate)
{
	return judge_evidence(expect, answer, fate, NULL);
}

static const char two_ways[] =
	"[{\"name\": \"right\", \"error\": \"INVALID_RECORD\", \"body\": {\"recordErrors\": []}},"
	" {\"name\": \"other code\", \"grade\": \"lenient\", \"error\": {\"$not\": \"NONE\"}},"
	" {\"name\": \"closed\", \"grade\": \"observe\", \"connection\": \"closed\"}]";

static void the_first_that_fits_decides(void **state)
{
	struct cf_judgement j;

	(void)state;
	j = judge(two_ways, "{\"errorCode\": 87, \"recordErrors\": []}", CF_KEPT);
	assert_int_equal(j.verdict, CF_PASS);
	assert_string_equal(j.alternative, "right");
	assert_string_equal(j.grade, "strict");
	j = judge(two_ways, "{\"errorCode\": 2, \"recordErrors\": []}", CF_KEPT);
	assert_int_equal(j.verdict, CF_PASS_LENIENT);
	assert_string_equal(j.alternative, "other code");
	j = judge(two_ways, NULL, CF_CLOSED);
	assert_int_equal(j.verdict, CF_PASS);
	assert_string_equal(j.grade, "observe");
	j = judge(two_ways, "{\"errorCode\": 0, \"recordErrors\": []}", CF_KEPT);
	assert_int_equal(j.verdict, CF_FAIL);
	assert_string_equal(j.reason, "errorCode: expected INVALID_RECORD (87), got NONE (0)");
	assert_string_equal(j.alternative, "");
}

static void connections_are_judged_apart(void **state)
{
	struct cf_judgement j;

	(void)state;
	j = judge("{\"error\": \"NONE\"}", "{\"errorCode\": 0}", CF_CLOSED);
	assert_int_equal(j.verdict, CF_FAIL);
	assert_string_equal(j.reason, "connection: expected kept, got closed");
	j = judge("{\"error\": \"NONE\"}", "{\"errorCode\": 0}", CF_SILENT);
	assert_string_equal(j.reason, "connection: expected kept, got silent");
	j = judge("{\"error\": \"NONE\", \"connection\": \"any\", \"answer\": \"some\"}", "{\"errorCode\": 0}",
		  CF_CLOSED);
	assert_int_equal(j.verdict, CF_PASS);
	j = judge("{\"connection\": \"closed\"}", NULL, CF_KEPT);
	assert_string_equal(j.reason, "connection: expected closed, got kept");
	j = judge("{\"error\": \"NONE\"}", "{\"errorCode\": 0}", CF_NO_CONNECTION);
	assert_int_equal(j.verdict, CF_PASS);
}

/* A frame that nobody asked for is like no connection that a case can ask for. */
static void what_nobody_asked_for(void **state)
{
	struct cf_judgement j;

	(void)state;
	j = judge("{\"error\": \"NONE\"}", "{\"errorCode\": 0}", CF_UNASKED);
	assert_int_equal(j.verdict, CF_FAIL);
	assert_string_equal(j.reason, "connection: expected kept, got unasked");
	j = judge("{\"connection\": \"closed\"}", NULL, CF_UNASKED);
	assert_int_equal(j.verdict, CF_FAIL);
	assert_string_equal(j.reason, "connection: expected closed, got unasked");
	j = judge("{\"answer\": \"none\", \"connection\": \"any\"}", NULL, CF_UNASKED);
	assert_int_equal(j.verdict, CF_PASS);
}

static void an_answer_that_cannot_be_read(void **state)
{
	struct cf_judgement j;

	(void)state;
	j = judge_evidence("{}", NULL, CF_KEPT, json_pack("{s:s}", "unreadable", "it is cut"));
	assert_int_equal(j.verdict, CF_FAIL);
	assert_string_equal(j.reason, "it is cut");
	j = judge_evidence("{\"answer\": \"none\"}", NULL, CF_KEPT, json_pack("{s:s}", "unreadable", "it is cut"));
	assert_string_equal(j.reason, "expected no answer, got one");
	j = judge_evidence("{\"answer\": \"any\"}", NULL, CF_KEPT, json_pack("{s:s}", "unreadable", "it is cut"));
	assert_int_equal(j.verdict, CF_PASS);
}

static void answers_and_silence(void **state)
{
	struct cf_judgement j;

	(void)state;
	j = judge("{\"error\": \"NONE\"}", NULL, CF_CLOSED);
	assert_string_equal(j.reason, "expected an answer, got none");
	j = judge("{\"connection\": \"closed\"}", "{\"errorCode\": 0}", CF_CLOSED);
	assert_string_equal(j.reason, "expected no answer, got one");
	j = judge("{\"answer\": \"none\"}", NULL, CF_KEPT);
	assert_int_equal(j.verdict, CF_PASS);
}

static void patterns_see_variables(void **state)
{
	struct cf_judgement j;

	(void)state;
	j = judge("{\"body\": {\"name\": \"${topic}-0\"}}", "{\"name\": \"t-1-0\"}", CF_KEPT);
	assert_int_equal(j.verdict, CF_PASS);
	j = judge("{\"message\": \"no\"}", "{\"errorMessage\": null}", CF_KEPT);
	assert_string_equal(j.reason, "errorMessage: expected \"no\", got null");
	j = judge("{\"error\": [\"NONE\", \"NOT_CONTROLLER\"]}", "{\"errorCode\": 41}", CF_KEPT);
	assert_int_equal(j.verdict, CF_PASS);
}

/* Whatever the target answered, and whichever alternative fits it. */
static void faults_of_a_case_are_its_own(void **state)
{
	static const char two[] = "[{\"name\": \"right\", \"error\": \"NONE\"},"
				  " {\"name\": \"other\", \"message\": {\"$contains\": \"$nope\"}}]";
	struct cf_judgement j;

	(void)state;
	j = judge("{\"body\": {\"name\": \"$nope\"}}", "{}", CF_KEPT);
	assert_int_equal(j.verdict, CF_ERROR);
	assert_string_equal(j.reason, "expect.body.name: variable $nope is not set");
	j = judge("{\"error\": \"NONE\", \"body\": {\"name\": \"$topik\"}}", "{\"errorCode\": 3}", CF_CLOSED);
	assert_int_equal(j.verdict, CF_ERROR);
	assert_string_equal(j.reason, "expect.body.name: variable $topik is not set; did you mean $topic?");
	j = judge(two, "{\"errorCode\": 0}", CF_KEPT);
	assert_int_equal(j.verdict, CF_ERROR);
	assert_string_equal(j.reason, "expect[1].message.$contains: variable $nope is not set");
	j = judge("{\"body\": {\"offset\": {\"$not\": {\"$plus\": [\"$topic\", 1]}}}}", "{\"offset\": 5}", CF_KEPT);
	assert_int_equal(j.verdict, CF_ERROR);
	assert_string_equal(j.reason, "expect.body.offset.$not.$plus: must be an array of whole numbers");
}

/* The whole reason is longer than there is room for, and ends within a character. */
static void a_reason_ends_with_a_character(void **state)
{
	char message[420], answer[480];
	struct cf_judgement j;

	(void)state;
	for (size_t pad = 0; pad < 2; pad++) {
		memset(message, 'a', pad);
		for (size_t i = 0; i < 200; i++)
			memcpy(message + pad + 2 * i, "\xc3\xa9", 2);
		message[pad + 400] = '\0';
		snprintf(answer, sizeof answer, "{\"errorCode\": 0, \"errorMessage\": \"%s\"}", message);
		j = judge("{\"message\": \"no\"}", answer, CF_KEPT);
		assert_int_equal(j.verdict, CF_FAIL);
		assert_true(kt_is_utf8(j.reason));
		assert_memory_equal(j.reason, "errorMessage: expected \"no\", got \"", 33);
		assert_string_equal(j.reason + strlen(j.reason) - 3, "...");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_that_fits_decides),
		cmocka_unit_test(connections_are_judged_apart),
		cmocka_unit_test(what_nobody_asked_for),
		cmocka_unit_test(an_answer_that_cannot_be_read),
		cmocka_unit_test(answers_and_silence),
		cmocka_unit_test(patterns_see_variables),
		cmocka_unit_test(faults_of_a_case_are_its_own),
		cmocka_unit_test(a_reason_ends_with_a_character),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
