/* Which count a value belongs to, and back. Internal to lib/hist.
 *
 * Bucket 0 has 2^(half_shift+1) sub-buckets of width 2^unit_shift. Every further bucket covers twice the range of the
 * one before; its lower half is that one, so that only its upper half, 2^half_shift sub-buckets, is stored.
 */
#ifndef KASSAY_HIST_LAYOUT_H
#define KASSAY_HIST_LAYOUT_H

#include "lib/hist/hist.h"

/* 0 <= value <= hist->highest. */
static inline int32_t kh_index_of(const struct kh_hist *hist, int64_t value)
{
	int bucket = 64 - __builtin_clzll((uint64_t)(value | hist->mask)) - hist->unit_shift - hist->half_shift - 1;
	int64_t sub = value >> (bucket + hist->unit_shift);

	return (int32_t)(((int64_t)bucket << hist->half_shift) + sub);
}

/* log2 of the width of count i's range */
static inline int kh_shift_at(const struct kh_hist *hist, int32_t i)
{
	int bucket = (i >> hist->half_shift) - 1;

	return (bucket < 0 ? 0 : bucket) + hist->unit_shift;
}

static inline int64_t kh_width_at(const struct kh_hist *hist, int32_t i)
{
	return INT64_C(1) << kh_shift_at(hist, i);
}

/* The smallest value of count i's range. */
static inline int64_t kh_value_at(const struct kh_hist *hist, int32_t i)
{
	int64_t half = INT64_C(1) << hist->half_shift;
	int64_t sub = i < half ? i : (i & (half - 1)) + half;

	return sub << kh_shift_at(hist, i);
}

#endif
