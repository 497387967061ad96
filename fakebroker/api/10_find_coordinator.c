/* FindCoordinator (10): that of a group or a transactional id is one of our brokers; share groups have none here. */
#include "fakebroker/cluster/transactions.h"
#include "fakebroker/config/java_hash.h"
#include "fakebroker/request.h"
#include "lib/wire/errors.h"

enum { GROUP = 0, TRANSACTION = 1, SHARE = 2, FIRST_BATCHED = 4 };

/* One that runs; NULL if none does. */
static const struct fb_node *group_coordinator(const struct fb_cluster *cluster, struct kw_str key)
{
	return fb_cluster_running(cluster, (size_t)fb_java_slot(key, (int32_t)cluster->nnodes - 1));
}

static int16_t judge(const struct fb_request *req, int8_t type)
{
	if (req->forced)
		return req->forced;
	if (type < GROUP || type > SHARE)
		return KW_ERR_INVALID_REQUEST;
	return type == SHARE ? KW_ERR_COORDINATOR_NOT_AVAILABLE : 0;
}

static const char *message_of(const struct fb_request *req, int8_t type, int16_t error)
{
	if (req->forced)
		return NULL;
	switch (error) {
	case 0:
		return req->version < FIRST_BATCHED ? "NONE" : "";
	case KW_ERR_COORDINATOR_NOT_AVAILABLE:
		return type == SHARE ? "This broker serves no share groups." : "The coordinator is not available.";
	default:
		return "This most likely occurs because of a request being malformed by the client library or the "
		       "message was sent to an incompatible broker. See the broker logs for more details.";
	}
}

static void find(struct fb_request *req, struct kw_str key, int8_t type,
		 struct kw_FindCoordinatorResponse_Coordinator *out)
{
	const struct fb_node *node = type == TRANSACTION ? fb_txn_coordinator(req->cluster, key)
							 : group_coordinator(req->cluster, key);

	out->key = key;
	out->errorCode = judge(req, type);
	if (!out->errorCode && !node)
		out->errorCode = KW_ERR_COORDINATOR_NOT_AVAILABLE;
	out->errorMessage = kw_str(message_of(req, type, out->errorCode));
	out->nodeId = out->errorCode ? -1 : node->id;
	out->port = out->errorCode ? -1 : node->port;
	if (!out->errorCode)
		out->host = kw_str(node->host);
}

/* The first question after a transactional id makes the topic that transactions are kept in, as in Kafka. */
static void make_topic(struct fb_cluster *cluster, const struct fb_node *node)
{
	bool there;

	pthread_rwlock_rdlock(&cluster->lock);
	there = fb_txn_coordinator(cluster, kw_str("")) != NULL;
	pthread_rwlock_unlock(&cluster->lock);
	if (there)
		return;
	pthread_rwlock_wrlock(&cluster->lock);
	fb_txn_topic(cluster, node);
	pthread_rwlock_unlock(&cluster->lock);
}

static void answer_one(struct fb_request *req)
{
	const struct kw_FindCoordinatorRequest *body = req->body;
	struct kw_FindCoordinatorResponse *response = req->response;
	struct kw_FindCoordinatorResponse_Coordinator one;

	kw_set_defaults(&kw_FindCoordinatorResponse_Coordinator_struct, &one);
	find(req, body->key, body->keyType, &one);
	response->errorCode = one.errorCode;
	response->errorMessage = one.errorMessage;
	response->nodeId = one.nodeId;
	response->host = one.host;
	response->port = one.port;
}

static bool answer_all(struct fb_request *req)
{
	const struct kw_FindCoordinatorRequest *body = req->body;
	struct kw_FindCoordinatorResponse *response = req->response;

	if (!FB_RESPONSE_ARRAY(req, response->coordinators, kw_FindCoordinatorResponse_Coordinator_struct,
			       body->coordinatorKeys.n))
		return false;
	for (int32_t i = 0; i < body->coordinatorKeys.n; i++)
		find(req, body->coordinatorKeys.v[i], body->keyType, &response->coordinators.v[i]);
	return true;
}

enum fb_outcome fb_find_coordinator(struct fb_request *req)
{
	const struct kw_FindCoordinatorRequest *body = req->body;
	bool ok = true;

	if (body->keyType == TRANSACTION && !req->forced)
		make_topic(req->cluster, req->node);
	pthread_rwlock_rdlock(&req->cluster->lock);
	if (req->version < FIRST_BATCHED)
		answer_one(req);
	else
		ok = answer_all(req);
	pthread_rwlock_unlock(&req->cluster->lock);
	return ok ? FB_REPLY : FB_CLOSE;
}
