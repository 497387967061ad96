#include "fakebroker/log/producers.h"

#include <inttypes.h>
#include <stdlib.h>

#include "fakebroker/mutants.h"
#include "lib/wire/errors.h"

enum { NO_EPOCH = -1, NO_SEQUENCE = -1, FIRST_CAP = 4 };

/* ProducerStateEntry.empty. */
static const struct fb_producer unknown = {
	.producerEpoch = NO_EPOCH, .coordinatorEpoch = -1, .txnFirstOffset = FB_NO_TXN,
};

void fb_producers_init(struct fb_producers *producers)
{
	*producers = (struct fb_producers){0};
}

void fb_producers_fini(struct fb_producers *producers)
{
	free(producers->v);
	fb_producer_ids_fini(&producers->ids);
	fb_open_txns_fini(&producers->open);
	fb_verifications_fini(&producers->verifications);
	fb_producers_init(producers);
}

int32_t fb_sequence_add(int32_t sequence, int32_t n)
{
	if (sequence > INT32_MAX - n && fb_mutant(FB_M_SEQUENCE_WRAPS_TO_ONE))
		return n - (INT32_MAX - sequence);
	if (sequence > INT32_MAX - n)
		return n - (INT32_MAX - sequence) - 1;
	return sequence + n;
}

static int32_t last_sequence(const struct kw_batch *batch)
{
	if (batch->baseSequence == NO_SEQUENCE)
		return NO_SEQUENCE;
	return fb_sequence_add(batch->baseSequence, batch->lastOffsetDelta);
}

static struct fb_producer *find(const struct fb_producers *producers, int64_t producerId)
{
	size_t at;

	return fb_producer_ids_find(&producers->ids, producerId, &at) ? &producers->v[at] : NULL;
}

const struct fb_producer *fb_producers_find(const struct fb_producers *producers, int64_t producerId)
{
	return find(producers, producerId);
}

/* ---- verify ---- */

static bool has_open(const struct fb_producer *producer, int16_t producerEpoch)
{
	return producer && producer->txnFirstOffset != FB_NO_TXN && producer->producerEpoch == producerEpoch;
}

int16_t fb_producers_verify(struct fb_producers *producers, const struct kw_batch *batch, bool bumps, int64_t now,
			    uint64_t *guard)
{
	const struct fb_producer *producer = find(producers, batch->producerId);

	*guard = FB_NO_GUARD;
	if (producer && batch->producerEpoch < producer->producerEpoch && !fb_mutant(FB_M_OLD_EPOCH_ASKED))
		return KW_ERR_INVALID_PRODUCER_EPOCH;
	if (has_open(producer, batch->producerEpoch))
		return 0;
	*guard = fb_verification_begin(&producers->verifications, batch, bumps, now);
	return *guard == FB_NO_GUARD ? KW_ERR_UNKNOWN_SERVER_ERROR : 0;
}

/* ---- check ---- */

static const struct fb_producer_batch *find_duplicate(const struct fb_producer *producer, const struct kw_batch *batch)
{
	if (batch->producerEpoch != producer->producerEpoch || fb_mutant(FB_M_DUPLICATE_UNKNOWN))
		return NULL;
	if (fb_mutant(FB_M_DUPLICATE_OF_LAST_ONLY))
		return producer->n && producer->batches[producer->n - 1].firstSeq == batch->baseSequence
			? &producer->batches[producer->n - 1] : NULL;
	if (fb_mutant(FB_M_DUPLICATE_FOR_EVER) && producer->n && batch->baseSequence < producer->batches[0].firstSeq)
		return &producer->batches[0];
	for (int i = 0; i < producer->n; i++)
		if (producer->batches[i].firstSeq == batch->baseSequence &&
		    producer->batches[i].lastSeq == last_sequence(batch))
			return &producer->batches[i];
	return NULL;
}

static bool in_sequence(int32_t last, int32_t next)
{
	return next == (int64_t)last + 1 || (next == 0 && last == INT32_MAX);
}

