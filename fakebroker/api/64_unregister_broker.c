/* UnregisterBroker (64). */
#include "fakebroker/mutants.h"
#include "fakebroker/request.h"
#include "lib/wire/errors.h"

enum fb_outcome fb_unregister_broker(struct fb_request *req)
{
	const struct kw_UnregisterBrokerRequest *body = req->body;
	struct kw_UnregisterBrokerResponse *response = req->response;
	struct fb_broker *broker;

	response->errorCode = req->forced;
	if (req->forced) {
		response->errorMessage = kw_str(req->why);
		return FB_REPLY;
	}
	pthread_rwlock_wrlock(&req->cluster->lock);
	broker = fb_cluster_broker(req->cluster, body->brokerId);
	if (broker && !broker->own && fb_broker_in_session(req->cluster, broker) &&
	    fb_mutant(FB_M_UNREGISTER_LIVE_REFUSED)) {
		response->errorCode = KW_ERR_INVALID_REQUEST;
	} else if (broker && !broker->own) {
		fb_cluster_unregister(req->cluster, body->brokerId);
	} else if (!broker && !fb_mutant(FB_M_UNREGISTER_UNKNOWN_TAKEN)) {
		/* One of our own would register again at once. */
		response->errorCode = KW_ERR_BROKER_ID_NOT_REGISTERED;
		response->errorMessage = kw_str(fb_release_before(req->cluster->release, "4.0") ? "" :
						kw_sprintf(&req->arena, "Broker ID %d is not currently registered",
							   body->brokerId));
	}
	pthread_rwlock_unlock(&req->cluster->lock);
	return FB_REPLY;
}
