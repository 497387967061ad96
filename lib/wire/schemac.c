/* schemac: compiles the .msg files of lib/wire/schema into C structs (kw_messages.h) and field tables (kw_tables.c).
 *
 * The text form is described in docs/messages.md. Every error names file and line.
 */
#include "lib/wire/schemac.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *schemac_file;
int schemac_line;

void schemac_die(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "schemac: %s:%d: ", schemac_file, schemac_line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

static FILE *create(const char *dir, const char *name)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", dir, name);
	f = fopen(path, "w");
	schemac_file = name;
	schemac_line = 0;
	if (!f)
		schemac_die("cannot be written");
	return f;
}

int main(int argc, char **argv)
{
	struct msg *msgs;
	int n = argc - 3;

	if (argc < 4 || strcmp(argv[1], "-o") != 0) {
		fprintf(stderr, "usage: schemac -o DIR FILE.msg...\n");
		return 2;
	}
	schemac_file = argv[2];
	msgs = calloc((size_t)n, sizeof *msgs);
	if (!msgs)
		schemac_die("out of memory");
	for (int i = 0; i < n; i++)
		schemac_parse_file(&msgs[i], argv[i + 3]);
	schemac_put_header(create(argv[2], "kw_messages.h"), msgs, n);
	schemac_put_source(create(argv[2], "kw_tables.c"), msgs, n);
	for (int i = 0; i < n; i++)
		free(msgs[i].text);
	free(msgs);
	return 0;
}
