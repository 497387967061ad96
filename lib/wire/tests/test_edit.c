/* Every edit, on bytes that are given here: what it makes of them, and what it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lib/text/base64.h"
#include "lib/wire/batch.h"
#include "lib/wire/edit.h"

/* Metadata 1, correlation id 7, client "me", topics "abc" and "de" */
#define OLD "00000019 0003 0001 00000007 0002 6d65 00000002 0003 616263 0002 6465 "

/* Metadata 12: topic "abc" by name, both flags, no tags */
#define NEW "00000024 0003 000c 00000007 ffff 00 02 00000000000000000000000000000000 04 616263 00 01 00 00"

static struct kw_editing editing;
static struct kt_err err;

/* Single quotes, so that JSON reads well here. */
static json_t *json_of(const char *text)
{
	char *copy = strdup(text);
	json_error_t why;
	json_t *json;

	for (char *s = copy; *s; s++)
		if (*s == '\'')
			*s = '"';
	json = json_loads(copy, 0, &why);
	if (!json)
		fail_msg("%s: %s", why.text, copy);
	free(copy);
	return json;
}

static void put_hex(struct kw_buf *buf, const char *hex)
{
	uint8_t *p = kw_buf_room(buf, strlen(hex) / 2 + 1);
	long n = kt_hex_decode(hex, strlen(hex), p);

	if (n < 0)
		fail_msg("bad hex: %s", hex);
	buf->n += (size_t)n;
}

static int apply(const char *frame, const char *edits, struct kw_buf *buf)
{
	json_t *json = json_of(edits);
	int code;

	err = (struct kt_err){0};
	put_hex(buf, frame);
	code = kw_edit_frame(json, buf, &editing, &err);
	json_decref(json);
	return code;
}

static void check_frame(const char *frame, const char *edits, const char *want)
{
	struct kw_buf got = {0}, right = {0};
	char line[800];

	put_hex(&right, want);
	if (apply(frame, edits, &got))
		fail_msg("%s: %s", edits, kt_err_line(&err, line, sizeof line));
	if (got.n != right.n)
		fail_msg("%s: %zu bytes in place of %zu", edits, got.n, right.n);
	assert_memory_equal(got.p, right.p, right.n);
	kw_buf_fini(&got);
	kw_buf_fini(&right);
}

#define HEAD "0003 0001 00000007 0002 6d65 "

static void nothing_changes_without_edits(void **state)
{
	(void)state;
	check_frame(OLD, "[]", OLD);
	check_frame(NEW, "[]", NEW);
	check_frame("", "[]", "");
}

