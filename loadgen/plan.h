/* What a run is to do: read from a scenario file or made of command line options. */
#ifndef KASSAY_LOADGEN_PLAN_H
#define KASSAY_LOADGEN_PLAN_H

#include "lib/client/login.h"
#include "lib/text/json.h"
#include "lib/wire/arena.h"
#include "loadgen/illegal.h"
#include "loadgen/record.h"
#include "loadgen/schedule.h"

struct lg_property {
	const char *name, *value;    /* value NULL: delete (in steps only) */
};

struct lg_properties {
	int n;
	struct lg_property *v;
};

struct lg_topic {
	const char *name;
	int partitions;
	int replication_factor;
	struct lg_properties configs;
};

enum lg_engine { LG_RDKAFKA, LG_WIRE };

struct lg_phase {
	const char *name;            /* [A-Za-z0-9._-]+, unique: it names files */
	const char *topic;
	enum lg_engine engine;
	struct lg_plan_rate rate;    /* in records */
	struct lg_shape shape;
	int codec;                   /* enum kw_codec */
	int acks;                    /* -1, 0, 1 */
	int batch;                   /* wire: records per batch */
	int in_flight;               /* wire: requests without an answer, per connection */
	struct lg_illegal_mix illegal;
	bool show_rdkafka_view;
	struct lg_properties properties;   /* rdkafka: of librdkafka, after those of the plan */
};

enum { LG_PHASE_BATCH = 10, LG_PHASE_IN_FLIGHT = 32 };

/* UpgradeType of UpdateFeatures (KIP-584, KIP-778). */
enum lg_upgrade_type { LG_UPGRADE = 1, LG_SAFE_DOWNGRADE = 2, LG_UNSAFE_DOWNGRADE = 3 };

/* ConfigResource.Type */
enum { LG_RESOURCE_TOPIC = 2, LG_RESOURCE_BROKER = 4 };

enum { LG_STEP_MESSAGES = 8 };

struct lg_step {
	double at;                   /* seconds after the first phase began */
	const char *name;            /* NULL: made from the action */
	enum { LG_STEP_FEATURE, LG_STEP_CONFIG, LG_STEP_STOP, LG_STEP_START } action;
	/* feature */
	const char *feature;
	int level;
	enum lg_upgrade_type type;
	/* config */
	int resource_type;
	const char *resource;        /* "" for a broker: the cluster's default */
	struct lg_properties changes;        /* start: of static values; value NULL: none of its own any more */
	bool validate_only;
	/* stop, start */
	int node;
	/* expectation */
	int error;                   /* 0: it must succeed */
	int nmessages;
	const char *messages[LG_STEP_MESSAGES];   /* each must occur in the broker's message */
};

struct lg_plan {
	const char *name;
	const char *bootstrap;       /* host:port[,host:port...]; NULL: not given yet */
	uint64_t seed;
	bool verify;
	int ntopics, nphases, nsteps;
	struct lg_topic *topics;
	struct lg_phase *phases;
	struct lg_step *steps;       /* in the order of `at` */
	struct lg_properties properties;
	struct kc_login login;       /* of the kit's own connections; set by lg_cluster_open() */
	/* ownership */
	struct kw_arena arena;
	struct kt_json json;
};

void lg_plan_init(struct lg_plan *plan);
void lg_plan_fini(struct lg_plan *plan);
/* All at its default; name and topic NULL, no end. */
void lg_phase_init(struct lg_phase *phase);
/* Judges what no single member shows, like an illegal record that the engine cannot make. On failure *member names the
 * member that is at fault. */
int lg_phase_check(const struct lg_phase *phase, const char **member, struct kt_err *err);

/* Cuts "NAME=VALUE": the name is copied to the arena, the value points into text. KT_ESYNTAX, KT_ENOMEM. */
int lg_property_cut(struct kw_arena *arena, const char *text, struct lg_property *property, struct kt_err *err);
/* The same for n texts, appended to a properties that is empty. */
int lg_properties_cut(struct kw_arena *arena, const char *const *texts, size_t n, struct lg_properties *properties,
		      struct kt_err *err);

/* The phase's own member that a property of librdkafka would contradict ("acks"), or NULL. */
const char *lg_property_owner(const char *name);

extern const char *const lg_engine_names[];      /* by enum lg_engine; NULL at the end */
extern const char *const lg_upgrade_names[];     /* "unknown", then by enum lg_upgrade_type; NULL at the end */

/* Reads a scenario. Every error names file, line and member. */
int lg_plan_load(struct lg_plan *plan, const char *file, struct kt_err *err);
int lg_plan_parse(struct lg_plan *plan, const char *name, const char *text, size_t n, struct kt_err *err);

#endif
