#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <time.h>

#include "lib/text/base64.h"
#include "lib/wire/batch.h"

static struct kw_buf out;
static struct kt_err err;
static struct kw_batch batch;

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

/* Builds one batch and reads its header. */
static void build_one(const char *text)
{
	if (build(text))
		fail_msg("%s: %s: %s", text, err.path, err.text);
	assert_int_equal(kw_batch_parse(out.p, out.n, &batch, NULL), 0);
	assert_int_equal(batch.size, out.n);
}

static bool crc_is_right(void)
{
	return batch.crc == kw_batch_crc(batch.p, batch.size);
}

static void assert_hex(const uint8_t *p, size_t n, const char *hex)
{
	uint8_t *want = malloc(strlen(hex) + 1);
	long len;

	assert_non_null(want);
	len = kt_hex_decode(hex, strlen(hex), want);
	assert_int_equal(n, len);
	assert_memory_equal(p, want, n);
	free(want);
}

static int free_out(void **state)
{
	(void)state;
	kw_buf_fini(&out);
	return 0;
}

/* ---- right batches ---- */

static void known_bytes(void **state)
{
	(void)state;
	build_one("[{'baseTimestamp': 1700000000000, 'records': [{'value': 'v'}]}]");
	assert_hex(out.p, out.n,
		   "0000000000000000 00000039 ffffffff 02 d3f2ac75 0000 00000000 0000018bcfe56800 0000018bcfe56800"
		   "ffffffffffffffff ffff ffffffff 00000001 0e000000010276 00");
}

static void everything_is_right_by_default(void **state)
{
	int64_t now = (int64_t)time(NULL) * 1000;

	(void)state;
	build_one("[{'records': [{'key': 'k', 'timestampDelta': 5}, {'repeat': 3, 'timestampDelta': -7},"
		  "{'repeat': 0}]}]");
	assert_true(crc_is_right());
	assert_int_equal(batch.magic, 2);
	assert_int_equal(batch.count, 4);
	assert_int_equal(batch.lastOffsetDelta, 3);
	assert_in_range(batch.baseTimestamp, now - 1000, now + 60000);
	assert_int_equal(batch.maxTimestamp, batch.baseTimestamp + 5);
	assert_int_equal(batch.producerId, -1);
	build_one("[{}]");
	assert_int_equal(batch.size, KW_B_RECORDS);
	assert_int_equal(batch.count, 0);
	assert_int_equal(batch.lastOffsetDelta, -1);
	assert_int_equal(batch.maxTimestamp, batch.baseTimestamp);
	assert_int_equal(build("[]"), 0);
	assert_int_equal(out.n, 0);
}

static void records_area(const char *records, const char *hex)
{
	char text[512];

	snprintf(text, sizeof text, "[{'records': %s}]", records);
	build_one(text);
	assert_hex(out.p + KW_B_RECORDS, out.n - KW_B_RECORDS, hex);
}

static void every_form_of_bytes(void **state)
{
	(void)state;
	records_area("[{'key': null, 'value': ''}]", "0c 00 00 00 01 00 00");
	records_area("[{'key': 'k', 'value': '\\u00e4'}]", "12 00 00 00 026b 04c3a4 00");
	records_area("[{'key': {'hex': '00 ff'}, 'value': {'base64': 'AQI='}}]", "14 00 00 00 0400ff 040102 00");
	records_area("[{'key': {'size': 3}, 'value': {'size': 0}}]", "12 00 00 00 06787878 00 00");
	records_area("[{'attributes': 255, 'offsetDelta': -1, 'timestampDelta': 64}]", "0e ff 8001 01 01 01 00");
	records_area("[{'headers': [{'key': 'h', 'value': null}, {'key': null, 'value': {'hex': '07'}}]}]",
		     "18 00 00 00 01 01 04 0268 01 01 0207");
	records_area("[{'offsetDelta': 4, 'repeat': 2}, {}]",
		     "0c 00 00 08 01 01 00  0c 00 00 08 01 01 00  0c 00 00 04 01 01 00");
}

static void compressed(void **state)
{
	static const char *const names[] = {"none", "gzip", "snappy", "lz4", "zstd"};
	char text[128];
	enum kw_walk why;

	(void)state;
	for (int codec = KW_NONE; codec <= KW_ZSTD; codec++) {
		snprintf(text, sizeof text, "[{'codec': '%s', 'records': [{'value': {'size': 1000}, 'repeat': 50}]}]",
			 names[codec]);
		build_one(text);
		assert_int_equal(batch.attributes, codec);
		assert_true(crc_is_right());
		assert_true(codec == KW_NONE || batch.size < 5000);
		assert_int_equal(kw_batch_walk(&batch, NULL, NULL, NULL, &why, NULL), 0);
	}
	/* Attributes that say another codec than the one of the body. */
	build_one("[{'codec': 'zstd', 'attributes': 16, 'records': [{}]}]");
	assert_int_equal(batch.attributes, 16);
	assert_memory_equal(out.p + KW_B_RECORDS, "\x28\xb5\x2f\xfd", 4);
}

