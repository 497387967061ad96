/* lz4 frames: as Kafka writes and reads them, and those of others. */
#include "lib/wire/tests/streams.h"

#include <lz4frame.h>

static void lz4_frame(const uint8_t *p, size_t n, LZ4F_frameInfo_t info)
{
	LZ4F_preferences_t prefs = {.frameInfo = info};
	size_t bound = LZ4F_compressFrameBound(n, &prefs);
	uint8_t *room;

	kw_buf_clear(&packed);
	room = kw_buf_room(&packed, bound);
	packed.n = LZ4F_compressFrame(room, bound, p, n, &prefs);
}

/* The header checksum covers the two descriptor bytes; old clients hashed the magic too and wrote 0x1a. */
static void lz4_header_checksum(void **state)
{
	(void)state;
	pack(KW_LZ4, text, SMALL);
	assert_memory_equal(packed.p, "\x04\x22\x4d\x18\x60\x40\x82", 7);
	packed.p[6] = 0x1a;
	assert_int_equal(unpack_packed(KW_LZ4), KT_ECORRUPT);
	assert_string_equal(err.text, "lz4: Stream frame descriptor corrupted");
}

static void lz4_frames_of_others(void **state)
{
	const LZ4F_frameInfo_t infos[] = {
		{.blockSizeID = LZ4F_max4MB, .blockMode = LZ4F_blockIndependent},
		{.blockSizeID = LZ4F_max64KB, .blockMode = LZ4F_blockIndependent, .contentSize = BIG},
		{.blockSizeID = LZ4F_max256KB, .blockMode = LZ4F_blockIndependent, .contentChecksumFlag = 1},
		{.blockSizeID = LZ4F_max64KB, .blockMode = LZ4F_blockIndependent, .blockChecksumFlag = 1},
		{.blockSizeID = LZ4F_max1MB, .blockMode = LZ4F_blockIndependent, .blockChecksumFlag = 1,
		 .contentChecksumFlag = 1, .contentSize = BIG},
	};

	(void)state;
	for (size_t i = 0; i < sizeof infos / sizeof infos[0]; i++) {
		lz4_frame(text, BIG, infos[i]);
		assert_int_equal(unpack_packed(KW_LZ4), 0);
		assert_out(text, BIG);
	}
}

static void lz4_what_kafka_ignores(void **state)
{
	(void)state;
	lz4_frame(text, SMALL, (LZ4F_frameInfo_t){.blockMode = LZ4F_blockIndependent, .contentChecksumFlag = 1});
	packed.p[packed.n - 1] ^= 1;
	assert_int_equal(unpack_packed(KW_LZ4), 0);
	assert_out(text, SMALL);
	kw_put(&packed, packed.p, packed.n);      /* a second frame, or anything */
	assert_int_equal(unpack_packed(KW_LZ4), 0);
	assert_out(text, SMALL);
}

static void lz4_what_kafka_refuses(void **state)
{
	(void)state;
	lz4_frame(text, BIG, (LZ4F_frameInfo_t){.blockSizeID = LZ4F_max64KB, .blockMode = LZ4F_blockLinked});
	assert_int_equal(unpack_packed(KW_LZ4), KT_ECORRUPT);
	assert_string_equal(err.text, "lz4: Dependent block stream is unsupported");
	lz4_frame(text, SMALL, (LZ4F_frameInfo_t){.blockMode = LZ4F_blockIndependent, .blockChecksumFlag = 1});
	packed.p[packed.n - 5] ^= 1;
	assert_int_equal(unpack_packed(KW_LZ4), KT_ECORRUPT);
	assert_string_equal(err.text, "lz4: Block checksum mismatch");
	pack(KW_LZ4, text, SMALL);
	kw_wr32(packed.p + 7, 0x01000100);        /* 65537 in little-endian */
	assert_int_equal(unpack_packed(KW_LZ4), KT_ECORRUPT);
	assert_string_equal(err.text, "lz4: Block size 65537 exceeded max: 65536");
	for (int bit = 0; bit < 8; bit++) {
		pack(KW_LZ4, text, SMALL);
		packed.p[5] ^= (uint8_t)(1 << bit);
		assert_int_equal(unpack_packed(KW_LZ4), KT_ECORRUPT);
	}
	assert_int_equal(unpack(KW_LZ4, text, SMALL, MIB), KT_ECORRUPT);
}

static void lz4_fault_keeps_the_blocks_before(void **state)
{
	(void)state;
	pack(KW_LZ4, text, 70000);
	assert_int_equal(unpack(KW_LZ4, packed.p, packed.n - 5, MIB), KT_ETRUNC);
	assert_out(text, 65536);
}

/* KAFKA-3160: the checksum is counted over the magic, too. Both are those of Kafka's own writers. */
static void lz4_historic_checksum(void **state)
{
	static const struct kw_deflate_opts historic = {.lz4_historic = true};
	static const struct kw_inflate_opts any = {.lz4_any_checksum = true};

	(void)state;
	pack(KW_LZ4, text, SMALL);
	assert_memory_equal(packed.p, "\x04\x22\x4d\x18\x60\x40\x82", 7);
	kw_buf_clear(&packed);
	kw_put(&packed, "head", 4);
	assert_int_equal(kw_compress_as(KW_LZ4, &historic, text, SMALL, &packed, NULL), 0);
	assert_memory_equal(packed.p + 4, "\x04\x22\x4d\x18\x60\x40\x1a", 7);
	assert_int_equal(unpack(KW_LZ4, packed.p + 4, packed.n - 4, MIB), KT_ECORRUPT);
	assert_string_equal(err.text, "lz4: Stream frame descriptor corrupted");
	kw_buf_clear(&out);
	assert_int_equal(kw_decompress_as(KW_LZ4, &any, packed.p + 4, packed.n - 4, &out, NULL), 0);
	assert_out(text, SMALL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lz4_header_checksum),
		cmocka_unit_test(lz4_historic_checksum),
		cmocka_unit_test(lz4_frames_of_others),
		cmocka_unit_test(lz4_what_kafka_ignores),
		cmocka_unit_test(lz4_what_kafka_refuses),
		cmocka_unit_test(lz4_fault_keeps_the_blocks_before),
	};

	return cmocka_run_group_tests(tests, fill_text, free_bufs);
}
