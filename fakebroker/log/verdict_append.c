/* Stage L: what depends on what the partition has seen before, and the append. */
#include "fakebroker/log/verdict_steps.h"
#include "lib/wire/errors.h"

static void accept_duplicate(const struct fb_append *a, const struct fb_producer_batch *duplicate, struct fb_verdict *v)
{
	v->duplicate = true;
	v->baseOffset = duplicate->baseOffset;
	v->logAppendTimeMs = duplicate->timestamp;
	v->logStartOffset = a->log->logStartOffset;
}

static enum fb_refusal refusal_of(int16_t code)
{
	switch (code) {
	case KW_ERR_INVALID_PRODUCER_EPOCH: return FB_R_EPOCH;
	case KW_ERR_INVALID_TXN_STATE: return FB_R_TXN_STATE;
	default: return FB_R_SEQUENCE;
	}
}

void fb_verdict_append(const struct fb_append *a, struct fb_append_plan *plan, struct fb_frame *frame,
		       struct kw_arena *arena, struct fb_verdict *v)
{
	struct fb_judge judge = {a, arena, v, 0};
	int64_t baseOffset = a->log->logEndOffset;
	int64_t offsetOfMax = plan->hasMax ? baseOffset + plan->deltaOfMax : -1;
	const struct fb_producer_batch *duplicate;
	const char *reason = NULL;
	int16_t code = fb_producers_check(a->producers, &plan->batch, a->topic, a->partition, baseOffset, arena,
					  &reason, &duplicate);

	if (code) {
		fb_refuse_with(&judge, refusal_of(code), reason);
		return;
	}
	if (duplicate) {
		accept_duplicate(a, duplicate, v);
		return;
	}
	/* Neither field is under the CRC. */
	kw_wr64(plan->header + KW_B_BASE_OFFSET, (uint64_t)baseOffset);
	kw_wr32(plan->header + KW_B_LEADER_EPOCH, (uint32_t)a->leaderEpoch);
	if (fb_producers_reserve(a->producers) < 0 ||
	    fb_log_append(a->log, plan->header, plan->rebuilt ? NULL : frame, plan->body.p, plan->body.n,
			  plan->batch.maxTimestamp, offsetOfMax) < 0) {
		fb_refuse_no_memory(&judge);
		return;
	}
	/* There is room, so this cannot fail. */
	fb_producers_add(a->producers, &plan->batch, baseOffset, plan->batch.maxTimestamp);
	v->baseOffset = baseOffset;
	v->logAppendTimeMs = a->conf->logAppendTime ? a->now : -1;
	v->logStartOffset = a->log->logStartOffset;
}
