/* What a target can do, as far as cases ask for it. */
#ifndef KASSAY_CONFORMANCE_CAPABILITY_H
#define KASSAY_CONFORMANCE_CAPABILITY_H

#include <jansson.h>
#include <stdbool.h>

#include "lib/text/err.h"

#define CF_DEMO "the scenario fixtures/scenarios/demo.json"

/* X(symbol, name, meaning, what a fakebroker has it with when that is given at its start, or NULL) */
#define CF_CAPABILITIES(X)                                                                                          \
	X(CONTROLLER, "controller", "a controller listener that can be reached", NULL)                              \
	X(REGISTRATION, "registration", "the controller takes BrokerRegistration", NULL)                            \
	X(STATIC_CONFIGS, "static-configs", "BrokerRegistration version 5: static configs are reported (KIP-1294)", \
	  NULL)                                                                                                     \
	X(FEATURES, "features", "metadata.version is a finalized feature and UpdateFeatures is served", NULL)       \
	X(ELR, "elr", "eligible.leader.replicas.version is finalized at 1 or above (KIP-966)", NULL)                \
	X(VALIDATORS, "validators", "record.validator.classes is a topic config (KIP-729)", NULL)                   \
	X(MV_CONFIG, "mv-config", "a broker config with metadata version rules (KIP-1294)", CF_DEMO)                \
	X(MV_TOPIC_CONFIG, "mv-topic-config", "a topic config with metadata version rules (KIP-1294)", CF_DEMO)     \
	X(BROKERS, "brokers", "more than one broker", "--nodes 3")                                                  \
	X(OBSERVER, "observer", "observer.class.name is a broker config (KIP-388)", NULL)                           \
	X(CONTROL, "control", "the kit's control API, through which observers can be read", NULL)                   \
	X(OBSERVATIONS, "observations", "a file to which the target's observer writes what it is called with",      \
	  "--set observer.JournalObserver.file=FILE")

enum cf_capability {
#define CF_X(sym, name, meaning, given) CF_CAN_##sym,
	CF_CAPABILITIES(CF_X)
#undef CF_X
	CF_NCAPABILITIES
};

struct cf_ability {
	bool present;
	char evidence[400];       /* what was asked and answered */
};

const char *cf_capability_name(enum cf_capability capability);
const char *cf_capability_meaning(enum cf_capability capability);
/* What a fakebroker has it with, when it is given at its start; NULL: it always has it. */
const char *cf_capability_given(enum cf_capability capability);
/* CF_NCAPABILITIES for a name that is none. */
enum cf_capability cf_capability_find(const char *name);

/* A need of a case is the name of a capability, or "api:NAME", "api:NAME@VERSION", "level:N" (of metadata.version, that
 * the target can be moved to). */
int cf_need_check(const char *need, struct kt_err *err);
/* Splits "api:NAME@VERSION"; version -1 if none is named. False when need is none of that form. */
bool cf_need_api(const char *need, int *api, int *version);
/* The level of "level:N", 1-32767. False when need is none of that form. */
bool cf_need_level(const char *need, int *level);

#endif
