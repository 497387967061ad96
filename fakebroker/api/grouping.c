#include "fakebroker/api/grouping.h"

/* Entries of the same topic. */
static struct fb_twins *find_topics(const struct fb_named *names, size_t n, struct kw_arena *arena)
{
	struct fb_named *topics = kw_alloc(arena, n * sizeof *topics);

	for (size_t i = 0; topics && i < n; i++)
		topics[i] = (struct fb_named){0, names[i].name};
	return topics ? fb_find_twins(topics, n, arena) : NULL;
}

bool fb_group(const struct fb_named *names, size_t n, struct kw_arena *arena, struct fb_grouping *out)
{
	struct fb_twins *topics = find_topics(names, n, arena);

	*out = (struct fb_grouping){.twins = fb_find_twins(names, n, arena),
				    .rows = kw_alloc(arena, n * sizeof *out->rows),
				    .rooms = kw_alloc(arena, n * sizeof *out->rooms)};
	if (!topics || !out->twins || !out->rows || !out->rooms)
		return false;
	for (size_t i = 0; i < n; i++) {
		out->rows[i] = topics[i].first == i ? out->n++ : out->rows[topics[i].first];
		out->rooms[out->rows[i]] += out->twins[i].first == i;
	}
	return true;
}
