#include "conformance/due.h"

#include <stdlib.h>

#include "lib/wire/map.h"

enum { SIZE_FIELD = 4, KEY_AT = 0, CORRELATION_AT = 4, LEAST_HEADER = 8, PRODUCE = 0 };

void cf_due_fini(struct cf_due *due)
{
	free(due->ids);
	kw_buf_fini(&due->rest);
	*due = (struct cf_due){0};
}

/* Bytes of the whole frame at p, 0 if it is not whole, or has a size that nothing can have. */
static size_t whole_frame(const uint8_t *p, size_t n)
{
	int32_t size = n < SIZE_FIELD ? -1 : (int32_t)kw_rd32(p);

	return size < 0 || (size_t)size > n - SIZE_FIELD ? 0 : SIZE_FIELD + (size_t)size;
}

/* Is it Produce with acks=0, as far as it can be read? */
static bool wants_no_answer(const uint8_t *p, size_t n)
{
	struct kw_arena arena;
	struct kw_map map = {.arena = &arena, .base = p};
	const struct kw_span *acks;
	bool none;

	if (kw_rd16(p + KEY_AT) != PRODUCE)
		return false;
	kw_arena_init(&arena, 0);
	kw_map_request(&map, p, n, NULL, NULL);
	acks = kw_map_find(&map, "acks");
	none = acks && acks->end - acks->start == 2 && kw_rd16(p + acks->start) == 0;
	kw_arena_fini(&arena);
	return none;
}

/* A frame without its size field. */
static int add_frame(struct cf_due *due, const uint8_t *p, size_t n, struct kt_err *err)
{
	if (n < LEAST_HEADER || wants_no_answer(p, n))
		return 0;
	if (due->n == due->cap) {
		size_t cap = due->cap ? 2 * due->cap : 4;
		int32_t *ids = realloc(due->ids, cap * sizeof *ids);

		if (!ids)
			return kt_fail(err, KT_ENOMEM, "out of memory");
		due->ids = ids;
		due->cap = cap;
	}
	due->ids[due->n++] = (int32_t)kw_rd32(p + CORRELATION_AT);
	return 0;
}

int cf_due_sent(struct cf_due *due, const uint8_t *p, size_t n, struct kt_err *err)
{
	bool joined = due->rest.n > 0;
	size_t at = 0, whole;

	if (joined) {
		kw_put(&due->rest, p, n);
		p = due->rest.p;
		n = due->rest.n;
	}
	for (; !due->rest.failed && (whole = whole_frame(p + at, n - at)) > 0; at += whole)
		if (add_frame(due, p + at + SIZE_FIELD, whole - SIZE_FIELD, err))
			return err->code;
	if (joined) {
		memmove(due->rest.p, p + at, n - at);
		due->rest.n = n - at;
	} else {
		kw_put(&due->rest, p + at, n - at);
	}
	return due->rest.failed ? kw_buf_fail(&due->rest, err, "too many bytes of one frame") : 0;
}

static size_t find(const struct cf_due *due, int32_t id)
{
	size_t i = 0;

	while (i < due->n && due->ids[i] != id)
		i++;
	return i;
}

bool cf_due_has(const struct cf_due *due, int32_t id)
{
	return find(due, id) < due->n;
}

bool cf_due_settle(struct cf_due *due, int32_t id)
{
	size_t i = find(due, id);

	if (i == due->n)
		return false;
	due->n--;
	memmove(due->ids + i, due->ids + i + 1, (due->n - i) * sizeof *due->ids);
	return true;
}
