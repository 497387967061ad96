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
	uint64_t unsaid;

	(void)state;
	assert_true(fb_log_is_due("broker 7 refused", 5 * (int64_t)SECOND, &unsaid));
	assert_int_equal(unsaid, 0);
	for (int64_t i = 1; i <= 60; i++)
		assert_false(fb_log_is_due("broker 7 refused", 5 * (int64_t)SECOND + i * 16000000, &unsaid));
	/* Another text has a second of its own. */
	assert_true(fb_log_is_due("broker 8 refused", 5 * (int64_t)SECOND + 1, &unsaid));
	assert_int_equal(unsaid, 0);
	assert_false(fb_log_is_due("broker 8 refused", 6 * (int64_t)SECOND, &unsaid));
	assert_true(fb_log_is_due("broker 7 refused", 6 * (int64_t)SECOND, &unsaid));
	assert_int_equal(unsaid, 60);
	assert_true(fb_log_is_due("broker 7 refused", 9 * (int64_t)SECOND, &unsaid));
	assert_int_equal(unsaid, 0);
}

static void the_oldest_of_many_is_forgotten(void **state)
{
	char text[20];
	uint64_t unsaid;

	(void)state;
	for (int64_t i = 0; i <= TEXTS; i++) {
		snprintf(text, sizeof text, "text %lld", (long long)i);
		assert_true(fb_log_is_due(text, 20 * (int64_t)SECOND + i, &unsaid));
	}
	assert_false(fb_log_is_due("text 16", 20 * (int64_t)SECOND + 100, &unsaid));
	assert_false(fb_log_is_due("text 1", 20 * (int64_t)SECOND + 100, &unsaid));
	assert_true(fb_log_is_due("text 0", 20 * (int64_t)SECOND + 100, &unsaid));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_text_comes_once_a_second),
		cmocka_unit_test(the_oldest_of_many_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
