#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "lib/text/table.h"

static char printed[4096];

static const char *print(const struct kt_table *table, int width)
{
	FILE *out = fmemopen(printed, sizeof printed, "w");

	assert_int_equal(kt_table_print(table, out, width), 0);
	fclose(out);
	return printed;
}

static void columns_fit_their_content(void **state)
{
	struct kt_table table;

	(void)state;
	kt_table_init(&table, "key", "api", "versions", "n", NULL);
	for (int i = 0; i < 2; i++) {
		kt_table_add(&table, "%d", i ? 18 : 0);
		kt_table_add(&table, "%s", i ? "ApiVersions" : "Produce");
		kt_table_add(&table, "%s", i ? "0-4" : "3-12");
		kt_table_add(&table, "%s", i ? "-" : "-17.5");
	}
	kt_table_add(&table, "not a whole row");
	assert_string_equal(print(&table, 0),
		"key  api          versions      n\n"
		"  0  Produce      3-12      -17.5\n"
		" 18  ApiVersions  0-4           -\n");
	kt_table_fini(&table);
}

static void lines_are_cut_to_the_terminal(void **state)
{
	struct kt_table table;

	(void)state;
	kt_table_init(&table, "name", "text", NULL);
	kt_table_add(&table, "gr\xc3\xbc\xc3\x9f");
	kt_table_add(&table, "a\xe2\x82\xac" "b");
	assert_string_equal(print(&table, 0), "name  text\ngr\xc3\xbc\xc3\x9f  a\xe2\x82\xac" "b\n");
	assert_string_equal(print(&table, 8), "name  t\xe2\x80\xa6\ngr\xc3\xbc\xc3\x9f  a\xe2\x80\xa6\n");
	assert_string_equal(print(&table, 9), "name  te\xe2\x80\xa6\ngr\xc3\xbc\xc3\x9f  a\xe2\x82\xac" "b\n");
	assert_string_equal(print(&table, 1), "\xe2\x80\xa6\n\xe2\x80\xa6\n");
	kt_table_fini(&table);
}

static void empty_cells_leave_no_blanks_at_the_end(void **state)
{
	struct kt_table table;

	(void)state;
	kt_table_init(&table, "a", "b", "c", NULL);
	kt_table_add(&table, "x");
	kt_table_add(&table, "%s", "");
	kt_table_add(&table, "%s", "");
	kt_table_add(&table, "%s", "");
	kt_table_add(&table, "%s", "");
	kt_table_add(&table, "y\n");
	assert_string_equal(print(&table, 0), "a  b  c\nx\n      y?\n");
	kt_table_fini(&table);
}

static void a_file_is_no_terminal(void **state)
{
	FILE *f = tmpfile();

	(void)state;
	assert_int_equal(kt_terminal_width(f), 0);
	fclose(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_fit_their_content),
		cmocka_unit_test(lines_are_cut_to_the_terminal),
		cmocka_unit_test(empty_cells_leave_no_blanks_at_the_end),
		cmocka_unit_test(a_file_is_no_terminal),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
