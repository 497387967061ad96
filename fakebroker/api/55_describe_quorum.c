/* DescribeQuorum (55): one controller, which is also where its listener is told (version 2). */
#include "fakebroker/request.h"
#include "lib/wire/errors.h"

static bool fill(struct fb_request *req, int32_t index, struct kw_DescribeQuorumResponse_PartitionData *out)
{
	int64_t now = fb_cluster_now(req->cluster);

	out->partitionIndex = index;
	if (fb_controller_away(req->cluster)) {   /* asked itself: brokers hold the question */
		out->errorCode = KW_ERR_NOT_LEADER_OR_FOLLOWER;
		return true;
	}
	out->leaderId = FB_CONTROLLER_ID;
	out->leaderEpoch = req->cluster->controllerEpoch;
	out->highWatermark = req->cluster->metadata.end;
	if (!FB_RESPONSE_ARRAY(req, out->currentVoters, kw_DescribeQuorumResponse_ReplicaState_struct, 1))
		return false;
	out->currentVoters.v[0].replicaId = FB_CONTROLLER_ID;
	out->currentVoters.v[0].logEndOffset = req->cluster->metadata.end;
	if (req->version >= 1)
		out->currentVoters.v[0].lastFetchTimestamp = out->currentVoters.v[0].lastCaughtUpTimestamp = now;
	return true;
}

static bool nodes(struct fb_request *req, struct kw_DescribeQuorumResponse *response)
{
	const struct fb_node *controller = fb_cluster_node(req->cluster, FB_CONTROLLER_ID);

	if (!FB_RESPONSE_ARRAY(req, response->nodes, kw_DescribeQuorumResponse_Node_struct, 1) ||
	    !FB_RESPONSE_ARRAY(req, response->nodes.v[0].listeners, kw_DescribeQuorumResponse_Listener_struct, 1))
		return false;
	response->nodes.v[0].nodeId = FB_CONTROLLER_ID;
	response->nodes.v[0].listeners.v[0].name = kw_str("CONTROLLER");
	response->nodes.v[0].listeners.v[0].host = kw_str(controller->host);
	response->nodes.v[0].listeners.v[0].port = (uint16_t)controller->port;
	return true;
}

/* The one partition that there is, and nothing else beside it. */
static bool is_metadata_log(const struct kw_DescribeQuorumRequest *body)
{
	return body->topics.n == 1 && kw_str_is(body->topics.v[0].topicName, "__cluster_metadata") &&
	       body->topics.v[0].partitions.n == 1 && body->topics.v[0].partitions.v[0].partitionIndex == 0;
}

static bool refuse(struct fb_request *req, const struct kw_DescribeQuorumRequest_TopicData *topic,
		   struct kw_DescribeQuorumResponse_TopicData *out)
{
	out->topicName = topic->topicName;
	if (!FB_RESPONSE_ARRAY(req, out->partitions, kw_DescribeQuorumResponse_PartitionData_struct,
			       topic->partitions.n))
		return false;
	for (int32_t p = 0; p < topic->partitions.n; p++) {
		out->partitions.v[p].partitionIndex = topic->partitions.v[p].partitionIndex;
		out->partitions.v[p].errorCode = KW_ERR_UNKNOWN_TOPIC_OR_PARTITION;
		out->partitions.v[p].errorMessage = kw_str("This server does not host this topic-partition.");
	}
	return true;
}

static bool topics(struct fb_request *req, struct kw_DescribeQuorumResponse *response)
{
	const struct kw_DescribeQuorumRequest *body = req->body;
	struct kw_DescribeQuorumResponse_TopicData *out;
	bool ok = FB_RESPONSE_ARRAY(req, response->topics, kw_DescribeQuorumResponse_TopicData_struct, body->topics.n);

	if (!ok || !is_metadata_log(body)) {
		for (int32_t t = 0; ok && t < body->topics.n; t++)
			ok = refuse(req, &body->topics.v[t], &response->topics.v[t]);
		return ok;
	}
	out = &response->topics.v[0];
	out->topicName = body->topics.v[0].topicName;
	return FB_RESPONSE_ARRAY(req, out->partitions, kw_DescribeQuorumResponse_PartitionData_struct, 1) &&
	       fill(req, 0, &out->partitions.v[0]) && (req->version < 2 || nodes(req, response));
}

enum fb_outcome fb_describe_quorum(struct fb_request *req)
{
	struct kw_DescribeQuorumResponse *response = req->response;
	bool ok;

	response->errorCode = req->forced;
	if (req->forced)
		return FB_REPLY;
	pthread_rwlock_rdlock(&req->cluster->lock);
	ok = topics(req, response);
	pthread_rwlock_unlock(&req->cluster->lock);
	return ok ? FB_REPLY : FB_CLOSE;
}
