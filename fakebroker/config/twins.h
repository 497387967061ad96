/* Which entries of a request name the same thing. */
#ifndef KASSAY_FAKEBROKER_CONFIG_TWINS_H
#define KASSAY_FAKEBROKER_CONFIG_TWINS_H

#include "lib/wire/arena.h"

struct fb_named {
	int tag;               /* part of what makes twins; fb_java_order leaves it with its name */
	struct kw_str name;
};

/* Index of the first and of the last entry with the same tag and name. */
struct fb_twins {
	size_t first, last;
};

/* Of n entries; NULL when memory is exhausted. */
struct fb_twins *fb_find_twins(const struct fb_named *entries, size_t n, struct kw_arena *arena);

/* Puts n distinct names, given in the order of the request, into the order in which Java's HashMap<String, ?> of
 * `total` entries lists them: of several wrong names, Kafka's error names the first one in that order. Exact for up to
 * 12 entries. */
void fb_java_order(struct fb_named *names, size_t n, size_t total);

#endif