/* ProducerAppendInfo.appendDataBatch: what is done in an open transaction belongs to it. */
static int16_t judge_txn(const struct fb_producer *producer, const struct fb_producer_check *check,
			 struct kw_arena *arena, const char **reason)
{
	if (producer->txnFirstOffset == FB_NO_TXN || check->batch->attributes & KW_A_TRANSACTIONAL ||
	    fb_mutant(FB_M_MIXED_TAKEN))
		return 0;
	*reason = kw_sprintf(arena,
			     "Expected transactional write from producer %" PRId64 " at offset (offset=%" PRId64
			     ", segment=[-1:-1]) in partition %s-%d",
			     check->batch->producerId, check->end_offset, check->topic, check->partition);
	return KW_ERR_INVALID_TXN_STATE;
}

/* UnifiedLog.analyzeAndValidateProducerState: a transaction begins only here, and only with the guard of a verification
 * that is still in force. */
static int16_t judge_begin(const struct fb_producers *producers, const struct fb_producer *producer,
			   const struct fb_producer_check *check, struct kw_arena *arena, const char **reason)
{
	const struct kw_batch *batch = check->batch;
	const struct fb_verification *verification;

	if (!(batch->attributes & KW_A_TRANSACTIONAL) || has_open(producer, batch->producerEpoch))
		return 0;
	if (producer != &unknown && batch->producerEpoch < producer->producerEpoch &&
	    !fb_mutant(FB_M_OLD_EPOCH_TAKEN)) {
		*reason = kw_sprintf(arena, "Epoch of producer %" PRId64 " is %d, which is smaller than the last seen "
				     "epoch %d", batch->producerId, batch->producerEpoch, producer->producerEpoch);
		return KW_ERR_INVALID_PRODUCER_EPOCH;
	}
	if (!check->guarded)
		return 0;
	verification = fb_verification_find(&producers->verifications, batch->producerId);
	if (verification && verification->guard == check->guard)
		return 0;
	*reason = "Record was not part of an ongoing transaction";
	return KW_ERR_INVALID_TXN_STATE;
}

/* The first half of ProducerAppendInfo.checkSequence: what was begun to be verified and was not appended yet. */
static int16_t judge_verified(const struct fb_verification *verification, const struct fb_producer *producer,
			      const struct fb_producer_check *check, struct kw_arena *arena, const char **reason)
{
	const struct kw_batch *batch = check->batch;

	if (verification->bumps && batch->baseSequence != 0 && producer->n == 0 &&
	    !fb_mutant(FB_M_FIRST_SEQUENCE_ANY)) {
		*reason = kw_sprintf(arena, "Invalid sequence number for producer %" PRId64 " at offset %" PRId64 " in "
				     "partition %s-%d: %d (incoming seq. number). Expected sequence 0 for transactions "
				     "v2 idempotent producer with no existing state.", batch->producerId,
				     check->end_offset, check->topic, check->partition, batch->baseSequence);
		return KW_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER;
	}
	if (batch->baseSequence > verification->lowestSequence && !fb_mutant(FB_M_REFUSED_SEQUENCE_FORGOTTEN)) {
		*reason = kw_sprintf(arena, "Out of order sequence number for producer %" PRId64 " at offset %" PRId64
				     " in partition %s-%d: %d (incoming seq. number), %d (earliest seen sequence)",
				     batch->producerId, check->end_offset, check->topic, check->partition,
				     batch->baseSequence, verification->lowestSequence);
		return KW_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER;
	}
	return 0;
}

/* The other half: what follows on what was appended. */
static int16_t judge_sequence(const struct fb_producer *producer, const struct fb_producer_check *check,
			      struct kw_arena *arena, const char **reason)
{
	int32_t last = producer->n ? producer->batches[producer->n - 1].lastSeq : NO_SEQUENCE;
	const struct kw_batch *batch = check->batch;

