#include "lib/wire/tests/length_sites.h"

#include <assert.h>
#include <stdlib.h>

#include "lib/wire/map.h"
#include "lib/wire/plan.h"
#include "lib/wire/varint.h"

struct finder {
	struct length_sites *sites;
	const struct kw_msg *msg;
	int version;
	const struct kw_map *map;
	const struct kw_buf *buf;
	struct kw_arena *arena;
};

static struct length_site *add(struct finder *find)
{
	struct length_sites *sites = find->sites;

	if (sites->n == sites->cap) {
		struct length_site *v;

		sites->cap = sites->cap ? sites->cap * 2 : 64;
		v = kw_alloc(find->arena, sites->cap * sizeof *v);
		assert(v);
		if (sites->n)
			memcpy(v, sites->v, sites->n * sizeof *v);
		sites->v = v;
	}
	return &sites->v[sites->n++];
}

/* ---- the lengths of fields, which the map shows ---- */

/* "topicData[0].name": the element of an array is never nullable, the array may be. */
static bool is_nullable(const struct finder *find, const char *path)
{
	const struct kw_struct *st = find->msg->root;
	const struct kw_field *field = NULL;

	while (*path) {
		size_t n = strcspn(path, ".[");

		field = NULL;
		for (uint32_t i = 0; i < st->nfields && !field; i++)
			if (strlen(st->fields[i].name) == n && memcmp(st->fields[i].name, path, n) == 0)
				field = &st->fields[i];
		assert(field);
		path += n;
		if (*path == '[') {
			path += strcspn(path, "]") + 1;
			if (!*path)
				return false;
		}
		path += *path == '.';
		st = field->sub;
	}
	return kw_in(field->nullable, find->version);
}

static bool is_in_tagged(const struct finder *find, size_t at)
{
	for (size_t i = 0; i < find->map->n; i++)
		if (find->map->v[i].tagged && find->map->v[i].start <= at && at < find->map->v[i].end)
			return true;
	return false;
}

static void add_span(struct finder *find, const struct kw_span *span)
{
	static const enum length_kind kinds[] = {
		[KW_STRING] = LENGTH_STRING, [KW_BYTES] = LENGTH_BYTES, [KW_RECORDS] = LENGTH_RECORDS,
		[KW_STRUCT] = LENGTH_PRESENCE,
	};
	struct length_site *site;
	bool varint;

	if (span->len_at == span->len_end)
		return;
	site = add(find);
	site->kind = span->array ? LENGTH_ARRAY : kinds[span->type];
	site->path = span->path;
	site->at = span->len_at;
	site->end = span->len_end;
	site->content_end = span->end;
	varint = span->coding != KW_FIXED;
	site->width = varint ? 0 : (int)(span->len_end - span->len_at);
	site->bias = varint && site->kind != LENGTH_PRESENCE;
	site->nullable = is_nullable(find, span->path);
	site->tagged = is_in_tagged(find, site->at);
}

/* ---- the numbers in tagged fields, of which it shows one span for each struct ---- */

/* The path of the struct whose tagged fields the span is, or NULL. */
static const char *struct_of_tags(const struct finder *find, const struct kw_span *span)
{
	static const char name[] = "_taggedFields";
	size_t n = strlen(span->path), len = sizeof name - 1;

	if (n < len || strcmp(span->path + n - len, name) != 0)
		return NULL;
	n -= len;
	return kw_strndup(find->arena, span->path, n ? n - 1 : 0);   /* without the dot between */
}

static size_t varint_end(const struct finder *find, size_t at, uint32_t *v)
{
	int used = kw_get_uvarint(find->buf->p + at, find->buf->p + find->buf->n, v);

	assert(used > 0);
	return at + (size_t)used;
}

static void add_number(struct finder *find, enum length_kind kind, const char *path, size_t at, size_t end,
		       size_t content_end)
{
	*add(find) = (struct length_site){.kind = kind, .path = path, .at = at, .end = end, .content_end = content_end,
					  .tagged = is_in_tagged(find, at)};
}

/* Does a tagged field of the schema begin there, in the struct that ends at `end`? */
static bool is_known(const struct finder *find, size_t at, size_t end)
{
	for (size_t i = 0; i < find->map->n; i++)
		if (find->map->v[i].tagged && find->map->v[i].start == at && find->map->v[i].end <= end)
			return true;
	return false;
}

static void add_tags(struct finder *find, const char *path, const struct kw_span *span)
{
	uint32_t count, tag, size;
	size_t at = span->start, struct_end = span->end, end = varint_end(find, at, &count);

	add_number(find, LENGTH_TAG_COUNT, path, at, end, struct_end);
	for (at = end; count > 0; count--) {
		size_t size_at = varint_end(find, at, &tag);

		end = varint_end(find, size_at, &size);
		add_number(find, is_known(find, end, struct_end) ? LENGTH_KNOWN_SIZE : LENGTH_TAG_SIZE, path, size_at,
			   end, end + size);
		at = end + size;
	}
	assert(at == struct_end);
}

void length_sites_find(struct length_sites *sites, const struct kw_msg *msg, int version, const void *in,
		       struct kw_buf *buf, struct kw_arena *arena)
{
	struct kw_map map = {.arena = arena};
	struct finder find = {sites, msg, version, &map, buf, arena};
	struct kt_err err = {0};
	int code = kw_encode(msg, version, in, buf, &err);
	void *out;

	if (!code) {
		map.base = buf->p;
		code = kw_decode_map(msg, version, buf->p, buf->n, arena, &out, NULL, &map, &err);
	}

	assert(code == 0);
	(void)code;
	*sites = (struct length_sites){0};
	for (size_t i = 0; i < map.n; i++) {
		const char *path = struct_of_tags(&find, &map.v[i]);

		if (path)
			add_tags(&find, path, &map.v[i]);
		else
			add_span(&find, &map.v[i]);
	}
}

/* ---- lies ---- */

uint8_t *length_site_edit(const struct length_site *site, const uint8_t *p, size_t n, int64_t value, bool drop,
			  size_t *out_n, size_t *prefix_end)
{
	size_t from = drop ? site->content_end : site->end;
	struct kw_buf buf = {0};
	uint8_t *exact;

	kw_put(&buf, p, site->at);
	switch (site->width) {
	case 1: kw_put_u8(&buf, (uint8_t)value); break;
	case 2: kw_put_u16(&buf, (uint16_t)value); break;
	case 4: kw_put_u32(&buf, (uint32_t)value); break;
	default: kw_put_uvarint(&buf, (uint32_t)(value + site->bias)); break;
	}
	*prefix_end = buf.n;
	kw_put(&buf, p + from, n - from);
	*out_n = buf.n;
	exact = malloc(buf.n);
	assert(exact && !buf.failed);
	memcpy(exact, buf.p, buf.n);
	kw_buf_fini(&buf);
	return exact;
}
