/* A phase while it runs: what both engines write to, and the reports read from. */
#ifndef KASSAY_LOADGEN_LOAD_H
#define KASSAY_LOADGEN_LOAD_H

#include <stdatomic.h>

#include "loadgen/ledger.h"
#include "loadgen/meter.h"
#include "loadgen/outcome.h"
#include "loadgen/plan.h"

/* X(member, name in results): records unless the name says otherwise */
#define LG_COUNTERS(X)                                                   \
	X(sent, "sent")                                                  \
	X(acked, "acked")                                                \
	X(refused, "refused")                                            \
	X(refused_with_batch, "refusedWithBatch")                        \
	X(failed, "failed")                                              \
	X(unknown, "unknown")                                            \
	X(not_sent, "notSent")                                           \
	X(operations, "operations")                                      \
	X(bytes, "valueBytes")                                           \
	X(held, "heldBack")                                              \
	X(events, "clientEvents")

struct lg_counters {
#define LG_X(member, name) _Atomic int64_t member;
	LG_COUNTERS(LG_X)
#undef LG_X
};

struct lg_load {
	const struct lg_plan *plan;
	const struct lg_phase *phase;
	uint32_t number;             /* of the phase: the producer of its stamps */
	uint64_t run;
	int64_t wall_offset;         /* lg_wall() - lg_now() */
	int32_t npartitions;
	struct lg_ledger *ledger;
	struct lg_meter meter;
	struct lg_outcomes outcomes;
	struct lg_counters counters;
	/* set by the engine */
	struct lg_guarantee guarantee;
	int64_t started, last_sent, last_acked;   /* ns of lg_now(); 0: never */
	double records_per_request;  /* 0: unknown */
	bool complete;               /* the whole schedule was sent and every operation settled */
	pthread_mutex_t lock;        /* of event */
	char event[256];             /* the last thing the client complained about, "" if nothing */
};

int lg_load_init(struct lg_load *load, const struct lg_plan *plan, uint32_t number, uint64_t run,
		 int32_t npartitions, struct kt_err *err);
void lg_load_fini(struct lg_load *load);

/* The stamp of the record that the phase sends next to partition; opens its ledger entry. KT_ENOMEM. */
int lg_load_stamp(struct lg_load *load, int32_t partition, int64_t intended, struct lg_stamp *stamp);
/* Settles a record in ledger and counters. */
void lg_load_settle(struct lg_load *load, int32_t partition, int64_t sequence, enum lg_fate fate);
/* When the last thing happened: a record was sent or acknowledged. */
int64_t lg_load_end(const struct lg_load *load);
void lg_load_event(struct lg_load *load, const char *text);

/* The engines: send the whole phase, wait for what is in flight, return. KT_ENET or KT_ETIMEOUT when no broker can be
 * reached; what goes wrong later is in outcomes and ledger. */
int lg_rdkafka_run(struct lg_load *load, struct kt_err *err);
int lg_wire_run(struct lg_load *load, struct kt_err *err);

#endif
