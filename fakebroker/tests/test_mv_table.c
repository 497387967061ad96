/* The table of Kafka's rules by metadata.version in docs/configuration.md is what mv.def says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fakebroker/config/configdef.h"
#include "fakebroker/config/levels.h"
#include "lib/text/file.h"

static const char begin[] = "<!-- mv.def -->\n", end[] = "<!-- end of mv.def -->";

/* In the words of a scenario file. */
#define V_NONE "`{}`"
#define V_ENTRIES(most) "`{ \"maxEntries\": " #most " }`"

static const struct row {
	const char *scope, *name;
	int16_t level;
	const char *validator, *source;
} rows[] = {
#define FB_RULE(scope, name, level, validator, message, source) {#scope, name, level, validator, source},
#include "fakebroker/config/mv.def"
#undef FB_RULE
};

enum { NROWS = sizeof rows / sizeof *rows };

static void render(char *out, size_t size)
{
	size_t n = (size_t)snprintf(out, size, "| config | from level | must be | source |\n|---|---|---|---|\n");

	for (size_t i = 0; i < NROWS; i++) {
		bool first = i == 0 || strcmp(rows[i].name, rows[i - 1].name) != 0;
		char name[100] = "", level[40] = "every";

		assert_string_equal(rows[i].scope, "BROKER");
		if (first)
			snprintf(name, sizeof name, "`%s`", rows[i].name);
		if (rows[i].level)
			snprintf(level, sizeof level, "%d (%s)", rows[i].level, fb_level_name(rows[i].level));
		n += (size_t)snprintf(out + n, size - n, "| %s | %s | %s | %s |\n", name, level, rows[i].validator,
				      rows[i].source);
		assert_true(n < size);
	}
}

static void docs_have_the_table(void **state)
{
	char wanted[8192], *text, *from, *to;
	size_t n;

	(void)state;
	render(wanted, sizeof wanted);
	assert_int_equal(kt_file_read("docs/configuration.md", 1 << 20, &text, &n, NULL), 0);
	from = strstr(text, begin);
	to = from ? strstr(from, end) : NULL;
	assert_non_null(to);
	*to = '\0';
	if (strcmp(from + strlen(begin), wanted) != 0)
		print_error("docs/configuration.md is to have\n%s", wanted);
	assert_string_equal(from + strlen(begin), wanted);
	free(text);
}

/* The rows are what the definitions have: no key twice, none lost. */
static void definitions_have_the_rules(void **state)
{
	struct fb_configdefs *defs = fb_configdefs_new();
	const struct fb_configdef *def = NULL;
	size_t n = 0;

	(void)state;
	while ((def = fb_configdef_next(defs, FB_BROKER, def)))
		n += def->nmv;
	assert_int_equal(n, NROWS);
	for (size_t i = 0; i < NROWS; i++) {
		bool found = false;

		def = fb_configdef_find(defs, FB_BROKER, kw_str(rows[i].name));
		assert_non_null(def);
		for (size_t k = 0; k < def->nmv; k++)
			found |= def->mv[k].level == rows[i].level;
		assert_true(found);
	}
	fb_configdefs_free(defs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(docs_have_the_table),
		cmocka_unit_test(definitions_have_the_rules),
	};

	return cmocka_run_group_tests_name("mv table", tests, NULL, NULL);
}
