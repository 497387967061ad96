#include "fakebroker/hooks/utf8.h"

#include <string.h>

/* RFC 3629 section 4: first bytes, range of the second byte, and length of each well-formed sequence. */
static const struct {
	uint8_t first, last, lo, hi, length;
} forms[] = {
	{0x00, 0x7f, 0x00, 0x00, 1},
	{0xc2, 0xdf, 0x80, 0xbf, 2},
	{0xe0, 0xe0, 0xa0, 0xbf, 3},
	{0xe1, 0xec, 0x80, 0xbf, 3},
	{0xed, 0xed, 0x80, 0x9f, 3},
	{0xee, 0xef, 0x80, 0xbf, 3},
	{0xf0, 0xf0, 0x90, 0xbf, 4},
	{0xf1, 0xf3, 0x80, 0xbf, 4},
	{0xf4, 0xf4, 0x80, 0x8f, 4},
};

/* Length of the well-formed character at p, 0 if there is none. n is at least 1. */
static size_t character(const uint8_t *p, size_t n)
{
	size_t i, form = 0;

	while (form < sizeof forms / sizeof *forms && p[0] > forms[form].last)
		form++;
	if (form == sizeof forms / sizeof *forms || p[0] < forms[form].first || n < forms[form].length)
		return 0;
	if (forms[form].length > 1 && (p[1] < forms[form].lo || p[1] > forms[form].hi))
		return 0;
	for (i = 2; i < forms[form].length; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return forms[form].length;
}

/* Most text is ASCII: how many of the n bytes can be skipped eight at a time. */
static size_t ascii(const uint8_t *p, size_t n)
{
	size_t at = 0;
	uint64_t eight;

	for (; n - at >= sizeof eight; at += sizeof eight) {
		memcpy(&eight, p + at, sizeof eight);
		if (eight & 0x8080808080808080u)
			break;
	}
	return at;
}

size_t fb_utf8_valid(const uint8_t *p, size_t n)
{
	size_t at = 0, length = 1;

	while (at < n && length > 0) {
		at += ascii(p + at, n - at);
		length = at < n ? character(p + at, n - at) : 0;
		at += length;
	}
	return at;
}

void fb_utf8_mend(char *s)
{
	uint8_t *p = (uint8_t *)s;
	size_t n = strlen(s), at = 0;

	while ((at += fb_utf8_valid(p + at, n - at)) < n)
		p[at] = '?';
}
