/* Walking the records of a compressed batch: streams that break, and how much is inflated. */
#include "lib/wire/tests/walks.h"

static void unknown_codecs(void **state)
{
	(void)state;
	for (int codec = 5; codec <= 7; codec++) {
		assert_int_equal(walk_payload(codec, (const uint8_t *)"x", 1, 1, NULL), KT_ECORRUPT);
		assert_int_equal(why, KW_WALK_BAD_CODEC);
	}
	assert_string_equal(err.text, "Unknown compression type id: 7");
}

static void payload_is_not_what_the_codec_says(void **state)
{
	uint8_t area[64];
	size_t n = (size_t)kw_hex_decode(OK OK OK, strlen(OK OK OK), area);
	struct kw_walk_opts opts = {.skip_bodies = true};

	(void)state;
	for (int codec = KW_GZIP; codec <= KW_ZSTD; codec++)
		for (int other = KW_NONE; other <= KW_ZSTD; other++) {
			struct kw_buf packed;
			int code;

			kw_buf_init(&packed, 0);
			assert_int_equal(kw_compress(other, area, n, &packed, NULL), 0);
			code = walk_payload(codec, packed.p, packed.n, 3, &opts);
			assert_int_equal(code, codec == other ? 0 : KT_ECORRUPT);
			assert_int_equal(why, codec == other ? KW_WALK_END : KW_WALK_BAD_CODEC);
			kw_buf_fini(&packed);
		}
}

/* An empty stream: only zstd's is not a fault of the stream. */
static void empty_payload(void **state)
{
	(void)state;
	for (int codec = KW_GZIP; codec <= KW_ZSTD; codec++) {
		assert_int_equal(walk_payload(codec, (const uint8_t *)"", 0, 3, NULL), KT_ECORRUPT);
		assert_int_equal(why, codec == KW_ZSTD ? KW_WALK_EARLY_EOF : KW_WALK_BAD_CODEC);
	}
}

/* Records of 18 bytes or a little more, gzipped. */
static void pack_many(struct kw_buf *packed, int32_t n)
{
	const uint8_t *ten = (const uint8_t *)"0123456789";
	struct kw_buf area;

	kw_buf_init(&area, 0);
	for (int32_t i = 0; i < n; i++) {
		struct kw_record record = {.offsetDelta = i, .key = {NULL, -1}, .value = {ten, 10}};

		kw_record_put(&area, &record);
	}
	kw_buf_init(packed, 0);
	assert_int_equal(kw_compress(KW_GZIP, area.p, area.n, packed, NULL), 0);
	kw_buf_fini(&area);
}

/* What comes before the fault of the stream counts as if there were none. */
static void stream_breaks_late(void **state)
{
	struct kw_walk_opts opts = {.skip_bodies = true};
	struct kw_buf packed;

	(void)state;
	pack_many(&packed, 1200);
	packed.p[packed.n - 1] ^= 1;
	assert_int_equal(walk_payload(KW_GZIP, packed.p, packed.n, 1200, &opts), KT_ECORRUPT);
	assert_int_equal(why, KW_WALK_BAD_CODEC);
	assert_int_equal(seen, 1199);
	assert_string_equal(err.text, "Error checking for remaining bytes after reading batch: "
			    "gzip: Corrupt GZIP trailer");
	assert_int_equal(walk_payload(KW_GZIP, packed.p, packed.n, 1100, &opts), KT_ECORRUPT);
	assert_int_equal(why, KW_WALK_TRAILING);
	assert_int_equal(walk_payload(KW_GZIP, packed.p, packed.n, 1300, &opts), KT_ECORRUPT);
	assert_int_equal(why, KW_WALK_BAD_CODEC);
	assert_int_equal(seen, 1200);
	assert_string_equal(err.text, "Failed to decompress record stream: gzip: Corrupt GZIP trailer");
	kw_buf_fini(&packed);
}

static void stream_cut_anywhere(void **state)
{
	struct kw_buf packed;
	int last = 0;

	(void)state;
	pack_many(&packed, 20);
	for (int skip = 0; skip <= 1; skip++)
		for (size_t cut = 0; cut < packed.n; cut++) {
			struct kw_walk_opts opts = {.skip_bodies = skip};

			assert_int_equal(walk_payload(KW_GZIP, packed.p, cut, 20, &opts), KT_ECORRUPT);
			assert_int_equal(why, KW_WALK_BAD_CODEC);
			assert_true(seen < 20);
			last = seen;
		}
	assert_int_equal(last, 19);
	kw_buf_fini(&packed);
}

