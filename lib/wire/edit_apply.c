/* The edits themselves, one function each. A failure is left in obj, and nothing is changed then. */
#include <limits.h>

#include "lib/text/number.h"
#include "lib/wire/batch.h"
#include "lib/wire/edit_steps.h"
#include "lib/wire/varint.h"

enum { VARINT_LONGEST = 16, SIZE_FIELD = 4 };

/* ---- numbers ---- */

/* A number, or one of the words with "+N" or "-N" behind it; *word tells which, -1 = none. */
static bool read_value(struct kt_obj *obj, const char *const *words, int *word, int64_t *v)
{
	const char *text = json_string_value(kt_obj_any(obj, "value")), *rest;

	*word = -1;
	*v = 0;
	if (!text)
		return kt_obj_int64(obj, "value", INT64_MIN, INT64_MAX, v);
	for (int i = 0; words[i]; i++) {
		rest = text + strlen(words[i]);
		if (strncmp(text, words[i], strlen(words[i])) != 0)
			continue;
		if (*rest && ((*rest != '+' && *rest != '-') || kt_parse_int(rest, INT32_MIN, INT32_MAX, v, NULL)))
			continue;
		*word = i;
		return true;
	}
	kt_obj_fail(obj, "value", KT_ESYNTAX,
		    "must be a number or \"%s\", perhaps with \"+N\" or \"-N\" behind it", words[0]);
	return false;
}

/* Writes v as an unsigned varint of `size` bytes, 0 = as many as it needs. */
static size_t put_leb128(uint8_t *out, uint64_t v, size_t size)
{
	size_t n = 0;

	do {
		out[n++] = (uint8_t)((v & 0x7f) | 0x80);
		v >>= 7;
	} while (v || n < size);
	out[n - 1] &= 0x7f;
	return n;
}

static uint64_t zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0);
}

/* v in the coding, in `width` bytes where that is fixed; the length of it. */
static size_t put_coded(uint8_t out[VARINT_LONGEST], enum kw_coding coding, size_t width, int64_t v, bool wide)
{
	uint8_t big[8];

	switch (coding) {
	case KW_COMPACT:
		return put_leb128(out, (uint32_t)(v + 1), 0);
	case KW_UVARINT:
		return put_leb128(out, (uint32_t)v, 0);
	case KW_ZIGZAG:
		return put_leb128(out, wide ? zigzag(v) : (uint32_t)zigzag((int32_t)v), 0);
	case KW_FIXED:
		break;
	}
	kw_wr64(big, (uint64_t)v);
	memcpy(out, big + 8 - width, width);
	return width;
}

/* Would v be another number in so many bytes? Both what a signed and what an unsigned number can hold fits. */
static bool fits(int64_t v, size_t width)
{
	return width >= 8 || (v >= -((int64_t)1 << (8 * width - 1)) && v < (int64_t)1 << 8 * width);
}

/* Earlier edits may have left anything of a field. */
static bool has_width(const struct kw_span *span, size_t width)
{
	return width > 0 && (span->coding != KW_FIXED || width <= 8);
}

static bool is_number(const struct kw_span *span)
{
	return span && !span->array && span->len_at == span->len_end && span->type <= KW_INT64 &&
	       has_width(span, span->end - span->start);
}

static bool has_length(const struct kw_span *span)
{
	return span && has_width(span, span->len_end - span->len_at);
}

void kw_edit_set(struct kw_editing *editing, struct kt_obj *obj)
{
	static const char *const words[] = {"actual", NULL};
	struct kw_place place;
	uint8_t bytes[VARINT_LONGEST];
	size_t width, n;
	int64_t v;
	int word;

	if (!kw_place_at(editing, obj, 0, &place) || !read_value(obj, words, &word, &v))
		return;
	width = place.size;
	if (!is_number(place.span) || width != place.span->end - place.span->start) {
		kt_obj_fail(obj, "at", KT_ETYPE, "is no number");
		return;
	}
	if (place.span->coding == KW_FIXED) {
		uint8_t old[8] = {0};

		memcpy(old + 8 - width, editing->buf->p + place.at, width);
		if (word >= 0)
			v = (int64_t)((uint64_t)v + kw_rd64(old));   /* wraps round, as the field does */
	} else {
		width = place.span->type == KW_INT64 ? 8 : 4;
		if (word >= 0) {
			kt_obj_fail(obj, "value", KT_ETYPE, "must be a number here");
			return;
		}
	}
	if (!fits(v, width) && word < 0) {
		kt_obj_fail(obj, "value", KT_ERANGE, "%lld does not fit into %zu bytes", (long long)v, width);
		return;
	}
	n = put_coded(bytes, place.span->coding, width, v, place.span->type == KW_INT64);
	kw_splice(editing, obj, place.at, place.size, bytes, n);
}

