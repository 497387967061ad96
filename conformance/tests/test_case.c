#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/case.h"

#define STEPS "\"steps\": [{\"probe\": {}}]"

static void check_fault(const char *text, int line, const char *path, const char *wanted)
{
	struct cf_case *cas = NULL;
	struct kt_err err = {0};

	assert_int_not_equal(cf_case_parse("x.json", text, &cas, &err), 0);
	assert_null(cas);
	assert_string_equal(err.file, "x.json");
	assert_string_equal(err.path, path);
	assert_string_equal(err.text, wanted);
	assert_int_equal(err.line, line);
}

static void faults_name_file_line_and_member(void **state)
{
	(void)state;
	check_fault("{\n \"id\": \"a.b\",\n \"titel\": \"t\", \"title\": \"t\", " STEPS "}", 3, "$.titel",
		    "unknown member \"titel\"; did you mean \"title\"?");
	check_fault("{\"id\": \"a.b\", \"title\": \"t\",\n" STEPS ",\n\"needs\": [\"observer\", \"validator\"]}", 3,
		    "$.needs[1]", "unknown capability \"validator\"; did you mean \"validators\"?");
	check_fault("{\"id\": \"a.b\", \"title\": \"t\",\n" STEPS ",\n\"needs\": [\"level:28\", \"level:0\"]}", 3,
		    "$.needs[1]", "unknown capability \"level:0\"");
	check_fault("{\"id\": \"a.b\", \"title\": \"t\",\n" STEPS ",\n\"needs\": [\"level:28-IV1\"]}", 3, "$.needs[0]",
		    "unknown capability \"level:28-IV1\"");
	check_fault("{\"id\": \"a.b\", \"title\": \"t\",\n" STEPS ",\n\"needs\": [\"level:+28\"]}", 3, "$.needs[0]",
		    "unknown capability \"level:+28\"");
	check_fault("{\"id\": \"A.b\", \"title\": \"t\", " STEPS "}", 1, "$.id",
		    "must be words of a-z, 0-9 and \"-\" with dots between, at most 100 characters");
	check_fault("{\"id\": \"a\", \"title\": \"t\", " STEPS "}", 1, "$.id",
		    "must be words of a-z, 0-9 and \"-\" with dots between, at most 100 characters");
	check_fault("{\"id\": \"a.b\", \"title\": \"t\", \"steps\": []}", 1, "$.steps", "a case has at least one step");
	check_fault("{\"id\": \"a.b\", \"title\": \"t\", \"versions\": {\"Prodce\": [9]}, " STEPS "}", 1,
		    "$.versions.Prodce", "unknown API \"Prodce\"");
	check_fault("{\"id\": \"a.b\", \"title\": \"t\", \"versions\": {\"Produce\": [9, 99]}, " STEPS "}", 1,
		    "$.versions.Produce[1]", "must be 0 to 13, not 99");
	check_fault("{\"id\": \"a.b\", \"title\": \"t\", \"levels\": [29, 23], " STEPS "}", 1, "$.levels[1]",
		    "must be 29 to 32767, not 23");
	check_fault("{\"id\": \"a.b\", \"title\": \"for $topic only\", " STEPS "}", 1, "$.title",
		    "inside a text a variable is written ${topic}");
}

static void check_step(const char *step, const char *path, const char *wanted)
{
	char text[1000];

	snprintf(text, sizeof text, "{\"id\": \"a.b\", \"title\": \"t\", \"steps\": [{\"probe\": {}},\n%s]}", step);
	check_fault(text, 2, path, wanted);
}

static void faults_of_steps(void **state)
{
	(void)state;
	check_step("{\"prodce\": {}}", "$.steps[1].prodce", "unknown verb \"prodce\"; did you mean \"produce\"?");
	check_step("{\"probe\": {}, \"level\": {\"to\": 3}}", "$.steps[1].level",
		   "a step has one verb, and \"probe\" is there already");
	check_step("{\"produce\": {\"topic\": \"$t\", \"batches\": []}}", "$.steps[1]", "\"produce\" needs \"expect\"");
	check_step("{\"produce\": {\"topic\": 7, \"batches\": []}, \"expect\": {}}", "$.steps[1].produce.topic",
		   "must be a string");
	check_step("{\"produce\": {\"batches\": []}, \"expect\": {}}", "$.steps[1].produce",
		   "missing member \"topic\"");
	check_step("{\"level\": {\"too\": 3}}", "$.steps[1].level",
		   "missing member \"to\"; did you mean it by \"too\"?");
	check_step("{\"probe\": {\"onn\": \"new\"}}", "$.steps[1].probe.onn",
		   "unknown member \"onn\"; did you mean \"on\"?");
	check_step("{\"probe\": {}, \"expect\": {\"eror\": \"NONE\"}}", "$.steps[1].expect.eror",
		   "unknown member \"eror\"; did you mean \"error\"?");
	check_step("{\"probe\": {}, \"expect\": {\"error\": \"INVALID_RECRD\"}}", "$.steps[1].expect.error",
		   "unknown error name \"INVALID_RECRD\"; did you mean \"INVALID_RECORD\"?");
	check_step("{\"probe\": {}, \"expect\": {\"grade\": \"strickt\"}}", "$.steps[1].expect.grade",
		   "unknown choice \"strickt\"; did you mean \"strict\"?");
	check_step("{\"probe\": {}, \"expect\": {\"body\": {\"a\": {\"$lenght\": 1}}}}", "$.steps[1].expect.body.a",
		   "unknown operator \"$lenght\"; did you mean \"$length\"?");
	check_step("{\"probe\": {}, \"expect\": [{\"error\": \"NONE\"}]}", "$.steps[1].expect[0]",
		   "one of several alternatives needs a name");
	check_step("{\"probe\": {}, \"within\": 0}", "$.steps[1].within", "must be 1 to 60000, not 0");
}