static void several_batches(void **state)
{
	size_t first;

	(void)state;
	assert_int_equal(build("[{'records': [{'value': 'a'}]}, {'baseOffset': 1, 'records': [{'value': 'bb'}]}]"), 0);
	assert_int_equal(kw_batch_parse(out.p, out.n, &batch, NULL), 0);
	first = batch.size;
	assert_int_equal(kw_batch_parse(out.p + first, out.n - first, &batch, NULL), 0);
	assert_int_equal(first + batch.size, out.n);
	assert_int_equal(batch.baseOffset, 1);
}

/* ---- wrong on purpose ---- */

static void header_fields_are_written_as_given(void **state)
{
	(void)state;
	build_one("[{'baseOffset': -5, 'partitionLeaderEpoch': 77, 'magic': 3, 'attributes': 65535,"
		  "'lastOffsetDelta': -2, 'baseTimestamp': 10, 'maxTimestamp': 3,"
		  "'producerId': 9223372036854775807, 'producerEpoch': -1,"
		  "'baseSequence': 4294967295, 'count': 9, 'records': [{}]}]");
	assert_int_equal(batch.baseOffset, -5);
	assert_int_equal(batch.partitionLeaderEpoch, 77);
	assert_int_equal(batch.magic, 3);
	assert_int_equal(batch.attributes, -1);
	assert_int_equal(batch.lastOffsetDelta, -2);
	assert_int_equal(batch.baseTimestamp, 10);
	assert_int_equal(batch.maxTimestamp, 3);
	assert_int_equal(batch.producerId, INT64_MAX);
	assert_int_equal(batch.producerEpoch, -1);
	assert_int_equal(batch.baseSequence, -1);
	assert_int_equal(batch.count, 9);
	assert_true(crc_is_right());
	assert_int_equal(build("[{'length': 13, 'records': [{}]}]"), 0);
	assert_int_equal(kw_rd32(out.p + KW_B_LENGTH), 13);
}

static void times_relative_to_now(void **state)
{
	(void)state;
	build_one("[{'baseTimestamp': 'now-1000', 'maxTimestamp': 'now+3600000', 'records': [{}]}]");
	assert_int_equal(batch.maxTimestamp - batch.baseTimestamp, 3601000);
	build_one("[{'baseTimestamp': 'now', 'maxTimestamp': 'now+0', 'records': [{}]}]");
	assert_int_equal(batch.maxTimestamp, batch.baseTimestamp);
}

static void crc_variants(void **state)
{
	uint32_t right;

	(void)state;
	build_one("[{'baseTimestamp': 1, 'records': [{}]}]");
	right = batch.crc;
	build_one("[{'baseTimestamp': 1, 'records': [{}], 'count': 5}]");
	assert_true(crc_is_right());
	build_one("[{'baseTimestamp': 1, 'records': [{}], 'count': 5, 'crc': 'stale'}]");
	assert_false(crc_is_right());
	build_one("[{'records': [{}], 'crc': 4294967295}]");
	assert_int_equal(batch.crc, 0xffffffff);
	build_one("[{'baseTimestamp': 1, 'records': [{}], 'edits': [{'edit': 'flip-bit', 'at': -1, 'bit': 0}]}]");
	assert_int_equal(batch.crc, right);
	assert_false(crc_is_right());
	build_one("[{'baseTimestamp': 1, 'records': [{}], 'crc': 'fix', 'edits': [{'edit': 'flip-bit', 'at': "
		  "-1, 'bit': 0}]}]");
	assert_int_not_equal(batch.crc, right);
	assert_true(crc_is_right());
}

static void stale_crc_is_of_the_right_batch(void **state)
{
	uint32_t right;

	(void)state;
	build_one("[{'baseTimestamp': 1, 'records': [{}]}]");
	right = batch.crc;
	build_one("[{'baseTimestamp': 1, 'records': [{}], 'lastOffsetDelta': 3, 'crc': 'stale'}]");
	assert_int_equal(batch.crc, right);
}

static void body_and_payload(void **state)
{
	(void)state;
	build_one("[{'body': {'hex': '0e00000001 0276 00'}}]");
	assert_int_equal(batch.count, 1);
	assert_int_equal(batch.lastOffsetDelta, 0);
	assert_hex(out.p + KW_B_RECORDS, out.n - KW_B_RECORDS, "0e00000001027600");
	build_one("[{'body': {'hex': 'ffff'}, 'codec': 'gzip', 'count': 3}]");
	assert_int_equal(batch.count, 3);
	assert_memory_equal(out.p + KW_B_RECORDS, "\x1f\x8b", 2);
	build_one("[{'payload': 'not gzip', 'codec': 'gzip'}]");
	assert_int_equal(batch.attributes, KW_GZIP);
	assert_memory_equal(out.p + KW_B_RECORDS, "not gzip", 8);
	assert_true(crc_is_right());
}

