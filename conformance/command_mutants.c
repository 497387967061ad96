/* mutants: which cases notice which mutant of the fakebroker, and is that as it is listed? */
#include <fnmatch.h>
#include <libgen.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/command.h"
#include "conformance/evidence.h"
#include "conformance/fake.h"
#include "conformance/kill.h"
#include "conformance/mutants.h"
#include "conformance/seed.h"
#include "conformance/setup.h"
#include "lib/text/file.h"
#include "lib/text/near.h"

#define PROGRAM "conformance mutants"

enum { JOBS_MAX = 64, CASES_AT_A_TIME = 4, ANSWER_MS = 2000, PATIENCE_MS = 2000 };

static struct {
	const char *data, *fakebroker, *scenario;
	struct kt_list only;
	bool json, write;
	int jobs, sample;
	int64_t seed;
} given = {.jobs = 2, .seed = -1};

static const struct kt_opt options[] = {
	KT_STR(0, "fakebroker", "PATH", &given.fakebroker, "the program (the one beside this one)"),
	KT_STR(0, "scenario", "FILE", &given.scenario, "what it is started with (fixtures/scenarios/demo.json)"),
	KT_LIST(0, "only", "GLOB", &given.only, "mutants whose name fits (records.*); may be given again"),
	KT_INT('j', "jobs", "N", &given.jobs, 1, JOBS_MAX, "mutants at a time (2)"),
	KT_INT(0, "sample", "N", &given.sample, 0, INT_MAX, "only N of them, drawn by the seed (0: all)"),
	KT_INT64(0, "seed", "N", &given.seed, 0, INT64_MAX, "of --sample (random, and told at the end)"),
	KT_FLAG(0, "write", &given.write, "write what is found into the lists, for review"),
	KT_FLAG(0, "json", &given.json, "print JSON in place of lines for people"),
	CF_DATA_OPTION(&given.data),
	KT_END
};

static const struct kt_cli cli = {
	.program = PROGRAM,
	.about = "Tests the suite: starts the fakebroker with each of its mutants in turn (fakebroker --list mutants), "
		 "runs all cases against it, and compares those that turn red with the list in mutants/FAMILY.json. A "
		 "case that is listed must notice the mutant, and no other may.",
	.options = options,
	.examples =
		"  conformance mutants\n"
		"  conformance mutants --only 'records.crc-*'\n"
		"  conformance mutants --sample 50\n"
		"  conformance mutants --only validators.ignored --write && git diff conformance/mutants",
	.exits = {
		[KT_EXIT_OK] = "every mutant turns exactly its listed cases red",
		[KT_EXIT_VERDICT] = "a listed case stays green, another one turns red, or a case is red "
				    "without any mutant",
		[KT_EXIT_USAGE] = "wrong usage, or a file is not right; a glob fits no mutant",
		[KT_EXIT_ENGINE] = "a fakebroker cannot be started, or ended badly",
		[KT_EXIT_INCOMPLETE] = "interrupted",
	},
};

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	(void)number;
	interrupted = 1;
}

/* ---- the work ---- */

struct trial {
	const char *mutant;
	bool *red;                   /* of each instance */
	struct cf_mishap mishap;
	bool done;
};

struct matrix {
	struct cf_setup setup;
	struct cf_mutant_book book;
	struct cf_killer killer;
	char program[PATH_MAX], scenario[PATH_MAX];
	json_t *mutants;             /* as the fakebroker lists them */
	struct trial *trials;
	size_t n, of;                /* of: before the sample was drawn */
	pthread_mutex_t lock;        /* guards all below */
	size_t next, told;
	int status;
	bool talks;                  /* to people, as trials end */
};

static bool chosen(const char *mutant)
{
	for (size_t i = 0; i < given.only.n; i++)
		if (fnmatch(given.only.v[i], mutant, 0) == 0)
			return true;
	return given.only.n == 0;
}

static void worsen(struct matrix *matrix, int status)
{
	if (status > matrix->status)
		matrix->status = status;
}

