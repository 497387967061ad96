#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "lib/text/jaas.h"

static void reads_what_kafka_reads(void **state)
{
	struct kt_jaas jaas;

	(void)state;
	assert_int_equal(kt_jaas_parse(&jaas, "M OPTIONAL;", 11, NULL), 0);
	assert_string_equal(jaas.module, "M");
	assert_int_equal(jaas.n, 0);
	kt_jaas_fini(&jaas);
	assert_int_equal(kt_jaas_parse(&jaas, "M required a=\"\\t\" b=c;", 22, NULL), 0);
	assert_string_equal(kt_jaas_find(&jaas, "a"), "\t");
	assert_string_equal(kt_jaas_find(&jaas, "b"), "c");
	assert_null(kt_jaas_find(&jaas, "c"));
	kt_jaas_fini(&jaas);
}

static void last_option_wins(void **state)
{
	static const char text[] = "m required u=\"w;o=n d\\\"er\" e=\"\"u='2';";
	struct kt_jaas jaas;

	(void)state;
	assert_int_equal(kt_jaas_parse(&jaas, text, sizeof text - 1, NULL), 0);
	assert_int_equal(jaas.n, 3);
	assert_string_equal(jaas.v[0].value, "w;o=n d\"er");
	assert_string_equal(kt_jaas_find(&jaas, "e"), "");
	assert_string_equal(kt_jaas_find(&jaas, "u"), "2");
	kt_jaas_fini(&jaas);
}

static void refuses(void **state)
{
	static const struct { const char *text, *why; } rows[] = {
		{"", "a JAAS entry begins with the class of a login module"},
		{" ; ", "a JAAS entry begins with the class of a login module"},
		{"M;", "the login module is followed by required, requisite, sufficient or optional"},
		{"M needed;", "the login module is followed by required, requisite, sufficient or optional"},
		{"M required", "the JAAS entry is not terminated by a semicolon"},
		{"M required a=\"b", "option 'a' has no value; write NAME=\"VALUE\""},
		{"M required a b;", "option 'a' has no value; write NAME=\"VALUE\""},
		{"M required a='1''2' b=c;", "option '2' has no value; write NAME=\"VALUE\""},
		{"M required a=;", "option 'a' has no value; write NAME=\"VALUE\""},
		{"M required a=secret", "the JAAS entry is not terminated by a semicolon"},
		{"M required; N required;", "there is more than one JAAS entry"},
		{"M required; \"N required;", "there is more than one JAAS entry"},
		{"M required;'", "there is more than one JAAS entry"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct kt_jaas jaas;
		struct kt_err err = {0};

		assert_int_equal(kt_jaas_parse(&jaas, rows[i].text, strlen(rows[i].text), &err), KT_ESYNTAX);
		assert_string_equal(err.text, rows[i].why);
		kt_jaas_fini(&jaas);
	}
}

/* Every byte a word of its own needs the most room. */
static void fits(void **state)
{
	static const char text[] = "M required =======;;;;;;;=;=;";
	struct kt_jaas jaas;

	(void)state;
	for (size_t n = 0; n < sizeof text; n++) {
		kt_jaas_parse(&jaas, text, n, NULL);
		kt_jaas_fini(&jaas);
	}
	assert_int_equal(kt_jaas_parse(&jaas, "M required a\0=b;", 16, NULL), KT_ESYNTAX);
	kt_jaas_fini(&jaas);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_kafka_reads), cmocka_unit_test(last_option_wins), cmocka_unit_test(refuses),
		cmocka_unit_test(fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
