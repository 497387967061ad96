#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <lz4frame.h>
#include <snappy-c.h>
#include <stdlib.h>
#include <zlib.h>
#include <sys/resource.h>
#include <zstd.h>

#include "lib/wire/batch.h"

enum { SMALL = 300, BIG = 200000, MIB = 1 << 20 };

static uint8_t text[BIG];
static struct kw_buf packed, out;
static struct kt_err err;

/* Compressible, but not trivially. */
static int fill_text(void **state)
{
	uint32_t v = 1;

	(void)state;
	for (size_t i = 0; i < sizeof text; i++) {
		v = v * 1664525 + 1013904223;
		text[i] = (uint8_t)("kassay  records\n"[v >> 28]);
	}
	kw_buf_init(&packed, 0);
	kw_buf_init(&out, 0);
	return 0;
}

static int free_bufs(void **state)
{
	(void)state;
	kw_buf_fini(&packed);
	kw_buf_fini(&out);
	return 0;
}

static void pack(int codec, const uint8_t *p, size_t n)
{
	kw_buf_clear(&packed);
	assert_int_equal(kw_compress(codec, p, n, &packed, NULL), 0);
}

/* Inflates a copy of exactly n bytes, so that AddressSanitizer sees a read beyond them. */
static int unpack(int codec, const void *p, size_t n, size_t max)
{
	uint8_t *copy = malloc(n ? n : 1);
	int code;

	assert_non_null(copy);
	if (n)
		memcpy(copy, p, n);
	err = (struct kt_err){0};
	kw_buf_clear(&out);
	code = kw_decompress(codec, copy, n, max, &out, &err);
	free(copy);
	return code;
}

static int unpack_packed(int codec)
{
	return unpack(codec, packed.p, packed.n, MIB);
}

static void assert_out(const uint8_t *p, size_t n)
{
	assert_int_equal(out.n, n);
	if (n)
		assert_memory_equal(out.p, p, n);
}

/* ---- all formats ---- */

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

/* ---- gzip ---- */

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

/* ---- snappy ---- */

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

/* ---- lz4 ---- */

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

/* ---- zstd ---- */

static void put_zstd(const uint8_t *p, size_t n, bool size)
{
	ZSTD_CCtx *ctx = ZSTD_createCCtx();
	size_t bound = ZSTD_compressBound(n);
	uint8_t *room = kw_buf_room(&packed, bound);

	ZSTD_CCtx_setParameter(ctx, ZSTD_c_contentSizeFlag, size);
	packed.n += ZSTD_compress2(ctx, room, bound, p, n);
	ZSTD_freeCCtx(ctx);
}

static void zstd_with_and_without_size(void **state)
{
	(void)state;
	kw_buf_clear(&packed);
	put_zstd(text, SMALL, false);
	assert_memory_equal(packed.p, "\x28\xb5\x2f\xfd\x00", 5);
	put_zstd(text + SMALL, SMALL, true);
	assert_int_equal(unpack_packed(KW_ZSTD), 0);
	assert_out(text, 2 * SMALL);
}

static void zstd_skippable_frames(void **state)
{
	(void)state;
	kw_buf_clear(&packed);
	kw_put(&packed, "\x50\x2a\x4d\x18\x03\0\0\0abc", 11);
	put_zstd(text, SMALL, true);
	kw_put(&packed, "\x5f\x2a\x4d\x18\0\0\0\0", 8);
	assert_int_equal(unpack_packed(KW_ZSTD), 0);
	assert_out(text, SMALL);
}

static void zstd_faults(void **state)
{
	(void)state;
	kw_buf_clear(&packed);
	put_zstd(text, SMALL, true);
	packed.p[5]++;                            /* content size: 2 bytes, less 256 */
	assert_int_equal(unpack_packed(KW_ZSTD), KT_ECORRUPT);
	pack(KW_ZSTD, text, SMALL);
	kw_put(&packed, "\1\2\3\4", 4);
	assert_int_equal(unpack_packed(KW_ZSTD), KT_ECORRUPT);
	assert_string_equal(err.text, "zstd: Unknown frame descriptor");
	assert_out(text, SMALL);
	assert_int_equal(unpack(KW_ZSTD, text, SMALL, MIB), KT_ECORRUPT);
}

