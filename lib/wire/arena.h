/* A bump allocator: one per request, freed as a whole.
 *
 * All memory is zeroed and aligned to 16 bytes. A limit bounds the total, so that no input can take more.
 */
#ifndef KASSAY_WIRE_ARENA_H
#define KASSAY_WIRE_ARENA_H

#include "lib/wire/types.h"

struct kw_chunk;

struct kw_arena {
	struct kw_chunk *head;
	size_t used;     /* bytes handed out, each allocation rounded up to 16 */
	size_t limit;    /* most bytes to hand out; 0 = no limit */
	bool failed;     /* something was not handed out: one look after many allocations. Until _fini or _reset */
};

void kw_arena_init(struct kw_arena *arena, size_t limit);
/* Frees all; the arena can be used again. */
void kw_arena_fini(struct kw_arena *arena);
/* Forgets all allocations but keeps the first chunk for reuse. */
void kw_arena_reset(struct kw_arena *arena);
/* NULL when memory or the limit is exhausted. Size 0 takes 16 bytes: its result is as good and as unique as any. */
void *kw_alloc(struct kw_arena *arena, size_t size);
/* A copy of the n bytes at s with a NUL behind; NULL as above. */
char *kw_strndup(struct kw_arena *arena, const char *s, size_t n);
/* The same of a string, null for null; null also when there is no memory: ask `failed`. */
struct kw_str kw_str_dup(struct kw_arena *arena, struct kw_str s);
/* printf into the arena; NULL as above. */
char *kw_sprintf(struct kw_arena *arena, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
