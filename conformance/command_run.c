/* run: the suite against a target. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "conformance/command.h"
#include "conformance/evidence.h"
#include "conformance/hints.h"
#include "conformance/report/report.h"
#include "conformance/runner.h"
#include "conformance/seed.h"
#include "conformance/setup.h"
#include "lib/text/file.h"

#define PROGRAM "conformance run"

enum { KEPT_BYTES = 2048, JOBS_MAX = 64 };

static struct {
	const char *bootstrap, *profile, *name, *data, *out, *rerun;
	struct kt_list only, skip, formats;
	bool strict, destructive;
	int jobs;
	int64_t seed;
} given = {.jobs = 4, .seed = -1};

static int add_format(void *arg, const char *value, struct kt_err *err)
{
	if (!cf_format_find(value))
		return kt_fail(err, KT_EUNKNOWN, "must be tap, junit, json or html, not \"%s\"", value);
	return kt_list_add(arg, value) ? kt_fail(err, KT_ENOMEM, "out of memory") : 0;
}

static const struct kt_opt options[] = {
	KT_GROUP("Target"),
	KT_STR('b', "bootstrap-server", "HOST:PORT", &given.bootstrap, "a broker of the cluster under test"),
	KT_STR(0, "profile", "FILE", &given.profile,
	       "what is known of the target: address, claims, names, expected failures"),
	KT_STR(0, "name", "TEXT", &given.name, "what reports call the target (its address)"),
	KT_GROUP("Cases"),
	KT_LIST(0, "only", "GLOB", &given.only, "cases whose id fits (records.codec.*, *@v9); may be given again"),
	KT_LIST(0, "skip", "GLOB", &given.skip, "cases to leave out; they are counted as disabled"),
	KT_STR(0, "rerun", "result.json", &given.rerun,
	       "only what was not as expected in that result, or not run when it was interrupted"),
	KT_FLAG(0, "destructive", &given.destructive,
		"run also the cases that leave the target changed or can topple it (else they are counted as "
		"disabled)"),
	KT_FLAG(0, "strict", &given.strict, "fail also what is merely allowed, and what should but need not be so"),
	KT_INT('j', "jobs", "N", &given.jobs, 1, JOBS_MAX,
	       "cases at a time (4); those that change the cluster run alone"),
	KT_INT64(0, "seed", "N", &given.seed, 0, INT64_MAX, "for what is made up, such as uuids (random)"),
	CF_DATA_OPTION(&given.data),
	KT_GROUP("Output"),
	KT_CALL(0, "format", "NAME", add_format, &given.formats,
		"tap, junit, json or html: to standard output in place of lines for people, or with --out, where it "
		"may be given again, into the directory"),
	KT_STR(0, "out", "DIR", &given.out, "result.json, report.html and a folder for each failure"),
	KT_END
};

static const struct kt_cli cli = {
	.program = PROGRAM,
	.about = "Finds out what the broker can do, runs every case that this allows, and says of each whether the "
		 "broker answered as it must. Topics are made under names of their own and deleted again.",
	.options = options,
	.examples =
		"  conformance run --bootstrap-server localhost:9092\n"
		"  conformance run --bootstrap-server localhost:9092 --only 'configs.*' --strict\n"
		"  conformance run --bootstrap-server localhost:9092 --out out/kafka --format tap --format junit\n"
		"  conformance run --bootstrap-server localhost:9092 --rerun out/kafka/result.json",
	.exits = {
		[KT_EXIT_OK] = "every case as expected",
		[KT_EXIT_VERDICT] = "a case failed, or passed against expectation",
		[KT_EXIT_USAGE] = "wrong usage, or a file is not right; a glob fits no case",
		[KT_EXIT_ENGINE] = "the target cannot be reached, a case is not right, or the program itself failed",
		[KT_EXIT_INCOMPLETE] = "a case was inconclusive, none could be judged, or it was interrupted",
	},
};

/* ---- while it runs ---- */

static volatile sig_atomic_t interrupted;

/* The cases that are running end and clean up; a second signal ends the program at once. */
static void on_signal(int number)
{
	(void)number;
	interrupted = 1;
}

static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

