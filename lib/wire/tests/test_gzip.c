/* gzip as Java reads it: members, their headers and trailers, and how much of a broken one comes out. */
#include "lib/wire/tests/streams.h"

#include <zlib.h>

/* A member with all optional header parts. */
static void put_member(const uint8_t *p, size_t n)
{
	gz_header header = {.extra = (Bytef *)"ex\0tra", .extra_len = 6, .name = (Bytef *)"name",
			    .comment = (Bytef *)"c", .hcrc = 1};
	uint8_t *room = kw_buf_room(&packed, n + 200);
	z_stream z = {0};

	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 31, 8, 0), Z_OK);
	deflateSetHeader(&z, &header);
	z.next_in = (Bytef *)(uintptr_t)p;
	z.avail_in = (uInt)n;
	z.next_out = room;
	z.avail_out = (uInt)n + 200;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	packed.n += z.total_out;
	deflateEnd(&z);
}

static void gzip_members_and_what_follows(void **state)
{
	(void)state;
	kw_buf_clear(&packed);
	put_member(text, SMALL);
	put_member(text + SMALL, SMALL);
	assert_int_equal(unpack_packed(KW_GZIP), 0);
	assert_out(text, 2 * SMALL);
	kw_put(&packed, "trailing bytes that are no gzip header", 38);
	assert_int_equal(unpack_packed(KW_GZIP), 0);
	assert_out(text, 2 * SMALL);
	kw_put(&packed, "\x1f\x8b\x08\0", 4);
	assert_int_equal(unpack_packed(KW_GZIP), 0);
}

static void gzip_header_faults(void **state)
{
	(void)state;
	kw_buf_clear(&packed);
	put_member(text, SMALL);
	packed.p[12] ^= 1;   /* in the extra field, which the header CRC covers */
	assert_int_equal(unpack_packed(KW_GZIP), KT_ECORRUPT);
	assert_string_equal(err.text, "gzip: Corrupt GZIP header");
	assert_int_equal(unpack(KW_GZIP, text, SMALL, MIB), KT_ECORRUPT);
	assert_string_equal(err.text, "gzip: Not in GZIP format");
	assert_int_equal(unpack(KW_GZIP, "\x1f\x8b\x07\0\0\0\0\0\0\0", 10, MIB), KT_ECORRUPT);
	/* A name without end, an extra field beyond the end. */
	assert_int_equal(unpack(KW_GZIP, "\x1f\x8b\x08\x08\0\0\0\0\0\0name", 14, MIB), KT_ECORRUPT);
	assert_int_equal(unpack(KW_GZIP, "\x1f\x8b\x08\x04\0\0\0\0\0\0\xff\xffxx", 14, MIB), KT_ECORRUPT);
	assert_int_equal(unpack(KW_GZIP, "\x1f\x8b\x08\x0c\0\0\0\0\0\0\xff\xffxx", 14, MIB), KT_ECORRUPT);
	assert_int_equal(unpack(KW_GZIP, "", 0, MIB), KT_ETRUNC);
}

static void gzip_trailer_faults_come_after_the_data(void **state)
{
	(void)state;
	for (size_t at = 1; at <= 8; at++) {   /* CRC, then length */
		pack(KW_GZIP, text, SMALL);
		packed.p[packed.n - at] ^= 1;
		assert_int_equal(unpack_packed(KW_GZIP), KT_ECORRUPT);
		assert_string_equal(err.text, "gzip: Corrupt GZIP trailer");
		assert_out(text, SMALL);
	}
	pack(KW_GZIP, text, SMALL);
	assert_int_equal(unpack(KW_GZIP, packed.p, packed.n - 8, MIB), KT_ETRUNC);
	assert_out(text, SMALL);
}

static void gzip_data_fault_loses_its_step(void **state)
{
	(void)state;
	kw_buf_clear(&packed);
	kw_put(&packed, "\x1f\x8b\x08\0\0\0\0\0\0\0", 10);
	kw_put(&packed, "\0\x64\x40\x9b\xbf", 5);   /* a stored block of 16384 + 100 bytes */
	kw_put(&packed, text, 16384 + 100);
	kw_put_u8(&packed, 7);                      /* a block type that there is not */
	assert_int_equal(unpack_packed(KW_GZIP), KT_ECORRUPT);
	assert_string_equal(err.text, "gzip: invalid block type");
	assert_out(text, 16384);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gzip_members_and_what_follows),
		cmocka_unit_test(gzip_header_faults),
		cmocka_unit_test(gzip_trailer_faults_come_after_the_data),
		cmocka_unit_test(gzip_data_fault_loses_its_step),
	};

	return cmocka_run_group_tests(tests, fill_text, free_bufs);
}
