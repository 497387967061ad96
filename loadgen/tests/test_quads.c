/* The statistics of loadgen cost on data whose truth is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "lib/text/opt.h"
#include "loadgen/quads.h"
#include "loadgen/schedule.h"

static void assert_near(double is, double due, double tolerance)
{
	if (!(fabs(is - due) <= tolerance))
		fail_msg("%g is not %g +- %g", is, due, tolerance);
}

static void test_order(void **state)
{
	enum { N = 1000 };
	uint64_t random = 7, again = 7;
	int outside = 0, repeats = 0;
	bool last = false;

	(void)state;
	for (int i = 0; i < N; i++) {
		struct lg_quad quad, same;

		lg_quad_order(&quad, &random);
		lg_quad_order(&same, &again);
		assert_memory_equal(quad.b, same.b, sizeof quad.b);
		/* A B B A or B A A B: what drifts evenly meets both alike */
		assert_true(quad.b[0] == quad.b[3] && quad.b[1] == quad.b[2] && quad.b[0] != quad.b[1]);
		outside += quad.b[0];
		repeats += i > 0 && quad.b[0] == last;
		last = quad.b[0];
	}
	assert_in_range(outside, N / 2 - 60, N / 2 + 60);
	assert_in_range(repeats, N / 2 - 60, N / 2 + 60);   /* by a coin, not in turn */
}

static void test_bootstrap_of_a_constant(void **state)
{
	double v[] = {3, 3, 3, 3, 3};
	struct lg_interval interval;

	(void)state;
	assert_int_equal(lg_bootstrap(v, 5, 1, &interval), 0);
	assert_near(interval.at, 3, 0);
	assert_near(interval.low, 3, 0);
	assert_near(interval.high, 3, 0);
}

/* Of 0..100 the interval of the median that rests on the order alone is 40 to 60. */
static void test_bootstrap_of_known_numbers(void **state)
{
	double v[101], even[] = {4, 1, 3, 2};
	struct lg_interval interval, again;

	(void)state;
	for (int i = 0; i < 101; i++)
		v[i] = 100 - i;
	assert_int_equal(lg_bootstrap(v, 101, 5, &interval), 0);
	assert_near(interval.at, 50, 0);
	assert_near(interval.low, 40, 2);
	assert_near(interval.high, 60, 2);
	assert_int_equal(lg_bootstrap(v, 101, 5, &again), 0);
	assert_near(again.low, interval.low, 0);
	assert_int_equal(lg_bootstrap(even, 4, 1, &interval), 0);
	assert_near(interval.at, 2.5, 0);
	assert_near(interval.low, 1, 0);
	assert_near(interval.high, 4, 0);
}

/* 95 % means that 19 of 20 intervals hold the truth, for skewed numbers as well. */
static void test_coverage(void **state)
{
	enum { RUNS = 200, N = 60 };
	uint64_t random = 11;
	int held = 0;

	(void)state;
	for (int run = 0; run < RUNS; run++) {
		struct lg_interval interval;
		double v[N];

		for (int i = 0; i < N; i++)
			v[i] = -log(1 - lg_random_unit(&random));
		assert_int_equal(lg_bootstrap(v, N, (uint64_t)run, &interval), 0);
		held += interval.low <= log(2) && log(2) <= interval.high;
	}
	assert_in_range(held, RUNS * 90 / 100, RUNS * 99 / 100);
}

/* A drift that goes on evenly through the quad, and far more than the effect, leaves no trace. */
static void test_effect_under_drift(void **state)
{
	enum { N = 50 };
	struct lg_quad quads[N];
	struct lg_effect effect;
	uint64_t random = 3;

	(void)state;
	for (int i = 0; i < N; i++) {
		lg_quad_order(&quads[i], &random);
		for (int at = 0; at < LG_QUAD; at++)
			quads[i].ns[at] = 1000 + 10.0 * (i * LG_QUAD + at) + (quads[i].b[at] ? 7 : 0);
	}
	assert_int_equal(lg_quads_judge(quads, N, 1, &effect), 0);
	assert_int_equal(effect.n, N);
	assert_near(effect.ns.at, 7, 1e-9);
	assert_near(effect.ns.low, 7, 1e-9);
	assert_near(effect.ns.high, 7, 1e-9);
	assert_near(effect.b - effect.a, 7, 20);
}

