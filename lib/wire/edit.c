/* Edits: which there are, what their members mean, and frames. */
#include "lib/wire/edit.h"

#include <limits.h>
#include <stdlib.h>

#include "lib/text/base64.h"
#include "lib/text/near.h"
#include "lib/wire/edit_steps.h"

enum { SIZE_FIELD = 4, HEX_MAX = 128 << 20, WORD_MAX = 32 };

static const struct row {
	const char *name, *members;
	kw_edit_fn *apply;
	const char *help;
} rows[] = {
#define KW_EDIT(fn, name, members, help) {name, members, kw_edit_##fn, help},
#include "lib/wire/edits.def"
#undef KW_EDIT
};

enum { NROWS = sizeof rows / sizeof *rows };

bool kw_edit_row(size_t i, const char **name, const char **members, const char **help)
{
	if (i >= NROWS)
		return false;
	*name = rows[i].name;
	*members = rows[i].members;
	*help = rows[i].help;
	return true;
}

/* ---- one edit ---- */

/* The next word of a row's members, without brackets; false at the end. */
static bool next_member(const char **members, char word[WORD_MAX], bool *need)
{
	const char *p = *members + strspn(*members, " ");
	size_t n = strcspn(p, " ");

	*need = *p != '[';
	*members = p + n;
	if (!*need) {
		p++;
		n -= 2;
	}
	memcpy(word, p, n);
	word[n] = '\0';
	return n > 0;
}

static const struct row *find_row(struct kt_obj *obj)
{
	const char *names[NROWS + 1] = {NULL};
	int i = 0;

	for (int k = 0; k < NROWS; k++)
		names[k] = rows[k].name;
	kt_obj_need(obj, "edit", NULL);
	return kt_obj_enum(obj, "edit", names, &i) ? &rows[i] : NULL;
}

/* The row's needed members are there. */
static bool check_needed(struct kt_obj *obj, const struct row *row)
{
	const char *members = row->members;
	char word[WORD_MAX];
	bool need;

	while (next_member(&members, word, &need))
		if (need && !json_object_get(obj->json, word)) {
			kt_obj_fail(obj, NULL, KT_EUNKNOWN, "missing member \"%s\"", word);
			return false;
		}
	return true;
}

int kw_edit_apply(struct kw_editing *editing, struct kt_obj *obj)
{
	const struct row *row = find_row(obj);

	if (row && check_needed(obj, row))
		row->apply(editing, obj);
	return kt_obj_done(obj);
}

static void check_edit(struct kt_obj *obj)
{
	const struct row *row = find_row(obj);
	const char *members = row ? row->members : "";
	char words[8][WORD_MAX];
	bool need;

	for (size_t i = 0; i < 8 && next_member(&members, words[i], &need); i++)
		kt_obj_any(obj, words[i]);
	if (row && check_needed(obj, row))
		kt_obj_done(obj);
}

static void open_edits(struct kt_arr *arr, json_t *edits, struct kt_err *err)
{
	*arr = (struct kt_arr){.json = edits, .n = json_array_size(edits), .path = "edits", .err = err};
	if (!json_is_array(edits))
		kt_json_fail(NULL, arr->path, err, KT_ETYPE, "must be an array");
}

int kw_edits_check(json_t *edits, struct kt_err *err)
{
	struct kt_err own = {0};
	struct kt_arr arr;
	struct kt_obj obj;

	if (!err)
		err = &own;
	open_edits(&arr, edits, err);
	while (kt_arr_object(&arr, &obj))
		check_edit(&obj);
	return err->code;
}

/* ---- members ---- */

bool kw_edit_hex(struct kw_editing *editing, struct kt_obj *obj, struct kw_bytes *bytes)
{
	const char *text = NULL;
	uint8_t *p;
	size_t n;
	long size;

	if (!kt_obj_str(obj, "hex", &text))
		return false;
	n = strlen(text);
	p = n <= HEX_MAX ? kw_alloc(editing->map.arena, n / 2 + 1) : NULL;
	size = p ? kt_hex_decode(text, n, p) : 0;
	if (!p)
		kt_obj_fail(obj, "hex", KT_ELIMIT, "too long");
	else if (size < 0)
		kt_obj_fail(obj, "hex", KT_ESYNTAX, "must be an even number of hex digits");
	*bytes = (struct kw_bytes){p, (int32_t)size};
	return obj->err->code == 0;
}

static bool find_field(struct kw_editing *editing, struct kt_obj *obj, const char *member, const char *path,
		       struct kw_place *place)
{
	struct kw_span *span = kw_map_find(&editing->map, path);
	struct kt_near near;

	if (span) {
		*place = (struct kw_place){span->start, span->end - span->start, span};
		return true;
	}
	kt_near_init(&near, path);
	for (size_t i = 0; i < editing->map.n; i++)
		kt_near_offer(&near, editing->map.v[i].path);
	if (near.best)
		kt_obj_fail(obj, member, KT_EUNKNOWN, "no field \"%s\"; did you mean \"%s\"?", path, near.best);
	else
		kt_obj_fail(obj, member, KT_EUNKNOWN, "no field \"%s\"", path);
	return false;
}

bool kw_place_read(struct kw_editing *editing, struct kt_obj *obj, const char *member, json_t *json, size_t extra,
		   struct kw_place *place)
{
	size_t n = editing->buf->n;
	int64_t at = json_integer_value(json);

