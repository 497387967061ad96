/* Record batches from their JSON form, right or wrong on purpose; see kw_batches_from_json in batch.h.
 *
 * The first failure sticks in the error object and makes all later readers find nothing (lib/text/json.h), so most
 * functions here return nothing and the caller looks at err->code where it matters. */
#include <limits.h>
#include <time.h>

#include "lib/text/json.h"
#include "lib/text/number.h"
#include "lib/wire/base64.h"
#include "lib/wire/batch.h"
#include "lib/wire/edit.h"

enum { OUTPUT_MAX = 256 << 20 };

/* Most milliseconds away from "now": some 30 years. */
#define BY_MAX INT64_C(1000000000000)

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

struct building {
	struct kw_arena *arena;  /* bytes of the value at hand */
	int64_t now;             /* ms, the same for the whole call */
	struct kw_buf area;      /* records area before compression */
	struct kw_buf bytes;     /* the batch */
	bool has_area;           /* the records area is given, so that edits can reach into it */
	int32_t count, last;     /* records, offset delta of the last one */
	int64_t max_delta;       /* greatest timestamp delta */
};

/* ---- values ---- */

/* A number, "now", "now+1000", "now-1000". */
static bool get_time(struct building *batch, struct kt_obj *obj, const char *name, int64_t *v)
{
	const char *text = json_string_value(kt_obj_any(obj, name));
	int64_t by = 0;

	if (!text)
		return kt_obj_int64(obj, name, INT64_MIN, INT64_MAX, v);
	if (strncmp(text, "now", 3) != 0 ||
	    (text[3] && (!strchr("+-", text[3]) || kt_parse_int(text + 3, -BY_MAX, BY_MAX, &by, NULL)))) {
		kt_obj_fail(obj, name, KT_ESYNTAX, "must be a number, \"now\", \"now+MS\" or \"now-MS\"");
		return false;
	}
	*v = batch->now + by;
	return true;
}

static void decode_bytes(struct building *batch, struct kt_obj *obj, const char *name, struct kw_bytes *out)
{
	const char *text = NULL;
	bool hex = strcmp(name, "hex") == 0;
	uint8_t *p;
	size_t n;
	long len;

	if (!kt_obj_str(obj, name, &text))
		return;
	n = strlen(text);
	p = n <= OUTPUT_MAX ? kw_alloc(batch->arena, n + 3) : NULL;
	if (!p) {
		kt_obj_fail(obj, name, KT_ELIMIT, "too long");
		return;
	}
	len = hex ? kw_hex_decode(text, n, p) : kw_base64_decode(text, n, p);
	if (len < 0)
		kt_obj_fail(obj, name, KT_ESYNTAX, hex ? "must be an even number of hex digits" : "must be base64");
	else
		*out = (struct kw_bytes){p, (int32_t)len};
}

/* {"size": n}: n bytes 'x'. */
static void sized_bytes(struct building *batch, struct kt_obj *obj, struct kw_bytes *out)
{
	uint8_t *p;
	int n;

	if (!kt_obj_int(obj, "size", 0, OUTPUT_MAX, &n))
		return;
	p = kw_alloc(batch->arena, (size_t)n);
	if (p)
		*out = (struct kw_bytes){memset(p, 'x', (size_t)n), n};
	else
		kt_obj_fail(obj, "size", KT_ENOMEM, "out of memory");
}

/* A string or {"hex"}, {"base64"}, {"size"}; *out is null if the member is null or missing, or after a failure. */
static void get_bytes(struct building *batch, struct kt_obj *obj, const char *name, struct kw_bytes *out)
{
	json_t *json = kt_obj_any(obj, name);
	struct kt_obj sub;

	*out = (struct kw_bytes){NULL, -1};
	if (!json || json_is_null(json))
		return;
	if (json_is_string(json) && json_string_length(json) <= OUTPUT_MAX) {
		*out = (struct kw_bytes){(const uint8_t *)json_string_value(json), (int32_t)json_string_length(json)};
		return;
	}
	if (!json_is_object(json) || json_object_size(json) != 1) {
		kt_obj_fail(obj, name, KT_ETYPE, "must be a string or an object of \"hex\", \"base64\" or \"size\"");
		return;
	}
	kt_obj_object(obj, name, &sub);
	decode_bytes(batch, &sub, "hex", out);
	decode_bytes(batch, &sub, "base64", out);
	sized_bytes(batch, &sub, out);
	kt_obj_done(&sub);
}

