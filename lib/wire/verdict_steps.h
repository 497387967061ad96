/* What kw_verdict_check is made of. Private to the verdict. */
#ifndef KASSAY_WIRE_VERDICT_STEPS_H
#define KASSAY_WIRE_VERDICT_STEPS_H

#include "lib/wire/record_time.h"
#include "lib/wire/verdict.h"

/* What a batch is judged with. */
struct kw_judge {
	const struct kw_leader *leader;
	struct kw_arena *arena;
	struct kw_verdict *v;
	size_t set_size;          /* bytes of the whole record set */
};

/* What the records of a batch that passes come to. */
struct kw_records_facts {
	int64_t maxTimestamp;     /* ms; -1 when none has a greater one */
	bool hasMax;              /* some record has maxTimestamp */
	int32_t indexOfMax;       /* the first that has it */
	int32_t deltaOfMax;       /* its offset delta */
	int32_t firstDelta;       /* offset delta of the first record */
	bool odd;                 /* offset deltas are not 0, 1, 2, ... */
	bool partial;             /* keys and values were skipped */
};

/* The three ways to refuse, which all return false: with a reason that is in the arena or static (NULL when the arena
 * is full), with one in printf's way, and with the rule's own words. */
bool kw_refuse_with(const struct kw_judge *judge, enum kw_rule rule, const char *reason);
bool kw_refuse_batch(const struct kw_judge *judge, enum kw_rule rule, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
bool kw_refuse(const struct kw_judge *judge, enum kw_rule rule, const struct kw_batch *batch, size_t size);
bool kw_refuse_no_memory(const struct kw_judge *judge);

/* Reads and judges all records (K8 to K15 and the validators). skim: as Kafka reads a compressed batch that it need not
 * re-encode, without keys and values, unless a validator wants to see them. Returns false when the batch is refused. */
bool kw_check_records(const struct kw_judge *judge, const struct kw_batch *batch, bool skim,
		      struct kw_records_facts *facts);

/* Encodes the records anew with the target codec, offset deltas 0, 1, 2, ..., and the first record's timestamp as base:
 * plan's header, body and rebuilt. Returns false when Kafka could not write such a batch (then the answer is
 * UNKNOWN_SERVER_ERROR), or when it got too large. */
bool kw_rebuild(const struct kw_judge *judge, const struct kw_batch *batch, int target,
		const struct kw_records_facts *facts, struct kw_append_plan *plan);

/* Is what is stored no larger than a segment may be? Returns false when it is refused. */
bool kw_check_segment(const struct kw_judge *judge, const struct kw_append_plan *plan);

/* The options with which the topic reads compressed records. */
static inline struct kw_walk_opts kw_judge_walk_opts(const struct kw_leader *leader, bool partial)
{
	return (struct kw_walk_opts){
		.skip_bodies = partial,
		.record_max = leader->conf->maxDecompressedMessageBytes,
		.inflate_max = leader->inflate_max,
		.inflated = leader->inflated,
	};
}

/* Is a timestamp too old or too new? Both comparisons wrap, as Kafka's. */
static inline bool kw_out_of_range(const struct kw_leader *leader, int64_t timestamp)
{
	int64_t age = kw_wrap_sub(leader->now, timestamp);

	return age > leader->conf->beforeMaxMs || kw_wrap_sub(0, age) > leader->conf->afterMaxMs;
}

/* Redoes CRC and plan->batch after the header or the body changed. */
void kw_plan_seal(struct kw_append_plan *plan);

#endif
