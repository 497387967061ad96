/* Record batches from their JSON form, right or wrong on purpose; see kw_batches_from_json in batch.h. */
#include "lib/wire/batch_json.h"

#include <time.h>

#include "lib/wire/batch.h"

/* Header fields that are plain numbers. X(member, offset, bytes, also "now") */
#define FIELDS(X)                                               \
	X(baseOffset, KW_B_BASE_OFFSET, 8, false)               \
	X(length, KW_B_LENGTH, 4, false)                        \
	X(partitionLeaderEpoch, KW_B_LEADER_EPOCH, 4, false)    \
	X(magic, KW_B_MAGIC, 1, false)                          \
	X(attributes, KW_B_ATTRIBUTES, 2, false)                \
	X(lastOffsetDelta, KW_B_LAST_OFFSET_DELTA, 4, false)    \
	X(baseTimestamp, KW_B_BASE_TIMESTAMP, 8, true)          \
	X(maxTimestamp, KW_B_MAX_TIMESTAMP, 8, true)            \
	X(producerId, KW_B_PRODUCER_ID, 8, false)               \
	X(producerEpoch, KW_B_PRODUCER_EPOCH, 2, false)         \
	X(baseSequence, KW_B_BASE_SEQUENCE, 4, false)           \
	X(count, KW_B_COUNT, 4, false)

static const struct field {
	const char *name;
	size_t at;
	int size;
	bool time;
} fields[] = {
#define X(name, at, size, time) {#name, at, size, time},
	FIELDS(X)
#undef X
};

static const char *const batch_members[] = {
#define X(name, at, size, time) #name,
	FIELDS(X)
#undef X
	"codec", "crc", "records", "body", "payload", "edits", "raw",
};
static const char *const record_members[] = {
	"key", "value", "headers", "offsetDelta", "timestampDelta", "attributes", "repeat",
};
static const char *const header_members[] = {"key", "value"};
static const char *const edit_members[] = {"at", "hex", "xor", "truncate", "append"};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

struct building {
	struct kw_buf area;      /* records area before compression */
	struct kw_buf bytes;     /* the batch */
	int32_t count, last;     /* records, offset delta of the last one */
	int64_t max_delta;       /* greatest timestamp delta */
};

/* ---- records ---- */

static int to_header(struct kw_bj *bj, json_t *json, struct kw_header *header)
{
	struct kw_bytes key;
	int code = kw_bj_object(bj, json, header_members, COUNT(header_members));

	if (code)
		return code;
	if (!json_object_get(json, "key"))
		return kw_bj_fail(bj, KT_ETYPE, "a header needs a key");
	code = kw_bj_get_bytes(bj, json, "key", &key);
	if (code)
		return code;
	header->key = (struct kw_str){(const char *)key.p, key.n};
	return kw_bj_get_bytes(bj, json, "value", &header->value);
}

static int to_headers(struct kw_bj *bj, json_t *json, struct kw_record *record)
{
	size_t n = json_array_size(json), up = kw_bj_enter(bj, "headers");
	struct kw_header *headers;

	if (!json_is_array(json))
		return kw_bj_fail(bj, KT_ETYPE, "an array is expected");
	headers = kw_alloc(&bj->arena, n * sizeof *headers);
	if (!headers)
		return kw_bj_fail(bj, KT_ENOMEM, "out of memory");
	for (size_t i = 0; i < n; i++) {
		size_t up_one = kw_bj_enter_index(bj, i);
		int code = to_header(bj, json_array_get(json, i), &headers[i]);

		if (code)
			return code;
		kw_bj_leave(bj, up_one);
	}
	record->headers = headers;
	record->nheaders = (int32_t)n;
	kw_bj_leave(bj, up);
	return 0;
}

static int to_record(struct kw_bj *bj, json_t *json, struct kw_record *record, int64_t *repeat)
{
	json_t *headers = json_object_get(json, "headers");
	int64_t attributes = 0, offset = record->offsetDelta;
	int code;

	if ((code = kw_bj_object(bj, json, record_members, COUNT(record_members))) ||
	    (code = kw_bj_get_int(bj, json, "attributes", INT8_MIN, UINT8_MAX, &attributes)) ||
	    (code = kw_bj_get_int(bj, json, "offsetDelta", INT32_MIN, INT32_MAX, &offset)) ||
	    (code = kw_bj_get_int(bj, json, "timestampDelta", INT64_MIN, INT64_MAX, &record->timestampDelta)) ||
	    (code = kw_bj_get_int(bj, json, "repeat", 0, KW_BJ_MAX, repeat)) ||
	    (code = kw_bj_get_bytes(bj, json, "key", &record->key)) ||
	    (code = kw_bj_get_bytes(bj, json, "value", &record->value)))
		return code;
	record->attributes = (int8_t)attributes;
	record->offsetDelta = (int32_t)offset;
	return headers ? to_headers(bj, headers, record) : 0;
}

