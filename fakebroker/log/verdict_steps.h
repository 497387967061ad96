/* What fb_verdict_check is made of. Private to the verdict. */
#ifndef KASSAY_FAKEBROKER_LOG_VERDICT_STEPS_H
#define KASSAY_FAKEBROKER_LOG_VERDICT_STEPS_H

#include "fakebroker/log/refusal.h"

/* What the records of a batch that passes come to. */
struct fb_records_facts {
	int64_t maxTimestamp;     /* ms; -1 when none has a greater one */
	bool hasMax;              /* some record has maxTimestamp */
	int32_t indexOfMax;       /* the first that has it */
	int32_t deltaOfMax;       /* its offset delta */
	int32_t firstDelta;       /* offset delta of the first record */
	bool odd;                 /* offset deltas are not 0, 1, 2, ... */
};

/* What to append. */
struct fb_append_plan {
	struct kw_batch batch;         /* fields as in header; p is not that of the stored batch */
	uint8_t header[KW_B_RECORDS];  /* as it is stored, but for base offset and leader epoch */
	struct kw_slice body;          /* what follows the header: in the request's frame, or in the arena if rebuilt */
	bool rebuilt;
	bool hasMax;                   /* some record has the header's maxTimestamp: */
	int32_t deltaOfMax;            /* offset delta of the first that has */
};

/* Reads and judges all records (K8 to K15 and the validators). partial: as Kafka reads a compressed batch that it need
 * not re-encode, without keys and values. Returns false when the batch is refused. */
bool fb_check_records(const struct fb_judge *judge, const struct kw_batch *batch, bool partial,
		      struct fb_records_facts *facts);

/* Encodes the records anew with the target codec, offset deltas 0, 1, 2, ..., and the first record's timestamp as base:
 * plan's header, body and rebuilt. Returns false when Kafka could not write such a batch (then the answer is
 * UNKNOWN_SERVER_ERROR), or when it got too large. */
bool fb_rebuild(const struct fb_judge *judge, const struct kw_batch *batch, int target,
		const struct fb_records_facts *facts, struct fb_append_plan *plan);

/* The options with which the topic reads compressed records. */
static inline struct kw_walk_opts fb_walk_opts(const struct fb_append *a, bool partial)
{
	return (struct kw_walk_opts){
		.skip_bodies = partial,
		.record_max = a->conf->maxDecompressedMessageBytes,
		.inflate_max = a->inflate_max,
	};
}

/* Redoes CRC and plan->batch after the header or the body changed. */
void fb_plan_seal(struct fb_append_plan *plan);

#endif
