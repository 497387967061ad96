/* Stages I to K: the batch as a whole, its header, its records, and what of it is stored. */
#include <inttypes.h>

#include "fakebroker/log/mutant_checks.h"
#include "fakebroker/log/next_batch.h"
#include "fakebroker/log/record_time.h"
#include "fakebroker/log/verdict_steps.h"
#include "fakebroker/mutants.h"

static bool crc_is_wrong(const struct fb_append *a, const struct kw_slice *slice)
{
	if (fb_mutant(FB_M_CRC_UNCHECKED) || (fb_mutant(FB_M_CHAIN_WITHOUT_CRC) && a->chain))
		return false;
	return slice->n < KW_B_RECORDS || kw_batch_crc(slice->p, slice->n) != kw_rd32(slice->p + KW_B_CRC);
}

/* Does a mutant find the CRC wrong before anything else is told? */
static bool too_early(enum fb_mutant mutant, const struct fb_append *a, const struct kw_slice *slice)
{
	return fb_mutant(mutant) && crc_is_wrong(a, slice);
}

static bool base_offset_is_wrong(int64_t baseOffset)
{
	if (fb_mutant(FB_M_BASE_OFFSET_UNCHECKED))
		return false;
	return fb_mutant(FB_M_BASE_OFFSET_SIGN_UNCHECKED) ? baseOffset > 0 : baseOffset != 0;
}

static bool size_is_wrong(const struct fb_append *a, size_t size)
{
	if (fb_mutant(FB_M_SIZE_UNCHECKED))
		return false;
	return size + fb_mutant(FB_M_SIZE_LIMIT_EXCLUSIVE) > (size_t)a->conf->maxMessageBytes;
}

/* Stage I. Base offset comes before size, and size before CRC. */
static bool check_batch(const struct fb_judge *judge, const struct kw_slice *slice, struct kw_batch *batch)
{
	const struct fb_append *a = judge->a;
	int64_t baseOffset = (int64_t)kw_rd64(slice->p + KW_B_BASE_OFFSET);

	if (base_offset_is_wrong(baseOffset) && !too_early(FB_M_CRC_BEFORE_BASE_OFFSET, a, slice))
		return fb_refuse_batch(judge, FB_R_BASE_OFFSET, "The baseOffset of the record batch in the append to "
				       "%s-%d should be 0, but it is %" PRId64, a->topic, a->partition, baseOffset);
	if (size_is_wrong(a, slice->n) && !too_early(FB_M_CRC_BEFORE_SIZE, a, slice))
		return fb_refuse_batch(judge, FB_R_BATCH_TOO_LARGE, "The record batch size in the append to %s-%d is "
				       "%zu bytes which exceeds the maximum configured value of %d).", a->topic,
				       a->partition, slice->n, a->conf->maxMessageBytes);
	if (kw_batch_parse(slice->p, slice->n, batch, NULL) < 0 || crc_is_wrong(a, slice))
		return fb_refuse_batch(judge, fb_mutant(FB_M_SMALL_BATCH_CODE) && slice->n < KW_B_RECORDS ? FB_R_BAD_RECORD
				       : FB_R_CORRUPT, "Record is corrupt (stored crc = %u) in topic partition "
				       "%s-%d.", kw_rd32(slice->p + KW_B_CRC), a->topic, a->partition);
	if (!kw_codec_name(batch->attributes & KW_A_CODEC) || fb_mutant_lacks_codec(batch))
		return fb_refuse_batch(judge, fb_mutant(FB_M_UNKNOWN_CODEC_CORRUPT) ? FB_R_CORRUPT : FB_R_UNKNOWN_CODEC,
				       "Unknown compression type id: %d",
				       batch->attributes & KW_A_CODEC);
	return true;
}

/* Stages K2 to K6. */
static bool check_header(const struct fb_judge *judge, const struct kw_batch *batch)
{
	const struct fb_append *a = judge->a;
	int64_t range = (int64_t)batch->lastOffsetDelta + 1;
	enum fb_refusal offsets = fb_mutant(FB_M_COUNT_CODE) ? FB_R_CORRUPT : FB_R_OFFSETS;

	if (fb_mutant(FB_M_EMPTY_BATCH_TAKEN) && batch->count <= 0)
		return true;
	if (fb_mutant_refuses_header(batch))
		return fb_refuse_batch(judge, FB_R_OFFSETS, "The header of the record batch is not as it should be");
	if (range <= 0)
		return fb_refuse_batch(judge, offsets, "Batch has an invalid offset range: [0, %d] in topic "
				       "partition %s-%d", batch->lastOffsetDelta, a->topic, a->partition);
	if (batch->count <= 0)
		return fb_refuse_batch(judge, offsets, "Invalid reported count for record batch: %d in topic "
				       "partition %s-%d", batch->count, a->topic, a->partition);
	if (range != batch->count && !fb_mutant(FB_M_COUNT_RANGE_UNCHECKED))
		return fb_refuse_batch(judge, offsets, "Inconsistent batch offset range [0, %d] and count of "
				       "records %d in topic partition %s-%d", batch->lastOffsetDelta, batch->count,
				       a->topic, a->partition);
	if (batch->attributes & KW_A_CONTROL && !fb_mutant(FB_M_CONTROL_TAKEN))
		return fb_refuse_batch(judge, FB_R_CONTROL, "Clients are not allowed to write control records in topic "
				       "partition %s-%d", a->topic, a->partition);
	if (fb_has_producer_id(batch) && batch->baseSequence < 0 && !fb_mutant(FB_M_SEQUENCE_SIGN_UNCHECKED))
		return fb_refuse_batch(judge, FB_R_NEGATIVE_SEQUENCE, "Invalid sequence number %d in record batch with "
				       "producerId %" PRId64 " in topic partition %s-%d", batch->baseSequence,
				       batch->producerId, a->topic, a->partition);
	return true;
}

