/* Record batches from their JSON form, right or wrong on purpose; see kw_batches_from_json in batch.h. */
#include <limits.h>
#include <time.h>

#include "lib/wire/batch_json.h"
#include "lib/wire/edit.h"

/* Header fields that are written as given, whatever the batch holds. */
static const struct field {
	const char *name;
	size_t at;
	int size;
	bool time;
} fields[] = {
	/* member, offset, bytes, also "now" */
	{"baseOffset", KW_B_BASE_OFFSET, 8, false},
	{"length", KW_B_LENGTH, 4, false},
	{"partitionLeaderEpoch", KW_B_LEADER_EPOCH, 4, false},
	{"magic", KW_B_MAGIC, 1, false},
	{"attributes", KW_B_ATTRIBUTES, 2, false},
	{"lastOffsetDelta", KW_B_LAST_OFFSET_DELTA, 4, false},
	{"baseTimestamp", KW_B_BASE_TIMESTAMP, 8, true},
	{"maxTimestamp", KW_B_MAX_TIMESTAMP, 8, true},
	{"producerId", KW_B_PRODUCER_ID, 8, false},
	{"producerEpoch", KW_B_PRODUCER_EPOCH, 2, false},
	{"baseSequence", KW_B_BASE_SEQUENCE, 4, false},
	{"count", KW_B_COUNT, 4, false},
};

/* ---- records ---- */

static void get_headers(struct kw_building *building, struct kt_obj *obj, struct kw_record *record)
{
	struct kw_header *headers;
	struct kw_bytes key;
	struct kt_obj one;
	struct kt_arr arr;

	if (!kt_obj_array(obj, "headers", &arr))
		return;
	record->headers = headers = kw_alloc(building->arena, arr.n * sizeof *headers);
	if (!headers) {
		kt_obj_fail(obj, "headers", KT_ENOMEM, "out of memory");
		return;
	}
	for (; kt_arr_object(&arr, &one); record->nheaders++) {
		kt_obj_need(&one, "key", NULL);
		kw_obj_bytes(building, &one, "key", &key);
		headers[record->nheaders].key = (struct kw_str){(const char *)key.p, key.n};
		kw_obj_bytes(building, &one, "value", &headers[record->nheaders].value);
		kt_obj_done(&one);
	}
}

static void put_record(struct kw_building *building, struct kt_obj *obj)
{
	struct kw_record record = {0};
	int attributes = 0, offset = 0, repeat = 1;
	bool fixed = kt_obj_int(obj, "offsetDelta", INT32_MIN, INT32_MAX, &offset);

	kt_obj_int(obj, "attributes", INT8_MIN, UINT8_MAX, &attributes);
	kt_obj_int64(obj, "timestampDelta", INT64_MIN, INT64_MAX, &record.timestampDelta);
	kt_obj_int(obj, "repeat", 0, KW_JSON_MAX, &repeat);
	kw_obj_bytes(building, obj, "key", &record.key);
	kw_obj_bytes(building, obj, "value", &record.value);
	get_headers(building, obj, &record);
	if (kt_obj_done(obj))
		return;
	record.attributes = (int8_t)attributes;
	for (; repeat > 0 && !building->area.failed; repeat--) {
		record.offsetDelta = fixed ? offset : building->count;
		kw_record_put(&building->area, &record);
		if (building->count == 0 || record.timestampDelta > building->max_delta)
			building->max_delta = record.timestampDelta;
		building->last = record.offsetDelta;
		building->count++;
	}
	if (building->area.failed)
		kw_obj_full(obj, NULL, &building->area, " of records");
}

static void put_records(struct kw_building *building, struct kt_obj *obj)
{
	struct kt_arr arr;
	struct kt_obj one;

	building->count = 0;
	building->last = -1;
	kt_obj_array(obj, "records", &arr);
	while (kt_arr_object(&arr, &one)) {
		put_record(building, &one);
		kw_arena_reset(building->arena);
	}
}

/* ---- edits ---- */

/* Edits of the records are made before the batch is, so that they can be compressed and counted in. */
static bool is_of_records(const struct kw_building *building, const struct kt_obj *edit)
{
	const char *at = json_string_value(json_object_get(edit->json, "at"));

	return building->has_area && at && strncmp(at, "records", 7) == 0 && (!at[7] || at[7] == '[');
}

/* The edits of the records or all others, on bytes that the map has. */
static void apply_edits(struct kw_building *building, struct kt_obj *obj, struct kw_editing *editing, bool of_records)
{
	struct kt_arr arr;
	struct kt_obj edit;

	kt_obj_array(obj, "edits", &arr);
	while (kt_arr_object(&arr, &edit))
		if (is_of_records(building, &edit) == of_records)
			kw_edit_apply(editing, &edit);
	kw_arena_reset(building->arena);
}

