#include "fakebroker/log/thin.h"

#include <inttypes.h>

#include "fakebroker/log/mutant_thin.h"
#include "fakebroker/mutants.h"
#include "lib/wire/java_utf8.h"
#include "lib/wire/legacy.h"
#include "lib/wire/record_time.h"

/* A batch at work. */
struct work {
	const struct fb_thinning *how;
	const struct kw_batch *batch;
	int32_t read, kept, written;
	bool tombstones;            /* among those that are kept */
	/* For the new batch. */
	int64_t horizon;            /* delete horizon; negative = none */
	struct kw_batch_spec spec;
	int64_t lastOffset;         /* of the record before, -1 at first */
	int64_t offsetOfMaxTimestamp;
	struct kw_buf records;
	struct kw_arena arena;
	struct kt_err *err;
};

static bool has_horizon(const struct kw_batch *batch)
{
	return batch->attributes & KW_A_DELETE_HORIZON;
}

/* Cleaner.shouldRetainRecord. Markers stay as long as their batch does. */
static bool stays(const struct work *work, const struct kw_record *record)
{
	const struct kw_batch *batch = work->batch;

	if (work->how->discard)
		return false;
	if (batch->attributes & KW_A_CONTROL)
		return true;
	if (fb_mutated()) {
		enum fb_mutant_choice choice = fb_mutant_keeps(work->how, batch, record);

		if (choice != FB_MUTANT_HAS_NO_SAY)
			return choice == FB_MUTANT_STAYS;
	}
	if (record->key.n < 0 ||
	    batch->baseOffset + record->offsetDelta < fb_latest_find(work->how->latest, record->key))
		return false;
	return record->value.n >= 0 || !has_horizon(batch) || work->how->now < batch->baseTimestamp;
}

static int count_record(void *arg, int32_t index, const struct kw_record *record)
{
	struct work *work = arg;

	(void)index;
	work->read++;
	if (!stays(work, record))
		return 0;
	work->kept++;
	work->tombstones |= record->value.n < 0;
	return 0;
}

/* ---- the new batch ---- */

static int unwritable(struct work *work, const char *why, int64_t number)
{
	return kt_fail(work->err, KT_ECORRUPT, "%s %" PRId64, why, number);
}

static int put_record(void *arg, int32_t index, const struct kw_record *record)
{
	struct work *work = arg;
	int64_t timestamp = kw_record_time(work->batch, record), offset = work->batch->baseOffset + record->offsetDelta;
	struct kw_record copy = *record;

	(void)index;
	if (!stays(work, record))
		return 0;
	if (timestamp < 0 && timestamp != KW_NO_TIMESTAMP)
		return unwritable(work, "Invalid negative timestamp", timestamp);
	if (offset <= work->lastOffset)
		return unwritable(work, "Offsets must increase monotonically, but there is", offset);
	work->lastOffset = offset;
	if (work->records.n == 0 && work->horizon < 0)
		work->spec.baseTimestamp = timestamp;
	if (work->offsetOfMaxTimestamp < 0 || timestamp > work->spec.maxTimestamp) {
		work->spec.maxTimestamp = timestamp;
		work->offsetOfMaxTimestamp = offset;
	}
	copy.attributes = 0;
	copy.timestampDelta = kw_wrap_sub(timestamp, work->spec.baseTimestamp);
	if (fb_mutated())
		fb_mutant_record(&copy, &work->spec, offset, work->written);
	work->written++;
	if (kw_record_recode_keys(&copy, &work->arena) < 0)
		return kt_fail(work->err, KT_ENOMEM, "out of memory");
	kw_record_put(&work->records, &copy);
	return work->records.failed ? kw_buf_fail(&work->records, work->err, "its records are larger than 1 GiB") : 0;
}

/* What the new batch has of the old one's. */
static struct kw_batch_spec spec_of(const struct kw_batch *batch)
{
	return (struct kw_batch_spec){
		.baseOffset = batch->baseOffset, .partitionLeaderEpoch = batch->partitionLeaderEpoch,
		.attributes = (int16_t)(batch->attributes & (KW_A_LOG_APPEND_TIME | KW_A_TRANSACTIONAL | KW_A_CONTROL)),
		.baseTimestamp = KW_NO_TIMESTAMP, .maxTimestamp = batch->maxTimestamp, .producerId = batch->producerId,
		.producerEpoch = batch->producerEpoch, .baseSequence = batch->baseSequence,
	};
}