struct session {
	struct cf_setup setup;
	struct cf_items items;
	json_t *result;
	char seed[24];
	struct kt_list repeat;           /* the options, but for the address and the cases */
	char profile[PATH_MAX], data[PATH_MAX];   /* words of it */
	bool lines, color, progress;     /* on standard output; on a terminal's standard error */
	bool nothing;                    /* to run again */
	bool lost;                       /* no memory for a row or the result */
	struct kt_err err;               /* first failure of writing evidence */
};

static const struct cf_case *case_of(const struct session *session, json_t *row)
{
	for (size_t i = 0; i < session->items.n; i++)
		if (strcmp(session->items.v[i].instance.id, cf_text(row, "id")) == 0)
			return session->items.v[i].instance.cas;
	return NULL;
}

static bool worth_a_folder(enum cf_verdict verdict)
{
	return verdict == CF_FAIL || verdict == CF_INCONCLUSIVE || verdict == CF_ERROR;
}

static void on_row(void *arg, json_t *row, size_t done, size_t of)
{
	struct session *session = arg;

	if (session->progress)
		fputs("\r\033[K", stderr);
	if (session->lines)
		cf_text_row(stdout, row, session->color);
	if (given.out && worth_a_folder(cf_row_verdict(row)))
		cf_evidence_write(given.out, row, case_of(session, row), &session->repeat,
				  cf_text(json_object_get(session->result, "target"), "bootstrap"), &session->err);
	cf_row_trim(row, KEPT_BYTES);
	if (session->progress && done < of)
		fprintf(stderr, "%zu of %zu", done, of);
}

static json_t *claim_row(const struct session *session, enum cf_capability capability, bool claimed)
{
	const struct cf_ability *ability = &session->setup.target.can[capability];
	bool borne_out = ability->present == claimed;

	return json_pack("{s:s++, s:s, s:s, s:s, s:s, s:s, s:o, s:i, s:[]}", "id", CF_CLAIMS, ".",
			 cf_capability_name(capability), "family", CF_CLAIMS, "title",
			 cf_capability_meaning(capability), "verdict", borne_out ? "pass" : "fail", "reason",
			 borne_out ? "" : ability->evidence, "alternative", "", "file",
			 cf_clean_json(session->setup.profile.doc.name), "ms", 0, "steps");
}

/* A claim of the profile that the target does not bear out is a verdict of its own. */
static void add_claims(const struct session *session, json_t *rows)
{
	for (int i = 0; i < CF_NCAPABILITIES; i++) {
		int claim = session->setup.profile.claims[i];
		json_t *row;

		if (claim == CF_CLAIMS_NOTHING)
			continue;
		row = claim_row(session, (enum cf_capability)i, claim == CF_CLAIMS_PRESENT);
		if (session->lines)
			cf_text_row(stdout, row, session->color);
		json_array_append_new(rows, row);
	}
}

static json_t *words_json(const struct kt_list *list)
{
	json_t *out = json_array();

	for (size_t i = 0; i < list->n; i++)
		json_array_append_new(out, cf_clean_json(list->v[i]));
	return out;
}

/* The ids of what was selected and not begun. */
static json_t *not_run_json(const struct session *session, size_t done)
{
	json_t *out = json_array();

	for (size_t i = done; i < session->items.n; i++)
		json_array_append_new(out, json_string(session->items.v[i].instance.id));
	return out;
}

static bool is_unwell(json_t *row)
{
	enum cf_verdict verdict = cf_row_verdict(row);

	return strcmp(cf_text(row, "family"), "sanity") == 0 && verdict > CF_PASS_LENIENT && verdict != CF_DISABLED;
}

/* What the sanity case, which ran first and last, says of the whole run. */
static const char *sanity_note(json_t *rows)
{
	bool first = true, last = true;
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) {
		if (!is_unwell(row))
			continue;
		if (strstr(cf_text(row, "id"), CF_AT_END))
			last = false;
		else
			first = false;
	}
	if (!first)
		return "The target cannot do the simplest things: other verdicts of this run say little.";
	return last ? "" : "The target was well at the start and is not at the end: this run harmed it.";
}

