/* Transactions as one partition knows them: the markers that end them, and which of them were aborted.
 *
 * Where a transaction is open is part of the producer state (producers.h). Nothing here locks.
 * Source: Kafka 4.4.0's ProducerStateManager and TransactionIndex, UnifiedLog.appendAsLeader for markers; KIP-98.
 */
#ifndef KASSAY_FAKEBROKER_LOG_TXNS_H
#define KASSAY_FAKEBROKER_LOG_TXNS_H

#include "fakebroker/log/log.h"
#include "fakebroker/log/producers.h"

/* A row of Kafka's .txnindex. */
struct fb_aborted {
	int64_t producerId;
	int64_t firstOffset, lastOffset; /* of the first batch, and of the marker */
};

struct fb_txns {
	struct fb_aborted *aborted;      /* ascending lastOffset; those wholly below the log's start may be forgotten */
	size_t n, cap;
};

void fb_txns_fini(struct fb_txns *txns);

/* Up to where a reader of committed records may read: the first offset of an open transaction, else the log's end. */
int64_t fb_last_stable_offset(const struct fb_log *log, const struct fb_producers *producers);

/* Appends the marker as a control batch and closes the transaction that its producer has open here; without one the
 * marker is appended all the same. 0; what fb_producers_check_marker says; UNKNOWN_SERVER_ERROR without memory. */
int16_t fb_txns_mark(struct fb_txns *txns, struct fb_log *log, struct fb_producers *producers,
		     const struct fb_marker *marker, int32_t leaderEpoch);

/* Is it of concern to a reader of [from, end)? */
static inline bool fb_aborted_in(const struct fb_aborted *aborted, int64_t from, int64_t end)
{
	return aborted->lastOffset >= from && aborted->firstOffset < end;
}

#endif
