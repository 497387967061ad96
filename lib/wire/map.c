#include "lib/wire/map.h"

#include <limits.h>
#include <stdio.h>

#include "kw_messages.h"
#include "lib/wire/batch.h"
#include "lib/wire/varint.h"

enum { PATH_SIZE = 300 };

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

/* ---- records ---- */

/* Reads on in a records area; after the first failure nothing more is added. */
struct area {
	struct kw_map *map;
	const uint8_t *p, *end;
	bool ok, memory;
};

/* Adds base.name, or name alone when base is "". */
static struct kw_span *add(struct area *area, const char *base, const char *name, enum kw_type type, enum kw_coding coding)
{
	char path[PATH_SIZE];
	struct kw_span *span;

	if (!area->ok)
		return NULL;
	snprintf(path, sizeof path, "%s%s%s", base, *base && *name ? "." : "", name);
	span = kw_map_add(area->map, path, area->p);
	if (!span) {
		area->ok = area->memory = false;
		return NULL;
	}
	span->type = (uint8_t)type;
	span->coding = (uint8_t)coding;
	return span;
}

static void close_span(struct area *area, struct kw_span *span)
{
	if (span)
		span->end = (size_t)(area->p - area->map->base);
}

/* A zigzag number; 0 after a failure. */
static int64_t number(struct area *area, bool wide)
{
	int64_t v = 0;
	int32_t narrow = 0;
	int used = 0;

	if (area->ok)
		used = wide ? kw_get_varlong(area->p, area->end, &v) : kw_get_varint(area->p, area->end, &narrow);
	area->ok = used > 0;
	if (!area->ok)
		return 0;
	area->p += used;
	return wide ? v : narrow;
}

static void number_field(struct area *area, const char *base, const char *name, enum kw_type type)
{
	struct kw_span *span = add(area, base, name, type, KW_ZIGZAG);

	number(area, type == KW_INT64);
	close_span(area, span);
}

/* A length, noted as that of the span. */
static int64_t length(struct area *area, struct kw_span *span)
{
	int64_t n = number(area, false);

	if (span)
		span->len_end = (size_t)(area->p - area->map->base);
	return n;
}

static void run_field(struct area *area, const char *base, const char *name, enum kw_type type)
{
	struct kw_span *span = add(area, base, name, type, KW_ZIGZAG);
	int64_t n = length(area, span);

	if (n > area->end - area->p)
		area->ok = false;
	else if (n > 0)
		area->p += n;
	close_span(area, span);
}

static void headers_field(struct area *area, const char *base)
{
	struct kw_map *map = area->map;
	struct kw_span *span = add(area, base, "headers", KW_STRUCT, KW_ZIGZAG);
	size_t at = map->n - 1;
	char path[PATH_SIZE];
	int64_t n;

	if (!span)
		return;
	span->array = true;
	n = length(area, span);
	for (int64_t i = 0; i < n && area->ok; i++) {
		size_t one;

		snprintf(path, sizeof path, "%.250s.headers[%lld]", base, (long long)i);
		if (!add(area, path, "", KW_STRUCT, KW_FIXED))
			break;
		one = map->n - 1;
		run_field(area, path, "key", KW_STRING);
		run_field(area, path, "value", KW_BYTES);
		close_span(area, &map->v[one]);
	}
	close_span(area, &map->v[at]);
}

static void record(struct area *area, const char *path)
{
	struct kw_map *map = area->map;
	struct kw_span *span = add(area, path, "", KW_STRUCT, KW_ZIGZAG), *attributes;
	size_t at = map->n - 1;

	if (!span)
		return;
	length(area, span);
	attributes = add(area, path, "attributes", KW_INT8, KW_FIXED);
	if (area->p == area->end)
		area->ok = false;
	if (area->ok)
		area->p++;
	close_span(area, attributes);
	number_field(area, path, "timestampDelta", KW_INT64);
	number_field(area, path, "offsetDelta", KW_INT32);
	run_field(area, path, "key", KW_BYTES);
	run_field(area, path, "value", KW_BYTES);
	headers_field(area, path);
	close_span(area, &map->v[at]);
}

bool kw_map_records(struct kw_map *map, const char *path, const uint8_t *p, size_t n, int32_t most)
{
	struct area area = {map, p, p + n, true, true};
	char one[PATH_SIZE];

	for (int32_t i = 0; i < most && area.ok && area.p < area.end; i++) {
		snprintf(one, sizeof one, "%.280s[%d]", path, (int)i);
		record(&area, one);
	}
	return area.memory;
}

