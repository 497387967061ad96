/* The producer state of a partition: idempotence as Kafka's ProducerStateManager keeps it.
 *
 * For each producer id: epoch, the last five batches (sequences, offset, timestamp). Nothing here locks.
 */
#ifndef KASSAY_FAKEBROKER_LOG_PRODUCERS_H
#define KASSAY_FAKEBROKER_LOG_PRODUCERS_H

#include "lib/text/err.h"
#include "lib/wire/batch.h"

enum { FB_PRODUCER_BATCHES = 5 };

struct fb_producer_batch {
	int32_t firstSeq, lastSeq;
	int64_t baseOffset, lastOffset, timestamp;
};

struct fb_producer {
	int64_t producerId;
	int16_t producerEpoch;
	int n;                                         /* batches kept, newest last */
	struct fb_producer_batch batches[FB_PRODUCER_BATCHES];
};

struct fb_producers {
	struct fb_producer *v;                         /* sorted by producerId */
	size_t n, cap;
};

void fb_producers_init(struct fb_producers *producers);
void fb_producers_fini(struct fb_producers *producers);
const struct fb_producer *fb_producers_find(const struct fb_producers *producers, int64_t producerId);

/* Judges an idempotent batch. Returns 0 (append it), or Kafka's code (45, 47) with *reason in arena. *duplicate is set,
 * with 0, to the cached batch that it repeats. */
int16_t fb_producers_check(const struct fb_producers *producers, const struct kw_batch *batch, const char *topic,
			   int32_t partition, int64_t end_offset, struct kw_arena *arena, const char **reason,
			   const struct fb_producer_batch **duplicate);
/* Remembers an appended batch. 0 or KT_ENOMEM. */
int fb_producers_add(struct fb_producers *producers, const struct kw_batch *batch, int64_t baseOffset, int64_t timestamp);

/* Sequence arithmetic: wraps from 2^31-1 to 0. */
int32_t fb_sequence_add(int32_t sequence, int32_t n);

#endif
