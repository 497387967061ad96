#include "lib/wire/bench/straight_cursor.h"

int straight_decode_MetadataRequest_12(const uint8_t *p, size_t n, struct kw_arena *arena, void **out, size_t *used,
					struct kt_err *err)
{
	struct kw_MetadataRequest *request = kw_alloc(arena, sizeof *request);
	struct context context = {.from = p, .err = err};
	struct reader r = {p, p + n, &context};
	struct place at_i;
	void *v;

	*out = request;
	if (!request)
		return KT_ENOMEM;
	READ(get_array(&r, "topics", true, 18, arena, sizeof *request->topics.v, &v, &request->topics.n));
	request->topics.v = v;
	enter(&r, &at_i, "topics");
	for (int32_t i = 0; i < request->topics.n; at_i.index = ++i) {
		struct kw_MetadataRequest_MetadataRequestTopic *topic = &request->topics.v[i];

		READ(get_uuid(&r, "topicId", &topic->topicId));
		READ(get_string(&r, "name", true, &topic->name));
		READ(get_tags(&r, NULL, 0, arena, &topic->unknownTags));
	}
	leave(&r);
	READ(get_bool(&r, "allowAutoTopicCreation", &request->allowAutoTopicCreation));
	READ(get_bool(&r, "includeTopicAuthorizedOperations", &request->includeTopicAuthorizedOperations));
	READ(get_tags(&r, NULL, 0, arena, &request->unknownTags));
	*used = (size_t)(r.p - p);
	return 0;
}

int straight_decode_MetadataResponse_12(const uint8_t *p, size_t n, struct kw_arena *arena, void **out, size_t *used,
					struct kt_err *err)
{
	struct kw_MetadataResponse *response = kw_alloc(arena, sizeof *response);
	struct context context = {.from = p, .err = err};
	struct reader r = {p, p + n, &context};
	struct place at_i, at_j;
	void *v;

	*out = response;
	if (!response)
		return KT_ENOMEM;
	READ(get32(&r, "throttleTimeMs", &response->throttleTimeMs));
	READ(get_array(&r, "brokers", false, 11, arena, sizeof *response->brokers.v, &v, &response->brokers.n));
	response->brokers.v = v;
	enter(&r, &at_i, "brokers");
	for (int32_t i = 0; i < response->brokers.n; at_i.index = ++i) {
		struct kw_MetadataResponse_MetadataResponseBroker *broker = &response->brokers.v[i];

		READ(get32(&r, "nodeId", &broker->nodeId));
		READ(get_string(&r, "host", false, &broker->host));
		READ(get32(&r, "port", &broker->port));
		READ(get_string(&r, "rack", true, &broker->rack));
		READ(get_tags(&r, NULL, 0, arena, &broker->unknownTags));
	}
	leave(&r);
	READ(get_string(&r, "clusterId", true, &response->clusterId));
	READ(get32(&r, "controllerId", &response->controllerId));
	READ(get_array(&r, "topics", false, 26, arena, sizeof *response->topics.v, &v, &response->topics.n));
	response->topics.v = v;
	enter(&r, &at_i, "topics");
	for (int32_t i = 0; i < response->topics.n; at_i.index = ++i) {
		struct kw_MetadataResponse_MetadataResponseTopic *topic = &response->topics.v[i];

		READ(get16(&r, "errorCode", &topic->errorCode));
		READ(get_string(&r, "name", true, &topic->name));
		READ(get_uuid(&r, "topicId", &topic->topicId));
		READ(get_bool(&r, "isInternal", &topic->isInternal));
		READ(get_array(&r, "partitions", false, 18,
			      arena, sizeof *topic->partitions.v, &v, &topic->partitions.n));
		topic->partitions.v = v;
		enter(&r, &at_j, "partitions");
		for (int32_t j = 0; j < topic->partitions.n; at_j.index = ++j) {
			struct kw_MetadataResponse_MetadataResponsePartition *partition = &topic->partitions.v[j];

			READ(get16(&r, "errorCode", &partition->errorCode));
			READ(get32(&r, "partitionIndex", &partition->partitionIndex));
			READ(get32(&r, "leaderId", &partition->leaderId));
			READ(get32(&r, "leaderEpoch", &partition->leaderEpoch));
			READ(get_ints(&r, "replicaNodes", arena, &partition->replicaNodes.v,
				      &partition->replicaNodes.n));
			READ(get_ints(&r, "isrNodes", arena, &partition->isrNodes.v, &partition->isrNodes.n));
			READ(get_ints(&r, "offlineReplicas", arena, &partition->offlineReplicas.v,
				      &partition->offlineReplicas.n));
			READ(get_tags(&r, NULL, 0, arena, &partition->unknownTags));
		}
		leave(&r);
		READ(get32(&r, "topicAuthorizedOperations", &topic->topicAuthorizedOperations));
		READ(get_tags(&r, NULL, 0, arena, &topic->unknownTags));
	}
	leave(&r);
	response->clusterAuthorizedOperations = INT32_MIN;
	READ(get_tags(&r, NULL, 0, arena, &response->unknownTags));
	*used = (size_t)(r.p - p);
	return 0;
}

