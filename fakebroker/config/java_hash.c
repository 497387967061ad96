#include "fakebroker/config/java_hash.h"

#include <stdbool.h>

enum { REPLACEMENT = 0xfffd, FIRST_OF_TWO = 0x10000 };

/* How many bytes the character that begins with this one has; 1 for what begins none. */
static size_t length_of(uint8_t lead)
{
	if (lead < 0xc2 || lead > 0xf4)
		return 1;
	return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/* Can it be the second byte? Surrogates are found later. */
static bool can_follow(uint8_t lead, uint8_t second)
{
	return (second & 0xc0) == 0x80 && !(lead == 0xe0 && second < 0xa0) && !(lead == 0xf0 && second < 0x90) &&
	       !(lead == 0xf4 && second > 0x8f);
}

/* The next character of the n bytes, at least one, as Java decodes them: what is malformed becomes one U+FFFD, as far
 * as it could have begun a character; so does a surrogate. How many bytes that were. */
static size_t next_character(const uint8_t *p, size_t n, uint32_t *character)
{
	size_t length = length_of(p[0]), i = 1;

	*character = p[0] < 0x80 ? p[0] : REPLACEMENT;
	while (i < length && i < n && (i == 1 ? can_follow(p[0], p[1]) : (p[i] & 0xc0) == 0x80))
		i++;
	if (i < length || length == 1)
		return i;
	*character = p[0] & (0xffu >> (length + 1));
	for (i = 1; i < length; i++)
		*character = *character << 6 | (p[i] & 0x3f);
	if (*character >= 0xd800 && *character <= 0xdfff)
		*character = REPLACEMENT;
	return length;
}

uint32_t fb_java_hash(struct kw_str s)
{
	const uint8_t *p = (const uint8_t *)s.s;
	size_t n = s.n > 0 ? (size_t)s.n : 0;
	uint32_t hash = 0, character;

	while (n > 0) {
		size_t length = next_character(p, n, &character);

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