	/* Any sequence will do for a producer that is not known here, as when its records were deleted by retention. */
	if (producer->producerEpoch == NO_EPOCH)
		return 0;
	if (batch->producerEpoch != producer->producerEpoch) {
		if (batch->baseSequence == 0 || fb_mutant(FB_M_NEW_EPOCH_ANY_SEQUENCE))
			return 0;
		*reason = kw_sprintf(arena, "Invalid sequence number for new epoch of producer %" PRId64 " at offset %"
				     PRId64 " in partition %s-%d: %d (request epoch), %d (seq. number), %d (current "
				     "producer epoch)", batch->producerId, check->end_offset, check->topic,
				     check->partition, batch->producerEpoch, batch->baseSequence,
				     producer->producerEpoch);
		return KW_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER;
	}
	if (in_sequence(last, batch->baseSequence) || fb_mutant(FB_M_GAP_TAKEN))
		return 0;
	*reason = kw_sprintf(arena, "Out of order sequence number for producer %" PRId64 " at offset %" PRId64 " in "
			     "partition %s-%d: %d (incoming seq. number), %d (current end sequence number)",
			     batch->producerId, check->end_offset, check->topic, check->partition, batch->baseSequence,
			     last);
	return KW_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER;
}

/* ProducerAppendInfo.checkProducerEpoch. */
static int16_t judge_epoch(const struct fb_producer *producer, const struct fb_producer_check *check,
			   struct kw_arena *arena, const char **reason)
{
	const struct kw_batch *batch = check->batch;

	if (batch->producerEpoch >= producer->producerEpoch || fb_mutant(FB_M_OLD_EPOCH_TAKEN))
		return 0;
	/* (TV-1) is how Kafka prints that the check is not made for a transaction marker. */
	*reason = kw_sprintf(arena, "Epoch of producer %" PRId64 " at offset %" PRId64 " in %s-%d is %d, which is < "
			     "the last seen epoch %d (TV-1)", batch->producerId, check->end_offset, check->topic,
			     check->partition, batch->producerEpoch, producer->producerEpoch);
	return KW_ERR_INVALID_PRODUCER_EPOCH;
}

int16_t fb_producers_check(const struct fb_producers *producers, const struct fb_producer_check *check,
			   struct kw_arena *arena, const char **reason, const struct fb_producer_batch **duplicate)
{
	const struct fb_verification *verification;
	const struct fb_producer *producer;
	int16_t error;

	*duplicate = NULL;
	if (!fb_has_producer_id(check->batch))
		return 0;
	producer = find(producers, check->batch->producerId);
	if (!producer)
		producer = &unknown;
	*duplicate = find_duplicate(producer, check->batch);
	if (*duplicate)
		return 0;
	error = judge_begin(producers, producer, check, arena, reason);
	if (!error)
		error = judge_epoch(producer, check, arena, reason);
	verification = fb_verification_find(&producers->verifications, check->batch->producerId);
	if (!error && verification)
		error = judge_verified(verification, producer, check, arena, reason);
	if (!error)
		error = judge_sequence(producer, check, arena, reason);
	return error ? error : judge_txn(producer, check, arena, reason);
}

/* ---- add ---- */

int fb_producers_reserve(struct fb_producers *producers)
{
	size_t cap = producers->cap ? producers->cap * 2 : FIRST_CAP;
	struct fb_producer *v;

	if (producers->n == producers->cap) {
		v = realloc(producers->v, cap * sizeof *v);
		if (!v)
			return KT_ENOMEM;
		producers->v = v;
		producers->cap = cap;
	}
	if (fb_open_txns_reserve(&producers->open) < 0)
		return KT_ENOMEM;
	return fb_producer_ids_reserve(&producers->ids);
}

static struct fb_producer *find_or_add(struct fb_producers *producers, int64_t producerId)
{
	struct fb_producer *producer;

	if (fb_producers_reserve(producers) < 0)
		return NULL;
	producer = find(producers, producerId);
	if (producer)
		return producer;
	producer = &producers->v[producers->n];
	fb_producer_ids_put(&producers->ids, producerId, producers->n++);
	*producer = (struct fb_producer){
		.producerId = producerId, .producerEpoch = NO_EPOCH, .coordinatorEpoch = -1, .lastTimestamp = -1,
		.txnFirstOffset = FB_NO_TXN,
	};
	return producer;
}

static void set_epoch(struct fb_producer *producer, int16_t producerEpoch)
{
	if (producer->producerEpoch != producerEpoch)
		producer->n = 0;
	producer->producerEpoch = producerEpoch;
}

