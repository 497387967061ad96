/* The cases that the kit ships, read from the source tree. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/incident.h"
#include "conformance/lint.h"
#include "conformance/runner.h"

#define DATA "conformance"

static struct cf_suite suite;

static void print_fault(void *arg, const struct kt_err *err)
{
	char line[1280];

	(void)arg;
	fprintf(stderr, "%s\n", kt_err_line(err, line, sizeof line));
}

static int load(void **state)
{
	struct kt_err err = {0};

	(void)state;
	return cf_suite_load(&suite, DATA, print_fault, NULL, &err);
}

static int unload(void **state)
{
	(void)state;
	cf_suite_fini(&suite);
	return 0;
}

static void print_finding(void *arg, const char *where, const char *text)
{
	(void)arg;
	fprintf(stderr, "%s: %s\n", where, text);
}

static void lint_finds_nothing(void **state)
{
	(void)state;
	assert_int_equal(cf_lint(&suite, print_finding, NULL), 0);
}

static void keep_finding(void *arg, const char *where, const char *text)
{
	(void)where;
	snprintf(arg, 200, "%s", text);
}

static struct cf_case *case_named(const char *id)
{
	for (size_t i = 0; i < suite.ncases; i++)
		if (strcmp(suite.cases[i]->id, id) == 0)
			return suite.cases[i];
	fail_msg("no case %s", id);
	return NULL;
}

/* A broker with log.cleaner.min.compaction.lag.ms is right, too. */
static void lint_finds_what_is_left_to_the_broker(void **state)
{
	json_t *topic = json_object_get(case_named("compaction.txn.aborted")->topics, "topic");
	json_t *configs = json_object_get(topic, "configs");
	json_t *lag = json_incref(json_object_get(configs, "min.compaction.lag.ms"));
	char text[200] = "";

	(void)state;
	json_object_del(configs, "min.compaction.lag.ms");
	assert_int_equal(cf_lint(&suite, keep_finding, text), 1);
	assert_string_equal(text, "topics.topic is compacted, and leaves min.compaction.lag.ms to the broker's "
			    "default");
	json_object_set_new(configs, "min.compaction.lag.ms", lag);
}

/* Renames a member. */
static void rename_member(json_t *object, const char *from, const char *to)
{
	json_object_set(object, to, json_object_get(object, from));
	json_object_del(object, from);
}

static void lint_finds_what_no_request_has(void **state)
{
	const struct cf_step *step = NULL;
	struct cf_case *cas = case_named("config.race");
	json_t *body, *resource;
	char text[200] = "";

	(void)state;
	for (size_t i = 0; i < cas->steps.n && !step; i++)
		step = strcmp(cas->steps.v[i].verb->name, "race") == 0 ? &cas->steps.v[i] : NULL;
	assert_non_null(step);
	body = json_object_get(json_array_get(json_object_get(step->args, "requests"), 0), "body");
	resource = json_array_get(json_object_get(body, "resources"), 0);
	rename_member(resource, "configs", "confgs");
	assert_int_equal(cf_lint(&suite, keep_finding, text), 1);
	assert_string_equal(text, "AlterConfigsResource has no such field; did you mean \"configs\"?");
	rename_member(resource, "confgs", "configs");
	rename_member(body, "validateOnly", "x");
	assert_int_equal(cf_lint(&suite, keep_finding, text), 1);
	assert_string_equal(text, "IncrementalAlterConfigsRequest has no such field");
	rename_member(body, "x", "validateOnly");
	assert_int_equal(cf_lint(&suite, keep_finding, text), 0);
}

static void lint_finds_a_heavier_requirement_behind(void **state)
{
	struct cf_case *cas = case_named("validators.transaction");
	const struct cf_requirement *first = cas->requirements[0];
	char text[200] = "";

	(void)state;
	assert_int_equal(cf_case_level(cas), CF_MUST);
	cas->requirements[0] = cas->requirements[1];
	cas->requirements[1] = first;
	assert_int_equal(cf_lint(&suite, keep_finding, text), 1);
	assert_string_equal(text, "the requirement that weighs most, validators.refuse (must), comes behind "
			    "validators.sequence (should)");
	assert_int_equal(cf_case_level(cas), CF_MUST);
	assert_ptr_equal(cf_case_heaviest(cas), first);
	cas->requirements[1] = cas->requirements[0];
	cas->requirements[0] = first;
}

