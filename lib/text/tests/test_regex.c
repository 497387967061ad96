#include "lib/text/regex.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct kt_err err;

static int compiled(const char *pattern)
{
	struct kt_regex *regex;
	int code;

	err = (struct kt_err){0};
	code = kt_regex_compile(&regex, pattern, strlen(pattern), KT_REGEX_FOUND, &err);
	assert_int_equal(code, err.code);
	assert_int_equal(code == 0, regex != NULL);
	kt_regex_free(regex);
	return code;
}

static int answer(const char *pattern, enum kt_regex_extent extent, const char *text, size_t n)
{
	struct kt_regex *regex;
	int rc;

	err = (struct kt_err){0};
	if (kt_regex_compile(&regex, pattern, strlen(pattern), extent, &err))
		fail_msg("%s %s", pattern, err.text);
	rc = kt_regex_matches(regex, text, n);
	assert_int_equal(kt_regex_matches(regex, text, n), rc);
	kt_regex_free(regex);
	return rc;
}

static void matches(const char *pattern, const char *text, bool does)
{
	assert_int_equal(answer(pattern, KT_REGEX_FOUND, text, strlen(text)), does);
}

/* The answer for n times the letter a. */
static int answer_of_letters(const char *pattern, size_t n)
{
	char *text = malloc(n + 1);
	int rc;

	assert_non_null(text);
	memset(text, 'a', n);
	rc = answer(pattern, KT_REGEX_FOUND, text, n);
	free(text);
	return rc;
}

static void ordinary_patterns(void **state)
{
	(void)state;
	matches("^(till|desk)-[0-9]{1,3}$", "till-12", true);
	matches("^(till|desk)-[0-9]{1,3}$", "till-", false);
	matches("^[][+*(){}]+$", "+[(]", true);
	matches("^[[:alpha:]+]+x$", "a+x", true);
	matches("a{0,3}b", "b", true);
	matches("\\((a|b)+\\)", "(ab)", true);
	matches("", "", true);
	matches("b|c", "abc", true);
	matches("^b|x$", "abc", false);
	matches("b$", "ab\n", false);
	matches("a.b", "a\nb", false);
	matches("b", "a\nb", true);
	matches("^\\++$", "+++", true);
	matches("^\\+?$", "+", true);
	matches("^\\+$", "++", false);
	matches("^\\++?x+?y$", "++xxy", true);
	matches("^\\\\+$", "\\\\", true);
	matches("^\\c++$", "kkk", true);
	matches("^a\\Q+b\\E+$", "a+bb", true);
	matches("^([+]+|a+)+$", "+a++aa", true);
	matches("^a++b$", "aab", true);
	matches("^a++ab$", "aab", false);
	matches("^a?+$", "aa", false);               /* gives nothing back, as a++, and repeats nothing */
	matches("^a?+a$", "a", false);
	matches("^a*+a$", "aa", false);
	matches("^[ab]?+a$", "a", false);
	matches("^\\pL+\\p{Lu}+\\x{61}+[+?]+?\\?+$", "abABaa+?+??", true);
	matches("^\xc3\xa4+$", "\xc3\xa4\xc3\xa4", true);
	assert_int_equal(answer("^$", KT_REGEX_FOUND, NULL, 0), 1);
	assert_int_equal(compiled("^(a+b*c?)+[x-z]{2,}(d|(e+f)*)$"), 0);
	assert_int_equal(compiled("a{1000}a{1000}"), 0);
	assert_int_equal(compiled("[++++++++++++++++++++++++]"), 0);
}

