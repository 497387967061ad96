/* Stages I to K with the partition's validators; stage L: what depends on what it has seen before, and the append. */
#include "fakebroker/log/mutant_verdict.h"
#include "fakebroker/mutants.h"
#include "lib/wire/errors.h"

static struct kw_leader leader_of(const struct fb_append *a)
{
	return (struct kw_leader){
		.topic = a->topic, .partition = a->partition, .conf = a->conf, .logStartOffset = a->log->logStartOffset,
		.now = a->now, .inflate_max = a->inflate_max, .inflated = a->inflated, .meters = a->meters,
	};
}

/* A chain, and its last refusal. */
struct validation {
	const struct fb_append *a;
	struct fb_batch_place place;
	struct fb_rejection rejection;
};

static bool validate(void *arg, const struct kw_batch *batch, int32_t index, const struct kw_record *record,
		     int16_t *code, const char **text)
{
	struct validation *validation = arg;
	const struct fb_append *a = validation->a;

	validation->place.codec = batch->attributes & KW_A_CODEC;
	validation->place.baseTimestamp = batch->baseTimestamp;
	if (!fb_chain_validate(a->chain, &validation->place, index, record, &validation->rejection))
		return true;
	fb_refused_add(a->refused, &validation->place, a->clientId, a->now, index, record, &validation->rejection);
	*code = validation->rejection.error;
	*text = validation->rejection.text;
	return false;
}

static void add_chain(struct kw_leader *leader, struct validation *validation, const struct fb_append *a)
{
	validation->a = a;
	validation->place = (struct fb_batch_place){.topic = a->topic, .partition = a->partition};
	leader->validate = validate;
	leader->validate_arg = validation;
}

static bool check_mutated(const struct fb_append *a, const struct kw_records *records, struct kw_arena *arena,
			  struct kw_append_plan **plan, struct kw_verdict *v)
{
	struct kw_leader leader = leader_of(a);
	struct validation validation;

	if (a->chain)
		add_chain(&leader, &validation, a);
	return fb_mutant_check(a, &leader, records, arena, plan, v);
}

/* Apart from fb_verdict_check(), so that a batch without validators pays for one comparison and no more. */
__attribute__((noinline))
static bool check_with_chain(const struct fb_append *a, const struct kw_records *records, struct kw_arena *arena,
			     struct kw_append_plan **plan, struct kw_verdict *v)
{
	struct kw_leader leader = leader_of(a);
	struct validation validation;

	add_chain(&leader, &validation, a);
	return kw_verdict_check(&leader, records, arena, plan, v);
}

__attribute__((noinline))
static bool check_without(const struct fb_append *a, const struct kw_records *records, struct kw_arena *arena,
			  struct kw_append_plan **plan, struct kw_verdict *v)
{
	struct kw_leader leader = leader_of(a);

	return kw_verdict_check(&leader, records, arena, plan, v);
}

static bool check_old(const struct fb_append *a, const struct kw_records *records, struct kw_arena *arena,
		      struct kw_append_plan **plan, struct kw_verdict *v)
{
	struct kw_leader leader = leader_of(a);
	struct validation validation;

	if (a->chain)
		add_chain(&leader, &validation, a);
	return kw_verdict_old(&leader, records, arena, plan, v);
}

bool fb_verdict_check(const struct fb_append *a, const struct kw_records *records, struct kw_arena *arena,
		      struct kw_append_plan **plan, struct kw_verdict *v)
{
	if (a->old)
		return check_old(a, records, arena, plan, v);
	if (fb_mutated())
		return check_mutated(a, records, arena, plan, v);
	if (a->chain)
		return check_with_chain(a, records, arena, plan, v);
	return check_without(a, records, arena, plan, v);
}

static void accept_duplicate(const struct fb_append *a, const struct fb_producer_batch *duplicate, struct kw_verdict *v)
{
	v->duplicate = true;
	v->baseOffset = fb_mutant(FB_M_DUPLICATE_OFFSET_UNTOLD) ? -1 : duplicate->baseOffset;
	v->logAppendTimeMs = duplicate->timestamp;
	v->logStartOffset = a->log->logStartOffset;
}

static enum kw_rule rule_of(int16_t code)
{
	switch (code) {
	case KW_ERR_INVALID_PRODUCER_EPOCH: return KW_R_EPOCH;
	case KW_ERR_INVALID_TXN_STATE: return KW_R_TXN_STATE;
	default: return KW_R_SEQUENCE;
	}
}

/* Sequences and epochs. */
static int16_t check_producer(const struct fb_append *a, const struct kw_batch *batch, int64_t baseOffset,
			      struct kw_arena *arena, const char **reason, const struct fb_producer_batch **duplicate)
{
	const struct fb_producer_check check = {
		.batch = batch, .topic = a->topic, .partition = a->partition, .end_offset = baseOffset,
		.guarded = a->guarded, .guard = a->guard,
	};

	return fb_producers_check(a->producers, &check, arena, reason, duplicate);
}

void fb_verdict_append(const struct fb_append *a, struct kw_append_plan *plan, struct fb_frame *frame,
		       struct kw_arena *arena, struct kw_verdict *v)
{
	const struct kw_leader leader = leader_of(a);
	int64_t baseOffset = a->log->logEndOffset;
	int64_t offsetOfMax = plan->hasMax ? baseOffset + plan->deltaOfMax : -1;
	bool has_producer = fb_has_producer_id(&plan->batch);
	const struct fb_producer_batch *duplicate = NULL;
	const char *reason = NULL;
	int16_t code = 0;

	a->log->now = a->now;
	if (has_producer)
		code = check_producer(a, &plan->batch, baseOffset, arena, &reason, &duplicate);
	if (code || duplicate)   /* Kafka makes room before it looks at the producer */
		fb_log_roll_for(a->log, KW_B_RECORDS + plan->body.n, plan->batch.maxTimestamp);
	if (code) {
		kw_verdict_refuse(&leader, rule_of(code), 0, reason, v);
		return;
	}
	if (duplicate) {
		accept_duplicate(a, duplicate, v);
		return;
	}
	/* Neither field is under the CRC. */
	kw_wr64(plan->header + KW_B_BASE_OFFSET, (uint64_t)baseOffset);
	kw_wr32(plan->header + KW_B_LEADER_EPOCH, (uint32_t)a->leaderEpoch);
	if ((has_producer && fb_producers_reserve(a->producers) < 0) ||
	    fb_log_append(a->log, plan->header, plan->rebuilt ? NULL : frame, plan->body.p, plan->body.n,
			  plan->batch.maxTimestamp, offsetOfMax) < 0) {
		kw_verdict_refuse(&leader, KW_R_NO_MEMORY, 0, "out of memory", v);
		return;
	}
	/* There is room, so this cannot fail. */
	fb_producers_add(a->producers, &plan->batch, baseOffset, plan->batch.maxTimestamp);
	v->baseOffset = baseOffset + (fb_mutant(FB_M_LAST_OFFSET_TOLD) ? plan->batch.lastOffsetDelta : 0);
	v->logAppendTimeMs = a->conf->logAppendTime && !fb_mutant(FB_M_APPEND_TIME_UNTOLD) ? a->now : -1;
	v->logStartOffset = a->log->logStartOffset;
}
