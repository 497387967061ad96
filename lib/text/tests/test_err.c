#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "lib/text/address.h"
#include "lib/text/err.h"

static char line[1024];

static void the_first_failure_wins(void **state)
{
	struct kt_err err = {0};

	(void)state;
	assert_int_equal(kt_fail(&err, KT_ERANGE, "port %d", 70000), KT_ERANGE);
	assert_int_equal(kt_fail(&err, KT_ENOMEM, "later"), KT_ENOMEM);
	assert_int_equal(err.code, KT_ERANGE);
	assert_string_equal(err.text, "port 70000");
	assert_int_equal(kt_fail(NULL, KT_ENET, "nobody listens"), KT_ENET);
}

static void one_line_says_what_is_known(void **state)
{
	struct kt_err err = {.code = KT_ETYPE};

	(void)state;
	assert_string_equal(kt_err_line(&err, line, sizeof line), "wrong type");
	snprintf(err.text, sizeof err.text, "%s", "not a number");
	snprintf(err.path, sizeof err.path, "%s", "$.id");
	assert_string_equal(kt_err_line(&err, line, sizeof line), "$.id: not a number");
	err.line = 12;
	assert_string_equal(kt_err_line(&err, line, sizeof line), "line 12: $.id: not a number");
	snprintf(err.file, sizeof err.file, "%s", "a.json");
	assert_string_equal(kt_err_line(&err, line, sizeof line), "a.json:12: $.id: not a number");
	err.line = 0;
	assert_string_equal(kt_err_line(&err, line, sizeof line), "a.json: $.id: not a number");
	err.has_offset = 1;
	err.offset = 17;
	assert_string_equal(kt_err_line(&err, line, sizeof line), "a.json: $.id: not a number (at byte 17)");
}

static void quoted_input_cannot_drive_a_terminal(void **state)
{
	struct kt_err err = {0};

	(void)state;
	kt_fail(&err, KT_EUNKNOWN, "unknown \"%s\"", "\x1b[2Jgr\xc3\xbc\xc3\x9f\n\x7f\xc2\x9b");
	assert_string_equal(err.text, "unknown \"?[2Jgr\xc3\xbc\xc3\x9f????\"");
}

static void names_of_files_cannot_drive_a_terminal(void **state)
{
	struct kt_err err = {.code = KT_EFILE, .file = "a\x1b[31m\nb", .path = "$.\xc2\x9b",
			     .text = "cannot be opened"};

	(void)state;
	assert_string_equal(kt_err_line(&err, line, sizeof line), "a?[31m?b: $.??: cannot be opened");
}

static void direction_cannot_be_changed(void **state)
{
	char text[] = "a\xe2\x80\xae" "b\xe2\x81\xa6" "c\xe2\x80\xaf\xe2\x81\xaa\xe2\x80";
	char *got = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&got, &n);

	(void)state;
	assert_non_null(f);
	kt_put_escaped(f, text);
	kt_put_escaped(f, "\n\x7f\xc2\x85\xc2\xa0\xe2");
	fclose(f);
	assert_string_equal(got, "a\\u202eb\\u2066c\xe2\x80\xaf\xe2\x81\xaa\xe2\x80"
				 "\\u000a\\u007f\\u0085\xc2\xa0\xe2");
	free(got);
	kt_clean(text);
	assert_string_equal(text, "a???b???c\xe2\x80\xaf\xe2\x81\xaa");
}

static void foreign_text_cannot_drive_a_terminal(void **state)
{
	char *got = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&got, &n);

	(void)state;
	assert_non_null(f);
	kt_put_clean(f, "a\033[2Jb\x7f\xc2\x9b\xc3\xa9\xc2");
	fclose(f);
	assert_string_equal(got, "a?[2Jb??\xc3\xa9?");
	free(got);
}

static void a_cut_off_character_is_dropped(void **state)
{
	char two[] = "ab\xc3", three[] = "ab\xe2\x82", four[] = "ab\xf0\x9f\x98", whole[] = "ab\xe2\x82\xac";
	char stray[] = "\x80\x80", empty[] = "";

	(void)state;
	kt_clean(two);
	kt_clean(three);
	kt_clean(four);
	kt_clean(whole);
	kt_clean(stray);
	kt_clean(empty);
	assert_string_equal(two, "ab");
	assert_string_equal(three, "ab");
	assert_string_equal(four, "ab");
	assert_string_equal(whole, "ab\xe2\x82\xac");
	assert_string_equal(stray, "??");
	assert_string_equal(empty, "");
}

/* Overlong, a surrogate, above the last character, a byte in the middle of nothing; and what a JSON parser takes. */
static void what_is_no_utf8_is_replaced(void **state)
{
	static const struct { const char *text, *cleaned; } rows[] = {
		{"caf\xe9", "caf"}, {"caf\xe9 au lait", "caf? au lait"}, {"\xc0\xaf", "??"}, {"\xe0\x9f\x80.", "???."},
		{"\xed\xa0\x80.", "???."}, {"\xf4\x90\x80\x80", "????"}, {"\xf5.", "?."}, {"\xff\xfe", "??"},
		{"\xf0\x9f\x98.", "???."}, {"\x80", "?"},
	};
	static const char *const sound[] = {"", "caf\xc3\xa9", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
					    "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"};
	char text[32];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_false(kt_is_utf8(rows[i].text));
		snprintf(text, sizeof text, "%s", rows[i].text);
		kt_clean(text);
		assert_string_equal(text, rows[i].cleaned);
		assert_true(kt_is_utf8(text));
	}
	for (size_t i = 0; i < sizeof sound / sizeof *sound; i++) {
		assert_true(kt_is_utf8(sound[i]));
		snprintf(text, sizeof text, "%s", sound[i]);
		kt_clean(text);
		assert_string_equal(text, sound[i]);
	}
	assert_int_equal(kt_utf8("\xe2\x82\xac!"), 3);
	assert_int_equal(kt_utf8("\xe2\x82"), 0);
	assert_int_equal(kt_utf8(""), 0);
}

static void an_address_has_its_brackets(void **state)
{
	char text[KT_ADDRESS_MAX];

	(void)state;
	assert_string_equal(kt_address(text, sizeof text, "localhost", 9092), "localhost:9092");
	assert_string_equal(kt_address(text, sizeof text, "::1", 1), "[::1]:1");
}

static void every_code_has_its_text(void **state)
{
	(void)state;
	assert_string_equal(kt_strerror(KT_OK), "ok");
	assert_string_equal(kt_strerror(KT_ENOMEM), "out of memory");
	assert_string_equal(kt_strerror(KT_ESYS), "system call failed");
	assert_string_equal(kt_strerror(1), "unknown error");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_failure_wins),
		cmocka_unit_test(one_line_says_what_is_known),
		cmocka_unit_test(quoted_input_cannot_drive_a_terminal),
		cmocka_unit_test(names_of_files_cannot_drive_a_terminal),
		cmocka_unit_test(direction_cannot_be_changed),
		cmocka_unit_test(foreign_text_cannot_drive_a_terminal),
		cmocka_unit_test(a_cut_off_character_is_dropped),
		cmocka_unit_test(what_is_no_utf8_is_replaced),
		cmocka_unit_test(an_address_has_its_brackets),
		cmocka_unit_test(every_code_has_its_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
