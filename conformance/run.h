/* One instance of a case while it runs: its connections, variables, and what has to be taken back at the end. */
#ifndef KASSAY_CONFORMANCE_RUN_H
#define KASSAY_CONFORMANCE_RUN_H

#include "conformance/case.h"
#include "conformance/target.h"

enum { CF_LINKS = 6 };

struct cf_run {
	const struct cf_target *target;
	const struct cf_instance *instance;
	json_t *vars;                    /* variable -> value */
	struct cf_link links[CF_LINKS];
	size_t nlinks;
	struct cf_link *used;            /* by the step that runs; its fate is judged. NULL = none */
	json_t *asked;                   /* object: what cf_link_ask() leaves behind where the answer cannot be read */
	uint64_t random;
	json_t *topics;                  /* names of topics that were created */
	json_t *topic_ids;               /* name -> id as text */
	json_t *brokers;                 /* ids that were registered */
	json_t *configs;                 /* [resource name, config] of brokers that were set */
	int64_t observed_from;           /* where in the observation channel the case begins, -1 = it does not look */
	int level;                       /* of metadata.version before the case, -1 = it did not move it */
};

/* A number in 0..2^64-1; the sequence depends on the seed of the run and the instance alone. */
uint64_t cf_random(struct cf_run *run);

/* Links that last as long as the instance. They are opened; NULL on failure. to: "broker", "controller", "leader" of
 * partition 0 of the topic `of`, or "coordinator" of the transactional id `of`. The link becomes run->used. */
struct cf_link *cf_run_link(struct cf_run *run, const char *to, const char *of, struct kt_err *err);

/* The version for a step that uses api: `version` of args (a number or "latest") if there, else that of the instance if
 * it is of this api, else the latest one up to max (-1 = no bound). -1 with err. */
int cf_run_version(struct cf_run *run, struct cf_link *link, int api, json_t *args, int max, struct kt_err *err);

/* Reads the answer to what was sent, and puts it into out, which has evidence. With api -1 it is not read but for its
 * correlation id. What the target does is an outcome; evidence says under "unreadable" what is wrong with the answer.
 * KT_ENOMEM. */
int cf_run_take_answer(struct cf_link *link, int api, int version, struct cf_outcome *out, struct kt_err *err);

/* Sends a request with a JSON body, which is taken, and reads the answer unless silent. What the target does, closing
 * or not answering included, is an outcome; an error is what the kit could not do. tags may be NULL. */
int cf_run_exchange(struct cf_link *link, int api, int version, json_t *body, json_t *tags, bool silent,
		    struct cf_outcome *out, struct kt_err *err);
/* The same, with edits of the frame (lib/wire/edit.h; NULL = none). */
int cf_run_exchange_edited(struct cf_link *link, int api, int version, json_t *body, json_t *tags, json_t *edits,
			   bool silent, struct cf_outcome *out, struct kt_err *err);

/* Sets a variable; value is taken. */
void cf_run_set(struct cf_run *run, const char *name, json_t *value);

/* Creates the topics of the case and waits until their leaders serve them. */
int cf_topics_create(struct cf_run *run, struct kt_err *err);
/* Takes back what the instance did: registrations, configs, the level, topics. note gets the first thing that
 * failed. */
void cf_run_undo(struct cf_run *run, char *note, size_t size);
/* Moves metadata.version to level, and waits until broker and controller say so. */
int cf_level_move(struct cf_run *run, int level, struct kt_err *err);
/* What an answer to UpdateFeatures, about one feature, says of it: up to version 1 the whole is never refused, but each
 * feature. Borrowed. */
json_t *cf_features_told(json_t *answer);
/* Only waits. */
int cf_level_await(struct cf_run *run, int level, struct kt_err *err);
/* The finalized level as one node shows it; -1 if it shows none. */
int cf_level_at(struct cf_link *link);

/* Runs an instance on a target and gives its row of result.json: id, verdict, reason, steps. evidence of the steps has
 * all bytes. index makes names unique in a run. */
json_t *cf_instance_run(const struct cf_instance *instance, const struct cf_target *target, const char *run_name,
			size_t index, uint64_t seed);

#endif
