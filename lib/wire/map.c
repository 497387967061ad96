#include "lib/wire/map.h"

#include "kw_messages.h"

struct kw_span *kw_map_add(struct kw_map *map, const char *path, const uint8_t *at)
{
	size_t place = (size_t)(at - map->base);
	struct kw_span *span;

	if (map->n == map->cap) {
		size_t cap = map->cap ? map->cap * 2 : 64;
		struct kw_span *v = kw_alloc(map->arena, cap * sizeof *v);

		if (!v)
			return NULL;
		if (map->n)
			memcpy(v, map->v, map->n * sizeof *v);
		map->v = v;
		map->cap = cap;
	}
	path = map->prefix ? kw_sprintf(map->arena, "%s%s", map->prefix, path) : kw_strndup(map->arena, path, strlen(path));
	if (!path)
		return NULL;
	span = &map->v[map->n++];
	*span = (struct kw_span){.path = path, .start = place, .end = place, .len_at = place, .len_end = place};
	return span;
}

struct kw_span *kw_map_find(const struct kw_map *map, const char *path)
{
	for (size_t i = 0; i < map->n; i++)
		if (strcmp(map->v[i].path, path) == 0)
			return &map->v[i];
	return NULL;
}

/* ---- requests ---- */

/* The batches of all records fields that are in the map so far. */
static int map_record_sets(struct kw_map *map)
{
	size_t n = map->n;

	for (size_t i = 0; i < n; i++) {
		const struct kw_span span = map->v[i];

		if (span.type == KW_RECORDS && span.end > span.len_end &&
		    !kw_map_set(map, span.path, map->base + span.len_end, span.end - span.len_end))
			return KT_ENOMEM;
	}
	return 0;
}

int kw_map_request(struct kw_map *map, const uint8_t *p, size_t n, size_t *used, struct kt_err *err)
{
	const struct kw_msg *msg = n >= 4 ? kw_request((int16_t)kw_rd16(p)) : NULL;
	int version = n >= 4 ? (int16_t)kw_rd16(p + 2) : -1, code;
	size_t head = 0, body = 0;
	struct kt_err own = {0};
	void *decoded;

	if (!err)
		err = &own;
	map->prefix = "header.";
	code = kw_decode_map(&kw_msg_RequestHeader, msg ? kw_request_header_version(msg->key, version) : 1, p, n, map->arena,
			     &decoded, &head, map, err);
	map->prefix = NULL;
	if (code == 0 && !msg)
		code = kt_fail(err, KT_EVERSION, "there is no API %d", (int)(int16_t)kw_rd16(p));
	if (code == 0) {
		code = kw_decode_map(msg, version, p + head, n - head, map->arena, &decoded, &body, map, err);
		if (code)
			err->offset += head;
	}
	if (used)
		*used = head + body;
	if (map_record_sets(map))
		code = kt_fail(err, KT_ENOMEM, "out of memory");
	return code;
}
