/* Tables for people: columns as wide as what is in them, numbers to the right.
 *
 *	kt_table_init(&table, "key", "api", "versions", NULL);
 *	kt_table_add(&table, "%d", 18);
 *	kt_table_add(&table, "%s", "ApiVersions");
 *	kt_table_add(&table, "0-4");
 *	kt_table_print(&table, stdout, kt_terminal_width(stdout));
 *	kt_table_fini(&table);
 *
 *	key  api          versions
 *	 18  ApiVersions  0-4
 *
 * When memory runs out the table remembers it and kt_table_print() says so.
 */
#ifndef KASSAY_TEXT_TABLE_H
#define KASSAY_TEXT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { KT_TABLE_COLUMNS = 16 };

struct kt_table {
	size_t ncolumns;
	char **cells;      /* row by row; the first row holds the heads */
	size_t n, cap;
	bool failed;
};

/* Heads, at most KT_TABLE_COLUMNS, NULL at the end. */
void kt_table_init(struct kt_table *table, ...) __attribute__((sentinel));
void kt_table_fini(struct kt_table *table);

/* The next cell of the row; behind the last one a new row begins. Control characters become '?'. */
void kt_table_add(struct kt_table *table, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Prints the whole rows. A column whose cells are all numbers (dashes and empty cells aside) is set to the right. width
 * cuts every line after so many characters, the last of them an ellipsis; 0 cuts nothing. Returns 0 or KT_ENOMEM. */
int kt_table_print(const struct kt_table *table, FILE *out, int width);

/* Columns of the terminal that f is, 0 if it is none. */
int kt_terminal_width(FILE *f);

#endif
