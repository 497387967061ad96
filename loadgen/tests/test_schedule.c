#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "loadgen/clock.h"
#include "loadgen/schedule.h"

static struct lg_schedule made(double from, double to, double seconds, int64_t count, bool poisson)
{
	struct lg_plan_rate rate = {from, to, seconds, count, poisson};
	struct lg_schedule schedule;

	assert_int_equal(lg_schedule_init(&schedule, &rate, 7, NULL), 0);
	return schedule;
}

static int64_t count_rest(struct lg_schedule *schedule, int64_t *last)
{
	int64_t n = 0, at;

	for (*last = -1; (at = lg_schedule_next(schedule)) >= 0; n++) {
		assert_true(at >= *last);
		*last = at;
	}
	return n;
}

static void test_constant_rate_is_an_exact_grid(void **state)
{
	struct lg_schedule schedule = made(1000, 1000, 5, 0, false);

	(void)state;
	for (int64_t i = 0; i < 5000; i++)
		assert_int_equal(lg_schedule_next(&schedule), i * LG_MS);
	assert_int_equal(lg_schedule_next(&schedule), -1);
	assert_int_equal(lg_schedule_next(&schedule), -1);
}

static void test_low_and_fractional_rates(void **state)
{
	struct lg_schedule schedule = made(0.5, 0.5, 10, 0, false);

	(void)state;
	assert_int_equal(lg_schedule_next(&schedule), 0);
	assert_int_equal(lg_schedule_next(&schedule), 2 * LG_SECOND);
	schedule = made(3, 3, 1, 0, false);
	lg_schedule_next(&schedule);
	assert_int_equal(lg_schedule_next(&schedule), 333333333);
	assert_int_equal(lg_schedule_next(&schedule), 666666667);
	assert_int_equal(lg_schedule_next(&schedule), -1);
}

static void test_a_count_ends_the_schedule_as_well(void **state)
{
	struct lg_schedule schedule = made(1000, 1000, 5, 3, false);
	int64_t last;

	(void)state;
	assert_int_equal(count_rest(&schedule, &last), 3);
	schedule = made(10, 10, 0, 25, false);
	assert_int_equal(count_rest(&schedule, &last), 25);
	assert_int_equal(last, 2400 * LG_MS);
}

/* From 0 to 200/s in 10 s: arrival i lies where 10 t^2 = i. */
static void test_a_ramp_follows_its_integral(void **state)
{
	struct lg_schedule schedule = made(0, 200, 10, 0, false);

	(void)state;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(lg_schedule_next(&schedule), llround(sqrt(i / 10.0) * 1e9));
	assert_int_equal(lg_schedule_next(&schedule), -1);
}

static void test_a_falling_ramp_mirrors_a_rising_one(void **state)
{
	struct lg_schedule schedule = made(200, 0, 10, 0, false);
	int64_t last;

	(void)state;
	assert_int_equal(lg_schedule_next(&schedule), 0);
	assert_int_equal(count_rest(&schedule, &last), 999);
	/* one arrival is left for the last sqrt(1/10) s */
	assert_int_equal(last, llround((10 - sqrt(0.1)) * 1e9));
}

static void test_a_ramp_by_count_lasts_as_long_as_its_mean_rate_needs(void **state)
{
	struct lg_schedule schedule = made(100, 300, 0, 1000, false);
	int64_t last;

	(void)state;
	assert_true(schedule.seconds == 5);
	assert_int_equal(count_rest(&schedule, &last), 1000);
	assert_true(last > 4990 * LG_MS && last < 5 * LG_SECOND);
}

static void test_poisson_arrivals_have_the_rate_as_mean(void **state)
{
	struct lg_schedule schedule = made(1000, 1000, 100, 0, true), again = schedule;
	int64_t last, n = count_rest(&schedule, &last), gaps_below_mean = 0, before = 0, at;

	(void)state;
	/* 100000 expected, standard deviation 316 */
	assert_true(n > 98700 && n < 101300);
	assert_true(last < 100 * LG_SECOND);
	while ((at = lg_schedule_next(&again)) >= 0) {
		gaps_below_mean += at - before < LG_MS;
		before = at;
	}
	/* 1 - 1/e of exponential distances are below their mean */
	assert_true(fabs((double)gaps_below_mean / (double)n - 0.632) < 0.01);
}

static void test_without_a_rate_all_is_due_at_once(void **state)
{
	struct lg_schedule schedule = made(0, 0, 0, 2, false);

	(void)state;
	assert_false(lg_schedule_paced(&schedule));
	assert_int_equal(lg_schedule_next(&schedule), 0);
	assert_int_equal(lg_schedule_next(&schedule), 0);
	assert_int_equal(lg_schedule_next(&schedule), -1);
	schedule = made(1, 0, 1, 0, false);
	assert_true(lg_schedule_paced(&schedule));
}

static void test_bad_plans_are_refused(void **state)
{
	static const struct lg_plan_rate bad[] = {
		{10, 10, 0, 0, false}, {-1, 10, 1, 0, false}, {10, -1, 1, 0, false}, {10, 10, -1, 0, false},
		{10, 10, 0, -1, false}, {NAN, 1, 1, 0, false}, {1, INFINITY, 1, 0, false},
	};
	struct lg_schedule schedule;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct kt_err err = {0};

		assert_int_equal(lg_schedule_init(&schedule, &bad[i], 1, &err), KT_ERANGE);
		assert_int_equal(err.code, KT_ERANGE);
	}
}

static void test_random_numbers_are_those_of_splitmix64(void **state)
{
	uint64_t s = 1234567;

	(void)state;
	assert_true(lg_random(&s) == UINT64_C(6457827717110365317));
	assert_true(lg_random(&s) == UINT64_C(3203168211198807973));
	assert_true(lg_mix(1, 2, 3) == lg_mix(1, 2, 3));
	assert_true(lg_mix(1, 2, 3) != lg_mix(1, 3, 2));
	for (int i = 0; i < 1000; i++) {
		double unit = lg_random_unit(&s);

		assert_true(unit >= 0 && unit < 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_constant_rate_is_an_exact_grid),
		cmocka_unit_test(test_low_and_fractional_rates),
		cmocka_unit_test(test_a_count_ends_the_schedule_as_well),
		cmocka_unit_test(test_a_ramp_follows_its_integral),
		cmocka_unit_test(test_a_falling_ramp_mirrors_a_rising_one),
		cmocka_unit_test(test_a_ramp_by_count_lasts_as_long_as_its_mean_rate_needs),
		cmocka_unit_test(test_poisson_arrivals_have_the_rate_as_mean),
		cmocka_unit_test(test_without_a_rate_all_is_due_at_once),
		cmocka_unit_test(test_bad_plans_are_refused),
		cmocka_unit_test(test_random_numbers_are_those_of_splitmix64),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
