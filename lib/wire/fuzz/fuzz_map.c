/* A request's frame behind its size, mapped: the places of all fields lie inside of it, each in the span of its parent,
 * and the map reads what decoding reads. */
#include "lib/wire/fuzz/round_trip.h"
#include "lib/wire/map.h"

FUZZ_TARGET

static void check(const struct kw_map *map, size_t n)
{
	for (size_t i = 0; i < map->n; i++) {
		const struct kw_span *span = &map->v[i];

		FUZZ_CHECK(span->path && span->path[0]);
		FUZZ_CHECK(span->start <= span->end && span->end <= n);
		FUZZ_CHECK(span->len_at >= span->start && span->len_at <= span->len_end && span->len_end <= n);
		FUZZ_CHECK(i == 0 || map->v[i - 1].start <= span->start);
		FUZZ_CHECK(kw_map_find(map, span->path));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct kt_err err = {0};
	struct kw_arena arena;
	struct kw_map map = {.arena = &arena, .base = p};
	size_t used = 0;

	kw_arena_init(&arena, 64 << 20);
	if (kw_map_request(&map, p, n, &used, &err) == 0)
		FUZZ_CHECK(used <= n && !err.code);
	else
		FUZZ_CHECK(err.code && err.text[0]);
	check(&map, n);
	map.n = 0;
	FUZZ_CHECK(kw_map_set(&map, "set", p, n));
	check(&map, n);
	kw_arena_fini(&arena);
	return 0;
}
