/* The distinct answers of a phase: one row per kind of operation, error code and verdict, with one example of the
 * text. */
#ifndef KASSAY_LOADGEN_OUTCOME_H
#define KASSAY_LOADGEN_OUTCOME_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "loadgen/illegal.h"

enum { LG_OUTCOMES_MAX = 64, LG_OUTCOME_TEXT = 640 };

struct lg_outcome {
	const struct lg_illegal *illegal;   /* NULL: legal */
	int code;                           /* Kafka's, or librdkafka's own when below -1 */
	bool expected;
	int64_t count;                      /* operations: records of engine rdkafka, batches of engine wire */
	char text[LG_OUTCOME_TEXT];         /* of the first one; "" if there was none */
};

struct lg_outcomes {
	pthread_mutex_t lock;
	int n;
	struct lg_outcome v[LG_OUTCOMES_MAX];
	int64_t unexpected;                 /* operations, also those that found no row */
};

void lg_outcomes_init(struct lg_outcomes *outcomes);
void lg_outcomes_fini(struct lg_outcomes *outcomes);
/* From any thread. */
void lg_outcomes_add(struct lg_outcomes *outcomes, const struct lg_illegal *illegal, int code, bool expected,
		     const char *text);

/* "INVALID_RECORD" or librdkafka's "_MSG_TIMED_OUT". */
const char *lg_code_name(int code);

#endif
