#include "lib/text/opt.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text/file.h"
#include "lib/text/near.h"
#include "lib/text/number.h"
#include "lib/text/opt_help.h"

int kt_list_add(struct kt_list *list, const char *s)
{
	const char **v = realloc(list->v, (list->n + 1) * sizeof *v);

	if (!v)
		return KT_ENOMEM;
	list->v = v;
	list->v[list->n++] = s;
	return 0;
}

void kt_list_fini(struct kt_list *list)
{
	free(list->v);
	*list = (struct kt_list){0};
}

void kt_complain(const char *program, const struct kt_err *err)
{
	char line[1280];

	fflush(stdout);
	fprintf(stderr, "%s: %s\n", program, kt_err_line(err, line, sizeof line));
}

/* ---- finding rows ---- */

static const struct kt_opt *by_name(const struct kt_opt *table, const char *name, size_t n)
{
	for (; table->type != KT_OPT_END; table++) {
		if (table->type != KT_OPT_GROUP && strlen(table->name) == n && memcmp(table->name, name, n) == 0)
			return table;
	}
	return NULL;
}

static const struct kt_opt *by_letter(const struct kt_opt *table, char letter)
{
	for (; table->type != KT_OPT_END; table++) {
		if (table->letter && table->letter == letter)
			return table;
	}
	return NULL;
}

/* No two rows may share a name or letter. */
static bool is_sound(const struct kt_opt *opt)
{
	for (; opt->type != KT_OPT_END; opt++) {
		size_t n = strlen(opt->name);

		if (opt->type == KT_OPT_GROUP)
			continue;
		if (by_name(opt + 1, opt->name, n) || by_name(kt_opt_own, opt->name, n))
			return false;
		if (opt->letter && (by_letter(opt + 1, opt->letter) || by_letter(kt_opt_own, opt->letter)))
			return false;
	}
	return true;
}

static int unknown(const struct kt_opt *table, const char *name, struct kt_err *err)
{
	const struct kt_opt *own = kt_opt_own;
	struct kt_near near;

	kt_near_init(&near, name);
	for (; table->type != KT_OPT_END; table++) {
		if (table->type != KT_OPT_GROUP)
			kt_near_offer(&near, table->name);
	}
	for (; own->type != KT_OPT_END; own++)
		kt_near_offer(&near, own->name);
	if (near.best)
		return kt_fail(err, KT_EUSAGE, "unknown option --%s; did you mean --%s?", name, near.best);
	return kt_fail(err, KT_EUSAGE, "unknown option --%s", name);
}

/* ---- values ---- */

static int store_int(const struct kt_opt *opt, const char *value, struct kt_err *err)
{
	int64_t v;
	int rc = kt_parse_int(value, opt->min, opt->max, &v, err);

	if (rc == 0 && opt->type == KT_OPT_INT)
		*opt->to.num = (int)v;
	else if (rc == 0)
		*opt->to.num64 = v;
	return rc;
}

static int store(const struct kt_opt *opt, const char *value, struct kt_err *err)
{
	switch (opt->type) {
	case KT_OPT_FLAG:
		*opt->to.flag = true;
		return 0;
	case KT_OPT_STR:
		*opt->to.str = value;
		return 0;
	case KT_OPT_INT:
	case KT_OPT_INT64:
		return store_int(opt, value, err);
	case KT_OPT_REAL:
		return kt_parse_real(value, opt->low, opt->high, opt->to.real, err);
	case KT_OPT_CHOICE:
		return kt_choose(value, opt->names, opt->to.num, err);
	case KT_OPT_LIST:
		if (kt_list_add(opt->to.list, value) < 0)
			return kt_fail(err, KT_ENOMEM, "out of memory");
		return 0;
	case KT_OPT_CALL:
		return opt->call(opt->to.any, value, err);
	case KT_OPT_END:
	case KT_OPT_GROUP:
		break;   /* never found by name or letter */
	}
	return 0;
}

/* ---- the walk over argv ---- */

struct walk {
	const struct kt_cli *cli;
	const struct kt_opt *options;
	char **argv;
	int argc, at;      /* at: next to look at */
	int kept;          /* arguments moved to the front of argv */
	FILE *out;
	bool shown;
	struct kt_err *err;
};

/* Applies one option. joined is the value in the same word, or NULL. name is how the user wrote it ("--port", "-p"). */
static int apply(struct walk *walk, const struct kt_opt *opt, const char *name, const char *joined)
{
	const char *value = joined, *next = walk->at < walk->argc ? walk->argv[walk->at] : NULL;
	struct kt_err err = {0};

	if (opt->type == KT_OPT_FLAG && joined)
		return kt_fail(walk->err, KT_EUSAGE, "%s takes no value", name);
	if (opt->type != KT_OPT_FLAG && !joined) {
		if (!next || strncmp(next, "--", 2) == 0)
			return kt_fail(walk->err, KT_EUSAGE, "%s needs a value: %s %s", name, name, opt->arg);
		value = next;
		walk->at++;
	}
	if (store(opt, value, &err) == 0)
		return 0;
	if (walk->err && walk->err->code == KT_OK) {
		*walk->err = err;
		if (!err.file[0] && !err.path[0])
			snprintf(walk->err->path, sizeof walk->err->path, "%s", name);
	}
	return err.code;
}

/* --help and --version. */
static int show(struct walk *walk, const struct kt_opt *own)
{
	const char *program = walk->cli->program;

	if (own->letter == 'h')
		kt_opt_print_help(walk->cli, walk->out);
	else
		fprintf(walk->out, "%.*s %s\n", (int)strcspn(program, " "), program, KASSAY_VERSION);
	walk->shown = true;
	return 0;
}

