/* The producer state of a partition: idempotence and transactions as Kafka keeps them.
 *
 * For each producer id: epoch, the last five batches (sequences, offsets, timestamp), where its open transaction began.
 * Nothing here locks.
 * Source: Kafka 4.4.0's ProducerStateManager, ProducerAppendInfo, ProducerStateEntry; KIP-98.
 */
#ifndef KASSAY_FAKEBROKER_LOG_PRODUCERS_H
#define KASSAY_FAKEBROKER_LOG_PRODUCERS_H

#include "fakebroker/log/open_txns.h"
#include "fakebroker/log/verifications.h"
#include "lib/text/err.h"
#include "lib/wire/batch.h"

enum { FB_PRODUCER_BATCHES = 5, FB_NO_TXN = -1 };

struct fb_producer_batch {
	int32_t firstSeq, lastSeq;
	int64_t baseOffset, lastOffset;
	int64_t timestamp;                             /* maxTimestamp of the batch as it was stored */
};

struct fb_producer {
	int64_t producerId;
	int16_t producerEpoch;
	int32_t coordinatorEpoch;                      /* of its last transaction marker; -1 without any */
	int64_t lastTimestamp;                         /* of its last batch or marker; -1 */
	int64_t txnFirstOffset;                        /* of its open transaction; FB_NO_TXN */
	int n;                                         /* batches kept, newest last; all of producerEpoch */
	struct fb_producer_batch batches[FB_PRODUCER_BATCHES];
};

/* Neither a new producer nor the end of a transaction costs more because there are others. */
struct fb_producers {
	struct fb_producer *v;                         /* in the order in which they came */
	size_t n, cap;
	struct fb_producer_ids ids;
	struct fb_open_txns open;
	struct fb_verifications verifications;
};

void fb_producers_init(struct fb_producers *producers);
void fb_producers_fini(struct fb_producers *producers);
/* NULL if the id is not known here. Lives until the next change. */
const struct fb_producer *fb_producers_find(const struct fb_producers *producers, int64_t producerId);

/* Kafka's hasProducerId: every negative id, not only -1, means that the batch has none and is not judged. */
static inline bool fb_has_producer_id(const struct kw_batch *batch)
{
	return batch->producerId >= 0;
}

/* A transactional batch, before its records are read: 0, or INVALID_PRODUCER_EPOCH (47) for an epoch below the last one
 * known; UNKNOWN_SERVER_ERROR without memory. *guard is FB_NO_GUARD if the producer's transaction is open here; else
 * the coordinator is to be asked whether the partition is part of it, and the guard goes with the batch. bumps: the
 * version of Produce adds partitions by itself. Source: UnifiedLog.maybeStartTransactionVerification. */
int16_t fb_producers_verify(struct fb_producers *producers, const struct kw_batch *batch, bool bumps, int64_t now,
			    uint64_t *guard);

struct fb_producer_check {
	const struct kw_batch *batch;
	const char *topic;         /* for the reason, as the two below */
	int32_t partition;
	int64_t end_offset;        /* what the batch would get */
	bool guarded;              /* transactions begin only with the guard of a verification, */
	uint64_t guard;            /* which is this */
};
/* Judges a batch. Returns 0 (append it; so for a batch without producer id, and whatever the sequence for an id that is
 * not known and was not verified), or Kafka's code: OUT_OF_ORDER_SEQUENCE_NUMBER (45), INVALID_PRODUCER_EPOCH (47),
 * INVALID_TXN_STATE (48: not of a transaction, though the producer has one open, or of one that was not verified), with
 * *reason in arena (NULL if that is full). *duplicate is set, with 0, to the cached batch that it repeats (same epoch
 * and sequences), else to NULL. */
int16_t fb_producers_check(const struct fb_producers *producers, const struct fb_producer_check *check,
			   struct kw_arena *arena, const char **reason, const struct fb_producer_batch **duplicate);
/* Room for one more producer and its transaction, so that the next fb_producers_add cannot fail. 0 or KT_ENOMEM. */
int fb_producers_reserve(struct fb_producers *producers);
/* Remembers an appended batch that fb_producers_check let pass; a new epoch forgets the batches of the old one, and a
 * transactional batch opens a transaction unless one is open. Without producer id nothing happens. 0 or KT_ENOMEM. */
int fb_producers_add(struct fb_producers *producers, const struct kw_batch *batch, int64_t baseOffset,
		     int64_t timestamp);

/* The first offset of the earliest open transaction; FB_NO_TXN. */
static inline int64_t fb_producers_first_unstable(const struct fb_producers *producers)
{
	return fb_open_txns_first(&producers->open);
}

/* Forgets producers whose last batch or marker is older than `ms`, unless a transaction of theirs is open, and
 * verifications that are. Source: ProducerStateManager.removeExpiredProducers. */
void fb_producers_expire(struct fb_producers *producers, int64_t now, int64_t ms);

/* A transaction marker (KIP-98). */
struct fb_marker {
	int64_t producerId;
	int16_t producerEpoch;
	int32_t coordinatorEpoch;
	bool commit;
	bool bumped;               /* transaction.version 2 (KIP-890): its epoch must be above that of the
				      transaction */
	bool logAppendTime;        /* as the topic has it */
	int64_t timestamp;         /* ms since the epoch */
};
/* Judges a marker: 0, INVALID_PRODUCER_EPOCH (47) or TRANSACTION_COORDINATOR_FENCED (52). */
int16_t fb_producers_check_marker(const struct fb_producers *producers, const struct fb_marker *marker);
/* Remembers an appended marker that was let pass, and closes the producer's transaction. *firstOffset is where that
 * began, or FB_NO_TXN. Of a negative producer id nothing is remembered. There is room (fb_producers_reserve). */
void fb_producers_end_txn(struct fb_producers *producers, const struct fb_marker *marker, int64_t *firstOffset);

/* Sets what is known of a producer as if its last batch had ended with lastSequence just below endOffset. 0 or
 * KT_ENOMEM. */
int fb_producers_set(struct fb_producers *producers, int64_t producerId, int16_t producerEpoch, int32_t lastSequence,
		     int64_t endOffset, int64_t timestamp);

/* Sequence arithmetic: wraps from 2^31-1 to 0. */
int32_t fb_sequence_add(int32_t sequence, int32_t n);

#endif
