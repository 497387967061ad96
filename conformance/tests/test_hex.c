/* Text that stands for bytes, as programs write it and as hands change it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "conformance/inspect/hex.h"

static int read_hex(const char *text, struct kw_buf *buf, bool *is, struct kt_err *err)
{
	struct kw_slice slice = {(const uint8_t *)text, strlen(text)};

	kw_buf_init(buf, 0);
	return cf_hex_read(&slice, buf, is, err);
}

/* wanted: n bytes, the first of them 0, each further one greater by 1, but 0xff for those from..to. */
static void check(const char *text, size_t n, size_t from, size_t to)
{
	struct kt_err err = {0};
	struct kw_buf buf;
	bool is = false;

	if (read_hex(text, &buf, &is, &err))
		fail_msg("line %d: %s", err.line, err.text);
	assert_true(is);
	assert_int_equal(buf.n, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(buf.p[i], i >= from && i < to ? 0xff : (uint8_t)i);
	kw_buf_fini(&buf);
}

static void check_fault(const char *text, int code, int line, const char *wanted)
{
	struct kt_err err = {0};
	struct kw_buf buf;
	bool is = false;

	assert_int_equal(read_hex(text, &buf, &is, &err), code);
	assert_int_equal(err.line, line);
	assert_string_equal(err.text, wanted);
	kw_buf_fini(&buf);
}

static void check_none(const char *text)
{
	struct kt_err err = {0};
	struct kw_buf buf;
	bool is = true;

	assert_int_equal(read_hex(text, &buf, &is, &err), 0);
	assert_false(is);
	assert_int_equal(buf.n, 0);
	kw_buf_fini(&buf);
}

#define LINE0 "00 01 02 03 04 05 06 07  08 09 0a 0b 0c 0d 0e 0f"
#define ONES "ff ff ff ff ff ff ff ff  ff ff ff ff ff ff ff ff"
#define CANON0 "00000000  " LINE0 "  |................|\n"
#define CANON(at) at "  " ONES "  |................|\n"

static void dumps_of_hexdump(void **state)
{
	(void)state;
	check(CANON0 "00000010\n", 16, 0, 0);
	check(CANON0 CANON("00000010") "00000020  20 21 22 23 24 25 26 27                           | !\"#$%&'|\n"
	      "00000028\n", 40, 16, 32);
	check(CANON0 CANON("00000010") "00000020  20 21 22 23 24 25 26 27  28 29 2a 2b 2c 2d 2e     |0 11 22 33 44 |\n"
	      "0000002f\n", 47, 16, 32);
	check("00000000  00                                                |.|\n00000001\n", 1, 0, 0);
	/* Of ends that were cut off, and of other systems. */
	check("00000000  00 01\r\n00000002\r\n\r\n", 2, 0, 0);
	check("00000040  00 01 02                                          |...|", 3, 0, 0);
}

/* Lines that are like the one before are left out. */
static void equal_lines(void **state)
{
	(void)state;
	check(CANON0 CANON("00000010") "*\n00000040\n", 64, 16, 64);
	check(CANON0 CANON("00000010") "*\n00000040  40 41                                             |@A|\n"
	      "00000042\n", 66, 16, 64);
	check("00000100  " LINE0 "  |................|\n" CANON("00000110") "*\n00000140\n", 64, 16, 64);
	check("00000000: 0001 0203 0405 0607 0809 0a0b 0c0d 0e0f  ................\n"
	      "00000010: ffff ffff ffff ffff ffff ffff ffff ffff  ................\n*\n"
	      "00000030: ffff ffff ffff ffff ffff ffff ffff ffff  ................\n", 64, 16, 64);
	check_fault(CANON0 "*\n", KT_ESYNTAX, 2,
		    "ends the dump behind \"*\", without the offset that says how many lines it stands for");
	check_fault(CANON0 "*\n00000010\n", KT_ESYNTAX, 3, "does not lie behind whole lines like the one before \"*\"");
	check_fault(CANON0 "*\n00000021\n", KT_ESYNTAX, 3, "does not lie behind whole lines like the one before \"*\"");
	check_fault(CANON0 "*\n7fffffff0\n", KT_ESYNTAX, 3, "is no line of a dump, as those before");
	check_fault(CANON0 "*\n7ffffff0\n", KT_ELIMIT, 3, "lines that are left out stand for more than 256 MiB");
}

/* Groups of any size, lines of any length. */
static void dumps_of_xxd(void **state)
{
	(void)state;
	check("00000000: 0001 0203 0405 0607 0809 0a0b 0c0d 0e0f  ................\n"
	      "00000010: 1011 12                                  ...\n", 19, 0, 0);
	check("00000000: 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f  ................\n"
	      "00000010: 10 11 12                                         ...\n", 19, 0, 0);
	check("0000000: 00010203 04050607  ........\n0000008: 08090a     ...\n", 11, 0, 0);
	check("00000000: 000102030405060708090a0b0c0d0e0f101112131415  ......................\n", 22, 0, 0);
	check("00000000: 00  \n", 1, 0, 0);
}

/* The text beside the digits may look like digits, or have a bar. */
static void files_of_failures(void **state)
{
	(void)state;
	check("000000  00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f  12 34 56| 78 90ab\n"
	      "000010  10 11 12                                         |12\n", 19, 0, 0);
	check("fffff0  00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f  ................\n"
	      "1000000  10                                               .\n", 17, 0, 0);
}

static void pairs_of_digits(void **state)
{
	(void)state;
	check("00010203 04\n05 06\t07\r\n", 8, 0, 0);
	check("  00 01", 2, 0, 0);
	check("0001020304050607 08\n", 9, 0, 0);
	check_none("000102030");
	check_none("00 01 0x");
	check_none("0 0");
	check_none("");
	check_none(" \n ");
	check_none("20261130  a day's log\n");
	check_none("00000000: no digits\n");
	check_none("00000000: 00010 203  .....\n");
}

/* What began as a dump and is none any more is not taken for bytes of its own. */
static void dumps_that_stop_being_dumps(void **state)
{
	static const char no_line[] = "is no line of a dump, as those before";

	(void)state;
	check_fault(CANON0 "$ date\n", KT_ESYNTAX, 2, no_line);
	check_fault(CANON0 "00000010: 1011\n", KT_ESYNTAX, 2, no_line);
	check_fault(CANON0 "00000010  10 1\n", KT_ESYNTAX, 2, no_line);
	check_fault(CANON0 "00000010  10 1g\n", KT_ESYNTAX, 2, no_line);
	check_fault(CANON0 "00000010  " LINE0 " 10\n00000020\n", KT_ESYNTAX, 2, no_line);
	check_fault(CANON0 "00000020  20\n", KT_ESYNTAX, 2, "begins at offset 20, but the bytes before end at 10");
	check_fault(CANON0 "\n00000000  00\n", KT_ESYNTAX, 3, "begins at offset 0, but the bytes before end at 10");
	check_fault(CANON0 "00000010\n00000010  10\n", KT_ESYNTAX, 3, "stands behind the end of the dump");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dumps_of_hexdump),
		cmocka_unit_test(equal_lines),
		cmocka_unit_test(dumps_of_xxd),
		cmocka_unit_test(files_of_failures),
		cmocka_unit_test(pairs_of_digits),
		cmocka_unit_test(dumps_that_stop_being_dumps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
