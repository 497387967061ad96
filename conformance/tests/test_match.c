#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "conformance/match.h"

static json_t *parse(const char *text)
{
	json_error_t why;
	json_t *json = json_loads(text, JSON_DECODE_ANY, &why);

	if (!json)
		fail_msg("%s: %s", text, why.text);
	return json;
}

/* got "" is nothing at all. */
static void check(const char *pattern, const char *got, bool fits, const char *path, const char *text)
{
	json_t *p = parse(pattern), *g = *got ? parse(got) : NULL;
	struct cf_mismatch why = {0};

	if (cf_match(p, g, &why) != fits)
		fail_msg("%s on %s: %s %s", pattern, got, why.path, why.text);
	if (!fits) {
		assert_string_equal(why.path, path);
		assert_string_equal(why.text, text);
	}
	json_decref(p);
	json_decref(g);
}

static void literals_and_parts(void **state)
{
	(void)state;
	check("1", "1", true, "", "");
	check("1", "1.0", true, "", "");
	check("1", "2", false, "", "expected 1, got 2");
	check("\"a\"", "\"b\"", false, "", "expected \"a\", got \"b\"");
	check("null", "null", true, "", "");
	check("null", "\"\"", false, "", "expected null, got \"\"");
	check("true", "", false, "", "expected true, got nothing");
	check("{\"a\":1}", "{\"a\":1,\"b\":2}", true, "", "");
	check("{\"a\":{\"b\":1}}", "{\"a\":{\"b\":2}}", false, "a.b", "expected 1, got 2");
	check("{\"a\":[{\"b\":1}]}", "{\"a\":[{\"b\":2}]}", false, "a[0].b", "expected 1, got 2");
	check("[1,2]", "[1,2,3]", false, "", "expected an array of 2 elements, got [1,2,3]");
	check("[]", "[]", true, "", "");
	check("[1]", "{}", false, "", "expected an array of 1 element, got {}");
	check("{\"a\":1}", "[1]", false, "", "expected an object, got [1]");
}

static void operators(void **state)
{
	(void)state;
	check("{\"$any\":true}", "null", true, "", "");
	check("{\"a\":{\"$any\":true}}", "{}", false, "a", "expected anything, got nothing");
	check("{\"a\":{\"$absent\":true}}", "{}", true, "", "");
	check("{\"a\":{\"$absent\":true}}", "{\"a\":null}", false, "a", "expected nothing, got null");
	check("{\"$not\":0}", "1", true, "", "");
	check("{\"$not\":0}", "0", false, "", "expected anything but 0, got 0");
	check("{\"a\":{\"$not\":0}}", "{}", false, "a", "expected anything but 0, got nothing");
	check("{\"$oneOf\":[1,\"x\"]}", "\"x\"", true, "", "");
	check("{\"$oneOf\":[1,\"x\"]}", "2", false, "", "expected one of [1,\"x\"], got 2");
	check("{\"$range\":[1,3]}", "3", true, "", "");
	check("{\"$range\":[1,3]}", "4", false, "", "expected a number in [1,3], got 4");
	check("{\"$range\":[0.5,1]}", "0.75", true, "", "");
	check("{\"$range\":[0,9223372036854775807]}", "9223372036854775807", true, "", "");
	check("{\"$regex\":\"^a.c$\"}", "\"abc\"", true, "", "");
	check("{\"$regex\":\"^a\"}", "7", false, "", "expected a text like \"^a\", got 7");
	check("{\"$regex\":\"^\\\\d+$\"}", "\"12\"", true, "", "");
	check("{\"$regex\":\"(a?){900}$\"}", "\"aaaaaaaaaaaaaaaaaaaa\"", false, "",
	      "a text of 20 bytes cannot be matched with \"(a?){900}$\": a limit is exceeded");
	check("{\"$length\":2}", "[1,2]", true, "", "");
	check("{\"$length\":2}", "\"abc\"", false, "length", "expected 2, got 3");
	check("{\"$length\":{\"$range\":[1,2]}}", "\"ab\"", true, "", "");
	check("{\"$contains\":\"bc\"}", "\"abcd\"", true, "", "");
	check("{\"$contains\":\"x\"}", "\"abcd\"", false, "", "expected a text that holds \"x\", got \"abcd\"");
	check("{\"$contains\":[\"ab\",\"cd\"]}", "\"abcd\"", true, "", "");
	check("{\"$contains\":[\"ab\",\"x\"]}", "\"abcd\"", false, "",
	      "expected a text that holds \"x\", got \"abcd\"");
	check("{\"$contains\":[\"ab\"]}", "7", false, "", "expected an array or a text, got 7");
	check("{\"$contains\":[{\"a\":1}]}", "[{\"a\":2},{\"a\":1,\"b\":1}]", true, "", "");
	check("{\"$error\":\"INVALID_RECORD\"}", "87", true, "", "");
	check("{\"$error\":\"INVALID_RECORD\"}", "0", false, "", "expected INVALID_RECORD (87), got NONE (0)");
	check("{\"$plus\":[3,4]}", "7", true, "", "");
	check("{\"$plus\":[3,4]}", "8", false, "", "expected 7, got 8");
}