/* The instances that differ from the list: red but not listed (extra), or listed but green. */
static json_t *differing(const struct matrix *matrix, const struct trial *trial, bool extra)
{
	const struct cf_mutant_list *list = cf_mutant_find(&matrix->book, trial->mutant);
	const struct cf_suite *suite = &matrix->setup.suite;
	json_t *out = json_array();

	for (size_t i = 0; i < suite->ninstances; i++)
		if (trial->red[i] == extra && cf_mutant_lists(list, &suite->instances[i]) != extra &&
		    !cf_mutant_by_chance(list, &suite->instances[i]))
			json_array_append_new(out, json_string(suite->instances[i].id));
	return out;
}

static size_t count(const struct matrix *matrix, const struct trial *trial)
{
	size_t n = 0;

	for (size_t i = 0; i < matrix->setup.suite.ninstances; i++)
		n += trial->red[i];
	return n;
}

static void print_ids(json_t *ids, const char *what)
{
	json_t *id;
	size_t i;

	json_array_foreach(ids, i, id)
		printf("        %s  %s\n", what, json_string_value(id));
}

static void print_said(FILE *f, const char *said)
{
	for (size_t n; *said; said += n + (said[n] == '\n')) {
		n = strcspn(said, "\n");
		fprintf(f, "        | %.*s\n", (int)n, said);
	}
}

static void tell_mishap(const struct cf_mishap *mishap, const char *mutant)
{
	char line[1200];

	printf("error   %s  %s\n", mutant, kt_err_line(&mishap->err, line, sizeof line));
	print_said(stdout, mishap->said);
	fflush(stdout);
}

static void tell(struct matrix *matrix, const struct trial *trial)
{
	json_t *green, *extra;
	bool good;

	if (trial->mishap.err.code) {
		worsen(matrix, KT_EXIT_ENGINE);
		if (matrix->talks)
			tell_mishap(&trial->mishap, trial->mutant);
		return;
	}
	green = differing(matrix, trial, false);
	extra = differing(matrix, trial, true);
	good = json_array_size(green) + json_array_size(extra) == 0 && count(matrix, trial) > 0;
	if (!good)
		worsen(matrix, KT_EXIT_VERDICT);
	if (matrix->talks) {
		printf("%s  %s  %zu red\n", good ? "good  " : "differs", trial->mutant, count(matrix, trial));
		print_ids(green, "listed, but green");
		print_ids(extra, "red, but not listed");
		fflush(stdout);
	}
	json_decref(green);
	json_decref(extra);
}

/* Trials are told of in their order. */
static void finish(struct matrix *matrix, struct trial *trial)
{
	pthread_mutex_lock(&matrix->lock);
	trial->done = true;
	while (matrix->told < matrix->n && matrix->trials[matrix->told].done)
		tell(matrix, &matrix->trials[matrix->told++]);
	pthread_mutex_unlock(&matrix->lock);
}

static void *work_off(void *arg)
{
	struct matrix *matrix = arg;

	for (;;) {
		struct trial *trial;

		pthread_mutex_lock(&matrix->lock);
		trial = matrix->next < matrix->n ? &matrix->trials[matrix->next++] : NULL;
		pthread_mutex_unlock(&matrix->lock);
		if (!trial || interrupted)
			return NULL;
		cf_kill(&matrix->killer, trial->mutant, trial->red, &trial->mishap);
		if (!interrupted)
			finish(matrix, trial);
	}
}

static void run_trials(struct matrix *matrix)
{
	pthread_t threads[JOBS_MAX];
	int started = 0;

	while (started < given.jobs && pthread_create(&threads[started], NULL, work_off, matrix) == 0)
		started++;
	if (started == 0)
		work_off(matrix);
	for (int i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
}

/* ---- before ---- */

static int find_program(struct matrix *matrix, struct kt_err *err)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	self[n > 0 ? n : 0] = '\0';
	if (given.fakebroker)
		cf_path(matrix->program, sizeof matrix->program, "%s", given.fakebroker);
	else
		cf_path(matrix->program, sizeof matrix->program, "%s/fakebroker", dirname(self));
	if (given.scenario)
		cf_path(matrix->scenario, sizeof matrix->scenario, "%s", given.scenario);
	else
		cf_path(matrix->scenario, sizeof matrix->scenario, "%s/scenarios/demo.json",
			matrix->setup.suite.data.fixtures);
	matrix->mutants = cf_fake_mutants(matrix->program, err);
	return err->code;
}

