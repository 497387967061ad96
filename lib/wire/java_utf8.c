#include "lib/wire/java_utf8.h"

#include "lib/wire/batch.h"

/* Bytes that a sequence with this first byte should have; 1 with *good false if it starts none. */
static size_t wanted(uint8_t first, bool *good)
{
	*good = first < 0x80 || (first >= 0xc2 && first <= 0xf4);
	if (!*good || first < 0x80)
		return 1;
	return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* Can `second` follow `first`? Over-long forms and what lies beyond U+10FFFF show here. */
static bool follows(uint8_t first, uint8_t second)
{
	uint8_t low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
	uint8_t high = first == 0xf4 ? 0x8f : 0xbf;

	return second >= low && second <= high;
}

/* Length of the sequence at p (n > 0 bytes there); if it is not *good, of what one U+FFFD stands for. */
static size_t sequence(const uint8_t *p, size_t n, bool *good)
{
	size_t want = wanted(p[0], good);

	for (size_t i = 1; i < want; i++) {
		if (i == n || !(i == 1 ? follows(p[0], p[1]) : (p[i] & 0xc0) == 0x80)) {
			*good = false;
			return i;
		}
	}
	if (p[0] == 0xed && p[1] >= 0xa0)
		*good = false;
	return want;
}

bool kw_java_utf8_good(const uint8_t *p, size_t n)
{
	bool good = true;

	for (size_t at = 0; good && at < n;)
		at += sequence(p + at, n - at, &good);
	return good;
}

void kw_java_utf8_put(struct kw_buf *out, const uint8_t *p, size_t n)
{
	for (size_t at = 0; at < n;) {
		bool good;
		size_t length = sequence(p + at, n - at, &good);

		if (good)
			kw_put(out, p + at, length);
		else
			kw_put(out, "\xef\xbf\xbd", 3);
		at += length;
	}
}

static bool good_keys(const struct kw_record *record)
{
	for (int32_t i = 0; i < record->nheaders; i++)
		if (!kw_java_utf8_good((const uint8_t *)record->headers[i].key.s, (size_t)record->headers[i].key.n))
			return false;
	return true;
}

int kw_record_recode_keys(struct kw_record *record, struct kw_arena *arena)
{
	struct kw_header *headers;

	if (good_keys(record))
		return 0;
	headers = kw_alloc(arena, (size_t)record->nheaders * sizeof *headers);
	if (!headers)
		return KT_ENOMEM;
	for (int32_t i = 0; i < record->nheaders; i++) {
		struct kw_buf key = {0};

		headers[i] = record->headers[i];
		kw_java_utf8_put(&key, (const uint8_t *)headers[i].key.s, (size_t)headers[i].key.n);
		headers[i].key = (struct kw_str){key.failed ? NULL : kw_strndup(arena, (const char *)key.p, key.n),
						 (int32_t)key.n};
		kw_buf_fini(&key);
		if (!headers[i].key.s)
			return KT_ENOMEM;
	}
	record->headers = headers;
	return 0;
}
