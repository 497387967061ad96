#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/wire/batch.h"

static void the_check_value(void **state)
{
	(void)state;
	assert_int_equal(kw_crc32c(0, "123456789", 9), 0xe3069283);
	assert_int_equal(kw_crc32c(0, "", 0), 0);
}

/* RFC 3720 appendix B.4, there in the byte order of the wire. */
static void rfc_3720(void **state)
{
	static const uint8_t read10[48] = {
		0x01, 0xc0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x14, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x00, 0x14, 0x00, 0x00, 0x00, 0x18,
		0x28, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	};
	uint8_t bytes[32] = {0};

	(void)state;
	assert_int_equal(kw_crc32c(0, bytes, 32), 0x8a9136aa);
	memset(bytes, 0xff, 32);
	assert_int_equal(kw_crc32c(0, bytes, 32), 0x62a8ab43);
	for (int i = 0; i < 32; i++)
		bytes[i] = (uint8_t)i;
	assert_int_equal(kw_crc32c(0, bytes, 32), 0x46dd794e);
	for (int i = 0; i < 32; i++)
		bytes[i] = (uint8_t)(31 - i);
	assert_int_equal(kw_crc32c(0, bytes, 32), 0x113fdb5c);
	assert_int_equal(kw_crc32c(0, read10, 48), 0xd9963a56);
}

static void goes_on_where_it_stopped(void **state)
{
	uint8_t bytes[300];

	(void)state;
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)(i * 37);
	for (size_t cut = 0; cut <= sizeof bytes; cut++)
		assert_int_equal(kw_crc32c(kw_crc32c(0, bytes, cut), bytes + cut, sizeof bytes - cut),
				 kw_crc32c(0, bytes, sizeof bytes));
}

static void batch_crc_begins_at_the_attributes(void **state)
{
	uint8_t batch[30] = {0};

	(void)state;
	memcpy(batch + 21, "123456789", 9);
	memset(batch, 0x55, 21);
	assert_int_equal(kw_batch_crc(batch, sizeof batch), 0xe3069283);
	assert_int_equal(kw_batch_crc(batch, 21), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_check_value),
		cmocka_unit_test(rfc_3720),
		cmocka_unit_test(goes_on_where_it_stopped),
		cmocka_unit_test(batch_crc_begins_at_the_attributes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
