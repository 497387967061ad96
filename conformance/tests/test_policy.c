#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "conformance/runner.h"

static struct cf_expected_failure expected[] = {
	{.glob = "records.crc.*", .message = "step 1 produce: errorCode", .why = "issue 7"},
	{.glob = "records.lenient", .message = "only allowed", .why = "issue 8"},
};

static void check(const char *verdict, const char *level, const char *id, const char *reason, bool strict,
		  const char *wanted, const char *wanted_reason)
{
	struct cf_profile profile = {.failures = expected, .nfailures = 2};
	json_t *row = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "id", id, "case", id, "verdict", verdict, "level",
				level, "reason", reason, "alternative", "other way");

	cf_policy(row, &profile, strict);
	assert_string_equal(cf_text(row, "verdict"), wanted);
	assert_string_equal(cf_text(row, "reason"), wanted_reason);
	json_decref(row);
}

static void levels_weigh(void **state)
{
	(void)state;
	check("fail", "must", "a.b", "why", false, "fail", "why");
	check("fail", "should", "a.b", "why", false, "pass-lenient", "should: why");
	check("fail", "should", "a.b", "why", true, "fail", "why");
	check("fail", "may", "a.b", "why", true, "pass", "may: why");
	check("fail", "observe", "a.b", "why", true, "pass", "observe: why");
	check("pass-lenient", "must", "a.b", "", false, "pass-lenient", "");
	check("pass-lenient", "must", "a.b", "", true, "fail",
	      "only allowed, and --strict asks for the right answer: other way");
	check("pass-lenient", "should", "a.b", "", true, "fail",
	      "only allowed, and --strict asks for the right answer: other way");
	check("inconclusive", "should", "a.b", "why", false, "inconclusive", "why");
}

/* What is only recorded never is red, and so no better answer can be worse than another. */
static void a_better_answer_is_not_worse(void **state)
{
	(void)state;
	check("pass-lenient", "may", "a.b", "other way", true, "pass-lenient", "other way");
	check("pass-lenient", "observe", "a.b", "other way", true, "pass-lenient", "other way");
	check("pass-lenient", "observe", "a.b", "other way", false, "pass-lenient", "other way");
}

static void expected_failures(void **state)
{
	(void)state;
	check("fail", "must", "records.crc.x", "step 1 produce: errorCode: no", false, "xfail",
	      "step 1 produce: errorCode: no (issue 7)");
	check("fail", "must", "records.crc.x", "step 2 endOffset: no", false, "fail",
	      "step 2 endOffset: no; expected was \"step 1 produce: errorCode\"");
	check("pass", "must", "records.crc.x", "", false, "xpass", "it was expected to fail (issue 7)");
	check("unsupported", "must", "records.crc.x", "no", false, "unsupported", "no");
	check("pass", "must", "records.other", "", false, "pass", "");
	check("inconclusive", "must", "records.crc.x", "gone", true, "inconclusive", "gone");
}

/* One profile serves who is strict and who is not: what is expected is what was found, not what it weighs. */
static void expected_failures_of_less_than_a_must(void **state)
{
	static const char *const levels[] = {"should", "may", "observe"};

	(void)state;
	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
		for (int strict = 0; strict < 2; strict++)
			check("fail", levels[i], "records.crc.x", "step 1 produce: errorCode: no", strict, "xfail",
			      "step 1 produce: errorCode: no (issue 7)");
	check("fail", "should", "records.crc.x", "step 2: no", true, "fail",
	      "step 2: no; expected was \"step 1 produce: errorCode\"");
	check("fail", "should", "records.crc.x", "step 2: no", false, "pass-lenient",
	      "should: step 2: no; expected was \"step 1 produce: errorCode\"");
	check("fail", "observe", "records.crc.x", "step 2: no", true, "pass",
	      "observe: step 2: no; expected was \"step 1 produce: errorCode\"");
	check("pass-lenient", "should", "records.crc.x", "", false, "xpass", "it was expected to fail (issue 7)");
	check("pass-lenient", "must", "records.lenient", "", true, "xfail",
	      "only allowed, and --strict asks for the right answer: other way (issue 8)");
	check("pass-lenient", "must", "records.lenient", "", false, "pass-lenient", "");
	check("pass-lenient", "observe", "records.lenient", "", true, "xpass", "it was expected to fail (issue 8)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_weigh),
		cmocka_unit_test(a_better_answer_is_not_worse),
		cmocka_unit_test(expected_failures),
		cmocka_unit_test(expected_failures_of_less_than_a_must),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
