/* Lines of the log that clients could repeat without end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "fakebroker/cluster/log_line.h"

enum { SECOND = 1000000000, TEXTS = 16 };

static void the_same_text_comes_once_a_second(void **state)
{
	struct fb_left_out left_out;

	(void)state;
	assert_true(fb_log_is_due("broker 7 refused", 5 * (int64_t)SECOND, &left_out));
	assert_int_equal(left_out.same, 0);
	for (int64_t i = 1; i <= 60; i++)
		assert_false(fb_log_is_due("broker 7 refused", 5 * (int64_t)SECOND + i * 16000000, &left_out));
	/* Another text has a second of its own. */
	assert_true(fb_log_is_due("broker 8 refused", 5 * (int64_t)SECOND + 1, &left_out));
	assert_int_equal(left_out.same, 0);
	assert_false(fb_log_is_due("broker 8 refused", 6 * (int64_t)SECOND, &left_out));
	assert_true(fb_log_is_due("broker 7 refused", 6 * (int64_t)SECOND, &left_out));
	assert_int_equal(left_out.same, 60);
	assert_true(fb_log_is_due("broker 7 refused", 9 * (int64_t)SECOND, &left_out));
	assert_int_equal(left_out.same, 0);
	assert_int_equal(left_out.others, 0);
}

/* Whoever has many texts in turn cannot fill the log either. */
static void of_many_texts_the_first_come(void **state)
{
	struct fb_left_out left_out;
	char text[20];
	int logged = 0;

	(void)state;
	for (int64_t i = 0; i < 1000; i++) {
		snprintf(text, sizeof text, "text %lld", (long long)(i % 50));
		logged += fb_log_is_due(text, 20 * (int64_t)SECOND + i, &left_out);
	}
	assert_int_equal(logged, TEXTS);
	/* "text 0" to "text 15" came 20 times each, of which once each was logged. */
	assert_true(fb_log_is_due("text 49", 22 * (int64_t)SECOND, &left_out));
	assert_int_equal(left_out.same, 0);
	assert_int_equal(left_out.others, 34 * 20 + 19);
	assert_true(fb_log_is_due("text 15", 22 * (int64_t)SECOND, &left_out));
	assert_int_equal(left_out.same, 19);
	assert_int_equal(left_out.others, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_text_comes_once_a_second),
		cmocka_unit_test(of_many_texts_the_first_come),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
