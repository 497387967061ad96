/* Fetch requests at a set rate: what the engine wire does in `loadgen fetch`.
 *
 * One arrival is one Fetch request for one partition, at the intended time, whatever is still without an answer. It
 * does not wait for data (maxWaitMs 0), and the latencies of empty answers are kept apart, so that neither a long poll
 * nor an idle topic colours the others. A partition is read from `begin` on and again from there when its end is
 * reached.
 */
#ifndef KASSAY_LOADGEN_WIRE_FETCH_H
#define KASSAY_LOADGEN_WIRE_FETCH_H

#include "loadgen/meter.h"
#include "loadgen/outcome.h"
#include "loadgen/schedule.h"

struct lg_fetch_opts {
	const char *bootstrap, *topic;
	const struct kc_login *login;
	int32_t npartitions;
	const int64_t *begins;         /* of each partition */
	struct lg_plan_rate rate;      /* in requests */
	uint64_t seed;
	int in_flight;                 /* requests without an answer, per connection */
	int max_bytes;                 /* of records per answer */
};

struct lg_fetch_stats {
	struct lg_meter meter;         /* lag of all, service and response of answers with records */
	struct kh_hist empty;          /* response time of answers without */
	struct lg_outcomes outcomes;   /* answers with an error */
	int64_t requests, with_records, without_records, unanswered, held;
	int64_t not_sent;              /* requests for which there was no room, or no leader, for 30 s */
	char not_sent_why[160];        /* of the last one */
	int64_t records, bytes;        /* bytes of record batches */
	int64_t intact, corrupt, foreign;
	int64_t started, last;         /* ns of lg_now(): start, last answer */
	char damage[160];              /* the first corrupt record, "" if none */
};

int lg_fetch_stats_init(struct lg_fetch_stats *stats, struct kt_err *err);
void lg_fetch_stats_fini(struct lg_fetch_stats *stats);
/* Until the schedule ends or the user stops it. Errors are those that keep the first request from being sent, and
 * KT_ENOMEM, which ends it and is counted as nothing of the broker's. err is not NULL. */
int lg_wire_fetch(const struct lg_fetch_opts *opts, struct lg_fetch_stats *stats, struct kt_err *err);

#endif