/* Keeps given.sample of the trials, in their order. */
static void draw(struct matrix *matrix)
{
	uint64_t seed = (uint64_t)given.seed;
	unsigned short state[3] = {(unsigned short)seed, (unsigned short)(seed >> 16), (unsigned short)(seed >> 32)};
	size_t wanted = (size_t)given.sample, kept = 0;

	for (size_t i = 0; i < matrix->n; i++) {
		if ((size_t)nrand48(state) % (matrix->n - i) < wanted - kept)
			matrix->trials[kept++] = matrix->trials[i];
		else
			free(matrix->trials[i].red);
	}
	matrix->n = kept;
}

static int check_globs(const struct matrix *matrix, struct kt_err *err)
{
	for (size_t i = 0; i < given.only.n; i++) {
		bool fits = false;
		struct kt_near near;
		json_t *row;
		size_t k;

		kt_near_init(&near, given.only.v[i]);
		json_array_foreach(matrix->mutants, k, row) {
			fits = fits || fnmatch(given.only.v[i], cf_text(row, "name"), 0) == 0;
			kt_near_offer(&near, cf_text(row, "name"));
		}
		if (!fits && near.best)
			return kt_fail(err, KT_EUSAGE, "--only \"%.150s\" fits no mutant; did you mean \"%s\"?",
				       given.only.v[i], near.best);
		if (!fits)
			return kt_fail(err, KT_EUSAGE, "--only \"%.150s\" fits no mutant; "
				       "`fakebroker --list mutants` shows all", given.only.v[i]);
	}
	return 0;
}

static int choose(struct matrix *matrix, struct kt_err *err)
{
	size_t ninstances = matrix->setup.suite.ninstances, i;
	json_t *row;

	matrix->trials = calloc(json_array_size(matrix->mutants) + 1, sizeof *matrix->trials);
	if (!matrix->trials)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	json_array_foreach(matrix->mutants, i, row) {
		struct trial *trial = &matrix->trials[matrix->n];

		if (!chosen(cf_text(row, "name")))
			continue;
		trial->mutant = cf_text(row, "name");
		trial->red = calloc(ninstances + 1, sizeof *trial->red);
		if (!trial->red)
			return kt_fail(err, KT_ENOMEM, "out of memory");
		matrix->n++;
	}
	matrix->of = matrix->n;
	if (given.sample > 0 && (size_t)given.sample < matrix->n)
		draw(matrix);
	return matrix->n ? 0 : kt_fail(err, KT_EUSAGE, "no mutant is selected; `fakebroker --list mutants` shows all");
}

static int prepare(struct matrix *matrix, struct cf_mishap *mishap)
{
	struct kt_err *err = &mishap->err;
	char dir[PATH_MAX];

	cf_path(dir, sizeof dir, "%s/mutants", matrix->setup.suite.data.dir);
	if (cf_mutant_book_load(&matrix->book, dir, err))
		return KT_EXIT_USAGE;
	if (find_program(matrix, err))
		return KT_EXIT_ENGINE;
	if (check_globs(matrix, err) || choose(matrix, err))
		return KT_EXIT_USAGE;
	matrix->setup.profile.timeout = ANSWER_MS;   /* the fakebroker does at once what others need time for */
	matrix->setup.profile.patience = PATIENCE_MS;
	matrix->killer = (struct cf_killer){
		.suite = &matrix->setup.suite, .profile = &matrix->setup.profile, .program = matrix->program,
		.scenario = matrix->scenario, .jobs = CASES_AT_A_TIME, .seed = 1, .stop = &interrupted,
	};
	if (cf_killer_init(&matrix->killer, mishap) == 0)
		return 0;
	return err->code == KT_EPEER ? KT_EXIT_VERDICT : KT_EXIT_ENGINE;
}

