/* Transactions as one partition knows them: the markers that end them, and which of them were aborted.
 *
 * Where a transaction is open is part of the producer state (producers.h). Nothing here locks.
 * Source: Kafka 4.4.0's ProducerStateManager and TransactionIndex, UnifiedLog.appendAsLeader for markers; KIP-98.
 */
#ifndef KASSAY_FAKEBROKER_LOG_TXNS_H
#define KASSAY_FAKEBROKER_LOG_TXNS_H

#include "fakebroker/log/log.h"
#include "fakebroker/log/producers.h"

/* Size of a marker's batch. */
enum { FB_MARKER_BYTES = 78 };

/* A row of Kafka's .txnindex. */
struct fb_aborted {
	int64_t producerId;
	int64_t firstOffset, lastOffset; /* of the first batch, and of the marker */
	int64_t lastStableOffset;        /* after the marker: what was aborted later begins there at the earliest */
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

/* The rows that can be of concern to a reader of [from, end): those from *first up to the one returned, which is not
 * among them. Each is of concern if it begins before `end`. Source: TransactionIndex.collectAbortedTxns. */
size_t fb_txns_aborted(const struct fb_txns *txns, int64_t from, int64_t end, size_t *first);

#endif
