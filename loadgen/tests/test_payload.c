#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "loadgen/payload.h"
#include "loadgen/record.h"

static const struct lg_stamp stamp = {
	.run = UINT64_C(0x0123456789abcdef), .producer = 3, .topic = 0xdeadbeef, .partition = 2, .sequence = 77,
	.intended = INT64_C(1700000000123456789), .seed = 42,
};

static void test_a_payload_reads_back_as_written(void **state)
{
	static const size_t sizes[] = {LG_STAMP_SIZE, LG_STAMP_SIZE + 1, 79, 80, 81, 256, 1000};
	uint8_t p[1000];
	struct lg_stamp got;
	size_t wrong;

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		lg_payload_write(p, sizes[i], &stamp);
		assert_int_equal(lg_payload_read(p, sizes[i], &got, &wrong), LG_PAYLOAD_INTACT);
		assert_true(got.run == stamp.run && got.seed == stamp.seed);
		assert_int_equal(got.producer, stamp.producer);
		assert_int_equal(got.topic, stamp.topic);
		assert_int_equal(got.partition, stamp.partition);
		assert_int_equal(got.sequence, stamp.sequence);
		assert_int_equal(got.intended, stamp.intended);
	}
}

static void test_the_layout_is_the_documented_one(void **state)
{
	static const uint8_t start[] = {'k', 's', 'L', 'G', 1, 0, 0, 0, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
					0, 0, 0, 3, 0xde, 0xad, 0xbe, 0xef, 0, 0, 0, 2, 0, 0, 0, 0,
					0, 0, 0, 0, 0, 0, 0, 77};
	uint8_t p[100];

	(void)state;
	lg_payload_write(p, sizeof p, &stamp);
	assert_memory_equal(p, start, sizeof start);
	assert_int_equal(p[59], sizeof p);
	assert_int_equal(kw_rd32(p + 60), crc32(crc32(0, p, 60), p + 64, sizeof p - 64));
	for (size_t i = LG_STAMP_SIZE; i < sizeof p; i++)
		assert_non_null(memchr("0123456789 aeinr", p[i], 16));
}

static void test_every_changed_byte_is_noticed(void **state)
{
	uint8_t p[150];
	struct lg_stamp got;
	size_t wrong;

	(void)state;
	lg_payload_write(p, sizeof p, &stamp);
	for (size_t i = 0; i < sizeof p; i++) {
		p[i] ^= 0x20;
		if (i <= 4) {        /* magic or version: it is not ours any more */
			assert_int_equal(lg_payload_read(p, sizeof p, &got, &wrong), LG_PAYLOAD_FOREIGN);
		} else {
			assert_int_equal(lg_payload_read(p, sizeof p, &got, &wrong), LG_PAYLOAD_CORRUPT);
			if (i >= LG_STAMP_SIZE)
				assert_int_equal(wrong, i);
			else
				assert_true(wrong >= 5);
		}
		p[i] ^= 0x20;
	}
}

static void test_a_wrong_length_is_corrupt(void **state)
{
	uint8_t p[200] = {0};
	struct lg_stamp got;
	size_t wrong;

	(void)state;
	lg_payload_write(p, 150, &stamp);
	for (size_t n = 5; n < 150; n++) {
		assert_int_equal(lg_payload_read(p, n, &got, &wrong), LG_PAYLOAD_CORRUPT);
		assert_int_equal(wrong, n);
	}
	assert_int_equal(lg_payload_read(p, 151, &got, &wrong), LG_PAYLOAD_CORRUPT);
	assert_int_equal(wrong, 150);
}

static void test_what_others_wrote_is_foreign(void **state)
{
	struct lg_stamp got;
	size_t wrong;

	(void)state;
	assert_int_equal(lg_payload_read(NULL, 0, &got, &wrong), LG_PAYLOAD_FOREIGN);
	assert_int_equal(lg_payload_read((const uint8_t *)"ksLG", 4, &got, &wrong), LG_PAYLOAD_FOREIGN);
	assert_int_equal(lg_payload_read((const uint8_t *)"hello, world", 12, &got, &wrong), LG_PAYLOAD_FOREIGN);
	assert_int_equal(lg_payload_read((const uint8_t *)"ksLG\2........", 13, &got, &wrong), LG_PAYLOAD_FOREIGN);
}

