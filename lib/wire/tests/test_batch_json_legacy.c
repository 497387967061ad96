#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lib/text/base64.h"
#include "lib/wire/set.h"

static struct kw_buf out;
static struct kt_err err;

/* Builds from the text; ' stands for ". */
static int build(const char *text)
{
	char *json_text = strdup(text);
	json_t *json;
	int code;

	assert_non_null(json_text);
	for (char *p = json_text; *p; p++)
		if (*p == '\'')
			*p = '"';
	json = json_loads(json_text, 0, NULL);
	assert_non_null(json);
	err = (struct kt_err){0};
	kw_buf_clear(&out);
	code = kw_batches_from_json(json, &out, &err);
	assert_int_equal(code, err.code);
	json_decref(json);
	free(json_text);
	return code;
}

static void assert_builds(const char *text, const char *hex)
{
	uint8_t *want = malloc(strlen(hex) + 1);
	long n;

	if (build(text))
		fail_msg("%s: %s: %s", text, err.path, err.text);
	assert_non_null(want);
	n = kt_hex_decode(hex, strlen(hex), want);
	assert_int_equal(out.n, n);
	assert_memory_equal(out.p, want, out.n);
	free(want);
}

static int free_out(void **state)
{
	(void)state;
	kw_buf_fini(&out);
	return 0;
}

/* How a walk over the one entry in out ends. */
static const char *found(void)
{
	struct kw_set set = {.p = out.p, .n = out.n};
	struct kw_entry entry;
	struct kw_legacy message;
	enum kw_walk why;

	assert_int_equal(kw_set_next(&set, &entry, NULL), 1);
	assert_int_equal(set.at, out.n);
	assert_int_equal(kw_entry_check(&entry, NULL), 0);
	assert_int_equal(kw_legacy_parse(entry.p, entry.size, &message, NULL), 0);
	kw_legacy_walk(&message, &(struct kw_walk_opts){.inner_magic = true, .inner_crc = true}, NULL, NULL, &why,
		       &err);
	return kw_walk_name(why);
}

/* ---- right ---- */

/* Both are rows of golden_records.def: Kafka's own bytes. */
static void known_bytes(void **state)
{
	(void)state;
	assert_builds("[{'magic': 0, 'baseOffset': 7, 'records': [{'key': 'k', 'value': 'first'}, {'value': 'second'},"
		      "{'offset': 10, 'key': ''}, {'offset': 11, 'key': 'k', 'value': ''}]}]",
		      "00000000000000070000001400ace3eb0000000000016b000000056669727374000000000000000800000014a6f2489d"
		      "0000ffffffff000000067365636f6e64000000000000000a0000000e3d314895000000000000ffffffff000000000000"
		      "000b0000000f4e3924150000000000016b00000000");
	assert_builds("[{'magic': 1, 'records': [{'offset': 8, 'timestamp': 1700000001000, 'attributes': 8,"
		      "'value': 'second'}]}]",
		      "00000000000000080000001c42610ad501080000018bcfe56be8ffffffff000000067365636f6e64");
}

static void wrapped_sets_are_right_by_default(void **state)
{
	static const char *const codecs[] = {"gzip", "snappy", "lz4"};
	struct kw_legacy wrapper;
	char text[256];

	(void)state;
	for (int magic = 0; magic <= 1; magic++)
		for (int i = 0; i < 3; i++) {
			snprintf(text, sizeof text, "[{'magic': %d, 'baseOffset': 100, 'codec': '%s', 'records':"
				 "[{'value': 'a'}, {'value': 'b', 'repeat': 4}]}]", magic, codecs[i]);
			assert_int_equal(build(text), 0);
			assert_string_equal(found(), "end");
			assert_int_equal(kw_legacy_parse(out.p, out.n, &wrapper, NULL), 0);
			assert_int_equal(wrapper.magic, magic);
			assert_int_equal(wrapper.attributes, i + 1);
			assert_int_equal(wrapper.offset, 104);
			assert_int_equal(wrapper.key.n, -1);
		}
}