static int put_record(struct kw_bj *bj, json_t *json, struct building *batch)
{
	struct kw_record record = {.offsetDelta = batch->count};
	bool fixed = json_object_get(json, "offsetDelta");
	int64_t repeat = 1;
	int code = to_record(bj, json, &record, &repeat);

	if (code)
		return code;
	for (int64_t i = 0; i < repeat && !batch->area.failed; i++) {
		if (!fixed)
			record.offsetDelta = batch->count;
		kw_record_put(&batch->area, &record);
		if (batch->count == 0 || record.timestampDelta > batch->max_delta)
			batch->max_delta = record.timestampDelta;
		batch->last = record.offsetDelta;
		batch->count++;
	}
	return batch->area.failed ? kw_bj_fail(bj, KT_ELIMIT, "more than %d bytes of records", KW_BJ_MAX) : 0;
}

static int put_records(struct kw_bj *bj, json_t *json, struct building *batch)
{
	size_t up = kw_bj_enter(bj, "records");

	batch->last = -1;
	if (json && !json_is_array(json))
		return kw_bj_fail(bj, KT_ETYPE, "an array is expected");
	for (size_t i = 0; i < json_array_size(json); i++) {
		size_t up_one = kw_bj_enter_index(bj, i);
		int code = put_record(bj, json_array_get(json, i), batch);

		if (code)
			return code;
		kw_arena_reset(&bj->arena);
		kw_bj_leave(bj, up_one);
	}
	kw_bj_leave(bj, up);
	return 0;
}

/* ---- one batch ---- */

static int get_codec(struct kw_bj *bj, json_t *json, int *codec)
{
	json_t *name = json_object_get(json, "codec");
	size_t up;

	*codec = KW_NONE;
	if (!name)
		return 0;
	up = kw_bj_enter(bj, "codec");
	*codec = json_is_string(name) ? kw_codec_find(json_string_value(name)) : -1;
	if (*codec < 0)
		return kw_bj_fail(bj, KT_EUNKNOWN, "one of \"none\", \"gzip\", \"snappy\", \"lz4\" and \"zstd\" is expected");
	kw_bj_leave(bj, up);
	return 0;
}

/* What follows the header: records, body or payload. */
static int put_payload(struct kw_bj *bj, json_t *json, int codec, struct building *batch)
{
	json_t *records = json_object_get(json, "records"), *body = json_object_get(json, "body");
	struct kw_buf *out = &batch->bytes;
	int code;

	if (!!records + !!body + !!json_object_get(json, "payload") > 1)
		return kw_bj_fail(bj, KT_ETYPE, "only one of \"records\", \"body\" and \"payload\" can be given");
	batch->count = 1;
	if (json_object_get(json, "payload"))
		return kw_bj_put_bytes(bj, json, "payload", out);
	if (body) {
		code = kw_bj_put_bytes(bj, json, "body", &batch->area);
	} else {
		batch->count = 0;
		code = put_records(bj, records, batch);
	}
	if (code)
		return code;
	code = kw_compress(codec, batch->area.p, batch->area.n, out, NULL);
	return code ? kw_bj_fail(bj, code, "the compressed records are too large") : 0;
}

static int override(struct kw_bj *bj, json_t *json, const struct field *field, uint8_t *p)
{
	int64_t min = field->size == 8 ? INT64_MIN : -((int64_t)1 << (8 * field->size - 1));
	int64_t max = field->size == 8 ? INT64_MAX : ((int64_t)1 << 8 * field->size) - 1;
	size_t up = kw_bj_enter(bj, field->name);
	uint8_t wide[8];
	int64_t v;
	int code = field->time ? kw_bj_time(bj, json, &v) : kw_bj_int(bj, json, min, max, &v);

	if (code)
		return code;
	kw_wr64(wide, (uint64_t)v);
	memcpy(p + field->at, wide + 8 - field->size, (size_t)field->size);
	kw_bj_leave(bj, up);
	return 0;
}

