#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text/opt.h"

static struct {
	const char *host;
	int port, engine, nsets;
	int64_t seed;
	double rate;
	bool json, verbose;
	struct kt_list plugins;
} given;

static const char *const engines[] = {"rdkafka", "wire", NULL};

static int take_set(void *arg, const char *value, struct kt_err *err)
{
	int *n = arg;

	if (!strchr(value, '='))
		return kt_fail(err, KT_ESYNTAX, "must be NAME=VALUE, not \"%s\"", value);
	++*n;
	return 0;
}

static int take_file(void *arg, const char *value, struct kt_err *err)
{
	(void)arg;
	kt_fail(err, KT_ESYNTAX, "no good");
	snprintf(err->file, sizeof err->file, "%s", value);
	return err->code;
}

static const struct kt_opt options[] = {
	KT_GROUP("Listeners"),
	/*        letter name       argument      to               range            help */
	KT_STR(   0,     "host",    "ADDR",       &given.host,                      "address to listen on"),
	KT_INT(   'p',   "port",    "P",          &given.port,     0, 65535,        "first port;\n0 takes any"),
	KT_LIST(  'X',   "plugin",  "FILE.so",    &given.plugins,                   "load a plugin"),
	KT_CALL(  0,     "set",     "NAME=VALUE", take_set, &given.nsets,           "set a config"),
	KT_CALL(  0,     "file",    "FILE",       take_file, NULL,                  "never good"),
	KT_GROUP("Load"),
	KT_INT64( 0,     "seed",    "N",          &given.seed,     0, INT64_MAX,    "seed of every random choice"),
	KT_REAL(  0,     "rate",    "R",          &given.rate,     0, INFINITY,     "operations per second, over all "
		  "workers together; a rate that the machine cannot reach is reported as such, never quietly lowered"),
	KT_CHOICE(0,     "engine",  "rdkafka|wire|and-some-more-text", &given.engine, engines, "what sends"),
	KT_FLAG(  'j',   "json",                  &given.json,                      "print JSON"),
	KT_FLAG(  'v',   "verbose",               &given.verbose,                   "say more"),
	KT_END
};

static const struct kt_cli cli = {
	.program = "prog run",
	.args = "[FILE]...",
	.max_args = 2,
	.about = "Does this and that.",
	.options = options,
	.examples = "prog run -j a.json\nprog run --port 9092",
	.exits = {[KT_EXIT_OK] = "all well", [KT_EXIT_USAGE] = "wrong usage"},
};

/* Parses NAME and the words after it; text gets what was printed. */
static struct {
	int rc, argc;
	char *argv[24];
	char text[4096], line[1024];
	struct kt_err err;
} run;

static int parse_with(const struct kt_cli *with, ...)
{
	FILE *out = fmemopen(run.text, sizeof run.text, "w");
	char *word = (char *)(uintptr_t)"prog";
	va_list ap;

	kt_list_fini(&given.plugins);
	memset(&given, 0, sizeof given);
	run.err = (struct kt_err){0};
	run.text[0] = '\0';
	va_start(ap, with);
	for (run.argc = 0; word; word = va_arg(ap, char *))
		run.argv[run.argc++] = word;
	va_end(ap);
	run.rc = kt_cli_parse(with, &run.argc, run.argv, out, &run.err);
	fclose(out);
	kt_err_line(&run.err, run.line, sizeof run.line);
	return run.rc;
}

#define parse(...) parse_with(&cli, __VA_ARGS__, (char *)NULL)

static void reads_every_type_of_option(void **state)
{
	(void)state;
	assert_int_equal(parse("--host", "::1", "--port=9092", "--plugin", "a.so", "-Xb.so", "--set", "a=b",
			       "--set=c=d", "--seed", "9223372036854775807", "--rate", "2.5e3", "--engine", "wire",
			       "-jv"), 0);
	assert_string_equal(given.host, "::1");
	assert_int_equal(given.port, 9092);
	assert_int_equal(given.plugins.n, 2);
	assert_string_equal(given.plugins.v[0], "a.so");
	assert_string_equal(given.plugins.v[1], "b.so");
	assert_int_equal(given.nsets, 2);
	assert_true(given.seed == INT64_MAX);
	assert_true(given.rate == 2500);
	assert_int_equal(given.engine, 1);
	assert_true(given.json && given.verbose);
	assert_int_equal(run.argc, 1);
}

