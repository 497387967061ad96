/* Runs the selected cases on a target. */
#ifndef KASSAY_CONFORMANCE_RUNNER_H
#define KASSAY_CONFORMANCE_RUNNER_H

#include <signal.h>

#include "conformance/result.h"
#include "conformance/run.h"
#include "lib/text/opt.h"

/* Behind the id of the sanity case when it runs last; the family of the rows that say what became of a profile's
 * claims. */
#define CF_AT_END "@end"
#define CF_CLAIMS "profile"

/* The reason of a row that only --destructive runs. */
#define CF_NOT_DESTRUCTIVE "destructive: runs only with --destructive"

struct cf_selection {
	const struct kt_list *only, *skip;   /* globs of ids; an empty `only` means all */
	bool destructive;                    /* run the destructive cases, too */
	json_t *rerun;                       /* a result: what was not as expected in it, or not run; or NULL */
};

struct cf_item {
	struct cf_instance instance;
	bool disabled;
	bool alone;                          /* not beside others: sanity, and what changes the cluster */
	const char *disabled_by;             /* why: cf_left_out_by() */
};

struct cf_items {
	struct cf_item *v;
	size_t n;
};

/* Why options and profile leave an instance out: a glob, or CF_NOT_DESTRUCTIVE. NULL: it may run. */
const char *cf_left_out_by(const struct cf_selection *selection, const struct cf_profile *profile,
			   const struct cf_instance *instance);

/* What is to run: the sanity case, then the others in the order of the suite, those that run alone behind the rest,
 * those that are destructive last, then the sanity case again. KT_EUSAGE when no case is selected, or a glob fits
 * none. items->v is the caller's to free, whatever the outcome. */
int cf_select(const struct cf_suite *suite, const struct cf_profile *profile, const struct cf_selection *selection,
	      struct cf_items *items, struct kt_err *err);

/* Is told of every row in order, as soon as it and those before it are there. Called from one thread at a time. */
typedef void cf_row_fn(void *arg, json_t *row, size_t done, size_t of);

struct cf_runner {
	const struct cf_suite *suite;
	const struct cf_target *target;
	struct cf_items items;
	int jobs;
	uint64_t seed;
	bool strict;
	const volatile sig_atomic_t *stop;   /* once it is not 0, no further case is begun */
	cf_row_fn *on_row;
	void *arg;
};

/* The rows of result.json, without those that were not begun when it had to stop; a new array. */
json_t *cf_runner_run(struct cf_runner *runner);

/* The row of one item, run on a target unless it is disabled, with the verdict that profile and options make of what
 * was found. run_name, index and seed as for cf_instance_run(). */
json_t *cf_item_run(const struct cf_item *item, const struct cf_target *target, const char *run_name, size_t index,
		    uint64_t seed, bool strict);

/* What profile and options make of a row's verdict: expected failures, requirements that are no must, --strict. */
void cf_policy(json_t *row, const struct cf_profile *profile, bool strict);
/* The failure that the profile expects of the row's case, whatever it fails with; NULL if it expects none. */
const struct cf_expected_failure *cf_policy_failure(json_t *row, const struct cf_profile *profile);
/* Does the row give the reason that is expected? */
bool cf_policy_is_failure(json_t *row, const struct cf_expected_failure *failure);

#endif