int fb_producers_add(struct fb_producers *producers, const struct kw_batch *batch, int64_t baseOffset,
		     int64_t timestamp)
{
	struct fb_producer *producer;

	if (!fb_has_producer_id(batch))
		return 0;
	producer = find_or_add(producers, batch->producerId);
	if (!producer)
		return KT_ENOMEM;
	set_epoch(producer, batch->producerEpoch);
	producer->lastTimestamp = timestamp;
	if (batch->attributes & KW_A_TRANSACTIONAL) {
		if (producer->txnFirstOffset == FB_NO_TXN) {
			producer->txnFirstOffset = baseOffset;
			fb_open_txns_begin(&producers->open, baseOffset);
		}
		fb_verification_end(&producers->verifications, batch->producerId);
	}
	if (producer->n == FB_PRODUCER_BATCHES) {
		producer->n--;
		memmove(producer->batches, producer->batches + 1, (size_t)producer->n * sizeof *producer->batches);
	}
	producer->batches[producer->n++] = (struct fb_producer_batch){
		.firstSeq = batch->baseSequence,
		.lastSeq = last_sequence(batch),
		.baseOffset = baseOffset,
		.lastOffset = baseOffset + batch->lastOffsetDelta,
		.timestamp = timestamp,
	};
	return 0;
}

int fb_producers_set(struct fb_producers *producers, int64_t producerId, int16_t producerEpoch, int32_t lastSequence,
		     int64_t endOffset, int64_t timestamp)
{
	struct kw_batch last = {
		.producerId = producerId, .producerEpoch = producerEpoch, .baseSequence = lastSequence,
	};

	return fb_producers_add(producers, &last, endOffset - 1, timestamp);
}

/* ---- transactions ---- */

void fb_producers_expire(struct fb_producers *producers, int64_t now, int64_t ms)
{
	size_t kept = 0;

	for (size_t i = 0; i < producers->n; i++) {
		const struct fb_producer *producer = &producers->v[i];

		if (producer->txnFirstOffset != FB_NO_TXN || producer->lastTimestamp > now ||
		    now - producer->lastTimestamp < ms)
			producers->v[kept++] = *producer;
	}
	if (kept < producers->n) {
		producers->n = kept;
		fb_producer_ids_clear(&producers->ids);
		for (size_t i = 0; i < kept; i++)
			fb_producer_ids_put(&producers->ids, producers->v[i].producerId, i);
	}
	fb_verifications_expire(&producers->verifications, now, ms);
}

/* ProducerAppendInfo.appendEndTxnMarker. A bumped marker that comes once more finds nothing open; the last epoch that
 * there is cannot be above that of its transaction. */
int16_t fb_producers_check_marker(const struct fb_producers *producers, const struct fb_marker *marker)
{
	const struct fb_producer *producer = find(producers, marker->producerId);

	if (marker->producerId < 0)
		return 0;
	if (!producer)
		producer = &unknown;
	if (marker->producerEpoch < producer->producerEpoch ||
	    (marker->bumped && has_open(producer, marker->producerEpoch) && marker->producerEpoch != INT16_MAX))
		return KW_ERR_INVALID_PRODUCER_EPOCH;
	return marker->coordinatorEpoch < producer->coordinatorEpoch ? KW_ERR_TRANSACTION_COORDINATOR_FENCED : 0;
}

void fb_producers_end_txn(struct fb_producers *producers, const struct fb_marker *marker, int64_t *firstOffset)
{
	struct fb_producer *producer;

	*firstOffset = FB_NO_TXN;
	if (marker->producerId < 0)
		return;
	producer = find_or_add(producers, marker->producerId);
	*firstOffset = producer->txnFirstOffset;
	set_epoch(producer, marker->producerEpoch);
	producer->coordinatorEpoch = marker->coordinatorEpoch;
	producer->lastTimestamp = marker->timestamp;
	producer->txnFirstOffset = FB_NO_TXN;
	if (*firstOffset != FB_NO_TXN)
		fb_open_txns_end(&producers->open, *firstOffset);
	fb_verification_mark(&producers->verifications, marker->producerId, marker->producerEpoch);
}
