/* Stages I to K: the batch as a whole, its header, its records, and what of it is stored. */
#include "lib/wire/next_batch.h"
#include "lib/wire/record_time.h"
#include "lib/wire/verdict_steps.h"

/* ---- what is stored ---- */

void kw_plan_seal(struct kw_append_plan *plan)
{
	uint32_t crc = kw_crc32c(0, plan->header + KW_B_ATTRIBUTES, KW_B_RECORDS - KW_B_ATTRIBUTES);

	kw_wr32(plan->header + KW_B_CRC, kw_crc32c(crc, plan->body.p, plan->body.n));
	kw_batch_parse(plan->header, KW_B_RECORDS + plan->body.n, &plan->batch, NULL);
}

/* Kafka's DefaultRecordBatch.setMaxTimestamp: when nothing changes, not even unused attribute bits do. */
static void set_max_timestamp(struct kw_append_plan *plan, bool logAppendTime, int64_t maxTimestamp)
{
	int kept = KW_A_CODEC | KW_A_TRANSACTIONAL | KW_A_CONTROL | KW_A_DELETE_HORIZON;
	bool was = plan->batch.attributes & KW_A_LOG_APPEND_TIME;

	if (was == logAppendTime && plan->batch.maxTimestamp == maxTimestamp)
		return;
	kw_wr16(plan->header + KW_B_ATTRIBUTES,
		(uint16_t)((plan->batch.attributes & kept) | (logAppendTime ? KW_A_LOG_APPEND_TIME : 0)));
	kw_wr64(plan->header + KW_B_MAX_TIMESTAMP, (uint64_t)maxTimestamp);
	kw_plan_seal(plan);
}

static void plan_in_place(const struct kw_leader *leader, const struct kw_batch *batch,
			  const struct kw_records_facts *facts, struct kw_append_plan *plan)
{
	bool logAppendTime = leader->conf->logAppendTime;

	memcpy(plan->header, batch->p, KW_B_RECORDS);
	plan->body = (struct kw_slice){batch->p + KW_B_RECORDS, batch->size - KW_B_RECORDS};
	plan->batch = *batch;
	plan->deltaOfMax = logAppendTime ? facts->firstDelta : facts->deltaOfMax;
	set_max_timestamp(plan, logAppendTime, logAppendTime ? leader->now : facts->maxTimestamp);
}

/* The paths of LogValidator: in place, or re-encoded. A compressed batch that stays as it is has its records
 * skimmed. */
static bool check_records(const struct kw_judge *judge, const struct kw_batch *batch, struct kw_append_plan *plan)
{
	const struct kw_leader *leader = judge->leader;
	int source = batch->attributes & KW_A_CODEC;
	int target = leader->conf->compression < 0 ? source : leader->conf->compression;
	struct kw_records_facts facts;

	if (!kw_check_records(judge, batch, source != KW_NONE && source == target, &facts))
		return false;
	plan->hasMax = facts.hasMax || leader->conf->logAppendTime;
	if (source == target && (source == KW_NONE || !facts.odd)) {
		plan_in_place(leader, batch, &facts, plan);
		return true;
	}
	/* Odd offset deltas want a new batch, but the records were skimmed: that is how Kafka fails. */
	if (facts.partial)
		return kw_refuse_with(judge, KW_R_NOT_REBUILT, "key is skipped in PartialDefaultRecord");
	return kw_rebuild(judge, batch, target, &facts, plan);
}

bool kw_check_segment(const struct kw_judge *judge, const struct kw_append_plan *plan)
{
	size_t size = KW_B_RECORDS + plan->body.n;

	return size <= (size_t)judge->leader->conf->segmentBytes ||
	       kw_refuse(judge, KW_R_SEGMENT_TOO_SMALL, &plan->batch, size);
}

static enum kw_rule broken(const struct kw_leader *leader, const struct kw_batch *batch)
{
	enum kw_rule rule = kw_rule_broken(KW_PRODUCED, batch, leader->conf, 0);

	while (rule != KW_RULES && leader->without >> rule & 1)
		rule = kw_rule_broken(KW_PRODUCED, batch, leader->conf, rule + 1);
	return rule;
}

bool kw_verdict_check(const struct kw_leader *leader, const struct kw_records *records, struct kw_arena *arena,
		      struct kw_append_plan **plan, struct kw_verdict *v)
{
	struct kw_judge judge = {leader, arena, v, records->n > 0 ? (size_t)records->n : 0};
	struct kw_slice rest = {records->p, judge.set_size};
	struct kw_batch batch;
	enum kw_rule rule;

	if (kw_next_batch(&rest, &batch, &rule) != KW_NEXT_BATCH)
		return kw_refuse(&judge, KW_R_NO_BATCH, &batch, 0);
	rule = broken(leader, &batch);
	if (rule != KW_RULES)
		return kw_refuse(&judge, rule, &batch, 0);
	*plan = kw_alloc(arena, sizeof **plan);
	if (!*plan)
		return kw_refuse_no_memory(&judge);
	return check_records(&judge, &batch, *plan) && kw_check_segment(&judge, *plan);
}
