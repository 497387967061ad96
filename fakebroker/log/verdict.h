/* What the broker makes of the record sets of a Produce request, with its log, its producers and its validators: stages
 * I to L of lib/wire/verdict.h, which has the others and the verdict itself. */
#ifndef KASSAY_FAKEBROKER_LOG_VERDICT_H
#define KASSAY_FAKEBROKER_LOG_VERDICT_H

#include "fakebroker/hooks/refused.h"
#include "fakebroker/log/log.h"
#include "fakebroker/log/producers.h"
#include "lib/wire/verdict.h"

/* What fb_verdict_check and fb_verdict_append work on. */
struct fb_append {
	struct fb_log *log;
	struct fb_producers *producers;
	const char *topic;
	int32_t partition, leaderEpoch;
	const struct kw_topic_conf *conf;
	struct fb_chain *chain;          /* NULL = stock Kafka, byte for byte */
	struct fb_refused *refused;      /* where what the chain refused is kept; NULL = nowhere */
	struct kw_str clientId;          /* of the request, for that */
	struct kw_meters *meters;        /* added to without a lock: let it be the caller's own */
	int64_t now;                     /* ms since the epoch, by the broker's clock */
	bool guarded;                    /* transaction.partition.verification.enable */
	uint64_t guard;                  /* of fb_producers_verify, for a transactional batch */
	bool old;                        /* it came in Produce 0 to 2 */
	size_t inflate_max;              /* most bytes to inflate one batch to; 0 = 256 MiB */
	struct kw_buf *inflated;         /* where, or NULL: struct kw_walk_opts */
};

/* Stages I to K, which need no lock: header and records of the first batch; with a chain the records are read whole.
 * Returns true with *plan, what to append (NULL: nothing), or false with *v set when the batch is refused. Everything
 * lives in arena, or in the request's frame. Of a->log only logStartOffset is read, of a->producers nothing. */
bool fb_verdict_check(const struct fb_append *a, const struct kw_records *records, struct kw_arena *arena,
		      struct kw_append_plan **plan, struct kw_verdict *v);
/* Stage L under the partition's lock: sequences and epochs, then the append. frame is the one that `records` lies in.
 * A duplicate is accepted without appending: v->baseOffset is the old one and v->logAppendTimeMs the old batch's
 * maximum timestamp even on a CreateTime topic, as in Kafka. */
void fb_verdict_append(const struct fb_append *a, struct kw_append_plan *plan, struct fb_frame *frame,
		       struct kw_arena *arena, struct kw_verdict *v);

#endif
