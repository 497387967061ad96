/* The broker or cluster under test, as far as the suite has to know it before cases run. */
#ifndef KASSAY_CONFORMANCE_TARGET_H
#define KASSAY_CONFORMANCE_TARGET_H

#include "conformance/capability.h"
#include "conformance/link.h"
#include "conformance/profile.h"

struct cf_target {
	const struct cf_profile *profile;
	char host[KT_HOST_MAX];          /* of the broker that is asked; advertised by the target, or bootstrap */
	int port;
	int broker_id, brokers;          /* its node id; brokers in the cluster */
	json_t *metadata;                /* the answer, owned */
	const char *cluster_id;          /* in metadata, or "" */
	char note[800];                  /* what whoever gave the address should know, or "" */
	char controller_host[KT_HOST_MAX];   /* "" if there is none */
	int controller_port, controller_id;
	json_t *apis, *controller_apis;  /* answers to ApiVersions, owned; the latter may be NULL */
	int level, min_level, max_level; /* of metadata.version; -1 = not known */
	char control_url[256];           /* of the kit's control API, or "" */
	char observations[512];          /* file of the observation channel, or "" */
	struct cf_ability can[CF_NCAPABILITIES];
};

/* Asks the target at "host:port" who it is and what it can do. Fails when it cannot be reached, or does not answer
 * ApiVersions and Metadata; everything else is a capability that is absent. cf_target_fini() may be called whatever the
 * outcome. */
int cf_target_probe(struct cf_target *target, const char *bootstrap, const struct cf_profile *profile,
		    struct kt_err *err);
void cf_target_fini(struct cf_target *target);

/* Host and port of a node in an answer. KT_ENET when they are no address, such as a host that is no text. */
int cf_node_address(json_t *node, char host[KT_HOST_MAX], int *port, struct kt_err *err);

/* Links to the broker and the controller of the target, not yet open. */
struct cf_link cf_target_broker(const struct cf_target *target);
struct cf_link cf_target_controller(const struct cf_target *target);

/* Versions of an API that ApiVersions listed; false if none. */
bool cf_target_lists(json_t *apis, int api, int *min, int *max);

/* Does the target have what a need asks for? why gets the evidence when it does not. */
bool cf_target_has(const struct cf_target *target, const char *need, char *why, size_t size);

/* Which of the capabilities that are missed (an element each) a fakebroker would have, and what it has to be given for
 * them;
 * "" if it is none, or there is nothing to give. */
void cf_target_hint(const struct cf_target *target, const bool *missed, char *text, size_t size);

/* Name, supported range and finalized level of a feature in an answer to ApiVersions; -1 what is not there. */
void cf_feature(json_t *apis, const char *name, int *min, int *max, int *level);

/* What is known of the target, for result.json and for `probe`; a new value. */
json_t *cf_target_json(const struct cf_target *target);

#endif
