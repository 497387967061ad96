#include "lib/wire/bench/samples.h"

#include <stdlib.h>

/* Memory of a benchmark: without it there is nothing to measure. */
static void *need(void *p)
{
	if (!p)
		abort();
	return p;
}

#define NEW_ARRAY(st, n, arena) need(kw_new_array(&(st), (n), (arena)))

static struct kw_str topic_name(int32_t i, struct kw_arena *arena)
{
	return kw_str(need(kw_sprintf(arena, "orders.region-%d", (int)i)));
}

static struct kw_uuid topic_id(int32_t i)
{
	struct kw_uuid id = {{0x5e, 0x1f, 0x4c, 0x22}};

	id.b[15] = (uint8_t)i;
	return id;
}

static struct kw_records records(int32_t n, struct kw_arena *arena)
{
	return (struct kw_records){.p = need(kw_alloc(arena, (size_t)n)), .n = n};
}

void *sample_ProduceRequest(const struct sample_shape *shape, struct kw_arena *arena)
{
	struct kw_ProduceRequest *request = need(kw_new(&kw_msg_ProduceRequest, arena));

	request->acks = -1;
	request->timeoutMs = 30000;
	request->topicData.n = shape->topics;
	request->topicData.v = NEW_ARRAY(kw_ProduceRequest_TopicProduceData_struct, shape->topics, arena);
	for (int32_t i = 0; i < shape->topics; i++) {
		struct kw_ProduceRequest_TopicProduceData *topic = &request->topicData.v[i];

		topic->name = topic_name(i, arena);
		topic->partitionData.n = shape->partitions;
		topic->partitionData.v =
			NEW_ARRAY(kw_ProduceRequest_PartitionProduceData_struct, shape->partitions, arena);
		for (int32_t j = 0; j < shape->partitions; j++) {
			topic->partitionData.v[j].index = j;
			topic->partitionData.v[j].records = records(shape->bytes, arena);
		}
	}
	return request;
}

void *sample_ProduceResponse(const struct sample_shape *shape, struct kw_arena *arena)
{
	struct kw_ProduceResponse *response = need(kw_new(&kw_msg_ProduceResponse, arena));

	response->responses.n = shape->topics;
	response->responses.v = NEW_ARRAY(kw_ProduceResponse_TopicProduceResponse_struct, shape->topics, arena);
	for (int32_t i = 0; i < shape->topics; i++) {
		struct kw_ProduceResponse_TopicProduceResponse *topic = &response->responses.v[i];

		topic->name = topic_name(i, arena);
		topic->partitionResponses.n = shape->partitions;
		topic->partitionResponses.v =
			NEW_ARRAY(kw_ProduceResponse_PartitionProduceResponse_struct, shape->partitions, arena);
		for (int32_t j = 0; j < shape->partitions; j++) {
			topic->partitionResponses.v[j].index = j;
			topic->partitionResponses.v[j].baseOffset = 1234567 + j;
			topic->partitionResponses.v[j].logStartOffset = 0;
		}
	}
	return response;
}

void *sample_FetchRequest(const struct sample_shape *shape, struct kw_arena *arena)
{
	struct kw_FetchRequest *request = need(kw_new(&kw_msg_FetchRequest, arena));

	request->maxWaitMs = 500;
	request->minBytes = 1;
	request->maxBytes = 50 << 20;
	request->sessionId = 77;
	request->sessionEpoch = 3;
	request->topics.n = shape->topics;
	request->topics.v = NEW_ARRAY(kw_FetchRequest_FetchTopic_struct, shape->topics, arena);
	for (int32_t i = 0; i < shape->topics; i++) {
		struct kw_FetchRequest_FetchTopic *topic = &request->topics.v[i];

		topic->topicId = topic_id(i);
		topic->partitions.n = shape->partitions;
		topic->partitions.v = NEW_ARRAY(kw_FetchRequest_FetchPartition_struct, shape->partitions, arena);
		for (int32_t j = 0; j < shape->partitions; j++) {
			topic->partitions.v[j].partition = j;
			topic->partitions.v[j].currentLeaderEpoch = 4;
			topic->partitions.v[j].fetchOffset = 1234567 + j;
			topic->partitions.v[j].partitionMaxBytes = 1 << 20;
		}
	}
	return request;
}