void kw_edit_set_length(struct kw_editing *editing, struct kt_obj *obj)
{
	enum { MAX, ACTUAL, REMAINING };
	static const char *const words[] = {"max", "actual", "remaining", NULL};
	struct kw_place place;
	const struct kw_span *span;
	uint8_t bytes[VARINT_LONGEST];
	size_t width, n;
	int64_t v;
	int word;

	if (!kw_place_at(editing, obj, 0, &place) || !read_value(obj, words, &word, &v))
		return;
	span = place.span;
	if (!has_length(span)) {
		kt_obj_fail(obj, "at", KT_ETYPE, "has no length");
		return;
	}
	width = span->len_end - span->len_at;
	if (word == MAX)
		v += span->coding == KW_FIXED && width < 4 ? ((int64_t)1 << (8 * width - 1)) - 1 : INT32_MAX;
	else if (word == ACTUAL)
		v += (int64_t)(span->end - span->len_end);
	else if (word == REMAINING)
		v += (int64_t)(editing->buf->n - span->len_end);
	if (!fits(v, span->coding == KW_FIXED ? width : 4)) {
		kt_obj_fail(obj, "value", KT_ERANGE, "%lld does not fit into the length", (long long)v);
		return;
	}
	n = put_coded(bytes, span->coding, width, v, false);
	kw_splice(editing, obj, span->len_at, width, bytes, n);
}

void kw_edit_overlong(struct kw_editing *editing, struct kt_obj *obj)
{
	int size = KW_VARINT_MAX;
	struct kw_place place;
	const uint8_t *p;
	size_t at, n;
	uint64_t v;
	uint8_t bytes[VARINT_LONGEST];

	if (!kw_place_read(editing, obj, "at", kt_obj_any(obj, "at"), 0, &place))
		return;
	kt_obj_int(obj, "size", 2, VARINT_LONGEST, &size);
	if (!place.span || place.span->coding == KW_FIXED) {
		kt_obj_fail(obj, "at", KT_ETYPE, "has no varint");
		return;
	}
	at = place.span->len_at == place.span->len_end ? place.at : place.span->len_at;
	n = (at == place.at && place.span->len_at == place.span->len_end ? place.span->end : place.span->len_end) - at;
	p = editing->buf->p + at;
	if (kw_get_leb128(p, p + n, KW_VARLONG_MAX, &v) <= 0 || n >= (size_t)size) {
		kt_obj_fail(obj, "size", KT_ERANGE, "must be more than the %zu bytes that the varint has", n);
		return;
	}
	kw_splice(editing, obj, at, n, bytes, put_leb128(bytes, v, (size_t)size));
}

/* ---- bytes ---- */

void kw_edit_replace(struct kw_editing *editing, struct kt_obj *obj)
{
	struct kw_place place;
	struct kw_bytes with;

	if (kw_edit_hex(editing, obj, &with) && kw_place_at(editing, obj, (size_t)with.n, &place))
		kw_splice(editing, obj, place.at, place.size, with.p, (size_t)with.n);
}

void kw_edit_insert(struct kw_editing *editing, struct kt_obj *obj)
{
	struct kw_place place;
	struct kw_bytes with;
	int plus = 0;

	if (!kw_edit_hex(editing, obj, &with) || !kw_place_read(editing, obj, "at", kt_obj_any(obj, "at"), 0, &place))
		return;
	kt_obj_int(obj, "plus", 0, INT_MAX, &plus);
	if ((size_t)plus > editing->buf->n - place.at)
		kt_obj_fail(obj, "plus", KT_ERANGE, "goes beyond the end");
	else
		kw_splice(editing, obj, place.at + (size_t)plus, 0, with.p, (size_t)with.n);
}

