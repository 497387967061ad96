#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/text/json.h"

static struct kt_json doc;
static struct kt_err err;
static struct kt_obj obj;
static char line[1024];

/* Opens the top of a document. */
static void open_text(const char *text)
{
	kt_json_fini(&doc);
	err = (struct kt_err){0};
	assert_int_equal(kt_json_parse(&doc, "t.json", text, strlen(text), &err), 0);
	kt_obj_root(&obj, &doc, &err);
}

static int close_text(void **state)
{
	(void)state;
	kt_json_fini(&doc);
	return 0;
}

#define assert_says(text) assert_string_equal(kt_err_line(&err, line, sizeof line), text)

static void reads_every_type(void **state)
{
	static const char *const colours[] = {"red", "green", NULL};
	bool b = false;
	int i = 0, e = 0;
	int64_t l = 0;
	double r = 0, w = 0;
	const char *s = NULL;
	struct kt_obj sub;
	struct kt_arr arr;
	json_t *any;

	(void)state;
	open_text("{\"b\": true, \"i\": -3, \"l\": 9223372036854775807, \"r\": 2.5, \"w\": 4, \"s\": \"\\u00e4\","
		  " \"e\": \"green\", \"o\": {}, \"a\": [1, 2], \"n\": null}");
	kt_obj_need(&obj, "b", "n", NULL);
	assert_true(kt_obj_bool(&obj, "b", &b));
	assert_true(kt_obj_int(&obj, "i", -3, 3, &i));
	assert_true(kt_obj_int64(&obj, "l", INT64_MIN, INT64_MAX, &l));
	assert_true(kt_obj_real(&obj, "r", 0, INFINITY, &r));
	assert_true(kt_obj_real(&obj, "w", 0, 4, &w));
	assert_true(kt_obj_str(&obj, "s", &s));
	assert_true(kt_obj_enum(&obj, "e", colours, &e));
	assert_true(kt_obj_object(&obj, "o", &sub));
	assert_int_equal(kt_obj_done(&sub), 0);
	assert_true(kt_obj_array(&obj, "a", &arr));
	assert_int_equal(arr.n, 2);
	any = kt_obj_any(&obj, "n");
	assert_true(json_is_null(any));
	assert_int_equal(kt_obj_done(&obj), 0);
	assert_true(b);
	assert_int_equal(i, -3);
	assert_true(l == INT64_MAX);
	assert_true(r == 2.5 && w == 4);
	assert_string_equal(s, "\xc3\xa4");
	assert_int_equal(e, 1);
}

static void absent_members_leave_the_default(void **state)
{
	struct kt_obj sub, deeper;
	struct kt_arr arr;
	const char *s = "default";
	int i = 7;

	(void)state;
	open_text("{}");
	assert_false(kt_obj_int(&obj, "i", 0, 9, &i));
	assert_false(kt_obj_str(&obj, "s", &s));
	assert_null(kt_obj_any(&obj, "any"));
	assert_false(kt_obj_array(&obj, "a", &arr));
	assert_false(kt_arr_str(&arr, &s));
	assert_false(kt_obj_object(&obj, "o", &sub));
	assert_false(kt_obj_int(&sub, "i", 0, 9, &i));
	assert_false(kt_obj_object(&sub, "p", &deeper));
	kt_obj_need(&sub, "i", NULL);
	assert_int_equal(kt_obj_done(&sub), 0);
	assert_int_equal(kt_obj_done(&obj), 0);
	assert_int_equal(i, 7);
	assert_string_equal(s, "default");
}

static void unknown_members_are_named_with_what_was_meant(void **state)
{
	const char *s;
	int i;

	(void)state;
	open_text("{\n\"id\": 1,\n\"rak\": \"a\"}");
	kt_obj_int(&obj, "id", 1, 9, &i);
	kt_obj_str(&obj, "rack", &s);
	assert_int_equal(kt_obj_done(&obj), KT_EUNKNOWN);
	assert_says("t.json:3: $.rak: unknown member \"rak\"; did you mean \"rack\"?");
	open_text("{\n\"log.dirs\": 1}");
	kt_obj_int(&obj, "id", 1, 9, &i);
	kt_obj_done(&obj);
	assert_says("t.json:2: $[\"log.dirs\"]: unknown member \"log.dirs\"");
}

static void needed_members_must_be_there(void **state)
{
	const char *s;
	int i;

	(void)state;
	open_text("\n{\"host\": \"a\"}");
	kt_obj_need(&obj, "host", "id", NULL);
	assert_false(kt_obj_str(&obj, "host", &s));
	assert_int_equal(kt_obj_done(&obj), KT_EUNKNOWN);
	assert_says("t.json:2: $: missing member \"id\"");
	open_text("{\"host\": \"a\", \"idd\": 3}");
	kt_obj_str(&obj, "host", &s);
	kt_obj_need(&obj, "id", NULL);
	kt_obj_int(&obj, "id", 0, 9, &i);
	assert_says("t.json:1: $: missing member \"id\"; did you mean it by \"idd\"?");
}