static void lengths(void **state)
{
	static const struct {
		const char *at, *value, *field;
	} rows[] = {
		{"topics", "-2", "fffffffe 0003 616263 0002 6465"},
		{"topics", "-1", "ffffffff 0003 616263 0002 6465"},
		{"topics", "'max'", "7fffffff 0003 616263 0002 6465"},
		{"topics", "'remaining+1'", "0000000a 0003 616263 0002 6465"},
		{"topics[0].name", "-2", "00000002 fffe 616263 0002 6465"},
		{"topics[0].name", "'max'", "00000002 7fff 616263 0002 6465"},
		{"topics[0].name", "'actual+1'", "00000002 0004 616263 0002 6465"},
		{"topics[0].name", "'remaining'", "00000002 0007 616263 0002 6465"},
		{"topics[1].name", "65535", "00000002 0003 616263 ffff 6465"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char edits[200], want[200];

		snprintf(edits, sizeof edits,
			 "[{'edit': 'set-length', 'at': '%s', 'value': %s}]", rows[i].at, rows[i].value);
		snprintf(want, sizeof want, "00000019 " HEAD "%s", rows[i].field);
		check_frame("00000019 " HEAD "00000002 0003 616263 0002 6465", edits, want);
	}
}

#define NEW_HEAD "0003 000c 00000007 ffff 00 "
#define NEW_TAIL "00 01 00 00"
#define NO_ID "00000000000000000000000000000000 "

static void compact_lengths(void **state)
{
	(void)state;
	check_frame(NEW, "[{'edit': 'set-length', 'at': 'topics[0].name', 'value': -1}]",
		    "00000024 " NEW_HEAD "02 " NO_ID "00 616263 " NEW_TAIL);
	check_frame(NEW, "[{'edit': 'set', 'at': 'header.correlationId', 'value': -5}, {'edit': 'set', 'at':"
		    " 'includeTopicAuthorizedOperations', 'value': 7}]",
		    "00000024 0003 000c fffffffb ffff 00 02 " NO_ID "04 616263 00 01 07 00");
	check_frame(NEW, "[{'edit': 'set-length', 'at': 'topics', 'value': 'max'}]",
		    "00000028 " NEW_HEAD "8080808008 " NO_ID "04 616263 " NEW_TAIL);
	check_frame(NEW, "[{'edit': 'set-length', 'at': 'topics', 'value': -2}]",
		    "00000028 " NEW_HEAD "ffffffff0f " NO_ID "04 616263 " NEW_TAIL);
	check_frame(NEW, "[{'edit': 'set-length', 'at': '_taggedFields', 'value': 300}]",
		    "00000025 " NEW_HEAD "02 " NO_ID "04 616263 00 01 00 ac02");
	check_frame(NEW, "[{'edit': 'overlong-varint', 'at': 'topics'}]",
		    "00000028 " NEW_HEAD "8280808000 " NO_ID "04 616263 " NEW_TAIL);
	check_frame(NEW, "[{'edit': 'overlong-varint', 'at': 'topics[0].name', 'size': 6}]",
		    "00000029 " NEW_HEAD "02 " NO_ID "848080808000 616263 " NEW_TAIL);
	check_frame(NEW, "[{'edit': 'insert-tag', 'at': 'topics[0]', 'tag': 200, 'hex': 'aabb'}]",
		    "00000029 " NEW_HEAD "02 " NO_ID "04 616263 01 c801 02 aabb 01 00 00");
	check_frame(NEW, "[{'edit': 'insert-tag', 'tag': 5, 'hex': ''}, {'edit': 'insert-tag', 'tag': 3, 'hex': ''}]",
		    "00000028 " NEW_HEAD "02 " NO_ID "04 616263 00 01 00 02 0500 0300");
	check_frame(NEW, "[{'edit': 'insert-tag', 'at': 'header', 'tag': 9, 'hex': '01'}]",
		    "00000027 0003 000c 00000007 ffff 01 09 01 01 02 " NO_ID "04 616263 " NEW_TAIL);
}

static void fields_and_bytes(void **state)
{
	static const struct {
		const char *edits, *want;
	} rows[] = {
		{"[{'edit': 'omit', 'at': 'topics[0].name'}]", "00000014 " HEAD "00000002 0002 6465"},
		{"[{'edit': 'omit', 'at': -1}]", "00000018 " HEAD "00000002 0003 616263 0002 64"},
		{"[{'edit': 'omit', 'at': 'topics[0].name', 'plus': 2, 'size': 2}]",
		 "00000017 " HEAD "00000002 0003 63 0002 6465"},
		{"[{'edit': 'omit', 'at': 'topics[0].name', 'plus': 3}]",
		 "00000017 " HEAD "00000002 0003 61 0002 6465"},
		{"[{'edit': 'duplicate', 'at': 'topics[1]'}]",
		 "0000001d " HEAD "00000002 0003 616263 0002 6465 0002 6465"},
		{"[{'edit': 'swap', 'at': 'topics[0]', 'with': 'topics[1]'}]",
		 "00000019 " HEAD "00000002 0002 6465 0003 616263"},
		{"[{'edit': 'swap', 'at': 'topics[1].name', 'with': 'header.clientId'}]",
		 "00000019 0003 0001 00000007 0002 6465 00000002 0003 616263 0002 6d65"},
		{"[{'edit': 'truncate', 'at': 'topics[1]', 'plus': 1}]", "00000016 " HEAD "00000002 0003 616263 00"},
		{"[{'edit': 'truncate', 'at': -3}]", "00000016 " HEAD "00000002 0003 616263 00"},
		{"[{'edit': 'replace', 'at': 'topics[0].name', 'hex': 'ff'}]",
		 "00000015 " HEAD "00000002 ff 0002 6465"},
		{"[{'edit': 'replace', 'at': -2, 'hex': '99'}]", "00000019 " HEAD "00000002 0003 616263 0002 9965"},
		{"[{'edit': 'replace', 'at': -2, 'hex': '99', 'size': 2}]",
		 "00000018 " HEAD "00000002 0003 616263 0002 99"},
		{"[{'edit': 'insert', 'at': 'topics[1]', 'hex': 'cc'}]",
		 "0000001a " HEAD "00000002 0003 616263 cc 0002 6465"},
		{"[{'edit': 'append', 'hex': 'ccdd'}]", "0000001b " HEAD "00000002 0003 616263 0002 6465 ccdd"},
		{"[{'edit': 'append', 'at': 'topics[0]', 'hex': 'cc'}]",
		 "0000001a " HEAD "00000002 0003 616263 cc 0002 6465"},
		{"[{'edit': 'flip-bit', 'at': 'topics[0].name', 'bit': 16}]",
		 "00000019 " HEAD "00000002 0003 606263 0002 6465"},
		{"[{'edit': 'set', 'at': 'header.correlationId', 'value': -1}]",
		 "00000019 0003 0001 ffffffff 0002 6d65 00000002 0003 616263 0002 6465"},
		{"[{'edit': 'set', 'at': 'header.requestApiVersion', 'value': 'actual+1'}]",
		 "00000019 0003 0002 00000007 0002 6d65 00000002 0003 616263 0002 6465"},
		{"[{'edit': 'rename', 'from': 'abc', 'to': 'longer'}]",
		 "0000001c " HEAD "00000002 0006 6c6f6e676572 0002 6465"},
		/* Paths go on meaning the same fields. */
		{"[{'edit': 'duplicate', 'at': 'topics[0]'}, {'edit': 'set-length', 'at': "
		 "'topics[1].name', 'value': -1}]",
		 "0000001e " HEAD "00000002 0003 616263 0003 616263 ffff 6465"},
		{"[{'edit': 'insert', 'at': 'header.requestApiKey', 'hex': 'cc'},"
		 " {'edit': 'set-length', 'at': 'topics', 'value': 1}]",
		 "0000001a cc" HEAD "00000001 0003 616263 0002 6465"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		check_frame(OLD, rows[i].edits, rows[i].want);
}

static void frame_sizes_and_headers(void **state)
{
	(void)state;
	check_frame(OLD, "[{'edit': 'size', 'value': -1}]", "ffffffff " HEAD "00000002 0003 616263 0002 6465");
	check_frame(OLD, "[{'edit': 'size', 'value': 'actual+1'}, {'edit': 'append', 'hex': 'cc'}]",
		    "0000001b " HEAD "00000002 0003 616263 0002 6465 cc");
	check_frame(OLD, "[{'edit': 'truncate', 'at': 'topics'}, {'edit': 'size', 'value': 'stale'}]",
		    "00000019 " HEAD);
	check_frame(OLD, "[{'edit': 'header-version', 'value': 2}]",
		    "0000001a " HEAD "00 00000002 0003 616263 0002 6465");
	check_frame(OLD, "[{'edit': 'header-version', 'value': 0}]",
		    "00000015 0003 0001 00000007 00000002 0003 616263 0002 6465");
	check_frame(NEW, "[{'edit': 'header-version', 'value': 1}]",
		    "00000023 0003 000c 00000007 ffff 02 " NO_ID "04 616263 " NEW_TAIL);
}

static void how_a_frame_is_sent(void **state)
{
	struct kw_buf buf = {0};

	(void)state;
	assert_int_equal(apply(OLD, "[{'edit': 'split', 'at': ['topics', 4, 4, 2, -1, 0]}, {'edit': 'half-close'}]",
			       &buf), 0);
	assert_true(editing.half_close);
	assert_int_equal(editing.ncuts, 4);
	assert_int_equal(editing.cuts[0], 2);
	assert_int_equal(editing.cuts[1], 4);
	assert_int_equal(editing.cuts[2], 16);
	assert_int_equal(editing.cuts[3], 28);
	kw_buf_fini(&buf);
}

static void what_is_refused(void **state)
{
	static const struct {
		const char *edits;
		int code;
		const char *path, *says;
	} rows[] = {
		{"[{'edit': 'set-lenght', 'at': 'topics', 'value': 1}]", KT_EUNKNOWN, "edits[0].edit", "set-length"},
		{"[{'at': 'topics'}]", KT_EUNKNOWN, "edits[0]", "edit"},
		{"[{'edit': 'set', 'at': 'topics', 'value': 1}]", KT_ETYPE, "edits[0].at", "number"},
		{"[{'edit': 'set-length', 'at': 'topics'}]", KT_EUNKNOWN, "edits[0]", "value"},
		{"[{'edit': 'set-length', 'at': 'topisc', 'value': 1}]", KT_EUNKNOWN, "edits[0].at", "\"topics\""},
		{"[{'edit': 'set-length', 'at': 'topics', 'value': 'maximum'}]", KT_ESYNTAX, "edits[0].value", "max"},
		{"[{'edit': 'set-length', 'at': 'topics[0].name', 'value': 65536}]", KT_ERANGE, "edits[0].value",
		 "fit"},
		{"[{'edit': 'set-length', 'at': 3, 'value': 1}]", KT_ETYPE, "edits[0].at", "length"},
		{"[{'edit': 'omit', 'at': 29}]", KT_ERANGE, "edits[0]", "end"},
		{"[{'edit': 'omit', 'at': 30}]", KT_ERANGE, "edits[0].at", "30"},
		{"[{'edit': 'omit', 'at': true}]", KT_ETYPE, "edits[0].at", "path"},
		{"[{'edit': 'half-close', 'at': 1}]", KT_EUNKNOWN, "edits[0].at", "at"},
		{"[{'edit': 'replace', 'at': 0, 'hex': 'abc'}]", KT_ESYNTAX, "edits[0].hex", "hex"},
		{"[{'edit': 'swap', 'at': 'topics', 'with': 'topics[0]'}]", KT_ERANGE, "edits[0]", "beside"},
		{"[{'edit': 'insert-tag', 'tag': 1, 'hex': ''}]", KT_EUNKNOWN, "edits[0]", "tagged"},
		{"[{'edit': 'overlong-varint', 'at': 'topics'}]", KT_ETYPE, "edits[0].at", "varint"},
		{"[{'edit': 'rename', 'from': 'x', 'to': 'y'}]", KT_EUNKNOWN, "edits[0].from", "x"},
		{"[{'edit': 'crc', 'value': 1}]", KT_ETYPE, "edits[0]", "batch"},
		{"[{'edit': 'crc', 'at': 4, 'value': 'fix'}]", KT_ERANGE, "edits[0].at", "batch"},
		{"[{'edit': 'flip-bit', 'at': 'topics', 'bit': 800}]", KT_ERANGE, "edits[0].bit", "field"},
		/* What earlier edits left of a field. */
		{"[{'edit': 'replace', 'at': 'header.correlationId', 'hex': '000000000000000000'},"
		 " {'edit': 'set', 'at': 'header.correlationId', 'value': 1}]",
		 KT_ETYPE, "edits[1].at", "number"},
		{"[{'edit': 'omit', 'at': 'header.correlationId'}, {'edit': 'header-version', 'value': 2}]", KT_ETYPE,
		 "edits[1]", "header"},
		{"[{'edit': 'insert', 'at': 'topics', 'plus': 2, 'hex': '0000000000000000'},"
		 " {'edit': 'set-length', 'at': 'topics', 'value': 1}]",
		 KT_ETYPE, "edits[1].at", "length"},
		{"{}", KT_ETYPE, "edits", "array"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct kw_buf buf = {0};

		assert_int_equal(apply(OLD, rows[i].edits, &buf), rows[i].code);
		assert_string_equal(err.path, rows[i].path);
		if (!strstr(err.text, rows[i].says))
			fail_msg("\"%s\" does not say \"%s\"", err.text, rows[i].says);
		kw_buf_fini(&buf);
	}
}

static void forms_are_checked_without_bytes(void **state)
{
	json_t *good = json_of("[{'edit': 'set-length', 'at': '$where', 'value': '$much'}, {'edit': 'half-close'}]");
	json_t *bad = json_of("[{'edit': 'half-close'}, {'edit': 'truncate', 'at': 1, 'plos': 1}]");
	const char *name, *members, *help;

	(void)state;
	err = (struct kt_err){0};
	assert_int_equal(kw_edits_check(good, &err), 0);
	assert_int_equal(kw_edits_check(bad, &err), KT_EUNKNOWN);
	assert_string_equal(err.path, "edits[1].plos");
	assert_true(kw_edit_row(0, &name, &members, &help));
	assert_string_equal(name, "set");
	assert_false(kw_edit_row(1000, &name, &members, &help));
	json_decref(good);
	json_decref(bad);
}

/* ---- batches ---- */

static void build(const char *text, struct kw_buf *out)
{
	json_t *json = json_of(text);
	char line[800];

	err = (struct kt_err){0};
	if (kw_batches_from_json(json, out, &err))
		fail_msg("%s: %s", text, kt_err_line(&err, line, sizeof line));
	json_decref(json);
}

static enum kw_walk walk(const struct kw_buf *buf)
{
	struct kw_batch batch;
	enum kw_walk why;

	assert_int_equal(kw_batch_parse(buf->p, buf->n, &batch, NULL), 0);
	assert_int_equal(batch.size, buf->n);
	kw_batch_walk(&batch, NULL, NULL, NULL, &why, NULL);
	return why;
}

/* Edits of records reach into compressed batches, and length and CRC of the batch are right for what comes of them. */
static void records_before_they_are_compressed(void **state)
{
	static const char *const codecs[] = {"none", "gzip", "snappy", "lz4", "zstd"};

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		struct kw_buf buf = {0};
		char text[300];

		snprintf(text, sizeof text, "[{'codec': '%s', 'records': [{'key': 'k', 'value': 'v'}, {'value': 'w'}], "
			 "'edits': [{'edit': 'set-length', 'at': 'records[1].value', 'value': 'max'}]}]", codecs[i]);
		build(text, &buf);
		assert_int_equal(walk(&buf), KW_WALK_BAD_RECORD);
		assert_int_equal(kw_batch_crc(buf.p, buf.n), kw_rd32(buf.p + KW_B_CRC));
		kw_buf_clear(&buf);
		snprintf(text, sizeof text, "[{'codec': '%s', 'records': [{'key': 'k', 'value': 'v'}, {'value': 'w'}], "
			 "'edits': [{'edit': 'append', 'at': 'records', 'hex': '00'}]}]", codecs[i]);
		build(text, &buf);
		assert_int_equal(walk(&buf), KW_WALK_TRAILING);
		kw_buf_fini(&buf);
	}
}

static void record_fields(void **state)
{
	static const struct {
		const char *edit, *area;
	} rows[] = {
		{"{'edit': 'set', 'at': 'records[0].offsetDelta', 'value': -1}", "10 00 00 01 02 6b 02 76 02 02 68 01"},
		{"{'edit': 'set', 'at': 'records[0].timestampDelta', 'value': 1787086231121}",
		 "10 00 a2d99eea8268 00 02 6b 02 76 02 02 68 01"},
		{"{'edit': 'set', 'at': 'records[0].attributes', 'value': 255}", "10 ff 00 00 02 6b 02 76 02 02 68 01"},
		{"{'edit': 'set-length', 'at': 'records[0]', 'value': 'actual+1'}",
		 "18 00 00 00 02 6b 02 76 02 02 68 01"},
		{"{'edit': 'set-length', 'at': 'records[0].key', 'value': -2}", "10 00 00 00 03 6b 02 76 02 02 68 01"},
		{"{'edit': 'set-length', 'at': 'records[0].headers', 'value': 'max'}",
		 "10 00 00 00 02 6b 02 76 feffffff0f 02 68 01"},
		{"{'edit': 'set-length', 'at': 'records[0].headers[0].key', 'value': -1}",
		 "10 00 00 00 02 6b 02 76 02 01 68 01"},
		{"{'edit': 'overlong-varint', 'at': 'records[0].value', 'size': 6}",
		 "10 00 00 00 02 6b 828080808000 76 02 02 68 01"},
		{"{'edit': 'overlong-varint', 'at': 'records[0].timestampDelta', 'size': 11}",
		 "10 00 8080808080808080808000 00 02 6b 02 76 02 02 68 01"},
		{"{'edit': 'omit', 'at': 'records[0].headers'}", "10 00 00 00 02 6b 02 76"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct kw_buf got = {0}, want = {0};
		char text[400];

		snprintf(text, sizeof text, "[{'records': [{'key': 'k', 'value': 'v', 'headers': [{'key': 'h', "
			 "'value': null}]}], 'edits': [%s]}]", rows[i].edit);
		build(text, &got);
		put_hex(&want, rows[i].area);
		want.p[0] = strstr(rows[i].edit, "'records[0]'") ? want.p[0] : 0x16;
		assert_int_equal(got.n, KW_B_RECORDS + want.n);
		if (memcmp(got.p + KW_B_RECORDS, want.p, want.n) != 0)
			fail_msg("%s", rows[i].edit);
		assert_int_equal(kw_rd32(got.p + KW_B_COUNT), 1);
		kw_buf_fini(&got);
		kw_buf_fini(&want);
	}
}

static void batch_fields(void **state)
{
	struct kw_buf buf = {0};

	(void)state;
	build("[{'records': [{}, {}], 'crc': 'fix', 'edits': [{'edit': 'set', 'at': 'lastOffsetDelta', 'value': 0},"
	      " {'edit': 'codec', 'value': 'zstd'}, {'edit': 'set-length', 'at': '', 'value': 'actual+1'}]}]", &buf);
	assert_int_equal(kw_rd32(buf.p + KW_B_LAST_OFFSET_DELTA), 0);
	assert_int_equal(kw_rd16(buf.p + KW_B_ATTRIBUTES), KW_ZSTD);
	assert_int_equal(kw_rd32(buf.p + KW_B_LENGTH), buf.n - 11);
	assert_int_equal(kw_rd32(buf.p + KW_B_CRC), kw_batch_crc(buf.p, buf.n));
	kw_buf_clear(&buf);
	build("[{'records': [{}], 'edits': [{'edit': 'crc', 'value': 4294967295}, {'edit': 'codec', 'value': 7}]}]",
	      &buf);
	assert_int_equal(kw_rd32(buf.p + KW_B_CRC), 0xffffffff);
	assert_int_equal(kw_rd16(buf.p + KW_B_ATTRIBUTES), 7);
	kw_buf_fini(&buf);
}

/* A recorded Produce request: its batch has names, too, and the CRC can be redone in place. */
static void batches_inside_of_frames(void **state)
{
	static const char head[] = "0000 0003 00000001 ffff ffff ffff 00002710 00000001 0001 74 00000001 00000000";
	struct kw_buf frame = {0}, batch = {0};
	json_t *edits = json_of("[{'edit': 'set', 'at': 'topicData[0].partitionData[0].records[0].count', 'value': 5},"
				" {'edit': 'crc', 'at': 'topicData[0].partitionData[0].records[0]', 'value': 'fix'}]");
	size_t at;

	(void)state;
	build("[{'records': [{'value': 'v'}]}]", &batch);
	put_hex(&frame, "00000000");
	put_hex(&frame, head);
	kw_put_u32(&frame, (uint32_t)batch.n);
	at = frame.n;
	kw_put(&frame, batch.p, batch.n);
	err = (struct kt_err){0};
	assert_int_equal(kw_edit_frame(edits, &frame, &editing, &err), 0);
	assert_int_equal(kw_rd32(frame.p + at + KW_B_COUNT), 5);
	assert_int_equal(kw_rd32(frame.p + at + KW_B_CRC), kw_batch_crc(frame.p + at, batch.n));
	assert_int_equal(kw_rd32(frame.p), frame.n - 4);
	json_decref(edits);
	kw_buf_fini(&frame);
	kw_buf_fini(&batch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_changes_without_edits),
		cmocka_unit_test(lengths),
		cmocka_unit_test(compact_lengths),
		cmocka_unit_test(fields_and_bytes),
		cmocka_unit_test(frame_sizes_and_headers),
		cmocka_unit_test(how_a_frame_is_sent),
		cmocka_unit_test(what_is_refused),
		cmocka_unit_test(forms_are_checked_without_bytes),
		cmocka_unit_test(records_before_they_are_compressed),
		cmocka_unit_test(record_fields),
		cmocka_unit_test(batch_fields),
		cmocka_unit_test(batches_inside_of_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
