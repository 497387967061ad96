#include "lib/text/bench/pairs.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t pairs_cpu(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

bool pairs_a_first(void)
{
	return random() & 1;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(const double *sorted, int n)
{
	return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

static double median_of(const double *v, int n)
{
	double sorted[PAIRS_MAX];

	memcpy(sorted, v, (size_t)n * sizeof *v);
	qsort(sorted, (size_t)n, sizeof *sorted, by_size);
	return median(sorted, n);
}

/* How many of n sorted values lie below an interval that holds the median with 95 %: of a fair coin thrown n times, the
 * greatest k with P(at most k heads) <= 2.5 %, and one. */
static int below_interval(int n)
{
	double p = pow(0.5, n), sum = 0;
	int k = 0;

	for (; k < n / 2 && sum + p <= 0.025; k++) {
		sum += p;
		p *= (double)(n - k) / (k + 1);
	}
	return k > 0 ? k - 1 : 0;
}

/* v: what is made of each pair; gets sorted. */
static struct pairs_result judge(const struct pairs *pairs, double *v)
{
	struct pairs_result result = {.n = pairs->n};
	int n = pairs->n, below;

	assert(n >= PAIRS_MIN && n <= PAIRS_MAX);
	qsort(v, (size_t)n, sizeof *v, by_size);
	below = below_interval(n);
	result.ratio = median(v, n);
	result.low = v[below];
	result.high = v[n - 1 - below];
	result.a = median_of(pairs->a, n);
	result.b = median_of(pairs->b, n);
	return result;
}

struct pairs_result pairs_judge(const struct pairs *pairs)
{
	double v[PAIRS_MAX];

	for (int i = 0; i < pairs->n; i++)
		v[i] = pairs->a[i] / pairs->b[i];
	return judge(pairs, v);
}

struct pairs_result pairs_judge_difference(const struct pairs *pairs)
{
	double v[PAIRS_MAX];

	for (int i = 0; i < pairs->n; i++)
		v[i] = pairs->a[i] - pairs->b[i];
	return judge(pairs, v);
}

static double cost(pairs_fn *fn, void *arg, unsigned times)
{
	uint64_t from = pairs_cpu(), spent;

	fn(arg, times);
	spent = pairs_cpu() - from;
	return (spent ? (double)spent : 1) / times;
}

/* How often fits into a block; also warms up. */
static unsigned block_size(pairs_fn *fn, void *arg, unsigned block_us)
{
	unsigned times = 1;

	while (times < 1u << 30 && cost(fn, arg, times) * times < block_us * 1e3)
		times *= 2;
	return times;
}

struct pairs_result pairs_measure(pairs_fn *a, pairs_fn *b, void *arg, int n, unsigned block_us)
{
	unsigned times_a = block_size(a, arg, block_us), times_b = block_size(b, arg, block_us);
	struct pairs pairs = {.n = n};

	for (int i = 0; i < n; i++) {
		bool a_first = pairs_a_first();

		if (a_first)
			pairs.a[i] = cost(a, arg, times_a);
		pairs.b[i] = cost(b, arg, times_b);
		if (!a_first)
			pairs.a[i] = cost(a, arg, times_a);
	}
	return pairs_judge(&pairs);
}

void pairs_head(const char *title, const char *a, const char *b, const char *unit)
{
	char head_a[32], head_b[32];

	snprintf(head_a, sizeof head_a, "%s %s", a, unit);
	snprintf(head_b, sizeof head_b, "%s %s", b, unit);
	printf("\n%-46s %12s %12s  %5s  %-13s %5s\n", title, head_a, head_b, "ratio", "95 % interval", "limit");
}

void pairs_line(struct pairs_tally *tally, const char *name, const struct pairs_result *result, double limit)
{
	const char *verdict = result->ratio <= limit ? "pass" : "pass (within the noise)";

	if (limit == 0) {
		printf("%-46s %12.1f %12.1f  %5.2f  %5.2f - %5.2f     -  for comparison\n", name, result->a, result->b,
		       result->ratio, result->low, result->high);
		return;
	}
	if (result->low > limit)
		verdict = "FAIL";
	tally->passed += result->low <= limit;
	tally->failed += result->low > limit;
	printf("%-46s %12.1f %12.1f  %5.2f  %5.2f - %5.2f %5.2f  %s\n", name, result->a, result->b, result->ratio,
	       result->low, result->high, limit, verdict);
	fflush(stdout);
}

int pairs_end(const struct pairs_tally *tally)
{
	printf("\n%u passed, %u failed\n", tally->passed, tally->failed);
	return tally->failed ? 1 : 0;
}
