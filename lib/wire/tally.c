/* All records of a batch at once, as long as each is in good order. */
#include "lib/wire/tally.h"

#include "lib/wire/record_time.h"
#include "lib/wire/varint.h"

static inline const uint8_t *pass_run(const uint8_t *p, const uint8_t *end, int32_t *n)
{
	p = kw_take_varint(p, end, n);
	return p && *n <= end - p ? p + (*n > 0 ? *n : 0) : NULL;
}

static const uint8_t *pass_headers(const uint8_t *p, const uint8_t *end, int32_t n)
{
	for (int32_t key, value; n > 0; n--) {
		p = pass_run(p, end, &key);
		if (!p || key < 0 || !(p = pass_run(p, end, &value)))
			return NULL;
	}
	return p;
}

/* What of a record goes into the tally. */
struct brief {
	int64_t timestampDelta;
	int32_t offsetDelta, key;
};

static inline int64_t unzigzag(uint32_t raw)
{
	return (int64_t)(raw >> 1) ^ -(int64_t)(raw & 1);
}

/* A varint of one or two bytes, two of which are there: its bits before zigzag. NULL if it is longer. */
static inline const uint8_t *take_short(const uint8_t *p, uint32_t *raw)
{
	*raw = p[0];
	if (*raw < 0x80)
		return p + 1;
	*raw = (*raw & 0x7f) | (uint32_t)p[1] << 7;
	return p[1] < 0x80 ? p + 2 : NULL;
}

/* The commonest record: no number has more than two bytes, and there are no headers. Returns its end as its length says
 * it, so that the next one can be begun before this one is through; NULL when it is not such a record. */
static inline const uint8_t *plain_record(const uint8_t *p, const uint8_t *area_end, int32_t record_max,
					  struct brief *brief)
{
	const uint8_t *end;
	uint32_t size, stamp, offset, key, value;

	if (area_end - p < 2 + 1 + 3 * 2 || !(p = take_short(p, &size)))   /* up to the key's length */
		return NULL;
	if (size & 1 || size / 2 > area_end - p || (record_max > 0 && (int32_t)(size / 2) > record_max))
		return NULL;
	end = p + size / 2;
	if (!(p = take_short(p + 1, &stamp)) || !(p = take_short(p, &offset)) || !(p = take_short(p, &key)))
		return NULL;
	brief->timestampDelta = unzigzag(stamp);
	brief->offsetDelta = (int32_t)unzigzag(offset);
	brief->key = (int32_t)unzigzag(key);
	if (brief->key > 0) {
		if (brief->key > end - p)
			return NULL;
		p += brief->key;
	}
	if (end - p < 2 || !(p = take_short(p, &value)) || end[-1] != 0)
		return NULL;
	return (value & 1 ? 0 : value / 2) == end - p - 1 ? end : NULL;
}

/* Any record that is in good order; else NULL. */
static inline const uint8_t *brief_record(const uint8_t *p, const uint8_t *area_end, int32_t record_max,
					  struct brief *brief)
{
	const uint8_t *end;
	int32_t size, value, headers;
	int used;

	p = kw_take_varint(p, area_end, &size);
	if (!p || size <= 0 || size > area_end - p || (record_max > 0 && size > record_max))
		return NULL;
	end = p + size;
	used = kw_get_varlong(p + 1, end, &brief->timestampDelta);
	if (used <= 0 || !(p = kw_take_varint(p + 1 + used, end, &brief->offsetDelta)) ||
	    !(p = pass_run(p, end, &brief->key)) || !(p = pass_run(p, end, &value)) ||
	    !(p = kw_take_varint(p, end, &headers)) || headers < 0)
		return NULL;
	if (headers > 0)
		p = pass_headers(p, end, headers);
	return p == end ? end : NULL;
}

bool kw_tally_records(const struct kw_batch *batch, const uint8_t *p, const uint8_t *end, int32_t record_max,
		      struct kw_tally *tally)
{
	bool append_time = batch->attributes & KW_A_LOG_APPEND_TIME;
	int64_t base = append_time ? batch->maxTimestamp : batch->baseTimestamp;
	struct kw_tally t = {.minTimestamp = INT64_MAX, .maxTimestamp = INT64_MIN, .indexOfMax = -1};
	struct brief brief;

	for (int32_t i = 0; i < batch->count; i++) {
		const uint8_t *next = plain_record(p, end, record_max, &brief);
		int64_t timestamp;

		p = next ? next : brief_record(p, end, record_max, &brief);
		if (!p)
			return false;
		timestamp = append_time ? base : kw_wrap_add(base, brief.timestampDelta);
		if (timestamp > t.maxTimestamp || t.indexOfMax < 0) {
			t.maxTimestamp = timestamp;
			t.indexOfMax = i;
			t.deltaOfMax = brief.offsetDelta;
		}
		t.minTimestamp = timestamp < t.minTimestamp ? timestamp : t.minTimestamp;
		t.firstDelta = i ? t.firstDelta : brief.offsetDelta;
		t.odd |= brief.offsetDelta != i;
		t.null_key |= brief.key < 0;
	}
	*tally = t;
	return p == end && batch->count > 0;
}
