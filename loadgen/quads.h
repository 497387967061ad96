/* Two variants measured in quads: four blocks, A B B A or B A A B by a coin, so that neither the place in the quad nor
 * a drift of the machine favours one. Each quad gives one difference and one ratio. The result is their median; its
 * interval comes from the bootstrap over whole quads, which needs no distribution. Nothing is thrown away as an
 * outlier.
 */
#ifndef KASSAY_LOADGEN_QUADS_H
#define KASSAY_LOADGEN_QUADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LG_QUAD = 4 };

/* What a block took per request, in nanoseconds, of each of a quad's blocks. */
struct lg_quad {
	bool b[LG_QUAD];             /* the block is one of B */
	double ns[LG_QUAD];
};

/* Puts the order of the next quad's blocks into it: two each, by a step of the generator (lg_random). */
void lg_quad_order(struct lg_quad *quad, uint64_t *random);

struct lg_interval {
	double at, low, high;        /* the median, and the 95 % interval around it */
};

struct lg_effect {
	double a, b;                 /* medians of the blocks, ns per request */
	struct lg_interval ns;       /* B - A, ns per request */
	struct lg_interval share;    /* B / A - 1 */
	size_t n;                    /* quads */
};

/* Percentile bootstrap of the median of v[0..n), n at least 1; v gets sorted. KT_ENOMEM. */
int lg_bootstrap(double *v, size_t n, uint64_t seed, struct lg_interval *interval);
/* n at least 1, and all ns above 0. KT_ENOMEM. */
int lg_quads_judge(const struct lg_quad *quads, size_t n, uint64_t seed, struct lg_effect *effect);

/* X(symbol, name, exit code) */
#define LG_COST_VERDICTS(X)                                \
	X(LG_COST_PASS, "pass", KT_EXIT_OK)                \
	X(LG_COST_FAIL, "fail", KT_EXIT_VERDICT)           \
	X(LG_COST_INCONCLUSIVE, "inconclusive", KT_EXIT_INCOMPLETE)

enum lg_cost_verdict {
#define LG_X(symbol, name, exit) symbol,
	LG_COST_VERDICTS(LG_X)
#undef LG_X
};

/* Holds the effect against a margin that was given beforehand (0.02: 2 %). Fail when all of the effect's interval lies
 * above the margin by more than the calibration, A against A, is off zero at its farther end. Else inconclusive, as
 * *why says, when the calibration is not sound: the nearer end of its interval lies off zero by more than a third of
 * the margin, or the interval is wider than twice the margin. Else fail when all of the effect's interval lies above
 * the margin, pass when none does, and inconclusive in between. */
enum lg_cost_verdict lg_quads_verdict(const struct lg_effect *effect, const struct lg_effect *calibration,
				      double margin, const char **why);

/* The line through the origin that fits y best, and how far the worst point is from it, as a share of the greatest
 * y. */
struct lg_line {
	double slope, worst;
};

struct lg_line lg_line_fit(const double *x, const double *y, size_t n);

#endif
