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
	path = map->prefix ? kw_sprintf(map->arena, "%s%s", map->prefix, path)
			   : kw_strndup(map->arena, path, strlen(path));
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

/* ---- frames ---- */

bool kw_map_record_fields(struct kw_map *map)
{
	size_t n = map->n;

	for (size_t i = 0; i < n; i++) {
		const struct kw_span span = map->v[i];

		if (span.type == KW_RECORDS && span.end > span.len_end &&
		    !kw_map_set(map, span.path, map->base + span.len_end, span.end - span.len_end))
			return false;
	}
	return true;
}

/* Header, then body; msg NULL when no such message is known. */
static int map_frame(struct kw_map *map, const struct kw_msg *header, int header_version, const struct kw_msg *msg,
		     int version, const struct kw_slice *frame, size_t *used, struct kt_err *err)
{
	size_t head = 0, body = 0;
	struct kt_err own = {0};
	void *decoded;
	int code;

	if (!err)
		err = &own;
	map->prefix = "header.";
	code = kw_decode_map(header, header_version, frame->p, frame->n, map->arena, &decoded, &head, map, err);
	map->prefix = NULL;
	if (code == 0 && !msg)
		code = kt_fail(err, KT_EVERSION, "there is no such API");
	if (code == 0) {
		code = kw_decode_map(msg, version, frame->p + head, frame->n - head, map->arena, &decoded, &body, map,
				     err);
		if (code)
			err->offset += head;
	}
	if (used)
		*used = head + body;
	return code;
}

int kw_map_request(struct kw_map *map, const uint8_t *p, size_t n, size_t *used, struct kt_err *err)
{
	const struct kw_msg *msg = n >= 4 ? kw_request((int16_t)kw_rd16(p)) : NULL;
	int version = n >= 4 ? (int16_t)kw_rd16(p + 2) : -1;

	return map_frame(map, &kw_msg_RequestHeader, msg ? kw_request_header_version(msg->key, version) : 1, msg,
			 version, &(struct kw_slice){p, n}, used, err);
}

int kw_map_response(struct kw_map *map, int api, int version, const uint8_t *p, size_t n, size_t *used,
		    struct kt_err *err)
{
	return map_frame(map, &kw_msg_ResponseHeader, kw_response_header_version(api, version), kw_response(api),
			 version, &(struct kw_slice){p, n}, used, err);
}
