/* What holds of every message that can be decoded. */
#ifndef KASSAY_WIRE_FUZZ_ROUND_TRIP_H
#define KASSAY_WIRE_FUZZ_ROUND_TRIP_H

#include "kw_messages.h"
#include "lib/text/fuzz/fuzz.h"

static inline void encode_checked(const struct kw_msg *msg, int version, const void *in, struct kw_buf *buf)
{
	struct kt_err err = {0};
	int code = kw_encode(msg, version, in, buf, &err);

	FUZZ_CHECK(code == 0 && !err.code);
}

/* Decodes within the promises of kw_decode(). NULL with a clean error. */
static inline void *decode_checked(const struct kw_msg *msg, int version, const uint8_t *p, size_t n,
				   struct kw_arena *arena, size_t *used)
{
	size_t before = arena->used;
	struct kt_err err = {0};
	void *out;
	int code = kw_decode(msg, version, p, n, arena, &out, used, &err);

	FUZZ_CHECK(arena->used - before <= msg->root->size + 16 + KW_DECODE_PER_BYTE * n);
	FUZZ_CHECK(*used <= n);
	FUZZ_CHECK(code == err.code);
	FUZZ_CHECK(code == 0 || (err.has_offset && err.offset <= n && err.text[0]));
	return code ? NULL : out;
}

/* What decodes, re-encodes to bytes that decode to the same. */
static inline void round_trip(const struct kw_msg *msg, int version, const void *in, struct kw_arena *arena)
{
	struct kw_buf first = {0}, again = {0};
	size_t used = 0;
	void *out;

	encode_checked(msg, version, in, &first);
	out = decode_checked(msg, version, first.p, first.n, arena, &used);
	FUZZ_CHECK(out && used == first.n);
	encode_checked(msg, version, out, &again);
	FUZZ_CHECK(first.n == again.n && (first.n == 0 || memcmp(first.p, again.p, first.n) == 0));
	kw_buf_fini(&first);
	kw_buf_fini(&again);
}

/* "NAME VERSION\n" before the input proper: the message, or NULL. */
static inline const struct kw_msg *message_line(const uint8_t **p, size_t *n, int *version)
{
	const uint8_t *end = *n ? memchr(*p, '\n', *n) : NULL;
	const struct kw_msg *msg;
	char line[128], name[100];

	if (!end || (size_t)(end - *p) >= sizeof line)
		return NULL;
	memcpy(line, *p, (size_t)(end - *p));
	line[end - *p] = '\0';
	if (sscanf(line, "%99s %5d", name, version) != 2)
		return NULL;
	msg = kw_msg_find(name);
	*n -= (size_t)(end + 1 - *p);
	*p = end + 1;
	return msg && *version >= msg->versions.min && *version <= msg->versions.max ? msg : NULL;
}

#endif