	if (obj->err->code)
		return false;
	if (json_is_string(json))
		return find_field(editing, obj, member, json_string_value(json), place);
	if (!json_is_integer(json)) {
		kt_obj_fail(obj, member, KT_ETYPE, "must be a field's path or an offset");
		return false;
	}
	if (at > (int64_t)n || at < -(int64_t)n) {
		kt_obj_fail(obj, member, KT_ERANGE, "byte %lld is not in the %zu bytes", (long long)at, n);
		return false;
	}
	*place = (struct kw_place){at < 0 ? n - (size_t)-at : (size_t)at, extra, NULL};
	return true;
}

bool kw_place_at(struct kw_editing *editing, struct kt_obj *obj, size_t extra, struct kw_place *place)
{
	int plus = 0, size = 0;

	if (!kw_place_read(editing, obj, "at", kt_obj_any(obj, "at"), extra, place))
		return false;
	kt_obj_int(obj, "plus", 0, INT_MAX, &plus);
	place->at += (size_t)plus;
	if (place->span)
		place->size -= (size_t)plus < place->size ? (size_t)plus : place->size;
	if (kt_obj_int(obj, "size", 0, INT_MAX, &size))
		place->size = (size_t)size;
	if (place->at > editing->buf->n || place->size > editing->buf->n - place->at)
		kt_obj_fail(obj, NULL, KT_ERANGE, "%zu bytes at %zu go beyond the end at %zu", place->size, place->at,
			    editing->buf->n);
	return obj->err->code == 0;
}

/* ---- splicing ---- */

/* Where a begin or an end goes when `n` bytes come in the place of `size` at `at`. Bytes put in between two fields
 * belong to neither. */
static size_t moved(size_t place, bool begin, size_t at, size_t size, size_t n)
{
	if (place < at || (place == at && (size > 0 || !begin)))
		return place;
	return place >= at + size ? place - size + n : at;
}

static void move_spans(struct kw_map *map, size_t at, size_t size, size_t n)
{
	for (size_t i = 0; i < map->n; i++) {
		struct kw_span *span = &map->v[i];

		span->start = moved(span->start, true, at, size, n);
		span->end = moved(span->end, false, at, size, n);
		span->len_at = moved(span->len_at, true, at, size, n);
		span->len_end = moved(span->len_end, false, at, size, n);
		if (span->end < span->start)
			span->end = span->start;
		if (span->len_end < span->len_at)
			span->len_end = span->len_at;
	}
}

bool kw_splice(struct kw_editing *editing, struct kt_obj *obj, size_t at, size_t size, const void *with, size_t n)
{
	struct kw_buf *buf = editing->buf;
	void *copy = kw_alloc(editing->map.arena, n);

	if (copy && n > 0)
		memcpy(copy, with, n);
	if (!copy || (n > size && !kw_buf_room(buf, n - size))) {
		int code = copy ? buf->failed : KT_ENOMEM;

		kt_obj_fail(obj, NULL, code, "%s", code == KT_ENOMEM ? "out of memory" : "too many bytes");
		return false;
	}
	memmove(buf->p + at + n, buf->p + at + size, buf->n - at - size);
	if (n > 0)
		memcpy(buf->p + at, copy, n);
	buf->n = buf->n - size + n;
	editing->map.base = buf->p;
	move_spans(&editing->map, at, size, n);
	return true;
}

/* ---- frames ---- */

static int by_size(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return (x > y) - (x < y);
}

/* Cuts rise and leave no empty piece. */
static void order_cuts(struct kw_editing *editing)
{
	size_t n = 0;

	qsort(editing->cuts, editing->ncuts, sizeof *editing->cuts, by_size);
	for (size_t i = 0; i < editing->ncuts; i++)
		if (editing->cuts[i] > (n ? editing->cuts[n - 1] : 0) && editing->cuts[i] < editing->buf->n)
			editing->cuts[n++] = editing->cuts[i];
	editing->ncuts = n;
}

static void write_size(struct kw_editing *editing)
{
	struct kw_buf *frame = editing->buf;
	int64_t size = (int64_t)frame->n - SIZE_FIELD;

	if (editing->size_stale || frame->n < SIZE_FIELD)
		return;
	if (editing->size_given)
		size = editing->size + (editing->size_relative ? size : 0);
	kw_wr32(frame->p, (uint32_t)size);
}

/* The size field is a field like others, so that it can be edited, too. */
static bool map_frame(struct kw_editing *editing)
{
	struct kw_buf *frame = editing->buf;
	struct kw_span *span;

	editing->map.base = frame->p;
	if (frame->n < SIZE_FIELD)
		return true;
	span = kw_map_add(&editing->map, "size", frame->p);
	if (!span)
		return false;
	span->end += SIZE_FIELD;
	span->type = KW_INT32;
	/* What cannot be read has no fields, and an edit that names one says so. */
	return kw_map_request(&editing->map, frame->p + SIZE_FIELD, frame->n - SIZE_FIELD, NULL, NULL) != KT_ENOMEM &&
	       kw_map_record_fields(&editing->map);
}

int kw_edit_frame(json_t *edits, struct kw_buf *frame, struct kw_editing *result, struct kt_err *err)
{
	struct kw_arena arena;
	struct kt_err own = {0};
	struct kt_arr arr;
	struct kt_obj obj;

	if (!err)
		err = &own;
	*result = (struct kw_editing){.buf = frame, .frame = true, .map.arena = &arena};
	kw_arena_init(&arena, 0);
	open_edits(&arr, edits, err);
	if (!map_frame(result))
		kt_fail(err, KT_ENOMEM, "out of memory");
	while (kt_arr_object(&arr, &obj))
		kw_edit_apply(result, &obj);
	if (!err->code) {
		write_size(result);
		order_cuts(result);
	}
	kw_arena_fini(&arena);
	result->map = (struct kw_map){0};
	return err->code;
}
