/* Compressed streams, of whatever format: what goes in comes out, faults, limits. */
#include "lib/text/base64.h"
#include "lib/wire/tests/streams.h"

static void what_goes_in_comes_out(void **state)
{
	static const size_t sizes[] = {0, 1, 20, SMALL, 16384, 16385, 32768, 65536, 65537, BIG};

	(void)state;
	for (int codec = KW_NONE; codec <= KW_ZSTD; codec++)
		for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
			pack(codec, text, sizes[i]);
			assert_int_equal(unpack(codec, packed.p, packed.n, sizes[i]), 0);
			assert_out(text, sizes[i]);
		}
}

/* One record of "abcabc..." as Apache Kafka 4.4.0 stored it, by compression.type and compression.CODEC.level: so short
 * that no version of a library does it otherwise. */
static void as_kafka_writes_it(void **state)
{
	static const struct {
		int codec, level;
		const char *hex;
	} rows[] = {
		{KW_GZIP, 0, "1f8b08000000000000ff4b636060608c4a4c4a261e31000094a5da1a34000000"},
		{KW_GZIP, 1, "1f8b08000000000000ff4b636060608c4a4c4a261e31000094a5da1a34000000"},
		{KW_GZIP, 9, "1f8b08000000000000ff4b636060608c4a4c4a261e31000094a5da1a34000000"},
		{KW_SNAPPY, 0, "82534e4150505900000000010000000100000010342066000000015a616263a603000000"},
		{KW_LZ4, 0, "04224d18604082130000009f66000000015a61626303001350636162630000000000"},
		{KW_LZ4, 3, "04224d18604082130000009f66000000015a61626303001350636162630000000000"},
		{KW_LZ4, 12, "04224d18604082130000009f66000000015a61626303001350636162630000000000"},
		{KW_ZSTD, 0, "28b52ffd00588400005066000000015a61626300010085dc11010000"},
		{KW_ZSTD, 1, "28b52ffd00488400005066000000015a61626300010085dc11010000"},
		{KW_ZSTD, -5, "28b52ffd00489c00006866000000015a616263616263000100529624010000"},
		{KW_ZSTD, 19, "28b52ffd00688400005066000000015a61626300010085dc11010000"},
	};
	uint8_t record[52] = "\x66\0\0\0\x01\x5a";
	char hex[200];

	(void)state;
	for (size_t i = 6; i < 51; i++)
		record[i] = (uint8_t)"abc"[i % 3];
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct kw_deflate_opts opts = {.level = rows[i].level};

		kw_buf_clear(&packed);
		assert_int_equal(kw_compress_as(rows[i].codec, &opts, record, sizeof record, &packed, NULL), 0);
		kt_hex_encode(packed.p, packed.n, hex);
		assert_string_equal(hex, rows[i].hex);
	}
}

/* Levels are levels: a longer text has fewer bytes at the highest than at the lowest, and inflates to the same. */
static void levels(void **state)
{
	static const struct {
		int codec, lowest, highest;
	} rows[] = {{KW_GZIP, 1, 9}, {KW_LZ4, 3, 17}, {KW_ZSTD, -131072, 19}};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		size_t sizes[2];

		for (int high = 0; high < 2; high++) {
			const struct kw_deflate_opts opts = {.level = high ? rows[i].highest : rows[i].lowest};

			kw_buf_clear(&packed);
			assert_int_equal(kw_compress_as(rows[i].codec, &opts, text, BIG, &packed, NULL), 0);
			assert_int_equal(unpack(rows[i].codec, packed.p, packed.n, BIG), 0);
			assert_out(text, BIG);
			sizes[high] = packed.n;
		}
		assert_true(sizes[1] < sizes[0]);
	}
}

static void appends_behind_what_is_there(void **state)
{
	(void)state;
	for (int codec = KW_NONE; codec <= KW_ZSTD; codec++) {
		pack(codec, text, SMALL);
		kw_buf_clear(&out);
		kw_put(&out, "head", 4);
		assert_int_equal(kw_decompress(codec, packed.p, packed.n, SMALL, &out, NULL), 0);
		assert_int_equal(out.n, 4 + SMALL);
		assert_memory_equal(out.p + 4, text, SMALL);
	}
}

/* A cut stream fails and leaves a prefix, except where Kafka sees an empty stream. */
static void cut_anywhere(void **state)
{
	(void)state;
	for (int codec = KW_GZIP; codec <= KW_ZSTD; codec++) {
		pack(codec, text, SMALL);
		for (size_t cut = 0; cut < packed.n; cut++) {
			bool empty = (codec == KW_ZSTD && cut == 0) || (codec == KW_SNAPPY && cut >= 16 && cut < 20);
			int code = unpack(codec, packed.p, cut, MIB);

			if (empty) {
				assert_int_equal(code, 0);
				assert_int_equal(out.n, 0);
				continue;
			}
			assert_true(code == KT_ETRUNC || code == KT_ECORRUPT);
			assert_int_equal(err.code, code);
			assert_true(out.n <= SMALL);
			assert_out(text, out.n);
		}
	}
}

