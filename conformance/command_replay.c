/* replay: an incident, the folder of a failure, a case or a capture, once more. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conformance/command.h"
#include "conformance/incident.h"
#include "conformance/inspect/input.h"
#include "conformance/replay_pcap.h"
#include "conformance/report/report.h"
#include "conformance/run.h"
#include "conformance/runner.h"
#include "conformance/setup.h"
#include "lib/text/base64.h"

#define PROGRAM "conformance replay"

static struct {
	const char *bootstrap, *profile, *data;
	int64_t seed;
	int port, timeout_ms;
	bool destructive, strict;
} given = {.seed = 1, .timeout_ms = 30000};

static const struct kt_opt options[] = {
	KT_STR('b', "bootstrap-server", "HOST:PORT", &given.bootstrap, "a broker of the cluster"),
	KT_STR(0, "profile", "FILE", &given.profile, "what is known of the target"),
	KT_INT64(0, "seed", "N", &given.seed, 0, INT64_MAX, "for what is made up (1)"),
	KT_INT(0, "port", "N", &given.port, 1, 65535,
	       "of a capture: the recorded broker's; unless given, it is found by content"),
	KT_INT(0, "timeout-ms", "N", &given.timeout_ms, 1, 3600000,
	       "of a capture: how long an answer is waited for (30000)"),
	KT_FLAG(0, "destructive", &given.destructive,
		"run a case also if it leaves the target changed or can topple it (else it is disabled)"),
	KT_FLAG(0, "strict", &given.strict, "fail also what is merely allowed, and what should but need not be so"),
	CF_DATA_OPTION(&given.data),
	KT_END
};

static const struct kt_cli cli = {
	.program = PROGRAM, .args = "INCIDENT | FAILURE | CASE | CAPTURE", .min_args = 1, .max_args = 1,
	.options = options,
	.about = "Sends the bytes of an incident, under the name of a topic made for it, and then the same bytes "
		 "mended; says what the broker made of them. INCIDENT is a file, or the name of one that comes with "
		 "the kit (S03). FAILURE is a folder that `conformance run --out` left: its case runs again. "
		 "CASE is the file of a case, as of `conformance diff --out`; its requirements need not be registered, "
		 "and count as a must then. Both are judged as `conformance run` judges them. "
		 "CAPTURE is a pcap or pcapng file, as of `fakebroker --record`: "
		 "its requests are sent as they are, in their order, on a "
		 "connection for each recorded one, and their answers compared with the recorded ones.",
	.examples = "  conformance replay S03 --bootstrap-server localhost:9092\n"
		    "  conformance replay out/failures/records.crc.mismatch@v9 --bootstrap-server localhost:9092\n"
		    "  conformance replay out/diff/diff-1-96.json --bootstrap-server localhost:9192\n"
		    "  conformance replay session.pcap --bootstrap-server localhost:9092",
	.exits = {
		[KT_EXIT_OK] = "as expected",
		[KT_EXIT_VERDICT] = "not as expected",
		[KT_EXIT_USAGE] = "wrong usage or file",
		[KT_EXIT_ENGINE] = "the target cannot be reached, or answers nothing of a capture",
		[KT_EXIT_INCOMPLETE] = "inconclusive, unsupported or disabled; a capture is not whole, or not all of "
				       "it could be sent",
	},
};

/* Returns 0 or the exit code. */
static int reach_target(struct cf_setup *setup)
{
	int status = cf_setup_target(setup, given.bootstrap, PROGRAM);

	if (status == 0 && setup->target.note[0])
		fprintf(stderr, "%s: %s\n", PROGRAM, setup->target.note);
	return status;
}

/* A row without a verdict is one that there was no memory for. */
static void count_verdict(json_t *row, int counts[CF_NVERDICTS])
{
	enum cf_verdict verdict = row ? cf_row_verdict(row) : CF_NVERDICTS;

	counts[verdict < CF_NVERDICTS ? verdict : CF_ERROR]++;
}

static int status_of(json_t *row)
{
	int counts[CF_NVERDICTS] = {0};

	count_verdict(row, counts);
	return cf_exit_code(counts);
}

/* ---- incidents ---- */

static void print_bytes(const char *hex, int at, int size)
{
	size_t n = strlen(hex);
	uint8_t *p = malloc(n / 2 + 1);
	long bytes = p ? kt_hex_decode(hex, n, p) : -1;

	for (int i = at; i < at + size && i < bytes; i++)
		printf("%02x ", p[i]);
	free(p);
}

