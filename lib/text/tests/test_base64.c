#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "lib/text/base64.h"

static void check(const char *bytes, const char *standard, const char *url)
{
	size_t n = strlen(bytes);
	char text[40];
	uint8_t back[40];

	assert_int_equal(kt_base64_len(n, false), strlen(standard));
	kt_base64_encode((const uint8_t *)bytes, n, false, text);
	assert_string_equal(text, standard);
	assert_int_equal(kt_base64_len(n, true), strlen(url));
	kt_base64_encode((const uint8_t *)bytes, n, true, text);
	assert_string_equal(text, url);
	assert_int_equal(kt_base64_decode(standard, strlen(standard), back), n);
	assert_memory_equal(back, bytes, n);
	assert_int_equal(kt_base64_decode(url, strlen(url), back), n);
	assert_memory_equal(back, bytes, n);
}

/* RFC 4648, section 10. */
static void as_the_standard_has_it(void **state)
{
	(void)state;
	check("", "", "");
	check("f", "Zg==", "Zg");
	check("fo", "Zm8=", "Zm8");
	check("foo", "Zm9v", "Zm9v");
	check("foob", "Zm9vYg==", "Zm9vYg");
	check("fooba", "Zm9vYmE=", "Zm9vYmE");
	check("foobar", "Zm9vYmFy", "Zm9vYmFy");
	check("\xfb\xff\xfe", "+//+", "-__-");
}

static void what_is_no_base64(void **state)
{
	static const char *const texts[] = {"Z", "Zg=", "Zh==", "Zm9=", "Zm9", "Zm9v=", "====", "Zm 9", "Zg==Zg==",
					    "Zm8\n"};
	uint8_t back[40];

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		assert_int_equal(kt_base64_decode(texts[i], strlen(texts[i]), back), -1);
	assert_int_equal(kt_base64_decode("Zg\0=", 4, back), -1);
}

static void hex(void **state)
{
	uint8_t back[8];
	char text[9];

	(void)state;
	kt_hex_encode((const uint8_t *)"\x00\x7f\x80\xff", 4, text);
	assert_string_equal(text, "007f80ff");
	assert_int_equal(kt_hex_decode(" 00 7F\t80\r\nfF ", 14, back), 4);
	assert_memory_equal(back, "\x00\x7f\x80\xff", 4);
	assert_int_equal(kt_hex_decode("", 0, back), 0);
	assert_int_equal(kt_hex_decode("0", 1, back), -1);
	assert_int_equal(kt_hex_decode("0 0", 3, back), -1);
	assert_int_equal(kt_hex_decode("0g", 2, back), -1);
	assert_int_equal(kt_hex_decode("00\0", 3, back), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_the_standard_has_it),
		cmocka_unit_test(what_is_no_base64),
		cmocka_unit_test(hex),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
