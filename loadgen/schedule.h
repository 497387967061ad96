/* When each operation of a phase is meant to happen: an absolute plan that nothing the broker does can shift.
 *
 * The rate may change linearly over the phase. Arrival i happens when the integral of the rate has reached i (constant
 * distances), or, for Poisson arrivals, when it has reached the sum of i exponential distances of mean 1.
 */
#ifndef KASSAY_LOADGEN_SCHEDULE_H
#define KASSAY_LOADGEN_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/text/err.h"

struct lg_plan_rate {
	double from, to;      /* operations per second at start and end; both 0: as fast as the engine takes them */
	double seconds;       /* 0: no limit */
	int64_t count;        /* operations; 0: no limit */
	bool poisson;
};

struct lg_schedule {
	double from, to;
	double seconds;       /* how long the rate takes from `from` to `to` */
	double expected;      /* operations that the rate yields over `seconds` */
	int64_t count;        /* most operations */
	int64_t next;         /* index of the next one */
	double reached;       /* integral of the rate at the next one */
	bool poisson;
	uint64_t random;
};

/* KT_ERANGE if neither seconds nor count ends the schedule, or a number is negative or not finite. */
int lg_schedule_init(struct lg_schedule *schedule, const struct lg_plan_rate *rate, uint64_t seed, struct kt_err *err);
/* False for a schedule without a rate: then every arrival is due at once. */
bool lg_schedule_paced(const struct lg_schedule *schedule);
/* Nanoseconds from the start to the next arrival, which is thereby taken; -1 when all are. An unpaced schedule answers
 * 0, and its caller must also end it at `seconds`. */
int64_t lg_schedule_next(struct lg_schedule *schedule);
/* How many arrivals are left at most, for sizing. */
int64_t lg_schedule_expected(const struct lg_schedule *schedule);

/* A step of splitmix64 (Steele, Lea, Flood 2014): the generator behind every random choice of a run. */
uint64_t lg_random(uint64_t *state);
/* The same as a number in [0, 1). */
double lg_random_unit(uint64_t *state);
/* Mixes numbers into a seed, so that a choice depends on them alone. */
uint64_t lg_mix(uint64_t seed, uint64_t a, uint64_t b);

#endif