/* What RE2 has and POSIX has not. */
static void patterns_as_of_re2(void **state)
{
	(void)state;
	matches("^\\d{3}$", "123", true);
	matches("^\\d$", "\xd9\xa3", false);         /* a digit, but not of ASCII */
	matches("(?i)^TILL", "till", true);
	matches("(?i:\xc3\x84)", "\xc3\xa4", true);
	matches("^a+?$", "aaa", true);
	matches("\\bdesk\\b", "a desk-1", true);
	matches("^(?P<shop>\\w+)-(?:\\d|x)$", "mitte-x", true);
	matches("^\\pL+$", "\xc3\xa4" "b", true);
	matches("^\\Q(?=a)\\E$", "(?=a)", true);
	matches("\\Q(?=", "(?=", true);
	matches("(?-s)^(?m:b)$", "b", true);
	matches("(?m)^a$", "b\na\nc", true);
	matches("(?m:a$)\nc", "b\na\nc", true);
	matches("(?m)^a$", "ba\nac", false);
}

static void the_whole_text(void **state)
{
	(void)state;
	assert_int_equal(answer("a|ab", KT_REGEX_WHOLE, "ab", 2), 1);
	assert_int_equal(answer("a|b", KT_REGEX_WHOLE, "ab", 2), 0);
	assert_int_equal(answer("ab", KT_REGEX_WHOLE, "abc", 3), 0);
	assert_int_equal(answer("ab", KT_REGEX_WHOLE, "ab\n", 3), 0);
	assert_int_equal(answer("a\\x00b", KT_REGEX_WHOLE, "a\0b", 3), 1);
}

/* UTF-8 goes by characters, anything else by bytes. */
static void text_and_bytes(void **state)
{
	(void)state;
	matches("^.$", "\xc3\xa4", true);
	matches("^.{2}$", "\xc3\xa4", false);
	matches("^.{2}$", "\xc3(", true);
	matches("^\\x00\\xff", "\xff", false);
	assert_int_equal(answer("^\\x00\\xff", KT_REGEX_FOUND, "\0\xff", 2), 1);
	assert_int_equal(answer("^\\x{1F600}|.", KT_REGEX_FOUND, "\xf0\x9f\x98\x80", 4), 1);
	assert_int_equal(answer("\\x{1F600}|.", KT_REGEX_FOUND, "\xff", 1), 0);
}

static void what_is_not_well_formed(void **state)
{
	static const char *const wrong[] = {
		"(", "[a", "a{2,1}", "*", "a{99999}", "a)(b", "a\\", "\xff",
		"a++++++++++++++++++++++++++++++++++++++++", "(a)\\2", "[\\C]", "(*UTF)a", "(?1)",
	};

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		if (compiled(wrong[i]) != KT_ESYNTAX)
			fail_msg("%s is taken, or %s", wrong[i], err.text);
	assert_int_equal(compiled("ab("), KT_ESYNTAX);
	assert_string_equal(err.text, "missing closing parenthesis (at byte 3)");
}

static void what_takes_more_than_one_pass(void **state)
{
	static const char *const wrong[] = {
		"a(?=b)", "a(?!b)", "(?<=a)b", "(?<!a)b", "(?>a)", "(a|b)++", "(?:a){2}+", "a{2}+", "\\d{1,2}+",
		"\\x{61}{1,}+", "[[:<:]]a", "a[[:>:]]", "\\X", "\\Ka", "(a)(?1)", "(?R)?",
		"(?P<n>a)(?P>n)", "(a)\\g<1>", "(a)(?(1)b)", "a(*COMMIT)b", "(*pla:a)", "(?P<n>a)(?&n)",
		"^(a*)*(\\1)*b$", "(?<n>a)\\k<n>", "(?P<n>a)(?P=n)", "(a)(b)(c)(d)(e)(f)(g)(h)(i)\\9",
	};

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		if (compiled(wrong[i]) != KT_ELIMIT)
			fail_msg("%s is taken, or %s", wrong[i], err.text);
	assert_int_equal(compiled("^(a*)*(\\1)*b$"), KT_ELIMIT);
	assert_string_equal(err.text, "has a back reference, to group 1");
	assert_int_equal(compiled("a(?=b)"), KT_ELIMIT);
	assert_string_equal(err.text, "has (?=, which takes more than one pass over the text");
	matches("^(a)\\\\1$", "a\\1", true);
}

