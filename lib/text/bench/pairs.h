/* Two ways of doing the same thing, measured side by side.
 *
 * A pair is one short block of each, one straight after the other and in random order, so that whatever else the
 * machine does at that time meets both. The ratio of the two times is taken pair by pair. Of the ratios the median is
 * the result, and its interval the part that noise explains: the distribution-free 95 % interval of a median, between
 * two of the sorted ratios. A limit is missed only if all of the interval lies above it.
 */
#ifndef KASSAY_TEXT_BENCH_PAIRS_H
#define KASSAY_TEXT_BENCH_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PAIRS_MIN = 9, PAIRS_MAX = 199 };

struct pairs {
	double a[PAIRS_MAX], b[PAIRS_MAX];   /* cost of each block of the pair, in any unit, above 0 */
	int n;
};

struct pairs_result {
	double a, b;               /* medians of the two costs */
	double ratio, low, high;   /* a / b: median, and the ends of its interval */
	int n;
};

/* CPU time of this thread, in nanoseconds. */
uint64_t pairs_cpu(void);
/* Which of the two comes first in the next pair. */
bool pairs_a_first(void);
/* n is at least PAIRS_MIN. */
struct pairs_result pairs_judge(const struct pairs *pairs);

/* The same of the differences a - b, which stand in the place of the ratios. */
struct pairs_result pairs_judge_difference(const struct pairs *pairs);

/* Does the thing `times` times. */
typedef void pairs_fn(void *arg, unsigned times);
/* Measures both in n pairs, in blocks of about block_us microseconds of CPU time; costs are nanoseconds for one
 * time. */
struct pairs_result pairs_measure(pairs_fn *a, pairs_fn *b, void *arg, int n, unsigned block_us);

/* ---- a table with a verdict in each line ---- */

struct pairs_tally {
	unsigned passed, failed;
};

/* unit: of both costs, "ns". */
void pairs_head(const char *title, const char *a, const char *b, const char *unit);
/* One line: costs, ratio, interval, limit, verdict. With a limit of 0 there is neither, and it is not counted. */
void pairs_line(struct pairs_tally *tally, const char *name, const struct pairs_result *result, double limit);
/* Prints "N passed, N failed"; the exit code. */
int pairs_end(const struct pairs_tally *tally);

#endif