/* ---- after ---- */

static bool exists(const struct matrix *matrix, const char *mutant)
{
	json_t *row;
	size_t i;

	json_array_foreach(matrix->mutants, i, row)
		if (strcmp(cf_text(row, "name"), mutant) == 0)
			return true;
	return false;
}

static void complain_of_unknown(struct matrix *matrix)
{
	for (size_t i = 0; i < matrix->book.n; i++) {
		const struct cf_mutant_list *list = &matrix->book.v[i];

		if (strcmp(list->mutant, CF_MUTANT_NONE) == 0 || exists(matrix, list->mutant))
			continue;
		fprintf(stderr, "%s: %s: the fakebroker has no mutant \"%s\"\n", PROGRAM,
			matrix->book.files[list->file].name, list->mutant);
		worsen(matrix, KT_EXIT_VERDICT);
	}
}

static const struct trial *trial_of(const struct matrix *matrix, const char *mutant)
{
	for (size_t i = 0; i < matrix->n; i++)
		if (matrix->trials[i].done && !matrix->trials[i].mishap.err.code &&
		    strcmp(matrix->trials[i].mutant, mutant) == 0)
			return &matrix->trials[i];
	return NULL;
}

static json_t *found_cases(const struct matrix *matrix, const struct trial *trial, const struct cf_mutant_list *list)
{
	const struct cf_suite *suite = &matrix->setup.suite;
	bool *red = calloc(suite->ninstances + 1, sizeof *red);
	json_t *cases;

	for (size_t i = 0; red && i < suite->ninstances; i++)
		red[i] = trial->red[i] && !cf_mutant_by_chance(list, &suite->instances[i]);
	cases = red ? cf_mutant_cases(suite, red) : NULL;
	if (cases)
		cf_mutant_keep_chances(cases, list);
	free(red);
	return cases;
}

/* What is to be listed for all mutants of a family: what was found, or what is listed for those that were not run. */
static json_t *family_lists(const struct matrix *matrix, const char *family)
{
	json_t *out = json_object(), *row;
	size_t i, n = strlen(family);

	json_array_foreach(matrix->mutants, i, row) {
		const char *mutant = cf_text(row, "name");
		const struct trial *trial = trial_of(matrix, mutant);
		const struct cf_mutant_list *list = cf_mutant_find(&matrix->book, mutant);

		if (strncmp(mutant, family, n) != 0 || mutant[n] != '.')
			continue;
		if (trial)
			json_object_set_new(out, mutant, found_cases(matrix, trial, list));
		else if (list)
			json_object_set(out, mutant, list->cases);
	}
	return out;
}

/* {"none": [..]} for what no list has. */
static json_t *none_list(const struct cf_suite *suite, const char *dir, struct kt_err *err)
{
	bool *none = calloc(suite->ninstances + 1, sizeof *none);
	struct cf_mutant_book book = {0};
	json_t *out = NULL;

	if (none && cf_mutant_book_load(&book, dir, err) == 0) {
		for (size_t i = 0; i < suite->ninstances; i++)
			none[i] = cf_mutant_wanted(&suite->instances[i]) &&
				  !cf_mutant_kills(&book, &suite->instances[i]);
		out = json_pack("{s:o}", CF_MUTANT_NONE, cf_mutant_cases(suite, none));
	}
	cf_mutant_book_fini(&book);
	free(none);
	return out;
}

static void write_none(const struct matrix *matrix, struct kt_err *err)
{
	const struct cf_suite *suite = &matrix->setup.suite;
	char path[PATH_MAX];
	json_t *none;

	cf_path(path, sizeof path, "%s/mutants", suite->data.dir);
	none = none_list(suite, path, err);
	cf_path(path, sizeof path, "%s/mutants/none.json", suite->data.dir);
	if (!err->code)
		kt_json_write(path, none, JSON_INDENT(2), err);
	json_decref(none);
}

