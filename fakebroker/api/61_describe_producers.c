/* DescribeProducers (61): the producer state of partitions (KIP-664). */
#include <stdlib.h>

#include "fakebroker/config/topicname.h"
#include "fakebroker/mutants.h"
#include "fakebroker/request.h"
#include "lib/wire/errors.h"

static void describe(const struct fb_producer *producer, struct kw_DescribeProducersResponse_ProducerState *out)
{
	out->producerId = producer->producerId;
	out->producerEpoch = producer->producerEpoch;
	out->lastSequence = producer->n && !fb_mutant(FB_M_LAST_SEQUENCE_UNTOLD)
			    ? producer->batches[producer->n - 1].lastSeq : -1;
	out->lastTimestamp = producer->lastTimestamp;
	out->coordinatorEpoch = producer->coordinatorEpoch;
	out->currentTxnStartOffset = fb_mutant(FB_M_TXN_START_UNTOLD) ? -1 : producer->txnFirstOffset;
}

static int by_id(const void *a, const void *b)
{
	const struct kw_DescribeProducersResponse_ProducerState *x = a, *y = b;

	return (x->producerId > y->producerId) - (x->producerId < y->producerId);
}

static bool list(struct fb_request *req, struct fb_partition *partition,
		 struct kw_DescribeProducersResponse_PartitionResponse *out)
{
	const struct fb_producers *producers = &partition->producers;
	bool ok;

	pthread_mutex_lock(&partition->lock);
	ok = FB_RESPONSE_ARRAY(req, out->activeProducers, kw_DescribeProducersResponse_ProducerState_struct,
			       (int32_t)producers->n);
	for (size_t i = 0; ok && i < producers->n; i++)
		describe(&producers->v[i], &out->activeProducers.v[i]);
	pthread_mutex_unlock(&partition->lock);
	if (ok && out->activeProducers.n > 1)
		qsort(out->activeProducers.v, (size_t)out->activeProducers.n, sizeof *out->activeProducers.v, by_id);
	return ok;
}

/* Kafka has a text for a topic that it does not know, and none for a partition. */
static int16_t judge(const struct fb_request *req, const struct fb_topic *topic, const struct fb_partition *partition,
		     const char *name_fault, const char **message)
{
	*message = NULL;
	if (req->forced)
		return req->forced;
	if (name_fault && !fb_mutant(FB_M_PRODUCERS_ANY_NAME)) {
		*message = name_fault;
		return KW_ERR_INVALID_TOPIC_EXCEPTION;
	}
	if (!topic && !fb_mutant(FB_M_PRODUCERS_TEXT_UNTOLD))
		*message = "This server does not host this topic-partition.";
	if (!partition && fb_mutant(FB_M_PRODUCERS_UNKNOWN_CODE))
		return KW_ERR_NOT_LEADER_OR_FOLLOWER;
	if (!partition)
		return KW_ERR_UNKNOWN_TOPIC_OR_PARTITION;
	return partition->leader == req->node->id ? 0 : KW_ERR_NOT_LEADER_OR_FOLLOWER;
}

static bool answer_topic(struct fb_request *req, const struct kw_DescribeProducersRequest_TopicRequest *topic,
			 struct kw_DescribeProducersResponse_TopicResponse *out)
{
	struct fb_topic *found = fb_topic_find(req->cluster, topic->name);
	const char *name_fault = found ? NULL : fb_topic_name_fault(topic->name, &req->arena);

	out->name = topic->name;
	if (!FB_RESPONSE_ARRAY(req, out->partitions, kw_DescribeProducersResponse_PartitionResponse_struct,
			       topic->partitionIndexes.n))
		return false;
	for (int32_t i = 0; i < topic->partitionIndexes.n; i++) {
		struct fb_partition *partition = found ? fb_topic_partition(found, topic->partitionIndexes.v[i]) : NULL;
		const char *message;

		out->partitions.v[i].partitionIndex = topic->partitionIndexes.v[i];
		out->partitions.v[i].errorCode = judge(req, found, partition, name_fault, &message);
		out->partitions.v[i].errorMessage = kw_str(message);
		if (!out->partitions.v[i].errorCode && !list(req, partition, &out->partitions.v[i]))
			return false;
	}
	return true;
}

enum fb_outcome fb_describe_producers(struct fb_request *req)
{
	const struct kw_DescribeProducersRequest *body = req->body;
	struct kw_DescribeProducersResponse *response = req->response;
	bool ok = FB_RESPONSE_ARRAY(req, response->topics, kw_DescribeProducersResponse_TopicResponse_struct,
				    body->topics.n);

	pthread_rwlock_rdlock(&req->cluster->lock);
	for (int32_t t = 0; ok && t < body->topics.n; t++)
		ok = answer_topic(req, &body->topics.v[t], &response->topics.v[t]);
	pthread_rwlock_unlock(&req->cluster->lock);
	return ok ? FB_REPLY : FB_CLOSE;
}
