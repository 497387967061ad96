/* Request and response frames. */
#include <inttypes.h>

#include "conformance/inspect/inspect.h"
#include "lib/wire/map.h"
#include "lib/wire/varint.h"

enum { SIZE_FIELD = 4, PRODUCE = 0, API_VERSIONS = 18 };

struct frame {
	struct cf_inspector *inspector;
	const struct kw_slice *bytes;    /* as given */
	struct kw_map map;               /* counts in bytes */
	size_t wrong_at;                 /* byte that broke the reading, SIZE_MAX = none */
	int api, version;
	bool request;
};

/* A request whose header stands at `skip`, and which takes all bytes behind it? Zeros are the header of a Produce
 * request as well as the offset of a batch, or nothing. */
static bool is_request_at(const struct kw_slice *bytes, size_t skip)
{
	struct kw_arena arena;
	struct kw_map map = {.arena = &arena, .base = bytes->p};
	size_t used = 0;
	bool ok;

	if (bytes->n < skip + 8)
		return false;
	kw_arena_init(&arena, KW_INFLATE_MAX);
	ok = kw_map_request(&map, bytes->p + skip, bytes->n - skip, &used, NULL) == 0 && used == bytes->n - skip;
	kw_arena_fini(&arena);
	return ok;
}

/* API and version of a header that stands at `skip` are those of a request that there is. */
static bool is_known_at(const struct kw_slice *bytes, size_t skip)
{
	const struct kw_msg *msg = bytes->n < skip + 8 ? NULL : kw_request((int16_t)kw_rd16(bytes->p + skip));
	int version = msg ? (int16_t)kw_rd16(bytes->p + skip + 2) : -1;

	return msg && version >= msg->versions.min && version <= msg->versions.max;
}

/* With the right size in front, an API that there is will do. */
static bool is_framed_request(const struct kw_slice *bytes)
{
	return bytes->n >= SIZE_FIELD + 8 && kw_rd32(bytes->p) == bytes->n - SIZE_FIELD &&
	       kw_request((int16_t)kw_rd16(bytes->p + SIZE_FIELD));
}

bool cf_is_request(const struct kw_slice *bytes)
{
	return is_framed_request(bytes) || is_request_at(bytes, 0) || is_request_at(bytes, SIZE_FIELD);
}

/* ---- values ---- */

static json_t *number_value(const struct kw_span *span, const uint8_t *p)
{
	double real;
	uint64_t raw;

	switch ((enum kw_type)span->type) {
	case KW_BOOL: return json_boolean(*p);
	case KW_INT8: return json_integer((int8_t)*p);
	case KW_INT16: return json_integer((int16_t)kw_rd16(p));
	case KW_UINT16: return json_integer(kw_rd16(p));
	case KW_INT32: return json_integer((int32_t)kw_rd32(p));
	case KW_UINT32: return json_integer(kw_rd32(p));
	case KW_INT64: return json_integer((int64_t)kw_rd64(p));
	case KW_FLOAT64:
		raw = kw_rd64(p);
		memcpy(&real, &raw, sizeof real);
		return json_real(real);
	default: break;
	}
	return json_null();
}

static json_t *uuid_value(const uint8_t *p)
{
	struct kw_uuid id;
	char text[23];

	memcpy(id.b, p, sizeof id.b);
	kw_uuid_text(id, text);
	return json_string(text);
}

/* Numbers that have names. */
static const char *name_of(const struct frame *frame, const char *name, const struct kw_span *span, int64_t v)
{
	if (strcmp(name, "errorCode") == 0 || strcmp(name, "topicErrorCode") == 0)
		return kw_error_name((int)v);
	if (strcmp(span->path, "header.requestApiKey") == 0 ||
	    (frame->api == API_VERSIONS && strcmp(name, "apiKey") == 0))
		return kw_api_name((int)v);
	return NULL;
}

static size_t width_of(const struct kw_span *span)
{
	static const size_t widths[] = {[KW_BOOL] = 1, [KW_INT8] = 1, [KW_INT16] = 2, [KW_UINT16] = 2, [KW_INT32] = 4,
					[KW_UINT32] = 4, [KW_INT64] = 8, [KW_FLOAT64] = 8, [KW_UUID] = 16};

	return span->type <= KW_UUID ? widths[span->type] : 0;
}

/* A field that has no fields of its own. */
static void show_value(struct frame *frame, const struct kw_span *span, const char *name, bool wrong)
{
	const uint8_t *p = frame->bytes->p + span->start;
	struct cf_place place = {span->start, span->end - span->start, false, false};
	struct cf_tree *tree = &frame->inspector->tree;
	const char *word;
	char text[120];
	json_t *value;

	if (span->type == KW_STRING || span->type == KW_BYTES) {
		bool null = span->end == span->len_end && place.size > 0 &&
			    (span->coding == KW_COMPACT ? *p == 0 : *p >= 0x80);

		cf_tree_bytes(tree, &place, name, (struct kw_bytes){frame->bytes->p + span->len_end,
							    null ? -1 : (int32_t)(span->end - span->len_end)}, wrong);
		return;
	}
	if (place.size < width_of(span)) {
		cf_tree_leaf(tree, &place, name, NULL, "cut off", wrong);
		return;
	}
	value = span->type == KW_UUID ? uuid_value(p) : number_value(span, p);
	word = json_is_integer(value) ? name_of(frame, name, span, json_integer_value(value)) : NULL;
	snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT "  %s", json_integer_value(value), word ? word : "");
	cf_tree_leaf(tree, &place, name, value, word ? text : NULL, wrong);
}

