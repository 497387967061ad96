/* Messages of magic 0 and 1, as Produce 0 to 2 carried them. */
#include <stdio.h>
#include <string.h>

#include "conformance/diff/maker.h"
#include "lib/wire/batch.h"
#include "lib/wire/compress.h"

/* ---- right ones ---- */

static json_t *right_set(struct cf_maker *make)
{
	static const int counts[] = {1, 1, 1, 2, 3, 5};
	int n = CF_PICK(make->dice, counts), codec = cf_roll(make->dice, 2 * KW_ZSTD), magic = cf_roll(make->dice, 2);
	json_t *records = json_array(), *set;

	for (int i = 0; i < n; i++) {
		json_t *message = cf_some_key_value(make);

		if (magic == 1)
			json_object_set_new(message, "timestamp", json_integer(make->now_ms + i));
		json_array_append_new(records, message);
	}
	set = json_pack("{s:i, s:o}", "magic", magic, "records", records);
	if (codec > KW_NONE && codec < KW_ZSTD)
		json_object_set_new(set, "codec", json_string(kw_codec_name(codec)));
	return set;
}

/* ---- wrong ones ---- */

static json_t *pick_message(struct cf_maker *make, json_t *set)
{
	json_t *records = json_object_get(set, "records");
	size_t n = json_array_size(records);

	return n > 0 ? json_array_get(records, (size_t)cf_roll(make->dice, (int)n)) : NULL;
}

/* A field of a message, which may be an inner one; of the wrapper, where there is one, at times. */
static void wrong_field(struct cf_maker *make, json_t *set)
{
	static const struct {
		const char *name;
		bool inner_only;
		json_int_t values[6];
	} fields[] = {
		{"offset", false, {-1, 0, 1, 7, INT64_MAX, INT64_MIN}},
		{"timestamp", false, {-1, 0, -2, 1, INT64_MAX, INT64_MIN}},
		{"attributes", false, {1, 2, 3, 4, 5, 7}},
		{"attributes", false, {8, 9, 16, 127, -128, -1}},
		{"length", false, {-1, 0, 13, 14, 21, INT32_MAX}},
		{"length", false, {15, 22, 23, 1000, 1 << 24, INT32_MIN}},
		{"crc", false, {0, 1, UINT32_MAX, 0, 1, 2}},
		{"magic", true, {0, 1, 2, 3, -1, 127}},
	};
	int i = cf_roll(make->dice, (int)(sizeof fields / sizeof *fields));
	bool wrapper = json_object_get(set, "codec") && !fields[i].inner_only && cf_rarely(make->dice, 2);
	json_t *message = wrapper ? set : pick_message(make, set);
	json_int_t value = CF_PICK(make->dice, fields[i].values);

	if (!message)
		return;
	json_object_set_new(message, fields[i].name, json_integer(value));
	/* What then has a time must not get that of the moment in which it is encoded. */
	if (fields[i].inner_only && value != 0 && !json_object_get(message, "timestamp"))
		json_object_set_new(message, "timestamp", json_integer(make->now_ms));
}

static void far_time(struct cf_maker *make, json_t *set)
{
	json_t *message = pick_message(make, set);

	if (message)
		json_object_set_new(message, "timestamp", cf_far_time(make));
}

/* With LogAppendTime in its attributes, beside the codec. */
static void append_time(struct cf_maker *make, json_t *set)
{
	const char *codec = json_string_value(json_object_get(set, "codec"));
	json_t *message = codec && cf_rarely(make->dice, 2) ? set : pick_message(make, set);
	int bits = message == set ? kw_codec_find(codec) : 0;

	if (message)
		json_object_set_new(message, "attributes", json_integer(KW_A_LOG_APPEND_TIME | bits));
}

static void no_key(struct cf_maker *make, json_t *set)
{
	json_t *message = pick_message(make, set);

	if (message)
		json_object_set_new(message, "key", json_null());
}

/* Of the finished bytes: of a set with a codec that is the wrapper. */
static const char *field(struct cf_maker *make, json_t *set, char path[64])
{
	static const char *const names[] = {"key", "value"};
	size_t n = json_object_get(set, "codec") ? 1 : json_array_size(json_object_get(set, "records"));
	const char *name = CF_PICK(make->dice, names);

	snprintf(path, 64, "messages[%d].%s", cf_roll(make->dice, n > 0 ? (int)n : 1), name);
	return path;
}

static void wrong_length(struct cf_maker *make, json_t *set)
{
	char path[64];

	cf_wrong_length(make, set, field(make, set, path));
	cf_fix_crc(make, set, 6);
}

static void change_field(struct cf_maker *make, json_t *set)
{
	char path[64];

	cf_change(make, set, field(make, set, path));
	cf_fix_crc(make, set, 3);
}

static void near_number(struct cf_maker *make, json_t *set)
{
	static const char *const names[] = {"length", "offset", "timestamp"};
	static const char *const values[] = {"actual+1", "actual-1", "actual+2"};
	char path[64];

	snprintf(path, sizeof path, "messages[0].%s", CF_PICK(make->dice, names));
	cf_add_edit(set, json_pack("{s:s, s:s, s:s}", "edit", "set", "at", path, "value", CF_PICK(make->dice, values)));
	cf_fix_crc(make, set, 4);
}