/* Appends a member of bytes that is there and must not be null. */
static void put_bytes(struct building *batch, struct kt_obj *obj, const char *name, struct kw_buf *out)
{
	struct kw_bytes bytes;

	get_bytes(batch, obj, name, &bytes);
	if (bytes.n < 0)
		kt_obj_fail(obj, name, KT_ETYPE, "must not be null");
	else
		kw_put(out, bytes.p, (size_t)bytes.n);
	if (out->failed)
		kt_obj_fail(obj, name, KT_ELIMIT, "more than %d bytes", OUTPUT_MAX);
}

/* ---- records ---- */

static void get_headers(struct building *batch, struct kt_obj *obj, struct kw_record *record)
{
	struct kw_header *headers;
	struct kw_bytes key;
	struct kt_obj one;
	struct kt_arr arr;

	if (!kt_obj_array(obj, "headers", &arr))
		return;
	record->headers = headers = kw_alloc(batch->arena, arr.n * sizeof *headers);
	if (!headers) {
		kt_obj_fail(obj, "headers", KT_ENOMEM, "out of memory");
		return;
	}
	for (; kt_arr_object(&arr, &one); record->nheaders++) {
		kt_obj_need(&one, "key", NULL);
		get_bytes(batch, &one, "key", &key);
		headers[record->nheaders].key = (struct kw_str){(const char *)key.p, key.n};
		get_bytes(batch, &one, "value", &headers[record->nheaders].value);
		kt_obj_done(&one);
	}
}

static void put_record(struct building *batch, struct kt_obj *obj)
{
	struct kw_record record = {0};
	int attributes = 0, offset = 0, repeat = 1;
	bool fixed = kt_obj_int(obj, "offsetDelta", INT32_MIN, INT32_MAX, &offset);

	kt_obj_int(obj, "attributes", INT8_MIN, UINT8_MAX, &attributes);
	kt_obj_int64(obj, "timestampDelta", INT64_MIN, INT64_MAX, &record.timestampDelta);
	kt_obj_int(obj, "repeat", 0, OUTPUT_MAX, &repeat);
	get_bytes(batch, obj, "key", &record.key);
	get_bytes(batch, obj, "value", &record.value);
	get_headers(batch, obj, &record);
	if (kt_obj_done(obj))
		return;
	record.attributes = (int8_t)attributes;
	for (; repeat > 0 && !batch->area.failed; repeat--) {
		record.offsetDelta = fixed ? offset : batch->count;
		kw_record_put(&batch->area, &record);
		if (batch->count == 0 || record.timestampDelta > batch->max_delta)
			batch->max_delta = record.timestampDelta;
		batch->last = record.offsetDelta;
		batch->count++;
	}
	if (batch->area.failed)
		kt_obj_fail(obj, NULL, KT_ELIMIT, "more than %d bytes of records", OUTPUT_MAX);
}

static void put_records(struct building *batch, struct kt_obj *obj)
{
	struct kt_arr arr;
	struct kt_obj one;

	batch->count = 0;
	batch->last = -1;
	kt_obj_array(obj, "records", &arr);
	while (kt_arr_object(&arr, &one)) {
		put_record(batch, &one);
		kw_arena_reset(batch->arena);
	}
}

/* ---- edits ---- */

/* Edits of the records are made before the batch is, so that they can be compressed and counted in. */
static bool is_of_records(const struct building *batch, const struct kt_obj *edit)
{
	const char *at = json_string_value(json_object_get(edit->json, "at"));

	return batch->has_area && at && strncmp(at, "records", 7) == 0 && (!at[7] || at[7] == '[');
}