static void raw_bytes(void **state)
{
	(void)state;
	assert_int_equal(build("[{'raw': {'hex': '0102 03'}}]"), 0);
	assert_hex(out.p, out.n, "010203");
	assert_int_equal(build("[{'raw': '', 'edits': [{'edit': 'append', 'hex':"
			       " '78787878787878787878787878787878787878787878787878'},"
			       " {'edit': 'truncate', 'at': 22}],"
			       "'crc': 'fix'}]"), 0);
	assert_int_equal(out.n, 22);
	assert_int_equal(kw_rd32(out.p + KW_B_CRC), kw_crc32c(0, "x", 1));
}

static void edits(void **state)
{
	(void)state;
	assert_int_equal(build("[{'raw': {'hex': '000102030405'}, 'edits': [{'edit': 'replace', 'at': 1, 'hex': "
			       "'aabb'},{'edit': 'replace', 'at': -2, 'hex': 'f4'}, {'edit': 'truncate', 'at': "
			       "-1},{'edit': 'append', 'hex': '99'},"
			       "{'edit': 'insert', 'at': 6, 'hex': ''}]}]"), 0);
	assert_hex(out.p, out.n, "00 aa bb 03 f4 99");
	assert_int_equal(build("[{'raw': {'hex': '0001'}, 'edits': [{'edit': 'truncate', 'at': 0}]}]"), 0);
	assert_int_equal(out.n, 0);
}

/* ---- what is refused ---- */

