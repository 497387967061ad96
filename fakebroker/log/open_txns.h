/* Where the open transactions of a partition begin: Kafka's ongoingTxns, of which the first one bounds what readers of
 * committed records get.
 *
 * They begin in the order of offsets and end in any: an end leaves a gap, which goes when all before it have ended, or
 * when gaps are the half. So each costs the same, however many are open. Nothing here locks.
 */
#ifndef KASSAY_FAKEBROKER_LOG_OPEN_TXNS_H
#define KASSAY_FAKEBROKER_LOG_OPEN_TXNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fb_open_txn {
	int64_t firstOffset;
	bool ended;
};

/* All zero: none. */
struct fb_open_txns {
	struct fb_open_txn *v;           /* ascending; the first of them, v[head], is open */
	size_t head, n, cap;             /* v[head] to v[n - 1] count */
	size_t gaps;
};

void fb_open_txns_fini(struct fb_open_txns *open);
/* Room for one more, so that the next fb_open_txns_begin cannot fail. 0 or KT_ENOMEM. */
int fb_open_txns_reserve(struct fb_open_txns *open);
/* The offset is greater than all before it. */
void fb_open_txns_begin(struct fb_open_txns *open, int64_t firstOffset);
/* It has begun, and not ended. */
void fb_open_txns_end(struct fb_open_txns *open, int64_t firstOffset);

/* The least first offset; -1 if none is open. */
static inline int64_t fb_open_txns_first(const struct fb_open_txns *open)
{
	return open->head < open->n ? open->v[open->head].firstOffset : -1;
}

#endif