void *sample_FetchResponse(const struct sample_shape *shape, struct kw_arena *arena)
{
	struct kw_FetchResponse *response = need(kw_new(&kw_msg_FetchResponse, arena));

	response->sessionId = 77;
	response->responses.n = shape->topics;
	response->responses.v = NEW_ARRAY(kw_FetchResponse_FetchableTopicResponse_struct, shape->topics, arena);
	for (int32_t i = 0; i < shape->topics; i++) {
		struct kw_FetchResponse_FetchableTopicResponse *topic = &response->responses.v[i];

		topic->topicId = topic_id(i);
		topic->partitions.n = shape->partitions;
		topic->partitions.v = NEW_ARRAY(kw_FetchResponse_PartitionData_struct, shape->partitions, arena);
		for (int32_t j = 0; j < shape->partitions; j++) {
			topic->partitions.v[j].partitionIndex = j;
			topic->partitions.v[j].highWatermark = topic->partitions.v[j].lastStableOffset = 1234567;
			topic->partitions.v[j].logStartOffset = 0;
			topic->partitions.v[j].abortedTransactions.n = -1;
			topic->partitions.v[j].records = records(shape->bytes, arena);
		}
	}
	return response;
}

void *sample_FetchResponse_moved(const struct sample_shape *shape, struct kw_arena *arena)
{
	struct kw_FetchResponse *response = sample_FetchResponse(shape, arena);

	for (int32_t i = 0; i < shape->topics; i++)
		for (int32_t j = 0; j < shape->partitions; j++) {
			struct kw_FetchResponse_PartitionData *partition = &response->responses.v[i].partitions.v[j];

			if (j % 10)
				continue;
			partition->errorCode = 6;
			partition->currentLeader.leaderId = 2;
			partition->currentLeader.leaderEpoch = 5;
		}
	return response;
}

void *sample_MetadataRequest(const struct sample_shape *shape, struct kw_arena *arena)
{
	struct kw_MetadataRequest *request = need(kw_new(&kw_msg_MetadataRequest, arena));

	request->topics.n = shape->topics;
	request->topics.v = NEW_ARRAY(kw_MetadataRequest_MetadataRequestTopic_struct, shape->topics, arena);
	for (int32_t i = 0; i < shape->topics; i++)
		request->topics.v[i].name = topic_name(i, arena);
	return request;
}

static void add_brokers(struct kw_MetadataResponse *response, struct kw_arena *arena)
{
	response->brokers.n = 3;
	response->brokers.v = NEW_ARRAY(kw_MetadataResponse_MetadataResponseBroker_struct, 3, arena);
	for (int32_t i = 0; i < 3; i++) {
		response->brokers.v[i].nodeId = i + 1;
		response->brokers.v[i].host = kw_str("broker.example.com");
		response->brokers.v[i].port = 9092;
		response->brokers.v[i].rack = kw_str("eu-west-1a");
	}
}

void *sample_MetadataResponse(const struct sample_shape *shape, struct kw_arena *arena)
{
	static int32_t nodes[] = {1, 2, 3};
	struct kw_MetadataResponse *response = need(kw_new(&kw_msg_MetadataResponse, arena));

	add_brokers(response, arena);
	response->clusterId = kw_str("5e1fTCIkQ8mxV0l9nQyQ2w");
	response->controllerId = 1;
	response->topics.n = shape->topics;
	response->topics.v = NEW_ARRAY(kw_MetadataResponse_MetadataResponseTopic_struct, shape->topics, arena);
	for (int32_t i = 0; i < shape->topics; i++) {
		struct kw_MetadataResponse_MetadataResponseTopic *topic = &response->topics.v[i];

		topic->name = topic_name(i, arena);
		topic->topicId = topic_id(i);
		topic->partitions.n = shape->partitions;
		topic->partitions.v =
			NEW_ARRAY(kw_MetadataResponse_MetadataResponsePartition_struct, shape->partitions, arena);
		for (int32_t j = 0; j < shape->partitions; j++) {
			struct kw_MetadataResponse_MetadataResponsePartition *partition = &topic->partitions.v[j];

			partition->partitionIndex = j;
			partition->leaderId = 1 + j % 3;
			partition->leaderEpoch = 4;
			partition->replicaNodes.v = partition->isrNodes.v = nodes;
			partition->replicaNodes.n = partition->isrNodes.n = 3;
		}
	}
	return response;
}
