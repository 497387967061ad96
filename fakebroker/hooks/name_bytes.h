/* Hashing and comparing names, most of which are shorter than what a call of memcmp() costs. */
#ifndef KASSAY_FAKEBROKER_HOOKS_NAME_BYTES_H
#define KASSAY_FAKEBROKER_HOOKS_NAME_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t fb_name_word(const char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

/* The 1 to 7 bytes at p: different ones give different numbers. */
static inline uint64_t fb_name_short(const char *p, int32_t n)
{
	uint32_t first, last;

	if (n < 4)
		return (uint64_t)(uint8_t)p[0] | (uint64_t)(uint8_t)p[n / 2] << 8 | (uint64_t)(uint8_t)p[n - 1] << 16;
	memcpy(&first, p, sizeof first);
	memcpy(&last, p + n - 4, sizeof last);
	return (uint64_t)last << 32 | first;
}

static inline uint64_t fb_name_mix(uint64_t hash, uint64_t v)
{
	hash = (hash ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

/* Goes on with n bytes, which are none when n is negative, for null; the last words overlap. */
static inline uint64_t fb_name_hash(uint64_t hash, const char *p, int32_t n)
{
	hash = fb_name_mix(hash, (uint32_t)n);
	if (n < 8)
		return n > 0 ? fb_name_mix(hash, fb_name_short(p, n)) : hash;
	for (int32_t i = 0; i + 8 < n; i += 8)
		hash = fb_name_mix(hash, fb_name_word(p + i));
	return fb_name_mix(hash, fb_name_word(p + n - 8));
}

/* Are the n bytes the same? */
static inline bool fb_name_same(const char *a, const char *b, int32_t n)
{
	if (n < 8)
		return n <= 0 || fb_name_short(a, n) == fb_name_short(b, n);
	for (int32_t i = 0; i + 8 < n; i += 8)
		if (fb_name_word(a + i) != fb_name_word(b + i))
			return false;
	return fb_name_word(a + n - 8) == fb_name_word(b + n - 8);
}

#endif
