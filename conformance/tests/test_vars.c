#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/vars.h"

static json_t *vars;

static int make_vars(void **state)
{
	(void)state;
	vars = json_pack("{s:s, s:I, s:[i,i], s:s}", "topic", "t-1", "pid", (json_int_t)42, "list", 1, 2,
			 "mv.topic-config", "kit.x");
	return vars ? 0 : -1;
}

static int drop_vars(void **state)
{
	(void)state;
	json_decref(vars);
	return 0;
}

static void check(const char *text, const char *wanted)
{
	json_t *json = json_loads(text, JSON_DECODE_ANY, NULL), *out;
	struct kt_err err = {0};
	char *dump;

	assert_non_null(json);
	out = cf_expand(json, vars, &err);
	if (!out)
		fail_msg("%s: %s %s", text, err.path, err.text);
	dump = json_dumps(out, JSON_ENCODE_ANY | JSON_COMPACT);
	assert_string_equal(dump, wanted);
	free(dump);
	json_decref(out);
	json_decref(json);
}

static void values_keep_their_type(void **state)
{
	(void)state;
	check("\"$pid\"", "42");
	check("[\"$topic\",\"$list\"]", "[\"t-1\",[1,2]]");
	check("{\"a\":{\"b\":\"$pid\"}}", "{\"a\":{\"b\":42}}");
	check("\"$mv.topic-config\"", "\"kit.x\"");
	check("[1,null,true,1.5]", "[1,null,true,1.5]");
}

static void texts_take_text(void **state)
{
	(void)state;
	check("\"${topic}-0\"", "\"t-1-0\"");
	check("\"a${pid}b${topic}c\"", "\"a42bt-1c\"");
	check("\"${list}\"", "\"[1,2]\"");
	check("{\"${mv.topic-config}\":1}", "{\"kit.x\":1}");
	check("{\"$any\":true}", "{\"$any\":true}");
}

static void dollars_stand_for_themselves(void **state)
{
	(void)state;
	check("\"$$x\"", "\"$x\"");
	check("\"^a(b|c)$\"", "\"^a(b|c)$\"");
	check("\"cost $5\"", "\"cost $5\"");
	check("\"\"", "\"\"");
}

static void check_fault(const char *text, int code, const char *path, const char *wanted)
{
	json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);
	struct kt_err err = {0};

	assert_null(cf_expand(json, vars, &err));
	assert_int_equal(err.code, code);
	assert_string_equal(err.path, path);
	assert_string_equal(err.text, wanted);
	json_decref(json);
}

static void faults_say_where(void **state)
{
	(void)state;
	check_fault("{\"a\":[\"x\",\"$topc\"]}", KT_EUNKNOWN, "a[1]",
		    "variable $topc is not set; did you mean $topic?");
	check_fault("\"$zzzzzzzz\"", KT_EUNKNOWN, "", "variable $zzzzzzzz is not set");
	check_fault("{\"a\":\"topic:$topic\"}", KT_ESYNTAX, "a", "inside a text a variable is written ${topic}");
	check_fault("\"x${topic\"", KT_ESYNTAX, "", "\"${\" needs a name and \"}\"");
}

static int note(void *arg, const char *name)
{
	char *list = arg;

	strncat(list, name, 200 - strlen(list) - 1);
	strncat(list, " ", 200 - strlen(list) - 1);
	return 0;
}

static void variables_are_listed(void **state)
{
	json_t *json = json_loads("{\"a\":\"$x\",\"${k}\":[\"${y}-$$z\"],\"$any\":true}", 0, NULL);
	char list[200] = "";

	(void)state;
	assert_int_equal(cf_each_variable(json, note, list), 0);
	assert_string_equal(list, "x k y ");
	json_decref(json);
}

static void paths_lead_to_values(void **state)
{
	json_t *json = json_loads("{\"topics\":[{\"name\":\"a.b\",\"p\":[{\"i\":3,\"e\":7}]},"
				  "{\"name\":\"c\",\"p\":[]}]}", 0, NULL);

	(void)state;
	assert_int_equal(json_integer_value(cf_at(json, "topics[0].p[0].e")), 7);
	assert_int_equal(json_integer_value(cf_at(json, "topics[name=a.b].p[i=3].e")), 7);
	assert_ptr_equal(cf_at(json, ""), json);
	assert_null(cf_at(json, "topics[name=x]"));
	assert_null(cf_at(json, "topics[2]"));
	assert_null(cf_at(json, "topics[0"));
	assert_null(cf_at(json, "no.such"));
	json_decref(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_keep_their_type),
		cmocka_unit_test(texts_take_text),
		cmocka_unit_test(dollars_stand_for_themselves),
		cmocka_unit_test(faults_say_where),
		cmocka_unit_test(variables_are_listed),
		cmocka_unit_test(paths_lead_to_values),
	};

	return cmocka_run_group_tests(tests, make_vars, drop_vars);
}
