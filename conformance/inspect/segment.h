/* The batches of a log segment, found by place and by offset: what its indexes are held against. */
#ifndef KASSAY_CONFORMANCE_INSPECT_SEGMENT_H
#define KASSAY_CONFORMANCE_INSPECT_SEGMENT_H

#include "lib/text/err.h"
#include "lib/wire/set.h"

struct cf_batch_place {
	size_t at;
	int64_t first, last;             /* offsets */
	int64_t maxTimestamp;
	int64_t maxSoFar;                /* greatest maxTimestamp of this batch and those in front of it */
	int64_t producerId;              /* -1 = none */
	int32_t leaderEpoch;             /* -1 = none */
	bool abort;                      /* an abort marker */
};

struct cf_segment {
	struct cf_batch_place *v;
	size_t n;
	size_t end;                      /* behind the last batch that can be read */
	int64_t first_offset;            /* as the file's name says, or that of the first batch */
	bool holes;                      /* offsets are missing: it was compacted */
};

/* Reads as far as there are whole batches. first_offset -1: the name does not tell. 0 or KT_ENOMEM. */
int cf_segment_read(struct cf_segment *segment, const struct kw_slice *bytes, int64_t first_offset, struct kt_err *err);
void cf_segment_fini(struct cf_segment *segment);

/* The batch that begins at this place; the one with this offset; NULL if there is none. */
const struct cf_batch_place *cf_segment_at(const struct cf_segment *segment, size_t at);
const struct cf_batch_place *cf_segment_holding(const struct cf_segment *segment, int64_t offset);

#endif
