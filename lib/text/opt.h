/* Command lines, read and explained from one table.
 *
 *	static struct { const char *host; int port; bool json; struct kt_list plugins; } given = {.host = "127.0.0.1"};
 *
 *	static const struct kt_opt options[] = {
 *		KT_GROUP("Listeners"),
 *		//      letter name      argument   to              range       help
 *		KT_STR(0,      "host",   "ADDR",    &given.host,                "address to listen on (127.0.0.1)"),
 *		KT_INT('p',    "port",   "P",       &given.port,    0, 65535,   "first port; 0 = any free one (0)"),
 *		KT_GROUP("Output"),
 *		KT_FLAG('j',   "json",              &given.json,                "print JSON"),
 *		KT_END
 *	};
 *	static const struct kt_cli cli = {.program = "fakebroker", .args = "[SCENARIO.json]", .max_args = 1, ...};
 *
 *	int main(int argc, char **argv)
 *	{
 *		int status;
 *
 *		if (!kt_cli_begin(&cli, &argc, argv, &status))
 *			return status;
 *
 * Taken are --name value, --name=value, -p value, -pvalue and joined flags (-jv). `--` ends the options; options and
 * arguments mix. A value that itself begins with -- must be joined by =, so that a forgotten value is noticed. Of an
 * option given twice the last one counts. Every table also has -h, --help and --version.
 */
#ifndef KASSAY_TEXT_OPT_H
#define KASSAY_TEXT_OPT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/text/err.h"

/* What programs of the kit exit with. */
enum kt_exit {
	KT_EXIT_OK = 0,           /* as expected */
	KT_EXIT_VERDICT = 1,      /* a verdict, expectation or margin failed */
	KT_EXIT_USAGE = 2,        /* wrong usage, file, port or plugin */
	KT_EXIT_ENGINE = 3,       /* target unreachable, or the program itself failed */
	KT_EXIT_INCOMPLETE = 4,   /* incomplete or inconclusive */
	KT_EXITS
};

enum kt_opt_type {
	KT_OPT_END, KT_OPT_GROUP, KT_OPT_FLAG, KT_OPT_STR, KT_OPT_INT, KT_OPT_INT64, KT_OPT_REAL, KT_OPT_CHOICE,
	KT_OPT_LIST, KT_OPT_CALL,
};

/* Strings that point into argv. */
struct kt_list {
	const char **v;
	size_t n;
};

/* Takes an option's value. A failure is told with the option's name before its text. */
typedef int kt_opt_fn(void *arg, const char *value, struct kt_err *err);

struct kt_opt {
	enum kt_opt_type type;
	char letter;              /* 0 = none */
	const char *name;         /* without the dashes; of a group: its title */
	const char *arg;          /* what help calls the value */
	union {
		bool *flag;
		const char **str;
		int *num;
		int64_t *num64;
		double *real;
		struct kt_list *list;
		void *any;
	} to;
	double low, high;         /* of KT_OPT_REAL */
	int64_t min, max;         /* of KT_OPT_INT and KT_OPT_INT64 */
	const char *const *names; /* of KT_OPT_CHOICE, ends with NULL; *num becomes the index */
	kt_opt_fn *call;          /* of KT_OPT_CALL, with to.any */
	const char *help;         /* wrapped as needed; \n breaks a line */
};

#define KT_GROUP(title_) {.type = KT_OPT_GROUP, .name = (title_)}
#define KT_OPT_ROW(type_, letter_, name_, arg_, help_) \
	.type = (type_), .letter = (letter_), .name = (name_), .arg = (arg_), .help = (help_)
#define KT_FLAG(letter_, name_, to_, help_) \
	{KT_OPT_ROW(KT_OPT_FLAG, letter_, name_, NULL, help_), .to.flag = (to_)}
#define KT_STR(letter_, name_, arg_, to_, help_) \
	{KT_OPT_ROW(KT_OPT_STR, letter_, name_, arg_, help_), .to.str = (to_)}
#define KT_INT(letter_, name_, arg_, to_, min_, max_, help_) \
	{KT_OPT_ROW(KT_OPT_INT, letter_, name_, arg_, help_), .to.num = (to_), .min = (min_), .max = (max_)}
#define KT_INT64(letter_, name_, arg_, to_, min_, max_, help_) \
	{KT_OPT_ROW(KT_OPT_INT64, letter_, name_, arg_, help_), .to.num64 = (to_), .min = (min_), .max = (max_)}
#define KT_REAL(letter_, name_, arg_, to_, low_, high_, help_) \
	{KT_OPT_ROW(KT_OPT_REAL, letter_, name_, arg_, help_), .to.real = (to_), .low = (low_), .high = (high_)}
#define KT_CHOICE(letter_, name_, arg_, to_, names_, help_) \
	{KT_OPT_ROW(KT_OPT_CHOICE, letter_, name_, arg_, help_), .to.num = (to_), .names = (names_)}
#define KT_LIST(letter_, name_, arg_, to_, help_) \
	{KT_OPT_ROW(KT_OPT_LIST, letter_, name_, arg_, help_), .to.list = (to_)}
#define KT_CALL(letter_, name_, arg_, call_, to_, help_) \
	{KT_OPT_ROW(KT_OPT_CALL, letter_, name_, arg_, help_), .call = (call_), .to.any = (to_)}
#define KT_END {.type = KT_OPT_END}

struct kt_command {
	const char *name;         /* NULL ends the table */
	const char *help;
	/* Gets the command's name and what follows it; returns the exit code. */
	int (*run)(int argc, char **argv);
};

struct kt_cli {
	const char *program;                 /* "fakebroker"; for a command's own table "loadgen run" */
	const char *args;                    /* arguments as the usage line shows them, or NULL */
	int min_args, max_args;              /* how many there may be; max_args -1 = any number */
	const char *about;                   /* what the program does */
	const struct kt_opt *options;        /* ends with KT_END; NULL = none but help and version */
	const struct kt_command *commands;   /* or NULL; then the first argument is a command and ends the options */
	const char *examples;                /* lines, shown as they are; or NULL */
	const char *exits[KT_EXITS];         /* what each exit code means here; NULL of 0, 2 and 3: what it means
						everywhere; of 1 and 4: there is none */
};

enum { KT_CLI_SHOWN = 1 };

/* Reads the options. On success argv[1] up to argv[*argc - 1] are the arguments that remain. Returns 0; KT_CLI_SHOWN
 * when --help or --version was asked for and has been printed to out; or a negative code, with err->path naming the
 * option if its value is wrong. */
int kt_cli_parse(const struct kt_cli *cli, int *argc, char **argv, FILE *out, struct kt_err *err);

/* The same for main(), before it opens anything: prints to stdout, tells what is wrong on stderr, and holds what is
 * closed of the two and stdin (kt_file_hold_std). False when the program is to exit with *status. */
bool kt_cli_begin(const struct kt_cli *cli, int *argc, char **argv, int *status);

/* main() of a program with commands: reads the options before the command, finds the command and runs it. Returns the
 * exit code. */
int kt_cli_run(const struct kt_cli *cli, int argc, char **argv);

/* The last thing that a program does with its output: status, or KT_EXIT_ENGINE with a line on stderr when not all of
 * it could be written. A closed pipe is no failure. kt_cli_run() and kt_cli_begin() do it themselves. */
int kt_finish_stdout(const char *program, int status);

/* Prints "program: " and the error as one line on stderr, behind what was printed on stdout. */
void kt_complain(const char *program, const struct kt_err *err);

int kt_list_add(struct kt_list *list, const char *s);
void kt_list_fini(struct kt_list *list);

#endif