static void a_case_is_read(void **state)
{
	static const char text[] =
		"{\"id\": \"records.x\", \"title\": \"t\", \"versions\": {\"Produce\": [3, 9]},"
		" \"needs\": [\"api:Fetch@4\"], \"topics\": {\"topic\": {\"partitions\": 2}}, \"exclusive\": true,"
		" \"steps\": [{\"produce\": {\"topic\": \"$topic\", \"batches\": []}, \"capture\": {\"x\": "
		"\"baseOffset\"}, \"expect\": [{\"name\": \"a\", \"error\": [\"NONE\", \"INVALID_RECORD\"]},"
		"  {\"name\": \"b\", \"grade\": \"lenient\", \"connection\": \"closed\"}]}]}";
	struct cf_instance *v = NULL;
	struct cf_case *cas = NULL;
	struct kt_err err = {0};
	size_t n = 0;

	(void)state;
	assert_int_equal(cf_case_parse("x.json", text, &cas, &err), 0);
	assert_string_equal(cas->family, "records");
	assert_int_equal(cas->api, 0);
	assert_true(cas->exclusive);
	assert_int_equal(cas->steps.n, 1);
	assert_string_equal(cas->steps.v[0].verb->name, "produce");
	assert_string_equal(cas->steps.v[0].path, "$.steps[0]");
	assert_int_equal(cas->steps.v[0].nalternatives, 2);
	assert_int_equal(cas->steps.v[0].alternatives[0].answer, CF_ANSWER_SOME);
	assert_int_equal(cas->steps.v[0].alternatives[1].grade, CF_LENIENT);
	assert_int_equal(cas->steps.v[0].alternatives[1].answer, CF_ANSWER_NONE);
	assert_int_equal(cf_case_instances(cas, &v, &n), 0);
	assert_int_equal(n, 2);
	assert_string_equal(v[0].id, "records.x@v3");
	assert_int_equal(v[1].version, 9);
	free(v);
	cf_case_free(cas);
}

/* The first kind of error of a whole suite: two files with one id, a requirement that does not exist. */
static void write_file(const char *dir, const char *name, const char *text)
{
	char path[300];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

struct complaints {
	int n;
	char first[512];
};

static void complain(void *arg, const struct kt_err *err)
{
	struct complaints *complaints = arg;

	if (complaints->n++ == 0)
		snprintf(complaints->first, sizeof complaints->first, "%s", err->text);
}

static void a_suite_tells_every_fault(void **state)
{
	char dir[] = "/tmp/test_case.XXXXXX", command[100];
	struct complaints complaints = {0};
	struct cf_suite suite;
	struct kt_err err = {0};

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(command, sizeof command, "mkdir %s/cases %s/requirements", dir, dir);
	assert_int_equal(system(command), 0);
	write_file(dir, "requirements/a.json",
		   "{\"family\": \"a\", \"title\": \"A\", \"about\": \"\", \"requirements\": [{\"id\": \"a.one\","
		   " \"level\": \"must\", \"origin\": \"kit\", \"source\": \"s\", \"text\": \"t\"}]}");
	write_file(dir, "cases/1.json", "{\"id\": \"a.x\", \"title\": \"t\", \"requirements\": [\"a.on\"], " STEPS "}");
	write_file(dir, "cases/2.json",
		   "{\"id\": \"a.y\", \"title\": \"t\", \"requirements\": [\"a.one\"], " STEPS "}");
	write_file(dir, "cases/3.json",
		   "{\"id\": \"a.y\", \"title\": \"t\", \"requirements\": [\"a.one\"], " STEPS "}");
	assert_int_not_equal(cf_suite_load(&suite, dir, complain, &complaints, &err), 0);
	assert_int_equal(complaints.n, 2);
	assert_string_equal(complaints.first, "unknown requirement \"a.on\"; did you mean \"a.one\"?");
	assert_int_equal(suite.ncases, 1);
	cf_suite_fini(&suite);
	snprintf(command, sizeof command, "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(faults_name_file_line_and_member),
		cmocka_unit_test(faults_of_steps),
		cmocka_unit_test(a_case_is_read),
		cmocka_unit_test(a_suite_tells_every_fault),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
