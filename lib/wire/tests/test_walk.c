#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "lib/text/base64.h"
#include "lib/wire/batch.h"
#include "lib/wire/tests/check_tally.h"

/* How a batch is read: as it lies there; out of gzip, bodies skipped; out of gzip, whole. */
enum mode { PLAIN, SKIP, WHOLE };

static struct kt_err err;
static enum kw_walk why;
static int seen;

static int count_records(void *arg, int32_t index, const struct kw_record *record)
{
	(void)arg;
	(void)record;
	assert_int_equal(index, seen);
	seen++;
	return 0;
}

/* A batch with this payload, in memory of exactly its size so that AddressSanitizer sees a read beyond it. */
static struct kw_batch batch_of(int codec, const uint8_t *payload, size_t n, int32_t count)
{
	struct kw_batch_spec spec = kw_batch_spec_default;
	struct kw_batch batch;
	struct kw_buf out;
	uint8_t *p;

	kw_buf_init(&out, 0);
	assert_int_equal(kw_batch_build(&spec, NULL, 0, &out, NULL), 0);
	kw_put(&out, payload, n);
	kw_wr32(out.p + KW_B_LENGTH, (uint32_t)(out.n - KW_B_LOG_OVERHEAD));
	kw_wr16(out.p + KW_B_ATTRIBUTES, (uint16_t)codec);
	kw_wr32(out.p + KW_B_COUNT, (uint32_t)count);
	p = malloc(out.n);
	assert_non_null(p);
	memcpy(p, out.p, out.n);
	assert_int_equal(kw_batch_parse(p, out.n, &batch, NULL), 0);
	kw_buf_fini(&out);
	return batch;
}

static void free_batch(struct kw_batch *batch)
{
	free((void *)(uintptr_t)batch->p);
}

static int walk_payload(int codec, const uint8_t *payload, size_t n, int32_t count, const struct kw_walk_opts *opts)
{
	struct kw_batch batch = batch_of(codec, payload, n, count);
	int code;

	err = (struct kt_err){0};
	seen = 0;
	code = kw_batch_walk(&batch, opts, count_records, NULL, &why, &err);
	check_tally(&batch, opts);
	free_batch(&batch);
	return code;
}

static int walk_area(enum mode mode, const uint8_t *area, size_t n, int32_t count)
{
	struct kw_walk_opts opts = {.skip_bodies = mode == SKIP};
	struct kw_buf packed;
	int code;

	kw_buf_init(&packed, 0);
	assert_int_equal(kw_compress(mode == PLAIN ? KW_NONE : KW_GZIP, area, n, &packed, NULL), 0);
	code = walk_payload(mode == PLAIN ? KW_NONE : KW_GZIP, packed.p, packed.n, count, &opts);
	kw_buf_fini(&packed);
	return code;
}

/* ---- verdicts ---- */

/* A record of a whole batch: 9 bytes, 8 of them after the length. */
#define OK "10 00 00 00 026b 0276 00 "

struct verdict {
	const char *text;
	long at;             /* offset of the fault */
	enum kw_walk why;
	int seen;            /* records shown */
};

#define GOOD(n) {"", 0, KW_WALK_END, n}
#define STRUCTURE(at, n) {"Found invalid record structure", at, KW_WALK_BAD_RECORD, n}
#define EOF_AT(at, n) {"Incorrect declared batch size, premature EOF reached", at, KW_WALK_EARLY_EOF, n}
#define REST_AT(at, n) {"Incorrect declared batch size, records still remaining in file", at, KW_WALK_TRAILING, n}
#define BAD(text, at, n) {text, at, KW_WALK_BAD_RECORD, n}
#define SIZE "Invalid record size: expected "
#define NO_COUNT(count, at, n) BAD("Found invalid record count " #count " in magic v2 batch", at, n)
#define VARINT(value, at, n) \
	{"Varint is too long, the most significant bit in the 5th byte is set, converted value: " #value, at, \
	 KW_WALK_BAD_VARINT, n}