/* ---- what is stored ---- */

void fb_plan_seal(struct fb_append_plan *plan)
{
	uint32_t crc = kw_crc32c(0, plan->header + KW_B_ATTRIBUTES, KW_B_RECORDS - KW_B_ATTRIBUTES);

	kw_wr32(plan->header + KW_B_CRC, kw_crc32c(crc, plan->body.p, plan->body.n));
	kw_batch_parse(plan->header, KW_B_RECORDS + plan->body.n, &plan->batch, NULL);
}

/* Kafka's DefaultRecordBatch.setMaxTimestamp: when nothing changes, not even unused attribute bits do. */
static void set_max_timestamp(struct fb_append_plan *plan, bool logAppendTime, int64_t maxTimestamp)
{
	int kept = KW_A_CODEC | KW_A_TRANSACTIONAL | KW_A_CONTROL | KW_A_DELETE_HORIZON;
	bool was = plan->batch.attributes & KW_A_LOG_APPEND_TIME;

	if (fb_mutant(FB_M_APPEND_TIME_ALWAYS))
		logAppendTime = true;
	if (was == logAppendTime && plan->batch.maxTimestamp == maxTimestamp)
		return;
	kw_wr16(plan->header + KW_B_ATTRIBUTES,
		(uint16_t)((plan->batch.attributes & kept) | (logAppendTime ? KW_A_LOG_APPEND_TIME : 0)));
	kw_wr64(plan->header + KW_B_MAX_TIMESTAMP, (uint64_t)maxTimestamp);
	fb_plan_seal(plan);
}

static void plan_in_place(const struct fb_append *a, const struct kw_batch *batch, const struct fb_records_facts *facts,
			  struct fb_append_plan *plan)
{
	bool logAppendTime = a->conf->logAppendTime;

	memcpy(plan->header, batch->p, KW_B_RECORDS);
	plan->body = (struct kw_slice){batch->p + KW_B_RECORDS, batch->size - KW_B_RECORDS};
	plan->batch = *batch;
	plan->deltaOfMax = logAppendTime ? facts->firstDelta : facts->deltaOfMax;
	set_max_timestamp(plan, logAppendTime, logAppendTime ? a->now : facts->maxTimestamp);
}

/* The paths of LogValidator: in place, or re-encoded. A compressed batch that stays as it is has its records skimmed,
 * unless a validator wants to see them. */
static bool check_records(const struct fb_judge *judge, const struct kw_batch *batch, struct fb_append_plan *plan)
{
	const struct fb_append *a = judge->a;
	int source = batch->attributes & KW_A_CODEC;
	int target = a->conf->compression < 0 ? source : a->conf->compression;
	bool partial = source != KW_NONE && source == target && (!a->chain || fb_mutant(FB_M_CHAIN_SKIMS)) &&
		       !fb_mutant(FB_M_NEVER_SKIMMED);
	struct fb_records_facts facts;

	if (!fb_check_records(judge, batch, partial, &facts))
		return false;
	plan->hasMax = facts.hasMax || a->conf->logAppendTime;
	if (source == target && (source == KW_NONE || !facts.odd)) {
		plan_in_place(a, batch, &facts, plan);
		return true;
	}
	/* Odd offset deltas want a new batch, but the records were skimmed: that is how Kafka fails. */
	if (partial)
		return fb_refuse_with(judge, FB_R_NOT_REBUILT, "key is skipped in PartialDefaultRecord");
	return fb_rebuild(judge, batch, target, &facts, plan);
}

static bool check_segment(const struct fb_judge *judge, const struct fb_append_plan *plan)
{
	const struct fb_append *a = judge->a;
	size_t size = KW_B_RECORDS + plan->body.n;

	if (size <= (size_t)a->conf->segmentBytes)
		return true;
	return fb_refuse_batch(judge, FB_R_SEGMENT_TOO_SMALL, "Message batch size is %zu bytes in append to partition "
			       "%s-%d, which exceeds the maximum configured segment size of %d.", size, a->topic,
			       a->partition, a->conf->segmentBytes);
}

bool fb_verdict_check(const struct fb_append *a, const struct kw_records *records, struct kw_arena *arena,
		      struct fb_append_plan **plan, struct fb_verdict *v)
{
	struct fb_judge judge = {a, arena, v, records->n > 0 ? (size_t)records->n : 0};
	struct kw_slice rest = {records->p, judge.set_size}, slice;
	const char *message;
	struct kw_batch batch;

	if (fb_next_batch(&rest, arena, &slice, &message) != FB_NEXT_BATCH)
		return fb_refuse_with(&judge, FB_R_NO_BATCH, "Record batch has no batches at all");
	if (!check_batch(&judge, &slice, &batch) || !check_header(&judge, &batch))
		return false;
	*plan = kw_alloc(arena, sizeof **plan);
	if (!*plan)
		return fb_refuse_no_memory(&judge);
	return check_records(&judge, &batch, *plan) && check_segment(&judge, *plan);
}
