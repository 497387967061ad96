/* The shapes that decoded messages are made of.
 *
 * Null is not empty: a null string, byte string, record set or array has n == -1; a zeroed one is empty. Pointers are
 * slices: they point into the frame that was decoded, or into the arena that was passed, and live as long as those do.
 */
#ifndef KASSAY_WIRE_TYPES_H
#define KASSAY_WIRE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct kw_str {
	const char *s;   /* not NUL-terminated; need not be UTF-8 */
	int32_t n;       /* bytes, -1 = null */
};

struct kw_bytes {
	const uint8_t *p;
	int32_t n;       /* bytes, -1 = null */
};

struct kw_slice {
	const uint8_t *p;
	size_t n;
};

/* The bytes of a `records` field: one run (p, n), or, for encoding only, the concatenation of nv slices whose lengths
 * add up to n (then p is NULL). */
struct kw_records {
	const uint8_t *p;
	int32_t n;       /* bytes, -1 = null */
	int32_t nv;
	const struct kw_slice *v;
};

struct kw_uuid {
	uint8_t b[16];
};

/* Any array of a generated message has this layout with v typed. */
struct kw_arr {
	void *v;
	int32_t n;       /* elements, -1 = null */
};

struct kw_tag {
	uint32_t tag;
	struct kw_bytes data;
};

/* Tagged fields that the schema does not know, in wire order. */
struct kw_tags {
	struct kw_tag *v;
	int32_t n;
};

#define KW_NULL_STR ((struct kw_str){NULL, -1})

static inline struct kw_str kw_str(const char *s)
{
	return (struct kw_str){s, s ? (int32_t)strlen(s) : -1};
}

static inline bool kw_str_eq(struct kw_str a, struct kw_str b)
{
	return a.n == b.n && (a.n <= 0 || memcmp(a.s, b.s, (size_t)a.n) == 0);
}

static inline bool kw_str_is(struct kw_str a, const char *s)
{
	return kw_str_eq(a, kw_str(s));
}

/* Order by bytes, what is shorter before what begins with it, null first: <0, 0, >0. */
static inline int kw_str_cmp(struct kw_str a, struct kw_str b)
{
	int32_t n = a.n < b.n ? a.n : b.n;
	int order = n > 0 ? memcmp(a.s, b.s, (size_t)n) : 0;

	return order ? order : (a.n > b.n) - (a.n < b.n);
}

static inline bool kw_uuid_eq(struct kw_uuid a, struct kw_uuid b)
{
	return memcmp(a.b, b.b, sizeof a.b) == 0;
}

#endif