/* The edits of the records or all others, on bytes that the map has. */
static void apply_edits(struct building *batch, struct kt_obj *obj, struct kw_editing *editing, bool of_records)
{
	struct kt_arr arr;
	struct kt_obj edit;

	kt_obj_array(obj, "edits", &arr);
	while (kt_arr_object(&arr, &edit))
		if (is_of_records(batch, &edit) == of_records)
			kw_edit_apply(editing, &edit);
	kw_arena_reset(batch->arena);
}

static void edit_area(struct building *batch, struct kt_obj *obj)
{
	struct kw_editing editing = {.buf = &batch->area, .map = {.arena = batch->arena, .base = batch->area.p}};
	struct kw_span *area;

	batch->has_area = true;
	if (obj->err->code || !kt_obj_any(obj, "edits"))
		return;
	area = kw_map_add(&editing.map, "records", batch->area.p);
	if (area)
		*area = (struct kw_span){.path = area->path, .end = batch->area.n, .type = KW_BYTES};
	if (!area || !kw_map_records(&editing.map, "records", batch->area.p, batch->area.n, INT32_MAX))
		kt_obj_fail(obj, "edits", KT_ELIMIT, "too many records to edit");
	apply_edits(batch, obj, &editing, true);
}

static void edit_batch(struct building *batch, struct kt_obj *obj)
{
	struct kw_editing editing = {.buf = &batch->bytes, .map = {.arena = batch->arena, .base = batch->bytes.p}};

	if (obj->err->code || !kt_obj_any(obj, "edits"))
		return;
	if (!kw_map_batch(&editing.map, "", batch->bytes.p, batch->bytes.n))
		kt_obj_fail(obj, "edits", KT_ELIMIT, "too many records to edit");
	apply_edits(batch, obj, &editing, false);
}

/* ---- one batch ---- */

/* What follows the header: records, body or payload. */
static void put_payload(struct building *batch, struct kt_obj *obj, int codec)
{
	bool body = kt_obj_any(obj, "body"), payload = kt_obj_any(obj, "payload");
	int code;

	if (!!kt_obj_any(obj, "records") + body + payload > 1) {
		kt_obj_fail(obj, NULL, KT_ETYPE, "only one of \"records\", \"body\" and \"payload\" can be given");
		return;
	}
	batch->count = 1;
	if (payload) {
		put_bytes(batch, obj, "payload", &batch->bytes);
		return;
	}
	if (body)
		put_bytes(batch, obj, "body", &batch->area);
	else
		put_records(batch, obj);
	edit_area(batch, obj);
	code = kw_compress(codec, batch->area.p, batch->area.n, &batch->bytes, NULL);
	if (code)
		kt_obj_fail(obj, NULL, code, "the batch is too large");
}

/* Overwrites the header fields that the JSON has. */
static void set_fields(struct building *batch, struct kt_obj *obj)
{
	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
		const struct field *field = &fields[i];
		/* Both what a signed and what an unsigned field of this size can hold. */
		int64_t min = field->size == 8 ? INT64_MIN : -((int64_t)1 << (8 * field->size - 1));
		int64_t max = field->size == 8 ? INT64_MAX : ((int64_t)1 << 8 * field->size) - 1;
		uint8_t bytes[8];
		int64_t v;

		if (field->time ? !get_time(batch, obj, field->name, &v)
				: !kt_obj_int64(obj, field->name, min, max, &v))
			continue;
		kw_wr64(bytes, (uint64_t)v);
		memcpy(batch->bytes.p + field->at, bytes + 8 - field->size, (size_t)field->size);
	}
}

static bool crc_is(struct kt_obj *obj, const char *word)
{
	const char *text = json_string_value(kt_obj_any(obj, "crc"));

	return text && strcmp(text, word) == 0;
}

