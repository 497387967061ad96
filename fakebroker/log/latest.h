/* The latest offset of each key of a log: what compaction goes by. Kafka's is a hash table of digests
 * (SkimpyOffsetMap); this one is a sorted array, which no choice of keys makes slow. */
#ifndef KASSAY_FAKEBROKER_LOG_LATEST_H
#define KASSAY_FAKEBROKER_LOG_LATEST_H

#include "lib/wire/arena.h"

struct fb_latest_key {
	struct kw_bytes key;
	int64_t offset;
};

struct fb_latest {
	struct fb_latest_key *v;
	size_t n, cap;
	struct kw_arena copies;     /* of keys */
};

void fb_latest_init(struct fb_latest *latest);
void fb_latest_fini(struct fb_latest *latest);
/* key is not null. It is copied, or must stay where it is. 0 or KT_ENOMEM. */
int fb_latest_add(struct fb_latest *latest, struct kw_bytes key, int64_t offset, bool copy);
/* After the last one was added, before the first one is looked for. */
void fb_latest_sort(struct fb_latest *latest);
/* -1 for a key that was not added. */
int64_t fb_latest_find(const struct fb_latest *latest, struct kw_bytes key);

#endif
