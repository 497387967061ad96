#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "lib/text/base64.h"
#include "lib/wire/record_time.h"

/* The record set of a Produce request that an old sarama sent (IBM/sarama#1032): two records, and a last offset
 * delta of 0. */
static const char two_records[] =
	"0000000000000000 00000041 00000000 02 52c268a4 0000 00000000 0000016176862535 ffffffffffffffff"
	"ffffffffffffffff 0000 00000000 00000002 0e000000010230 00 0e000002010231 00";

/* One record with a null key and value "v". */
static const char null_key[] =
	"0000000000000000 00000039 ffffffff 02 d3f2ac75 0000 00000000 0000018bcfe56800 0000018bcfe56800"
	"ffffffffffffffff ffff ffffffff 00000001 0e000000010276 00";

static uint8_t bytes[512];

static size_t unhex(const char *hex)
{
	long n = kt_hex_decode(hex, strlen(hex), bytes);

	assert_true(n > 0);
	return (size_t)n;
}

/* Bytes may claim any offset; Java's longs wrap. */
static void offsets_wrap(void **state)
{
	struct kw_batch batch = {.baseOffset = 40, .lastOffsetDelta = 2};

	(void)state;
	assert_int_equal(kw_record_offset(&batch, 1), 41);
	assert_int_equal(kw_next_offset(&batch), 43);
	batch.baseOffset = INT64_MAX - 1;
	batch.lastOffsetDelta = 1;
	assert_true(kw_record_offset(&batch, 1) == INT64_MAX);
	assert_true(kw_next_offset(&batch) == INT64_MIN);
	batch.baseOffset = INT64_MIN;
	assert_true(kw_record_offset(&batch, -1) == INT64_MAX);
}

static void hex_as_json(void **state)
{
	json_t *json = kt_hex_json("\0\x7f\xff", 3);

	(void)state;
	assert_string_equal(json_string_value(json), "007fff");
	json_decref(json);
	json = kt_hex_json(NULL, 0);
	assert_string_equal(json_string_value(json), "");
	json_decref(json);
}

static void parses_every_field(void **state)
{
	size_t n = unhex(two_records);
	struct kw_batch batch;

	(void)state;
	assert_int_equal(kw_batch_parse(bytes, n, &batch, NULL), 0);
	assert_ptr_equal(batch.p, bytes);
	assert_int_equal(batch.size, 0x41 + 12);
	assert_int_equal(batch.size, n);
	assert_int_equal(batch.baseOffset, 0);
	assert_int_equal(batch.length, 0x41);
	assert_int_equal(batch.partitionLeaderEpoch, 0);
	assert_int_equal(batch.magic, 2);
	assert_int_equal(batch.crc, 0x52c268a4);
	assert_int_equal(batch.attributes, 0);
	assert_int_equal(batch.lastOffsetDelta, 0);
	assert_int_equal(batch.baseTimestamp, 0x16176862535);
	assert_int_equal(batch.maxTimestamp, -1);
	assert_int_equal(batch.producerId, -1);
	assert_int_equal(batch.producerEpoch, 0);
	assert_int_equal(batch.baseSequence, 0);
	assert_int_equal(batch.count, 2);
	assert_int_equal(kw_batch_crc(batch.p, batch.size), batch.crc);
	n = unhex(null_key);
	assert_int_equal(kw_batch_parse(bytes, n, &batch, NULL), 0);
	assert_int_equal(batch.partitionLeaderEpoch, -1);
	assert_int_equal(batch.producerEpoch, -1);
	assert_int_equal(batch.baseSequence, -1);
	assert_int_equal(kw_batch_crc(batch.p, batch.size), 0xd3f2ac75);
}

static void signs_survive(void **state)
{
	struct kw_batch batch;
	size_t n = unhex(two_records);

	(void)state;
	for (size_t i = 0; i < n; i++)
		if (i < KW_B_LENGTH || i >= KW_B_LEADER_EPOCH)
			bytes[i] = 0xfe;
	assert_int_equal(kw_batch_parse(bytes, n, &batch, NULL), 0);
	assert_int_equal(batch.baseOffset, (int64_t)0xfefefefefefefefe);
	assert_int_equal(batch.magic, -2);
	assert_int_equal(batch.crc, 0xfefefefe);
	assert_int_equal(batch.attributes, (int16_t)0xfefe);
	assert_int_equal(batch.lastOffsetDelta, (int32_t)0xfefefefe);
	assert_int_equal(batch.count, (int32_t)0xfefefefe);
}

