/* Whether the controller takes a broker's registration.
 *
 * Source: ClusterControlManager.registerBroker of Apache Kafka 4.4, checks in its order; then KIP-1294: the reported
 * static configurations, and the defaults of those not reported, must be legal at the finalized metadata.version.
 */
#ifndef KASSAY_FAKEBROKER_CONFIG_REGISTER_H
#define KASSAY_FAKEBROKER_CONFIG_REGISTER_H

#include "fakebroker/config/twins.h"
#include "fakebroker/config/upgrade.h"

struct fb_listener_view {
	struct kw_str name, host;
	uint16_t port;
	int16_t securityProtocol;
};

/* The version of the request from which on it carries static configurations. */
enum { FB_STATICS_VERSION = 5 };

/* A BrokerRegistrationRequest. */
struct fb_register_view {
	int16_t version;             /* of the request */
	int32_t brokerId;
	struct kw_str clusterId;
	struct kw_uuid incarnationId;
	struct kw_str rack;          /* null possible */
	const struct fb_listener_view *listeners;
	size_t nlisteners;
	const struct fb_feature_range *features;
	size_t nfeatures;
	bool isMigratingZkBroker;
	const struct kw_uuid *logDirs;
	size_t nlogDirs;
	const struct fb_static_config *statics;
	size_t nstatics;
};

struct fb_register_answer {
	int16_t errorCode;
	const char *reason;          /* for the log: the response has no message. NULL if errorCode is 0 */
	bool amends;                 /* same incarnation as registered: keep the epoch */
	enum fb_fault fault;         /* what Kafka does with its refusal */
	bool keepsStatics;           /* the cluster's level knows static configurations: remember the reported ones */
};

/* Which listeners have the same name: the controller keeps the last one of a name. NULL when memory is exhausted. */
struct fb_twins *fb_listener_twins(const struct fb_register_view *request, struct kw_arena *arena);

/* Checks a request. 0 or KT_ENOMEM. */
int fb_register_check(const struct fb_cluster_view *cluster, const struct fb_register_view *request,
		      struct kw_arena *arena, struct fb_register_answer *answer);

#endif
