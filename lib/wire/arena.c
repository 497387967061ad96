#include "lib/wire/arena.h"

#include <stdarg.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>

enum { ALIGN = 16, FIRST_CHUNK = 8 << 10, LAST_CHUNK = 256 << 10 };

struct kw_chunk {
	struct kw_chunk *next;   /* the one before it: newest first */
	size_t n, cap;           /* bytes of data handed out, bytes there */
	alignas(ALIGN) uint8_t data[];
};

void kw_arena_init(struct kw_arena *arena, size_t limit)
{
	*arena = (struct kw_arena){.limit = limit};
}

/* Frees chunks from the newest on until `keep`. */
static void free_chunks(struct kw_arena *arena, const struct kw_chunk *keep)
{
	while (arena->head != keep) {
		struct kw_chunk *chunk = arena->head;

		arena->head = chunk->next;
		free(chunk);
	}
}

void kw_arena_fini(struct kw_arena *arena)
{
	free_chunks(arena, NULL);
	arena->used = 0;
	arena->failed = false;
}

void kw_arena_reset(struct kw_arena *arena)
{
	struct kw_chunk *first = arena->head;

	while (first && first->next)
		first = first->next;
	free_chunks(arena, first);
	if (first)
		first->n = 0;
	arena->used = 0;
	arena->failed = false;
}

/* A new chunk with room for at least `size`. Chunks double, so that few requests need more than one or two, but a
 * large allocation gets a chunk of its own size: an arena never holds much more than what was asked of it. */
static struct kw_chunk *grow(struct kw_arena *arena, size_t size)
{
	size_t cap = arena->head ? arena->head->cap * 2 : FIRST_CHUNK;
	struct kw_chunk *chunk;

	if (cap > LAST_CHUNK)
		cap = LAST_CHUNK;
	if (cap < size)
		cap = size;
	chunk = malloc(sizeof *chunk + cap);
	if (!chunk)
		return NULL;
	chunk->next = arena->head;
	chunk->n = 0;
	chunk->cap = cap;
	return arena->head = chunk;
}

__attribute__((cold)) static void *fail(struct kw_arena *arena)
{
	arena->failed = true;
	return NULL;
}

void *kw_alloc(struct kw_arena *arena, size_t size)
{
	struct kw_chunk *chunk = arena->head;
	uint8_t *p;

	if (size > SIZE_MAX / 2)
		return fail(arena);
	size = size ? (size + ALIGN - 1) & ~(size_t)(ALIGN - 1) : ALIGN;
	if (arena->limit && (arena->used > arena->limit || size > arena->limit - arena->used))
		return fail(arena);
	if (!chunk || size > chunk->cap - chunk->n)
		chunk = grow(arena, size);
	if (!chunk)
		return fail(arena);
	p = chunk->data + chunk->n;
	chunk->n += size;
	arena->used += size;
	return memset(p, 0, size);
}

char *kw_strndup(struct kw_arena *arena, const char *s, size_t n)
{
	char *copy = kw_alloc(arena, n < SIZE_MAX ? n + 1 : n);

	if (copy && n)
		memcpy(copy, s, n);
	return copy;
}

struct kw_str kw_str_dup(struct kw_arena *arena, struct kw_str s)
{
	char *copy = s.n < 0 ? NULL : kw_strndup(arena, s.s, (size_t)s.n);

	return copy ? (struct kw_str){copy, s.n} : KW_NULL_STR;
}

char *kw_sprintf(struct kw_arena *arena, const char *fmt, ...)
{
	va_list ap;
	char *text;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		return NULL;
	text = kw_alloc(arena, (size_t)n + 1);
	if (!text)
		return NULL;
	va_start(ap, fmt);
	vsnprintf(text, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return text;
}
