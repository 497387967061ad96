#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "conformance/runner.h"

static struct cf_expected_failure expected[] = {
	{.glob = "records.crc.*", .message = "step 1 produce: errorCode", .why = "issue 7"},
};

static void check(const char *verdict, const char *level, const char *id, const char *reason, bool strict,
		  const char *wanted, const char *wanted_reason)
{
	struct cf_profile profile = {.failures = expected, .nfailures = 1};
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
	check("inconclusive", "should", "a.b", "why", false, "inconclusive", "why");
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
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_weigh),
		cmocka_unit_test(expected_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
