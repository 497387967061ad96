#include "lib/hist/hist.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hist/layout.h"

static int log2_floor(uint64_t v)
{
	return 63 - __builtin_clzll(v);
}

static void clear(struct kh_hist *hist)
{
	hist->total = 0;
	hist->clamped = 0;
	hist->min = INT64_MAX;
	hist->max = -1;
}

/* Sub-buckets per bucket: the power of two that tells 2 * 10^digits values apart. */
static int sub_bucket_shift(int digits)
{
	int64_t singles = 2;

	for (int i = 0; i < digits; i++)
		singles *= 10;
	return log2_floor((uint64_t)(singles - 1)) + 1;
}

int kh_init(struct kh_hist *hist, int64_t lowest, int64_t highest, int digits, struct kt_err *err)
{
	memset(hist, 0, sizeof *hist);
	clear(hist);
	if (lowest < 1 || highest / 2 < lowest)
		return kt_fail(err, KT_ERANGE, "a histogram's range must start at 1 or more and span a factor of 2");
	if (digits < 1 || digits > 5)
		return kt_fail(err, KT_ERANGE, "a histogram has 1 to 5 significant digits, not %d", digits);
	hist->lowest = lowest;
	hist->highest = highest;
	hist->digits = digits;
	hist->unit_shift = log2_floor((uint64_t)lowest);
	hist->half_shift = sub_bucket_shift(digits) - 1;
	if (hist->unit_shift + hist->half_shift > 60)
		return kt_fail(err, KT_ERANGE, "a histogram from %lld with %d digits exceeds 64 bits",
			       (long long)lowest, digits);
	hist->mask = ((INT64_C(2) << hist->half_shift) - 1) << hist->unit_shift;
	hist->ncounts = ((kh_index_of(hist, highest) >> hist->half_shift) + 1) << hist->half_shift;
	hist->counts = calloc((size_t)hist->ncounts, sizeof *hist->counts);
	return hist->counts ? 0 : kt_fail(err, KT_ENOMEM, "no memory for a histogram");
}

int kh_init_latency(struct kh_hist *hist, struct kt_err *err)
{
	return kh_init(hist, KH_LATENCY_LOWEST, KH_LATENCY_HIGHEST, KH_LATENCY_DIGITS, err);
}

void kh_fini(struct kh_hist *hist)
{
	free(hist->counts);
	hist->counts = NULL;
	clear(hist);
}

void kh_reset(struct kh_hist *hist)
{
	if (hist->total > 0)
		memset(hist->counts, 0, (size_t)hist->ncounts * sizeof *hist->counts);
	clear(hist);
}

void kh_record_n(struct kh_hist *hist, int64_t value, int64_t n)
{
	if (value < 0)
		value = 0;
	if (value > hist->highest) {
		value = hist->highest;
		hist->clamped += n;
	}
	hist->counts[kh_index_of(hist, value)] += n;
	hist->total += n;
	if (value < hist->min)
		hist->min = value;
	if (value > hist->max)
		hist->max = value;
}

int kh_add(struct kh_hist *hist, const struct kh_hist *from, struct kt_err *err)
{
	if (hist->lowest != from->lowest || hist->highest != from->highest || hist->digits != from->digits)
		return kt_fail(err, KT_ERANGE, "histograms of different range or precision cannot be added");
	if (from->total == 0)
		return 0;
	for (int32_t i = kh_index_of(from, from->min); i <= kh_index_of(from, from->max); i++)
		hist->counts[i] += from->counts[i];
	hist->total += from->total;
	hist->clamped += from->clamped;
	if (from->min < hist->min)
		hist->min = from->min;
	if (from->max > hist->max)
		hist->max = from->max;
	return 0;
}

int64_t kh_percentile(const struct kh_hist *hist, double percentile)
{
	/* one step down, so that the rounding of, say, 99.9 % of 1000 does not ask for one value more */
	double p = fmin(fmax(nextafter(percentile, -HUGE_VAL), 0), 100);
	int64_t wanted = (int64_t)ceil(p * (double)hist->total / 100), seen = 0;

	if (hist->total == 0)
		return 0;
	if (wanted < 1)
		wanted = 1;
	for (int32_t i = kh_index_of(hist, hist->min); i < hist->ncounts; i++) {
		seen += hist->counts[i];
		if (seen >= wanted) {
			int64_t top = kh_value_at(hist, i) + kh_width_at(hist, i) - 1;
			return top < hist->max ? top : hist->max;
		}
	}
	return hist->max;
}

int64_t kh_min(const struct kh_hist *hist)
{
	return hist->total > 0 ? hist->min : 0;
}

int64_t kh_max(const struct kh_hist *hist)
{
	return hist->total > 0 ? hist->max : 0;
}

double kh_mean(const struct kh_hist *hist)
{
	double sum = 0;

	if (hist->total == 0)
		return 0;
	for (int32_t i = kh_index_of(hist, hist->min); i <= kh_index_of(hist, hist->max); i++)
		if (hist->counts[i] > 0)
			sum += (double)hist->counts[i] *
			       (double)(kh_value_at(hist, i) + kh_width_at(hist, i) / 2);
	return sum / (double)hist->total;
}
