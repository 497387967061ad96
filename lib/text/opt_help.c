#include "lib/text/opt_help.h"

#include <string.h>

enum {
	WIDTH = 100,       /* of a line */
	WIDEST_LEFT = 32,  /* left column; a wider entry has its help on the next line */
};

const struct kt_opt kt_opt_own[] = {
	KT_FLAG('h', "help", NULL, "print this"),
	KT_FLAG(0, "version", NULL, "print the version"),
	KT_END
};

/* Prints text from column `at` on; further lines begin at column `indent`. */
static void print_wrapped(FILE *out, const char *text, int at, int indent)
{
	while (*text) {
		size_t n = strcspn(text, " \n");

		if (at > indent && at + 1 + (int)n > WIDTH) {
			fprintf(out, "\n%*s", indent, "");
			at = indent;
		}
		at += fprintf(out, "%s%.*s", at > indent ? " " : "", (int)n, text);
		text += n;
		for (; *text == '\n'; text++) {
			fprintf(out, "\n%*s", indent, "");
			at = indent;
		}
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

/* One row of a list: what it is, and its help in a second column. */
static void print_row(FILE *out, const char *left, int column, const char *help)
{
	int n = fprintf(out, "  %s", left);

	if (n + 2 > column) {
		fputc('\n', out);
		n = 0;
	}
	fprintf(out, "%*s", column - n, "");
	print_wrapped(out, help, column, column);
}

/* "-p, --port P" */
static int left_of(const struct kt_opt *opt, char *buf, size_t size)
{
	char letter[] = {'-', opt->letter, ',', ' ', '\0'};

	return snprintf(buf, size, "%s--%s%s%s", opt->letter ? letter : "    ", opt->name, opt->arg ? " " : "",
			opt->arg ? opt->arg : "");
}

static int column_of(const struct kt_opt *opt)
{
	char left[256];
	int widest = 0, n;

	for (; opt->type != KT_OPT_END; opt++) {
		n = opt->type == KT_OPT_GROUP ? 0 : left_of(opt, left, sizeof left);
		if (n > widest && n <= WIDEST_LEFT)
			widest = n;
	}
	return widest + 4;
}

static void print_options(FILE *out, const struct kt_opt *opt, int column)
{
	char left[256];

	for (; opt->type != KT_OPT_END; opt++) {
		if (opt->type == KT_OPT_GROUP) {
			fprintf(out, "\n%s:\n", opt->name);
		} else {
			left_of(opt, left, sizeof left);
			print_row(out, left, column, opt->help);
		}
	}
}

static void print_commands(FILE *out, const struct kt_cli *cli)
{
	const struct kt_command *command;
	int widest = 0;

	for (command = cli->commands; command->name; command++) {
		if ((int)strlen(command->name) > widest)
			widest = (int)strlen(command->name);
	}
	fprintf(out, "\nCommands (%s COMMAND --help says more):\n", cli->program);
	for (command = cli->commands; command->name; command++)
		print_row(out, command->name, widest + 4, command->help);
}

static void print_lines(FILE *out, const char *title, const char *lines)
{
	fprintf(out, "\n%s:\n", title);
	while (*lines) {
		size_t n = strcspn(lines, "\n");

		fprintf(out, "  %.*s\n", (int)n, lines);
		lines += n + (lines[n] == '\n');
	}
}

/* Some have the same meaning everywhere, unless it is more. */
static void print_exits(FILE *out, const char *const *exits)
{
	static const char *const common[KT_EXITS] = {
		[KT_EXIT_OK] = "done", [KT_EXIT_USAGE] = "wrong usage",
		[KT_EXIT_ENGINE] = "out of memory, or the output cannot be written",
	};
	char code[16];

	fputs("\nExit codes:\n", out);
	for (int i = 0; i < KT_EXITS; i++) {
		const char *means = exits[i] ? exits[i] : common[i];

		snprintf(code, sizeof code, "%d", i);
		if (means)
			print_row(out, code, 5, means);
	}
}

void kt_opt_print_help(const struct kt_cli *cli, FILE *out)
{
	int own = column_of(kt_opt_own), column = cli->options ? column_of(cli->options) : 0;

	fprintf(out, "Usage: %s [OPTION]...%s%s\n\n", cli->program, cli->args ? " " : "", cli->args ? cli->args : "");
	print_wrapped(out, cli->about, 0, 0);
	if (cli->commands)
		print_commands(out, cli);
	if (cli->options)
		print_options(out, cli->options, column > own ? column : own);
	fputs("\nHelp:\n", out);
	print_options(out, kt_opt_own, column > own ? column : own);
	if (cli->examples)
		print_lines(out, "Examples", cli->examples);
	print_exits(out, cli->exits);
}
