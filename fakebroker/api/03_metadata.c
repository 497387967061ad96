/* Metadata (3): brokers with real addresses, topics by name or id, topics created on demand. */
#include "fakebroker/cluster/log_line.h"
#include "fakebroker/request.h"

static bool brokers(struct fb_request *req, struct kw_MetadataResponse *response)
{
	struct fb_cluster *cluster = req->cluster;
	int32_t n = 0;

	if (!FB_RESPONSE_ARRAY(req, response->brokers, kw_MetadataResponse_MetadataResponseBroker_struct,
			       (int32_t)cluster->nbrokers))
		return false;
	for (size_t i = 0; i < cluster->nbrokers; i++) {
		const struct fb_broker *broker = cluster->brokers[i];
		struct kw_MetadataResponse_MetadataResponseBroker *out = &response->brokers.v[n];

		if (broker->fenced || broker->nlisteners == 0)
			continue;
		n++;
		out->nodeId = broker->view.id;
		out->host = kw_str(kw_strndup(&req->arena, broker->listeners[0].host, strlen(broker->listeners[0].host)));
		out->port = broker->listeners[0].port;
		out->rack = broker->rack ? kw_str(kw_strndup(&req->arena, broker->rack, strlen(broker->rack))) : KW_NULL_STR;
	}
	response->brokers.n = n;
	return true;
}

static bool fill_partition(struct fb_request *req, const struct fb_topic *topic, int32_t index,
			   struct kw_MetadataResponse_MetadataResponsePartition *out)
{
	int32_t rf = topic->replicationFactor;
	int32_t *replicas = kw_alloc(&req->arena, (size_t)rf * sizeof *replicas);

	if (!replicas)
		return false;
	memcpy(replicas, topic->replicas + index * rf, (size_t)rf * sizeof *replicas);
	out->partitionIndex = index;
	out->leaderId = topic->partitions[index].leader;
	out->leaderEpoch = topic->partitions[index].leaderEpoch;
	out->replicaNodes.v = out->isrNodes.v = replicas;
	out->replicaNodes.n = out->isrNodes.n = rf;
	return true;
}

static bool fill_topic(struct fb_request *req, const struct fb_topic *topic,
		       struct kw_MetadataResponse_MetadataResponseTopic *out)
{
	out->name = kw_str(kw_strndup(&req->arena, topic->name, strlen(topic->name)));
	out->topicId = topic->id;
	out->isInternal = topic->internal;
	out->errorCode = req->forced;
	if (req->forced)
		return true;
	if (!FB_RESPONSE_ARRAY(req, out->partitions, kw_MetadataResponse_MetadataResponsePartition_struct,
			       topic->npartitions))
		return false;
	for (int32_t i = 0; i < topic->npartitions; i++)
		if (!fill_partition(req, topic, i, &out->partitions.v[i]))
			return false;
	return true;
}

static bool all_topics(struct fb_request *req, struct kw_MetadataResponse *response)
{
	struct fb_cluster *cluster = req->cluster;

	if (!FB_RESPONSE_ARRAY(req, response->topics, kw_MetadataResponse_MetadataResponseTopic_struct,
			       (int32_t)cluster->ntopics))
		return false;
	for (size_t i = 0; i < cluster->ntopics; i++)
		if (!fill_topic(req, cluster->topics[i], &response->topics.v[i]))
			return false;
	return true;
}

static struct fb_topic *find(struct fb_request *req, const struct kw_MetadataRequest_MetadataRequestTopic *want)
{
	return want->name.n >= 0 ? fb_topic_find(req->cluster, want->name) : fb_topic_find_id(req->cluster, want->topicId);
}

static bool named_topics(struct fb_request *req, const struct kw_MetadataRequest *body,
			 struct kw_MetadataResponse *response)
{
	if (!FB_RESPONSE_ARRAY(req, response->topics, kw_MetadataResponse_MetadataResponseTopic_struct, body->topics.n))
		return false;
	for (int32_t i = 0; i < body->topics.n; i++) {
		const struct kw_MetadataRequest_MetadataRequestTopic *want = &body->topics.v[i];
		struct kw_MetadataResponse_MetadataResponseTopic *out = &response->topics.v[i];
		const struct fb_topic *topic = find(req, want);

		out->name = want->name;
		out->topicId = want->topicId;
		if (topic) {
			if (!fill_topic(req, topic, out))
				return false;
		} else if (req->forced) {
			out->errorCode = req->forced;
		} else if (want->name.n < 0) {
			out->errorCode = 100;
		} else {
			out->errorCode = fb_topic_name_error(want->name, &req->arena) ? 17 : 3;
		}
	}
	return true;
}

/* Topics that a client asks for come into being, when both it and the broker allow that. */
static void create_missing(struct fb_request *req, const struct kw_MetadataRequest *body)
{
	struct fb_cluster *cluster = req->cluster;
	int32_t self = req->node->id;

	if (!body->allowAutoTopicCreation || req->forced ||
	    !fb_configs_bool(cluster->configs, FB_BROKER, KW_NULL_STR, self, "auto.create.topics.enable", true))
		return;
	for (int32_t i = 0; i < body->topics.n; i++) {
		struct kw_str name = body->topics.v[i].name;
		int64_t n = fb_configs_long(cluster->configs, FB_BROKER, KW_NULL_STR, self, "num.partitions", 1);
		int64_t rf = fb_configs_long(cluster->configs, FB_BROKER, KW_NULL_STR, self, "default.replication.factor", 1);
		struct fb_topic *topic;

		if (name.n < 0 || fb_topic_find(cluster, name) || fb_topic_name_error(name, &req->arena))
			continue;
		if (n < 1 || n > FB_MAX_PARTITIONS || rf < 1 || rf > (int64_t)cluster->nnodes - 1) {
			fb_log_line(KASSAY_WARN, "topic %.*s cannot be created with %lld partitions and %lld replicas", name.n,
				    name.s, (long long)n, (long long)rf);
			continue;
		}
		fb_topic_create(cluster, name, (int32_t)n, (int32_t)rf, NULL, &topic, NULL);
	}
}

static bool any_missing(struct fb_request *req, const struct kw_MetadataRequest *body)
{
	for (int32_t i = 0; i < body->topics.n; i++)
		if (body->topics.v[i].name.n >= 0 && !fb_topic_find(req->cluster, body->topics.v[i].name))
			return true;
	return false;
}

enum fb_outcome fb_metadata(struct fb_request *req)
{
	const struct kw_MetadataRequest *body = req->body;
	struct kw_MetadataResponse *response = req->response;
	bool all = body->topics.n < 0 || (req->version == 0 && body->topics.n == 0), ok;

	pthread_rwlock_rdlock(&req->cluster->lock);
	if (any_missing(req, body)) {
		pthread_rwlock_unlock(&req->cluster->lock);
		pthread_rwlock_wrlock(&req->cluster->lock);
		create_missing(req, body);
	}
	ok = brokers(req, response) && (all ? all_topics(req, response) : named_topics(req, body, response));
	response->clusterId = kw_str(req->cluster->id);
	response->controllerId = req->cluster->nodes[0].id;   /* KRaft brokers name a broker here, not the controller */
	pthread_rwlock_unlock(&req->cluster->lock);
	return ok ? FB_REPLY : FB_CLOSE;
}
