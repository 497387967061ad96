#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "conformance/verdict.h"

static int exit_of(const enum cf_verdict *verdicts, size_t n)
{
	int counts[CF_NVERDICTS] = {0};

	for (size_t i = 0; i < n; i++)
		counts[verdicts[i]]++;
	return cf_exit_code(counts);
}

#define EXIT_OF(...) \
	exit_of((const enum cf_verdict[]){__VA_ARGS__}, \
		sizeof((const enum cf_verdict[]){__VA_ARGS__}) / sizeof(enum cf_verdict))

static void exit_codes(void **state)
{
	(void)state;
	assert_int_equal(EXIT_OF(CF_PASS), 0);
	assert_int_equal(EXIT_OF(CF_PASS_LENIENT, CF_XFAIL, CF_UNSUPPORTED, CF_DISABLED), 0);
	assert_int_equal(EXIT_OF(CF_PASS, CF_FAIL), 1);
	assert_int_equal(EXIT_OF(CF_PASS, CF_XPASS), 1);
	assert_int_equal(EXIT_OF(CF_PASS, CF_INCONCLUSIVE), 4);
	assert_int_equal(EXIT_OF(CF_FAIL, CF_INCONCLUSIVE), 1);
	assert_int_equal(EXIT_OF(CF_FAIL, CF_ERROR), 3);
	/* Nothing was judged. */
	assert_int_equal(EXIT_OF(CF_UNSUPPORTED, CF_DISABLED), 4);
	assert_int_equal(exit_of(NULL, 0), 4);
}

static void words_lead_back(void **state)
{
	(void)state;
	for (int v = 0; v < CF_NVERDICTS; v++)
		assert_int_equal(cf_verdict_find(cf_verdict_word((enum cf_verdict)v)), v);
	assert_int_equal(cf_verdict_find("passed"), CF_NVERDICTS);
	assert_string_equal(cf_verdict_word(CF_PASS_LENIENT), "pass-lenient");
	assert_int_equal(cf_verdict_tap(CF_XFAIL), CF_TAP_TODO);
	assert_int_equal(cf_verdict_tap(CF_UNSUPPORTED), CF_TAP_SKIP);
	assert_false(cf_verdict_judged(CF_UNSUPPORTED));
	assert_true(cf_verdict_judged(CF_XPASS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exit_codes),
		cmocka_unit_test(words_lead_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
