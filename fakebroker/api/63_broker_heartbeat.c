/* BrokerHeartbeat (63): fencing, unfencing and controlled shutdown of foreign brokers. */
#include "fakebroker/cluster/metadata_records.h"
#include "fakebroker/request.h"
#include "lib/wire/errors.h"

/* BrokerHeartbeatManager.calculateNextBrokerState: it leads nothing, so it can go at once. */
static void beat(struct fb_cluster *cluster, struct fb_broker *broker, const struct kw_BrokerHeartbeatRequest *body, int64_t now,
		 struct kw_BrokerHeartbeatResponse *response)
{
	bool caughtUp = body->currentMetadataOffset >= broker->epoch, wasFenced = broker->fenced;

	broker->heartbeat_ms = now;
	broker->fenced = body->wantFence || body->wantShutDown || (broker->fenced && !caughtUp);
	broker->inControlledShutdown = body->wantShutDown;
	if (broker->fenced != wasFenced) {
		fb_write_fencing(cluster, broker);
		fb_wrote(cluster);
	}
	response->isCaughtUp = caughtUp;
	response->isFenced = broker->fenced;
	response->shouldShutDown = body->wantShutDown;
}

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
	if (broker && broker->epoch == body->brokerEpoch)
		beat(req->cluster, broker, body, fb_cluster_now(req->cluster), response);
	else
		response->errorCode = KW_ERR_STALE_BROKER_EPOCH;
	pthread_rwlock_unlock(&req->cluster->lock);
	return FB_REPLY;
}