/* The CRC as it is before edits. */
static void set_crc(struct building *batch, struct kt_obj *obj, uint32_t stale)
{
	uint8_t *p = batch->bytes.p;
	int64_t crc = kw_batch_crc(p, batch->bytes.n);

	if (crc_is(obj, "stale"))
		crc = stale;
	else if (json_is_string(kt_obj_any(obj, "crc")) && !crc_is(obj, "fix"))
		kt_obj_fail(obj, "crc", KT_ESYNTAX, "must be a number, \"stale\" or \"fix\"");
	else if (!crc_is(obj, "fix"))
		kt_obj_int64(obj, "crc", INT32_MIN, UINT32_MAX, &crc);
	kw_wr32(p + KW_B_CRC, (uint32_t)crc);
}

/* A batch that is right, then given the header fields that the JSON has. */
static void build(struct building *batch, struct kt_obj *obj)
{
	const char *codecs[KW_ZSTD + 2] = {NULL};
	struct kw_batch_spec spec = kw_batch_spec_default;
	int codec = KW_NONE;
	uint32_t right;
	uint8_t *p;

	for (int i = KW_NONE; i <= KW_ZSTD; i++)
		codecs[i] = kw_codec_name(i);
	spec.baseTimestamp = batch->now;
	get_time(batch, obj, "baseTimestamp", &spec.baseTimestamp);
	kt_obj_enum(obj, "codec", codecs, &codec);
	if (kw_batch_build(&spec, NULL, 0, &batch->bytes, obj->err))
		return;
	put_payload(batch, obj, codec);
	p = batch->bytes.p;
	kw_wr32(p + KW_B_LENGTH, (uint32_t)(batch->bytes.n - KW_B_LOG_OVERHEAD));
	kw_wr16(p + KW_B_ATTRIBUTES, (uint16_t)codec);
	kw_wr32(p + KW_B_LAST_OFFSET_DELTA, (uint32_t)batch->last);
	kw_wr64(p + KW_B_MAX_TIMESTAMP, (uint64_t)spec.baseTimestamp + (uint64_t)batch->max_delta);
	kw_wr32(p + KW_B_COUNT, (uint32_t)batch->count);
	right = kw_batch_crc(p, batch->bytes.n);
	set_fields(batch, obj);
	set_crc(batch, obj, right);
}

static void put_raw(struct building *batch, struct kt_obj *obj)
{
	const char *name;
	json_t *value;

	json_object_foreach(obj->json, name, value) {
		if (strcmp(name, "raw") == 0 || strcmp(name, "edits") == 0 ||
		    (strcmp(name, "crc") == 0 && crc_is(obj, "fix")))
			continue;
		kt_obj_fail(obj, name, KT_ETYPE, "only edits and \"crc\": \"fix\" can stand beside \"raw\"");
	}
	put_bytes(batch, obj, "raw", &batch->bytes);
}

static void put_batch(struct kt_obj *obj, struct kw_arena *arena, int64_t now, struct kw_buf *out)
{
	struct building batch = {.arena = arena, .now = now, .area = {.max = OUTPUT_MAX}, .bytes = {.max = OUTPUT_MAX}};
	struct kw_buf *bytes = &batch.bytes;

	if (kt_obj_any(obj, "raw"))
		put_raw(&batch, obj);
	else
		build(&batch, obj);
	edit_batch(&batch, obj);
	if (crc_is(obj, "fix")) {
		if (bytes->n < KW_B_ATTRIBUTES)
			kt_obj_fail(obj, "crc", KT_ERANGE, "%zu bytes have no room for it", bytes->n);
		else
			kw_wr32(bytes->p + KW_B_CRC, kw_batch_crc(bytes->p, bytes->n));
	}
	if (kt_obj_done(obj) == 0)
		kw_put(out, bytes->p, bytes->n);
	kw_buf_fini(&batch.area);
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
	kw_arena_init(&arena, 2 * (size_t)OUTPUT_MAX);
	while (kt_arr_object(&arr, &obj)) {
		put_batch(&obj, &arena, (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000, out);
		if (out->failed || out->n - start > OUTPUT_MAX)
			kt_arr_fail(&arr, KT_ELIMIT, "more than %d bytes of batches", OUTPUT_MAX);
	}
	if (arr.err->code)
		out->n = start;
	kw_arena_fini(&arena);
	return arr.err->code;
}
