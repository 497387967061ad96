/* Arithmetic of timestamps and offsets as Java does it: it wraps. */
#ifndef KASSAY_WIRE_RECORD_TIME_H
#define KASSAY_WIRE_RECORD_TIME_H

#include "lib/wire/batch.h"

static inline int64_t kw_wrap_add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t kw_wrap_sub(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* The offset of a record, or with lastOffsetDelta the batch's last one: bytes may claim any. */
static inline int64_t kw_record_offset(const struct kw_batch *batch, int32_t delta)
{
	return kw_wrap_add(batch->baseOffset, delta);
}

/* Where the batch behind this one begins. */
static inline int64_t kw_next_offset(const struct kw_batch *batch)
{
	return kw_wrap_add(kw_record_offset(batch, batch->lastOffsetDelta), 1);
}

/* A record's timestamp in ms; -1 = none. With the LogAppendTime bit it is the batch's maximum, whatever the deltas say
 * (DefaultRecordBatch.RecordIterator). */
static inline int64_t kw_record_time(const struct kw_batch *batch, const struct kw_record *record)
{
	if (batch->attributes & KW_A_LOG_APPEND_TIME)
		return batch->maxTimestamp;
	return kw_wrap_add(batch->baseTimestamp, record->timestampDelta);
}

#endif