static int override_all(struct kw_bj *bj, json_t *json, uint8_t *p)
{
	for (size_t i = 0; i < COUNT(fields); i++) {
		json_t *value = json_object_get(json, fields[i].name);
		int code = value ? override(bj, value, &fields[i], p) : 0;

		if (code)
			return code;
	}
	return 0;
}

/* The CRC as it is before edits; *fix says that it is to be redone after them. */
static int set_crc(struct kw_bj *bj, json_t *json, uint32_t stale, uint8_t *p, size_t n, bool *fix)
{
	const char *word = json_string_value(json);
	uint32_t crc = kw_batch_crc(p, n);
	int64_t given;
	int code;

	*fix = word && strcmp(word, "fix") == 0;
	if (word && strcmp(word, "stale") == 0) {
		crc = stale;
	} else if (json && !*fix) {
		size_t up = kw_bj_enter(bj, "crc");

		if (word)
			return kw_bj_fail(bj, KT_ESYNTAX, "a number, \"stale\" or \"fix\" is expected");
		code = kw_bj_int(bj, json, INT32_MIN, UINT32_MAX, &given);
		if (code)
			return code;
		crc = (uint32_t)given;
		kw_bj_leave(bj, up);
	}
	kw_wr32(p + KW_B_CRC, crc);
	return 0;
}

/* A batch that is right, then given the header fields that the JSON has. */
static int build(struct kw_bj *bj, json_t *json, struct building *batch, bool *fix)
{
	struct kw_batch_spec spec = kw_batch_spec_default;
	int codec, code;
	uint8_t *p;

	spec.baseTimestamp = bj->now;
	if ((code = get_codec(bj, json, &codec)) ||
	    (code = kw_bj_get_time(bj, json, "baseTimestamp", &spec.baseTimestamp)) ||
	    (code = kw_batch_build(&spec, NULL, 0, &batch->bytes, bj->err)) ||
	    (code = put_payload(bj, json, codec, batch)))
		return code;
	p = batch->bytes.p;
	kw_wr32(p + KW_B_LENGTH, (uint32_t)(batch->bytes.n - KW_B_LOG_OVERHEAD));
	kw_wr16(p + KW_B_ATTRIBUTES, (uint16_t)codec);
	kw_wr32(p + KW_B_LAST_OFFSET_DELTA, (uint32_t)batch->last);
	kw_wr64(p + KW_B_MAX_TIMESTAMP, (uint64_t)spec.baseTimestamp + (uint64_t)batch->max_delta);
	kw_wr32(p + KW_B_COUNT, (uint32_t)batch->count);
	kw_wr32(p + KW_B_CRC, kw_batch_crc(p, batch->bytes.n));
	code = override_all(bj, json, p);
	return code ? code : set_crc(bj, json_object_get(json, "crc"), kw_rd32(p + KW_B_CRC), p, batch->bytes.n, fix);
}

static int put_raw(struct kw_bj *bj, json_t *json, struct building *batch, bool *fix)
{
	static const char *const beside[] = {"raw", "edits", "crc"};
	const char *word = json_string_value(json_object_get(json, "crc"));
	const char *name;
	json_t *value;

	json_object_foreach(json, name, value) {
		if (strcmp(name, beside[0]) == 0 || strcmp(name, beside[1]) == 0 || strcmp(name, beside[2]) == 0)
			continue;
		kw_bj_enter(bj, name);
		return kw_bj_fail(bj, KT_ETYPE, "cannot stand beside \"raw\"");
	}
	*fix = word && strcmp(word, "fix") == 0;
	if (json_object_get(json, "crc") && !*fix) {
		kw_bj_enter(bj, "crc");
		return kw_bj_fail(bj, KT_ETYPE, "beside \"raw\" only \"fix\" is possible");
	}
	return kw_bj_put_bytes(bj, json, "raw", &batch->bytes);
}

/* ---- edits ---- */

/* A place in n bytes, or their end; negative counts from the end. */
static int get_place(struct kw_bj *bj, json_t *edit, const char *name, size_t n, size_t *at)
{
	int64_t v = 0;
	int code = kw_bj_get_int(bj, edit, name, -(int64_t)n, (int64_t)n, &v);

	*at = v < 0 ? n - (size_t)-v : (size_t)v;
	return code;
}

