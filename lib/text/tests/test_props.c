#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/text/props.h"

static struct kt_props props;
static struct kt_err err;
static char said[1024];

static int parse_bytes(const char *text, size_t n)
{
	kt_props_fini(&props);
	err = (struct kt_err){0};
	return kt_props_parse(&props, "t.properties", text, n, &err);
}

/* All properties as "line:name=value;". */
static const char *all_of(const char *text)
{
	size_t at = 0;

	said[0] = '\0';
	assert_int_equal(parse_bytes(text, strlen(text)), 0);
	for (size_t i = 0; i < props.n; i++)
		at += (size_t)snprintf(said + at, sizeof said - at, "%d:%s=%s;", props.v[i].line, props.v[i].name,
				       props.v[i].value);
	return said;
}

static void parts_names_from_values(void **state)
{
	(void)state;
	assert_string_equal(all_of("a=1\nb:2\nc 3\nd\t=\t4\n  e  :  5\nf\ng=\nh = = 8\ni:=9\n"),
			    "1:a=1;2:b=2;3:c=3;4:d=4;5:e=5;6:f=;7:g=;8:h== 8;9:i==9;");
	assert_string_equal(all_of("=x\n"), "1:=x;");
	assert_string_equal(all_of("a = keeps blanks  \n"), "1:a=keeps blanks  ;");
	assert_string_equal(all_of("last=line"), "1:last=line;");
	assert_string_equal(all_of(""), "");
}

static void skips_blank_lines_and_comments(void **state)
{
	(void)state;
	assert_string_equal(all_of("# a=1\n! b=2\n\n  \t# c=3\\\nd=4\n \n"), "5:d=4;");
	assert_string_equal(all_of("a=#no comment\n#"), "1:a=#no comment;");
	assert_string_equal(all_of("a=1\rb=2\r\n\r\nc=3"), "1:a=1;2:b=2;4:c=3;");
}

static void joins_continued_lines(void **state)
{
	(void)state;
	assert_string_equal(all_of("a=1,\\\n   2,\\\r\n\t3\nb=4"), "1:a=1,2,3;4:b=4;");
	assert_string_equal(all_of("a=1\\\\\nb=2"), "1:a=1\\;2:b=2;");
	assert_string_equal(all_of("na\\\n  me=1"), "1:name=1;");
	assert_string_equal(all_of("a=1\\\n#not a comment\n"), "1:a=1#not a comment;");
	assert_string_equal(all_of("a=1\\\n\nb=2"), "1:a=1;3:b=2;");
	assert_string_equal(all_of("\\\n# a comment\nb=2"), "3:b=2;");
	assert_string_equal(all_of("a=1\\"), "1:a=1;");
}

static void knows_the_escapes(void **state)
{
	(void)state;
	assert_string_equal(all_of("a=\\t\\n\\r\\f\\\\\\q\\=\n"), "1:a=\t\n\r\f\\q=;");
	assert_string_equal(all_of("a\\=b\\:c\\ d = 1"), "1:a=b:c d=1;");
	assert_string_equal(all_of("a=\\u00e4\\u20AC\\ud83d\\ude00"), "1:a=\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80;");
	assert_string_equal(all_of("a=\\ud83dx\\ude00\\ud83d\\u0041"),
			    "1:a=\xef\xbf\xbdx\xef\xbf\xbd\xef\xbf\xbd" "A;");
	assert_string_equal(all_of("a=\\ x"), "1:a= x;");
}

static void bytes_are_latin_1(void **state)
{
	(void)state;
	assert_string_equal(all_of("a=\xe4\xff"), "1:a=\xc3\xa4\xc3\xbf;");
}

static void the_last_of_a_name_wins(void **state)
{
	const struct kt_prop *prop;

	(void)state;
	assert_string_equal(all_of("a=1\nb=2\na=3\n\na=4\nc=5"), "2:b=2;5:a=4;6:c=5;");
	prop = kt_props_find(&props, "a");
	assert_int_equal(prop->earlier, 3);
	assert_int_equal(kt_props_find(&props, "b")->earlier, 0);
	assert_null(kt_props_find(&props, "d"));
}

static void says_where_a_line_is_malformed(void **state)
{
	char line[1024];

	(void)state;
	assert_int_equal(parse_bytes("a=1\nb=\\\n \\u12g4", 16), KT_ESYNTAX);
	assert_string_equal(kt_err_line(&err, line, sizeof line), "t.properties:2: malformed \\u escape");
	assert_int_equal(parse_bytes("a=\\u12", 6), KT_ESYNTAX);
	assert_int_equal(parse_bytes("a=\\u0000", 8), KT_ESYNTAX);
	assert_int_equal(parse_bytes("\n\na=\0", 5), KT_ESYNTAX);
	assert_string_equal(kt_err_line(&err, line, sizeof line), "t.properties:3: a NUL character");
}

static void many_properties_are_cheap(void **state)
{
	size_t n = 0, size = 2u << 20;
	char *text = malloc(size);

	(void)state;
	for (int i = 0; n + 32 < size; i++)
		n += (size_t)snprintf(text + n, size - n, "n%d=\xe4\n", i % 100000);
	assert_int_equal(parse_bytes(text, n), 0);
	assert_int_equal(props.n, 100000);
	assert_int_equal(props.v[99999].line - props.v[0].line, 99999);
	free(text);
}

static void loads_files(void **state)
{
	char name[] = "/tmp/kassay-test-props-XXXXXX";
	int fd = mkstemp(name);

	(void)state;
	kt_props_fini(&props);
	err = (struct kt_err){0};
	assert_int_equal(write(fd, "node.id=7\n", 10), 10);
	close(fd);
	assert_int_equal(kt_props_load(&props, name, &err), 0);
	assert_string_equal(kt_props_find(&props, "node.id")->value, "7");
	kt_props_fini(&props);
	unlink(name);
	assert_int_equal(kt_props_load(&props, name, &err), KT_EFILE);
	assert_string_equal(err.file, name);
	assert_int_equal(parse_bytes("", (16u << 20) + 1), KT_ELIMIT);
}

static int forget(void **state)
{
	(void)state;
	kt_props_fini(&props);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_names_from_values),
		cmocka_unit_test(skips_blank_lines_and_comments),
		cmocka_unit_test(joins_continued_lines),
		cmocka_unit_test(knows_the_escapes),
		cmocka_unit_test(bytes_are_latin_1),
		cmocka_unit_test(the_last_of_a_name_wins),
		cmocka_unit_test(says_where_a_line_is_malformed),
		cmocka_unit_test(many_properties_are_cheap),
		cmocka_unit_test(loads_files),
	};
	return cmocka_run_group_tests(tests, NULL, forget);
}
