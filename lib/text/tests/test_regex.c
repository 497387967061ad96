#include "lib/text/regex.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct kt_err err;

static int compiled(const char *pattern)
{
	regex_t regex;
	int code;

	err = (struct kt_err){0};
	code = kt_regex_compile(&regex, pattern, &err);
	if (code == 0)
		regfree(&regex);
	assert_int_equal(code, err.code);
	return code;
}

static void matches(const char *pattern, const char *text, bool does)
{
	regex_t regex;

	assert_int_equal(kt_regex_compile(&regex, pattern, &err), 0);
	assert_int_equal(regexec(&regex, text, 0, NULL, 0) == 0, does);
	regfree(&regex);
}

static void ordinary_patterns(void **state)
{
	(void)state;
	matches("^(till|desk)-[0-9]{1,3}$", "till-12", true);
	matches("^(till|desk)-[0-9]{1,3}$", "till-", false);
	matches("^[][+*(){}]+$", "+[(]", true);
	matches("^[[:alpha:]+]+x$", "a+x", true);
	matches("a{,3}b", "b", true);
	matches("\\((a|b)+\\)", "(ab)", true);
	assert_int_equal(compiled("^(a+b*c?)+[x-z]{2,}(d|(e+f)*)$"), 0);
	assert_int_equal(compiled(""), 0);
	assert_int_equal(compiled("a{1000}a{1000}"), 0);
	assert_int_equal(compiled("[++++++++++++++++++++++++]"), 0);
	assert_int_equal(compiled("\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+"), 0);
}

static void what_is_not_well_formed(void **state)
{
	static const char *const wrong[] = {"(", "[a", "a{2,1}", "*", "a{99999}"};

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_int_not_equal(compiled(wrong[i]), 0);
	assert_int_equal(compiled("("), KT_ESYNTAX);
	assert_string_equal(err.text, "Unmatched ( or \\(");
}

/* All of these would take hundreds of megabytes, or all there are. */
static void repeats_of_repeats(void **state)
{
	static const char *const wrong[] = {
		"a++++++++++++++++++++++++++++++++++++++++", "^(a++++++++++++++++++++)$", "((a{1,255}){1,255}){1,255}",
		"(a{255}){255}", "((((((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+", "(a{200}|b{200}){200}",
		"([)](a{200})){200}", "([[:alpha:])](a{200})){200}", "(\\)(a{200})){200}", "(a{200})*{200}",
		"([]()](a{200})){200}", "(a{20000})", "(a{,255}){255,}", "a{2000}a{2000}", "a{1000}(a{1000})",
	};
	static const char deep[] = "(((((((((((((((((a)))))))))))))))))";

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		if (compiled(wrong[i]) != KT_ELIMIT)
			fail_msg("%s is taken, or %s", wrong[i], err.text);
	assert_int_equal(compiled(deep), KT_ELIMIT);
	assert_string_equal(err.text, "is nested more than 16 deep");
	assert_int_equal(compiled(deep + 1), 0);   /* with a ) too many, which stands for itself */
}

/* The first takes longer than anybody waits to match thirty letters. */
static void back_references(void **state)
{
	(void)state;
	assert_int_equal(compiled("^(a*)*(\\1)*b$"), KT_ELIMIT);
	assert_string_equal(err.text, "has a back reference, \\1");
	assert_int_equal(compiled("(a)(b)(c)(d)(e)(f)(g)(h)(i)\\9"), KT_ELIMIT);
	matches("^[\\1]+$", "1\\1", true);
	matches("^(a)\\\\1$", "a\\1", true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ordinary_patterns), cmocka_unit_test(what_is_not_well_formed),
		cmocka_unit_test(repeats_of_repeats), cmocka_unit_test(back_references),
	};

	return cmocka_run_group_tests_name("regular expressions", tests, NULL, NULL);
}