/* ---- batches ---- */

static const struct {
	const char *name;
	size_t at, end;
	enum kw_type type;
} header[] = {
	/* field, first byte, byte behind it, type */
	{"baseOffset", KW_B_BASE_OFFSET, KW_B_LENGTH, KW_INT64},
	{"length", KW_B_LENGTH, KW_B_LEADER_EPOCH, KW_INT32},
	{"partitionLeaderEpoch", KW_B_LEADER_EPOCH, KW_B_MAGIC, KW_INT32},
	{"magic", KW_B_MAGIC, KW_B_CRC, KW_INT8},
	{"crc", KW_B_CRC, KW_B_ATTRIBUTES, KW_UINT32},
	{"attributes", KW_B_ATTRIBUTES, KW_B_LAST_OFFSET_DELTA, KW_INT16},
	{"lastOffsetDelta", KW_B_LAST_OFFSET_DELTA, KW_B_BASE_TIMESTAMP, KW_INT32},
	{"baseTimestamp", KW_B_BASE_TIMESTAMP, KW_B_MAX_TIMESTAMP, KW_INT64},
	{"maxTimestamp", KW_B_MAX_TIMESTAMP, KW_B_PRODUCER_ID, KW_INT64},
	{"producerId", KW_B_PRODUCER_ID, KW_B_PRODUCER_EPOCH, KW_INT64},
	{"producerEpoch", KW_B_PRODUCER_EPOCH, KW_B_BASE_SEQUENCE, KW_INT16},
	{"baseSequence", KW_B_BASE_SEQUENCE, KW_B_COUNT, KW_INT32},
	{"count", KW_B_COUNT, KW_B_RECORDS, KW_INT32},
};

/* The bytes of the batch at p, at most n. */
static size_t batch_size(const uint8_t *p, size_t n)
{
	int64_t size = n >= KW_B_LOG_OVERHEAD ? (int64_t)(int32_t)kw_rd32(p + KW_B_LENGTH) + KW_B_LOG_OVERHEAD : (int64_t)n;

	return size < KW_B_LOG_OVERHEAD || (uint64_t)size > n ? n : (size_t)size;
}

bool kw_map_batch(struct kw_map *map, const char *path, const uint8_t *p, size_t n)
{
	size_t size = batch_size(p, n);
	struct area area = {map, p, p + size, true, true};
	struct kw_span *span = add(&area, path, "", KW_STRUCT, KW_FIXED);
	char records[PATH_SIZE];

	if (!span)
		return false;
	span->end += size;
	if (size >= KW_B_LOG_OVERHEAD) {
		span->len_at += KW_B_LENGTH;
		span->len_end += KW_B_LEADER_EPOCH;
	}
	for (size_t i = 0; i < sizeof header / sizeof *header && header[i].end <= size; i++) {
		area.p = p + header[i].at;
		span = add(&area, path, header[i].name, header[i].type, KW_FIXED);
		area.p = p + header[i].end;
		close_span(&area, span);
	}
	if (size < KW_B_RECORDS)
		return area.memory;
	span = add(&area, path, "records", KW_BYTES, KW_FIXED);
	area.p = area.end;
	close_span(&area, span);
	if (!area.memory || kw_rd16(p + KW_B_ATTRIBUTES) & KW_A_CODEC)
		return area.memory;
	snprintf(records, sizeof records, "%.280s%srecords", path, *path ? "." : "");
	return kw_map_records(map, records, p + KW_B_RECORDS, size - KW_B_RECORDS, INT32_MAX);
}

int kw_map_batches(struct kw_map *map, const char *path, const uint8_t *p, size_t n)
{
	const uint8_t *end = p + n;
	char one[PATH_SIZE];

	for (int i = 0; end - p > KW_B_MAGIC && p[KW_B_MAGIC] == 2; i++) {
		snprintf(one, sizeof one, "%.280s[%d]", path, i);
		if (!kw_map_batch(map, one, p, (size_t)(end - p)))
			return KT_ENOMEM;
		p += batch_size(p, (size_t)(end - p));
	}
	return 0;
}

/* ---- requests ---- */

/* The batches of all records fields that are in the map so far. */
static int map_record_sets(struct kw_map *map)
{
	size_t n = map->n;

	for (size_t i = 0; i < n; i++) {
		const struct kw_span span = map->v[i];

		if (span.type == KW_RECORDS && span.end > span.len_end &&
		    kw_map_batches(map, span.path, map->base + span.len_end, span.end - span.len_end))
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
