#include "fakebroker/config/twins.h"

#include <stdlib.h>

#include "fakebroker/config/java_hash.h"
#include "fakebroker/config/kvs.h"

struct sorted {
	struct fb_named named;
	size_t index;
};

static int compare(const void *pa, const void *pb)
{
	const struct sorted *a = pa, *b = pb;
	int order = a->named.tag != b->named.tag ? (a->named.tag < b->named.tag ? -1 : 1) :
						   kw_str_cmp(a->named.name, b->named.name);

	return order ? order : (a->index > b->index) - (a->index < b->index);
}

static bool equal(const struct fb_named *a, const struct fb_named *b)
{
	return a->tag == b->tag && kw_str_eq(a->name, b->name);
}

struct fb_twins *fb_find_twins(const struct fb_named *entries, size_t n, struct kw_arena *arena)
{
	struct fb_twins *twins = kw_alloc(arena, n * sizeof *twins);
	struct sorted *sorted = kw_alloc(arena, n * sizeof *sorted);

	if (!twins || !sorted)
		return NULL;
	for (size_t i = 0; i < n; i++)
		sorted[i] = (struct sorted){entries[i], i};
	qsort(sorted, n, sizeof *sorted, compare);
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && equal(&sorted[from].named, &sorted[to].named);)
			to++;
		for (size_t i = from; i < to; i++)
			twins[sorted[i].index] = (struct fb_twins){sorted[from].index, sorted[to - 1].index};
	}
	return twins;
}

/* As HashMap spreads it. */
static uint32_t spread_hash(struct kw_str name)
{
	uint32_t hash = fb_java_hash(name);

	return hash ^ hash >> 16;
}

void fb_java_order(struct fb_named *names, size_t n, size_t total)
{
	uint32_t size = 16;

	while (total * 4 > (size_t)size * 3 && size < 1u << 30)
		size *= 2;
	/* By insertion: stable, and there are few names whenever the order matters. */
	for (size_t i = 1; i < n && n <= 1000; i++) {
		struct fb_named name = names[i];
		uint32_t slot = spread_hash(name.name) & (size - 1);
		size_t at = i;

		for (; at > 0 && (spread_hash(names[at - 1].name) & (size - 1)) > slot; at--)
			names[at] = names[at - 1];
		names[at] = name;
	}
}
