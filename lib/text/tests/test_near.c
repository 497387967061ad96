#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "lib/text/near.h"

static const char *const words[] = {"port", "host", "nodes", "control-port", "bootstrap-server", "id", "rack"};

static const char *nearest(const char *word)
{
	return kt_nearest(word, words, sizeof words / sizeof *words);
}

static void finds_each_kind_of_slip(void **state)
{
	(void)state;
	assert_string_equal(nearest("port"), "port");
	assert_string_equal(nearest("prot"), "port");             /* swapped */
	assert_string_equal(nearest("pot"), "port");              /* left out */
	assert_string_equal(nearest("portt"), "port");            /* typed twice */
	assert_string_equal(nearest("rsck"), "rack");             /* neighbour key */
	assert_string_equal(nearest("PORT"), "port");
	assert_string_equal(nearest("contorl-prt"), "control-port");
}

static void long_words_may_differ_by_a_third(void **state)
{
	(void)state;
	assert_string_equal(nearest("boostrap-servers"), "bootstrap-server");
	assert_string_equal(nearest("bootstrp-srvr"), "bootstrap-server");
	assert_null(nearest("bxxxxxxxx-server"));
}

static void says_nothing_when_nothing_is_near(void **state)
{
	(void)state;
	assert_null(nearest("topics"));
	assert_null(nearest("xy"));                               /* distance 2 from "id", nothing in common */
	assert_null(nearest(""));
	assert_null(kt_nearest("port", words, 0));
}

static void a_beginning_is_near(void **state)
{
	(void)state;
	assert_string_equal(nearest("bootstrap"), "bootstrap-server");
	assert_string_equal(nearest("control"), "control-port");
	assert_null(nearest("bo"));
}

static void the_first_of_equals_stays(void **state)
{
	static const char *const twins[] = {"min", "max", "mix"};

	(void)state;
	assert_string_equal(kt_nearest("mox", twins, 3), "max");
	assert_string_equal(kt_nearest("mia", twins, 3), "min");
}

static void long_input_is_cheap_and_near_to_nothing(void **state)
{
	static char huge[1 << 20];
	const char *one[] = {huge};

	(void)state;
	memset(huge, 'a', sizeof huge - 1);
	assert_null(nearest(huge));
	assert_null(kt_nearest("port", one, 1));
}

static void chooses_from_names(void **state)
{
	static const char *const colours[] = {"red", "green", NULL};
	struct kt_err err = {0};
	int v = 7;

	(void)state;
	assert_int_equal(kt_choose("green", colours, &v, &err), 0);
	assert_int_equal(v, 1);
	assert_int_equal(kt_choose("Green", colours, &v, &err), KT_EUNKNOWN);
	assert_string_equal(err.text, "unknown choice \"Green\"; did you mean \"green\"?");
	err = (struct kt_err){0};
	assert_int_equal(kt_choose("octarine", colours, &v, &err), KT_EUNKNOWN);
	assert_string_equal(err.text, "unknown choice \"octarine\"; there is red, green");
	assert_int_equal(v, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_each_kind_of_slip),
		cmocka_unit_test(long_words_may_differ_by_a_third),
		cmocka_unit_test(says_nothing_when_nothing_is_near),
		cmocka_unit_test(a_beginning_is_near),
		cmocka_unit_test(the_first_of_equals_stays),
		cmocka_unit_test(chooses_from_names),
		cmocka_unit_test(long_input_is_cheap_and_near_to_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