/* A case that is none of the suite is weighed by what the register knows of it, and is a must where that is not all. */
static void foreign_cases_are_weighed(void **state)
{
	static const struct {
		const char *requirements;
		size_t known;
		int level, code;             /* code: were it one of the suite */
	} rows[] = {
		{"[\"frames.software-name\"]", 1, CF_SHOULD, 0},
		{"[\"records.to-be-named\"]", 0, CF_MUST, KT_EUNKNOWN},
		{"[]", 0, CF_MUST, KT_EUSAGE},
		{"[\"frames.software-name\", \"records.to-be-named\"]", 1, CF_MUST, KT_EUNKNOWN},
		{"[\"records.trailing\"]", 1, CF_OBSERVE, 0},
	};
	char file[] = "/tmp/test_suite.XXXXXX";
	int fd = mkstemp(file);

	(void)state;
	assert_true(fd >= 0);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct cf_case *cas = NULL;
		struct kt_err err = {0};
		FILE *f = fopen(file, "w");

		assert_non_null(f);
		fprintf(f, "{\"id\": \"a.b\", \"title\": \"t\", \"requirements\": %s, \"steps\": [{\"probe\": {}}]}",
			rows[i].requirements);
		fclose(f);
		assert_int_equal(cf_case_load_foreign(file, &suite.reg, &cas, &err), 0);
		assert_int_equal(cas->nrequirements, rows[i].known);
		assert_int_equal(cf_case_level(cas), rows[i].level);
		cf_case_free(cas);
		assert_int_equal(cf_case_load(file, &suite.reg, &cas, &err), rows[i].code);
		cf_case_free(cas);
	}
	close(fd);
	unlink(file);
}

static size_t count_family(const char *family)
{
	size_t n = 0;

	for (size_t i = 0; i < suite.ncases; i++)
		n += strcmp(suite.cases[i]->family, family) == 0;
	return n;
}

static void families_are_there(void **state)
{
	static const char *const names[] = {"sanity", "records", "configs", "features", "registration", "frames",
					    "validators", "mvconfig", "config", "observer"};

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		assert_non_null(cf_family_find(&suite.reg, names[i]));
		assert_true(count_family(names[i]) > 0);
	}
}

/* These bring a real controller down, or hang a real broker: see the safety notes in docs/conformance.md. */
static void nothing_harmful_is_sent_unasked(void **state)
{
	(void)state;
	for (size_t i = 0; i < suite.ncases; i++) {
		const char *text = suite.cases[i]->doc.text;

		if (suite.cases[i]->destructive)
			continue;
		assert_null(strstr(text, "\"records\": null"));
		assert_null(strstr(text, "\"port\": 0"));
		assert_null(strstr(text, "\"host\": \"\""));
		assert_null(strstr(text, "\"configOperation\": 9"));
	}
}

static void incidents_load(void **state)
{
	struct cf_incident incident;
	struct kt_err err = {0};

	(void)state;
	if (cf_incident_load(&incident, "fixtures/incidents/S03.json", &err))
		fail_msg("%s: %s", err.path, err.text);
	assert_string_equal(incident.id, "S03");
	assert_int_equal(incident.cas->steps.n, 4);
	assert_string_equal(incident.cas->steps.v[2].verb->name, "frame");
	assert_true(incident.nnotes > 0);
	cf_incident_fini(&incident);
}

/* ---- selection ---- */

static size_t chosen(const char *only, const char *skip, json_t *rerun, struct cf_items *items, struct kt_err *err)
{
	struct kt_list only_list = {0}, skip_list = {0};
	struct cf_selection selection = {.only = &only_list, .skip = &skip_list, .rerun = rerun};
	struct cf_profile profile = {0};
	int rc;

	if (only)
		kt_list_add(&only_list, only);
	if (skip)
		kt_list_add(&skip_list, skip);
	rc = cf_select(&suite, &profile, &selection, items, err);
	kt_list_fini(&only_list);
	kt_list_fini(&skip_list);
	return rc ? 0 : items->n;
}

static void cases_are_selected(void **state)
{
	struct cf_items items;
	struct kt_err err = {0};
	size_t n, disabled = 0;

	(void)state;
	/* The sanity case is first and last, whatever is selected. */
	assert_int_equal(chosen("records.crc.mismatch@v9", NULL, NULL, &items, &err), 3);
	assert_string_equal(items.v[0].instance.id, "sanity.target");
	assert_string_equal(items.v[1].instance.id, "records.crc.mismatch@v9");
	assert_string_equal(items.v[2].instance.id, "sanity.target@end");
	free(items.v);
	assert_true(chosen("records.crc.mismatch", NULL, NULL, &items, &err) > 3);
	free(items.v);
	n = chosen(NULL, "records.*", NULL, &items, &err);
	assert_int_equal(n, suite.ninstances + 1);
	for (size_t i = 0; i < n; i++)
		disabled += items.v[i].disabled;
	assert_true(disabled > 0);
	free(items.v);
}

static void nothing_selected_is_an_error(void **state)
{
	struct cf_items items;
	struct kt_err err = {0};

	(void)state;
	assert_int_equal(chosen("records.crc.mismach", NULL, NULL, &items, &err), 0);
	assert_int_equal(err.code, KT_EUSAGE);
	assert_string_equal(err.text,
			    "--only \"records.crc.mismach\" fits no case; did you mean \"records.crc.mismatch\"?");
	free(items.v);
}

