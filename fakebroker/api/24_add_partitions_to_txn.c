/* AddPartitionsToTxn (24): up to version 3 for one producer; from 4 on a batch of them, as brokers send it. */
#include "fakebroker/api/txn.h"
#include "fakebroker/mutants.h"
#include "lib/wire/errors.h"

/* The first version that knows PRODUCER_FENCED, and the first with several transactions. */
enum { KNOWS_FENCED = 2, BATCHED = 4 };

/* One transaction of the request. */
struct ask {
	struct fb_txn_producer producer;
	bool verifyOnly;
	const struct kw_AddPartitionsToTxnRequest_AddPartitionsToTxnTopic *topics;
	int32_t ntopics;
	struct kw_AddPartitionsToTxnResponse_AddPartitionsToTxnTopicResult *out;
};

static struct fb_topic *find(const struct fb_request *req,
			     const struct kw_AddPartitionsToTxnRequest_AddPartitionsToTxnTopic *topic, int32_t index)
{
	struct fb_topic *found = fb_topic_find(req->cluster, topic->name);

	return found && fb_topic_partition(found, index) ? found : NULL;
}

static bool prepare(struct fb_request *req, const struct ask *ask, bool *all_known, size_t *n)
{
	*all_known = true;
	*n = 0;
	for (int32_t t = 0; t < ask->ntopics; t++) {
		const struct kw_AddPartitionsToTxnRequest_AddPartitionsToTxnTopic *topic = &ask->topics[t];

		ask->out[t].name = topic->name;
		if (!FB_RESPONSE_ARRAY(req, ask->out[t].resultsByPartition,
				       kw_AddPartitionsToTxnResponse_AddPartitionsToTxnPartitionResult_struct,
				       topic->partitions.n))
			return false;
		*n += (size_t)topic->partitions.n;
		for (int32_t p = 0; p < topic->partitions.n; p++) {
			ask->out[t].resultsByPartition.v[p].partitionIndex = topic->partitions.v[p];
			if (!find(req, topic, topic->partitions.v[p]))
				*all_known = false;
		}
	}
	return true;
}

static void answer_all(const struct ask *ask, int16_t error)
{
	for (int32_t t = 0; t < ask->ntopics; t++)
		for (int32_t p = 0; p < ask->out[t].resultsByPartition.n; p++)
			ask->out[t].resultsByPartition.v[p].partitionErrorCode = error;
}

/* One partition that is not there, and none is added. */
static void answer_unknown(const struct fb_request *req, const struct ask *ask)
{
	for (int32_t t = 0; t < ask->ntopics; t++)
		for (int32_t p = 0; p < ask->topics[t].partitions.n; p++)
			ask->out[t].resultsByPartition.v[p].partitionErrorCode =
				find(req, &ask->topics[t], ask->topics[t].partitions.v[p])
					? KW_ERR_OPERATION_NOT_ATTEMPTED : KW_ERR_UNKNOWN_TOPIC_OR_PARTITION;
}

static void verify(struct fb_request *req, const struct ask *ask)
{
	for (int32_t t = 0; t < ask->ntopics; t++) {
		struct fb_topic *topic = fb_topic_find(req->cluster, ask->topics[t].name);

		for (int32_t p = 0; p < ask->topics[t].partitions.n; p++) {
			struct fb_txn_partition at = {topic, ask->topics[t].partitions.v[p]};

			ask->out[t].resultsByPartition.v[p].partitionErrorCode =
				fb_txn_verify(req->cluster, &ask->producer, &at);
		}
	}
}

static bool add(struct fb_request *req, const struct ask *ask, size_t n)
{
	struct fb_txn_partition *partitions = kw_alloc(&req->arena, (n ? n : 1) * sizeof *partitions);
	size_t i = 0;

	if (!partitions)
		return false;
	for (int32_t t = 0; t < ask->ntopics; t++)
		for (int32_t p = 0; p < ask->topics[t].partitions.n; p++)
			partitions[i++] = (struct fb_txn_partition){
				fb_topic_find(req->cluster, ask->topics[t].name), ask->topics[t].partitions.v[p],
			};
	answer_all(ask,
		   fb_txn_error(fb_txn_add(req->cluster, &ask->producer, partitions, n), req->version >= KNOWS_FENCED));
	return true;
}