/* "3 elements", "null" */
static void count_text(const struct frame *frame, const struct kw_span *span, char *out, size_t size)
{
	const uint8_t *p = frame->bytes->p + span->len_at, *end = frame->bytes->p + span->len_end;
	int64_t n = 0;
	uint32_t raw = 0;

	if (span->coding == KW_FIXED && end - p == 4)
		n = (int32_t)kw_rd32(p);
	else if (span->coding != KW_FIXED && kw_get_uvarint(p, end, &raw) > 0)
		n = span->coding == KW_COMPACT ? (int32_t)(raw - 1) : (int64_t)raw;
	if (n < 0)
		snprintf(out, size, "null");
	else
		snprintf(out, size, "%" PRId64 " %s", n,
			 span->coding == KW_UVARINT ? "of them" : n == 1 ? "element" : "elements");
}

/* ---- the tree ---- */

static int depth_of(const char *path)
{
	int depth = 0;

	for (const char *s = path; *s; s++)
		depth += *s == '.' || *s == '[';
	return depth;
}

static const char *last_name(const char *path)
{
	const char *dot = strrchr(path, '.'), *bracket = strrchr(path, '[');

	if (bracket && (!dot || bracket > dot))
		return bracket;
	return dot ? dot + 1 : path;
}

/* A field with fields of its own stays open until one that is not deeper comes. */
static bool has_fields(const struct kw_span *span)
{
	return span->array || span->type == KW_STRUCT;
}

static void show_records_field(struct frame *frame, const struct kw_span *span, const char *name)
{
	struct cf_inspector *inspector = frame->inspector;
	size_t n = span->end - span->len_end, batches = inspector->batches;
	struct cf_place place = {span->start, span->end - span->start, false, false};
	enum kw_role role = inspector->role;
	bool cut = inspector->cut_is_fine;
	char text[60];

	snprintf(text, sizeof text, "%zu bytes", n);
	cf_tree_open(&inspector->tree, &place, name, text);
	inspector->role = frame->request ? KW_PRODUCED : KW_STORED;
	inspector->cut_is_fine = !frame->request;
	inspector->in_produce = frame->request && frame->api == PRODUCE;
	inspector->version = frame->version;
	cf_inspect_set(inspector, frame->bytes, span->len_end, n, -1);
	if (frame->request && inspector->batches == batches && n == 0)
		cf_inspect_fault(inspector, &place, frame->bytes, span->path,
				 kw_rule_words(KW_R_NOTHING, true, NULL, text, sizeof text),
				 kw_rule_code(KW_R_NOTHING));
	inspector->role = role;
	inspector->cut_is_fine = cut;
	inspector->in_produce = false;
	cf_tree_close(&inspector->tree);
}

static void show_span(struct frame *frame, const struct kw_span *span, int *open)
{
	struct cf_place place = {span->start, span->end - span->start, false, false};
	const char *name = last_name(span->path);
	bool wrong = frame->wrong_at != SIZE_MAX && span->start <= frame->wrong_at && frame->wrong_at <= span->end &&
		     span == &frame->map.v[frame->map.n - 1];
	int depth = depth_of(span->path);
	char text[60] = "";

	if (strcmp(name, "_taggedFields") == 0 && span->end == span->len_end && !wrong)
		return;
	for (; *open > depth; (*open)--)
		cf_tree_close(&frame->inspector->tree);
	if (span->type == KW_RECORDS && span->end > span->len_end) {
		show_records_field(frame, span, name);
	} else if (has_fields(span)) {
		if (span->array)
			count_text(frame, span, text, sizeof text);
		if (wrong)
			snprintf(text + strlen(text), sizeof text - strlen(text), "   <-- wrong");
		cf_tree_open(&frame->inspector->tree, &place, name, *text ? text : NULL);
		(*open)++;
	} else {
		show_value(frame, span, name, wrong);
	}
}

static void show_spans(struct frame *frame, size_t from, size_t to)
{
	int base = from < to ? depth_of(frame->map.v[from].path) : 0, open = base;

	for (size_t i = from; i < to; i++)
		show_span(frame, &frame->map.v[i], &open);
	for (; open > base; open--)
		cf_tree_close(&frame->inspector->tree);
}

static void show_part(struct frame *frame, const char *name, size_t from, size_t to)
{
	struct cf_place place = {0, 0, false, from == to};

	if (from < to) {
		place.at = frame->map.v[from].start;
		for (size_t i = from; i < to; i++)
			if (frame->map.v[i].end > place.at + place.size)
				place.size = frame->map.v[i].end - place.at;
	}
	cf_tree_open(&frame->inspector->tree, &place, name, NULL);
	show_spans(frame, from, to);
	cf_tree_close(&frame->inspector->tree);
}

