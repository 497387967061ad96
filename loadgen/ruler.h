/* Measures one block: switches the broker, lets its observers catch up, and reads the clocks. Every block gets the
 * same, also one that follows another of the same variant, so that what a switch leaves behind is in A as it is in
 * B. */
#ifndef KASSAY_LOADGEN_RULER_H
#define KASSAY_LOADGEN_RULER_H

#include <time.h>

#include "loadgen/cost.h"

struct lg_ruler {
	const struct lg_cost_spec *spec;
	const struct lg_cost_target *target;
	struct lg_blocks blocks[2];    /* one broker: only the first */
	clockid_t clocks[2];           /* of the processes' CPU time */
	bool has_cpu;
	struct lg_in_force before;     /* what is put back */
	struct lg_in_force now;        /* what the last switch brought */
	bool switched;
	bool queued;                   /* one of those that are compared is: observers are waited for */
	int64_t due;                   /* requests since the last switch, which observers must see */
};

/* lg_ruler_close() is to be called whatever the outcome. spec and target outlive it. */
int lg_ruler_open(struct lg_ruler *ruler, const struct lg_cost_spec *spec, const struct lg_cost_target *target,
		  struct kt_err *err);
/* Two variants are compared from now on: switches to either once, to see what its observers are. */
int lg_ruler_meet(struct lg_ruler *ruler, const struct lg_variant *const variants[2], struct kt_err *err);
/* Of one block, ns per request; *cpu is 1 where there is no CPU time. broker: 0, or 1 for the second of two. KT_EPEER
 * also when somebody else switches the broker, or an observer's queue overflows; KT_ETIMEOUT also when observers do not
 * catch up. */
int lg_ruler_measure(struct lg_ruler *ruler, const struct lg_variant *variant, int broker, double *cpu, double *wall,
		     struct kt_err *err);
/* Deletes what was written so far. */
int lg_ruler_trim(struct lg_ruler *ruler, struct kt_err *err);
/* Puts back what was in force, and deletes what was written. err may have an error already; what cannot be put back is
 * told all the same, as KT_EPEER. */
void lg_ruler_close(struct lg_ruler *ruler, struct kt_err *err);

#endif
