/* FindCoordinator (10): a group's coordinator is one of our brokers; transactions and share groups have none here. */
#include "fakebroker/request.h"

enum { GROUP = 0, TRANSACTION = 1, SHARE = 2 };

static const struct fb_node *node_of(const struct fb_cluster *cluster, struct kw_str key)
{
	uint32_t hash = 0;

	for (int32_t i = 0; i < key.n; i++)
		hash = hash * 31 + (uint8_t)key.s[i];   /* Java's String.hashCode() for ASCII */
	return &cluster->nodes[(hash & 0x7fffffff) % (cluster->nnodes - 1)];
}

static void find(struct fb_request *req, struct kw_str key, int8_t type,
		 struct kw_FindCoordinatorResponse_Coordinator *out)
{
	const struct fb_node *node;

	out->key = key;
	out->nodeId = -1;
	out->port = -1;
	out->errorMessage = KW_NULL_STR;
	if (req->forced || type < GROUP || type > SHARE)
		out->errorCode = req->forced ? req->forced : 42;
	else if (key.n < 0 || (type == GROUP && key.n == 0))
		out->errorCode = 24;
	else if (type != GROUP)
		out->errorCode = 15;
	if (out->errorCode == 15)
		out->errorMessage = kw_str("This broker serves no transactions and no share groups.");
	if (out->errorCode)
		return;
	node = node_of(req->cluster, key);
	out->nodeId = node->id;
	out->host = kw_str(node->host);
	out->port = node->port;
}

enum fb_outcome fb_find_coordinator(struct fb_request *req)
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
		return FB_REPLY;
	}
	if (!FB_RESPONSE_ARRAY(req, response->coordinators, kw_FindCoordinatorResponse_Coordinator_struct,
			       body->coordinatorKeys.n))
		return FB_CLOSE;
	for (int32_t i = 0; i < body->coordinatorKeys.n; i++)
		find(req, body->coordinatorKeys.v[i], body->keyType, &response->coordinators.v[i]);
	return FB_REPLY;
}
