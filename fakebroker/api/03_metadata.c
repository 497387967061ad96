/* Metadata (3): brokers with real addresses, topics by name or id, topics created on demand. */
#include "fakebroker/cluster/on_demand.h"
#include "fakebroker/config/topicname.h"
#include "fakebroker/config/twins.h"
#include "fakebroker/mutants.h"
#include "fakebroker/request.h"
#include "lib/wire/errors.h"

static const struct kw_uuid no_id;

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

		if (broker->nlisteners == 0 || (broker->fenced && !fb_mutant(FB_M_FENCED_LISTED)))
			continue;
		n++;
		out->nodeId = broker->view.id;
		out->host = kw_str(
			kw_strndup(&req->arena, broker->listeners[0].host, strlen(broker->listeners[0].host)));
		out->port = broker->listeners[0].port;
		out->rack = broker->rack ? kw_str(kw_strndup(&req->arena, broker->rack, strlen(broker->rack)))
					 : KW_NULL_STR;
	}
	response->brokers.n = n;
	return true;
}

static void sort_replicas(const struct fb_cluster *cluster, const struct fb_partition *partition,
			  struct kw_MetadataResponse_MetadataResponsePartition *out)
{
	out->isrNodes.n = partition->isr.n;
	memcpy(out->isrNodes.v, partition->isr.v, (size_t)partition->isr.n * sizeof *partition->isr.v);
	out->offlineReplicas.n = 0;
	for (int32_t i = 0; i < out->replicaNodes.n; i++)
		if (!fb_node_runs(cluster, out->replicaNodes.v[i]))
			out->offlineReplicas.v[out->offlineReplicas.n++] = out->replicaNodes.v[i];
}

static bool fill_partition(struct fb_request *req, const struct fb_topic *topic, int32_t index,
			   struct kw_MetadataResponse_MetadataResponsePartition *out)
{
	const struct fb_partition *partition = &topic->partitions[index];
	int32_t rf = topic->replicationFactor;
	int32_t *replicas = kw_alloc(&req->arena, 3 * (size_t)rf * sizeof *replicas);

	if (!replicas)
		return false;
	memcpy(replicas, topic->replicas + index * rf, (size_t)rf * sizeof *replicas);
	out->partitionIndex = index;
	out->leaderId = partition->leader;
	out->leaderEpoch = partition->leaderEpoch;
	out->replicaNodes.v = replicas;
	out->replicaNodes.n = rf;
	out->isrNodes.v = replicas + rf;
	out->offlineReplicas.v = replicas + 2 * rf;
	sort_replicas(req->cluster, partition, out);
	if (partition->leader == FB_NO_LEADER)
		out->errorCode = KW_ERR_LEADER_NOT_AVAILABLE;
	return true;
}

