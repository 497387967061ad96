#include "fakebroker/log/txns.h"

#include <stdlib.h>

#include "fakebroker/mutants.h"
#include "kw_messages.h"
#include "lib/wire/control.h"
#include "lib/wire/errors.h"

enum { FIRST_CAP = 8, MARKER_MAX = 256 };

void fb_txns_fini(struct fb_txns *txns)
{
	free(txns->aborted);
	*txns = (struct fb_txns){0};
}

int64_t fb_last_stable_offset(const struct fb_log *log, const struct fb_producers *producers)
{
	int64_t first = fb_producers_first_unstable(producers);

	if (first == FB_NO_TXN || fb_mutant(FB_M_ALWAYS_STABLE))
		return log->logEndOffset;
	return first > log->logStartOffset ? first : log->logStartOffset;
}

size_t fb_txns_aborted(const struct fb_txns *txns, int64_t from, int64_t end, size_t *first)
{
	size_t low = 0, high = txns->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (txns->aborted[mid].lastOffset < from)
			low = mid + 1;
		else
			high = mid;
	}
	*first = low;
	while (low < txns->n && txns->aborted[low].lastStableOffset < end)
		low++;
	return low < txns->n ? low + 1 : low;
}

/* Room for one row more. Those that no reader can ask for any more make room first. */
static int reserve(struct fb_txns *txns, int64_t logStartOffset)
{
	struct fb_aborted *aborted;
	size_t gone = 0, cap;

	if (txns->n < txns->cap)
		return 0;
	while (gone < txns->n && txns->aborted[gone].lastOffset < logStartOffset)
		gone++;
	if (gone > 0) {
		txns->n -= gone;
		memmove(txns->aborted, txns->aborted + gone, txns->n * sizeof *txns->aborted);
		return 0;
	}
	cap = txns->cap ? txns->cap * 2 : FIRST_CAP;
	aborted = realloc(txns->aborted, cap * sizeof *aborted);
	if (!aborted)
		return KT_ENOMEM;
	txns->aborted = aborted;
	txns->cap = cap;
	return 0;
}

/* ProducerStateManager.lastStableOffset. */
static int64_t stable_behind(const struct fb_producers *producers, int64_t lastOffset)
{
	int64_t first = fb_producers_first_unstable(producers);

	return first == FB_NO_TXN ? lastOffset + 1 : first;
}

static int append(struct fb_log *log, const struct fb_marker *marker, int32_t leaderEpoch)
{
	struct kw_EndTxnMarker value = {.coordinatorEpoch = marker->coordinatorEpoch};
	struct kw_batch_spec spec = kw_batch_spec_default;
	struct kw_buf buf;
	int code;

	spec.baseOffset = log->logEndOffset;
	spec.partitionLeaderEpoch = leaderEpoch;
	spec.baseTimestamp = marker->timestamp;
	if (marker->logAppendTime && !fb_mutant(FB_M_MARKER_TIME_TYPE))
		spec.attributes |= KW_A_LOG_APPEND_TIME;
	spec.producerId = marker->producerId;
	spec.producerEpoch = marker->producerEpoch;
	kw_buf_init(&buf, MARKER_MAX);
	code = kw_control_build(&spec, marker->commit ? KW_CONTROL_COMMIT : KW_CONTROL_ABORT, 0, &value, &buf, NULL);
	log->now = marker->timestamp;
	if (code == 0)
		code = fb_log_append(log, buf.p, NULL, buf.p + KW_B_RECORDS, buf.n - KW_B_RECORDS, marker->timestamp,
				     spec.baseOffset);
	kw_buf_fini(&buf);
	return code;
}

int16_t fb_txns_mark(struct fb_txns *txns, struct fb_log *log, struct fb_producers *producers,
		     const struct fb_marker *marker, int32_t leaderEpoch)
{
	int16_t error = fb_mutant(FB_M_MARKER_UNCHECKED) ? 0 : fb_producers_check_marker(producers, marker);
	int64_t firstOffset, lastOffset = log->logEndOffset;

	if (error)
		return error;
	if (fb_mutant(FB_M_MARKER_NEEDS_PRODUCER) && !fb_producers_find(producers, marker->producerId))
		return 0;
	if (reserve(txns, log->logStartOffset) < 0 || fb_producers_reserve(producers) < 0 ||
	    append(log, marker, leaderEpoch) < 0)
		return KW_ERR_UNKNOWN_SERVER_ERROR;
	fb_producers_end_txn(producers, marker, &firstOffset);
	if (firstOffset != FB_NO_TXN && !marker->commit && !fb_mutant(FB_M_ABORT_UNTOLD))
		txns->aborted[txns->n++] = (struct fb_aborted){
			marker->producerId, firstOffset, lastOffset, stable_behind(producers, lastOffset),
		};
	return 0;
}