static void the_first_failure_wins_and_stops_the_reading(void **state)
{
	const char *s = "default";
	struct kt_obj sub;
	struct kt_arr arr;
	int i = 5;

	(void)state;
	open_text("{\"i\": \"x\", \"s\": \"set\", \"a\": [1], \"o\": {}, \"zz\": 1}");
	assert_false(kt_obj_int(&obj, "i", 0, 9, &i));
	assert_false(kt_obj_str(&obj, "s", &s));
	assert_false(kt_obj_array(&obj, "a", &arr));
	assert_false(kt_arr_int(&arr, 0, 9, &i));
	assert_false(kt_obj_object(&obj, "o", &sub));
	assert_false(kt_obj_each(&obj, &s));
	assert_int_equal(kt_obj_done(&sub), KT_ETYPE);
	assert_int_equal(kt_obj_done(&obj), KT_ETYPE);
	assert_says("t.json:1: $.i: must be a whole number, not a string");
	assert_int_equal(i, 5);
	assert_string_equal(s, "default");
}

static void says_which_type_is_wrong(void **state)
{
	struct kt_obj sub;
	struct kt_arr arr;
	const char *s;
	double r;
	bool b;
	int i;

	(void)state;
	open_text("{\"v\": 1.0}");
	assert_false(kt_obj_int(&obj, "v", 0, 9, &i));
	assert_says("t.json:1: $.v: must be a whole number, not a number with fraction or exponent");
	open_text("{\"v\": null}");
	assert_false(kt_obj_str(&obj, "v", &s));
	assert_says("t.json:1: $.v: must be a string, not null");
	open_text("{\"v\": 1}");
	assert_false(kt_obj_bool(&obj, "v", &b));
	assert_says("t.json:1: $.v: must be true or false, not a whole number");
	open_text("{\"v\": []}");
	assert_false(kt_obj_object(&obj, "v", &sub));
	assert_int_equal(kt_obj_done(&sub), KT_ETYPE);
	assert_says("t.json:1: $.v: must be an object, not an array");
	open_text("{\"v\": {}}");
	assert_false(kt_obj_array(&obj, "v", &arr));
	assert_says("t.json:1: $.v: must be an array, not an object");
	open_text("{\"v\": true}");
	assert_false(kt_obj_real(&obj, "v", 0, 1, &r));
	assert_says("t.json:1: $.v: must be a number, not true");
	open_text("[]");
	assert_int_equal(kt_obj_done(&obj), KT_ETYPE);
	assert_says("t.json:1: $: must be an object, not an array");
}

static void says_which_range_is_left(void **state)
{
	int64_t l;
	double r;
	int i = 1;

	(void)state;
	open_text("{\"port\": 70000, \"n\": 3000000000, \"r\": -0.5}");
	assert_false(kt_obj_int(&obj, "port", 0, 65535, &i));
	assert_says("t.json:1: $.port: must be 0 to 65535, not 70000");
	err = (struct kt_err){0};
	assert_false(kt_obj_int(&obj, "n", INT_MIN, INT_MAX, &i));
	assert_says("t.json:1: $.n: must be at most 2147483647, not 3000000000");
	err = (struct kt_err){0};
	assert_false(kt_obj_int64(&obj, "n", INT64_MIN, -1, &l));
	assert_says("t.json:1: $.n: must be at most -1, not 3000000000");
	err = (struct kt_err){0};
	assert_false(kt_obj_real(&obj, "r", 0, INFINITY, &r));
	assert_says("t.json:1: $.r: must be at least 0, not -0.5");
	assert_int_equal(err.code, KT_ERANGE);
	assert_int_equal(i, 1);
}

static void choices_are_listed_or_guessed(void **state)
{
	static const char *const colours[] = {"red", "green", "blue", NULL};
	int e = 9;

	(void)state;
	open_text("{\"v\": \"gren\", \"w\": \"octarine\"}");
	assert_false(kt_obj_enum(&obj, "v", colours, &e));
	assert_says("t.json:1: $.v: unknown choice \"gren\"; did you mean \"green\"?");
	err = (struct kt_err){0};
	assert_false(kt_obj_enum(&obj, "w", colours, &e));
	assert_says("t.json:1: $.w: unknown choice \"octarine\"; there is red, green, blue");
	assert_int_equal(e, 9);
}

static void walks_arrays(void **state)
{
	struct kt_arr nodes, disks, row;
	struct kt_obj node;
	const char *disk, *seen[3];
	int n = 0, id, ids = 0;

	(void)state;
	open_text("{\"nodes\": [\n{\"id\": 1, \"disks\": [\"a\", \"b\"]},\n{\"id\": 2, \"disks\": [\"c\"]},\n"
		  "{\"idx\": 3}], \"grid\": [[5], 6]}");
	kt_obj_array(&obj, "nodes", &nodes);
	while (kt_arr_object(&nodes, &node)) {
		if (kt_obj_int(&node, "id", 1, 9, &id))
			ids += id;
		kt_obj_array(&node, "disks", &disks);
		while (kt_arr_str(&disks, &disk))
			seen[n++] = disk;
		kt_obj_done(&node);
	}
	assert_int_equal(ids, 3);
	assert_int_equal(n, 3);
	assert_string_equal(seen[2], "c");
	assert_says("t.json:4: $.nodes[2].idx: unknown member \"idx\"; did you mean \"id\"?");
	err = (struct kt_err){0};
	kt_obj_array(&obj, "grid", &nodes);
	assert_true(kt_arr_array(&nodes, &row));
	assert_true(kt_arr_int(&row, 0, 9, &id));
	assert_int_equal(id, 5);
	assert_int_equal(kt_arr_fail(&row, KT_ERANGE, "five is right out"), KT_ERANGE);
	assert_says("t.json:4: $.grid[0][0]: five is right out");
	err = (struct kt_err){0};
	assert_int_equal(json_integer_value(kt_arr_any(&nodes)), 6);
	assert_null(kt_arr_any(&nodes));
	nodes.next = 1;
	assert_false(kt_arr_str(&nodes, &disk));
	assert_says("t.json:4: $.grid[1]: must be a string, not a whole number");
}

