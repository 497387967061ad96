#include "conformance/diff/maker.h"

#include <stdio.h>
#include <string.h>

#include "lib/wire/compress.h"

const struct cf_diff_topic cf_diff_topics[] = {
#define CF_X(kind, configs) {#kind, configs},
	CF_DIFF_TOPICS(CF_X)
#undef CF_X
	{0},
};

enum { NTOPICS = sizeof cf_diff_topics / sizeof *cf_diff_topics - 1 };

json_t *cf_diff_configs(const char *kind)
{
	char text[256] = "{}";

	for (const struct cf_diff_topic *topic = cf_diff_topics; topic->kind; topic++)
		if (strcmp(topic->kind, kind) == 0)
			snprintf(text, sizeof text, "%s", topic->configs);
	for (char *p = text; *p; p++)
		if (*p == '\'')
			*p = '"';
	return json_loads(text, 0, NULL);
}

/* ---- right ones ---- */

json_t *cf_some_bytes(struct cf_maker *make)
{
	static const char *const texts[] = {"", "k", "value", "{\"a\": 1}", "\xc3\xa9"};

	switch (cf_roll(make->dice, 6)) {
	case 0: return json_null();
	case 1: return json_pack("{s:i}", "size", cf_roll(make->dice, 120));
	case 2: return json_pack("{s:s}", "hex", "fffe00");
	default: return json_string(CF_PICK(make->dice, texts));
	}
}

json_t *cf_some_key_value(struct cf_maker *make)
{
	json_t *value = cf_some_bytes(make), *key = cf_rarely(make->dice, 4) ? json_null() : json_string("k");

	return json_pack("{s:o, s:o}", "key", key, "value", value);
}

static json_t *some_record(struct cf_maker *make, int delta)
{
	json_t *record = cf_some_key_value(make), *headers;

	if (delta)
		json_object_set_new(record, "timestampDelta", json_integer(delta));
	if (!cf_rarely(make->dice, 5))
		return record;
	headers = json_array();
	for (int i = 0; i <= cf_roll(make->dice, 2); i++)
		json_array_append_new(headers, json_pack("{s:s, s:o}", "key", "h", "value", cf_some_bytes(make)));
	json_object_set_new(record, "headers", headers);
	return record;
}

static json_t *some_records(struct cf_maker *make)
{
	static const int counts[] = {1, 1, 1, 2, 3, 5};
	int n = CF_PICK(make->dice, counts);
	json_t *records = json_array();

	for (int i = 0; i < n; i++)
		json_array_append_new(records,
				      some_record(make, cf_rarely(make->dice, 4) ? cf_roll(make->dice, 50) - 10 : 0));
	return records;
}

static json_t *right_batch(struct cf_maker *make)
{
	json_t *batch = json_pack("{s:I, s:o}", "baseTimestamp", (json_int_t)make->now_ms, "records",
				  some_records(make));
	int codec = cf_roll(make->dice, 8);

	if (codec > KW_NONE && codec <= KW_ZSTD)
		json_object_set_new(batch, "codec", json_string(kw_codec_name(codec)));
	return batch;
}

/* Four producers, whose next sequence nobody keeps: some of it goes on, repeats or jumps. */
static void make_idempotent(struct cf_maker *make, json_t *batch)
{
	json_object_set_new(batch, "producerId", json_integer(1000 + cf_roll(make->dice, 4)));
	json_object_set_new(batch, "producerEpoch",
			    json_integer(cf_rarely(make->dice, 4) ? cf_roll(make->dice, 3) : 0));
	json_object_set_new(batch, "baseSequence", json_integer(cf_roll(make->dice, 6)));
}

/* ---- wrong ones: each changes the batch in one way ---- */

void cf_add_edit(json_t *batch, json_t *edit)
{
	json_t *edits = json_object_get(batch, "edits");

	if (!edits) {
		edits = json_array();
		json_object_set_new(batch, "edits", edits);
	}
	json_array_append_new(edits, edit);
}

void cf_fix_crc(struct cf_maker *make, json_t *batch, int rarely)
{
	if (!cf_rarely(make->dice, rarely))
		json_object_set_new(batch, "crc", json_string("fix"));
}

