#include "fakebroker/log/producers.h"

#include <inttypes.h>
#include <stdlib.h>

#include "fakebroker/mutants.h"
#include "lib/wire/errors.h"

enum { NO_EPOCH = -1, NO_SEQUENCE = -1, FIRST_CAP = 4 };

void fb_producers_init(struct fb_producers *producers)
{
	*producers = (struct fb_producers){.firstUnstable = FB_NO_TXN};
}

void fb_producers_fini(struct fb_producers *producers)
{
	free(producers->v);
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

/* Where the id is, or belongs. */
static size_t place(const struct fb_producers *producers, int64_t producerId)
{
	size_t low = 0, high = producers->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (producers->v[mid].producerId < producerId)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const struct fb_producer *fb_producers_find(const struct fb_producers *producers, int64_t producerId)
{
	size_t at = place(producers, producerId);

	return at < producers->n && producers->v[at].producerId == producerId ? &producers->v[at] : NULL;
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

/* For the reasons. */
struct where {
	const char *topic;
	int32_t partition;
	int64_t end_offset;
};

/* ProducerAppendInfo.appendDataBatch: what is done in an open transaction belongs to it. */
static int16_t judge_txn(const struct fb_producer *producer, const struct kw_batch *batch, const struct where *where,
			 struct kw_arena *arena, const char **reason)
{
	if (producer->txnFirstOffset == FB_NO_TXN || batch->attributes & KW_A_TRANSACTIONAL ||
	    fb_mutant(FB_M_MIXED_TAKEN))
		return 0;
	*reason = kw_sprintf(arena,
			     "Expected transactional write from producer %" PRId64 " at offset (offset=%" PRId64
			     ", segment=[-1:-1]) in partition %s-%d",
			     batch->producerId, where->end_offset, where->topic, where->partition);
	return KW_ERR_INVALID_TXN_STATE;
}

/* ProducerAppendInfo.checkProducerEpoch and checkSequence. */
static int16_t judge(const struct fb_producer *producer, const struct kw_batch *batch, const struct where *where,
		     struct kw_arena *arena, const char **reason)
{
	int32_t last = producer->n ? producer->batches[producer->n - 1].lastSeq : NO_SEQUENCE;

	if (batch->producerEpoch < producer->producerEpoch && !fb_mutant(FB_M_OLD_EPOCH_TAKEN)) {
		/* (TV-1) is how Kafka prints that the check is not made for a transaction marker. */
		*reason = kw_sprintf(arena, "Epoch of producer %" PRId64 " at offset %" PRId64 " in %s-%d is %d, which "
				     "is < the last seen epoch %d (TV-1)", batch->producerId, where->end_offset,
				     where->topic, where->partition, batch->producerEpoch, producer->producerEpoch);
		return KW_ERR_INVALID_PRODUCER_EPOCH;
	}
	/* Any sequence will do for a producer that is not known here, as when its records were deleted by retention. */
	if (producer->producerEpoch == NO_EPOCH)
		return 0;
	if (batch->producerEpoch != producer->producerEpoch) {
		if (batch->baseSequence == 0 || fb_mutant(FB_M_NEW_EPOCH_ANY_SEQUENCE))
			return judge_txn(producer, batch, where, arena, reason);
		*reason = kw_sprintf(arena, "Invalid sequence number for new epoch of producer %" PRId64 " at offset %"
				     PRId64 " in partition %s-%d: %d (request epoch), %d (seq. number), %d (current "
				     "producer epoch)", batch->producerId, where->end_offset, where->topic,
				     where->partition, batch->producerEpoch, batch->baseSequence,
				     producer->producerEpoch);
		return KW_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER;
	}
	if (in_sequence(last, batch->baseSequence) || fb_mutant(FB_M_GAP_TAKEN))
		return judge_txn(producer, batch, where, arena, reason);
	*reason = kw_sprintf(arena, "Out of order sequence number for producer %" PRId64 " at offset %" PRId64 " in "
			     "partition %s-%d: %d (incoming seq. number), %d (current end sequence number)",
			     batch->producerId, where->end_offset, where->topic, where->partition, batch->baseSequence,
			     last);
	return KW_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER;
}

int16_t fb_producers_check(const struct fb_producers *producers, const struct kw_batch *batch, const char *topic,
			   int32_t partition, int64_t end_offset, struct kw_arena *arena, const char **reason,
			   const struct fb_producer_batch **duplicate)
{
	static const struct fb_producer unknown = {.producerEpoch = NO_EPOCH, .txnFirstOffset = FB_NO_TXN};
	const struct fb_producer *producer = fb_producers_find(producers, batch->producerId);

	*duplicate = NULL;
	if (!fb_has_producer_id(batch))
		return 0;
	if (!producer)
		producer = &unknown;
	*duplicate = find_duplicate(producer, batch);
	if (*duplicate)
		return 0;
	return judge(producer, batch, &(struct where){topic, partition, end_offset}, arena, reason);
}

/* ---- add ---- */

int fb_producers_reserve(struct fb_producers *producers)
{
	size_t cap = producers->cap ? producers->cap * 2 : FIRST_CAP;
	struct fb_producer *v;

	if (producers->n < producers->cap)
		return 0;
	v = realloc(producers->v, cap * sizeof *v);
	if (!v)
		return KT_ENOMEM;
	producers->v = v;
	producers->cap = cap;
	return 0;
}

static struct fb_producer *find_or_add(struct fb_producers *producers, int64_t producerId)
{
	size_t at = place(producers, producerId);
	struct fb_producer *producer;

	if (at < producers->n && producers->v[at].producerId == producerId)
		return &producers->v[at];
	if (fb_producers_reserve(producers) < 0)
		return NULL;
	producer = &producers->v[at];
	memmove(producer + 1, producer, (producers->n - at) * sizeof *producer);
	producers->n++;
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
	if (batch->attributes & KW_A_TRANSACTIONAL && producer->txnFirstOffset == FB_NO_TXN) {
		producer->txnFirstOffset = baseOffset;
		if (producers->firstUnstable == FB_NO_TXN)
			producers->firstUnstable = baseOffset;
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

bool fb_producers_in_txn(const struct fb_producers *producers, int64_t producerId, int16_t producerEpoch)
{
	const struct fb_producer *producer = fb_producers_find(producers, producerId);

	return producer && producer->txnFirstOffset != FB_NO_TXN && producer->producerEpoch == producerEpoch;
}

uint32_t fb_producers_markers(const struct fb_producers *producers, int64_t producerId)
{
	const struct fb_producer *producer = fb_producers_find(producers, producerId);

	return producer ? producer->markers : 0;
}

void fb_producers_expire(struct fb_producers *producers, int64_t now, int64_t ms)
{
	size_t kept = 0;

	for (size_t i = 0; i < producers->n; i++) {
		const struct fb_producer *producer = &producers->v[i];

		if (producer->txnFirstOffset != FB_NO_TXN || producer->lastTimestamp > now ||
		    now - producer->lastTimestamp < ms)
			producers->v[kept++] = *producer;
	}
	producers->n = kept;
}

/* ProducerAppendInfo.appendEndTxnMarker. */
int16_t fb_producers_check_marker(const struct fb_producers *producers, const struct fb_marker *marker)
{
	const struct fb_producer *producer = fb_producers_find(producers, marker->producerId);

	if (!producer)
		return 0;
	if (marker->producerEpoch < producer->producerEpoch ||
	    (marker->bumped && fb_producers_in_txn(producers, marker->producerId, marker->producerEpoch)))
		return KW_ERR_INVALID_PRODUCER_EPOCH;
	return marker->coordinatorEpoch < producer->coordinatorEpoch ? KW_ERR_TRANSACTION_COORDINATOR_FENCED : 0;
}

static int64_t first_unstable(const struct fb_producers *producers)
{
	int64_t first = FB_NO_TXN;

	for (size_t i = 0; i < producers->n; i++) {
		int64_t begins = producers->v[i].txnFirstOffset;

		if (begins != FB_NO_TXN && (first == FB_NO_TXN || begins < first))
			first = begins;
	}
	return first;
}

void fb_producers_end_txn(struct fb_producers *producers, const struct fb_marker *marker, int64_t *firstOffset)
{
	struct fb_producer *producer = find_or_add(producers, marker->producerId);

	*firstOffset = producer->txnFirstOffset;
	set_epoch(producer, marker->producerEpoch);
	producer->coordinatorEpoch = marker->coordinatorEpoch;
	producer->markers++;
	producer->lastTimestamp = marker->timestamp;
	producer->txnFirstOffset = FB_NO_TXN;
	if (*firstOffset == producers->firstUnstable)
		producers->firstUnstable = first_unstable(producers);
}