static int check_offsets(void *arg, int32_t index, const struct kw_legacy *message)
{
	const int64_t *base = arg;

	assert_int_equal(message->offset, *base + index);
	assert_int_equal(message->timestamp, message->magic ? 1000 + index : -1);
	return 0;
}

static void offsets_and_times(void **state)
{
	struct kw_legacy wrapper;
	int64_t base = 100, now = (int64_t)time(NULL) * 1000;
	enum kw_walk why;

	(void)state;
	for (int magic = 0; magic <= 1; magic++) {
		assert_int_equal(build(magic ? "[{'magic': 1, 'codec': 'gzip', 'baseOffset': 100, 'records':"
					       "[{'timestamp': 1000}, {'timestamp': 1001}]}]"
					     : "[{'magic': 0, 'codec': 'gzip', 'baseOffset': 100,"
					       "'records': [{'repeat': 2}]}]"), 0);
		assert_int_equal(kw_legacy_parse(out.p, out.n, &wrapper, NULL), 0);
		assert_int_equal(wrapper.timestamp, magic ? 1001 : -1);
		assert_int_equal(kw_legacy_walk(&wrapper, NULL, check_offsets, &base, &why, NULL), 0);
	}
	assert_int_equal(build("[{'magic': 1, 'records': [{'timestamp': 'now-1000'}]}]"), 0);
	assert_int_equal(kw_legacy_parse(out.p, out.n, &wrapper, NULL), 0);
	assert_in_range(wrapper.timestamp, now - 2000, now + 60000);
}

static void checksum_of_lz4(void **state)
{
	static const struct {
		const char *text;
		size_t value;
		uint8_t checksum;
	} rows[] = {
		{"[{'magic': 0, 'codec': 'lz4', 'records': [{}]}]", 26, 0x1a},
		{"[{'magic': 0, 'codec': 'lz4', 'lz4Checksum': 'right', 'records': [{}]}]", 26, 0x82},
		{"[{'magic': 1, 'codec': 'lz4', 'records': [{}]}]", 34, 0x82},
		{"[{'magic': 1, 'codec': 'lz4', 'lz4Checksum': 'historic', 'records': [{}]}]", 34, 0x1a},
		{"[{'codec': 'lz4', 'records': [{}]}]", 61, 0x82},
		{"[{'codec': 'lz4', 'lz4Checksum': 'historic', 'records': [{}]}]", 61, 0x1a},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		assert_int_equal(build(rows[i].text), 0);
		assert_memory_equal(out.p + rows[i].value, "\x04\x22\x4d\x18\x60\x40", 6);
		assert_int_equal(out.p[rows[i].value + 6], rows[i].checksum);
	}
}

static void framing_of_snappy(void **state)
{
	(void)state;
	assert_builds("[{'magic': 0, 'codec': 'snappy', 'snappyFraming': 'raw', 'body': 'abc'}]",
		      "0000000000000000 00000013 de8a256b 00 02 ffffffff 00000005 0308616263");
	assert_int_equal(build("[{'codec': 'snappy', 'snappyFraming': 'raw', 'body': 'abc'}]"), 0);
	assert_memory_equal(out.p + KW_B_RECORDS, "\x03\x08" "abc", 5);
	assert_int_equal(build("[{'magic': 1, 'codec': 'snappy', 'snappyFraming': 'xerial', 'body': 'abc'}]"), 0);
	assert_memory_equal(out.p + 34, "\x82SNAPPY\0", 8);
}

/* ---- wrong on purpose ---- */