static void other_magic(struct cf_maker *make, json_t *set)
{
	static const json_int_t magics[] = {0, 1, 2, 3, -1};

	cf_add_edit(set, json_pack("{s:s, s:s, s:I}", "edit", "set", "at", "messages[0].magic", "value",
				   CF_PICK(make->dice, magics)));
	cf_fix_crc(make, set, 4);
}

static void flip(struct cf_maker *make, json_t *set)
{
	cf_flip(make, set, 60);
}

static void cut(struct cf_maker *make, json_t *set)
{
	cf_cut(make, set, 60);
}

/* What has no records has no time of theirs. */
static void without_records(struct cf_maker *make, json_t *set)
{
	json_object_del(set, "records");
	if (json_integer_value(json_object_get(set, "magic")) == 1)
		json_object_set_new(set, "timestamp", json_integer(make->now_ms));
}

/* The wrapper's value is no compressed stream, one of nothing, or not there. */
static void wrong_payload(struct cf_maker *make, json_t *set)
{
	without_records(make, set);
	json_object_set_new(set, "payload", cf_rarely(make->dice, 6) ? json_null() : cf_no_stream(make));
	json_object_set_new(set, "codec", json_string(kw_codec_name(KW_GZIP + cf_roll(make->dice, KW_ZSTD - KW_GZIP))));
}

/* The inner set as bytes: nothing, less than a message, a message and the beginning of another. */
static void wrong_body(struct cf_maker *make, json_t *set)
{
	static const char *const bodies[] = {
		"", "00", "000000000000000000000005", "0000000000000000ffffffff", "00000000000000007fffffff",
		"00000000000000000000000e0000000000000000000000000000",
		"00000000000000000000000ea7ec6803000000000000ffffffff",
		"00000000000000000000000ea7ec68030000ffffffffffffffff0000000000000001",
		"00000000000000000000000ea7ec68030000ffffffffffffffff000000000000000100000064",
	};

	without_records(make, set);
	json_object_set_new(set, "body", json_pack("{s:s}", "hex", CF_PICK(make->dice, bodies)));
	json_object_set_new(set, "codec", json_string(kw_codec_name(KW_GZIP + cf_roll(make->dice, KW_ZSTD - KW_GZIP))));
}

/* A wrapper in a wrapper: the inner message says that it is compressed, and its value may be so. */
static void nested(struct cf_maker *make, json_t *set)
{
	json_t *message = pick_message(make, set);

	if (!message)
		return;
	json_object_set_new(message, "attributes", json_integer(KW_GZIP + cf_roll(make->dice, 3)));
	if (cf_rarely(make->dice, 2))
		json_object_set_new(message, "value",
				    json_pack("{s:s}", "hex", "1f8b0800000000000003030000000000000000"));
	if (!json_object_get(set, "codec"))
		json_object_set_new(set, "codec", json_string("gzip"));
}

static void other_form(struct cf_maker *make, json_t *set)
{
	cf_other_form(make, set, true);
}

static void wrapper_key(struct cf_maker *make, json_t *set)
{
	if (json_object_get(set, "codec"))
		json_object_set_new(set, "key", cf_some_bytes(make));
}

/* Offsets as an old producer counted them, or with holes, or falling. */
static void other_offsets(struct cf_maker *make, json_t *set)
{
	int step = cf_roll(make->dice, 4) - 1;
	json_t *message;
	size_t i;

	json_array_foreach(json_object_get(set, "records"), i, message)
		json_object_set_new(message, "offset", json_integer(5 + (json_int_t)i * step));
	if (cf_rarely(make->dice, 2))
		json_object_set_new(set, "baseOffset", json_integer(cf_roll(make->dice, 50)));
}

static void none(struct cf_maker *make, json_t *set)
{
	(void)make;
	json_object_set_new(set, "records", json_array());
}

static const struct cf_wrong wrongs[] = {
	{wrong_field, 12}, {far_time, 3}, {append_time, 3}, {no_key, 3}, {wrong_length, 8}, {change_field, 4},
	{near_number, 4}, {other_magic, 3}, {flip, 6}, {cut, 3}, {cf_behind, 2}, {wrong_payload, 4}, {wrong_body, 4},
	{nested, 3}, {other_form, 3}, {wrapper_key, 2}, {other_offsets, 4}, {none, 1}, {0},
};

/* ---- what a partition gets ---- */

static json_t *some_set(struct cf_maker *make)
{
	json_t *set;

	if (cf_rarely(make->dice, 8))
		return cf_some_batch(make);
	set = right_set(make);
	cf_make_wrong(make, wrongs, set);
	return set;
}

json_t *cf_old_batches(struct cf_maker *make)
{
	json_t *batches = json_array();

	if (cf_rarely(make->dice, 60))
		return batches;
	json_array_append_new(batches, some_set(make));
	while (cf_rarely(make->dice, 5))
		json_array_append_new(batches, some_set(make));
	return batches;
}
