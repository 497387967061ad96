#include "fakebroker/config/java_hash.h"

#include "lib/wire/java_utf8.h"

enum { FIRST_OF_TWO = 0x10000 };

uint32_t fb_java_hash(struct kw_str s)
{
	const uint8_t *p = (const uint8_t *)s.s;
	size_t n = s.n > 0 ? (size_t)s.n : 0;
	uint32_t hash = 0, character;

	while (n > 0) {
		size_t length = kw_java_utf8_next(p, n, &character);

		if (character >= FIRST_OF_TWO) {
			character -= FIRST_OF_TWO;
			hash = hash * 31 + (0xd800 | character >> 10);
			character = 0xdc00 | (character & 0x3ff);
		}
		hash = hash * 31 + character;
		p += length;
		n -= length;
	}
	return hash;
}

int32_t fb_java_slot(struct kw_str s, int32_t n)
{
	return (int32_t)(fb_java_hash(s) & INT32_MAX) % n;
}