/* Flipping any bit must not crash; what has a checksum must not inflate to anything else. */
static void flipped_bits(void **state)
{
	(void)state;
	for (int codec = KW_GZIP; codec <= KW_ZSTD; codec++) {
		pack(codec, text, SMALL);
		for (size_t bit = 0; bit < packed.n * 8; bit++) {
			int code;

			packed.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
			code = unpack_packed(codec);
			packed.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
			assert_true(out.n <= MIB);
			if (code == 0 && codec == KW_GZIP)
				assert_out(text, SMALL);
		}
	}
}

static void stops_at_the_limit(void **state)
{
	uint8_t *zeros = calloc(8, MIB);

	(void)state;
	assert_non_null(zeros);
	for (int codec = KW_NONE; codec <= KW_ZSTD; codec++) {
		pack(codec, zeros, 8 * MIB);
		kw_buf_fini(&out);
		assert_int_equal(unpack(codec, packed.p, packed.n, MIB), KT_ELIMIT);
		assert_true(out.n <= MIB);
		assert_true(out.cap <= 4 * MIB);
		pack(codec, text, SMALL);
		assert_int_equal(unpack(codec, packed.p, packed.n, SMALL), 0);
		assert_int_equal(unpack(codec, packed.p, packed.n, SMALL - 1), KT_ELIMIT);
		assert_true(out.n < SMALL);
	}
	free(zeros);
}

/* What n equal bytes inflate to under these limits, and whether that was too much. */
static void assert_limited(int codec, size_t n, size_t ratio, size_t from, bool fits)
{
	struct kw_inflate_opts opts = {.ratio = ratio, .ratio_from = from};
	uint8_t *zeros = calloc(1, n);
	int code;

	assert_non_null(zeros);
	pack(codec, zeros, n);
	free(zeros);
	err = (struct kt_err){0};
	kw_buf_fini(&out);
	code = kw_decompress_as(codec, &opts, packed.p, packed.n, &out, &err);
	assert_int_equal(code, fits ? 0 : KT_ELIMIT);
	if (fits)
		assert_int_equal(out.n, n);
	else
		assert_true(out.n < n);
}

static void stops_at_the_ratio(void **state)
{
	(void)state;
	for (int codec = KW_GZIP; codec <= KW_ZSTD; codec++) {
		assert_limited(codec, MIB, 10, 4096, false);
		assert_limited(codec, MIB, 10, MIB, true);
		assert_limited(codec, MIB, 10, MIB - 1, false);
		assert_limited(codec, MIB, SIZE_MAX, 1, true);
		assert_limited(codec, MIB, 0, 0, true);
	}
	assert_limited(KW_NONE, MIB, 1, 1, true);
	assert_limited(KW_GZIP, MIB, 1032, 1, true);
	assert_limited(KW_LZ4, MIB, 255, 1, true);
	assert_limited(KW_SNAPPY, MIB, 22, 1, true);
	assert_limited(KW_ZSTD, MIB, 5000, 1, false);
	assert_limited(KW_ZSTD, 16 * MIB, 0, 0, true);
	assert_limited(KW_ZSTD, 16 * MIB + 1, 0, 0, false);
	assert_limited(KW_GZIP, 40 * MIB, 0, 0, true);
	assert_limited(KW_ZSTD, MIB + 1, 7, MIB, false);
	assert_string_equal(err.text, "more than 1048576 inflated bytes: 7 for each compressed one");
}

static void unknown_codecs(void **state)
{
	(void)state;
	for (int codec = 5; codec <= 7; codec++) {
		err = (struct kt_err){0};
		assert_int_equal(kw_compress(codec, text, 1, &out, &err), KT_EUNKNOWN);
		assert_int_equal(unpack(codec, text, 1, MIB), KT_EUNKNOWN);
	}
	assert_string_equal(err.text, "Unknown compression type id: 7");
	assert_int_equal(kw_decompress(-1, text, 1, MIB, &out, NULL), KT_EUNKNOWN);
	assert_null(kw_codec_name(5));
	assert_null(kw_codec_name(-1));
	assert_string_equal(kw_codec_name(KW_LZ4), "lz4");
	assert_int_equal(kw_codec_find("zstd"), KW_ZSTD);
	assert_int_equal(kw_codec_find("ZSTD"), -1);
}

static void output_maximum_is_an_error(void **state)
{
	struct kw_buf tight;

	(void)state;
	kw_buf_init(&tight, 8);
	for (int codec = KW_NONE; codec <= KW_ZSTD; codec++) {
		kw_buf_clear(&tight);
		assert_int_equal(kw_compress(codec, text, SMALL, &tight, NULL), KT_ELIMIT);
		pack(codec, text, SMALL);
		kw_buf_clear(&tight);
		assert_int_equal(kw_decompress(codec, packed.p, packed.n, MIB, &tight, NULL), KT_ELIMIT);
	}
	kw_buf_fini(&tight);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_goes_in_comes_out),
		cmocka_unit_test(as_kafka_writes_it),
		cmocka_unit_test(levels),
		cmocka_unit_test(appends_behind_what_is_there),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(flipped_bits),
		cmocka_unit_test(stops_at_the_limit),
		cmocka_unit_test(stops_at_the_ratio),
		cmocka_unit_test(unknown_codecs),
		cmocka_unit_test(output_maximum_is_an_error),
	};

	return cmocka_run_group_tests(tests, fill_text, free_bufs);
}