/* Wherever it is run: with whole paths. */
static int add_path(struct kt_list *words, const char *option, const char *path, char whole[PATH_MAX])
{
	if (!realpath(path, whole))
		cf_path(whole, PATH_MAX, "%s", path);
	return kt_list_add(words, option) || kt_list_add(words, whole);
}

/* What the environment said of the data is no longer there when it is run again. */
static int make_repeat(struct session *session)
{
	struct kt_list *words = &session->repeat;
	const char *env = getenv("KASSAY_DATA");
	int failed = 0;

	if (given.destructive)
		failed |= kt_list_add(words, "--destructive");
	if (given.strict)
		failed |= kt_list_add(words, "--strict");
	if (given.profile)
		failed |= add_path(words, "--profile", given.profile, session->profile);
	if (given.data || (env && *env))
		failed |= add_path(words, "--data", session->setup.suite.data.dir, session->data);
	for (size_t i = 0; i < given.skip.n; i++)
		failed |= kt_list_add(words, "--skip") || kt_list_add(words, given.skip.v[i]);
	return failed || kt_list_add(words, "--seed") || kt_list_add(words, session->seed);
}

static bool describe_run(struct session *session)
{
	time_t now = time(NULL);
	char started[32];
	struct tm tm;

	if (given.name)
		session->setup.profile.name = given.name;
	strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	if (make_repeat(session) == 0)
		session->result = json_pack("{s:o, s:o, s:s, s:s, s:b, s:o, s:o}", "target",
					    cf_target_json(&session->setup.target), "repeat",
					    words_json(&session->repeat), "started", started, "seed", session->seed,
					    "strict", given.strict, "only", words_json(&given.only), "skip",
					    words_json(&given.skip));
	return session->result != NULL;
}

static void run_cases(struct session *session)
{
	struct cf_runner runner = {
		.suite = &session->setup.suite, .target = &session->setup.target, .items = session->items,
		.jobs = given.jobs, .seed = (uint64_t)given.seed, .strict = given.strict, .stop = &interrupted,
		.on_row = on_row, .arg = session,
	};
	int64_t start = kc_now_ms();
	json_t *rows;
	size_t done;

	session->lost = !describe_run(session);
	if (session->lost)
		return;
	catch_signals();
	rows = cf_runner_run(&runner);
	done = json_array_size(rows);
	session->lost = !interrupted && done < session->items.n;
	add_claims(session, rows);
	json_object_set_new(session->result, "note",
			    interrupted ? json_sprintf("The run was interrupted: %zu of %zu cases were run.", done,
						       session->items.n)
					: json_string(sanity_note(rows)));
	json_object_set_new(session->result, "interrupted", json_boolean(interrupted));
	json_object_set_new(session->result, "notRun", not_run_json(session, done));
	json_object_set_new(session->result, "cases", rows);
	json_object_set_new(session->result, "ms", json_integer(kc_now_ms() - start));
	cf_result_finish(session->result, &session->setup.suite.reg);
}

/* ---- afterwards ---- */

static int write_file(const struct session *session, const struct cf_format *format, struct kt_err *err)
{
	char path[PATH_MAX];
	bool ok;
	FILE *f;

	cf_path(path, sizeof path, "%s/%s", given.out, format->file);
	errno = 0;
	f = fopen(path, "w");
	ok = f && format->write(f, session->result);
	if (f && fclose(f))
		ok = false;
	return ok ? 0 : kt_fail(err, KT_EFILE, "%s cannot be written: %s", path, errno ? strerror(errno) : "not UTF-8");
}

static int write_out(struct session *session)
{
	struct kt_err err = session->err;

	if (err.code == KT_OK)
		write_file(session, cf_format_find("json"), &err);
	if (err.code == KT_OK)
		write_file(session, cf_format_find("html"), &err);
	for (size_t i = 0; i < given.formats.n && err.code == KT_OK; i++)
		write_file(session, cf_format_find(given.formats.v[i]), &err);
	if (err.code == KT_OK)
		return 0;
	kt_complain(PROGRAM, &err);
	return KT_EXIT_ENGINE;
}