static void test_a_body_compresses_like_data(void **state)
{
	static uint8_t p[10000], packed[12000];
	uLongf n = sizeof packed;

	(void)state;
	lg_payload_write(p, sizeof p, &stamp);
	assert_int_equal(compress(packed, &n, p, sizeof p), Z_OK);
	assert_true(n > sizeof p / 2 && n < sizeof p * 6 / 10);
}

/* ---- records around payloads ---- */

static void test_keys_belong_to_their_partition(void **state)
{
	struct lg_shape shape = {.size_min = 64, .size_max = 64, .key_mode = LG_KEY_COUNT, .keys = 10};
	struct lg_stamp s = stamp;
	struct lg_draft draft;
	uint8_t value[64];
	int seen[10] = {0};

	(void)state;
	assert_int_equal(lg_spread(&shape, 4), 4);
	for (uint64_t seed = 0; seed < 400; seed++) {
		int key;

		s.seed = seed;
		s.partition = (int32_t)(seed % 4);
		lg_draft_make(&draft, &shape, &s, 4, value);
		assert_int_equal(sscanf(draft.key_text, "key-%d", &key), 1);
		assert_int_equal(key % 4, s.partition);
		seen[key]++;
	}
	for (int i = 0; i < 10; i++)
		assert_true(seen[i] > 0);
	shape.keys = 3;
	assert_int_equal(lg_spread(&shape, 4), 3);
}

static void test_sizes_cover_their_range(void **state)
{
	struct lg_shape shape = {.size_min = 100, .size_max = 103};
	int seen[4] = {0};

	(void)state;
	for (uint64_t seed = 0; seed < 200; seed++) {
		int32_t size = lg_shape_size(&shape, seed);

		assert_in_range(size, 100, 103);
		assert_int_equal(size, lg_shape_size(&shape, seed));
		seen[size - 100]++;
	}
	for (int i = 0; i < 4; i++)
		assert_true(seen[i] > 20);
}

static void test_a_draft_is_a_legal_record(void **state)
{
	struct lg_shape shape = {.size_min = 64, .size_max = 200, .key_mode = LG_KEY_SEQUENCE, .nheaders = 1,
				 .headers = {{"trace-id", "x1"}}};
	struct lg_draft draft;
	struct lg_stamp got;
	uint8_t value[200];
	size_t wrong;

	(void)state;
	lg_draft_make(&draft, &shape, &stamp, 1, value);
	assert_string_equal(draft.key_text, "3-2-77");
	assert_int_equal(draft.key.n, 6);
	assert_int_equal(draft.timestamp, INT64_C(1700000000123));
	assert_int_equal(draft.nheaders, 1);
	assert_true(kw_str_is(draft.headers[0].key, "trace-id"));
	assert_memory_equal(draft.headers[0].value.p, "x1", 2);
	assert_int_equal(lg_payload_read(draft.value.p, (size_t)draft.value.n, &got, &wrong), LG_PAYLOAD_INTACT);
	lg_draft_stamp_header(&draft);
	assert_int_equal(draft.nheaders, 2);
	assert_true(kw_str_is(draft.headers[1].key, LG_STAMP_HEADER));
	assert_int_equal(lg_payload_read(draft.headers[1].value.p, LG_STAMP_SIZE, &got, &wrong), LG_PAYLOAD_INTACT);
	assert_int_equal(got.sequence, 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_payload_reads_back_as_written),
		cmocka_unit_test(test_the_layout_is_the_documented_one),
		cmocka_unit_test(test_every_changed_byte_is_noticed),
		cmocka_unit_test(test_a_wrong_length_is_corrupt),
		cmocka_unit_test(test_what_others_wrote_is_foreign),
		cmocka_unit_test(test_a_body_compresses_like_data),
		cmocka_unit_test(test_keys_belong_to_their_partition),
		cmocka_unit_test(test_sizes_cover_their_range),
		cmocka_unit_test(test_a_draft_is_a_legal_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