void kw_edit_append(struct kw_editing *editing, struct kt_obj *obj)
{
	struct kw_place place = {editing->buf->n, 0, NULL};
	json_t *at = kt_obj_any(obj, "at");
	struct kw_bytes with;

	if (kw_edit_hex(editing, obj, &with) && (!at || kw_place_read(editing, obj, "at", at, 0, &place)))
		kw_splice(editing, obj, place.at + place.size, 0, with.p, (size_t)with.n);
}

void kw_edit_omit(struct kw_editing *editing, struct kt_obj *obj)
{
	struct kw_place place;

	if (kw_place_at(editing, obj, 1, &place))
		kw_splice(editing, obj, place.at, place.size, NULL, 0);
}

void kw_edit_duplicate(struct kw_editing *editing, struct kt_obj *obj)
{
	struct kw_place place;

	if (kw_place_at(editing, obj, 1, &place))
		kw_splice(editing, obj, place.at + place.size, 0, editing->buf->p + place.at, place.size);
}

void kw_edit_swap(struct kw_editing *editing, struct kt_obj *obj)
{
	struct kw_place a, b;
	struct kw_buf both = {0};

	if (!kw_place_read(editing, obj, "at", kt_obj_any(obj, "at"), 1, &a) ||
	    !kw_place_read(editing, obj, "with", kt_obj_any(obj, "with"), 1, &b))
		return;
	if (b.at < a.at) {
		struct kw_place first = b;

		b = a;
		a = first;
	}
	if (a.at + a.size > b.at || b.at + b.size > editing->buf->n) {
		kt_obj_fail(obj, NULL, KT_ERANGE, "the fields must lie beside each other");
		return;
	}
	kw_put(&both, editing->buf->p + b.at, b.size);
	kw_put(&both, editing->buf->p + a.at, a.size);
	if (both.failed)
		kt_obj_fail(obj, NULL, KT_ENOMEM, "out of memory");
	else if (kw_splice(editing, obj, b.at, b.size, both.p + b.size, a.size))
		kw_splice(editing, obj, a.at, a.size, both.p, b.size);
	kw_buf_fini(&both);
}

void kw_edit_truncate(struct kw_editing *editing, struct kt_obj *obj)
{
	struct kw_place place;
	int plus = 0;

	if (!kw_place_read(editing, obj, "at", kt_obj_any(obj, "at"), 0, &place))
		return;
	kt_obj_int(obj, "plus", 0, INT_MAX, &plus);
	if ((size_t)plus > editing->buf->n - place.at)
		kt_obj_fail(obj, "plus", KT_ERANGE, "goes beyond the end");
	else
		kw_splice(editing, obj, place.at + (size_t)plus, editing->buf->n - place.at - (size_t)plus, NULL, 0);
}

void kw_edit_flip_bit(struct kw_editing *editing, struct kt_obj *obj)
{
	struct kw_place place;
	int bit = 0, plus = 0;
	size_t at;

	if (!kw_place_read(editing, obj, "at", kt_obj_any(obj, "at"), 1, &place))
		return;
	kt_obj_int(obj, "plus", 0, INT_MAX, &plus);
	kt_obj_int(obj, "bit", 0, INT_MAX, &bit);
	at = place.at + (size_t)plus + (size_t)bit / 8;
	if (at >= editing->buf->n || (place.span && at >= place.at + place.size))
		kt_obj_fail(obj, "bit", KT_ERANGE, "is not in the field");
	else if (!obj->err->code)
		editing->buf->p[at] ^= (uint8_t)(1 << bit % 8);
}

/* ---- fields ---- */

/* Bytes that were put in at `at`, the end of a field, belong to it and to what it is the end of. */
static void grow(struct kw_map *map, size_t start, size_t at, size_t n)
{
	for (size_t i = 0; i < map->n; i++)
		if (map->v[i].end == at && map->v[i].start <= start)
			map->v[i].end += n;
}

