/* Which bytes of a batch are wrong, and what Kafka answers: one row for each kind of fault. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lib/wire/check.h"

enum { FAULTS = 8 };

static struct kw_fault faults[FAULTS];
static size_t nfaults;

static int keep(void *arg, const struct kw_fault *fault)
{
	(void)arg;
	assert_true(nfaults < FAULTS);
	faults[nfaults++] = *fault;
	return 0;
}

/* Single quotes, so that JSON reads well here. */
static void build(const char *text, struct kw_buf *out)
{
	char *copy = strdup(text), line[800];
	struct kt_err err = {0};
	json_error_t why;
	json_t *json;

	for (char *s = copy; *s; s++)
		if (*s == '\'')
			*s = '"';
	json = json_loads(copy, 0, &why);
	if (!json)
		fail_msg("%s: %s", why.text, copy);
	if (kw_batches_from_json(json, out, &err))
		fail_msg("%s: %s", text, kt_err_line(&err, line, sizeof line));
	json_decref(json);
	free(copy);
}

static void check(const uint8_t *p, size_t n, enum kw_role role)
{
	struct kw_set set = {.p = p, .n = n};
	struct kw_entry entry;

	nfaults = 0;
	assert_int_equal(kw_set_next(&set, &entry, NULL), 1);
	kw_entry_faults(&entry, role, keep, NULL);
}

#define TWO "'baseTimestamp': 5, 'records': [{'value': 'a'}, {'value': 'b'}]"

