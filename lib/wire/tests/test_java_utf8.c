/* The right column is what `new String(bytes, UTF_8).getBytes(UTF_8)` gives on OpenJDK 17. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lib/wire/java_utf8.h"

#define R "\xef\xbf\xbd"

struct pair {
	const char *in, *out;   /* out NULL: the same */
};

static const struct pair pairs[] = {
	{"", NULL},
	{"key", NULL},
	{"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", NULL},
	{"\xf4\x8f\xbf\xbf", NULL},
	{"\xff\xfe", R R},
	{"\x80\x80", R R},
	{"\xc0\xaf", R R},                     /* over-long */
	{"\xe0\x80\xaf", R R R},
	{"\xf0\x8f\xbf\xbf", R R R R},
	{"\xf4\x90\x80\x80", R R R R},         /* beyond U+10FFFF */
	{"\xf5\x80\x80\x80", R R R R},
	{"\xed\xa0\x80", R},                   /* a surrogate */
	{"\xed\xa0\x80\xed\xb0\x80", R R},
	{"a\xc3", "a" R},                      /* cut */
	{"\xe2\x82", R},
	{"\xf0\x9f\x98", R},
	{"\xc3z", R "z"},
	{"\xe2\x82z", R "z"},
	{"\xe2z\x82", R "z" R},
	{"\xf0\x9fz", R "z"},
	{"\xf0\x9f\x98z", R "z"},
	{"\xf0\x9f\xe2\x82\xac", R "\xe2\x82\xac"},
};

static void test_pairs(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
		const char *want = pairs[i].out ? pairs[i].out : pairs[i].in;
		const uint8_t *in = (const uint8_t *)pairs[i].in;
		struct kw_buf out = {0};

		kw_java_utf8_put(&out, in, strlen(pairs[i].in));
		kw_put(&out, "", 1);
		assert_string_equal((const char *)out.p, want);
		assert_int_equal(kw_java_utf8_good(in, strlen(pairs[i].in)), pairs[i].out == NULL);
		kw_buf_fini(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_pairs)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
