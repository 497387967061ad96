#include "lib/text/table.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "lib/text/err.h"

/* Takes ownership of s, which is NULL when memory ran out. */
static void take_cell(struct kt_table *table, char *s)
{
	size_t cap = table->cap ? table->cap * 2 : 64;
	char **grown;

	if (s && table->n == table->cap) {
		grown = realloc(table->cells, cap * sizeof *grown);
		if (grown) {
			table->cells = grown;
			table->cap = cap;
		}
	}
	if (s && table->n < table->cap) {
		kt_clean(s);
		table->cells[table->n++] = s;
	} else {
		free(s);
		table->failed = true;
	}
}

void kt_table_init(struct kt_table *table, ...)
{
	const char *head;
	va_list ap;

	*table = (struct kt_table){0};
	va_start(ap, table);
	while ((head = va_arg(ap, const char *))) {
		take_cell(table, strdup(head));
		table->ncolumns++;
	}
	va_end(ap);
	assert(table->ncolumns > 0 && table->ncolumns <= KT_TABLE_COLUMNS);
}

void kt_table_fini(struct kt_table *table)
{
	for (size_t i = 0; i < table->n; i++)
		free(table->cells[i]);
	free(table->cells);
	*table = (struct kt_table){0};
}

void kt_table_add(struct kt_table *table, const char *fmt, ...)
{
	va_list ap;
	char *s;

	if (table->failed)
		return;
	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		s = NULL;
	va_end(ap);
	take_cell(table, s);
}

/* Characters of UTF-8 text. */
static int width_of(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static bool is_number(const char *s)
{
	s += *s == '-' || *s == '+';
	return strchr("0123456789", *s) && *s && !s[strspn(s, "0123456789.%")];
}

static bool is_numeric(const struct kt_table *table, size_t column, size_t rows)
{
	bool any = false;

	for (size_t i = 1; i < rows; i++) {
		const char *s = table->cells[i * table->ncolumns + column];

		if (is_number(s))
			any = true;
		else if (*s && strcmp(s, "-") != 0)
			return false;
	}
	return any;
}

/* Puts one row into a line without blanks at its end. */
static void put_row(FILE *out, char *const *cells, size_t ncolumns, const int *widths, const bool *right)
{
	int owed = 0;   /* blanks before the next text */

	for (size_t i = 0; i < ncolumns; i++) {
		int pad = widths[i] - width_of(cells[i]);

		if (*cells[i])
			fprintf(out, "%*s%s", owed + (right[i] ? pad : 0), "", cells[i]);
		if (*cells[i])
			owed = (right[i] ? 0 : pad) + 2;
		else
			owed += widths[i] + 2;
	}
}

/* Prints a line, cut to width characters unless that is 0. */
static void print_line(FILE *out, const char *line, int width)
{
	const char *end = line;

	if (width <= 0 || width_of(line) <= width) {
		fprintf(out, "%s\n", line);
		return;
	}
	for (int n = 1; n < width; n++) {
		for (end++; ((unsigned char)*end & 0xc0) == 0x80; end++)
			;
	}
	fprintf(out, "%.*s\u2026\n", (int)(end - line), line);
}

int kt_table_print(const struct kt_table *table, FILE *out, int width)
{
	int widths[KT_TABLE_COLUMNS] = {0}, rc = 0;
	bool right[KT_TABLE_COLUMNS];
	size_t size, rows = table->ncolumns ? table->n / table->ncolumns : 0;
	char *line = NULL;
	FILE *f;

	if (table->failed)
		return KT_ENOMEM;
	for (size_t i = 0; i < rows * table->ncolumns; i++) {
		if (width_of(table->cells[i]) > widths[i % table->ncolumns])
			widths[i % table->ncolumns] = width_of(table->cells[i]);
	}
	for (size_t i = 0; i < table->ncolumns; i++)
		right[i] = is_numeric(table, i, rows);
	for (size_t i = 0; i < rows && rc == 0; i++) {
		f = open_memstream(&line, &size);
		if (!f)
			return KT_ENOMEM;
		put_row(f, table->cells + i * table->ncolumns, table->ncolumns, widths, right);
		if (fclose(f) == 0)
			print_line(out, line, width);
		else
			rc = KT_ENOMEM;
		free(line);
	}
	return rc;
}

int kt_terminal_width(FILE *f)
{
	struct winsize size;

	return ioctl(fileno(f), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}
