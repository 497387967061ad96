#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/report/report.h"

static json_t *row(const char *id, const char *verdict, const char *reason)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:[s], s:[{s:s, s:s, s:s, s:s, s:i}]}",
			 "id", id, "case", id, "family", "records", "title", "A <b>bold</b> & \"quoted\" title", "file",
			 "cases/records/x.json", "level", "must", "verdict", verdict, "reason", reason, "alternative",
			 "", "ms", 12, "requirements", "records.crc", "steps", "verb", "produce", "verdict", verdict,
			 "reason", reason, "connection", "kept", "ms", 12);
}

static json_t *make_result(void)
{
	return json_pack("{s:i, s:{s:s, s:s, s:s, s:i}, s:s, s:i, s:s, s:[{s:s, s:s, s:s}], s:{s:{s:s, s:s, s:s, "
			 "s:s}}, s:[o, o, o, o, o]}",
			 "format", 1, "target", "name", "my broker", "bootstrap", "h:1", "clusterId", "c",
			 "metadataVersion", 33, "started", "2026-01-01T00:00:00Z", "ms", 1234, "seed", "7", "families",
			 "family", "records", "title", "Records", "about", "About", "requirements", "records.crc",
			 "level", "must", "origin", "kafka", "source", "Kafka", "text", "The </script> text", "cases",
			 row("records.a", "pass", ""), row("records.b", "fail", "errorCode: got #2"),
			 row("records.c", "unsupported", "no such thing"), row("records.d", "xfail", "known (issue 7)"),
			 row("records.e", "pass-lenient", "other \\ way"));
}

static char *render(cf_write_fn *write, json_t *result)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	assert_non_null(f);
	assert_true(write(f, result));
	fclose(f);
	return text;
}

static void tap(void **state)
{
	json_t *result = make_result();
	char *text = render(cf_write_tap, result);

	(void)state;
	assert_string_equal(text,
		"TAP version 14\n"
		"1..5\n"
		"# target my broker\n"
		"ok 1 - records.a\n"
		"not ok 2 - records.b\n"
		"  ---\n"
		"  verdict: \"fail\"\n"
		"  message: \"errorCode: got #2\"\n"
		"  level: \"must\"\n"
		"  title: \"A <b>bold</b> & \\\"quoted\\\" title\"\n"
		"  file: \"cases/records/x.json\"\n"
		"  ...\n"
		"ok 3 - records.c # SKIP no such thing\n"
		"not ok 4 - records.d # TODO known (issue 7)\n"
		"ok 5 - records.e\n"
		"  ---\n"
		"  verdict: \"pass-lenient\"\n"
		"  message: \"other \\\\ way\"\n"
		"  level: \"must\"\n"
		"  title: \"A <b>bold</b> & \\\"quoted\\\" title\"\n"
		"  file: \"cases/records/x.json\"\n"
		"  ...\n");
	free(text);
	json_decref(result);
}

#define COUNTS " tests=\"5\" failures=\"1\" errors=\"0\" skipped=\"2\" time=\"0.060\""

static void junit(void **state)
{
	json_t *result = make_result();
	char *text = render(cf_write_junit, result);

	(void)state;
	assert_string_equal(text,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuites name=\"conformance\"" COUNTS ">\n"
		"  <testsuite name=\"records\"" COUNTS ">\n"
		"    <testcase classname=\"records\" name=\"records.a\" time=\"0.012\"/>\n"
		"    <testcase classname=\"records\" name=\"records.b\" time=\"0.012\">\n"
		"      <failure message=\"errorCode: got #2\">"
		"A &lt;b&gt;bold&lt;/b&gt; &amp; &quot;quoted&quot; title</failure>\n"
		"    </testcase>\n"
		"    <testcase classname=\"records\" name=\"records.c\" time=\"0.012\">\n"
		"      <skipped message=\"no such thing\"/>\n"
		"    </testcase>\n"
		"    <testcase classname=\"records\" name=\"records.d\" time=\"0.012\">\n"
		"      <skipped message=\"known (issue 7)\"/>\n"
		"    </testcase>\n"
		"    <testcase classname=\"records\" name=\"records.e\" time=\"0.012\"/>\n"
		"  </testsuite>\n"
		"</testsuites>\n");
	free(text);
	json_decref(result);
}

/* ---- HTML: every element that is opened is closed, in order ---- */

enum { DEPTH_MAX = 64 };