/* Every cut of the input is exactly allocated, so that AddressSanitizer sees a read beyond it. */
static void cut_input_is_told_apart(void **state)
{
	size_t n = unhex(two_records);
	struct kw_batch batch;

	(void)state;
	for (size_t cut = 0; cut < n; cut++) {
		uint8_t *copy = malloc(cut ? cut : 1);
		struct kt_err err = {0};

		assert_non_null(copy);
		memcpy(copy, bytes, cut);
		assert_int_equal(kw_batch_parse(copy, cut, &batch, &err), KT_ETRUNC);
		assert_int_equal(batch.length, cut < 12 ? 0 : 0x41);
		free(copy);
	}
}

static void lengths_that_cannot_be(void **state)
{
	static const struct {
		int32_t length;
		int code;
		const char *text;
	} rows[] = {
		{0, KT_ECORRUPT, "Record size 0 is less than the minimum record overhead (14)"},
		{13, KT_ECORRUPT, "Record size 13 is less than the minimum record overhead (14)"},
		{-1, KT_ECORRUPT, "Record size -1 is less than the minimum record overhead (14)"},
		{INT32_MIN, KT_ECORRUPT, "Record size -2147483648 is less than the minimum record overhead (14)"},
		{14, KT_ECORRUPT,
		 "Record batch is corrupt (the size 26 is smaller than the minimum allowed overhead 61)"},
		{48, KT_ECORRUPT,
		 "Record batch is corrupt (the size 60 is smaller than the minimum allowed overhead 61)"},
		{49, 0, ""},
		{0x41 + 1, KT_ETRUNC, "77 bytes of a batch of 78"},
		{INT32_MAX, KT_ETRUNC, "77 bytes of a batch of 2147483659"},
	};
	size_t n = unhex(two_records);

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct kt_err err = {0};
		struct kw_batch batch;

		kw_wr32(bytes + KW_B_LENGTH, (uint32_t)rows[i].length);
		assert_int_equal(kw_batch_parse(bytes, n, &batch, &err), rows[i].code);
		assert_string_equal(err.text, rows[i].text);
		assert_int_equal(batch.length, rows[i].length);
	}
}

/* ---- building ---- */

static void builds_the_fixture(void **state)
{
	struct kw_batch_spec spec = kw_batch_spec_default;
	struct kw_record record = {.key = {NULL, -1}, .value = {(const uint8_t *)"v", 1}};
	size_t n = unhex(null_key);
	struct kw_buf out;

	(void)state;
	kw_buf_init(&out, 0);
	kw_put(&out, "before", 6);
	spec.baseTimestamp = 0x18bcfe56800;
	assert_int_equal(kw_batch_build(&spec, &record, 1, &out, NULL), 0);
	assert_int_equal(out.n, 6 + n);
	assert_memory_equal(out.p + 6, bytes, n);
	kw_buf_fini(&out);
}

static void record_bytes(void **state)
{
	static const struct kw_header headers[] = {
		{{"h", 1}, {(const uint8_t *)"w", 1}}, {{"", 0}, {NULL, -1}}, {{NULL, -1}, {NULL, -2}},
	};
	struct kw_record record = {
		.attributes = -1, .timestampDelta = 1787086231121, .offsetDelta = -1, .key = {(const uint8_t *)"k", 1},
		.value = {NULL, 0}, .nheaders = 3, .headers = headers,
	};
	struct kw_buf out;
	size_t n;

	(void)state;
	kw_buf_init(&out, 0);
	kw_record_put(&out, &record);
	n = unhex("28 ff a2d99eea8268 01 02 6b 00 06 02 68 02 77 00 01 01 01");
	assert_int_equal(out.n, n);
	assert_memory_equal(out.p, bytes, n);
	kw_buf_fini(&out);
}

static void lengths_around_the_varint_steps(void **state)
{
	static uint8_t value[100000];
	struct kw_buf out;

	(void)state;
	kw_buf_init(&out, 0);
	for (int32_t n = 0; n < (int32_t)sizeof value; n += n > 32700 && n < 32840 ? 1 : 37) {
		struct kw_record record = {.key = {NULL, -1}, .value = {value, n}};
		struct kw_batch batch;
		enum kw_walk why;

		kw_buf_clear(&out);
		assert_int_equal(kw_batch_build(&kw_batch_spec_default, &record, 1, &out, NULL), 0);
		assert_int_equal(kw_batch_parse(out.p, out.n, &batch, NULL), 0);
		assert_int_equal(kw_batch_walk(&batch, NULL, NULL, NULL, &why, NULL), 0);
	}
	kw_buf_fini(&out);
}

