#include "loadgen/schedule.h"

#include <math.h>
#include <string.h>

uint64_t lg_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

double lg_random_unit(uint64_t *state)
{
	return (double)(lg_random(state) >> 11) * 0x1p-53;
}

uint64_t lg_mix(uint64_t seed, uint64_t a, uint64_t b)
{
	uint64_t state = seed;

	state = lg_random(&state) ^ a;
	state = lg_random(&state) ^ b;
	return lg_random(&state);
}

static bool bad(double v)
{
	return !isfinite(v) || v < 0;
}

int lg_schedule_init(struct lg_schedule *schedule, const struct lg_plan_rate *rate, uint64_t seed, struct kt_err *err)
{
	double sum = rate->from + rate->to;

	memset(schedule, 0, sizeof *schedule);
	if (bad(rate->from) || bad(rate->to) || bad(rate->seconds) || rate->count < 0)
		return kt_fail(err, KT_ERANGE, "rate, duration and number of records cannot be negative");
	if (rate->seconds == 0 && rate->count == 0)
		return kt_fail(err, KT_ERANGE, "neither a duration nor a number of records ends the load");
	schedule->from = rate->from;
	schedule->to = rate->to;
	schedule->poisson = rate->poisson;
	schedule->random = seed;
	schedule->count = rate->count > 0 ? rate->count : INT64_MAX;
	schedule->seconds = rate->seconds > 0 ? rate->seconds : sum > 0 ? 2 * (double)rate->count / sum : 0;
	schedule->expected = rate->seconds > 0 && sum > 0 ? sum / 2 * rate->seconds : HUGE_VAL;
	return 0;
}

bool lg_schedule_paced(const struct lg_schedule *schedule)
{
	return schedule->from + schedule->to > 0;
}

/* The time at which the integral from * t + (to - from) * t^2 / (2 * seconds) reaches x. Written so that it is exact
 * for a constant rate and loses nothing when the rate hardly changes. */
static double time_of(const struct lg_schedule *schedule, double x)
{
	double slope = (schedule->to - schedule->from) / schedule->seconds;
	double root = schedule->from * schedule->from + 2 * slope * x;

	return x > 0 ? 2 * x / (schedule->from + sqrt(fmax(root, 0))) : 0;
}

int64_t lg_schedule_next(struct lg_schedule *schedule)
{
	double x = schedule->reached;

	if (schedule->next >= schedule->count)
		return -1;
	if (!lg_schedule_paced(schedule)) {
		schedule->next++;
		return 0;
	}
	if (schedule->poisson)
		x -= log(1 - lg_random_unit(&schedule->random));
	if (x >= schedule->expected)
		return -1;
	schedule->next++;
	schedule->reached = schedule->poisson ? x : (double)schedule->next;
	return (int64_t)llround(time_of(schedule, x) * 1e9);
}

int64_t lg_schedule_expected(const struct lg_schedule *schedule)
{
	double left = fmin(schedule->expected, (double)schedule->count) - (double)schedule->next;

	return left < 0 ? 0 : left > 1e15 ? INT64_MAX : (int64_t)ceil(left);
}
