/* The places of fields in record sets: batches and their records, messages of magic 0 and 1. */
#include <limits.h>
#include <stdio.h>

#include "lib/wire/batch.h"
#include "lib/wire/legacy.h"
#include "lib/wire/map.h"
#include "lib/wire/varint.h"

enum { PATH_SIZE = 300 };

/* ---- records ---- */

/* Reads on in a records area; after the first failure nothing more is added. */
struct area {
	struct kw_map *map;
	const uint8_t *p, *end;
	bool ok, memory;
};

/* Adds base.name, or name alone when base is "". */
static struct kw_span *add(struct area *area, const char *base, const char *name, enum kw_type type,
			   enum kw_coding coding)
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
	struct area area = {map, p, n ? p + n : p, true, true};   /* p may be NULL then */
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
	int64_t size = n >= KW_B_LOG_OVERHEAD ? (int64_t)(int32_t)kw_rd32(p + KW_B_LENGTH) + KW_B_LOG_OVERHEAD
					      : (int64_t)n;

	return size < KW_B_LOG_OVERHEAD || (uint64_t)size > n ? n : (size_t)size;
}

bool kw_map_batch(struct kw_map *map, const char *path, const uint8_t *p, size_t n)
{
	size_t size = batch_size(p, n);
	struct area area = {map, p, size ? p + size : p, true, true};
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

/* ---- messages of magic 0 and 1 ---- */

static void fixed_field(struct area *area, const char *base, const char *name, enum kw_type type, size_t size)
{
	struct kw_span *span = add(area, base, name, type, KW_FIXED);

	if ((size_t)(area->end - area->p) < size)
		area->ok = false;
	else
		area->p += size;
	close_span(area, span);
}

/* A length of four bytes and that many more. */
static void long_field(struct area *area, const char *base, const char *name)
{
	struct kw_span *span = add(area, base, name, KW_BYTES, KW_FIXED);
	int32_t n = area->end - area->p >= 4 ? (int32_t)kw_rd32(area->p) : INT32_MAX;

	if (!span || area->end - area->p < 4) {
		area->ok = false;
		return;
	}
	area->p += 4;
	span->len_end += 4;
	if (n > area->end - area->p)
		area->ok = false;
	else if (n > 0)
		area->p += n;
	close_span(area, span);
}

static bool map_message(struct kw_map *map, const char *path, const uint8_t *p, size_t n)
{
	size_t size = batch_size(p, n);
	struct area area = {map, p, p + size, true, true};
	struct kw_span *span = add(&area, path, "", KW_STRUCT, KW_FIXED);

	if (!span)
		return false;
	span->end += size;
	span->len_at += KW_L_LENGTH;
	span->len_end += KW_L_CRC;
	fixed_field(&area, path, "offset", KW_INT64, 8);
	fixed_field(&area, path, "length", KW_INT32, 4);
	fixed_field(&area, path, "crc", KW_UINT32, 4);
	fixed_field(&area, path, "magic", KW_INT8, 1);
	fixed_field(&area, path, "attributes", KW_INT8, 1);
	if (p[KW_L_MAGIC] == 1)
		fixed_field(&area, path, "timestamp", KW_INT64, 8);
	long_field(&area, path, "key");
	long_field(&area, path, "value");
	return area.memory;
}

bool kw_map_set(struct kw_map *map, const char *path, const uint8_t *p, size_t n)
{
	const uint8_t *end = n ? p + n : p;
	char one[PATH_SIZE];

	for (int i = 0; end - p > KW_E_MAGIC && p[KW_E_MAGIC] <= 2; i++) {
		size_t left = (size_t)(end - p);
		bool ok;

		snprintf(one, sizeof one, "%.280s[%d]", path, i);
		ok = p[KW_E_MAGIC] == 2 ? kw_map_batch(map, one, p, left) : map_message(map, one, p, left);
		if (!ok)
			return false;
		p += batch_size(p, left);
	}
	return true;
}