static void faults_of_sets(void **state)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{"[{'magic': 1, 'codec': 'gzip', 'payload': null}]", "wrapper-null"},
		{"[{'magic': 0, 'codec': 'zstd', 'records': [{}]}]", "wrapper-zstd"},
		{"[{'magic': 1, 'codec': 'gzip', 'records': []}]", "wrapper-empty"},
		{"[{'magic': 1, 'codec': 'gzip', 'offset': 1, 'records': [{'repeat': 3}]}]", "wrapper-offset"},
		{"[{'magic': 1, 'codec': 'gzip', 'offset': 0, 'records': [{'repeat': 3}]}]", "end"},
		{"[{'magic': 1, 'codec': 'gzip', 'records': [{}, {'magic': 0}]}]", "inner-magic"},
		{"[{'magic': 1, 'codec': 'gzip', 'records': [{}, {'attributes': 1}]}]", "inner-codec"},
		{"[{'magic': 0, 'codec': 'gzip', 'records': [{}, {'crc': 7}]}]", "inner-crc"},
		{"[{'magic': 0, 'codec': 'gzip', 'records': [{}, {'length': 13}]}]", "inner-size"},
		{"[{'magic': 0, 'codec': 'gzip', 'records': [{}, {'length': 1000}]}]", "end"},
		{"[{'magic': 0, 'codec': 'gzip', 'body': {'hex': '0000000000000000 7fffffff'}}]", "bad-record"},
		{"[{'magic': 0, 'codec': 'gzip', 'attributes': 2, 'records': [{}]}]", "bad-codec"},
		{"[{'magic': 1, 'attributes': 1, 'payload': 'no gzip'}]", "bad-codec"},
		{"[{'magic': 1, 'attributes': 7, 'payload': ''}]", "bad-codec"},
		{"[{'magic': 1, 'codec': 'lz4', 'lz4Checksum': 'historic', 'records': [{}]}]", "bad-codec"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (build(rows[i].text))
			fail_msg("%s: %s: %s", rows[i].text, err.path, err.text);
		if (strcmp(found(), rows[i].why) != 0)
			fail_msg("%s: %s", rows[i].text, found());
	}
}

static void wrapper_fields_are_written_as_given(void **state)
{
	struct kw_legacy wrapper;

	(void)state;
	assert_int_equal(build("[{'magic': 1, 'codec': 'gzip', 'offset': -9, 'timestamp': -5, 'attributes': 201,"
			       "'key': 'kk', 'crc': 4294967295, 'length': 40, 'records': [{}]}]"), 0);
	assert_int_equal(kw_legacy_parse(out.p, out.n, &wrapper, NULL), KT_ECORRUPT);
	assert_int_equal(wrapper.offset, -9);
	assert_int_equal(wrapper.timestamp, -5);
	assert_int_equal(wrapper.attributes, 201 - 256);
	assert_int_equal(wrapper.timestampType, KW_LOG_APPEND_TIME);
	assert_int_equal(wrapper.key.n, 2);
	assert_int_equal(wrapper.crc, UINT32_MAX);
	assert_int_equal(wrapper.length, 40);
	assert_true(out.n > 40 + 12);
}

static void edits_and_their_crc(void **state)
{
	struct kw_entry entry;
	struct kw_set set;

	(void)state;
	for (int fix = 0; fix <= 1; fix++) {
		char text[300];

		snprintf(text, sizeof text, "[{'magic': 0, 'records': [{'key': 'a'}, {'key': 'b'}], %s 'edits':"
			 " [{'edit': 'flip-bit', 'at': 'messages[0].key', 'bit': 32},"
			 " {'edit': 'replace', 'at': -5, 'hex': '78'}]}]", fix ? "'crc': 'fix'," : "");
		assert_int_equal(build(text), 0);
		set = (struct kw_set){.p = out.p, .n = out.n};
		for (int i = 0; i < 2; i++) {
			assert_int_equal(kw_set_next(&set, &entry, NULL), 1);
			assert_int_equal(kw_entry_check(&entry, NULL), fix ? 0 : KT_ECORRUPT);
			assert_int_equal(entry.p[22], i ? 'x' : 'a' ^ 1);
		}
	}
	/* Raw bytes tell by their magic what CRC they have. */
	assert_builds("[{'raw': {'hex': '0000000000000001 0000000e 00000000 00 00 ffffffff ffffffff'}, 'crc': 'fix'}]",
		      "0000000000000001 0000000e a7ec6803 00 00 ffffffff ffffffff");
}