#define READ(want, got, at, n) BAD(SIZE "to read " #want " bytes in record payload, but instead read " #got, at, n)
#define LEFT(want, left, at, n) \
	BAD(SIZE #want " bytes in record payload, but instead the buffer has only " #left " remaining bytes.", at, n)
#define SHORT(want, at, n) BAD(SIZE #want " bytes in record payload, but the record payload reached EOF.", at, n)
#define SKIPPED(left, at, n) BAD("Reached end of input stream before skipping all bytes. Remaining bytes:" #left, at, n)
#define NEGATIVE(count, at, n) BAD("Found invalid number of record headers " #count, at, n)
#define HEADERS(count, at, n) \
	BAD("Found invalid number of record headers. " #count " is larger than the remaining size of the buffer", at, n)
#define NO_KEY(size, at, n) BAD("Invalid negative header key size " #size, at, n)

/* Each row is what Apache Kafka 4.4.0 was seen to do, as far as a broker can be asked. */
static const struct row {
	const char *name;
	const char *area;
	int32_t count;
	struct verdict verdict[3];   /* by enum mode */
} rows[] = {
	{"three good records", OK OK OK, 3, {GOOD(3), GOOD(3), GOOD(3)}},
	{"count is zero", OK, 0, {GOOD(0), GOOD(0), GOOD(0)}},
	{"count is negative", OK, -1, {NO_COUNT(-1, 0, 0), NO_COUNT(-1, 0, 0), NO_COUNT(-1, 0, 0)}},
	{"count too low", OK OK OK, 2, {REST_AT(18, 1), REST_AT(18, 1), REST_AT(18, 1)}},
	{"count too high", OK OK OK, 4, {EOF_AT(27, 3), EOF_AT(27, 3), EOF_AT(27, 3)}},
	{"count INT_MAX", OK, INT32_MAX, {EOF_AT(9, 1), EOF_AT(9, 1), EOF_AT(9, 1)}},
	{"no data at all", "", 3, {EOF_AT(0, 0), EOF_AT(0, 0), EOF_AT(0, 0)}},
	{"zero bytes behind the records", OK "000000", 1, {REST_AT(9, 0), REST_AT(9, 0), REST_AT(9, 0)}},
	{"record attributes 0xff", "10 ff 00 00 026b 0276 00", 1, {GOOD(1), GOOD(1), GOOD(1)}},
	{"length one short", "0e 00 00 00 026b 0276 00 " OK, 2, {READ(7, 8, 0, 0), GOOD(2), STRUCTURE(8, 0)}},
	{"length one long", "12 00 00 00 026b 0276 00 " OK, 2, {READ(9, 8, 0, 0), GOOD(2), READ(9, 8, 0, 0)}},
	{"last length one long", OK "12 00 00 00 026b 0276 00", 2, {LEFT(9, 8, 9, 1), GOOD(2), SHORT(9, 9, 1)}},
	{"length 0, no body", "00", 1, {STRUCTURE(1, 0), STRUCTURE(1, 0), STRUCTURE(1, 0)}},
	{"length -1", "01 00 00 00 026b 0276 00", 1,
	 {READ(-1, 8, 0, 0), BAD("Invalid record size: -1 is negative.", 0, 0),
	  BAD("Invalid record size: -1 is negative.", 0, 0)}},
	{"length INT_MAX", "feffffff0f 00 00 00 026b 0276 00", 1,
	 {LEFT(2147483647, 8, 0, 0),
	  BAD("Invalid record size: 2147483647 exceeds the configured maximum record size of 2147483639.", 0, 0),
	  BAD("Invalid record size: 2147483647 exceeds the configured maximum record size of 2147483639.", 0, 0)}},
	{"length in five bytes", "9080808000 00 00 00 026b 0276 00", 1, {GOOD(1), GOOD(1), GOOD(1)}},
	{"length in six bytes", "808080808000 00 00 00 026b 0276 00", 1,
	 {VARINT(0, 0, 0), EOF_AT(0, 0), EOF_AT(0, 0)}},
	{"length without end", OK "ffffffffff", 2, {VARINT(ffffffff, 9, 1), EOF_AT(9, 1), EOF_AT(9, 1)}},
	{"length cut", OK "ff", 2, {EOF_AT(9, 1), EOF_AT(9, 1), EOF_AT(9, 1)}},
	{"timestamp delta of 11 bytes", "24 00 8080808080808080808000 00 026b 0276 00", 1,
	 {STRUCTURE(2, 0), STRUCTURE(2, 0), STRUCTURE(2, 0)}},
	{"timestamp delta of 10 bytes", "22 00 ffffffffffffffffff01 00 026b 0276 00", 1, {GOOD(1), GOOD(1), GOOD(1)}},
	{"offset delta of 6 bytes", "1a 00 00 808080808000 026b 0276 00", 1,
	 {STRUCTURE(3, 0), STRUCTURE(3, 0), STRUCTURE(3, 0)}},
	{"key beyond the record", "10 00 00 00 c8016b 0276", 1, {STRUCTURE(6, 0), SKIPPED(97, 9, 0), STRUCTURE(6, 0)}},
	{"value beyond the record", "10 00 00 00 026b c80176 00", 1,
	 {STRUCTURE(8, 0), SKIPPED(98, 10, 0), STRUCTURE(8, 0)}},
	{"key length -2", "0e 00 00 00 03 0276 00", 1, {GOOD(1), GOOD(1), GOOD(1)}},
	{"value length -2", "0e 00 00 00 026b 03 00", 1, {GOOD(1), GOOD(1), GOOD(1)}},
	{"null key and value", "0c 00 00 00 01 01 00", 1, {GOOD(1), GOOD(1), GOOD(1)}},
	{"header count -1", "10 00 00 00 026b 0276 01", 1,
	 {NEGATIVE(-1, 8, 0), NEGATIVE(-1, 8, 0), NEGATIVE(-1, 8, 0)}},
	{"header count 5, none there", "10 00 00 00 026b 0276 0a", 1,
	 {HEADERS(5, 8, 0), STRUCTURE(9, 0), HEADERS(5, 8, 0)}},
	{"header count INT_MAX", "18 00 00 00 026b 0276 feffffff0f", 1,
	 {HEADERS(2147483647, 8, 0), STRUCTURE(13, 0), HEADERS(2147483647, 8, 0)}},
	{"a header", "18 00 00 00 026b 0276 02 0268 0277", 1, {GOOD(1), GOOD(1), GOOD(1)}},
	{"header key length -1", "16 00 00 00 026b 0276 02 01 0277", 1,
	 {NO_KEY(-1, 9, 0), NO_KEY(-1, 9, 0), NO_KEY(-1, 9, 0)}},
	{"header key empty", "16 00 00 00 026b 0276 02 00 0277", 1, {GOOD(1), GOOD(1), GOOD(1)}},
	{"header key not UTF-8", "1a 00 00 00 026b 0276 02 04fffe 0277", 1, {GOOD(1), GOOD(1), GOOD(1)}},
	{"header value null", "16 00 00 00 026b 0276 02 0268 01", 1, {GOOD(1), GOOD(1), GOOD(1)}},
	{"header value length -2", "16 00 00 00 026b 0276 02 0268 03", 1, {GOOD(1), GOOD(1), GOOD(1)}},
	{"header key beyond the record", "16 00 00 00 026b 0276 02 c80168", 1,
	 {STRUCTURE(11, 0), SKIPPED(99, 12, 0), STRUCTURE(11, 0)}},
	{"headers undercounted", "20 00 00 00 026b 0276 02 0268 0277 0268 0277", 1,
	 {READ(16, 12, 0, 0), REST_AT(13, 0), READ(16, 12, 0, 0)}},
	{"bytes behind the body", "16 00 00 00 026b 0276 00 000000", 1,
	 {READ(11, 8, 0, 0), REST_AT(9, 0), READ(11, 8, 0, 0)}},
	{"zstd under codec none", "28 b52ffd0458810000", 1, {LEFT(20, 8, 0, 0), SKIPPED(41, 9, 0), SHORT(20, 0, 0)}},
};

static void verdicts_are_those_of_kafka(void **state)
{
	uint8_t area[256];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		for (enum mode mode = PLAIN; mode <= WHOLE; mode++) {
			const struct verdict *want = &rows[i].verdict[mode];
			long n = kt_hex_decode(rows[i].area, strlen(rows[i].area), area);
			int code;

			assert_true(n >= 0);
			code = walk_area(mode, area, (size_t)n, rows[i].count);
			if (why != want->why || strcmp(err.text, want->text) != 0 || seen != want->seen ||
			    err.offset != (size_t)want->at)
				fail_msg("%s, mode %d: %s at %zu after %d: %s", rows[i].name, (int)mode,
					 kw_walk_name(why), err.offset, seen, err.text);
			assert_int_equal(code, want->why == KW_WALK_END ? 0 : KT_ECORRUPT);
			assert_int_equal(err.has_offset, code ? 1 : 0);
		}
}

static void codes_that_kafka_answers(void **state)
{
	(void)state;
	assert_int_equal(kw_walk_code(KW_WALK_END), 0);
	assert_int_equal(kw_walk_code(KW_WALK_BAD_RECORD), 87);
	assert_int_equal(kw_walk_code(KW_WALK_BAD_VARINT), -1);
	assert_int_equal(kw_walk_code(KW_WALK_EARLY_EOF), 87);
	assert_int_equal(kw_walk_code(KW_WALK_TRAILING), 87);
	assert_int_equal(kw_walk_code(KW_WALK_BAD_CODEC), -1);
	assert_string_equal(kw_walk_name(KW_WALK_EARLY_EOF), "early-eof");
}

/* Whatever byte changes to whatever, the walk ends, and tells why if and only if it fails. */
static void any_byte_may_be_wrong(void **state)
{
	static const char hex[] = OK "18 00 00 00 026b 0276 02 0268 0277 " OK;
	uint8_t area[64];
	size_t n = (size_t)kt_hex_decode(hex, strlen(hex), area);

	(void)state;
	for (size_t at = 0; at < n; at++)
		for (int v = 0; v < 256; v += 3) {
			uint8_t was = area[at];

			area[at] = (uint8_t)v;
			for (enum mode mode = PLAIN; mode <= WHOLE; mode += 1) {
				int code = walk_area(mode, area, n, 3);

				assert_int_equal(code == 0, why == KW_WALK_END);
				assert_true(code == 0 || err.offset <= n);
			}
			area[at] = was;
		}
}

/* ---- what the callback gets ---- */

static void assert_run(struct kw_bytes run, const char *want)
{
	assert_int_equal(run.n, strlen(want));
	assert_memory_equal(run.p, want, strlen(want));
}

static int check_record(void *arg, int32_t index, const struct kw_record *record)
{
	const struct kw_walk_opts *opts = arg;

	if (index == 0) {
		assert_int_equal(record->at, 0);
		assert_int_equal(record->size, 9);
		assert_run(record->key, "k");
		assert_run(record->value, "v");
		assert_int_equal(record->nheaders, 0);
		return 0;
	}
	assert_int_equal(record->at, 9);
	assert_int_equal(record->size, 18);
	assert_int_equal(record->attributes, -1);
	assert_int_equal(record->timestampDelta, 1787086231121);
	assert_int_equal(record->offsetDelta, -5);
	assert_int_equal(record->key.n, 0);
	assert_null(record->value.p);
	assert_int_equal(record->value.n, -1);
	assert_int_equal(record->nheaders, 2);
	if (opts->skip_bodies) {
		assert_null(record->headers);
		return 0;
	}
	assert_run((struct kw_bytes){(const uint8_t *)record->headers[0].key.s, record->headers[0].key.n}, "h");
	assert_run(record->headers[0].value, "w");
	assert_int_equal(record->headers[1].key.n, 0);
	assert_int_equal(record->headers[1].value.n, -1);
	return 0;
}

static void every_part_of_a_record(void **state)
{
	static const char hex[] = OK "22 ff a2d99eea8268 09 00 03 04 0268 0277 00 01";
	struct kw_walk_opts opts[] = {{.skip_bodies = false}, {.skip_bodies = true}};
	uint8_t area[64];
	size_t n = (size_t)kt_hex_decode(hex, strlen(hex), area);

	(void)state;
	for (int codec = KW_NONE; codec <= KW_ZSTD; codec++)
		for (size_t i = codec == KW_NONE; i < 2; i++) {
			struct kw_walk_opts *o = codec == KW_NONE ? &opts[0] : &opts[i];
			struct kw_batch batch;
			struct kw_buf packed;

			kw_buf_init(&packed, 0);
			assert_int_equal(kw_compress(codec, area, n, &packed, NULL), 0);
			batch = batch_of(codec, packed.p, packed.n, 2);
			assert_int_equal(kw_batch_walk(&batch, o, check_record, o, &why, NULL), 0);
			assert_int_equal(why, KW_WALK_END);
			free_batch(&batch);
			kw_buf_fini(&packed);
		}
}

static int check_in_batch(void *arg, int32_t index, const struct kw_record *record)
{
	const struct kw_batch *batch = arg;

	(void)index;
	assert_ptr_equal(record->key.p, batch->p + KW_B_RECORDS + 5);
	return 0;
}

static void plain_bytes_are_not_copied(void **state)
{
	uint8_t area[9];
	size_t n = (size_t)kt_hex_decode(OK, strlen(OK), area);
	struct kw_batch batch = batch_of(KW_NONE, area, n, 1);

	(void)state;
	assert_int_equal(kw_batch_walk(&batch, NULL, check_in_batch, &batch, &why, NULL), 0);
	free_batch(&batch);
}

static int check_headers(void *arg, int32_t index, const struct kw_record *record)
{
	int *most = arg;

	assert_int_equal(record->nheaders, index * 7);
	for (int32_t i = 0; i < record->nheaders; i++) {
		assert_int_equal(record->headers[i].key.n, 1);
		assert_int_equal((uint8_t)*record->headers[i].key.s, i);
	}
	*most = record->nheaders;
	return 0;
}

static void any_number_of_headers(void **state)
{
	struct kw_header headers[70];
	uint8_t names[70];
	struct kw_record records[11] = {0};
	struct kw_batch batch;
	struct kw_buf out;
	int most = 0;

	(void)state;
	for (int i = 0; i < 70; i++) {
		names[i] = (uint8_t)i;
		headers[i] = (struct kw_header){{(const char *)&names[i], 1}, {NULL, -1}};
	}
	for (int i = 0; i <= 10; i++) {
		records[i].nheaders = 7 * i;
		records[i].headers = headers;
	}
	kw_buf_init(&out, 0);
	assert_int_equal(kw_batch_build(&kw_batch_spec_default, records, 11, &out, NULL), 0);
	assert_int_equal(kw_batch_parse(out.p, out.n, &batch, NULL), 0);
	assert_int_equal(kw_batch_walk(&batch, NULL, check_headers, &most, &why, NULL), 0);
	assert_int_equal(most, 70);
	kw_buf_fini(&out);
}

static int stop_at_second(void *arg, int32_t index, const struct kw_record *record)
{
	(void)arg;
	(void)record;
	return index == 1 ? -77 : 0;
}

static void callback_can_stop(void **state)
{
	uint8_t area[64];
	size_t n = (size_t)kt_hex_decode(OK OK OK, strlen(OK OK OK), area);
	struct kw_batch batch = batch_of(KW_NONE, area, n, 3);

	(void)state;
	err = (struct kt_err){0};
	assert_int_equal(kw_batch_walk(&batch, NULL, stop_at_second, NULL, &why, &err), -77);
	assert_int_equal(why, KW_WALK_STOPPED);
	assert_int_equal(err.code, 0);
	assert_int_equal(kw_batch_walk(&batch, NULL, NULL, NULL, &why, &err), 0);
	assert_int_equal(why, KW_WALK_END);
	free_batch(&batch);
}

/* ---- compressed streams ---- */

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
	size_t n = (size_t)kt_hex_decode(OK OK OK, strlen(OK OK OK), area);
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
	size_t n = (size_t)kt_hex_decode(negative, strlen(negative), area);
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
	n = (size_t)kt_hex_decode(greatest, strlen(greatest), area);
	assert_int_equal(kw_compress(KW_LZ4, area, n, &packed, NULL), 0);
	assert_int_equal(walk_payload(KW_LZ4, packed.p, packed.n, 1, &before_44), KT_ELIMIT);
	assert_int_equal(why, KW_WALK_LIMIT);
	assert_string_equal(err.text, "no memory for a record of 2147483647 bytes");
	kw_buf_clear(&packed);
	n = (size_t)kt_hex_decode(OK, strlen(OK), area);
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
	assert_string_equal(err.text, SIZE "32776 bytes in record payload, but instead the buffer has only 32774 "
			    "remaining bytes.");
	kw_buf_fini(&area);
	free(value);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdicts_are_those_of_kafka),
		cmocka_unit_test(codes_that_kafka_answers),
		cmocka_unit_test(any_byte_may_be_wrong),
		cmocka_unit_test(every_part_of_a_record),
		cmocka_unit_test(plain_bytes_are_not_copied),
		cmocka_unit_test(any_number_of_headers),
		cmocka_unit_test(callback_can_stop),
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