void kw_edit_insert_tag(struct kw_editing *editing, struct kt_obj *obj)
{
	const char *path = "";
	struct kw_bytes data;
	struct kw_span *tags;
	uint8_t bytes[2 * VARINT_LONGEST];
	uint32_t count = 0;
	int64_t tag = 0;
	size_t n, at;

	if (!kw_edit_hex(editing, obj, &data))
		return;
	kt_obj_str(obj, "at", &path);
	kt_obj_int64(obj, "tag", 0, UINT32_MAX, &tag);
	path = kw_sprintf(editing->map.arena, "%s%s_taggedFields", path,
			  *path && path[strlen(path) - 1] != '.' ? "." : "");
	tags = path ? kw_map_find(&editing->map, path) : NULL;
	if (!tags) {
		kt_obj_fail(obj, *path == '_' ? NULL : "at", KT_EUNKNOWN, "has no tagged fields");
		return;
	}
	kw_get_uvarint(editing->buf->p + tags->len_at, editing->buf->p + tags->len_end, &count);
	n = put_leb128(bytes, (uint64_t)tag, 0);
	n += put_leb128(bytes + n, (uint64_t)data.n, 0);
	at = tags->end;
	if (kw_splice(editing, obj, at, 0, data.p, (size_t)data.n) && kw_splice(editing, obj, at, 0, bytes, n)) {
		grow(&editing->map, tags->start, at, n + (size_t)data.n);
		kw_splice(editing, obj, tags->len_at, tags->len_end - tags->len_at, bytes,
			  put_leb128(bytes, count + 1u, 0));
	}
}

/* Gives one string another value, in the form that its length has. */
static bool rewrite(struct kw_editing *editing, struct kt_obj *obj, const struct kw_span *span, const char *to)
{
	size_t n = strlen(to), at = span->len_end, old = span->end - span->len_end;
	size_t len_at = span->len_at, width = span->len_end - len_at, size;
	uint8_t bytes[VARINT_LONGEST];

	size = put_coded(bytes, span->coding, width, (int64_t)n, false);
	return kw_splice(editing, obj, at, old, to, n) && kw_splice(editing, obj, len_at, width, bytes, size);
}

void kw_edit_rename(struct kw_editing *editing, struct kt_obj *obj)
{
	const char *from = NULL, *to = NULL;
	struct kw_map *map = &editing->map;
	bool found = false;

	if (!kt_obj_str(obj, "from", &from) || !kt_obj_str(obj, "to", &to))
		return;
	for (size_t i = 0; i < map->n && !obj->err->code; i++) {
		const struct kw_span *span = &map->v[i];

		if (span->type != KW_STRING || span->array || !has_length(span) ||
		    span->end - span->len_end != strlen(from) ||
		    memcmp(editing->buf->p + span->len_end, from, strlen(from)) != 0)
			continue;
		found = true;
		rewrite(editing, obj, span, to);
	}
	if (!found)
		kt_obj_fail(obj, "from", KT_EUNKNOWN, "no string \"%s\"", from);
}

/* ---- batches ---- */

/* The batch at "at", or all the bytes; it must have its first `need` bytes. */
static bool find_batch(struct kw_editing *editing, struct kt_obj *obj, size_t need, uint8_t **p, size_t *size)
{
	struct kw_place place = {0, editing->buf->n, NULL};
	json_t *at = kt_obj_any(obj, "at");

	if (obj->err->code)
		return false;
	if (!at && editing->frame) {
		kt_obj_fail(obj, NULL, KT_ETYPE, "needs \"at\": the batch");
		return false;
	}
	if (at && !kw_place_read(editing, obj, "at", at, 0, &place))
		return false;
	*p = editing->buf->p + place.at;
	*size = place.size;
	if (at && !place.span && editing->buf->n - place.at >= KW_B_LOG_OVERHEAD)
		*size = KW_B_LOG_OVERHEAD + (size_t)kw_rd32(*p + KW_B_LENGTH);
	if (*size >= need && *size <= editing->buf->n - place.at)
		return true;
	kt_obj_fail(obj, at ? "at" : NULL, KT_ERANGE, "is no batch");
	return false;
}

void kw_edit_codec(struct kw_editing *editing, struct kt_obj *obj)
{
	const char *codecs[KW_ZSTD + 2] = {NULL};
	uint8_t *p;
	size_t size;
	int codec = 0;

	for (int i = KW_NONE; i <= KW_ZSTD; i++)
		codecs[i] = kw_codec_name(i);
	if (json_is_integer(json_object_get(obj->json, "value")))
		kt_obj_int(obj, "value", 0, KW_A_CODEC, &codec);
	else
		kt_obj_enum(obj, "value", codecs, &codec);
	if (find_batch(editing, obj, KW_B_LAST_OFFSET_DELTA, &p, &size))
		p[KW_B_ATTRIBUTES + 1] = (uint8_t)((p[KW_B_ATTRIBUTES + 1] & ~KW_A_CODEC) | codec);
}

