/* The three latencies of an operation, over a whole phase and over the running second.
 *
 *	schedule lag     intended time to the moment it was handed to the client or socket: the generator's own lateness
 *	service time     that moment to the acknowledgement: what a tool without a schedule would call latency
 *	response time    intended time to the acknowledgement: what a user of a service at this rate sees
 */
#ifndef KASSAY_LOADGEN_METER_H
#define KASSAY_LOADGEN_METER_H

#include <pthread.h>
#include <stdio.h>

#include "lib/hist/hist.h"

/* X(symbol, tag in logs and results, text for people) */
#define LG_LATENCIES(X)                            \
	X(LG_LAG, "lag", "schedule lag")           \
	X(LG_SERVICE, "service", "service time")   \
	X(LG_RESPONSE, "response", "response time")

enum lg_latency {
#define LG_X(symbol, tag, text) symbol,
	LG_LATENCIES(LG_X)
#undef LG_X
	LG_NLATENCIES,
};

const char *lg_latency_tag(enum lg_latency latency);
const char *lg_latency_text(enum lg_latency latency);

struct lg_meter {
	pthread_mutex_t lock;
	struct kh_hist total[LG_NLATENCIES];
	struct kh_hist interval[LG_NLATENCIES];
	struct kh_hist spare;        /* takes an interval while it is being written */
};

int lg_meter_init(struct lg_meter *meter, struct kt_err *err);
void lg_meter_fini(struct lg_meter *meter);

/* An operation was handed over. All times are ns of lg_now(). */
void lg_meter_sent(struct lg_meter *meter, int64_t intended, int64_t sent);
/* An operation was acknowledged. An unpaced one has no intended time: pass its sent time. */
void lg_meter_acked(struct lg_meter *meter, int64_t intended, int64_t sent, int64_t acked);

/* Writes what was recorded since the last call as lines of an interval log; begin and length in seconds. */
int lg_meter_log(struct lg_meter *meter, FILE *out, double begin, double length, struct kt_err *err);
/* Of the whole phase so far, in ns. */
int64_t lg_meter_percentile(struct lg_meter *meter, enum lg_latency latency, double percentile);

#endif
