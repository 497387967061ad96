/* A profile describes a target: where it is, what it claims, how its hooks are named, and what is known to fail.
 *
 *	{"name": "my broker", "bootstrap": "127.0.0.1:9092", "controller": "127.0.0.1:9093", "topicPrefix": "kassay-",
 *	 "timeoutMs": 5000, "login": {"username": "alice", "password": "wonder"},
 *	 "observations": "/tmp/observed.jsonl", "capabilities": {"validators": true},
 *	 "names": {"validator.even": "com.example.Even"}, "disabled": ["frames.size.*"],
 *	 "expectedFailures": [{"case": "records.crc.*", "message": "step 1", "why": "https://issues.example/7"}]}
 *
 * Every member is optional. The names of profiles/default.json hold where a profile gives none; null says that the
 * target has nothing of the kind.
 */
#ifndef KASSAY_CONFORMANCE_PROFILE_H
#define KASSAY_CONFORMANCE_PROFILE_H

#include "conformance/capability.h"
#include "lib/client/login.h"
#include "lib/text/address.h"
#include "lib/text/json.h"

enum cf_claim { CF_CLAIMS_NOTHING, CF_CLAIMS_PRESENT, CF_CLAIMS_ABSENT };

struct cf_expected_failure {
	const char *glob;        /* of the instance's id, or of the case's */
	const char *message;     /* the reason begins with it */
	const char *why;
};

struct cf_profile {
	struct kt_json doc, defaults;
	const char *name, *bootstrap, *topicPrefix;
	const char *controller;                  /* as it is written, or NULL */
	char controller_host[KT_HOST_MAX];
	int controller_port;
	struct kc_login login;
	const char *observations;                /* file of the observation channel, or NULL */
	int timeout;                             /* ms for one answer */
	int patience;                            /* ms that anything may take to come true at most; 0 = as
						    the case says */
	int claims[CF_NCAPABILITIES];            /* enum cf_claim */
	json_t *names;                           /* merged; name -> string or null; owned */
	const char **disabled;
	size_t ndisabled;
	struct cf_expected_failure *failures;
	size_t nfailures;
};

/* defaults is a profile file whose names hold unless `file`, which may be NULL, gives others. cf_profile_fini() may be
 * called whatever the outcome. */
int cf_profile_load(struct cf_profile *profile, const char *defaults, const char *file, struct kt_err *err);
void cf_profile_fini(struct cf_profile *profile);

/* How long to wait for what a case, or the kit itself, gives ms. */
static inline int cf_profile_wait(const struct cf_profile *profile, int ms)
{
	return profile->patience && profile->patience < ms ? profile->patience : ms;
}

#endif