static void walks_objects_whose_names_are_data(void **state)
{
	const char *name, *value = NULL;
	char got[64] = "";

	(void)state;
	open_text("{\"z.a\": \"1\", \"b\": \"2\",\n\"c d\": 3}");
	while (kt_obj_each(&obj, &name)) {
		if (kt_obj_str(&obj, name, &value))
			snprintf(got + strlen(got), sizeof got - strlen(got), "%s=%s;", name, value);
	}
	assert_string_equal(got, "z.a=1;b=2;");
	assert_int_equal(kt_obj_done(&obj), KT_ETYPE);
	assert_says("t.json:2: $[\"c d\"]: must be a string, not a whole number");
	open_text("{}");
	assert_false(kt_obj_each(&obj, &name));
	assert_int_equal(kt_obj_done(&obj), 0);
}

static void other_readers_errors_get_their_place(void **state)
{
	(void)state;
	open_text("{\"body\":\n{\"topicData\": [\n{\"name\": 5}]}}");
	kt_obj_any(&obj, "body");
	kt_fail(&err, KT_ETYPE, "not a string");
	snprintf(err.path, sizeof err.path, "%s", "topicData[0].name");
	assert_int_equal(kt_obj_place(&obj, "body"), KT_ETYPE);
	assert_says("t.json:3: $.body.topicData[0].name: not a string");
	assert_int_equal(kt_obj_place(&obj, "body"), KT_ETYPE);
	assert_says("t.json:3: $.body.topicData[0].name: not a string");
	err = (struct kt_err){0};
	assert_int_equal(kt_obj_place(&obj, "body"), 0);
	kt_fail(&err, KT_ETYPE, "hm");
	snprintf(err.path, sizeof err.path, "%s", "[4]");
	kt_obj_place(&obj, "body");
	assert_says("t.json:1: $.body[4]: hm");
}

static void own_checks_fail_at_their_member(void **state)
{
	(void)state;
	open_text("{\n\"id\": 3}");
	assert_int_equal(kt_obj_fail(&obj, "id", KT_ERANGE, "node %d is there already", 3), KT_ERANGE);
	assert_says("t.json:2: $.id: node 3 is there already");
	err = (struct kt_err){0};
	kt_obj_fail(&obj, NULL, KT_EUSAGE, "empty");
	assert_says("t.json:1: $: empty");
}

static void values_without_a_document_have_no_line(void **state)
{
	json_t *json = json_pack("{s:i}", "a", 1);

	(void)state;
	err = (struct kt_err){0};
	kt_obj_open(&obj, NULL, json, "rules[0]", &err);
	assert_int_equal(kt_obj_done(&obj), KT_EUNKNOWN);
	assert_says("rules[0].a: unknown member \"a\"");
	json_decref(json);
}

static void endless_names_are_cut_off(void **state)
{
	char text[4096];

	(void)state;
	snprintf(text, sizeof text, "%s", "{\"");
	memset(text + 2, 'n', 3000);
	memcpy(text + 3002, "\":\n1}", 6);
	open_text(text);
	assert_int_equal(kt_obj_done(&obj), KT_EUNKNOWN);
	assert_int_equal(strlen(err.path), sizeof err.path - 1);
	assert_int_equal(strlen(err.text), sizeof err.text - 1);
	assert_int_equal(err.line, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_every_type),
		cmocka_unit_test(absent_members_leave_the_default),
		cmocka_unit_test(unknown_members_are_named_with_what_was_meant),
		cmocka_unit_test(needed_members_must_be_there),
		cmocka_unit_test(the_first_failure_wins_and_stops_the_reading),
		cmocka_unit_test(says_which_type_is_wrong),
		cmocka_unit_test(says_which_range_is_left),
		cmocka_unit_test(choices_are_listed_or_guessed),
		cmocka_unit_test(walks_arrays),
		cmocka_unit_test(walks_objects_whose_names_are_data),
		cmocka_unit_test(other_readers_errors_get_their_place),
		cmocka_unit_test(own_checks_fail_at_their_member),
		cmocka_unit_test(values_without_a_document_have_no_line),
		cmocka_unit_test(endless_names_are_cut_off),
	};
	return cmocka_run_group_tests(tests, NULL, close_text);
}
