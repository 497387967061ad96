/* The table of mutants: what is on, and that each is read where the table says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fakebroker/mutants.h"

static const char *const symbols[FB_NMUTANTS] = {
#define X(sym, name, place, breaks) [sym] = #sym,
#include "fakebroker/mutants.def"
#undef X
};

static char *text_of(const char *place)
{
	char path[200], *text = calloc(1, 1 << 20);
	FILE *f;

	snprintf(path, sizeof path, "fakebroker/%s", place);
	f = fopen(path, "r");
	if (!f || !text)
		fail_msg("%s is not there", path);
	assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
	fclose(f);
	return text;
}

/* As a word of its own: one symbol may begin like another. */
static bool mentions(const char *text, const char *symbol)
{
	size_t n = strlen(symbol);

	for (const char *at = text; (at = strstr(at, symbol)); at += n)
		if (strspn(at + n, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == 0)
			return true;
	return false;
}

static void each_is_read_at_its_place(void **state)
{
	(void)state;
	for (int i = 0; i < FB_NMUTANTS; i++) {
		char *text = text_of(fb_mutants[i].place);

		if (!mentions(text, symbols[i]))
			fail_msg("%s does not read %s", fb_mutants[i].place, symbols[i]);
		free(text);
	}
}

static void names_are_unique(void **state)
{
	(void)state;
	for (int i = 0; i < FB_NMUTANTS; i++) {
		assert_non_null(strchr(fb_mutants[i].name, '.'));
		for (int k = 0; k < i; k++)
			assert_string_not_equal(fb_mutants[i].name, fb_mutants[k].name);
	}
}

static void those_named_are_on(void **state)
{
	static const char *const names[] = {"records.crc-unchecked", "validators.reversed"};
	struct kt_err err = {0};

	(void)state;
	assert_false(fb_mutant(FB_M_CRC_UNCHECKED));
	assert_int_equal(fb_mutants_switch(names, 2, &err), 0);
	assert_true(fb_mutant(FB_M_CRC_UNCHECKED));
	assert_true(fb_mutant(FB_M_CHAIN_REVERSED));
	assert_false(fb_mutant(FB_M_CRC_BEFORE_SIZE));
	assert_int_equal(fb_mutants_switch(NULL, 0, &err), 0);
	assert_false(fb_mutant(FB_M_CRC_UNCHECKED));
}

static void an_unknown_name_is_an_error(void **state)
{
	static const char *const names[] = {"records.crc-unchekced"};
	struct kt_err err = {0};

	(void)state;
	assert_int_equal(fb_mutants_switch(names, 1, &err), KT_EUNKNOWN);
	assert_string_equal(err.text,
			    "unknown mutant \"records.crc-unchekced\"; did you mean \"records.crc-unchecked\"?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_read_at_its_place),
		cmocka_unit_test(names_are_unique),
		cmocka_unit_test(those_named_are_on),
		cmocka_unit_test(an_unknown_name_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