/* One raw block of eight bytes behind a window of 2^n, without content size. */
static void put_window(int n)
{
	const uint8_t window = (uint8_t)((n - 10) << 3);

	kw_buf_clear(&packed);
	kw_put(&packed, "\x28\xb5\x2f\xfd\x00", 5);
	kw_put(&packed, &window, 1);
	kw_put(&packed, "\x41\0\0abcdefgh", 11);
}

/* The largest window that a decoder takes which was told no other is 2^27; Kafka tells its decoder none. */
static void zstd_windows(void **state)
{
	(void)state;
	for (int n = 10; n <= 27; n++) {
		put_window(n);
		assert_int_equal(unpack_packed(KW_ZSTD), 0);
		assert_out((const uint8_t *)"abcdefgh", 8);
	}
	for (int n = 28; n <= 41; n++) {
		put_window(n);
		assert_int_equal(unpack_packed(KW_ZSTD), KT_ECORRUPT);
		assert_string_equal(err.text, "zstd: Frame requires too much memory for decoding");
		assert_int_equal(out.n, 0);
	}
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

/* No memory for the window is no fault of the bytes. */
static void zstd_without_memory(void **state)
{
	struct rlimit limit, small;
	int code;

	(void)state;
	if (SANITIZED)
		skip();    /* its shadow takes more than any limit */
	assert_int_equal(getrlimit(RLIMIT_AS, &limit), 0);
	small = limit;
	small.rlim_cur = 100 * MIB;
	put_window(27);
	assert_int_equal(setrlimit(RLIMIT_AS, &small), 0);
	code = unpack_packed(KW_ZSTD);
	assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
	assert_int_equal(code, KT_ENOMEM);
	assert_string_equal(err.text, "zstd: Allocation error : not enough memory");
}

/* A frame that is cut behind a whole one is no fault to Kafka, it just ends there. */
static void zstd_cut_second_frame(void **state)
{
	size_t first;

	(void)state;
	pack(KW_ZSTD, text, SMALL);
	first = packed.n;
	put_zstd(text, SMALL, true);
	for (size_t cut = first; cut < packed.n; cut++) {
		assert_int_equal(unpack(KW_ZSTD, packed.p, cut, MIB), 0);
		assert_out(text, SMALL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_goes_in_comes_out),
		cmocka_unit_test(appends_behind_what_is_there),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(flipped_bits),
		cmocka_unit_test(stops_at_the_limit),
		cmocka_unit_test(stops_at_the_ratio),
		cmocka_unit_test(unknown_codecs),
		cmocka_unit_test(output_maximum_is_an_error),
		cmocka_unit_test(gzip_members_and_what_follows),
		cmocka_unit_test(gzip_header_faults),
		cmocka_unit_test(gzip_trailer_faults_come_after_the_data),
		cmocka_unit_test(gzip_data_fault_loses_its_step),
		cmocka_unit_test(snappy_is_written_as_clients_do),
		cmocka_unit_test(snappy_raw_blocks),
		cmocka_unit_test(snappy_raw_on_request),
		cmocka_unit_test(snappy_claims_are_not_believed),
		cmocka_unit_test(snappy_chunks),
		cmocka_unit_test(snappy_chunk_lengths),
		cmocka_unit_test(snappy_fault_loses_its_step),
		cmocka_unit_test(lz4_header_checksum),
		cmocka_unit_test(lz4_historic_checksum),
		cmocka_unit_test(lz4_frames_of_others),
		cmocka_unit_test(lz4_what_kafka_ignores),
		cmocka_unit_test(lz4_what_kafka_refuses),
		cmocka_unit_test(lz4_fault_keeps_the_blocks_before),
		cmocka_unit_test(zstd_with_and_without_size),
		cmocka_unit_test(zstd_skippable_frames),
		cmocka_unit_test(zstd_faults),
		cmocka_unit_test(zstd_windows),
		cmocka_unit_test(zstd_without_memory),
		cmocka_unit_test(zstd_cut_second_frame),
	};

	return cmocka_run_group_tests(tests, fill_text, free_bufs);
}