static void reads_short_options(void **state)
{
	(void)state;
	assert_int_equal(parse("-p", "1", "-jp2", "-vp", "3"), 0);
	assert_int_equal(given.port, 3);
	assert_true(given.json && given.verbose);
}

static void arguments_mix_with_options(void **state)
{
	(void)state;
	assert_int_equal(parse("a.json", "-j", "-"), 0);
	assert_int_equal(run.argc, 3);
	assert_string_equal(run.argv[1], "a.json");
	assert_string_equal(run.argv[2], "-");
	assert_true(given.json);
	assert_int_equal(parse("--", "-j", "--json"), 0);
	assert_int_equal(run.argc, 3);
	assert_string_equal(run.argv[1], "-j");
	assert_string_equal(run.argv[2], "--json");
	assert_false(given.json);
}

static void values_may_be_empty_or_negative(void **state)
{
	(void)state;
	assert_int_equal(parse("--host=", "--host", "-1"), 0);
	assert_string_equal(given.host, "-1");
	assert_int_equal(parse("--host="), 0);
	assert_string_equal(given.host, "");
	assert_int_equal(parse("--host=--port"), 0);
	assert_string_equal(given.host, "--port");
}

static void every_mistake_has_its_line(void **state)
{
	static const struct { const char *a, *b, *says; } rows[] = {
		{"--prot", "1", "unknown option --prot; did you mean --port?"},
		{"--prot=1", NULL, "unknown option --prot; did you mean --port?"},
		{"--hepl", NULL, "unknown option --hepl; did you mean --help?"},
		{"--quite-different", NULL, "unknown option --quite-different"},
		{"-q", NULL, "unknown option -q"},
		{"-jq", NULL, "unknown option -q"},
		{"--port", NULL, "--port needs a value: --port P"},
		{"-p", "--json", "-p needs a value: -p P"},
		{"--json=yes", NULL, "--json takes no value"},
		{"--help=yes", NULL, "--help takes no value"},
		{"--port", "70000", "--port: must be 0 to 65535, not 70000"},
		{"-p70000", NULL, "-p: must be 0 to 65535, not 70000"},
		{"--port", "x", "--port: must be a whole number, not \"x\""},
		{"--port=", NULL, "--port: must be a whole number, not \"\""},
		{"--rate", "-1", "--rate: must be at least 0, not -1"},
		{"--engine", "wir", "--engine: unknown choice \"wir\"; did you mean \"wire\"?"},
		{"--set", "a", "--set: must be NAME=VALUE, not \"a\""},
		{"--file", "x.properties", "x.properties: no good"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_true(parse(rows[i].a, rows[i].b) < 0);
		assert_int_equal(run.rc, run.err.code);
		assert_string_equal(run.line, rows[i].says);
	}
	assert_int_equal(parse("a", "b", "c"), KT_EUSAGE);
	assert_string_equal(run.line, "unexpected argument \"c\"");
}

static void arguments_may_be_required(void **state)
{
	static const struct kt_cli one = {.program = "one", .args = "FILE", .min_args = 1, .max_args = -1, .about = ""};

	(void)state;
	assert_int_equal(parse_with(&one, (char *)NULL), KT_EUSAGE);
	assert_string_equal(run.line, "an argument is missing: FILE");
	assert_int_equal(parse_with(&one, "a", "b", "c", (char *)NULL), 0);
	assert_int_equal(run.argc, 4);
	assert_int_equal(parse_with(&one, "--json", (char *)NULL), KT_EUSAGE);
	assert_string_equal(run.line, "unknown option --json");
}

static void help_comes_from_the_table(void **state)
{
	(void)state;
	assert_int_equal(parse("--json", "--help", "--nonsense"), KT_CLI_SHOWN);
	assert_string_equal(run.text,
		"Usage: prog run [OPTION]... [FILE]...\n"
		"\n"
		"Does this and that.\n"
		"\n"
		"Listeners:\n"
		"      --host ADDR       address to listen on\n"
		"  -p, --port P          first port;\n"
		"                        0 takes any\n"
		"  -X, --plugin FILE.so  load a plugin\n"
		"      --set NAME=VALUE  set a config\n"
		"      --file FILE       never good\n"
		"\n"
		"Load:\n"
		"      --seed N          seed of every random choice\n"
		"      --rate R          operations per second, over all workers together; a rate that the "
		"machine\n"
		"                        cannot reach is reported as such, never quietly lowered\n"
		"      --engine rdkafka|wire|and-some-more-text\n"
		"                        what sends\n"
		"  -j, --json            print JSON\n"
		"  -v, --verbose         say more\n"
		"\n"
		"Help:\n"
		"  -h, --help            print this\n"
		"      --version         print the version\n"
		"\n"
		"Examples:\n"
		"  prog run -j a.json\n"
		"  prog run --port 9092\n"
		"\n"
		"Exit codes:\n"
		"  0  all well\n"
		"  2  wrong usage\n"
		"  3  out of memory, or the output cannot be written\n");
}

static void version_names_the_program(void **state)
{
	(void)state;
	assert_int_equal(parse("--version"), KT_CLI_SHOWN);
	assert_string_equal(run.text, "prog " KASSAY_VERSION "\n");
}

static int ran_argc;
static char **ran_argv;

static int run_command(int argc, char **argv)
{
	ran_argc = argc;
	ran_argv = argv;
	return KT_EXIT_INCOMPLETE;
}

static const struct kt_command commands[] = {
	{"run", "run a scenario", run_command},
	{"report", "make a report of results", run_command},
	{0},
};
static const struct kt_cli many = {.program = "prog", .args = "COMMAND [ARGUMENT]...", .about = "Has commands.",
				   .commands = commands};

static void commands_get_their_own_words(void **state)
{
	char *argv[] = {(char[]){"prog"}, (char[]){"report"}, (char[]){"--json"}, (char[]){"x"}, NULL};

	(void)state;
	assert_int_equal(kt_cli_run(&many, 4, argv), KT_EXIT_INCOMPLETE);
	assert_int_equal(ran_argc, 3);
	assert_string_equal(ran_argv[0], "report");
	assert_string_equal(ran_argv[1], "--json");
	assert_string_equal(ran_argv[2], "x");
}

/* What kt_cli_run says on stderr. */
static const char *complaint(char *word)
{
	static char said[1024];
	char *argv[] = {(char[]){"prog"}, word, NULL};
	FILE *was = stderr;
	int status;

	stderr = fmemopen(said, sizeof said, "w");
	status = kt_cli_run(&many, word ? 2 : 1, argv);
	fclose(stderr);
	stderr = was;
	assert_int_equal(status, KT_EXIT_USAGE);
	return said;
}

static void unknown_commands_are_guessed(void **state)
{
	(void)state;
	assert_string_equal(complaint((char[]){"rnu"}), "prog: unknown command rnu; did you mean run?\n");
	assert_string_equal(complaint((char[]){"frobnicate"}),
			    "prog: unknown command frobnicate; --help lists the commands\n");
	assert_string_equal(complaint(NULL), "prog: a command is missing; --help lists the commands\n");
	assert_string_equal(complaint((char[]){"--hlep"}), "prog: unknown option --hlep; did you mean --help?\n");
}

static void help_lists_the_commands(void **state)
{
	(void)state;
	assert_int_equal(parse_with(&many, "-h", (char *)NULL), KT_CLI_SHOWN);
	assert_string_equal(run.text,
		"Usage: prog [OPTION]... COMMAND [ARGUMENT]...\n"
		"\n"
		"Has commands.\n"
		"\n"
		"Commands (prog COMMAND --help says more):\n"
		"  run     run a scenario\n"
		"  report  make a report of results\n"
		"\n"
		"Help:\n"
		"  -h, --help     print this\n"
		"      --version  print the version\n"
		"\n"
		"Exit codes:\n"
		"  0  done\n"
		"  2  wrong usage\n"
		"  3  out of memory, or the output cannot be written\n");
}

static int forget(void **state)
{
	(void)state;
	kt_list_fini(&given.plugins);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_every_type_of_option),
		cmocka_unit_test(reads_short_options),
		cmocka_unit_test(arguments_mix_with_options),
		cmocka_unit_test(values_may_be_empty_or_negative),
		cmocka_unit_test(every_mistake_has_its_line),
		cmocka_unit_test(arguments_may_be_required),
		cmocka_unit_test(help_comes_from_the_table),
		cmocka_unit_test(version_names_the_program),
		cmocka_unit_test(commands_get_their_own_words),
		cmocka_unit_test(unknown_commands_are_guessed),
		cmocka_unit_test(help_lists_the_commands),
	};
	return cmocka_run_group_tests(tests, NULL, forget);
}
