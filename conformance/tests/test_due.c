/* Which answers are still to come, told from the bytes that are sent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "conformance/due.h"
#include "lib/text/base64.h"

static struct cf_due due;
static struct kt_err err;

static void sent(const char *hex)
{
	uint8_t bytes[400];
	long n = kt_hex_decode(hex, strlen(hex), bytes);

	assert_true(n >= 0);
	assert_int_equal(cf_due_sent(&due, bytes, (size_t)n, &err), 0);
}

/* Metadata 0 with that correlation id. */
#define METADATA(id) "0000000e 0003 0000 " id " ffff 00000000"
/* Produce 3 and 9, of no topic. */
#define PRODUCE_3(acks, id) "00000016 0000 0003 " id " ffff ffff " acks " 00001000 00000000"
#define PRODUCE_9(acks, id) "00000014 0000 0009 " id " ffff 00 00 " acks " 00001000 01 00"

static void each_request_is_answered_once(void **state)
{
	(void)state;
	sent(METADATA("00000001") METADATA("ffffffff") METADATA("00000001"));
	assert_int_equal(due.n, 3);
	assert_true(cf_due_has(&due, -1));
	assert_false(cf_due_has(&due, 2));
	assert_true(cf_due_settle(&due, 1));
	assert_int_equal(due.ids[0], -1);
	assert_true(cf_due_settle(&due, 1));
	assert_false(cf_due_settle(&due, 1));
	assert_true(cf_due_settle(&due, -1));
	assert_int_equal(due.n, 0);
	cf_due_fini(&due);
}

static void pieces_are_put_together(void **state)
{
	(void)state;
	sent("0000");
	sent("000e 0003 0000 0000");
	assert_int_equal(due.n, 0);
	sent("0007 ffff 00000000" METADATA("00000008") "000000");
	assert_int_equal(due.n, 2);
	assert_int_equal(due.ids[0], 7);
	assert_int_equal(due.ids[1], 8);
	sent("0e 0003 0000 00000009 ffff 00000000");
	assert_int_equal(due.ids[2], 9);
	assert_int_equal(due.rest.n, 0);
	cf_due_fini(&due);
}

static void acks_zero_is_not_answered(void **state)
{
	(void)state;
	sent(PRODUCE_3("0000", "00000001") PRODUCE_9("0000", "00000002"));
	assert_int_equal(due.n, 0);
	sent(PRODUCE_3("0001", "00000003") PRODUCE_9("ffff", "00000004"));
	assert_int_equal(due.n, 2);
	/* What breaks in front of acks may be answered, with an error. */
	sent("0000000c 0000 0003 00000005 ffff 7fff");
	assert_int_equal(due.n, 3);
	/* Behind it, acks counts. */
	sent("00000010 0000 0003 00000006 ffff ffff 0000 0000");
	assert_int_equal(due.n, 3);
	cf_due_fini(&due);
}

/* A frame without a correlation id has no answer, and behind a size that none can have there are no frames. */
static void what_is_no_request(void **state)
{
	(void)state;
	sent("00000000 00000007 00030000 000000" METADATA("00000001"));
	assert_int_equal(due.n, 1);
	assert_int_equal(due.ids[0], 1);
	sent("ffffffff" METADATA("00000002"));
	assert_int_equal(due.n, 1);
	cf_due_fini(&due);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_request_is_answered_once),
		cmocka_unit_test(pieces_are_put_together),
		cmocka_unit_test(acks_zero_is_not_answered),
		cmocka_unit_test(what_is_no_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