static void each_fault_has_its_place(void **state)
{
	static const struct {
		enum kw_role role;
		const char *batch;
		size_t at, size;
		bool inflated;
		int code;
		const char *says;
	} rows[] = {
		/* role, batch, place, inflated, answer, words */
		{KW_PRODUCED, "'baseOffset': 3, " TWO, 0, 8, false, 87, "baseOffset is 3"},
		{KW_PRODUCED, "'crc': 1, " TWO, 17, 4, false, 2, "crc says 00000001"},
		{KW_PRODUCED, "'attributes': 5, " TWO, 21, 2, false, -1, "codec 5"},
		{KW_PRODUCED, "'attributes': 32, " TWO, 21, 2, false, 87, "control bit"},
		{KW_PRODUCED, "'lastOffsetDelta': 0, " TWO, 57, 4, false, 87, "count says 2, lastOffsetDelta says 0"},
		{KW_STORED,
		 "'lastOffsetDelta': 0, 'edits': [{'edit': 'set', 'at': 'records[1].offsetDelta', 'value': 0}], " TWO,
		 57, 4, false, 87, "count says 2, lastOffsetDelta says 0"},
		{KW_PRODUCED, "'lastOffsetDelta': -1, 'count': 0, " TWO, 23, 4, false, 87, "lastOffsetDelta is -1"},
		{KW_PRODUCED, "'producerId': 4, " TWO, 53, 4, false, 87, "baseSequence is -1, with producerId 4"},
		{KW_PRODUCED, "'edits': [{'edit': 'append', 'at': 'records', 'hex': '00'}], " TWO, 77, 1, false, 87,
		 "remaining"},
		{KW_PRODUCED, "'codec': 'gzip', 'edits': [{'edit': 'append', 'at': 'records', 'hex': '00'}], " TWO, 16,
		 1, true, 87, "remaining"},
		{KW_PRODUCED, "'attributes': 1, " TWO, 61, 16, false, -1, "decompress"},
		{KW_STORED, "'edits': [{'edit': 'set', 'at': 'records[1].offsetDelta', 'value': 5}], " TWO, 69, 8,
		 false, 0, "record 1 has offset delta 5"},
		{KW_STORED,
		 "'codec': 'lz4', 'edits': [{'edit': 'set', 'at': 'records[1].offsetDelta', 'value': 0}], " TWO, 8, 8,
		 true, 0, "record 1 has offset delta 0"},
		{KW_STORED, "'maxTimestamp': 9, " TWO, 35, 8, false, 0,
		 "maxTimestamp is 9, the greatest of the records is 5"},
		{KW_STORED, "'attributes': 32, " TWO, 61, 8, false, 0, "control record"},
		{KW_PRODUCED, "'length': 40, " TWO, 8, 4, false, 2, "length is 40"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct kw_buf buf = {0};
		char text[300];

		snprintf(text, sizeof text, "[{%s}]", rows[i].batch);
		build(text, &buf);
		check(buf.p, buf.n, rows[i].role);
		if (nfaults == 0 || !strstr(faults[0].text, rows[i].says))
			fail_msg("%s: \"%s\"", text, nfaults ? faults[0].text : "nothing");
		assert_int_equal(faults[0].at, rows[i].at);
		assert_int_equal(faults[0].size, rows[i].size);
		assert_int_equal(faults[0].inflated, rows[i].inflated);
		assert_int_equal(faults[0].code, rows[i].code);
		kw_buf_fini(&buf);
	}
}

static void sound_batches(void **state)
{
	static const struct {
		enum kw_role role;
		const char *batch;
	} rows[] = {
		{KW_PRODUCED, TWO},
		{KW_PRODUCED, "'codec': 'zstd', " TWO},
		{KW_PRODUCED, "'maxTimestamp': -1, " TWO},
		{KW_STORED, "'baseOffset': 9223372036854775800, " TWO},
		/* Compaction took records out. */
		{KW_STORED, "'lastOffsetDelta': 7, " TWO},
		{KW_STORED, "'lastOffsetDelta': 7, 'baseTimestamp': 5, 'records': []"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct kw_buf buf = {0};
		char text[200];

		snprintf(text, sizeof text, "[{%s}]", rows[i].batch);
		build(text, &buf);
		check(buf.p, buf.n, rows[i].role);
		if (nfaults)
			fail_msg("%s: %s", text, faults[0].text);
		kw_buf_fini(&buf);
	}
}

static void messages(void **state)
{
	struct kw_buf buf = {0};

	(void)state;
	build("[{'magic': 1, 'records': [{'value': 'a'}]}]", &buf);
	check(buf.p, buf.n, KW_STORED);
	assert_int_equal(nfaults, 0);
	check(buf.p, buf.n, KW_PRODUCED);
	assert_int_equal(faults[0].at, 16);
	assert_int_equal(faults[0].code, 87);
	buf.p[buf.n - 1] ^= 1;
	check(buf.p, buf.n, KW_STORED);
	assert_int_equal(nfaults, 1);
	assert_int_equal(faults[0].at, 12);
	assert_int_equal(faults[0].code, 2);
	kw_buf_fini(&buf);
}

/* The CRC tells which bit it was, if it was one. */
static void every_flipped_bit_is_found(void **state)
{
	struct kw_buf buf = {0};
	char hint[60];

	(void)state;
	build("[{" TWO "}]", &buf);
	for (size_t bit = 8 * KW_B_CRC; bit < 8 * buf.n; bit++) {
		buf.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
		check(buf.p, buf.n, KW_STORED);
		snprintf(hint, sizeof hint, "bit %zu of byte %zu is flipped", bit % 8, bit / 8);
		if (bit < 8 * KW_B_ATTRIBUTES)
			snprintf(hint, sizeof hint, "one bit of the crc is flipped");
		if (!strstr(faults[0].text, hint))
			fail_msg("\"%s\" for %s", faults[0].text, hint);
		buf.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	kw_buf_fini(&buf);
}

static void wrong_kinds_of_checksum_are_named(void **state)
{
	struct kw_buf buf = {0};
	uint32_t right;

	(void)state;
	build("[{" TWO "}]", &buf);
	right = kw_rd32(buf.p + KW_B_CRC);
	kw_wr32(buf.p + KW_B_CRC, __builtin_bswap32(right));
	check(buf.p, buf.n, KW_PRODUCED);
	assert_non_null(strstr(faults[0].text, "bytes in reverse"));
	kw_wr32(buf.p + KW_B_CRC, right ^ 0x00110000);
	check(buf.p, buf.n, KW_PRODUCED);
	assert_null(strstr(faults[0].text, ";"));
	kw_buf_fini(&buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_fault_has_its_place),
		cmocka_unit_test(sound_batches),
		cmocka_unit_test(messages),
		cmocka_unit_test(every_flipped_bit_is_found),
		cmocka_unit_test(wrong_kinds_of_checksum_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
