/* Where the epochs of a partition's leaders begin in its log: what a consumer asks after it lost a leader.
 *
 * Source: LeaderEpochFileCache of Apache Kafka 4.4.
 */
#ifndef KASSAY_FAKEBROKER_LOG_EPOCHS_H
#define KASSAY_FAKEBROKER_LOG_EPOCHS_H

#include <stddef.h>
#include <stdint.h>

struct fb_epoch {
	int32_t epoch;
	int64_t start;
};

/* All zero: none yet. */
struct fb_epochs {
	struct fb_epoch *v;          /* both rise */
	size_t n;
};

void fb_epochs_fini(struct fb_epochs *epochs);
/* An epoch begins at the end of the log. One that got no records is forgotten. 0 or KT_ENOMEM. */
int fb_epochs_begin(struct fb_epochs *epochs, int32_t epoch, int64_t logEndOffset);
/* That of the record at an offset, or that the next one there will have; -1: none began by then. */
int32_t fb_epochs_at(const struct fb_epochs *epochs, int64_t offset);
/* Where the newest epoch up to `epoch` ends, and which that is. One that lies before the log, as a negative one does,
 * is taken at its word: it ends where the log begins. Both -1 for -1, and for an epoch that is yet to come. */
struct fb_epoch fb_epochs_end(const struct fb_epochs *epochs, int32_t epoch, int64_t logStartOffset,
			      int64_t logEndOffset);

#endif
