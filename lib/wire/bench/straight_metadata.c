#include "lib/wire/bench/straight_cursor.h"

int straight_decode_MetadataRequest_12(const uint8_t *p, size_t n, struct kw_arena *arena, void **out, size_t *used)
{
	struct kw_MetadataRequest *request = kw_alloc(arena, sizeof *request);
	struct reader r = {p, p + n, 0};
	void *v;

	*out = request;
	if (!request)
		return KT_ENOMEM;
	request->topics.n = get_array(&r, true, 18, arena, sizeof *request->topics.v, &v);
	request->topics.v = v;
	for (int32_t i = 0; i < request->topics.n && !r.code; i++) {
		struct kw_MetadataRequest_MetadataRequestTopic *topic = &request->topics.v[i];

		topic->topicId = get_uuid(&r);
		topic->name = get_string(&r, true);
		get_tags(&r, 0, arena, &topic->unknownTags);
	}
	request->allowAutoTopicCreation = get8(&r) != 0;
	request->includeTopicAuthorizedOperations = get8(&r) != 0;
	get_tags(&r, 0, arena, &request->unknownTags);
	return end_reading(&r, p, used);
}

int straight_decode_MetadataResponse_12(const uint8_t *p, size_t n, struct kw_arena *arena, void **out, size_t *used)
{
	struct kw_MetadataResponse *response = kw_alloc(arena, sizeof *response);
	struct reader r = {p, p + n, 0};
	void *v;

	*out = response;
	if (!response)
		return KT_ENOMEM;
	response->throttleTimeMs = (int32_t)get32(&r);
	response->brokers.n = get_array(&r, false, 11, arena, sizeof *response->brokers.v, &v);
	response->brokers.v = v;
	for (int32_t i = 0; i < response->brokers.n && !r.code; i++) {
		struct kw_MetadataResponse_MetadataResponseBroker *broker = &response->brokers.v[i];

		broker->nodeId = (int32_t)get32(&r);
		broker->host = get_string(&r, false);
		broker->port = (int32_t)get32(&r);
		broker->rack = get_string(&r, true);
		get_tags(&r, 0, arena, &broker->unknownTags);
	}
	response->clusterId = get_string(&r, true);
	response->controllerId = (int32_t)get32(&r);
	response->topics.n = get_array(&r, false, 26, arena, sizeof *response->topics.v, &v);
	response->topics.v = v;
	for (int32_t i = 0; i < response->topics.n && !r.code; i++) {
		struct kw_MetadataResponse_MetadataResponseTopic *topic = &response->topics.v[i];

		topic->errorCode = (int16_t)get16(&r);
		topic->name = get_string(&r, true);
		topic->topicId = get_uuid(&r);
		topic->isInternal = get8(&r) != 0;
		topic->partitions.n = get_array(&r, false, 18, arena, sizeof *topic->partitions.v, &v);
		topic->partitions.v = v;
		for (int32_t j = 0; j < topic->partitions.n && !r.code; j++) {
			struct kw_MetadataResponse_MetadataResponsePartition *partition = &topic->partitions.v[j];

			partition->errorCode = (int16_t)get16(&r);
			partition->partitionIndex = (int32_t)get32(&r);
			partition->leaderId = (int32_t)get32(&r);
			partition->leaderEpoch = (int32_t)get32(&r);
			partition->replicaNodes.n = get_ints(&r, arena, &partition->replicaNodes.v);
			partition->isrNodes.n = get_ints(&r, arena, &partition->isrNodes.v);
			partition->offlineReplicas.n = get_ints(&r, arena, &partition->offlineReplicas.v);
			get_tags(&r, 0, arena, &partition->unknownTags);
		}
		topic->topicAuthorizedOperations = (int32_t)get32(&r);
		get_tags(&r, 0, arena, &topic->unknownTags);
	}
	response->clusterAuthorizedOperations = INT32_MIN;
	get_tags(&r, 0, arena, &response->unknownTags);
	return end_reading(&r, p, used);
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