static void errors_name_their_place(void **state)
{
	static const struct {
		const char *text;
		int code;
		const char *path;
	} rows[] = {
		{"{}", KT_ETYPE, "batches"},
		{"[7]", KT_ETYPE, "batches[0]"},
		{"[{}, {'recrods': []}]", KT_EUNKNOWN, "batches[1].recrods"},
		{"[{'records': {}}]", KT_ETYPE, "batches[0].records"},
		{"[{'records': [{}, {}, {'kee': 1}]}]", KT_EUNKNOWN, "batches[0].records[2].kee"},
		{"[{'records': [{'key': 5}]}]", KT_ETYPE, "batches[0].records[0].key"},
		{"[{'records': [{'key': {'hex': 'abc'}}]}]", KT_ESYNTAX, "batches[0].records[0].key.hex"},
		{"[{'records': [{'key': {'hex': 5}}]}]", KT_ETYPE, "batches[0].records[0].key.hex"},
		{"[{'records': [{'value': {'base64': '*'}}]}]", KT_ESYNTAX, "batches[0].records[0].value.base64"},
		{"[{'records': [{'value': {'size': -1}}]}]", KT_ERANGE, "batches[0].records[0].value.size"},
		{"[{'records': [{'value': {'size': 268435457}}]}]", KT_ERANGE, "batches[0].records[0].value.size"},
		{"[{'records': [{'value': {'sise': 1}}]}]", KT_EUNKNOWN, "batches[0].records[0].value.sise"},
		{"[{'records': [{'value': {'size': 1, 'hex': ''}}]}]", KT_ETYPE, "batches[0].records[0].value"},
		{"[{'records': [{'value': {}}]}]", KT_ETYPE, "batches[0].records[0].value"},
		{"[{'records': [{'headers': {}}]}]", KT_ETYPE, "batches[0].records[0].headers"},
		{"[{'records': [{'headers': [{}]}]}]", KT_EUNKNOWN, "batches[0].records[0].headers[0]"},
		{"[{'records': [{'headers': [{'key': 'a', 'val': 1}]}]}]", KT_EUNKNOWN,
		 "batches[0].records[0].headers[0].val"},
		{"[{'records': [{'attributes': 256}]}]", KT_ERANGE, "batches[0].records[0].attributes"},
		{"[{'records': [{'offsetDelta': 2147483648}]}]", KT_ERANGE, "batches[0].records[0].offsetDelta"},
		{"[{'records': [{'repeat': -1}]}]", KT_ERANGE, "batches[0].records[0].repeat"},
		{"[{'records': [{'timestampDelta': 1.5}]}]", KT_ETYPE, "batches[0].records[0].timestampDelta"},
		{"[{'codec': 'gzipp'}]", KT_EUNKNOWN, "batches[0].codec"},
		{"[{'codec': 1}]", KT_ETYPE, "batches[0].codec"},
		{"[{'magic': 256}]", KT_ERANGE, "batches[0].magic"},
		{"[{'magic': -129}]", KT_ERANGE, "batches[0].magic"},
		{"[{'count': '1'}]", KT_ETYPE, "batches[0].count"},
		{"[{'baseTimestamp': 'then'}]", KT_ESYNTAX, "batches[0].baseTimestamp"},
		{"[{'baseTimestamp': 'now+'}]", KT_ESYNTAX, "batches[0].baseTimestamp"},
		{"[{'baseTimestamp': 'now*2'}]", KT_ESYNTAX, "batches[0].baseTimestamp"},
		{"[{'maxTimestamp': 'now-1h'}]", KT_ESYNTAX, "batches[0].maxTimestamp"},
		{"[{'crc': 'wrong'}]", KT_ESYNTAX, "batches[0].crc"},
		{"[{'crc': 4294967296}]", KT_ERANGE, "batches[0].crc"},
		{"[{'body': null}]", KT_ETYPE, "batches[0].body"},
		{"[{'body': '', 'records': []}]", KT_ETYPE, "batches[0]"},
		{"[{'body': '', 'payload': ''}]", KT_ETYPE, "batches[0]"},
		{"[{'raw': '', 'count': 1}]", KT_ETYPE, "batches[0].count"},
		{"[{'raw': '', 'crc': 1}]", KT_ETYPE, "batches[0].crc"},
		{"[{'raw': '', 'crc': 'fix'}]", KT_ERANGE, "batches[0].crc"},
		{"[{'edits': {}}]", KT_ETYPE, "batches[0].edits"},
		{"[{'edits': [{'edit': 'replace', 'at': 62, 'hex': ''}]}]", KT_ERANGE, "batches[0].edits[0].at"},
		{"[{'edits': [{'edit': 'replace', 'at': -62, 'hex': ''}]}]", KT_ERANGE, "batches[0].edits[0].at"},
		{"[{'edits': [{'edit': 'replace', 'at': 60, 'hex': '0000'}]}]", KT_ERANGE, "batches[0].edits[0]"},
		{"[{'edits': [{'edit': 'replace', 'at': 0}]}]", KT_EUNKNOWN, "batches[0].edits[0]"},
		{"[{'edits': [{}]}]", KT_EUNKNOWN, "batches[0].edits[0]"},
		{"[{'edits': [{'edit': 'truncat', 'at': 1}]}]", KT_EUNKNOWN, "batches[0].edits[0].edit"},
		{"[{'edits': [{'edit': 'truncate', 'at': 1, 'pluss': 2}]}]", KT_EUNKNOWN, "batches[0].edits[0].pluss"},
		{"[{'edits': [{'edit': 'set', 'at': 'counts', 'value': 1}]}]", KT_EUNKNOWN, "batches[0].edits[0].at"},
		{"[{'edits': [{'edit': 'size', 'value': 1}]}]", KT_ETYPE, "batches[0].edits[0].edit"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		int code = build(rows[i].text);

		if (code != rows[i].code || strcmp(err.path, rows[i].path) != 0)
			fail_msg("%s: %d at %s: %s", rows[i].text, code, err.path, err.text);
		assert_int_equal(out.n, 0);
		assert_true(err.text[0]);
	}
}

static void names_the_nearest_member(void **state)
{
	(void)state;
	assert_int_equal(build("[{'records': [{'kee': 1}]}]"), KT_EUNKNOWN);
	assert_string_equal(err.text, "unknown member \"kee\"; did you mean \"key\"?");
	assert_int_equal(build("[{'maxTimstamp': 1}]"), KT_EUNKNOWN);
	assert_string_equal(err.text, "unknown member \"maxTimstamp\"; did you mean \"maxTimestamp\"?");
}

static void failure_leaves_the_output_as_it_was(void **state)
{
	json_t *json = json_pack("[{}, {s:i}]", "unknown", 1);

	(void)state;
	kw_buf_clear(&out);
	kw_put(&out, "before", 6);
	assert_int_equal(kw_batches_from_json(json, &out, NULL), KT_EUNKNOWN);
	assert_int_equal(out.n, 6);
	json_decref(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_bytes),
		cmocka_unit_test(everything_is_right_by_default),
		cmocka_unit_test(every_form_of_bytes),
		cmocka_unit_test(compressed),
		cmocka_unit_test(several_batches),
		cmocka_unit_test(header_fields_are_written_as_given),
		cmocka_unit_test(times_relative_to_now),
		cmocka_unit_test(crc_variants),
		cmocka_unit_test(stale_crc_is_of_the_right_batch),
		cmocka_unit_test(body_and_payload),
		cmocka_unit_test(raw_bytes),
		cmocka_unit_test(edits),
		cmocka_unit_test(errors_name_their_place),
		cmocka_unit_test(names_the_nearest_member),
		cmocka_unit_test(failure_leaves_the_output_as_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, free_out);
}
