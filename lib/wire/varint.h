/* Readers of variable-length integers: unsigned LEB128, and zigzag over it (Kafka's ByteUtils).
 *
 * Each reads at p, never at or beyond end, and returns the number of bytes used, 0 when the input ends inside the
 * number (or p == end), or -1 when the number goes on after its last possible byte (the 5th, for a varlong the 10th).
 * Forms longer than needed are accepted and bits beyond the width are dropped, as Kafka does. With -1, *v holds the
 * bits read so far, without zigzag: Kafka prints them in its message. With 0, *v is not set. buf.h has the writers.
 */
#ifndef KASSAY_WIRE_VARINT_H
#define KASSAY_WIRE_VARINT_H

#include <stddef.h>
#include <stdint.h>

enum { KW_VARINT_MAX = 5, KW_VARLONG_MAX = 10 };

static inline int kw_get_leb128(const uint8_t *p, const uint8_t *end, int most, uint64_t *v)
{
	uint64_t acc = 0;

	for (int i = 0; i < most; i++) {
		if (p + i >= end)
			return 0;
		acc |= (uint64_t)(p[i] & 0x7f) << (7 * i);
		if (p[i] < 0x80) {
			*v = acc;
			return i + 1;
		}
	}
	*v = acc;
	return -1;
}

static inline int kw_get_uvarint(const uint8_t *p, const uint8_t *end, uint32_t *v)
{
	uint64_t wide;
	int used;

	if (p < end && *p < 0x80) {
		*v = *p;
		return 1;
	}
	used = kw_get_leb128(p, end, KW_VARINT_MAX, &wide);
	if (used != 0)
		*v = (uint32_t)wide;
	return used;
}

/* A number of one byte or two, as nearly all of a record are: without a loop, before zigzag. 0: it is longer, or
 * cut. */
static inline int kw_get_short(const uint8_t *p, const uint8_t *end, uint32_t *v)
{
	if (p < end && p[0] < 0x80) {
		*v = p[0];
		return 1;
	}
	if (end - p > 1 && p[1] < 0x80) {
		*v = (p[0] & 0x7f) | (uint32_t)p[1] << 7;
		return 2;
	}
	return 0;
}

static inline int kw_get_varint(const uint8_t *p, const uint8_t *end, int32_t *v)
{
	uint32_t raw;
	int used = kw_get_short(p, end, &raw);

	if (used == 0)
		used = kw_get_uvarint(p, end, &raw);
	if (used > 0)
		*v = (int32_t)(raw >> 1 ^ -(raw & 1));
	else if (used < 0)
		*v = (int32_t)raw;
	return used;
}

static inline int kw_get_varlong(const uint8_t *p, const uint8_t *end, int64_t *v)
{
	uint32_t narrow = 0;
	uint64_t raw;
	int used = kw_get_short(p, end, &narrow);

	raw = narrow;
	if (used == 0)
		used = kw_get_leb128(p, end, KW_VARLONG_MAX, &raw);
	if (used > 0)
		*v = (int64_t)(raw >> 1 ^ -(raw & 1));
	else if (used < 0)
		*v = (int64_t)raw;
	return used;
}

/* What follows a varint; NULL when there is none. */
static inline const uint8_t *kw_take_varint(const uint8_t *p, const uint8_t *end, int32_t *v)
{
	int used = kw_get_varint(p, end, v);

	return used > 0 ? p + used : NULL;
}

#endif
