/* BrokerRegistration (62): foreign brokers join, or are told why not. Version 5 with static configurations is
 * KIP-1294's. */
#include "fakebroker/cluster/log_line.h"
#include "fakebroker/mutants.h"
#include "fakebroker/request.h"
#include "lib/wire/errors.h"

static struct fb_static_config static_of(const struct kw_BrokerRegistrationRequest_BrokerStaticConfig *config)
{
	bool misread = config->value.n >= 0 && fb_mutant(FB_M_MV_STATIC_MISREAD);

	return (struct fb_static_config){config->name, misread ? config->name : config->value, config->isSensitive};
}

static bool view_of(struct fb_request *req, struct fb_register_view *view)
{
	const struct kw_BrokerRegistrationRequest *body = req->body;
	struct fb_listener_view *listeners = kw_alloc(&req->arena, (size_t)body->listeners.n * sizeof *listeners);
	struct fb_feature_range *features = kw_alloc(&req->arena, (size_t)body->features.n * sizeof *features);
	struct fb_static_config *statics = kw_alloc(&req->arena, (size_t)body->staticConfigs.n * sizeof *statics);

	if (!listeners || !features || !statics)
		return false;
	for (int32_t i = 0; i < body->listeners.n; i++)
		listeners[i] = (struct fb_listener_view){body->listeners.v[i].name, body->listeners.v[i].host,
							 body->listeners.v[i].port,
							 body->listeners.v[i].securityProtocol};
	for (int32_t i = 0; i < body->features.n; i++)
		features[i] = (struct fb_feature_range){body->features.v[i].name,
							body->features.v[i].minSupportedVersion,
							body->features.v[i].maxSupportedVersion};
	for (int32_t i = 0; i < body->staticConfigs.n; i++)
		statics[i] = static_of(&body->staticConfigs.v[i]);
	*view = (struct fb_register_view){
		.version = (int16_t)req->version, .brokerId = body->brokerId, .clusterId = body->clusterId,
		.incarnationId = body->incarnationId, .rack = body->rack,
		.isMigratingZkBroker = body->isMigratingZkBroker,
		.listeners = listeners, .nlisteners = (size_t)body->listeners.n,
		.features = features, .nfeatures = (size_t)body->features.n,
		.logDirs = body->logDirs.v, .nlogDirs = (size_t)body->logDirs.n,
		.statics = statics, .nstatics = (size_t)body->staticConfigs.n,
	};
	return true;
}

/* Kafka's controller fails when the record does not fit into a batch, and resigns. */
static struct fb_register_answer not_registered(const struct fb_request *req, int code)
{
	bool topples = code == KT_ELIMIT && atomic_load(&fb_cluster_controller(req->cluster)->imitates);

	return (struct fb_register_answer){
		.errorCode = KW_ERR_UNKNOWN_SERVER_ERROR,
		.reason = code == KT_ELIMIT ? "the record would be larger than 8388608 bytes" : "out of memory",
		.fault = topples ? FB_F_LARGE_BATCH : FB_NO_FAULT,
	};
}

enum fb_outcome fb_broker_registration(struct fb_request *req)
{
	struct kw_BrokerRegistrationResponse *response = req->response;
	struct fb_register_answer answer = {.errorCode = req->forced, .reason = req->why ? req->why : "a rule says so"};
	struct fb_register_view request;
	struct fb_cluster_view *cluster;
	int64_t epoch = -1;
	int code = 0;

	if (!view_of(req, &request))
		return FB_CLOSE;
	pthread_rwlock_wrlock(&req->cluster->lock);
	cluster = fb_cluster_view(req->cluster, &req->arena);
	if (!req->forced && (!cluster || fb_register_check(cluster, &request, &req->arena, &answer) < 0))
		answer = not_registered(req, KT_ENOMEM);
	if (!answer.errorCode)
		code = fb_cluster_register(req->cluster, &request, answer.keepsStatics, answer.amends, &epoch);
	if (code)
		answer = not_registered(req, code);
	pthread_rwlock_unlock(&req->cluster->lock);
	response->errorCode = answer.errorCode;
	response->brokerEpoch = answer.errorCode ? -1 : epoch;
	if (answer.errorCode)
		fb_log_repeated(KASSAY_WARN, "registration of broker %d refused (%s): %s", request.brokerId,
				kw_error_name(answer.errorCode), answer.reason);
	if (answer.fault)
		fb_request_topple(req, answer.fault);
	if (!answer.errorCode)
		fb_log_line(KASSAY_INFO, "broker %d registered with epoch %lld", request.brokerId, (long long)epoch);
	return answer.fault && fb_faults[answer.fault].fate == FB_END ? FB_CLOSE : FB_REPLY;
}
