/* Batches whose partition the transaction coordinator is asked about: Kafka's VerificationStateEntry and
 * VerificationGuard.
 *
 * The first batch of a transaction in a partition is appended only if the partition was found to be part of the
 * transaction, and no marker of the producer has come in between. An entry stays until a transactional batch of its
 * producer or a marker is appended: also when the coordinator refused, and then it holds the sequences of what comes
 * next against the least that was tried. Nothing here locks.
 *
 * Source: Kafka 4.4.0's VerificationStateEntry, ProducerStateManager, UnifiedLog; KIP-890.
 */
#ifndef KASSAY_FAKEBROKER_LOG_VERIFICATIONS_H
#define KASSAY_FAKEBROKER_LOG_VERIFICATIONS_H

#include "fakebroker/log/producer_ids.h"
#include "lib/wire/batch.h"

enum { FB_NO_GUARD = 0 };

struct fb_verification {
	int64_t producerId;
	uint64_t guard;                  /* never FB_NO_GUARD; no two entries of a partition have had the same */
	int64_t since_ms;
	int32_t lowestSequence;          /* of those tried in this epoch */
	int16_t producerEpoch;           /* the greatest that was tried */
	bool bumps;                      /* begun by a version of Produce that adds partitions by itself */
};

/* All zero: none. */
struct fb_verifications {
	struct fb_verification *v;       /* in no order */
	size_t n, cap;
	struct fb_producer_ids ids;
	uint64_t guards;                 /* given so far */
};

void fb_verifications_fini(struct fb_verifications *verifications);
/* NULL if the producer has none. Lives until the next change. */
const struct fb_verification *fb_verification_find(const struct fb_verifications *verifications, int64_t producerId);
/* Begins one for the batch, or takes the batch into the one that its producer has. Returns its guard; FB_NO_GUARD
 * without memory. */
uint64_t fb_verification_begin(struct fb_verifications *verifications, const struct kw_batch *batch, bool bumps,
			       int64_t now);
/* A transactional batch, or a marker, of the producer was appended. A marker leaves what a later transaction, of the
 * marker's epoch, has begun. */
void fb_verification_end(struct fb_verifications *verifications, int64_t producerId);
void fb_verification_mark(struct fb_verifications *verifications, int64_t producerId, int16_t producerEpoch);
/* Forgets those of `ms` ago and before. */
void fb_verifications_expire(struct fb_verifications *verifications, int64_t now, int64_t ms);

#endif