void kw_edit_crc(struct kw_editing *editing, struct kt_obj *obj)
{
	const char *text = json_string_value(json_object_get(obj->json, "value"));
	bool fix = text && strcmp(text, "fix") == 0;
	int64_t crc = 0;
	uint8_t *p;
	size_t size;

	if (fix)
		kt_obj_any(obj, "value");
	else if (text)
		kt_obj_fail(obj, "value", KT_ESYNTAX, "must be a number or \"fix\"");
	else
		kt_obj_int64(obj, "value", INT32_MIN, UINT32_MAX, &crc);
	if (find_batch(editing, obj, KW_B_ATTRIBUTES, &p, &size))
		kw_wr32(p + KW_B_CRC, fix ? kw_batch_crc(p, size) : (uint32_t)crc);
}

/* ---- frames ---- */

static bool is_frame(struct kw_editing *editing, struct kt_obj *obj)
{
	if (!editing->frame)
		kt_obj_fail(obj, "edit", KT_ETYPE, "is for frames only");
	return obj->err->code == 0;
}

void kw_edit_size(struct kw_editing *editing, struct kt_obj *obj)
{
	enum { ACTUAL, STALE };
	static const char *const words[] = {"actual", "stale", NULL};
	int64_t v;
	int word;

	if (!is_frame(editing, obj) || !read_value(obj, words, &word, &v))
		return;
	if (v < INT32_MIN || v > UINT32_MAX) {
		kt_obj_fail(obj, "value", KT_ERANGE, "does not fit into 4 bytes");
		return;
	}
	editing->size_stale = word == STALE;
	editing->size_given = word != STALE;
	editing->size_relative = word == ACTUAL;
	editing->size = v;
}

/* Version 0 ends behind the correlation id, 1 behind the client id, 2 has tagged fields behind that. */
void kw_edit_header_version(struct kw_editing *editing, struct kt_obj *obj)
{
	static const uint8_t no_client[] = {0xff, 0xff}, no_tags[] = {0};
	struct kw_span *client, *tags, *id;
	int version = 0;
	size_t end;

	if (!is_frame(editing, obj) || !kt_obj_int(obj, "value", 0, 2, &version))
		return;
	id = kw_map_find(&editing->map, "header.correlationId");
	client = kw_map_find(&editing->map, "header.clientId");
	tags = kw_map_find(&editing->map, "header._taggedFields");
	if (!id || id->end == id->start) {
		kt_obj_fail(obj, NULL, KT_ETYPE, "the frame has no header that can be read");
		return;
	}
	if (version < 2 && tags)
		kw_splice(editing, obj, tags->start, tags->end - tags->start, NULL, 0);
	end = client ? client->end : id->end;
	if (version == 0 && client)
		kw_splice(editing, obj, client->start, client->end - client->start, NULL, 0);
	if (version > 0 && !client && kw_splice(editing, obj, end, 0, no_client, sizeof no_client))
		end += sizeof no_client;
	if (version == 2 && !tags && !obj->err->code)
		kw_splice(editing, obj, end, 0, no_tags, sizeof no_tags);
}

void kw_edit_split(struct kw_editing *editing, struct kt_obj *obj)
{
	struct kw_place place;
	struct kt_arr arr;
	json_t *at;

	if (!is_frame(editing, obj) || !kt_obj_array(obj, "at", &arr))
		return;
	while ((at = kt_arr_any(&arr))) {
		if (editing->ncuts == KW_EDIT_CUTS) {
			kt_obj_fail(obj, "at", KT_ELIMIT, "at most %d places", KW_EDIT_CUTS);
			return;
		}
		if (!kw_place_read(editing, obj, "at", at, 0, &place))
			return;
		editing->cuts[editing->ncuts++] = place.at;
	}
}

void kw_edit_half_close(struct kw_editing *editing, struct kt_obj *obj)
{
	if (is_frame(editing, obj))
		editing->half_close = true;
}