static int long_option(struct walk *walk, const char *word)
{
	size_t n = strcspn(word + 2, "=");
	const char *joined = word[2 + n] ? word + 2 + n + 1 : NULL;
	const struct kt_opt *opt = by_name(walk->options, word + 2, n), *own = by_name(kt_opt_own, word + 2, n);
	char name[128];

	snprintf(name, sizeof name, "%.*s", (int)(n + 2 < sizeof name ? n + 2 : sizeof name - 1), word);
	if (own && joined)
		return kt_fail(walk->err, KT_EUSAGE, "%s takes no value", name);
	if (own)
		return show(walk, own);
	return opt ? apply(walk, opt, name, joined) : unknown(walk->options, name + 2, walk->err);
}

/* One letter, or several of which all but the last are flags. */
static int short_options(struct walk *walk, const char *word)
{
	for (const char *p = word + 1; *p && !walk->shown; p++) {
		const struct kt_opt *opt = by_letter(walk->options, *p), *own = by_letter(kt_opt_own, *p);
		const char *joined = NULL;
		char name[] = {'-', *p, '\0'};
		int rc;

		if (!opt && !own)
			return kt_fail(walk->err, KT_EUSAGE, "unknown option %s", name);
		if (opt && opt->type != KT_OPT_FLAG && p[1])
			joined = p + 1;
		rc = own ? show(walk, own) : apply(walk, opt, name, joined);
		if (rc < 0 || joined)
			return rc;
	}
	return 0;
}

static int count_arguments(const struct walk *walk)
{
	const struct kt_cli *cli = walk->cli;
	int n = walk->kept - 1;

	if (cli->commands)
		return 0;
	if (n < cli->min_args)
		return kt_fail(walk->err, KT_EUSAGE, "an argument is missing: %s", cli->args);
	if (cli->max_args >= 0 && n > cli->max_args)
		return kt_fail(walk->err, KT_EUSAGE, "unexpected argument \"%s\"", walk->argv[1 + cli->max_args]);
	return 0;
}

int kt_cli_parse(const struct kt_cli *cli, int *argc, char **argv, FILE *out, struct kt_err *err)
{
	static const struct kt_opt none[] = {KT_END};
	struct walk walk = {.cli = cli, .options = cli->options ? cli->options : none, .argv = argv, .argc = *argc,
			    .at = 1, .kept = 1, .out = out, .err = err};
	bool options_end = false;
	int rc = 0;

	assert(is_sound(walk.options));
	while (walk.at < walk.argc && rc == 0 && !walk.shown) {
		char *word = argv[walk.at++];

		if (!options_end && strcmp(word, "--") == 0) {
			options_end = true;
		} else if (!options_end && word[0] == '-' && word[1]) {
			rc = word[1] == '-' ? long_option(&walk, word) : short_options(&walk, word);
		} else {
			options_end |= cli->commands != NULL;
			argv[walk.kept++] = word;
		}
	}
	if (walk.shown)
		return KT_CLI_SHOWN;
	if (rc == 0)
		rc = count_arguments(&walk);
	if (rc == 0)
		*argc = walk.kept;
	return rc;
}

int kt_finish_stdout(const char *program, int status)
{
	struct kt_err err = {0};

	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	if (errno == EPIPE)   /* who reads has enough */
		return status;
	kt_fail(&err, KT_EFILE, "the output cannot be written: %s", strerror(errno));
	kt_complain(program, &err);
	return KT_EXIT_ENGINE;
}

bool kt_cli_begin(const struct kt_cli *cli, int *argc, char **argv, int *status)
{
	struct kt_err err = {0};
	int rc = kt_file_hold_std(&err);

	if (rc < 0) {
		kt_complain(cli->program, &err);
		*status = KT_EXIT_ENGINE;
		return false;
	}
	rc = kt_cli_parse(cli, argc, argv, stdout, &err);
	if (rc < 0)
		kt_complain(cli->program, &err);
	*status = rc < 0 ? KT_EXIT_USAGE : rc > 0 ? kt_finish_stdout(cli->program, KT_EXIT_OK) : KT_EXIT_OK;
	return rc == 0;
}

/* ---- commands ---- */

static const struct kt_command *find_command(const struct kt_command *table, const char *name, struct kt_err *err)
{
	struct kt_near near;

	kt_near_init(&near, name);
	for (; table->name; table++) {
		if (strcmp(table->name, name) == 0)
			return table;
		kt_near_offer(&near, table->name);
	}
	if (near.best)
		kt_fail(err, KT_EUSAGE, "unknown command %s; did you mean %s?", name, near.best);
	else
		kt_fail(err, KT_EUSAGE, "unknown command %s; --help lists the commands", name);
	return NULL;
}

int kt_cli_run(const struct kt_cli *cli, int argc, char **argv)
{
	const struct kt_command *command;
	struct kt_err err = {0};
	int status;

	if (!kt_cli_begin(cli, &argc, argv, &status))
		return status;
	if (argc > 1) {
		command = find_command(cli->commands, argv[1], &err);
		if (command)
			return kt_finish_stdout(cli->program, command->run(argc - 1, argv + 1));
	} else {
		kt_fail(&err, KT_EUSAGE, "a command is missing; --help lists the commands");
	}
	kt_complain(cli->program, &err);
	return KT_EXIT_USAGE;
}
