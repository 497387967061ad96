/* BrokerHeartbeat (63): fencing, unfencing and controlled shutdown of foreign brokers. */
#include "fakebroker/mutants.h"
#include "fakebroker/request.h"
#include "lib/wire/errors.h"

enum fb_outcome fb_broker_heartbeat(struct fb_request *req)
{
	const struct kw_BrokerHeartbeatRequest *body = req->body;
	struct kw_BrokerHeartbeatResponse *response = req->response;
	struct fb_broker *broker;

	response->errorCode = req->forced;
	response->isFenced = true;
	if (req->forced)
		return FB_REPLY;
	pthread_rwlock_wrlock(&req->cluster->lock);
	broker = fb_cluster_broker(req->cluster, body->brokerId);
	if (broker && (broker->epoch == body->brokerEpoch || fb_mutant(FB_M_HEARTBEAT_EPOCH_UNCHECKED)))
		fb_broker_beat(req->cluster, broker, body, response);
	else
		response->errorCode = fb_mutant(FB_M_HEARTBEAT_CODE) ? KW_ERR_BROKER_ID_NOT_REGISTERED
								     : KW_ERR_STALE_BROKER_EPOCH;
	pthread_rwlock_unlock(&req->cluster->lock);
	return FB_REPLY;
}
