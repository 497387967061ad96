#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <limits.h>
#include <math.h>

#include "lib/text/number.h"

static void reads_whole_numbers(void **state)
{
	static const char *const bad[] = {"", "-", "+", "1.5", "1e3", " 1", "1 ", "0x10", "--1", "abc", "1k"};
	struct kt_err err = {0};
	int64_t v = 42;

	(void)state;
	assert_int_equal(kt_parse_int("0", 0, 9, &v, &err), 0);
	assert_int_equal(v, 0);
	assert_int_equal(kt_parse_int("-9223372036854775808", INT64_MIN, INT64_MAX, &v, &err), 0);
	assert_true(v == INT64_MIN);
	assert_int_equal(kt_parse_int("+007", 0, 9, &v, &err), 0);
	assert_int_equal(v, 7);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(kt_parse_int(bad[i], INT64_MIN, INT64_MAX, &v, NULL), KT_ETYPE);
	assert_int_equal(kt_parse_int("9223372036854775808", INT64_MIN, INT64_MAX, &v, &err), KT_ERANGE);
	assert_string_equal(err.text, "\"9223372036854775808\" is beyond 64 bits");
	assert_int_equal(v, 7);
}

static void reads_real_numbers(void **state)
{
	static const char *const bad[] = {"", "-", "inf", "nan", "0x1p3", "1,5", "1.5 ", " 1", "1e"};
	double v = 42;

	(void)state;
	assert_int_equal(kt_parse_real("2.5e3", 0, INFINITY, &v, NULL), 0);
	assert_true(v == 2500);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(kt_parse_real(bad[i], -INFINITY, INFINITY, &v, NULL), KT_ETYPE);
	assert_int_equal(kt_parse_real("1e999", 0, INFINITY, &v, NULL), KT_ERANGE);
	assert_int_equal(kt_parse_real("1.5", 0, 1, &v, NULL), KT_ERANGE);
	assert_true(v == 2500);
}

static const char *int_says(int64_t v, int64_t min, int64_t max)
{
	static struct kt_err err;

	err = (struct kt_err){0};
	assert_int_equal(kt_check_int(v, min, max, &err), KT_ERANGE);
	return err.text;
}

static void names_the_range(void **state)
{
	struct kt_err err = {0};

	(void)state;
	assert_int_equal(kt_check_int(5, 5, 5, NULL), 0);
	assert_string_equal(int_says(-1, 0, 65535), "must be 0 to 65535, not -1");
	assert_string_equal(int_says(0, 1, INT64_MAX), "must be at least 1, not 0");
	assert_string_equal(int_says(9, INT_MIN, 8), "must be at most 8, not 9");
	assert_string_equal(int_says(3000000000, INT_MIN, INT_MAX), "must be at most 2147483647, not 3000000000");
	assert_int_equal(kt_check_real(1.5, 0, 1, &err), KT_ERANGE);
	assert_string_equal(err.text, "must be 0 to 1, not 1.5");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_whole_numbers),
		cmocka_unit_test(reads_real_numbers),
		cmocka_unit_test(names_the_range),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