void cf_wrong_length(struct cf_maker *make, json_t *batch, const char *path)
{
	static const char *const words[] = {"remaining", "remaining+1", "actual+1", "actual-1", "max"};
	static const json_int_t numbers[] = {-2, -1, 0, 1, 6};

	cf_add_edit(batch, json_pack("{s:s, s:s, s:o}", "edit", "set-length", "at", path, "value",
				  cf_rarely(make->dice, 2) ? json_string(CF_PICK(make->dice, words))
							   : json_integer(CF_PICK(make->dice, numbers))));
}

void cf_change(struct cf_maker *make, json_t *batch, const char *path)
{
	static const char *const edits[] = {"omit", "duplicate", "truncate"};

	cf_add_edit(batch, json_pack("{s:s, s:s}", "edit", CF_PICK(make->dice, edits), "at", path));
}

void cf_behind(struct cf_maker *make, json_t *batch)
{
	static const char *const tails[] = {"00", "000000000000000000000000", "ffffffffffffffffffffffffffffffffffff"};

	cf_add_edit(batch, json_pack("{s:s, s:s}", "edit", "append", "hex", CF_PICK(make->dice, tails)));
}

void cf_cut(struct cf_maker *make, json_t *batch, int within)
{
	int at = cf_rarely(make->dice, 2) ? -1 - cf_roll(make->dice, 8) : 1 + cf_roll(make->dice, within);

	cf_add_edit(batch, json_pack("{s:s, s:i}", "edit", "truncate", "at", at));
}

void cf_flip(struct cf_maker *make, json_t *batch, int within)
{
	int bit = cf_roll(make->dice, 8), at = cf_roll(make->dice, within);

	cf_add_edit(batch, json_pack("{s:s, s:i, s:i}", "edit", "flip-bit", "at", at, "bit", bit));
	cf_fix_crc(make, batch, 3);
}

static void wrong_field(struct cf_maker *make, json_t *batch)
{
	static const struct {
		const char *name;
		json_int_t values[6];
	} fields[] = {
		{"baseOffset", {-1, 1, 7, INT64_MAX, INT64_MIN, 0}},
		{"partitionLeaderEpoch", {-2, 0, 5, INT32_MAX, INT32_MIN, -1}},
		{"magic", {-1, 0, 1, 3, 127, 2}},
		{"attributes", {5, 6, 7, 8, 0x20, 0x30}},
		{"attributes", {0x10, 0x40, 0x80, 0x7fff, -1, 0x28}},
		{"lastOffsetDelta", {-1, 0, 1, 4, INT32_MAX, INT32_MIN}},
		{"baseTimestamp", {-1, 0, -2, INT64_MAX, INT64_MIN, 1}},
		{"maxTimestamp", {-1, 0, -2, INT64_MAX, INT64_MIN, 1}},
		{"producerId", {-2, 0, 5, INT64_MAX, INT64_MIN, 1000}},
		{"producerEpoch", {-2, 0, 5, INT16_MAX, INT16_MIN, -1}},
		{"baseSequence", {-2, 0, 5, INT32_MAX, INT32_MIN, -1}},
		{"count", {-1, 0, 1, 2, INT32_MAX, INT32_MIN}},
		{"length", {-1, 0, 13, 48, 49, INT32_MAX}},
		{"crc", {0, 1, UINT32_MAX, 0, 1, 2}},
	};
	int i = cf_roll(make->dice, (int)(sizeof fields / sizeof *fields));

	json_object_set_new(batch, fields[i].name, json_integer(CF_PICK(make->dice, fields[i].values)));
}

/* Off by a little from what is right. */
static void near_field(struct cf_maker *make, json_t *batch)
{
	static const char *const names[] = {"lastOffsetDelta", "count", "length", "maxTimestamp"};
	static const char *const values[] = {"actual+1", "actual-1", "actual+2"};
	const char *value = CF_PICK(make->dice, values), *name = CF_PICK(make->dice, names);

	cf_add_edit(batch, json_pack("{s:s, s:s, s:s}", "edit", "set", "at", name, "value", value));
	cf_fix_crc(make, batch, 4);
}

static json_t *pick_record(struct cf_maker *make, json_t *batch, int *index)
{
	json_t *records = json_object_get(batch, "records");
	size_t n = json_array_size(records);

	if (n == 0)
		return NULL;
	*index = cf_roll(make->dice, (int)n);
	return json_array_get(records, (size_t)*index);
}