static void inflates_no_further_than_asked(void **state)
{
	struct kw_walk_opts opts = {.skip_bodies = true, .inflate_max = 10000};
	struct kw_buf packed;

	(void)state;
	pack_many(&packed, 1200);
	assert_int_equal(walk_payload(KW_GZIP, packed.p, packed.n, 1200, &opts), KT_ELIMIT);
	assert_int_equal(why, KW_WALK_LIMIT);
	assert_string_equal(err.text, "more than 10000 inflated bytes");
	assert_true(seen > 500 && seen < 700);
	kw_buf_fini(&packed);
}

static void record_size_can_be_bounded(void **state)
{
	static const char negative[] = "01 00 00 00 026b 0276 00", greatest[] = "fe ff ff ff 0f 00 00 00 026b 0276 00";
	uint8_t area[16];
	size_t n = (size_t)kw_hex_decode(negative, strlen(negative), area);
	struct kw_walk_opts before_44 = {.skip_bodies = true, .record_max = -1};
	struct kw_walk_opts opts = {.skip_bodies = true, .record_max = 7};
	struct kw_buf packed;

	(void)state;
	kw_buf_init(&packed, 0);
	assert_int_equal(kw_compress(KW_LZ4, area, n, &packed, NULL), 0);
	assert_int_equal(walk_payload(KW_LZ4, packed.p, packed.n, 1, &before_44), 0);
	before_44.skip_bodies = false;
	assert_int_equal(walk_payload(KW_LZ4, packed.p, packed.n, 1, &before_44), KT_ECORRUPT);
	kw_buf_clear(&packed);
	n = (size_t)kw_hex_decode(greatest, strlen(greatest), area);
	assert_int_equal(kw_compress(KW_LZ4, area, n, &packed, NULL), 0);
	assert_int_equal(walk_payload(KW_LZ4, packed.p, packed.n, 1, &before_44), KT_ELIMIT);
	assert_int_equal(why, KW_WALK_LIMIT);
	assert_string_equal(err.text, "no memory for a record of 2147483647 bytes");
	kw_buf_clear(&packed);
	n = (size_t)kw_hex_decode(OK, strlen(OK), area);
	assert_int_equal(kw_compress(KW_LZ4, area, n, &packed, NULL), 0);
	assert_int_equal(walk_payload(KW_LZ4, packed.p, packed.n, 1, &opts), KT_ECORRUPT);
	assert_string_equal(err.text, "Invalid record size: 8 exceeds the configured maximum record size of 7.");
	opts.record_max = 8;
	assert_int_equal(walk_payload(KW_LZ4, packed.p, packed.n, 1, &opts), 0);
	opts.record_max = 7;
	assert_int_equal(walk_payload(KW_NONE, area, n, 1, &opts), 0);
	kw_buf_fini(&packed);
}

/* A client once wrote lengths from 32768 on without their high bits: the value's 80 80 04 as 00. */
static void length_that_lost_its_high_bits(void **state)
{
	uint8_t *value = calloc(1, 32768);
	struct kw_record record = {.key = {NULL, -1}, .value = {value, 32768}};
	struct kw_buf area;

	(void)state;
	assert_non_null(value);
	kw_buf_init(&area, 0);
	kw_record_put(&area, &record);
	assert_memory_equal(area.p, "\x90\x80\x04\0\0\0\x01\x80\x80\x04", 10);
	area.p[7] = 0;
	memmove(area.p + 8, area.p + 10, area.n - 10);
	area.n -= 2;
	assert_int_equal(walk_area(PLAIN, area.p, area.n, 1), KT_ECORRUPT);
	assert_int_equal(why, KW_WALK_BAD_RECORD);
	assert_string_equal(err.text, "Invalid record size: expected 32776 bytes in record payload, but instead the "
			    "buffer has only 32774 remaining bytes.");
	kw_buf_fini(&area);
	free(value);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unknown_codecs),
		cmocka_unit_test(payload_is_not_what_the_codec_says),
		cmocka_unit_test(empty_payload),
		cmocka_unit_test(stream_breaks_late),
		cmocka_unit_test(stream_cut_anywhere),
		cmocka_unit_test(inflates_no_further_than_asked),
		cmocka_unit_test(record_size_can_be_bounded),
		cmocka_unit_test(length_that_lost_its_high_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