static void edit_area(struct kw_building *building, struct kt_obj *obj)
{
	struct kw_editing editing = {
		.buf = &building->area, .map = {.arena = building->arena, .base = building->area.p},
	};
	struct kw_span *area;

	building->has_area = true;
	if (obj->err->code || !kt_obj_any(obj, "edits"))
		return;
	area = kw_map_add(&editing.map, "records", building->area.p);
	if (area)
		*area = (struct kw_span){.path = area->path, .end = building->area.n, .type = KW_BYTES};
	if (!area || !kw_map_records(&editing.map, "records", building->area.p, building->area.n, INT32_MAX))
		kt_obj_fail(obj, "edits", KT_ELIMIT, "too many records to edit");
	apply_edits(building, obj, &editing, true);
}

static void edit_outcome(struct kw_building *building, struct kt_obj *obj, bool messages)
{
	struct kw_buf *bytes = &building->bytes;
	struct kw_editing editing = {.buf = bytes, .map = {.arena = building->arena, .base = bytes->p}};
	bool ok;

	if (obj->err->code || !kt_obj_any(obj, "edits"))
		return;
	ok = messages ? kw_map_set(&editing.map, "messages", bytes->p, bytes->n)
		      : kw_map_batch(&editing.map, "", bytes->p, bytes->n);
	if (!ok)
		kt_obj_fail(obj, "edits", KT_ELIMIT, "too many records to edit");
	apply_edits(building, obj, &editing, false);
}

/* ---- one batch ---- */

/* What follows the header: records, body or payload. */
static void put_payload(struct kw_building *building, struct kt_obj *obj, int codec, const struct kw_deflate_opts *opts)
{
	bool body = kt_obj_any(obj, "body"), payload = kt_obj_any(obj, "payload");
	struct kt_err why = {0};
	int code;

	if (!!kt_obj_any(obj, "records") + body + payload > 1) {
		kt_obj_fail(obj, NULL, KT_ETYPE, "only one of \"records\", \"body\" and \"payload\" can be given");
		return;
	}
	building->count = 1;
	if (payload) {
		kw_obj_put_bytes(building, obj, "payload", &building->bytes);
		return;
	}
	if (body)
		kw_obj_put_bytes(building, obj, "body", &building->area);
	else
		put_records(building, obj);
	edit_area(building, obj);
	code = kw_compress_as(codec, opts, building->area.p, building->area.n, &building->bytes, &why);
	if (code)
		kt_obj_fail(obj, NULL, code, "%s", why.text);
}

/* Overwrites the header fields that the JSON has. */
static void set_fields(struct kw_building *building, struct kt_obj *obj)
{
	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
		const struct field *field = &fields[i];
		uint8_t bytes[8];
		int64_t v;

		if (field->time ? !kw_obj_time(building, obj, field->name, &v)
				: !kw_obj_field(obj, field->name, field->size, &v))
			continue;
		kw_wr64(bytes, (uint64_t)v);
		memcpy(building->bytes.p + field->at, bytes + 8 - field->size, (size_t)field->size);
	}
}

/* The CRC as it is before edits. */
static void set_crc(struct kw_building *building, struct kt_obj *obj, uint32_t stale)
{
	uint8_t *p = building->bytes.p;
	int64_t crc = kw_batch_crc(p, building->bytes.n);

	if (kw_obj_crc_is(obj, "stale"))
		crc = stale;
	else if (json_is_string(kt_obj_any(obj, "crc")) && !kw_obj_crc_is(obj, "fix"))
		kt_obj_fail(obj, "crc", KT_ESYNTAX, "must be a number, \"stale\" or \"fix\"");
	else if (!kw_obj_crc_is(obj, "fix"))
		kt_obj_int64(obj, "crc", INT32_MIN, UINT32_MAX, &crc);
	kw_wr32(p + KW_B_CRC, (uint32_t)crc);
}

