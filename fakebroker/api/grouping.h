/* Partitions that Kafka puts into a map before it answers: a topic that a request names several times comes once, not
 * at all without partitions, and each partition comes once. Kafka's order is that of its hash maps, which means
 * nothing; here it is that of the request. */
#ifndef KASSAY_FAKEBROKER_API_GROUPING_H
#define KASSAY_FAKEBROKER_API_GROUPING_H

#include "fakebroker/config/twins.h"

struct fb_grouping {
	struct fb_twins *twins;    /* entries that name the same partition; the first one is answered */
	int32_t *rows;             /* of each entry: the topic of the answer that it belongs to */
	int32_t *rooms;            /* of each topic of the answer: its partitions */
	int32_t n;                 /* topics of the answer */
};

/* names: the n partitions of the request, over all of its topics. All is in arena. False without memory. */
bool fb_group(const struct fb_named *names, size_t n, struct kw_arena *arena, struct fb_grouping *out);

#endif