/* Text of a file or of the target. */
static void put_clean(const char *before, const char *text)
{
	fputs(before, stdout);
	kt_put_clean(stdout, text);
}

static void print_head(const struct cf_incident *incident)
{
	json_t *source;
	size_t i;

	put_clean("", incident->id);
	put_clean("  ", incident->title);
	putchar('\n');
	json_array_foreach(incident->sources, i, source)
		put_clean(i ? ", " : "     ", json_is_string(source) ? json_string_value(source) : "?");
	printf("\n\n");
	kt_put_clean_lines(stdout, incident->text);
	printf("\n\n");
	for (i = 0; i < incident->nnotes; i++) {
		const struct cf_incident_note *note = &incident->notes[i];

		printf("  byte %4d  ", note->at);
		print_bytes(incident->frame, note->at, note->size);
		put_clean(" ", note->text);
		putchar('\n');
	}
	printf("\n");
}

static void print_none(json_t *got)
{
	json_t *offset = json_object_get(got, "baseOffset");

	printf("NONE");
	if (offset)
		printf(", offset %lld", (long long)json_integer_value(offset));
}

/* "INVALID_RECORD (87)", "NONE, offset 0" */
static void print_answer(json_t *step)
{
	json_t *got = json_object_get(step, "got"), *code = json_object_get(got, "errorCode");

	if (json_object_get(step, "unreadable"))
		printf("an answer that cannot be read");
	else if ((!got || json_is_null(got)) && !cf_verdict_judged(cf_row_verdict(step)))
		printf("not asked");
	else if (!got || json_is_null(got))
		put_clean("no answer, connection ", cf_text(step, "connection"));
	else if (!json_is_integer(code))
		printf("an answer without error code");
	else if (json_integer_value(code) == 0)
		print_none(got);
	else
		printf("%s (%d)", kw_error_name((int)json_integer_value(code)), (int)json_integer_value(code));
	if (json_integer_value(code) != 0 && *cf_text(got, "errorMessage")) {
		put_clean(", \"", cf_text(got, "errorMessage"));
		printf("\"");
	}
}

static void print_step(const char *what, json_t *step)
{
	json_int_t offset = json_integer_value(json_object_get(json_object_get(step, "got"), "offset"));
	const char *alternative = cf_text(step, "alternative");
	char word[64];

	snprintf(word, sizeof word, "%s", what);
	kt_clean(word);
	printf("%-10s ", word);
	if (strcmp(cf_text(step, "verb"), "endOffset") == 0)
		printf("%lld %s in the topic", (long long)offset, offset == 1 ? "record" : "records");
	else
		print_answer(step);
	if (cf_row_verdict(step) <= CF_PASS_LENIENT) {
		put_clean("  -- ", *alternative ? alternative : "as expected");
	} else {
		put_clean("  -- NOT AS EXPECTED: ", cf_text(step, "reason"));
	}
	putchar('\n');
}

static void print_verdict(json_t *row)
{
	printf("\n%s", cf_text(row, "verdict"));
	if (*cf_text(row, "reason"))
		put_clean(": ", cf_text(row, "reason"));
	printf("\n");
}

/* What was done, in a word: "Produce", "fetch". */
static const char *word_of(const struct cf_step *step)
{
	const char *api = json_string_value(json_object_get(step->args, "api"));

	return api ? api : step->verb->name;
}

static void print_outcome(const struct cf_incident *incident, json_t *row)
{
	json_t *steps = json_object_get(row, "steps"), *step;
	size_t i, answers = 0;

	json_array_foreach(steps, i, step) {
		bool end = strcmp(cf_text(step, "verb"), "endOffset") == 0;

		if (!incident->steps && !end && answers++ > 0) {
			put_clean("\nmended: ", incident->mended_title);
			putchar('\n');
		}
		print_step(end ? "left" : incident->steps ? word_of(&incident->cas->steps.v[i]) : "answer", step);
	}
	print_verdict(row);
}

/* The log is served by a fakebroker, or not at all. */
static void print_log(const struct cf_incident *incident, json_t *row)
{
	printf("\nlog        %zu bytes for clients to fetch", incident->log.n);
	if (cf_row_verdict(row) == CF_UNSUPPORTED)
		printf(", left out: this target has no control API through which they can be put into its log\n");
	else
		print_verdict(row);
}