/* A batch that is right, then given the header fields that the JSON has. */
static void build(struct kw_building *building, struct kt_obj *obj)
{
	struct kw_deflate_opts opts = {0};
	struct kw_batch_spec spec = kw_batch_spec_default;
	int codec = KW_NONE;
	uint32_t right;
	uint8_t *p;

	spec.baseTimestamp = building->now;
	kw_obj_time(building, obj, "baseTimestamp", &spec.baseTimestamp);
	kw_obj_codec(obj, &codec, &opts);
	if (kw_batch_build(&spec, NULL, 0, &building->bytes, obj->err))
		return;
	put_payload(building, obj, codec, &opts);
	p = building->bytes.p;
	kw_wr32(p + KW_B_LENGTH, (uint32_t)(building->bytes.n - KW_B_LOG_OVERHEAD));
	kw_wr16(p + KW_B_ATTRIBUTES, (uint16_t)codec);
	kw_wr32(p + KW_B_LAST_OFFSET_DELTA, (uint32_t)building->last);
	kw_wr64(p + KW_B_MAX_TIMESTAMP, (uint64_t)spec.baseTimestamp + (uint64_t)building->max_delta);
	kw_wr32(p + KW_B_COUNT, (uint32_t)building->count);
	right = kw_batch_crc(p, building->bytes.n);
	set_fields(building, obj);
	set_crc(building, obj, right);
}

static void put_raw(struct kw_building *building, struct kt_obj *obj)
{
	const char *name;
	json_t *value;

	json_object_foreach(obj->json, name, value) {
		if (strcmp(name, "raw") == 0 || strcmp(name, "edits") == 0 ||
		    (strcmp(name, "crc") == 0 && kw_obj_crc_is(obj, "fix")))
			continue;
		kt_obj_fail(obj, name, KT_ETYPE, "only edits and \"crc\": \"fix\" can stand beside \"raw\"");
	}
	kw_obj_put_bytes(building, obj, "raw", &building->bytes);
}

/* ---- one element ---- */

/* Rights the CRC after the edits; of messages, all that are still whole. */
static void fix_crc(struct kw_buf *bytes, struct kt_obj *obj, bool messages)
{
	if (bytes->n < KW_B_ATTRIBUTES)
		kt_obj_fail(obj, "crc", KT_ERANGE, "%zu bytes have no room for it", bytes->n);
	else if (messages)
		kw_messages_fix(bytes->p, bytes->n);
	else
		kw_wr32(bytes->p + KW_B_CRC, kw_batch_crc(bytes->p, bytes->n));
}

static void put_element(struct kt_obj *obj, struct kw_arena *arena, int64_t now, struct kw_buf *out)
{
	struct kw_building building = {
		.arena = arena, .now = now, .area = {.max = KW_JSON_MAX}, .bytes = {.max = KW_JSON_MAX},
	};
	struct kw_buf *bytes = &building.bytes;
	const json_t *magic = kt_obj_any(obj, "magic");
	bool raw = kt_obj_any(obj, "raw");
	bool messages = !raw && json_is_integer(magic) && json_integer_value(magic) >> 1 == 0;

	if (raw)
		put_raw(&building, obj);
	else if (messages)
		kw_messages_from_json(&building, obj, (int8_t)json_integer_value(magic));
	else
		build(&building, obj);
	if (raw && bytes->n > KW_E_MAGIC)
		messages = bytes->p[KW_E_MAGIC] <= 1;
	edit_outcome(&building, obj, messages);
	if (kw_obj_crc_is(obj, "fix"))
		fix_crc(bytes, obj, messages);
	if (bytes->failed)
		kw_obj_full(obj, NULL, bytes, "");
	if (kt_obj_done(obj) == 0)
		kw_put(out, bytes->p, bytes->n);
	kw_buf_fini(&building.area);
	kw_buf_fini(bytes);
}

int kw_batches_from_json(json_t *batches, struct kw_buf *out, struct kt_err *err)
{
	struct kt_err own = {0};
	struct kt_arr arr = {.json = batches, .n = json_array_size(batches), .path = "batches"};
	size_t start = out->n;
	struct kw_arena arena;
	struct timespec now;
	struct kt_obj obj;

	arr.err = err ? err : &own;
	if (!json_is_array(batches))
		return kt_json_fail(NULL, arr.path, err, KT_ETYPE, "must be an array");
	clock_gettime(CLOCK_REALTIME, &now);
	kw_arena_init(&arena, 2 * (size_t)KW_JSON_MAX);
	while (kt_arr_object(&arr, &obj)) {
		put_element(&obj, &arena, (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000, out);
		if (out->failed == KT_ENOMEM)
			kt_arr_fail(&arr, KT_ENOMEM, "out of memory");
		else if (out->failed || out->n - start > KW_JSON_MAX)
			kt_arr_fail(&arr, KT_ELIMIT, "more than %d bytes of batches", KW_JSON_MAX);
	}
	if (arr.err->code)
		out->n = start;
	kw_arena_fini(&arena);
	return arr.err->code;
}
