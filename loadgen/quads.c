#include "loadgen/quads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text/err.h"
#include "loadgen/schedule.h"

enum { RESAMPLES = 2000 };

void lg_quad_order(struct lg_quad *quad, uint64_t *random)
{
	bool outside = lg_random(random) >> 63;

	quad->b[0] = quad->b[3] = outside;
	quad->b[1] = quad->b[2] = !outside;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(const double *sorted, size_t n)
{
	return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

/* Of n draws with replacement from sorted values: their median, by how often each was drawn. */
static double resampled(const double *sorted, size_t n, uint32_t *drawn, uint64_t *random)
{
	size_t seen = 0, i = 0;
	double lower;

	memset(drawn, 0, n * sizeof *drawn);
	for (size_t k = 0; k < n; k++)
		drawn[lg_random(random) % n]++;
	for (; seen < (n + 1) / 2; i++)
		seen += drawn[i];
	lower = sorted[i - 1];
	if (n % 2 || seen > n / 2)
		return lower;
	while (drawn[i] == 0)
		i++;
	return (lower + sorted[i]) / 2;
}

int lg_bootstrap(double *v, size_t n, uint64_t seed, struct lg_interval *interval)
{
	double *medians = malloc(RESAMPLES * sizeof *medians);
	uint32_t *drawn = malloc(n * sizeof *drawn);

	if (medians && drawn) {
		qsort(v, n, sizeof *v, by_size);
		for (int i = 0; i < RESAMPLES; i++)
			medians[i] = resampled(v, n, drawn, &seed);
		qsort(medians, RESAMPLES, sizeof *medians, by_size);
		interval->at = median(v, n);
		interval->low = medians[RESAMPLES / 40 - 1];
		interval->high = medians[RESAMPLES - RESAMPLES / 40];
	}
	free(drawn);
	free(medians);
	return medians && drawn ? 0 : KT_ENOMEM;
}

/* ---- of quads ---- */

static double difference(const struct lg_quad *quad)
{
	double sum = 0;

	for (int i = 0; i < LG_QUAD; i++)
		sum += quad->b[i] ? quad->ns[i] : -quad->ns[i];
	return sum / 2;
}

static double log_ratio(const struct lg_quad *quad)
{
	double sum = 0;

	for (int i = 0; i < LG_QUAD; i++)
		sum += quad->b[i] ? log(quad->ns[i]) : -log(quad->ns[i]);
	return sum / 2;
}

static double median_block(const struct lg_quad *quads, size_t n, bool b, double *v)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		for (int at = 0; at < LG_QUAD; at++)
			if (quads[i].b[at] == b)
				v[k++] = quads[i].ns[at];
	qsort(v, k, sizeof *v, by_size);
	return median(v, k);
}

int lg_quads_judge(const struct lg_quad *quads, size_t n, uint64_t seed, struct lg_effect *effect)
{
	double *v = malloc(n * LG_QUAD / 2 * sizeof *v);
	int rc = v ? 0 : KT_ENOMEM;

	if (!rc) {
		effect->n = n;
		effect->a = median_block(quads, n, false, v);
		effect->b = median_block(quads, n, true, v);
		for (size_t i = 0; i < n; i++)
			v[i] = difference(&quads[i]);
		rc = lg_bootstrap(v, n, seed, &effect->ns);
	}
	if (!rc) {
		for (size_t i = 0; i < n; i++)
			v[i] = log_ratio(&quads[i]);
		rc = lg_bootstrap(v, n, seed, &effect->share);
		effect->share.at = expm1(effect->share.at);
		effect->share.low = expm1(effect->share.low);
		effect->share.high = expm1(effect->share.high);
	}
	free(v);
	return rc;
}

enum lg_cost_verdict lg_quads_verdict(const struct lg_effect *effect, const struct lg_effect *calibration,
				      double margin, const char **why)
{
	const struct lg_interval *none = &calibration->share;
	double third = margin / 3, off = fmax(fabs(none->low), fabs(none->high));

	*why = "";
	if (effect->share.low > margin + off)
		return LG_COST_FAIL;
	if (none->low > third || none->high < -third)
		*why = "A against A shows a difference of more than a third of the margin where there is none";
	else if (none->high - none->low > 2 * margin)
		*why = "A against A spreads wider than the margin: more quads, or a quieter machine";
	else if (effect->share.low > margin)
		return LG_COST_FAIL;
	else if (effect->share.high <= margin)
		return LG_COST_PASS;
	else
		*why = "the margin lies within the interval: more quads, or a quieter machine";
	return LG_COST_INCONCLUSIVE;
}

struct lg_line lg_line_fit(const double *x, const double *y, size_t n)
{
	struct lg_line line = {0};
	double xy = 0, xx = 0, greatest = 0;

	for (size_t i = 0; i < n; i++) {
		xy += x[i] * y[i];
		xx += x[i] * x[i];
		greatest = fabs(y[i]) > greatest ? fabs(y[i]) : greatest;
	}
	line.slope = xx > 0 ? xy / xx : 0;
	for (size_t i = 0; i < n && greatest > 0; i++) {
		double off = fabs(y[i] - line.slope * x[i]) / greatest;

		line.worst = off > line.worst ? off : line.worst;
	}
	return line;
}