/* The reason of a case that is unsupported for want of a capability begins with its name. */
static void print_hint(const struct session *session)
{
	bool missed[CF_NCAPABILITIES] = {false};
	char hint[400];
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(session->result, "cases"), i, row) {
		char name[64];
		enum cf_capability capability;

		snprintf(name, sizeof name, "%.*s", (int)strcspn(cf_text(row, "reason"), ":"), cf_text(row, "reason"));
		capability = cf_capability_find(name);
		if (cf_row_verdict(row) == CF_UNSUPPORTED && capability < CF_NCAPABILITIES)
			missed[capability] = true;
	}
	cf_target_hint(&session->setup.target, missed, hint, sizeof hint);
	if (*hint)
		printf("%s\n", hint);
}

/* What is not whole is no result, whatever it says. */
static int complain_of_loss(void)
{
	struct kt_err err = {0};

	kt_fail(&err, KT_ENOMEM, "out of memory: the results are lost, or some of them");
	kt_complain(PROGRAM, &err);
	return KT_EXIT_ENGINE;
}

static int tell(struct session *session)
{
	json_t *status = json_object_get(session->result, "exit");

	if (!session->result)
		return complain_of_loss();
	if (session->lines)
		cf_text_summary(stdout, session->result, session->color);
	else
		cf_format_find(given.formats.v[0])->write(stdout, session->result);
	if (session->lines) {
		cf_hints_print(stdout, json_object_get(session->result, "cases"), session->setup.suite.data.dir);
		print_hint(session);
	}
	if (given.out && write_out(session))
		return KT_EXIT_ENGINE;
	if (given.out && session->lines) {
		printf("report: ");
		kt_put_clean(stdout, given.out);
		printf("/report.html\n");
	}
	return session->lost || !json_is_integer(status) ? complain_of_loss() : (int)json_integer_value(status);
}

static void print_nothing(void)
{
	printf("every case of ");
	kt_put_clean(stdout, given.rerun);
	printf(" was run and was as expected: there is nothing to run again\n");
}

static int prepare(struct session *session)
{
	struct cf_selection selection = {.only = &given.only, .skip = &given.skip, .destructive = given.destructive};
	struct kt_err err = {0};
	int status = cf_setup_load(&session->setup, given.data, given.profile, PROGRAM);

	if (status)
		return status;
	if (!given.out && given.formats.n > 1)
		kt_fail(&err, KT_EUSAGE, "several formats need --out DIR");
	if (given.name && !kt_is_utf8(given.name))
		kt_fail(&err, KT_EUSAGE, "--name: is not UTF-8");
	if (given.rerun && err.code == KT_OK)
		selection.rerun = cf_result_load(given.rerun, &err);
	if (selection.rerun && !cf_result_again(selection.rerun)) {
		print_nothing();
		session->nothing = true;
		json_decref(selection.rerun);
		return KT_EXIT_OK;
	}
	if (err.code == KT_OK)
		cf_select(&session->setup.suite, &session->setup.profile, &selection, &session->items, &err);
	if (err.code == KT_OK && given.out)
		kt_file_make_dir(given.out, &err);
	json_decref(selection.rerun);
	if (err.code) {
		kt_complain(PROGRAM, &err);
		return KT_EXIT_USAGE;
	}
	return cf_setup_target(&session->setup, given.bootstrap, PROGRAM);
}

int cf_command_run(int argc, char **argv)
{
	struct session session = {0};
	int status;

	if (!kt_cli_begin(&cli, &argc, argv, &status))
		return status;
	if (given.seed < 0)
		given.seed = cf_random_seed();
	snprintf(session.seed, sizeof session.seed, "%lld", (long long)given.seed);
	session.lines = given.out || given.formats.n == 0;
	session.color = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
	session.progress = isatty(STDERR_FILENO) != 0;
	status = prepare(&session);
	if (status == 0 && !session.nothing) {
		run_cases(&session);
		status = tell(&session);
	}
	json_decref(session.result);
	free(session.items.v);
	cf_setup_fini(&session.setup);
	kt_list_fini(&session.repeat);
	kt_list_fini(&given.only);
	kt_list_fini(&given.skip);
	kt_list_fini(&given.formats);
	return status;
}
