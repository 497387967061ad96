/* How clients found offsets by time before records had timestamps: by when the segments were written (ListOffsets 0).
 *
 * Source: UnifiedLog.legacyFetchOffsetsBefore of Kafka 3.9.0.
 */
#ifndef KASSAY_FAKEBROKER_LOG_WRITE_TIMES_H
#define KASSAY_FAKEBROKER_LOG_WRITE_TIMES_H

#include "fakebroker/log/log.h"

/* Where a segment begins, or the log ends. */
struct fb_write_time {
	int64_t offset;
	int64_t ms;                /* when this segment or a later one was last written, whichever was first */
};

/* A log's list, the oldest segment first; all zero: not made yet. It takes a walk over all batches, a look into it does
 * not. */
struct fb_write_times {
	struct fb_write_time *v;
	int32_t n;
};

/* Under the partition's lock. now: ms by the broker's clock, when the log's end counts as written. The list is in
 * arena. 0 or KT_ENOMEM. */
int fb_write_times_list(const struct fb_log *log, int64_t now, struct kw_arena *arena, struct fb_write_times *out);
/* Those at or before `timestamp`, the newest first: -1 is all of them, -2 the oldest. At most max, in *offsets, which
 * is in arena. Returns how many, or KT_ENOMEM. */
int32_t fb_write_times_before(const struct fb_write_times *times, int64_t timestamp, int32_t max,
			      struct kw_arena *arena, int64_t **offsets);

#endif