static bool is_void(const char *name)
{
	static const char *const names[] = {"meta", "link", "input", "br"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static void check_nesting(const char *html)
{
	char stack[DEPTH_MAX][24];
	size_t depth = 0;

	for (const char *at = strchr(html, '<'); at; at = strchr(at, '<')) {
		char name[24];
		size_t n;

		if (at[1] == '!') {
			at++;
			continue;
		}
		n = strcspn(at + 1 + (at[1] == '/'), " >");
		assert_true(n > 0 && n < sizeof name);
		memcpy(name, at + 1 + (at[1] == '/'), n);
		name[n] = '\0';
		if (at[1] == '/') {
			assert_true(depth > 0);
			assert_string_equal(stack[--depth], name);
		} else if (!is_void(name)) {
			assert_true(depth < DEPTH_MAX);
			memcpy(stack[depth++], name, n + 1);
		}
		at = strchr(at, '>');
		assert_non_null(at);
		/* What is inside a script is not markup. */
		if (strcmp(name, "script") == 0 && depth > 0 && strcmp(stack[depth - 1], "script") == 0)
			at = strstr(at, "</script>");
	}
	assert_int_equal(depth, 0);
}

static void html(void **state)
{
	json_t *result = make_result(), *results[2] = {result, result};
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	(void)state;
	assert_true(cf_write_html_matrix(f, results, 2));
	fclose(f);
	check_nesting(text);
	assert_null(strstr(text, "http://"));
	assert_null(strstr(text, "https://"));
	/* What a target or a case says is text, in markup and in the script's data. */
	assert_null(strstr(text, "<b>bold"));
	assert_non_null(strstr(text, "A &lt;b&gt;bold&lt;/b&gt; &amp;"));
	assert_null(strstr(text, "The </script>"));
	assert_non_null(strstr(text, "The \\u003c/script> text"));
	assert_non_null(strstr(text, "data-r=\"1\" data-c=\"4\""));
	free(text);
	json_decref(result);
}

static void text_for_people(void **state)
{
	json_t *result = make_result();
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	(void)state;
	cf_text_row(f, json_array_get(json_object_get(result, "cases"), 1), false);
	cf_text_summary(f, result, false);
	fclose(f);
	assert_string_equal(text,
		"fail          records.b  errorCode: got #2\n"
		"\n"
		"5 cases on my broker: 1 pass, 1 pass-lenient, 1 fail, 1 xfail, 1 unsupported\n"
		"cluster c, metadata.version 33, 1.2 s, seed 7\n"
		"unsupported, 1 case: no such thing\n"
		"\n"
		"not as expected:\n"
		"fail          records.b  errorCode: got #2\n");
	free(text);
	json_decref(result);
}

static void results_are_read_back(void **state)
{
	char file[] = "/tmp/test_report.XXXXXX";
	json_t *result = make_result(), *again;
	struct kt_err err = {0};
	int fd = mkstemp(file), counts[CF_NVERDICTS];

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(kt_json_write(file, result, JSON_INDENT(1), &err), 0);
	again = cf_result_load(file, &err);
	assert_non_null(again);
	assert_true(json_equal(result, again));
	cf_result_count(again, counts);
	assert_int_equal(counts[CF_FAIL], 1);
	json_decref(again);
	json_object_set_new(json_array_get(json_object_get(result, "cases"), 0), "verdict", json_string("good"));
	assert_int_equal(kt_json_write(file, result, JSON_INDENT(1), &err), 0);
	assert_null(cf_result_load(file, &err));
	assert_string_equal(err.path, "$.cases[0].verdict");
	assert_string_equal(err.text, "unknown verdict \"good\"");
	remove(file);
	json_decref(result);
}

static void long_bytes_are_cut(void **state)
{
	json_t *big = json_pack("{s:[{s:[s]}]}", "steps", "requestHex", "00112233445566778899");
	const char *cut;

	(void)state;
	cf_row_trim(big, 4);
	cut = json_string_value(
		json_array_get(json_object_get(json_array_get(json_object_get(big, "steps"), 0), "requestHex"), 0));
	assert_string_equal(cut, "00112233... 10 bytes in all");
	json_decref(big);
}

/* ---- what strangers wrote ---- */

#define EVIL "<i>&\"\n\033[2J\x7f\xc2\x9b\xe2\x80\xae\xef\xbf\xbf#\\"

/* A result with that text wherever there can be one; what is checked when it is read stays. */
static json_t *make_evil(void)
{
	static const char *const of_row[] = {"id", "case", "family", "title", "file", "level", "reason", "alternative",
					     "leftBehind", "note"};
	static const char *const of_step[] = {"verb", "path", "reason", "alternative", "connection", "unreadable"};
	json_t *row = json_pack("{s:s, s:i, s:[s], s:[{s:s, s:i}]}", "verdict", "fail", "ms", 1, "requirements", EVIL,
				"steps", "verdict", "fail", "ms", 1), *skipped;
	json_t *step = json_array_get(json_object_get(row, "steps"), 0);

	for (size_t i = 0; i < sizeof of_row / sizeof *of_row; i++)
		json_object_set_new(row, of_row[i], json_string(EVIL));
	for (size_t i = 0; i < sizeof of_step / sizeof *of_step; i++)
		json_object_set_new(step, of_step[i], json_string(EVIL));
	skipped = json_deep_copy(row);
	json_object_set_new(skipped, "verdict", json_string("unsupported"));
	json_object_set_new(skipped, "id", json_string(EVIL "2"));
	return json_pack("{s:i, s:{s:s, s:s, s:s, s:s, s:i, s:[{s:s, s:s, s:b}], s:{s:[i,i]}}, s:s, s:i, s:s, s:s, "
			 "s:s, s:[s], s:[{s:s, s:s, s:s}], s:{s:{s:s, s:s, s:s, s:s}}, s:[o, o]}",
			 "format", 1, "target", "name", EVIL, "bootstrap", EVIL, "clusterId", EVIL, "note", EVIL,
			 "metadataVersion", 1, "capabilities", "name", EVIL, "evidence", EVIL, "present", 1, "apis",
			 EVIL, 0, 1, "started", EVIL, "ms", 1, "seed", EVIL, "note", EVIL, "kassay", EVIL, "repeat",
			 EVIL, "families", "family", EVIL, "title", EVIL, "about", EVIL, "requirements", EVIL, "level",
			 EVIL, "origin", EVIL, "source", EVIL, "text", EVIL, "cases", row, skipped);
}

/* Nothing that moves a cursor, or turns the direction of text. */
static void check_clean(const char *text)
{
	unsigned character;

	for (const char *s = text; *s; s += kt_utf8(s)) {
		assert_int_not_equal(kt_utf8(s), 0);
		if (*s != '\n' && *s != '\t')
			assert_int_equal(kt_control(s, &character), 0);
	}
}

static size_t count_of(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

static void strangers_are_not_trusted(void **state)
{
	json_t *result = make_evil(), *again;
	char *text = NULL;
	size_t n = 0;
	FILE *f;

	(void)state;
	assert_non_null(result);
	for (const struct cf_format *format = cf_formats; format->name; format++) {
		text = render(format->write, result);
		if (strcmp(format->name, "html") == 0) {
			char *script = strstr(text, "<script");

			check_nesting(text);
			assert_null(strstr(script, "<i>"));
			assert_non_null(strstr(text, "&lt;i&gt;&amp;&quot;\n?[2J????#\\"));
			*script = '\0';   /* JSON for the page's own, which makes text of it */
		}
		check_clean(text);
		if (strcmp(format->name, "json") != 0)
			assert_null(strstr(text, strcmp(format->name, "tap") == 0 ? "\n\033" : "<i>"));
		free(text);
	}
	/* A line is a line. */
	text = render(cf_write_tap, result);
	assert_int_equal(count_of(text, "\n"), 3 + 2 + 7);
	assert_non_null(strstr(text, "not ok 1 - <i>&\"??[2J??\?\xef\xbf\xbf\\#\\\\\n"));
	free(text);
	text = render(cf_write_json, result);
	again = json_loads(text, 0, NULL);
	assert_true(json_equal(result, again));
	json_decref(again);
	free(text);

	f = open_memstream(&text, &n);
	cf_text_row(f, json_array_get(json_object_get(result, "cases"), 0), false);
	assert_int_equal(fflush(f), 0);
	assert_int_equal(count_of(text, "\n"), 1);
	cf_text_summary(f, result, false);
	fclose(f);
	check_clean(text);
	free(text);
	json_decref(result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tap),
		cmocka_unit_test(junit),
		cmocka_unit_test(html),
		cmocka_unit_test(text_for_people),
		cmocka_unit_test(results_are_read_back),
		cmocka_unit_test(long_bytes_are_cut),
		cmocka_unit_test(strangers_are_not_trusted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
