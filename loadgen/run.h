/* A whole run: topics, phases one after the other, the timeline beside them, the verifying reader behind them. */
#ifndef KASSAY_LOADGEN_RUN_H
#define KASSAY_LOADGEN_RUN_H

#include "loadgen/cluster.h"
#include "loadgen/load.h"
#include "loadgen/reader.h"
#include "loadgen/steps.h"
#include "loadgen/view.h"

struct lg_run_topic {
	const char *name;
	int32_t npartitions;
	struct lg_range *before;     /* what each partition held before the run */
};

struct lg_run_phase {
	struct lg_load load;
	bool made;                   /* lg_load_init() has been called */
	struct kt_err err;           /* why the engine gave up, code 0 if it did not */
	int nviews;
	struct lg_view views[LG_ILLEGAL_MAX];
};

struct lg_run {
	const struct lg_plan *plan;
	uint64_t id;                 /* in every stamp */
	int64_t began_ms;            /* ms since 1970 */
	int64_t start;               /* of the first phase, ns of lg_now() */
	double seconds;              /* of everything */
	int ntopics;
	struct lg_run_topic *topics;
	struct lg_run_phase *phases; /* plan->nphases of them */
	struct lg_steps *steps;
	struct lg_reader *reader;    /* NULL without verification */
	bool verified;               /* the reader saw every partition to its end */
	bool stopped;                /* by the user */
	char doubt[320];             /* why the run is inconclusive, "" if it is not */
};

struct lg_run_opts {
	const char *out;             /* directory for the histogram logs; NULL: none */
	bool progress;               /* a line per second on stderr */
	bool tell_phases;            /* without progress: a line at the start and one per phase on stderr */
	bool tell_steps;             /* each step on stdout as it happens */
};

/* Runs the plan. Errors that keep the first record from being sent are returned: KT_ENET, KT_EUSAGE, KT_EFILE. What
 * happens later is in run. lg_run_fini() may be called whatever the outcome. */
int lg_run(struct lg_run *run, struct lg_plan *plan, const struct lg_run_opts *opts, struct kt_err *err);
void lg_run_fini(struct lg_run *run);

/* The comparison of phase and partition; -1 sums up all partitions. */
void lg_run_tally(const struct lg_run *run, int phase, int32_t partition, struct lg_tally *tally);
/* Answers, records and steps that are not as they must be. */
int64_t lg_run_violations(const struct lg_run *run);
/* The exit code of the program: violations come before doubts. */
int lg_run_exit(const struct lg_run *run);

#endif