static void wrong_record(struct cf_maker *make, json_t *batch)
{
	static const char *const names[] = {"offsetDelta", "timestampDelta", "attributes"};
	static const json_int_t values[] = {-1, 0, 1, 2, 5, 127, -128, 3600001, -3600001};
	const char *name = CF_PICK(make->dice, names);
	json_int_t value = CF_PICK(make->dice, values);
	int index;
	json_t *record = pick_record(make, batch, &index);

	if (*name == 'a')
		value = (int8_t)value;
	if (record)
		json_object_set_new(record, name, json_integer(value));
}

static void no_keys(struct cf_maker *make, json_t *batch)
{
	int index;
	json_t *record = pick_record(make, batch, &index);

	if (record)
		json_object_set_new(record, "key", json_null());
}

/* A field of one of the records. */
static const char *record_field(struct cf_maker *make, json_t *batch, char path[64])
{
	static const char *const fields[] = {"", ".key", ".value", ".headers", ".headers[0].key", ".headers[0].value"};
	int index = 0;

	pick_record(make, batch, &index);
	snprintf(path, 64, "records[%d]%s", index, CF_PICK(make->dice, fields));
	return path;
}

static void wrong_length(struct cf_maker *make, json_t *batch)
{
	char path[64];

	cf_wrong_length(make, batch, record_field(make, batch, path));
}

static void overlong(struct cf_maker *make, json_t *batch)
{
	char path[64];

	record_field(make, batch, path);
	cf_add_edit(batch, json_pack("{s:s, s:s, s:i}", "edit", "overlong-varint", "at", path, "size",
				     3 + cf_roll(make->dice, 4)));
}

static void change_record(struct cf_maker *make, json_t *batch)
{
	char path[64];

	cf_change(make, batch, record_field(make, batch, path));
}

static void behind_records(struct cf_maker *make, json_t *batch)
{
	static const char *const tails[] = {"00", "ffff", "0e0000000000"};

	cf_add_edit(batch,
		    json_pack("{s:s, s:s, s:s}", "edit", "append", "at", "records", "hex", CF_PICK(make->dice, tails)));
}

static void cut(struct cf_maker *make, json_t *batch)
{
	cf_cut(make, batch, 90);
}

static void flip(struct cf_maker *make, json_t *batch)
{
	cf_flip(make, batch, 90);
}

static void other_codec(struct cf_maker *make, json_t *batch)
{
	cf_add_edit(batch, json_pack("{s:s, s:i}", "edit", "codec", "value", cf_roll(make->dice, 8)));
	json_object_set_new(batch, "crc", json_string("fix"));
}

json_t *cf_no_stream(struct cf_maker *make)
{
	static const char *const streams[] = {
		"", "00", "deadbeef", "1f8b0800000000000003030000000000000000",
		"82534e41505059000000000100000001", "04224d186040820000000000", "28b52ffd200000",
		"82534e4150505900000000010000000100000002ffff",
	};

	return json_pack("{s:s}", "hex", CF_PICK(make->dice, streams));
}

/* What follows the header is no compressed stream, or one of nothing. */
static void wrong_payload(struct cf_maker *make, json_t *batch)
{
	json_object_del(batch, "records");
	json_object_set_new(batch, "payload", cf_no_stream(make));
	json_object_set_new(batch, "codec", json_string(kw_codec_name(1 + cf_roll(make->dice, 4))));
}

static void empty(struct cf_maker *make, json_t *batch)
{
	json_object_set_new(batch, "records", json_array());
	if (cf_rarely(make->dice, 2))
		json_object_set_new(batch, "lastOffsetDelta", json_integer(cf_roll(make->dice, 3)));
}

json_t *cf_far_time(struct cf_maker *make)
{
	static const json_int_t by[] = {-7200000, 7200000, -3599000, 3599000, -86400000};

	return json_integer(make->now_ms + CF_PICK(make->dice, by));
}

static void far_time(struct cf_maker *make, json_t *batch)
{
	json_object_set_new(batch, "baseTimestamp", cf_far_time(make));
}

void cf_other_form(struct cf_maker *make, json_t *batch, bool old)
{
	if (cf_rarely(make->dice, 2)) {
		json_object_set_new(batch, "codec", json_string("snappy"));
		json_object_set_new(batch, "snappyFraming", json_string("raw"));
	} else {
		json_object_set_new(batch, "codec", json_string("lz4"));
		json_object_set_new(batch, "lz4Checksum",
				    json_string(old && !cf_rarely(make->dice, 2) ? "right" : "historic"));
	}
}

static void other_form(struct cf_maker *make, json_t *batch)
{
	cf_other_form(make, batch, false);
}