static void write_lists(struct matrix *matrix)
{
	const struct cf_register *reg = &matrix->setup.suite.reg;
	struct kt_err err = {0};
	char path[PATH_MAX];

	cf_path(path, sizeof path, "%s/mutants", matrix->setup.suite.data.dir);
	kt_file_make_dir(path, &err);
	for (size_t i = 0; i < reg->nfamilies && !err.code; i++) {
		json_t *lists = family_lists(matrix, reg->families[i].name);

		cf_path(path, sizeof path, "%s/mutants/%s.json", matrix->setup.suite.data.dir, reg->families[i].name);
		if (json_object_size(lists))
			kt_json_write(path, lists, JSON_INDENT(2), &err);
		json_decref(lists);
	}
	if (!err.code)
		write_none(matrix, &err);
	if (!err.code) {
		matrix->status = matrix->status == KT_EXIT_VERDICT ? KT_EXIT_OK : matrix->status;
		return;
	}
	kt_complain(PROGRAM, &err);
	worsen(matrix, KT_EXIT_ENGINE);
}

static void print_json(const struct matrix *matrix)
{
	json_t *out = json_array();
	char line[1200];

	for (size_t i = 0; i < matrix->told; i++) {
		const struct trial *trial = &matrix->trials[i];

		json_array_append_new(out, json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "mutant", trial->mutant, "error",
						     kt_err_line(&trial->mishap.err, line, sizeof line),
						     "said", trial->mishap.said,
						     "red", cf_mutant_cases(&matrix->setup.suite, trial->red),
						     "listedButGreen", differing(matrix, trial, false),
						     "redButNotListed", differing(matrix, trial, true)));
	}
	json_dumpf(out, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(out);
}

static void print_outcome(const struct matrix *matrix)
{
	printf("%zu of %zu mutants, %zu cases: %s\n", matrix->told, matrix->of, matrix->setup.suite.ninstances,
	       given.write ? "the lists are written" :
	       matrix->status == KT_EXIT_OK ? "each turns exactly its listed cases red" :
	       matrix->status == KT_EXIT_INCOMPLETE ? "interrupted" : "not as listed");
	if (matrix->n < matrix->of)
		printf("a sample, drawn by --seed %lld: the others were not run\n", (long long)given.seed);
}

static void conclude(struct matrix *matrix)
{
	if (interrupted)
		worsen(matrix, KT_EXIT_INCOMPLETE);
	if (given.write)
		write_lists(matrix);
	else
		complain_of_unknown(matrix);
	if (given.json)
		print_json(matrix);
	else
		print_outcome(matrix);
}

static void matrix_fini(struct matrix *matrix)
{
	for (size_t i = 0; i < matrix->n; i++)
		free(matrix->trials[i].red);
	free(matrix->trials);
	json_decref(matrix->mutants);
	cf_killer_fini(&matrix->killer);
	cf_mutant_book_fini(&matrix->book);
	cf_setup_fini(&matrix->setup);
	pthread_mutex_destroy(&matrix->lock);
	kt_list_fini(&given.only);
}

int cf_command_mutants(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
	struct matrix matrix = {.talks = true};
	struct cf_mishap mishap = {0};
	int status;

	if (!kt_cli_begin(&cli, &argc, argv, &status))
		return status;
	matrix.talks = !given.json;
	if (given.seed < 0)
		given.seed = cf_random_seed();
	pthread_mutex_init(&matrix.lock, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	matrix.status = cf_setup_load(&matrix.setup, given.data, NULL, PROGRAM);
	if (matrix.status == 0) {
		matrix.status = prepare(&matrix, &mishap);
		if (mishap.err.code)
			kt_complain(PROGRAM, &mishap.err);
		print_said(stderr, mishap.said);
	}
	if (matrix.status == 0) {
		run_trials(&matrix);
		conclude(&matrix);
	}
	status = matrix.status;
	matrix_fini(&matrix);
	return status;
}
