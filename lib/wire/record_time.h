/* Arithmetic of timestamps as Java does it: it wraps. */
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

/* A record's timestamp in ms; -1 = none. With the LogAppendTime bit it is the batch's maximum, whatever the deltas say
 * (DefaultRecordBatch.RecordIterator). */
static inline int64_t kw_record_time(const struct kw_batch *batch, const struct kw_record *record)
{
	if (batch->attributes & KW_A_LOG_APPEND_TIME)
		return batch->maxTimestamp;
	return kw_wrap_add(batch->baseTimestamp, record->timestampDelta);
}

#endif
