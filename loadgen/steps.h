/* The timeline: changes of features and configurations while the load runs, each with the outcome that it must have. */
#ifndef KASSAY_LOADGEN_STEPS_H
#define KASSAY_LOADGEN_STEPS_H

#include <stdio.h>

#include "loadgen/plan.h"

struct lg_step_result {
	bool done;                 /* the broker was asked */
	bool ok;                   /* and its answer is the expected one */
	double at;                 /* seconds after the start */
	double took;               /* seconds from request to answer */
	int error;                 /* Kafka's code */
	char message[2048];        /* the broker's, "" if null */
	char why[320];             /* "" if ok, else what is not as expected, or why there was no answer */
};

struct lg_steps;

/* Executes the steps of the plan in a thread of its own; start is a time of lg_now(). Each outcome is told in one line
 * to out at once, unless out is NULL. */
int lg_steps_start(const struct lg_plan *plan, int64_t start, FILE *out, struct lg_steps **steps, struct kt_err *err);
/* Waits for the last step, or until the user stops the program. */
void lg_steps_join(struct lg_steps *steps);
void lg_steps_free(struct lg_steps *steps);
/* After the join. */
const struct lg_step_result *lg_steps_result(const struct lg_steps *steps, int i);

/* "upgrade metadata.version to 28", "set retention.ms=1000 on topic orders". */
const char *lg_step_text(const struct lg_step *step, char *buf, size_t size);
/* Compares an answer with the expectation; fills ok and why of result, whose error and message are set. */
void lg_step_judge(const struct lg_step *step, struct lg_step_result *result);

#endif
