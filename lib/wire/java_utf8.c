#include "lib/wire/java_utf8.h"

#include "lib/wire/batch.h"
#include "lib/wire/plan.h"

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

size_t kw_java_utf8_next(const uint8_t *p, size_t n, uint32_t *character)
{
	bool good;
	size_t length = sequence(p, n, &good);

	if (!good) {
		*character = 0xfffd;
		return length;
	}
	*character = length == 1 ? p[0] : p[0] & (0xffu >> (length + 1));
	for (size_t i = 1; i < length; i++)
		*character = *character << 6 | (p[i] & 0x3f);
	return length;
}

bool kw_java_utf8_good(const uint8_t *p, size_t n)
{
	bool good = true;
	size_t at = 0;

	while (n - at >= 8 && !(kw_rd64(p + at) & 0x8080808080808080))
		at += 8;
	while (good && at < n)
		at += p[at] < 0x80 ? 1 : sequence(p + at, n - at, &good);
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

static int recode(struct kw_str *str, struct kw_arena *arena)
{
	struct kw_buf buf = {0};

	kw_java_utf8_put(&buf, (const uint8_t *)str->s, (size_t)str->n);
	*str = (struct kw_str){buf.failed ? NULL : kw_strndup(arena, (const char *)buf.p, buf.n), (int32_t)buf.n};
	kw_buf_fini(&buf);
	return str->s ? 0 : KT_ENOMEM;
}

/* ---- keys of headers ---- */

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
		headers[i] = record->headers[i];
		if (recode(&headers[i].key, arena))
			return KT_ENOMEM;
	}
	record->headers = headers;
	return 0;
}

/* ---- messages ---- */

static int recode_struct(const struct kw_struct *st, char *at, struct kw_arena *arena);

static int recode_value(const struct kw_field *field, char *at, struct kw_arena *arena)
{
	struct kw_str *str = (struct kw_str *)(void *)at;

	if (field->type == KW_STRUCT)
		return recode_struct(field->sub, at, arena);
	return str->n <= 0 || kw_java_utf8_good((const uint8_t *)str->s, (size_t)str->n) ? 0 : recode(str, arena);
}

static int recode_array(const struct kw_field *field, const struct kw_arr *arr, struct kw_arena *arena)
{
	size_t size = arr->n > 0 ? kw_type_size(field) : 0;
	int rc = 0;

	for (int32_t i = 0; i < arr->n && rc == 0; i++)
		rc = recode_value(field, (char *)arr->v + (size_t)i * size, arena);
	return rc;
}

/* Fields that the version lacks have their defaults, which are good. */
static int recode_struct(const struct kw_struct *st, char *at, struct kw_arena *arena)
{
	int rc = 0;

	for (uint32_t i = 0; i < st->ntexts && rc == 0; i++) {
		const struct kw_field *field = &st->fields[st->texts[i]];
		char *value = at + field->offset;

		if (field->flags & KW_F_ARRAY)
			rc = recode_array(field, (const struct kw_arr *)(void *)value, arena);
		else if (!kw_is_pointer(field))
			rc = recode_value(field, value, arena);
		else if (*(char **)(void *)value)
			rc = recode_struct(field->sub, *(char **)(void *)value, arena);
	}
	return rc;
}

int kw_recode_strings(const struct kw_msg *msg, void *message, struct kw_arena *arena)
{
	return recode_struct(msg->root, message, arena);
}
