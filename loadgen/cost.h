/* What a change costs a broker: the same requests in short blocks, now with it and now without. Never all of the one
 * and then all of the other: what the machine does meanwhile would be taken for the difference. */
#ifndef KASSAY_LOADGEN_COST_H
#define KASSAY_LOADGEN_COST_H

#include <sys/types.h>

#include "lib/text/json.h"
#include "lib/text/process.h"
#include "loadgen/blocks.h"
#include "loadgen/quads.h"

enum lg_switch { LG_SWITCH_NONE, LG_SWITCH_OBSERVER, LG_SWITCH_VALIDATOR };

enum { LG_DOSES_MAX = 16 };

/* One of the two that are compared. */
struct lg_variant {
	/* observer.class.name or record.validator.classes, "" for no validators; NULL: the scenario does not say. */
	const char *classes;
	const char *mode;            /* of observers, or NULL */
	json_t *options;             /* of observers: {"NAME.OPTION": text}, or NULL */
};

/* What a scenario of costs says (docs/loadgen.md). */
struct lg_cost_spec {
	const char *name;
	const char *bootstrap;       /* NULL: not given */
	struct lg_requests requests;
	int quads;
	int warm_up;                 /* quads before those, which do not count */
	int warm;                    /* requests before each block that do not count; at most requests.block */
	int64_t seed;
	double margin;               /* of CPU per request; 0.02: 2 % */
	struct lg_variant a, b;
	int ndoses;                  /* 0: A against B once */
	int doses[LG_DOSES_MAX];     /* microseconds of SlowObserver */
	const char *dose_mode;       /* "inline" or "queued" */
	struct kt_json json;
};

void lg_cost_spec_init(struct lg_cost_spec *spec);
void lg_cost_spec_fini(struct lg_cost_spec *spec);
/* Every error names file, line and member. */
int lg_cost_spec_load(struct lg_cost_spec *spec, const char *file, struct kt_err *err);

struct lg_cost_target {
	enum lg_switch what;
	const char *control;         /* URL of a fakebroker's control API; NULL: two brokers */
	const char *a, *b;           /* HOST:PORT of two brokers, or NULL */
	pid_t pid_a, pid_b;          /* 0: unknown, or not of this machine, so that there is no CPU time */
};

struct lg_comparison {
	struct lg_effect cpu, wall;  /* A against B */
	struct lg_effect cpu_same, wall_same;   /* A against A */
};

struct lg_cost {
	bool has_cpu;
	int n;                       /* comparisons: 1, or one per dose */
	struct lg_comparison v[LG_DOSES_MAX];
	double seconds;
	int repeated;                /* quads in which the CPU clock could not be read, and which were measured again */
	enum lg_cost_verdict verdict;
	const char *why;
	struct lg_line line;         /* of doses */
	bool cannot_tell;            /* of a KT_ETIMEOUT: the user stopped it, or the CPU clock does not go on */
};

/* Measures. KT_ENET, KT_ETIMEOUT, KT_EPEER (a request or switch was refused), KT_EUSAGE (the topic has records, too),
 * KT_ENOMEM. */
int lg_cost_run(const struct lg_cost_spec *spec, const struct lg_cost_target *target, struct lg_cost *cost,
		struct kt_err *err);
/* The exit code of the program after that. */
int lg_cost_exit(const struct lg_cost *cost, const struct kt_err *err);
void lg_cost_print(const struct lg_cost_spec *spec, const struct lg_cost_target *target, const struct lg_cost *cost,
		   FILE *out);
/* New reference. */
json_t *lg_cost_json(const struct lg_cost_spec *spec, const struct lg_cost_target *target, const struct lg_cost *cost);

/* ---- switching (cost_switch.c) ---- */

/* What is in force: the observers of all brokers, or the validators of the topic. Options that observers were given by
 * PUT /v1/observer are not in it: nothing tells them. */
struct lg_in_force {
	char *classes;               /* NULL: the topic has no record.validator.classes of its own */
	/* of observers; INT64_MAX, 0 and 0 where there are none */
	bool queued;
	int64_t seen;                /* exchanges that each of them was shown, since it was made, over all brokers */
	int64_t waiting, dropped;    /* exchanges in their queues, and those that did not fit in */
};

/* Brings the broker into this state, with new observers even where the same ones are in force. *now, all zero before,
 * is what is in force then. */
int lg_cost_switch(const struct lg_cost_spec *spec, const struct lg_cost_target *target,
		   const struct lg_variant *variant, struct kc_conn *conn, struct lg_in_force *now, struct kt_err *err);
/* Reads it, into a struct that is all zero; lg_in_force_fini() may be called whatever the outcome. KT_EPEER also when
 * the brokers' observers differ. */
int lg_cost_in_force(const struct lg_cost_spec *spec, const struct lg_cost_target *target, struct kc_conn *conn,
		     struct lg_in_force *state, struct kt_err *err);
/* Brings it back. If that fails err is KT_EPEER, and its text says so behind what it says already. */
void lg_cost_put_back(const struct lg_cost_spec *spec, const struct lg_cost_target *target,
		      const struct lg_in_force *before, struct kt_err *err);
void lg_in_force_fini(struct lg_in_force *before);
/* What GET /v1/status tells of the process behind the control API. */
struct lg_process {
	pid_t pid;                   /* 0: not known here, as of another machine or pid namespace */
	char text[KT_PROCESS_TEXT];  /* tells it from all others; "" if it does not say */
};

void lg_cost_take_process(json_t *status, struct lg_process *process);
int lg_cost_process(const char *control, struct lg_process *process, struct kt_err *err);
/* Takes that fakebroker for this process alone, until *fd is closed or this process ends: what a second measurement
 * finds in force would be what the first one just switched to. Only those on this machine are kept away. KT_EPEER when
 * another one has it, KT_ESYS; *fd is -1 then. */
int lg_cost_claim(const char *control, const struct lg_process *process, int *fd, struct kt_err *err);

#endif