static size_t header_spans(const struct kw_map *map)
{
	size_t n = 0;

	while (n < map->n && strncmp(map->v[n].path, "header.", 7) == 0)
		n++;
	return n;
}

/* ---- what is wrong ---- */

static void show_size(struct frame *frame)
{
	struct cf_place place = {0, SIZE_FIELD, false, false};
	int32_t size = (int32_t)kw_rd32(frame->bytes->p);
	bool wrong = size < 0 || (size_t)size != frame->bytes->n - SIZE_FIELD;
	char text[100];

	cf_tree_leaf(&frame->inspector->tree, &place, "size", json_integer(size), NULL, wrong);
	if (!wrong)
		return;
	snprintf(text, sizeof text, "says %d, and %zu bytes follow", size, frame->bytes->n - SIZE_FIELD);
	cf_inspect_fault(frame->inspector, &place, frame->bytes, "size", text, 0);
}

static void show_rest(struct frame *frame, size_t used, size_t skip)
{
	struct cf_place place = {skip + used, frame->bytes->n - skip - used, false, false};
	char text[60];

	if (place.size == 0)
		return;
	snprintf(text, sizeof text, "%zu, which Kafka ignores", place.size);
	if (frame->request)
		cf_tree_leaf(&frame->inspector->tree, &place, "bytes behind the body",
			     json_integer((json_int_t)place.size), text, false);
	else
		cf_inspect_fault(frame->inspector, &place, frame->bytes, "", "bytes behind the body", 0);
}

/* The bytes that an error is about: a length that was read and cannot be, else the byte at which the reading broke. */
static struct cf_place error_place(const struct frame *frame, const struct kt_err *err, size_t skip)
{
	const struct kw_span *last = frame->map.n ? &frame->map.v[frame->map.n - 1] : NULL;
	size_t at = skip + err->offset;

	if (err->code == KT_EVERSION)
		return (struct cf_place){skip + 2, 2, false, false};
	if (last && last->len_at < last->len_end && last->len_end == at)
		return (struct cf_place){last->len_at, last->len_end - last->len_at, false, false};
	return (struct cf_place){at, 1, false, false};
}

static void show_error(struct frame *frame, const struct kt_err *err, size_t skip)
{
	struct cf_place place = error_place(frame, err, skip), nowhere = {.none = true};
	bool answered = err->code == KT_EVERSION && frame->api == API_VERSIONS;

	cf_inspect_fault(frame->inspector, &place, frame->bytes, err->path, err->text, 0);
	if (frame->request)
		cf_tree_leaf(&frame->inspector->tree, &nowhere, "Kafka 4.4 answers", json_null(),
			     answered ? "in version 0: UNSUPPORTED_VERSION (35)" : "nothing: it closes the connection",
			     false);
}

/* A frame begins with its size; what stands alone begins with the header. */
static bool has_size(const struct frame *frame)
{
	const struct kw_slice *bytes = frame->bytes;

	if (bytes->n < SIZE_FIELD)
		return false;
	if (kw_rd32(bytes->p) == bytes->n - SIZE_FIELD)
		return true;
	return frame->request && !is_known_at(bytes, 0);
}

void cf_inspect_frame(struct cf_inspector *inspector, const struct kw_slice *bytes, int api, int version)
{
	struct frame frame = {.inspector = inspector, .bytes = bytes, .wrong_at = SIZE_MAX, .api = api,
			      .request = api < 0};
	size_t skip = has_size(&frame) ? SIZE_FIELD : 0, used = 0, head;
	struct kw_arena arena;
	struct kt_err err = {0};
	char text[80];
	int code;

	kw_arena_init(&arena, KW_INFLATE_MAX);
	frame.map = (struct kw_map){.arena = &arena, .base = bytes->p};
	if (frame.request)
		code = kw_map_request(&frame.map, bytes->p + skip, bytes->n - skip, &used, &err);
	else
		code = kw_map_response(&frame.map, api, version, bytes->p + skip, bytes->n - skip, &used, &err);
	if (frame.request && bytes->n >= skip + 4) {
		frame.api = (int16_t)kw_rd16(bytes->p + skip);
		version = (int16_t)kw_rd16(bytes->p + skip + 2);
	}
	frame.version = version;
	if (code)
		frame.wrong_at = skip + err.offset;
	snprintf(text, sizeof text, "%s %d %s", kw_api_name(frame.api) ? kw_api_name(frame.api) : "unknown", version,
		 frame.request ? "request" : "response");
	cf_tree_open(&inspector->tree, &(struct cf_place){0, bytes->n, false, false}, "frame", text);
	if (skip)
		show_size(&frame);
	head = header_spans(&frame.map);
	show_part(&frame, "header", 0, head);
	if (frame.map.n > head)
		show_part(&frame, "body", head, frame.map.n);
	if (code)
		show_error(&frame, &err, skip);
	else
		show_rest(&frame, used, skip);
	cf_tree_close(&inspector->tree);
	kw_arena_fini(&arena);
}
