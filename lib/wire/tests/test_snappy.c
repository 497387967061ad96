/* snappy, raw and in the frames of snappy-java. */
#include "lib/wire/tests/streams.h"

#include <snappy-c.h>

static const uint8_t xerial[16] = {0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0, 0, 0, 0, 1, 0, 0, 0, 1};

static void put_block(const uint8_t *p, size_t n)
{
	size_t size = snappy_max_compressed_length(n);
	uint8_t *room = kw_buf_room(&packed, size);

	snappy_compress((const char *)p, n, (char *)room, &size);
	packed.n += size;
}

static void put_chunk(const uint8_t *p, size_t n)
{
	size_t at = packed.n;

	kw_put_u32(&packed, 0);
	put_block(p, n);
	kw_wr32(packed.p + at, (uint32_t)(packed.n - at - 4));
}

static void snappy_is_written_as_clients_do(void **state)
{
	(void)state;
	pack(KW_SNAPPY, text, 40000);
	assert_memory_equal(packed.p, xerial, sizeof xerial);
	assert_int_equal(packed.p[20] | packed.p[21] << 8 | packed.p[22] << 16, 0x028080);   /* 32768 as a varint */
}

/* A raw block of 130 bytes begins with 0x82, as the framing does. */
static void snappy_raw_blocks(void **state)
{
	static const size_t sizes[] = {0, 1, 2, 130, 258, 16384, BIG};

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		kw_buf_clear(&packed);
		put_block(text, sizes[i]);
		assert_int_equal(unpack_packed(KW_SNAPPY), 0);
		assert_out(text, sizes[i]);
	}
	kw_buf_clear(&packed);
	put_block(text, 130);
	assert_int_equal(packed.p[0], 0x82);
}

static void snappy_raw_on_request(void **state)
{
	static const struct kw_deflate_opts raw = {.snappy_raw = true};

	(void)state;
	kw_buf_clear(&packed);
	assert_int_equal(kw_compress_as(KW_SNAPPY, &raw, text, 130, &packed, NULL), 0);
	assert_memory_equal(packed.p, "\x82\x01", 2);
	assert_int_equal(unpack_packed(KW_SNAPPY), 0);
	assert_out(text, 130);
	kw_buf_clear(&packed);
	assert_int_equal(kw_compress_as(KW_SNAPPY, &raw, text, 0, &packed, NULL), 0);
	assert_int_equal(packed.n, 1);
	kw_buf_fini(&packed);
	packed.max = 8;
	assert_int_equal(kw_compress_as(KW_SNAPPY, &raw, text, 130, &packed, NULL), KT_ELIMIT);
	packed.max = 0;
	packed.failed = 0;
}

static void snappy_claims_are_not_believed(void **state)
{
	static const uint8_t gib[] = {0x80, 0x80, 0x80, 0x80, 0x04, 0, 'a', 0, 'b', 0};

	(void)state;
	kw_buf_fini(&out);
	assert_int_equal(unpack(KW_SNAPPY, gib, sizeof gib, (size_t)2 << 30), KT_ECORRUPT);
	assert_int_equal(out.cap, 0);
	assert_int_equal(unpack(KW_SNAPPY, "\xff\xff\xff\xff\xff\xff", 6, MIB), KT_ECORRUPT);
}

static void snappy_chunks(void **state)
{
	(void)state;
	kw_buf_clear(&packed);
	kw_put(&packed, xerial, sizeof xerial);
	put_chunk(text, 100);
	kw_put(&packed, xerial, sizeof xerial);   /* concatenated streams */
	put_chunk(text + 100, 50);
	assert_int_equal(unpack_packed(KW_SNAPPY), 0);
	assert_out(text, 150);
	kw_put(&packed, "\0\0\0", 3);             /* less than a length is the end */
	assert_int_equal(unpack_packed(KW_SNAPPY), 0);
	kw_put(&packed, "\1", 1);
	assert_int_equal(unpack_packed(KW_SNAPPY), KT_ETRUNC);
	assert_string_equal(err.text, "snappy: failed to read chunk");
}

static void snappy_chunk_lengths(void **state)
{
	static const uint32_t lengths[] = {0, 0xffffffff, 0x80000000, 0x7fffffff, 1000000000, 5};

	(void)state;
	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		kw_buf_clear(&packed);
		kw_put(&packed, xerial, sizeof xerial);
		kw_put_u32(&packed, lengths[i]);
		kw_put(&packed, "\1\0a", 3);
		assert_int_not_equal(unpack_packed(KW_SNAPPY), 0);
	}
	kw_buf_clear(&packed);
	kw_put(&packed, xerial, sizeof xerial);
	packed.p[11] = 0;                         /* version */
	put_chunk(text, 10);
	assert_int_equal(unpack_packed(KW_SNAPPY), 0);   /* Kafka reads the version of a second header only */
	kw_put(&packed, packed.p, 15);
	assert_int_equal(unpack_packed(KW_SNAPPY), KT_ETRUNC);
	kw_put_u8(&packed, 1);
	assert_int_equal(unpack_packed(KW_SNAPPY), KT_ECORRUPT);
	packed.p[packed.n - 12] ^= 1;             /* in the magic, but not in its first four bytes */
	assert_int_equal(unpack_packed(KW_SNAPPY), 0);
}

static void snappy_fault_loses_its_step(void **state)
{
	(void)state;
	kw_buf_clear(&packed);
	kw_put(&packed, xerial, sizeof xerial);
	put_chunk(text, 5000);
	kw_put_u32(&packed, 0xffffffff);
	assert_int_equal(unpack_packed(KW_SNAPPY), KT_ECORRUPT);
	assert_out(text, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(snappy_is_written_as_clients_do),
		cmocka_unit_test(snappy_raw_blocks),
		cmocka_unit_test(snappy_raw_on_request),
		cmocka_unit_test(snappy_claims_are_not_believed),
		cmocka_unit_test(snappy_chunks),
		cmocka_unit_test(snappy_chunk_lengths),
		cmocka_unit_test(snappy_fault_loses_its_step),
	};

	return cmocka_run_group_tests(tests, fill_text, free_bufs);
}
