/* A latency histogram with a fixed relative error and a fixed size.
 *
 * Values are non-negative integers of one unit (the kit records nanoseconds). The counts lie in buckets that double in
 * width, each cut into equally wide sub-buckets, so that a value is kept to `digits` significant decimal digits over
 * the whole range. Two histograms of equal shape add up count by count; percentiles can only be computed after adding,
 * never be averaged. Nothing here corrects for coordinated omission: record latencies that were counted from the
 * intended time of an operation, and there is nothing to correct.
 *
 * The bucket layout and the encodings are those of HdrHistogram (Gil Tene), so that its tools read what is written
 * here. One thread at a time.
 */
#ifndef KASSAY_HIST_HIST_H
#define KASSAY_HIST_HIST_H

#include <stdint.h>
#include <stdio.h>

#include "lib/text/err.h"

struct kh_hist {
	int64_t lowest, highest;     /* smallest value told apart from 0, and largest kept: both from kh_init */
	int digits;                  /* 1..5 significant decimal digits */
	int unit_shift;              /* log2 of the finest resolution */
	int half_shift;              /* log2 of half a bucket's sub-buckets */
	int64_t mask;                /* values of the first bucket */
	int32_t ncounts;
	int64_t *counts;             /* ncounts of them */
	int64_t total;               /* sum of counts */
	int64_t min, max;            /* exact; min > max while empty */
	int64_t clamped;             /* recorded values above `highest`, which were counted as `highest` */
};

/* The kit's latency range: 1 ns to 1 hour, 3 digits; 270 kB. */
#define KH_LATENCY_LOWEST INT64_C(1)
#define KH_LATENCY_HIGHEST INT64_C(3600000000000)
#define KH_LATENCY_DIGITS 3

/* KT_ERANGE unless 1 <= lowest, 2 * lowest <= highest and 1 <= digits <= 5. After a failure kh_fini is harmless. */
int kh_init(struct kh_hist *hist, int64_t lowest, int64_t highest, int digits, struct kt_err *err);
int kh_init_latency(struct kh_hist *hist, struct kt_err *err);
void kh_fini(struct kh_hist *hist);
/* Back to empty. */
void kh_reset(struct kh_hist *hist);

/* Counts `value` n times. A negative value counts as 0 and one above `highest` as `highest`. */
void kh_record_n(struct kh_hist *hist, int64_t value, int64_t n);
static inline void kh_record(struct kh_hist *hist, int64_t value)
{
	kh_record_n(hist, value, 1);
}

/* Adds all that `from` holds. KT_ERANGE, and nothing added, when the shapes differ. */
int kh_add(struct kh_hist *hist, const struct kh_hist *from, struct kt_err *err);

/* The smallest value, to the histogram's resolution, that at least `percentile` per cent of the recorded values do not
 * exceed; never above the exact maximum. 0 when empty; percentile is cut to 0..100. */
int64_t kh_percentile(const struct kh_hist *hist, double percentile);
/* Exact extremes; 0 when empty. */
int64_t kh_min(const struct kh_hist *hist);
int64_t kh_max(const struct kh_hist *hist);
/* To the histogram's resolution; 0 when empty. */
double kh_mean(const struct kh_hist *hist);

/* ---- HdrHistogram's formats ---- */

/* A new string (free it): base64 of the V2 encoding (zig-zag LEB128 counts with runs of zeros), deflated. NULL and err
 * when memory is exhausted. */
char *kh_encode(const struct kh_hist *hist, struct kt_err *err);

/* The interval log, format version 1.3: comment lines, a legend, then one line per interval and tag. Timestamps of the
 * lines are seconds since `start_ms`, milliseconds since 1970. The maximum column is in milliseconds for values in
 * nanoseconds. */
int kh_log_begin(FILE *out, int64_t start_ms, struct kt_err *err);
/* tag may be NULL; it must hold no comma, space or line break. */
int kh_log_interval(FILE *out, const char *tag, double start_s, double length_s, const struct kh_hist *hist,
		    struct kt_err *err);

#endif
