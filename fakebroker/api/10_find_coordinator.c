/* FindCoordinator (10): a group's coordinator is one of our brokers; transactions and share groups have none here. */
#include "fakebroker/request.h"
#include "lib/wire/errors.h"

enum { GROUP = 0, TRANSACTION = 1, SHARE = 2 };

/* One that runs; NULL if none does. */
static const struct fb_node *node_of(const struct fb_cluster *cluster, struct kw_str key)
{
	uint32_t hash = 0;

	for (int32_t i = 0; i < key.n; i++)
		hash = hash * 31 + (uint8_t)key.s[i];   /* Java's String.hashCode() for ASCII */
	return fb_cluster_running(cluster, (hash & 0x7fffffff) % (cluster->nnodes - 1));
}

static int16_t judge(const struct fb_request *req, int8_t type)
{
	if (req->forced)
		return req->forced;
	if (type < GROUP || type > SHARE)
		return KW_ERR_INVALID_REQUEST;
	return type == GROUP ? 0 : KW_ERR_COORDINATOR_NOT_AVAILABLE;
}

static const char *message_of(const struct fb_request *req, int16_t error)
{
	if (req->forced)
		return NULL;
	switch (error) {
	case 0:
		return req->version < 4 ? "NONE" : "";
	case KW_ERR_COORDINATOR_NOT_AVAILABLE:
		return "This broker serves no transactions and no share groups.";
	default:
		return "This most likely occurs because of a request being malformed by the client library or the message was "
		       "sent to an incompatible broker. See the broker logs for more details.";
	}
}

static void find(struct fb_request *req, struct kw_str key, int8_t type,
		 struct kw_FindCoordinatorResponse_Coordinator *out)
{
	const struct fb_node *node = node_of(req->cluster, key);

	out->key = key;
	out->errorCode = judge(req, type);
	if (!out->errorCode && !node)
		out->errorCode = KW_ERR_COORDINATOR_NOT_AVAILABLE;
	out->errorMessage = kw_str(message_of(req, out->errorCode));
	out->nodeId = out->errorCode ? -1 : node->id;
	out->port = out->errorCode ? -1 : node->port;
	if (!out->errorCode)
		out->host = kw_str(node->host);
}

static bool answer(struct fb_request *req)
{
	const struct kw_FindCoordinatorRequest *body = req->body;
	struct kw_FindCoordinatorResponse *response = req->response;

	if (req->version < 4) {
		struct kw_FindCoordinatorResponse_Coordinator one;

		kw_set_defaults(&kw_FindCoordinatorResponse_Coordinator_struct, &one);
		find(req, body->key, body->keyType, &one);
		response->errorCode = one.errorCode;
		response->errorMessage = one.errorMessage;
		response->nodeId = one.nodeId;
		response->host = one.host;
		response->port = one.port;
		return true;
	}
	if (!FB_RESPONSE_ARRAY(req, response->coordinators, kw_FindCoordinatorResponse_Coordinator_struct,
			       body->coordinatorKeys.n))
		return false;
	for (int32_t i = 0; i < body->coordinatorKeys.n; i++)
		find(req, body->coordinatorKeys.v[i], body->keyType, &response->coordinators.v[i]);
	return true;
}

enum fb_outcome fb_find_coordinator(struct fb_request *req)
{
	bool ok;

	pthread_rwlock_rdlock(&req->cluster->lock);
	ok = answer(req);
	pthread_rwlock_unlock(&req->cluster->lock);
	return ok ? FB_REPLY : FB_CLOSE;
}