static void a_glob_that_fits_nothing_is_an_error(void **state)
{
	static const struct {
		const char *glob, *hint;
	} rows[] = {
		{"registraton.*", "; did you mean \"registration.*\"?"},
		{"records.codek.*", "; did you mean \"records.codec.*\"?"},
		{"records.crc", "; did you mean \"records.crc.*\"?"},
		{"records.crc.mismach@v9", "; did you mean \"records.crc.mismatch@v9\"?"},
		{"*.registraton", "; `conformance list` shows all"},
		{"", "; `conformance list` shows all"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct cf_items items;
		struct kt_err err = {0};
		char text[200];

		assert_int_equal(chosen(NULL, rows[i].glob, NULL, &items, &err), 0);
		assert_int_equal(err.code, KT_EUSAGE);
		snprintf(text, sizeof text, "--skip \"%s\" fits no case%s", rows[i].glob, rows[i].hint);
		assert_string_equal(err.text, text);
		free(items.v);
	}
}

static void what_failed_runs_again(void **state)
{
	json_t *result = json_pack("{s:[{s:s, s:s}, {s:s, s:s}]}", "cases", "id", "records.crc.mismatch@v9", "verdict",
				   "fail", "id", "records.crc.mismatch@v8", "verdict", "pass");
	struct cf_items items;
	struct kt_err err = {0};

	(void)state;
	assert_int_equal(chosen(NULL, NULL, result, &items, &err), 3);
	assert_string_equal(items.v[1].instance.id, "records.crc.mismatch@v9");
	free(items.v);
	json_decref(result);
}

/* The sanity case is judged at either end, and stands for what every run judges. */
static void what_harmed_its_target_runs_again(void **state)
{
	static const char *const rows[][2] = {{"sanity.target@end", "sanity"}, {"profile.observer", "profile"}};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		json_t *result = json_pack("{s:[{s:s, s:s, s:s}]}", "cases", "id", rows[i][0], "family", rows[i][1],
					   "verdict", "fail");
		struct cf_items items;
		struct kt_err err = {0};

		assert_int_equal(chosen(NULL, NULL, result, &items, &err), 2);
		assert_string_equal(items.v[0].instance.id, "sanity.target");
		assert_string_equal(items.v[1].instance.id, "sanity.target@end");
		free(items.v);
		json_decref(result);
	}
}

static void what_was_not_run_runs_now(void **state)
{
	json_t *result = json_pack("{s:[{s:s, s:s}, {s:s, s:s}], s:b, s:[s, s, i]}", "cases", "id",
				   "records.crc.mismatch@v9", "verdict", "fail", "id", "records.crc.mismatch@v8",
				   "verdict", "pass", "interrupted", 1, "notRun", "records.crc.mismatch@v7",
				   "sanity.target@end", 7);
	struct cf_items items;
	struct kt_err err = {0};

	(void)state;
	assert_int_equal(chosen(NULL, NULL, result, &items, &err), 4);
	assert_string_equal(items.v[1].instance.id, "records.crc.mismatch@v7");
	assert_string_equal(items.v[2].instance.id, "records.crc.mismatch@v9");
	free(items.v);
	json_object_set_new(result, "cases", json_array());
	assert_true(cf_result_again(result));
	json_object_set_new(result, "notRun", json_pack("[s]", "sanity.target@end"));
	assert_int_equal(chosen(NULL, NULL, result, &items, &err), 2);
	free(items.v);
	json_array_clear(json_object_get(result, "notRun"));
	assert_false(cf_result_again(result));
	json_decref(result);
}

static void a_glob_that_is_no_text_is_an_error(void **state)
{
	struct cf_items items;
	struct kt_err err = {0};

	(void)state;
	assert_int_equal(chosen(NULL, "records.crc.[!\xff]*", NULL, &items, &err), 0);
	assert_int_equal(err.code, KT_EUSAGE);
	assert_string_equal(err.text, "--skip \"records.crc.[!?]*\" is not UTF-8");
	free(items.v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lint_finds_nothing),
		cmocka_unit_test(lint_finds_what_is_left_to_the_broker),
		cmocka_unit_test(lint_finds_what_no_request_has),
		cmocka_unit_test(lint_finds_a_heavier_requirement_behind),
		cmocka_unit_test(foreign_cases_are_weighed),
		cmocka_unit_test(families_are_there),
		cmocka_unit_test(nothing_harmful_is_sent_unasked),
		cmocka_unit_test(incidents_load),
		cmocka_unit_test(cases_are_selected),
		cmocka_unit_test(nothing_selected_is_an_error),
		cmocka_unit_test(a_glob_that_fits_nothing_is_an_error),
		cmocka_unit_test(what_failed_runs_again),
		cmocka_unit_test(what_harmed_its_target_runs_again),
		cmocka_unit_test(what_was_not_run_runs_now),
		cmocka_unit_test(a_glob_that_is_no_text_is_an_error),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