static void tell_operations(const struct fb_request *req, struct kw_MetadataResponse_MetadataResponseTopic *out)
{
	if (((const struct kw_MetadataRequest *)req->body)->includeTopicAuthorizedOperations)
		out->topicAuthorizedOperations = FB_TOPIC_OPERATIONS;
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
	tell_operations(req, out);
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

/* ---- topics that are asked for ---- */

typedef struct kw_MetadataRequest_MetadataRequestTopic wanted;

/* With an id anywhere, only ids count (version 12); the name beside one does not. */
static bool any_id(const struct kw_MetadataRequest *body)
{
	for (int32_t i = 0; i < body->topics.n; i++)
		if (!kw_uuid_eq(body->topics.v[i].topicId, no_id))
			return true;
	return false;
}

/* An entry without name and id (a NullPointerException in Kafka), or with an id in a version that cannot have one. */
static int16_t judge_entries(const struct fb_request *req, const struct kw_MetadataRequest *body, bool by_id)
{
	for (int32_t i = 0; i < body->topics.n; i++)
		if (body->topics.v[i].name.n < 0 && (!by_id || req->version < 12))
			return req->version < 12 ? KW_ERR_INVALID_REQUEST : KW_ERR_UNKNOWN_SERVER_ERROR;
	return by_id && req->version < 12 ? KW_ERR_INVALID_REQUEST : 0;
}

/* Names, or ids where those count. NULL without memory. */
static struct fb_twins *find_twins(struct fb_request *req, const struct kw_MetadataRequest *body, bool by_id)
{
	struct fb_named *names = kw_alloc(&req->arena, (size_t)body->topics.n * sizeof *names);

	for (int32_t i = 0; names && i < body->topics.n; i++) {
		const wanted *want = &body->topics.v[i];

		names[i].name = by_id ? (struct kw_str){(const char *)want->topicId.b, sizeof want->topicId.b}
				      : want->name;
		if (names[i].name.n < 0)   /* only with a rule's error: judge_entries() refuses them */
			names[i].name.n = 0;
	}
	return names ? fb_find_twins(names, (size_t)body->topics.n, &req->arena) : NULL;
}

static bool answer_topic(struct fb_request *req, const wanted *want, bool by_id,
			 struct kw_MetadataResponse_MetadataResponseTopic *out)
{
	const struct fb_topic *topic = by_id ? fb_topic_find_id(req->cluster, want->topicId)
					     : fb_topic_find(req->cluster, want->name);

	if (topic)
		return fill_topic(req, topic, out);
	out->name = by_id ? KW_NULL_STR : want->name;
	out->topicId = want->topicId;
	out->isInternal = !by_id && fb_topic_is_internal(want->name);
	out->errorCode = req->forced;
	if (!req->forced && !by_id)
		tell_operations(req, out);
	if (!req->forced && by_id)
		out->errorCode = KW_ERR_UNKNOWN_TOPIC_ID;
	else if (!req->forced)
		out->errorCode = fb_topic_name_fault(want->name, &req->arena) ? KW_ERR_INVALID_TOPIC_EXCEPTION
		                                                          : KW_ERR_UNKNOWN_TOPIC_OR_PARTITION;
	return true;
}

static bool named_topics(struct fb_request *req, const struct kw_MetadataRequest *body,
			 struct kw_MetadataResponse *response)
{
	bool by_id = any_id(body);
	struct fb_twins *twins = find_twins(req, body, by_id);
	int32_t n = 0;

	if (!twins || !FB_RESPONSE_ARRAY(req, response->topics, kw_MetadataResponse_MetadataResponseTopic_struct,
					 body->topics.n))
		return false;
	for (int32_t i = 0; i < body->topics.n; i++) {
		const wanted *want = &body->topics.v[i];

		if (fb_mutant(FB_M_METADATA_EMPTY_NAME_DROPPED) && want->name.n == 0)
			continue;
		if (twins[i].first != (size_t)i || (by_id && kw_uuid_eq(want->topicId, no_id)))
			continue;
		if (!answer_topic(req, want, by_id, &response->topics.v[n++]))
			return false;
	}
	response->topics.n = n;
	return true;
}

/* The whole request is wrong: Kafka's answer has nothing but the topics, each with the error. */
static bool refuse(struct fb_request *req, const struct kw_MetadataRequest *body, int16_t error,
		   struct kw_MetadataResponse *response)
{
	if (!FB_RESPONSE_ARRAY(req, response->topics, kw_MetadataResponse_MetadataResponseTopic_struct, body->topics.n))
		return false;
	for (int32_t i = 0; i < body->topics.n; i++) {
		response->topics.v[i].name = body->topics.v[i].name.n < 0 ? kw_str("") : body->topics.v[i].name;
		response->topics.v[i].topicId = body->topics.v[i].topicId;
		response->topics.v[i].errorCode = error;
	}
	return true;
}

/* ---- topics that come into being ---- */

/* What is missing, and has a legal name. */
static void create_missing(struct fb_request *req, const struct kw_MetadataRequest *body)
{
	struct fb_twins *twins = find_twins(req, body, false);
	struct kw_str *names = kw_alloc(&req->arena, (size_t)body->topics.n * sizeof *names);
	int32_t n = 0;

	for (int32_t i = 0; twins && names && i < body->topics.n; i++) {
		struct kw_str name = body->topics.v[i].name;

		if (twins[i].first == (size_t)i && !fb_topic_find(req->cluster, name) &&
		    !fb_topic_name_fault(name, &req->arena))
			names[n++] = name;
	}
	if (n > 0)
		fb_topics_on_demand(req->cluster, req->node, names, n);
}

/* When both client and broker allow it. */
static bool may_create(const struct fb_request *req, const struct kw_MetadataRequest *body)
{
	return body->allowAutoTopicCreation && !req->forced && !any_id(body) &&
	       fb_configs_bool(req->cluster->configs, FB_BROKER, KW_NULL_STR, req->node->id,
			       "auto.create.topics.enable", true);
}

static bool any_missing(const struct kw_MetadataResponse *response)
{
	for (int32_t i = 0; i < response->topics.n; i++)
		if (response->topics.v[i].errorCode == KW_ERR_UNKNOWN_TOPIC_OR_PARTITION)
			return true;
	return false;
}

enum fb_outcome fb_metadata(struct fb_request *req)
{
	const struct kw_MetadataRequest *body = req->body;
	struct kw_MetadataResponse *response = req->response;
	bool all = body->topics.n < 0 || (req->version == 0 && body->topics.n == 0), create, ok;
	int16_t error = all || req->forced ? 0 : judge_entries(req, body, any_id(body));

	if (fb_mutant(FB_M_METADATA_NULL_NONE) && body->topics.n < 0)
		all = false;
	if (fb_mutant(FB_M_METADATA_EMPTY_ALL) && body->topics.n == 0)
		all = true;
	if (error)
		return refuse(req, body, error, response) ? FB_REPLY : FB_CLOSE;
	pthread_rwlock_rdlock(&req->cluster->lock);
	ok = brokers(req, response) && (all ? all_topics(req, response) : named_topics(req, body, response));
	create = ok && any_missing(response) && may_create(req, body);
	response->controllerId = fb_cluster_any(req->cluster);
	pthread_rwlock_unlock(&req->cluster->lock);
	response->clusterId = kw_str(req->cluster->id);
	if (body->includeClusterAuthorizedOperations)
		response->clusterAuthorizedOperations = FB_CLUSTER_OPERATIONS;
	if (create) {   /* as in Kafka it is there for the next request: this one's answer says that it is not */
		pthread_rwlock_wrlock(&req->cluster->lock);
		create_missing(req, body);
		pthread_rwlock_unlock(&req->cluster->lock);
	}
	return ok ? FB_REPLY : FB_CLOSE;
}