/* Whose comment at the end would hide what the library is given behind the pattern. */
static void free_spacing(void **state)
{
	static const char *const wrong[] = {"(?x)a # b", "(?xx) a", "(?i-x:a)", "a(?^x)b"};

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_int_equal(compiled(wrong[i]), KT_ELIMIT);
	assert_string_equal(err.text, "has (?^x): blanks in patterns always count");
	matches("^(?<x>a) (?P<xx>b)(?'x1'c)#$", "a bc#", true);
}

static void patterns_that_are_too_large(void **state)
{
	static char text[KT_REGEX_LONGEST + 2];

	(void)state;
	assert_int_equal(compiled("((a{1,255}){1,255}){1,255}"), KT_ELIMIT);
	assert_string_equal(err.text, "regular expression is too large");
	assert_int_equal(compiled("(a{200}|(b{2}){200}){200}"), KT_ELIMIT);
	memset(text, 'a', KT_REGEX_LONGEST);
	assert_int_equal(compiled(text), 0);
	text[KT_REGEX_LONGEST] = 'a';
	assert_int_equal(compiled(text), KT_ELIMIT);
	assert_string_equal(err.text, "is longer than 4096 bytes");
	memset(text, '(', 201);
	memset(text + 201, ')', 201);
	text[402] = '\0';
	assert_int_equal(compiled(text), KT_ELIMIT);
	text[401] = '\0';
	assert_int_equal(compiled(text + 1), 0);
}

/* With backtracking each of these takes seconds at least, and most of them longer than anybody waits. */
static void hostile_texts(void **state)
{
	static const char *const nowhere[] = {
		"(a*)*[0-9]", "(a|a)*[0-9]", "(a|aa)+[^a]", "[a-z]*+\\d", "(((a*)*)*)*\\d", ".*.*.*.*.*.*.*\\d",
		".*?.*?.*?.*?\\d", "(?i:(A+)+)[^a]", "^(a?)*b?\\d$", "(\\w+\\s?)+\\d$",
	};

	(void)state;
	for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++)
		if (answer_of_letters(nowhere[i], 32000) != 0)
			fail_msg("%s", nowhere[i]);
	assert_int_equal(answer_of_letters("(a?){30}a{30}$", 30), 1);
	assert_int_equal(answer_of_letters("[a-z]+[0-9]|\\w+?-", 100000), 0);
	assert_int_equal(answer_of_letters(".*a.{30}$", 32000), 1);
}

/* A pattern may be on as many ways as fit into its work, which depends on the text's length and no clock. */
static void the_limit(void **state)
{
	(void)state;
	assert_int_equal(answer_of_letters(".*a.{100}$", 1000), 1);
	assert_int_equal(answer_of_letters(".*a.{100}$", 32000), KT_ELIMIT);
	assert_int_equal(answer_of_letters("(?:a?){400}$", 20), KT_ELIMIT);
	assert_int_equal(answer_of_letters("([a-z]|[a-y]|.|a){1,200}\\d", 1000), KT_ELIMIT);
	assert_int_equal(answer_of_letters("a$", KT_REGEX_TEXT_MOST), 1);
	assert_int_equal(answer_of_letters("a$", KT_REGEX_TEXT_MOST + 1), KT_ELIMIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ordinary_patterns),
		cmocka_unit_test(patterns_as_of_re2),
		cmocka_unit_test(the_whole_text),
		cmocka_unit_test(text_and_bytes),
		cmocka_unit_test(what_is_not_well_formed),
		cmocka_unit_test(what_takes_more_than_one_pass),
		cmocka_unit_test(free_spacing),
		cmocka_unit_test(patterns_that_are_too_large),
		cmocka_unit_test(hostile_texts),
		cmocka_unit_test(the_limit),
	};

	return cmocka_run_group_tests_name("regular expressions", tests, NULL, NULL);
}