/* Where a number is wanted nothing else counts as one, and not as 0. */
static void numbers_are_numbers(void **state)
{
	(void)state;
	check("{\"$range\":[\"x\",\"y\"]}", "0", false, "", "expected a number in [\"x\",\"y\"], got 0");
	check("{\"$range\":[0,\"9\"]}", "0", false, "", "expected a number in [0,\"9\"], got 0");
	check("{\"$range\":[0,9]}", "\"0\"", false, "", "expected a number in [0,9], got \"0\"");
	check("{\"$plus\":[\"1\",\"t\"]}", "0", false, "", "expected the sum of [\"1\",\"t\"], got 0");
	check("{\"$plus\":[7,\"t\"]}", "7", false, "", "expected the sum of [7,\"t\"], got 7");
	check("{\"$plus\":[9223372036854775807,1]}", "-9223372036854775808", false, "",
	      "expected the sum of [9223372036854775807,1], got -9223372036854775808");
	check("9007199254740993", "9007199254740992", false, "",
	      "expected 9007199254740993, got 9007199254740992");
	check("{\"$range\":[9007199254740993,9007199254740995]}", "9007199254740992", false, "",
	      "expected a number in [9007199254740993,9007199254740995], got 9007199254740992");
}

/* Two patterns need two elements, even where one would fit both. */
static void each_pattern_takes_an_element(void **state)
{
	(void)state;
	check("{\"$contains\":[{\"a\":1},{\"a\":1}]}", "[{\"a\":1}]", false, "",
	      "expected an element like {\"a\":1}, got [{\"a\":1}]");
	check("{\"$contains\":[{\"a\":1},{\"a\":1}]}", "[{\"a\":1},{\"a\":1}]", true, "", "");
}

/* Which pattern comes first says nothing of who has to take which element. */
static void patterns_make_room_for_each_other(void **state)
{
	(void)state;
	check("{\"$contains\":[{\"$any\":true},1]}", "[1,2]", true, "", "");
	check("{\"$contains\":[{\"$any\":true},{\"$range\":[1,2]},1]}", "[1,2,3]", true, "", "");
	check("{\"$contains\":[{\"$oneOf\":[1,2]},{\"$oneOf\":[2,3]},{\"$oneOf\":[1,3]},3]}", "[3,2,1,4]", false,
	      "", "expected an element like 3, got [3,2,1,4]");
	check("{\"$contains\":[{\"$oneOf\":[1,2]},{\"$oneOf\":[2,3]},{\"$oneOf\":[3,4]},{\"$oneOf\":[1]}]}",
	      "[1,2,3,4]", true, "", "");
	check("{\"$contains\":[{\"$any\":true},1,1]}", "[1,2,3]", false, "", "expected an element like 1, got [1,2,3]");
	check("{\"$contains\":[1]}", "[]", false, "", "expected an element like 1, got []");
}

static void check_as(bool expanded, const char *pattern, int code, const char *path, const char *text)
{
	json_t *p = parse(pattern);
	struct kt_err err = {0};

	assert_int_equal(cf_pattern_check(p, expanded, &err), code);
	assert_string_equal(err.path, path);
	assert_string_equal(err.text, text);
	json_decref(p);
}

static void check_pattern(const char *pattern, int code, const char *path, const char *text)
{
	check_as(false, pattern, code, path, text);
}

static void patterns_are_checked(void **state)
{
	(void)state;
	check_pattern("{\"a\":[{\"$regex\":\"x\"}],\"b\":{\"$length\":{\"$range\":[1,2]}}}", 0, "", "");
	check_pattern("{\"a\":[{\"$regx\":\"x\"}]}", KT_EUNKNOWN, "a[0]",
		      "unknown operator \"$regx\"; did you mean \"$regex\"?");
	check_pattern("{\"$regex\":\"(a)\\\\1\"}", KT_ELIMIT, "$regex",
		      "not a regular expression: has a back reference, to group 1");
	check_pattern("{\"a\":{\"$range\":[1]}}", KT_ETYPE, "a.$range", "must be an array of two numbers");
	check_pattern("{\"a\":{\"$any\":false}}", KT_ETYPE, "a.$any", "must be true");
	check_pattern("{\"$error\":\"NO_SUCH\"}", KT_EUNKNOWN, "$error", "unknown error name \"NO_SUCH\"");
	check_pattern("{\"$any\":true,\"b\":1}", KT_EUNKNOWN, "$any", "an operator stands alone in its object");
	check_pattern("{\"$oneOf\":[]}", KT_ETYPE, "$oneOf", "must be an array of patterns");
	check_pattern("{\"$oneOf\":\"$list\"}", 0, "", "");
	check_pattern("{\"$plus\":[1]}", KT_ETYPE, "$plus", "must be an array of whole numbers");
}

