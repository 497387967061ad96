/* One batch of a compacted log: what stays of it, and the batch that this makes.
 *
 * Source: MemoryRecords.filterTo and MemoryRecordsBuilder of Apache Kafka 4.4; KIP-534 for the delete horizon.
 */
#ifndef KASSAY_FAKEBROKER_LOG_THIN_H
#define KASSAY_FAKEBROKER_LOG_THIN_H

#include "fakebroker/log/latest.h"
#include "fakebroker/log/log.h"

/* How a batch is thinned out. */
struct fb_thinning {
	const struct fb_latest *latest;
	const struct kw_walk_opts *opts; /* how compressed records are read */
	int64_t now;                     /* ms since the epoch */
	int64_t deleteRetentionMs;       /* delete.retention.ms */
	bool discard;                    /* no record stays, whatever its key */
	bool stays_empty;                /* the batch stays when no record does */
	bool marker_of_nothing;          /* a marker that may go once its delete horizon has passed */
};

struct fb_thinned {
	struct fb_entry entry;           /* with a reference of its frame; frame NULL: nothing stays */
	int32_t read, kept;              /* records */
};

/* A batch that loses nothing, and needs no delete horizon, is taken as it is; else its records are encoded anew, with
 * the offsets that they have, and the batch keeps its base offset, last offset and sequence. The entry is none that is
 * opaque. 0, KT_ECORRUPT (its records cannot be read, or Kafka's builder could not write such a batch), KT_ELIMIT or
 * KT_ENOMEM, with the reason in err. */
int fb_thin(const struct fb_thinning *how, const struct fb_entry *from, struct fb_thinned *to, struct kt_err *err);

#endif