static void what_cannot_be_meant(void **state)
{
	static const struct {
		const char *text, *path;
		int code;
	} rows[] = {
		{"[{'magic': 1, 'records': [{'headers': []}]}]", "batches[0].records[0].headers", KT_EUNKNOWN},
		{"[{'magic': 1, 'records': [{'offsetDelta': 1}]}]", "batches[0].records[0].offsetDelta", KT_EUNKNOWN},
		{"[{'magic': 0, 'records': [{'timestamp': 1}]}]", "batches[0].records[0].timestamp", KT_EUNKNOWN},
		{"[{'magic': 1, 'producerId': 1, 'records': []}]", "batches[0].producerId", KT_EUNKNOWN},
		{"[{'magic': 1, 'offset': 1, 'records': []}]", "batches[0].offset", KT_EUNKNOWN},
		{"[{'magic': 1, 'length': 1, 'records': []}]", "batches[0].length", KT_EUNKNOWN},
		{"[{'magic': 1, 'crc': 1, 'records': []}]", "batches[0].crc", KT_ETYPE},
		{"[{'magic': 1, 'codec': 'gzip', 'crc': 'stale', 'records': []}]", "batches[0].crc", KT_ETYPE},
		{"[{'magic': 1, 'records': [], 'body': ''}]", "batches[0]", KT_ETYPE},
		{"[{'magic': 1, 'codec': 'gzip', 'body': null}]", "batches[0].body", KT_ETYPE},
		{"[{'magic': 1, 'records': [{'attributes': 256}]}]", "batches[0].records[0].attributes", KT_ERANGE},
		{"[{'magic': 1, 'records': [{'crc': 'fix'}]}]", "batches[0].records[0].crc", KT_ETYPE},
		{"[{'magic': 1, 'lz4Checksum': 'wrong', 'records': []}]", "batches[0].lz4Checksum", KT_EUNKNOWN},
		{"[{'magic': '1', 'records': []}]", "batches[0].magic", KT_ETYPE},
		{"[{'magic': 1, 'records': [{'value': {'size': 1000000}, 'repeat': 1000}]}]", "batches[0].records[0]",
		 KT_ELIMIT},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		int code = build(rows[i].text);

		if (code != rows[i].code || strcmp(err.path, rows[i].path) != 0)
			fail_msg("%s: %d %s: %s", rows[i].text, code, err.path, err.text);
		assert_int_equal(out.n, 0);
	}
}

static void stands_beside_batches(void **state)
{
	struct kw_entry entry;
	struct kw_set set;
	int magics = 0;

	(void)state;
	assert_int_equal(build("[{'magic': 0, 'records': [{'repeat': 2}]}, {'magic': 1, 'records': [{}]},"
			       "{'magic': 2, 'records': [{}]}, {'records': [{}]}]"), 0);
	set = (struct kw_set){.p = out.p, .n = out.n};
	while (kw_set_next(&set, &entry, NULL) > 0) {
		magics = magics * 10 + entry.magic;
		assert_int_equal(kw_entry_check(&entry, NULL), 0);
	}
	assert_int_equal(magics, 122);
	assert_int_equal(set.at, out.n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_bytes),
		cmocka_unit_test(wrapped_sets_are_right_by_default),
		cmocka_unit_test(offsets_and_times),
		cmocka_unit_test(checksum_of_lz4),
		cmocka_unit_test(framing_of_snappy),
		cmocka_unit_test(faults_of_sets),
		cmocka_unit_test(wrapper_fields_are_written_as_given),
		cmocka_unit_test(edits_and_their_crc),
		cmocka_unit_test(what_cannot_be_meant),
		cmocka_unit_test(stands_beside_batches),
	};

	return cmocka_run_group_tests(tests, NULL, free_out);
}