/* What fits everything, or nothing, asks nothing. */
static void patterns_can_fail(void **state)
{
	(void)state;
	check_pattern("{\"$plus\":[\"$a\",1]}", 0, "", "");
	check_pattern("{\"$plus\":[\"a\",1]}", KT_ETYPE, "$plus", "must be an array of whole numbers");
	check_pattern("{\"$plus\":[\"${a}\",1]}", KT_ETYPE, "$plus", "must be an array of whole numbers");
	check_pattern("{\"$plus\":[1.5,1]}", KT_ETYPE, "$plus", "must be an array of whole numbers");
	check_pattern("{\"$range\":[\"$a\",\"$b\"]}", 0, "", "");
	check_pattern("{\"a\":{\"$range\":[\"x\",\"$b\"]}}", KT_ETYPE, "a.$range", "must be an array of two numbers");
	check_pattern("{\"$range\":[1,\"$$b\"]}", KT_ETYPE, "$range", "must be an array of two numbers");
	check_pattern("{\"$range\":[2,1]}", KT_ERANGE, "$range",
		      "holds no number: its low end is above its high end");
	check_pattern("{\"$contains\":\"\"}", KT_EUSAGE, "$contains", "must not be empty: that is in every text");
	check_pattern("{\"$contains\":[\"a\",\"\"]}", KT_EUSAGE, "$contains",
		      "holds an empty text, which is in every text");
}

/* Once variables have their values, they are operands like others. */
static void values_are_checked(void **state)
{
	(void)state;
	check_as(true, "{\"$plus\":[\"$a\",1]}", KT_ETYPE, "$plus", "must be an array of whole numbers");
	check_as(true, "{\"a\":{\"$not\":{\"$range\":[\"1\",2]}}}", KT_ETYPE, "a.$not.$range",
		 "must be an array of two numbers");
	check_as(true, "[{\"$oneOf\":\"$list\"}]", KT_ETYPE, "[0].$oneOf", "must be an array of patterns");
	check_as(true, "{\"$range\":[1,2]}", 0, "", "");
}

static void long_values_are_cut(void **state)
{
	char buf[12];
	json_t *json = parse("[1,2,3,4,5,6,7,8]");

	(void)state;
	assert_string_equal(cf_brief(json, buf, sizeof buf), "[1,2,3,4...");
	assert_string_equal(cf_brief(NULL, buf, sizeof buf), "nothing");
	json_decref(json);
}

/* A reason that is half a character too long is still one. */
static void nothing_is_cut_within_a_character(void **state)
{
	char text[420], buf[12];
	json_t *json = parse("\"1\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\""), *got = json_object(), *pattern;
	struct cf_mismatch why;

	(void)state;
	assert_string_equal(cf_brief(json, buf, sizeof buf), "\"1\xc3\xa9\xc3\xa9\xc3\xa9...");
	json_decref(json);
	for (size_t pad = 0; pad < 2; pad++) {
		memset(text, 'a', pad);
		for (size_t i = 0; i < 200; i++)
			memcpy(text + pad + 2 * i, "\xc3\xa9", 2);
		text[pad + 400] = '\0';
		json_object_set_new(got, text, json_string(text));
		pattern = json_pack("{s:{s:s}}", text, "$contains", text + pad + 2);
		assert_true(cf_match(pattern, got, &why));
		json_object_set_new(pattern, text, json_integer(1));
		assert_false(cf_match(pattern, got, &why));
		assert_true(kt_is_utf8(why.text));
		assert_true(kt_is_utf8(why.path));
		assert_memory_equal(why.text, "expected 1, got \"", 17);
		json_decref(pattern);
		json_object_clear(got);
	}
	json_decref(got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(literals_and_parts),
		cmocka_unit_test(operators),
		cmocka_unit_test(numbers_are_numbers),
		cmocka_unit_test(each_pattern_takes_an_element),
		cmocka_unit_test(patterns_make_room_for_each_other),
		cmocka_unit_test(patterns_are_checked),
		cmocka_unit_test(patterns_can_fail),
		cmocka_unit_test(values_are_checked),
		cmocka_unit_test(long_values_are_cut),
		cmocka_unit_test(nothing_is_cut_within_a_character),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