static void of_transaction(struct cf_maker *make, json_t *batch)
{
	make_idempotent(make, batch);
	json_object_set_new(batch, "attributes", json_integer(cf_rarely(make->dice, 3) ? 0x30 : 0x10));
	json_object_del(batch, "codec");
}

static const struct cf_wrong wrongs[] = {
	{wrong_field, 8}, {near_field, 4}, {wrong_record, 5}, {no_keys, 3}, {wrong_length, 8}, {overlong, 3},
	{change_record, 5}, {behind_records, 2}, {cf_behind, 2}, {cut, 2}, {flip, 6}, {other_codec, 3},
	{wrong_payload, 4}, {empty, 2}, {far_time, 3}, {other_form, 2}, {of_transaction, 1}, {make_idempotent, 6}, {0},
};

static void make_wrong_by_one(struct cf_maker *make, const struct cf_wrong *table, json_t *batch)
{
	int all = 0, at;

	for (const struct cf_wrong *wrong = table; wrong->make; wrong++)
		all += wrong->weight;
	at = cf_roll(make->dice, all);
	while (at >= table->weight)
		at -= table++->weight;
	table->make(make, batch);
}

void cf_make_wrong(struct cf_maker *make, const struct cf_wrong *table, json_t *batch)
{
	static const int faults[] = {0, 1, 1, 1, 1, 2, 2, 3};
	int n = CF_PICK(make->dice, faults);

	for (int i = 0; i < n; i++)
		make_wrong_by_one(make, table, batch);
}

/* ---- the request ---- */

/* Messages of magic 0 and 1: their own members. */
static json_t *legacy_set(struct cf_maker *make)
{
	json_t *value = cf_some_bytes(make), *set;
	int magic = cf_roll(make->dice, 2);

	set = json_pack("{s:i, s:[{s:s, s:o}]}", "magic", magic, "records", "key", "k", "value", value);
	if (cf_rarely(make->dice, 3))
		json_object_set_new(set, "codec", json_string("gzip"));
	return set;
}

json_t *cf_some_batch(struct cf_maker *make)
{
	json_t *batch = right_batch(make);

	cf_make_wrong(make, wrongs, batch);
	return batch;
}

static json_t *some_batches(struct cf_maker *make)
{
	json_t *batches = json_array();

	/* Kafka never answers null records; its patience with it costs time. */
	if (cf_rarely(make->dice, 500)) {
		json_decref(batches);
		return json_null();
	}
	if (cf_rarely(make->dice, 60))
		return batches;
	if (cf_rarely(make->dice, 40)) {
		json_array_append_new(batches, legacy_set(make));
		return batches;
	}
	if (cf_rarely(make->dice, 60))
		json_array_append_new(batches, json_pack("{s:{s:s}}", "raw", "hex",
							 "0000000000000000000000100000000002ffffffff"));
	else
		json_array_append_new(batches, cf_some_batch(make));
	if (cf_rarely(make->dice, 25))
		json_array_append_new(batches, cf_some_batch(make));
	return batches;
}

json_t *cf_mutation(struct cf_dice *dice, int64_t now_ms, bool old)
{
	static const int versions[] = {3, 4, 5, 6, 7, 8, 9, 9, 10, 11, 12, 12, 13};
	static const int old_versions[] = {0, 1, 2, 2};
	static const int all_acks[] = {-1, -1, -1, -1, -1, -1, 1, 1, 1, 0};
	struct cf_maker make = {dice, now_ms};
	json_t *partitions = json_array();
	int n = cf_rarely(dice, 10) ? 2 + cf_roll(dice, CF_DIFF_PARTITIONS - 1) : 1;
	int acks = cf_rarely(dice, 60) ? 2 + cf_roll(dice, 3) : CF_PICK(dice, all_acks);
	int version = CF_PICK(dice, versions);

	old = old && cf_rarely(dice, 2);
	if (old)
		version = CF_PICK(dice, old_versions);
	for (int i = 0; i < n; i++)
		json_array_append_new(partitions, json_pack("{s:i, s:o}", "index", i, "batches",
							    old ? cf_old_batches(&make) : some_batches(&make)));
	return json_pack("{s:s, s:i, s:i, s:o}", "topic",
			 cf_diff_topics[cf_rarely(dice, 2) ? 0 : cf_roll(dice, NTOPICS)].kind, "version",
			 version, "acks", acks, "partitions", partitions);
}