static int overwrite(struct kw_bj *bj, json_t *edit, struct kw_buf *bytes)
{
	json_t *xor = json_object_get(edit, "xor");
	const char *name = xor ? "xor" : "hex";
	struct kw_bytes with;
	size_t at, up;
	int code = get_place(bj, edit, "at", bytes->n, &at);

	if (code)
		return code;
	up = kw_bj_enter(bj, name);
	code = kw_bj_coded(bj, json_object_get(edit, name), true, &with);
	if (code)
		return code;
	if ((size_t)with.n > bytes->n - at)
		return kw_bj_fail(bj, KT_ERANGE, "%d bytes at %zu go beyond the %zu of the batch", with.n, at, bytes->n);
	for (size_t i = 0; i < (size_t)with.n; i++)
		bytes->p[at + i] = (uint8_t)(xor ? bytes->p[at + i] ^ with.p[i] : with.p[i]);
	kw_bj_leave(bj, up);
	return 0;
}

static int apply_edit(struct kw_bj *bj, json_t *edit, struct kw_buf *bytes)
{
	int code = kw_bj_object(bj, edit, edit_members, COUNT(edit_members));
	size_t members = json_object_size(edit);

	if (code)
		return code;
	if (members == 1 && json_object_get(edit, "truncate"))
		return get_place(bj, edit, "truncate", bytes->n, &bytes->n);
	if (members == 1 && json_object_get(edit, "append"))
		return kw_bj_put_bytes(bj, edit, "append", bytes);
	if (members == 2 && json_object_get(edit, "at") && (json_object_get(edit, "hex") || json_object_get(edit, "xor")))
		return overwrite(bj, edit, bytes);
	return kw_bj_fail(bj, KT_ETYPE, "\"at\" with \"hex\" or \"xor\", or \"truncate\", or \"append\" is expected");
}

static int apply_edits(struct kw_bj *bj, json_t *json, struct kw_buf *bytes)
{
	size_t up = kw_bj_enter(bj, "edits");

	if (json && !json_is_array(json))
		return kw_bj_fail(bj, KT_ETYPE, "an array is expected");
	for (size_t i = 0; i < json_array_size(json); i++) {
		size_t up_one = kw_bj_enter_index(bj, i);
		int code = apply_edit(bj, json_array_get(json, i), bytes);

		if (code)
			return code;
		kw_arena_reset(&bj->arena);
		kw_bj_leave(bj, up_one);
	}
	kw_bj_leave(bj, up);
	return 0;
}

static int put_batch(struct kw_bj *bj, json_t *json, struct kw_buf *out)
{
	struct building batch = {.area = {.max = KW_BJ_MAX}, .bytes = {.max = KW_BJ_MAX}};
	struct kw_buf *bytes = &batch.bytes;
	bool fix = false;
	int code = kw_bj_object(bj, json, batch_members, COUNT(batch_members));

	if (code == 0)
		code = json_object_get(json, "raw") ? put_raw(bj, json, &batch, &fix) : build(bj, json, &batch, &fix);
	if (code == 0)
		code = apply_edits(bj, json_object_get(json, "edits"), bytes);
	if (code == 0 && fix && bytes->n < KW_B_ATTRIBUTES)
		code = kw_bj_fail(bj, KT_ERANGE, "%zu bytes have no room for a CRC", bytes->n);
	if (code == 0) {
		if (fix)
			kw_wr32(bytes->p + KW_B_CRC, kw_batch_crc(bytes->p, bytes->n));
		kw_put(out, bytes->p, bytes->n);
	}
	kw_buf_fini(&batch.area);
	kw_buf_fini(bytes);
	return code;
}

int kw_batches_from_json(json_t *batches, struct kw_buf *out, struct kt_err *err)
{
	struct kw_bj bj = {.err = err, .path = "batches"};
	size_t start = out->n;
	struct timespec now;
	int code = 0;

	if (!json_is_array(batches))
		return kw_bj_fail(&bj, KT_ETYPE, "an array is expected");
	clock_gettime(CLOCK_REALTIME, &now);
	bj.now = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
	kw_arena_init(&bj.arena, 2 * (size_t)KW_BJ_MAX);
	for (size_t i = 0; i < json_array_size(batches) && code == 0; i++) {
		size_t up = kw_bj_enter_index(&bj, i);

		code = put_batch(&bj, json_array_get(batches, i), out);
		if (code == 0 && (out->failed || out->n - start > KW_BJ_MAX))
			code = kw_bj_fail(&bj, KT_ELIMIT, "more than %d bytes of batches", KW_BJ_MAX);
		kw_bj_leave(&bj, up);
	}
	if (code)
		out->n = start;
	kw_arena_fini(&bj.arena);
	return code;
}
