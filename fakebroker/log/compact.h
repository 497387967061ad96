/* Compaction of a partition's log, as Apache Kafka's log cleaner does it: of each key the latest record stays, and no
 * offset changes.
 *
 * Source: LogCleanerManager.cleanableOffsets, Cleaner.doClean of Apache Kafka 4.4; KIP-58 for the lag, KIP-534.
 */
#ifndef KASSAY_FAKEBROKER_LOG_COMPACT_H
#define KASSAY_FAKEBROKER_LOG_COMPACT_H

#include "fakebroker/log/txns.h"
#include "lib/wire/walk.h"

/* What the topic's configuration says of it. */
struct fb_compaction {
	bool compacts;                   /* cleanup.policy contains compact */
	int64_t deleteRetentionMs;       /* delete.retention.ms */
	int64_t minLagMs;                /* min.compaction.lag.ms */
	int32_t record_max;              /* max.decompressed.message.bytes, as in struct kw_walk_opts */
	size_t inflate_max;              /* most bytes to inflate one batch to; 0 = 256 MiB */
};

/* What came of it; batches, records and bytes of the segments that were looked through. */
struct fb_compacted {
	int64_t firstDirtyOffset;        /* up to here an earlier round came */
	int64_t firstUncleanableOffset;  /* up to here this one came */
	uint64_t batchesRead, batchesKept, recordsRead, recordsKept, bytesRead, bytesKept;
};

/* Compacts the segments below the active one, below the first that is too young for minLagMs, and below the one with
 * the first record of an open transaction. Keys count from where the last round ended; min.cleanable.dirty.ratio is not
 * asked, so that a round without a new record removes what has become due. `txns` forgets aborted transactions of which
 * nothing is left. now: ms since the epoch. Where an entry there is no batch of magic 2, or cannot be read or encoded
 * anew, Kafka gives the partition up: KT_ECORRUPT or KT_ELIMIT, or KT_ENOMEM, with the reason in err, and nothing is
 * changed. */
int fb_log_compact(struct fb_log *log, const struct fb_producers *producers, struct fb_txns *txns,
		   const struct fb_compaction *conf, int64_t now, struct fb_compacted *done, struct kt_err *err);

#endif