static void header_follows_the_records(void **state)
{
	struct kw_batch_spec spec = {
		.baseOffset = 5, .partitionLeaderEpoch = 7, .attributes = KW_A_TRANSACTIONAL, .baseTimestamp = 1000,
		.maxTimestamp = -2, .producerId = 9, .producerEpoch = 3, .baseSequence = 11,
	};
	const struct kw_record records[] = {
		{.timestampDelta = -5, .offsetDelta = 0}, {.timestampDelta = 20, .offsetDelta = 4},
		{.timestampDelta = 3, .offsetDelta = 2},
	};
	struct kw_batch batch;
	struct kw_buf out;

	(void)state;
	kw_buf_init(&out, 0);
	assert_int_equal(kw_batch_build(&spec, records, 3, &out, NULL), 0);
	assert_int_equal(kw_batch_parse(out.p, out.n, &batch, NULL), 0);
	assert_int_equal(batch.size, out.n);
	assert_int_equal(batch.baseOffset, 5);
	assert_int_equal(batch.partitionLeaderEpoch, 7);
	assert_int_equal(batch.magic, 2);
	assert_int_equal(batch.crc, kw_batch_crc(out.p, out.n));
	assert_int_equal(batch.attributes, KW_A_TRANSACTIONAL);
	assert_int_equal(batch.lastOffsetDelta, 2);
	assert_int_equal(batch.baseTimestamp, 1000);
	assert_int_equal(batch.maxTimestamp, 1020);
	assert_int_equal(batch.producerId, 9);
	assert_int_equal(batch.producerEpoch, 3);
	assert_int_equal(batch.baseSequence, 11);
	assert_int_equal(batch.count, 3);
	kw_buf_clear(&out);
	spec.maxTimestamp = -1;
	assert_int_equal(kw_batch_build(&spec, records, 1, &out, NULL), 0);
	assert_int_equal((int64_t)kw_rd64(out.p + KW_B_MAX_TIMESTAMP), -1);
	kw_buf_clear(&out);
	spec.maxTimestamp = -2;
	assert_int_equal(kw_batch_build(&spec, records, 1, &out, NULL), 0);
	assert_int_equal((int64_t)kw_rd64(out.p + KW_B_MAX_TIMESTAMP), 995);
	kw_buf_fini(&out);
}

static void no_records(void **state)
{
	struct kw_batch batch;
	struct kw_buf out;

	(void)state;
	kw_buf_init(&out, 0);
	assert_int_equal(kw_batch_build(&kw_batch_spec_default, NULL, 0, &out, NULL), 0);
	assert_int_equal(kw_batch_parse(out.p, out.n, &batch, NULL), 0);
	assert_int_equal(batch.size, KW_B_RECORDS);
	assert_int_equal(batch.count, 0);
	assert_int_equal(batch.lastOffsetDelta, -1);
	assert_int_equal(batch.maxTimestamp, 0);
	kw_buf_fini(&out);
}

static void what_cannot_be_built(void **state)
{
	static uint8_t value[1000];
	struct kw_batch_spec spec = kw_batch_spec_default;
	struct kw_record record = {.value = {value, sizeof value}};
	struct kt_err err = {0};
	struct kw_buf out;

	(void)state;
	kw_buf_init(&out, 500);
	kw_put(&out, "before", 6);
	assert_int_equal(kw_batch_build(&spec, &record, 1, &out, &err), KT_ELIMIT);
	assert_string_equal(err.text, "batch of 1 records is too large");
	assert_int_equal(out.n, 6);
	kw_buf_clear(&out);
	spec.attributes = 6;
	assert_int_equal(kw_batch_build(&spec, &record, 1, &out, NULL), KT_EUNKNOWN);
	assert_int_equal(out.n, 0);
	kw_buf_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_every_field),
		cmocka_unit_test(signs_survive),
		cmocka_unit_test(cut_input_is_told_apart),
		cmocka_unit_test(lengths_that_cannot_be),
		cmocka_unit_test(builds_the_fixture),
		cmocka_unit_test(record_bytes),
		cmocka_unit_test(lengths_around_the_varint_steps),
		cmocka_unit_test(header_follows_the_records),
		cmocka_unit_test(no_records),
		cmocka_unit_test(offsets_wrap),
		cmocka_unit_test(hex_as_json),
		cmocka_unit_test(what_cannot_be_built),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