static bool answer(struct fb_request *req, const struct ask *ask)
{
	int16_t error = req->forced;
	bool all_known;
	size_t n;

	if (!ask->out || !prepare(req, ask, &all_known, &n))
		return false;
	if (!error && !all_known && fb_mutant(FB_M_UNKNOWN_PARTITION_SPREADS)) {
		answer_all(ask, KW_ERR_UNKNOWN_TOPIC_OR_PARTITION);
		return true;
	}
	if (!error && !all_known) {
		answer_unknown(req, ask);
		return true;
	}
	if (!error)
		error = fb_txn_judge(req, ask->producer.transactionalId);
	if (error)
		answer_all(ask, error);
	else if (ask->verifyOnly && !fb_mutant(FB_M_VERIFY_ADDS))
		verify(req, ask);
	else
		return add(req, ask, n);
	return true;
}

static bool answer_one(struct fb_request *req)
{
	const struct kw_AddPartitionsToTxnRequest *body = req->body;
	struct kw_AddPartitionsToTxnResponse *response = req->response;
	struct ask ask = {
		.producer = {body->v3AndBelowTransactionalId, body->v3AndBelowProducerId,
			     body->v3AndBelowProducerEpoch},
		.topics = body->v3AndBelowTopics.v, .ntopics = body->v3AndBelowTopics.n,
	};

	if (!FB_RESPONSE_ARRAY(req, response->resultsByTopicV3AndBelow,
			       kw_AddPartitionsToTxnResponse_AddPartitionsToTxnTopicResult_struct, ask.ntopics))
		return false;
	ask.out = response->resultsByTopicV3AndBelow.v;
	return answer(req, &ask);
}

static bool answer_batch(struct fb_request *req)
{
	const struct kw_AddPartitionsToTxnRequest *body = req->body;
	struct kw_AddPartitionsToTxnResponse *response = req->response;

	if (!FB_RESPONSE_ARRAY(req, response->resultsByTransaction,
			       kw_AddPartitionsToTxnResponse_AddPartitionsToTxnResult_struct, body->transactions.n))
		return false;
	for (int32_t i = 0; i < body->transactions.n; i++) {
		const struct kw_AddPartitionsToTxnRequest_AddPartitionsToTxnTransaction *one = &body->transactions.v[i];
		struct kw_AddPartitionsToTxnResponse_AddPartitionsToTxnResult *out =
			&response->resultsByTransaction.v[i];
		struct ask ask = {
			.producer = {one->transactionalId, one->producerId, one->producerEpoch},
			.verifyOnly = one->verifyOnly, .topics = one->topics.v, .ntopics = one->topics.n,
		};

		out->transactionalId = one->transactionalId;
		if (!FB_RESPONSE_ARRAY(req, out->topicResults,
				       kw_AddPartitionsToTxnResponse_AddPartitionsToTxnTopicResult_struct, ask.ntopics))
			return false;
		ask.out = out->topicResults.v;
		if (!answer(req, &ask))
			return false;
	}
	return true;
}

enum fb_outcome fb_add_partitions_to_txn(struct fb_request *req)
{
	const struct kw_AddPartitionsToTxnRequest *body = req->body;
	bool ok;

	if (req->version >= BATCHED && body->transactions.n <= 0) {
		if (fb_request_imitates(req))
			return fb_request_mute(req, FB_F_NO_TRANSACTIONS);
		return fb_mutant(FB_M_NO_TRANSACTIONS_SILENT) ? FB_SILENT : FB_REPLY;
	}
	pthread_rwlock_rdlock(&req->cluster->lock);
	ok = req->version < BATCHED ? answer_one(req) : answer_batch(req);
	pthread_rwlock_unlock(&req->cluster->lock);
	return ok ? FB_REPLY : FB_CLOSE;
}
