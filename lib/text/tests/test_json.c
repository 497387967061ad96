#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/text/json.h"

static char line[1024];

static int parse(const char *text, struct kt_err *err)
{
	struct kt_json doc;
	int rc;

	*err = (struct kt_err){0};
	rc = kt_json_parse(&doc, "t.json", text, strlen(text), err);
	assert_int_equal(rc, err->code);
	assert_true((rc == 0) == (doc.root != NULL));
	kt_json_fini(&doc);
	kt_err_line(err, line, sizeof line);
	return rc;
}

static void takes_json_and_nothing_else(void **state)
{
	static const char *const bad[] = {
		"", "   ", "1", "\"a\"", "{", "{\"a\":1,}", "[1,]", "{a:1}", "{'a':1}", "{} {}",
		"[01]", "[+1]", "[.5]", "[NaN]", "[nul]", "// hm\n{}", "{} /* hm */", "\xef\xbb\xbf{}",
		"[\"\x01\"]", "[\"\xff\"]", "[\"\\x\"]", "[\"\\ud800\"]", "[\"\\u0000\"]",
	};
	struct kt_err err;

	(void)state;
	assert_int_equal(parse("{}", &err), 0);
	assert_int_equal(parse(" [1, 2.5e3, \"\\u00e4\\ud83d\\ude00\", null, true]\r\n", &err), 0);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(parse(bad[i], &err), KT_ESYNTAX);
}

static void syntax_errors_name_file_line_and_column(void **state)
{
	struct kt_err err;

	(void)state;
	parse("{\n\t\"a\": 1,\n\t\"a\": 2\n}", &err);
	assert_string_equal(line, "t.json:3: duplicate object key near '\"a\"' (column 4)");
	parse("{\n\n\"n\": 9223372036854775808}", &err);
	assert_string_equal(line, "t.json:3: too big integer near '9223372036854775808' (column 24)");
	parse("{\n\n\"n\": 1e999}", &err);
	assert_int_equal(err.line, 3);
	assert_non_null(strstr(line, "real number overflow"));
}

static void deep_nesting_is_an_error(void **state)
{
	static char deep[100000];
	struct kt_err err;

	(void)state;
	memset(deep, '[', sizeof deep - 1);
	assert_int_equal(parse(deep, &err), KT_ESYNTAX);
	assert_non_null(strstr(line, "depth"));
}

static void too_large_is_an_error(void **state)
{
	struct kt_err err = {0};
	struct kt_json doc;

	(void)state;
	assert_int_equal(kt_json_parse(&doc, "big", "", (64u << 20) + 1, &err), KT_ELIMIT);
	assert_string_equal(kt_err_line(&err, line, sizeof line), "big: larger than the limit of 67108864 bytes");
	kt_json_fini(&doc);
}

static void loads_files(void **state)
{
	char name[] = "/tmp/kassay-test-json-XXXXXX";
	struct kt_err err = {0};
	struct kt_json doc;
	int fd = mkstemp(name);

	(void)state;
	assert_true(fd >= 0);
	for (int i = 0; i < 20000; i++)
		assert_int_equal(write(fd, i ? ",1234567" : "[1234567", 8), 8);
	assert_int_equal(write(fd, "]", 1), 1);
	close(fd);
	assert_int_equal(kt_json_load(&doc, name, &err), 0);
	assert_int_equal(json_array_size(doc.root), 20000);
	kt_json_fini(&doc);
	unlink(name);
	assert_int_equal(kt_json_load(&doc, name, &err), KT_EFILE);
	assert_non_null(strstr(kt_err_line(&err, line, sizeof line), name));
	assert_non_null(strstr(line, "cannot be opened: No such file"));
	kt_json_fini(&doc);
	err = (struct kt_err){0};
	assert_int_equal(kt_json_load(&doc, "/tmp", &err), KT_EFILE);
	assert_string_equal(kt_err_line(&err, line, sizeof line), "/tmp: cannot be read: Is a directory");
	kt_json_fini(&doc);
}

static const char places[] =
	"\n"
	"{\n"
	"  \"nodes\": [ {\"id\": 1},\n"
	"    {\"id\":\n"
	"      2, \"x\\\"]}\": \"]}\\\\\" ,\n"
	"     \"disks\" : [[1,\n"
	"        2], {}]}\n"
	"  ], \"log.dirs\": \"a,b\",\n"
	"  \"caf\\u00e9\": {\n"
	"    \"\": null }\n"
	"}\n";

static void finds_the_line_of_a_path(void **state)
{
	static const struct { const char *path; int line; } rows[] = {
		{"$", 2}, {"$.nodes", 3}, {"$.nodes[0]", 3}, {"$.nodes[0].id", 3}, {"$.nodes[1]", 4},
		{"$.nodes[1].id", 4}, {"$.nodes[1][\"x\\\"]}\"]", 5}, {"$.nodes[1].disks[0][0]", 6},
		{"$.nodes[1].disks[0][1]", 7}, {"$.nodes[1].disks[1]", 7}, {"$[\"log.dirs\"]", 8},
		{"$[\"caf\xc3\xa9\"]", 9}, {"$[\"caf\\u00e9\"][\"\"]", 10},
		/* nothing there: the innermost part that exists */
		{"$.nodes[7]", 3}, {"$.nodes[1].rack", 4}, {"$.nodes.id", 3}, {"$[0]", 2}, {"$.zz", 2}, {"", 2},
		{"$.nodes[1].disks[1].a[3]", 7}, {"$[\"log.dirs\"].x", 8},
		/* cut off */
		{"$.nodes[1][\"x", 4}, {"$.nodes[1", 3}, {"$.nodes[", 3}, {"$[\"", 2}, {"$.nodes[1].", 4}, {"junk", 2},
	};
	struct kt_err err = {0};
	struct kt_json doc;

	(void)state;
	assert_int_equal(kt_json_parse(&doc, "p", places, sizeof places - 1, &err), 0);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_int_equal(kt_json_line(&doc, rows[i].path), rows[i].line);
	kt_json_fini(&doc);
	assert_int_equal(kt_json_line(&doc, "$.nodes"), 0);
}

static void fails_with_the_place(void **state)
{
	struct kt_err err = {0};
	struct kt_json doc;

	(void)state;
	kt_json_parse(&doc, "s.json", places, sizeof places - 1, &err);
	assert_int_equal(kt_json_fail(&doc, "$.nodes[1].id", &err, KT_ERANGE, "node %d is there already", 2),
			 KT_ERANGE);
	assert_string_equal(kt_err_line(&err, line, sizeof line), "s.json:4: $.nodes[1].id: node 2 is there already");
	kt_json_fail(&doc, "$", &err, KT_ENOMEM, "later");
	assert_string_equal(kt_err_line(&err, line, sizeof line), "s.json:4: $.nodes[1].id: node 2 is there already");
	kt_json_fini(&doc);
	err = (struct kt_err){0};
	kt_json_fail(NULL, "$.a", &err, KT_ETYPE, "no");
	assert_string_equal(kt_err_line(&err, line, sizeof line), "$.a: no");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_json_and_nothing_else),
		cmocka_unit_test(syntax_errors_name_file_line_and_column),
		cmocka_unit_test(deep_nesting_is_an_error),
		cmocka_unit_test(too_large_is_an_error),
		cmocka_unit_test(loads_files),
		cmocka_unit_test(finds_the_line_of_a_path),
		cmocka_unit_test(fails_with_the_place),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