/* As `run` would. index keeps the topics of two cases apart. */
static int replay(struct cf_setup *setup, const struct cf_case *cas, const char *id, int version, size_t index,
		  json_t **row)
{
	static const struct kt_list all;
	struct cf_selection selection = {.only = &all, .skip = &all, .destructive = given.destructive};
	struct cf_item item = {.instance = {.cas = cas, .version = version}};
	char name[24];

	snprintf(item.instance.id, sizeof item.instance.id, "%.119s", id);
	item.disabled_by = cf_left_out_by(&selection, &setup->profile, &item.instance);
	item.disabled = item.disabled_by != NULL;
	snprintf(name, sizeof name, "replay-%06llx", (unsigned long long)kc_now_ms() & 0xffffff);
	*row = cf_item_run(&item, &setup->target, name, index, (uint64_t)given.seed, given.strict);
	return status_of(*row);
}

static int replay_log(struct cf_setup *setup, const struct cf_incident *incident)
{
	json_t *row = NULL;
	int status = replay(setup, incident->log_case, incident->id, -1, 1, &row);

	print_log(incident, row);
	if (cf_row_verdict(row) == CF_UNSUPPORTED)
		status = KT_EXIT_OK;
	json_decref(row);
	return status;
}

static int replay_loaded(struct cf_setup *setup, const struct cf_incident *incident)
{
	json_t *row = NULL;
	int status = replay(setup, incident->cas, incident->id, -1, 0, &row), log = KT_EXIT_OK;

	print_head(incident);
	print_outcome(incident, row);
	if (incident->log_case)
		log = replay_log(setup, incident);
	json_decref(row);
	return status ? status : log;
}

static int replay_incident(struct cf_setup *setup, const char *file)
{
	struct cf_incident incident;
	struct kt_err err = {0};
	int status;

	if (cf_incident_load(&incident, file, &err)) {
		kt_complain(PROGRAM, &err);
		status = KT_EXIT_USAGE;
	} else {
		status = reach_target(setup);
		if (status == 0)
			status = replay_loaded(setup, &incident);
	}
	cf_incident_fini(&incident);
	return status;
}

/* ---- failures ---- */

static void print_steps(json_t *row)
{
	json_t *step;
	size_t i;

	json_array_foreach(json_object_get(row, "steps"), i, step)
		print_step(cf_text(step, "verb"), step);
}

static void print_case(json_t *row)
{
	print_steps(row);
	cf_text_row(stdout, row, false);
}

static int replay_failure(struct cf_setup *setup, const char *dir)
{
	char file[PATH_MAX];
	struct cf_case *cas = NULL;
	struct kt_json doc = {0};
	struct kt_err err = {0};
	const char *id, *at;
	json_t *row = NULL;
	int status = KT_EXIT_USAGE;

	struct stat st;

	if (cf_path(file, sizeof file, "%s/result.json", dir) && stat(file, &st) != 0) {
		snprintf(err.file, sizeof err.file, "%s", dir);
		kt_fail(&err, KT_ETYPE, "is a folder without result.json: that of a failure is expected");
		goto out;
	}
	if (!cf_path(file, sizeof file, "%s/result.json", dir) || kt_json_load(&doc, file, &err) ||
	    !cf_path(file, sizeof file, "%s/case.json", dir) ||
	    cf_case_load_foreign(file, &setup->suite.reg, &cas, &err)) {
		kt_fail(&err, KT_EFILE, "%s: the path is too long", dir);
		goto out;
	}
	id = cf_text(doc.root, "id");
	at = strstr(id, "@v");
	status = reach_target(setup);
	if (status == 0)
		status = replay(setup, cas, id, at ? (int)strtol(at + 2, NULL, 10) : -1, 0, &row);
	if (row)
		print_case(row);
out:
	if (err.code)
		kt_complain(PROGRAM, &err);
	json_decref(row);
	cf_case_free(cas);
	kt_json_fini(&doc);
	return status;
}

/* ---- cases ---- */

/* A case, which says what it proves, is told by that from an incident, which says where it was reported. */
static bool is_case(const char *file)
{
	struct kt_json doc = {0};
	bool is = kt_json_load(&doc, file, NULL) == 0 && json_object_get(doc.root, "requirements");

	kt_json_fini(&doc);
	return is;
}