int straight_encode_MetadataRequest_12(const void *in, struct kw_buf *buf)
{
	const struct kw_MetadataRequest *request = in;
	struct writer w;

	if (request->includeClusterAuthorizedOperations)
		return KT_EVERSION;
	if (!start_writing(&w, buf))
		return w.code;
	put_length(&w, request->topics.n, true);
	for (int32_t i = 0; i < request->topics.n; i++) {
		const struct kw_MetadataRequest_MetadataRequestTopic *topic = &request->topics.v[i];

		put_uuid(&w, topic->topicId);
		if (!put_string(&w, topic->name, true) || !put_tags(&w, &topic->unknownTags))
			return w.code;
	}
	put8(&w, request->allowAutoTopicCreation);
	put8(&w, request->includeTopicAuthorizedOperations);
	put_tags(&w, &request->unknownTags);
	return end_writing(&w);
}

static bool put_broker(struct writer *w, const struct kw_MetadataResponse_MetadataResponseBroker *broker)
{
	put32(w, (uint32_t)broker->nodeId);
	if (!put_string(w, broker->host, false))
		return false;
	put32(w, (uint32_t)broker->port);
	return put_string(w, broker->rack, true) && put_tags(w, &broker->unknownTags);
}

static bool put_partition(struct writer *w, const struct kw_MetadataResponse_MetadataResponsePartition *partition)
{
	put16(w, (uint16_t)partition->errorCode);
	put32(w, (uint32_t)partition->partitionIndex);
	put32(w, (uint32_t)partition->leaderId);
	put32(w, (uint32_t)partition->leaderEpoch);
	return put_ints(w, partition->replicaNodes.v, partition->replicaNodes.n) &&
	       put_ints(w, partition->isrNodes.v, partition->isrNodes.n) &&
	       put_ints(w, partition->offlineReplicas.v, partition->offlineReplicas.n) &&
	       put_tags(w, &partition->unknownTags);
}

static bool put_topic(struct writer *w, const struct kw_MetadataResponse_MetadataResponseTopic *topic)
{
	put16(w, (uint16_t)topic->errorCode);
	if (!put_string(w, topic->name, true))
		return false;
	put_uuid(w, topic->topicId);
	put8(w, topic->isInternal);
	put_length(w, topic->partitions.n, false);
	for (int32_t i = 0; i < topic->partitions.n; i++)
		if (!put_partition(w, &topic->partitions.v[i]))
			return false;
	put32(w, (uint32_t)topic->topicAuthorizedOperations);
	return put_tags(w, &topic->unknownTags);
}

int straight_encode_MetadataResponse_12(const void *in, struct kw_buf *buf)
{
	const struct kw_MetadataResponse *response = in;
	struct writer w;

	if (response->clusterAuthorizedOperations != INT32_MIN)
		return KT_EVERSION;
	if (!start_writing(&w, buf))
		return w.code;
	put32(&w, (uint32_t)response->throttleTimeMs);
	put_length(&w, response->brokers.n, false);
	for (int32_t i = 0; i < response->brokers.n; i++)
		if (!put_broker(&w, &response->brokers.v[i]))
			return w.code;
	if (!put_string(&w, response->clusterId, true))
		return w.code;
	put32(&w, (uint32_t)response->controllerId);
	put_length(&w, response->topics.n, false);
	for (int32_t i = 0; i < response->topics.n; i++)
		if (!put_topic(&w, &response->topics.v[i]))
			return w.code;
	put_tags(&w, &response->unknownTags);
	return end_writing(&w);
}
