/* CreateTopics (19). */
#include "fakebroker/cluster/create_topics.h"
#include "fakebroker/request.h"
#include "lib/wire/errors.h"

enum fb_outcome fb_create_topics(struct fb_request *req)
{
	struct kw_CreateTopicsResponse *response = req->response;
	const struct kw_CreateTopicsRequest *body = req->body;
	struct fb_creation creation = {
		.cluster = req->cluster, .node = req->node, .arena = &req->arena,
		.forced = req->forced, .why = req->why,
	};
	bool ok;

	if (!req->forced && body->timeoutMs <= 0)   /* the controller is late before it has begun */
		creation.forced = KW_ERR_REQUEST_TIMED_OUT;

	pthread_rwlock_wrlock(&req->cluster->lock);
	ok = fb_topics_create(&creation, body, response);
	pthread_rwlock_unlock(&req->cluster->lock);
	if (creation.fault)
		fb_request_topple(req, creation.fault);
	return ok ? FB_REPLY : FB_CLOSE;
}