/* In each of its versions. */
static int replay_instances(struct cf_setup *setup, const struct cf_case *cas)
{
	struct cf_instance *instances = NULL;
	int counts[CF_NVERDICTS] = {0};
	size_t n = 0;

	if (cf_case_instances(cas, &instances, &n)) {
		fprintf(stderr, "%s: out of memory\n", PROGRAM);
		return KT_EXIT_ENGINE;
	}
	for (size_t i = 0; i < n; i++) {
		json_t *row = NULL;

		replay(setup, cas, instances[i].id, instances[i].version, i, &row);
		count_verdict(row, counts);
		print_case(row);
		json_decref(row);
	}
	free(instances);
	return cf_exit_code(counts);
}

static int replay_case(struct cf_setup *setup, const char *file)
{
	struct cf_case *cas = NULL;
	struct kt_err err = {0};
	int status = KT_EXIT_USAGE;

	if (cf_case_load_foreign(file, &setup->suite.reg, &cas, &err))
		kt_complain(PROGRAM, &err);
	else
		status = reach_target(setup);
	if (status == 0)
		status = replay_instances(setup, cas);
	cf_case_free(cas);
	return status;
}

/* ---- captures ---- */

static int replay_capture(const struct cf_setup *setup, const struct cf_input *input, const char *file)
{
	const char *bootstrap = given.bootstrap ? given.bootstrap : setup->profile.bootstrap;
	struct kt_err err = {0};
	int status = cf_replay_pcap(&input->bytes, bootstrap, given.port, given.timeout_ms, &err);

	if (err.code && !err.file[0] && status == KT_EXIT_USAGE)
		snprintf(err.file, sizeof err.file, "%s", file);
	if (err.code)
		kt_complain(PROGRAM, &err);
	return status;
}

static int replay_file(struct cf_setup *setup, const char *file)
{
	struct kt_err err = {0}, no_capture = {.code = KT_EUSAGE, .text = "is no capture: --port is for those"};
	struct cf_input input;
	int status = KT_EXIT_USAGE;

	snprintf(no_capture.file, sizeof no_capture.file, "%s", file);
	if (cf_input_open(&input, file, &err) == 0 && input.kind == CF_IN_PCAP)
		status = replay_capture(setup, &input, file);
	else if (given.port)
		kt_complain(PROGRAM, &no_capture);
	else
		status = is_case(file) ? replay_case(setup, file) : replay_incident(setup, file);
	cf_input_fini(&input);
	return status;
}

/* ---- names ---- */

static int unknown_incident(const char *name, const char *dir)
{
	struct kt_err err = {0};
	struct cf_files files;

	cf_files_find(&files, dir, &err);
	fprintf(stderr, "%s: \"", PROGRAM);
	kt_put_clean(stderr, name);
	fprintf(stderr, "\" is no file, no folder, and no incident of the kit; those are");
	for (size_t i = 0; i < files.n; i++) {
		const char *base = strrchr(files.v[i], '/') + 1;

		fprintf(stderr, " %.*s", (int)strcspn(base, "."), base);
	}
	fputc('\n', stderr);
	cf_files_fini(&files);
	return KT_EXIT_USAGE;
}

/* A path, or the bare name of an incident of the kit. */
static int replay_named(struct cf_setup *setup, const char *name)
{
	char dir[PATH_MAX], file[PATH_MAX];
	struct stat st;

	cf_path(dir, sizeof dir, "%s/incidents", setup->suite.data.fixtures);
	cf_path(file, sizeof file, "%s/%s.json", dir, name);
	if (stat(name, &st) == 0)
		return S_ISDIR(st.st_mode) ? replay_failure(setup, name) : replay_file(setup, name);
	if (strchr(name, '/') || stat(file, &st) != 0)
		return unknown_incident(name, dir);
	return replay_incident(setup, file);
}

int cf_command_replay(int argc, char **argv)
{
	struct cf_setup setup;
	int status;

	if (!kt_cli_begin(&cli, &argc, argv, &status))
		return status;
	status = cf_setup_load(&setup, given.data, given.profile, PROGRAM);
	if (status == 0)
		status = replay_named(&setup, argv[1]);
	cf_setup_fini(&setup);
	return status;
}
