/* What Java 17 makes of bytes: new String(bytes, UTF_8).hashCode(), and which of 50 partitions Kafka picks by it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "fakebroker/config/java_hash.h"

static const struct {
	const char *bytes;
	int32_t n, hash, slot;
} strings[] = {
	{"", 0, 0, 0},
	{"\x61", 1, 97, 47},
	{"\x74\x78", 2, 3716, 16},
	{"\xe4\xf6", 2, 2097056, 6},
	{"\xc3\xa4\xc3\xb6", 4, 7314, 14},
	{"\xe2\x82\xac", 3, 8364, 14},
	{"\xf0\x9f\x98\x80", 4, 1772899, 49},
	{"\xf4\x8f\xbf\xbf", 4, 1803232, 32},
	{"\xe2\x99\xa5\xf0\x9f\x98\x80\xc3\xa9", 9, 347775841, 41},
	{"\xff", 1, 65533, 33},
	{"\x80", 1, 65533, 33},
	{"\xc0\xaf", 2, 2097056, 6},
	{"\xc3", 1, 65533, 33},
	{"\xe2\x82", 2, 65533, 33},
	{"\xe2\x82\x61", 3, 2031620, 20},
	{"\xed\xa0\x80", 3, 65533, 33},
	{"\xed\xa0\x80\xed\xb0\x80", 6, 2097056, 6},
	{"\xf0\x90\x80\x80", 4, 1770496, 46},
	{"\xf0\x8f\x80\x80", 4, 2017367872, 22},
	{"\xf4\x90\x80", 3, 65074269, 19},
	{"\xf5\x80\x80\x80", 4, 2017367872, 22},
	{"\xf0\x9f\x98", 3, 65533, 33},
	{"\xf0\x9f\x98\x61", 4, 2031620, 20},
	{"\xe0\x80\x80", 3, 65074269, 19},
	{"\x61\xc3\x80\xff\x62", 5, 5105860, 10},
};

static void test_hash(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
		const struct kw_str s = {strings[i].bytes, strings[i].n};

		if ((int32_t)fb_java_hash(s) != strings[i].hash)
			fail_msg("string %zu: %d, not %d", i, (int)fb_java_hash(s), (int)strings[i].hash);
		assert_int_equal(fb_java_slot(s, 50), strings[i].slot);
	}
	assert_int_equal(fb_java_hash(KW_NULL_STR), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_hash)};

	return cmocka_run_group_tests_name("java hash", tests, NULL, NULL);
}