static void test_share(void **state)
{
	struct lg_quad quads[20];
	struct lg_effect effect;
	uint64_t random = 9;

	(void)state;
	for (int i = 0; i < 20; i++) {
		lg_quad_order(&quads[i], &random);
		for (int at = 0; at < LG_QUAD; at++)
			quads[i].ns[at] = (2000 + i) * (quads[i].b[at] ? 1.05 : 1);
	}
	assert_int_equal(lg_quads_judge(quads, 20, 1, &effect), 0);
	assert_near(effect.share.at, 0.05, 1e-9);
	assert_near(effect.share.low, 0.05, 1e-9);
	assert_near(effect.share.high, 0.05, 1e-9);
	assert_near(effect.a, 2009.5, 1e-9);
}

static void test_verdicts(void **state)
{
	static const struct {
		double low, high, same_low, same_high;
		enum lg_cost_verdict verdict;
		const char *why;
	} rows[] = {   /* against a margin of 2 % */
		{0.000, 0.010, -0.002, 0.002, LG_COST_PASS, ""},
		{-0.05, -0.01, -0.002, 0.002, LG_COST_PASS, ""},
		{0.010, 0.020, -0.002, 0.002, LG_COST_PASS, ""},
		{0.021, 0.030, -0.002, 0.002, LG_COST_FAIL, ""},
		{0.010, 0.021, -0.002, 0.002, LG_COST_INCONCLUSIVE, "the margin lies within"},
		{0.020, 0.030, -0.002, 0.002, LG_COST_INCONCLUSIVE, "the margin lies within"},
		/* A against A is off by less than a third of the margin, or by more */
		{0.000, 0.010, 0.001, 0.004, LG_COST_PASS, ""},
		{0.000, 0.010, 0.007, 0.012, LG_COST_INCONCLUSIVE, "A against A shows a difference"},
		{0.030, 0.040, -0.012, -0.007, LG_COST_INCONCLUSIVE, "A against A shows a difference"},
		{0.000, 0.010, -0.030, 0.030, LG_COST_INCONCLUSIVE, "A against A spreads"},
		/* beyond doubt, whatever A against A does: above the margin by more than its farther end */
		{53.20, 65.00, -0.020, 0.029, LG_COST_FAIL, ""},
		{0.051, 0.060, -0.030, 0.020, LG_COST_FAIL, ""},
		{0.050, 0.060, -0.030, 0.020, LG_COST_INCONCLUSIVE, "A against A spreads"},
		{0.033, 0.040, -0.012, -0.007, LG_COST_FAIL, ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct lg_effect effect = {.share = {.low = rows[i].low, .high = rows[i].high}};
		struct lg_effect same = {.share = {.low = rows[i].same_low, .high = rows[i].same_high}};
		const char *why;

		if (lg_quads_verdict(&effect, &same, 0.02, &why) != rows[i].verdict ||
		    strncmp(why, rows[i].why, strlen(rows[i].why)) != 0 || (!*rows[i].why && *why))
			fail_msg("row %zu: %s", i, why);
	}
}

static void test_line(void **state)
{
	const double x[] = {0, 1, 5, 20, 100}, straight[] = {0, 1.02, 5.1, 20.4, 102}, bent[] = {0, 1, 5, 40, 100};
	struct lg_line line = lg_line_fit(x, straight, 5);

	(void)state;
	assert_near(line.slope, 1.02, 1e-9);
	assert_near(line.worst, 0, 1e-9);
	line = lg_line_fit(x, bent, 5);
	assert_true(line.worst > 0.1);
	assert_near(lg_line_fit(x, (const double[]){0, 0, 0, 0, 0}, 5).slope, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_bootstrap_of_a_constant),
		cmocka_unit_test(test_bootstrap_of_known_numbers),
		cmocka_unit_test(test_coverage),
		cmocka_unit_test(test_effect_under_drift),
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