/* The entry of the batch that work's spec and records make. */
static int build(struct work *work, const struct fb_entry *from, struct fb_entry *to)
{
	struct kw_buf buf = {0};
	int32_t lastOffsetDelta = work->batch->lastOffsetDelta;
	int code;

	if (fb_mutated())
		fb_mutant_header(&work->spec, work->batch, work->lastOffset, &lastOffsetDelta);
	code = kw_batch_wrap(&work->spec, work->records.p, work->records.n, work->kept, lastOffsetDelta, &buf,
			     work->err);
	*to = *from;
	to->frame = code ? NULL : fb_frame_new(buf.n);
	if (to->frame) {
		if (fb_mutant(FB_M_CRC_STALE))
			memcpy(buf.p + KW_B_CRC, work->batch->p + KW_B_CRC, sizeof(uint32_t));
		memcpy(to->frame->p, buf.p, buf.n);
		to->frame->n = buf.n;
		to->body = to->frame->p + KW_B_RECORDS;
		to->size = (uint32_t)buf.n;
		memcpy(to->header, buf.p, KW_B_RECORDS);
		to->maxTimestamp = work->spec.maxTimestamp;
		to->offsetOfMaxTimestamp = work->offsetOfMaxTimestamp;
	} else if (!code) {
		code = kt_fail(work->err, KT_ENOMEM, "out of memory");
	}
	kw_buf_fini(&buf);
	return code;
}

/* MemoryRecords.buildRetainedRecordsInto. */
static int rebuild(struct work *work, const struct fb_entry *from, struct fb_entry *to)
{
	const struct kw_batch *batch = work->batch;
	enum kw_walk why;
	const char *why_not = kw_batch_unwritable(batch);
	int code;

	if (why_not)
		return kt_fail(work->err, KT_ECORRUPT, "%s", why_not);
	work->spec.attributes |= (int16_t)(batch->attributes & KW_A_CODEC);
	if (work->horizon >= 0) {
		work->spec.attributes |= KW_A_DELETE_HORIZON;
		work->spec.baseTimestamp = work->horizon;
	}
	code = kw_batch_walk(batch, work->how->opts, put_record, work, &why, work->err);
	return code ? code : build(work, from, to);
}

static int64_t retention_of(const struct fb_thinning *how)
{
	return fb_mutant(FB_M_HORIZON_AT_ONCE) ? 0 : how->deleteRetentionMs;
}

static int thin(struct work *work, const struct fb_entry *from, struct fb_entry *to)
{
	const struct kw_batch *batch = work->batch;
	bool wants_horizon = (work->tombstones || work->how->marker_of_nothing) && !has_horizon(batch) &&
			     !fb_mutant(FB_M_NO_HORIZON);

	if (work->kept == 0) {
		if (work->how->stays_empty)
			return build(work, from, to);
		to->frame = NULL;
		return 0;
	}
	if (work->kept == work->read && !wants_horizon && !fb_mutant(FB_M_WHOLE_REWRITTEN)) {
		*to = *from;
		fb_frame_ref(to->frame);
		return 0;
	}
	work->horizon = wants_horizon ? kw_wrap_add(work->how->now, retention_of(work->how))
				      : has_horizon(batch) ? batch->baseTimestamp : -1;
	return rebuild(work, from, to);
}

int fb_thin(const struct fb_thinning *how, const struct fb_entry *from, struct fb_thinned *to, struct kt_err *err)
{
	struct work work = {.how = how, .err = err, .horizon = -1, .lastOffset = -1, .offsetOfMaxTimestamp = -1};
	struct kw_batch batch;
	enum kw_walk why;
	int code;

	fb_entry_batch(from, &batch);
	if (how->discard && !how->stays_empty) {   /* BatchRetention.DELETE: nobody looks into it */
		*to = (struct fb_thinned){.read = batch.count};
		return 0;
	}
	work.batch = &batch;
	work.spec = spec_of(&batch);
	kw_arena_init(&work.arena, 0);
	code = kw_batch_walk(&batch, how->opts, count_record, &work, &why, err);
	if (!code)
		code = thin(&work, from, &to->entry);
	to->read = work.read;
	to->kept = work.kept;
	kw_buf_fini(&work.records);
	kw_arena_fini(&work.arena);
	return code;
}
