/* AddPartitionsToTxn (24): up to version 3 for one producer; from 4 on a batch of them, as brokers send it. */
#include <stdlib.h>

#include "fakebroker/api/txn.h"
#include "fakebroker/config/twins.h"
#include "fakebroker/mutants.h"
#include "lib/wire/errors.h"

/* The first version that knows PRODUCER_FENCED, and the first with several transactions. */
enum { KNOWS_FENCED = 2, BATCHED = 4 };

/* Part of the answer to one transaction. */
struct topics {
	struct kw_AddPartitionsToTxnResponse_AddPartitionsToTxnTopicResult *v;
	int32_t n;
};

/* One transaction of the request. */
struct ask {
	struct fb_request *req;
	struct fb_txn_producer producer;
	bool verifyOnly;
	const struct kw_AddPartitionsToTxnRequest_AddPartitionsToTxnTopic *topics;
	int32_t ntopics;
	size_t n;                            /* partitions of all topics */
	struct topics out;
};

/* A partition that is asked for, and what is said of it. */
struct entry {
	struct fb_txn_partition at;          /* topic NULL: there is no such partition */
	int32_t topic;                       /* the first in the request with its name */
	int16_t error;
};

static struct fb_txn_partition find(const struct ask *ask, int32_t topic, int32_t index)
{
	struct fb_topic *found = fb_topic_find(ask->req->cluster, ask->topics[topic].name);

	return (struct fb_txn_partition){found && fb_topic_partition(found, index) ? found : NULL, index};
}

/* All partitions as they are asked for; false if memory is short. */
static bool collect(const struct ask *ask, struct fb_txn_partition **partitions, bool *all_known)
{
	size_t i = 0;

	*all_known = true;
	*partitions = kw_alloc(&ask->req->arena, ask->n * sizeof **partitions);
	if (!*partitions)
		return false;
	for (int32_t t = 0; t < ask->ntopics; t++) {
		for (int32_t p = 0; p < ask->topics[t].partitions.n; p++) {
			(*partitions)[i] = find(ask, t, ask->topics[t].partitions.v[p]);
			*all_known = *all_known && (*partitions)[i].topic;
			i++;
		}
	}
	return true;
}

/* ---- an answer for all alike: it has what the request has ---- */

static bool answer_all(struct ask *ask, int16_t error)
{
	if (!FB_RESPONSE_ARRAY(ask->req, ask->out, kw_AddPartitionsToTxnResponse_AddPartitionsToTxnTopicResult_struct,
			       ask->ntopics))
		return false;
	for (int32_t t = 0; t < ask->ntopics; t++) {
		struct kw_AddPartitionsToTxnResponse_AddPartitionsToTxnTopicResult *out = &ask->out.v[t];

		out->name = ask->topics[t].name;
		if (!FB_RESPONSE_ARRAY(ask->req, out->resultsByPartition,
				       kw_AddPartitionsToTxnResponse_AddPartitionsToTxnPartitionResult_struct,
				       ask->topics[t].partitions.n))
			return false;
		for (int32_t p = 0; p < out->resultsByPartition.n; p++) {
			out->resultsByPartition.v[p].partitionIndex = ask->topics[t].partitions.v[p];
			out->resultsByPartition.v[p].partitionErrorCode = error;
		}
	}
	return true;
}

/* ---- an answer for each: Kafka has them in a map, which knows each partition once and no topic without any ---- */

static int compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->topic != y->topic)
		return x->topic < y->topic ? -1 : 1;
	return (x->at.index > y->at.index) - (x->at.index < y->at.index);
}

/* Each partition once; NULL if memory is short. */
static struct entry *list_entries(const struct ask *ask, const struct fb_txn_partition *partitions, size_t *n)
{
	struct fb_named *names = kw_alloc(&ask->req->arena, (size_t)ask->ntopics * sizeof *names);
	struct entry *entries = kw_alloc(&ask->req->arena, ask->n * sizeof *entries);
	struct fb_twins *twins;
	size_t i = 0;

	for (int32_t t = 0; names && t < ask->ntopics; t++)
		names[t] = (struct fb_named){.name = ask->topics[t].name};
	twins = names ? fb_find_twins(names, (size_t)ask->ntopics, &ask->req->arena) : NULL;
	if (!twins || !entries)
		return NULL;
	for (int32_t t = 0; t < ask->ntopics; t++)
		for (int32_t p = 0; p < ask->topics[t].partitions.n; p++, i++)
			entries[i] = (struct entry){.at = partitions[i], .topic = (int32_t)twins[t].first};
	qsort(entries, ask->n, sizeof *entries, compare);
	*n = 0;
	for (i = 0; i < ask->n; i++)
		if (*n == 0 || compare(&entries[*n - 1], &entries[i]) != 0 || fb_mutant(FB_M_VERIFIED_TWICE))
			entries[(*n)++] = entries[i];
	return entries;
}

static bool answer_topic(struct ask *ask, const struct entry *entries, size_t n)
{
	struct kw_AddPartitionsToTxnResponse_AddPartitionsToTxnTopicResult *out = &ask->out.v[ask->out.n++];

	out->name = ask->topics[entries->topic].name;
	if (!FB_RESPONSE_ARRAY(ask->req, out->resultsByPartition,
			       kw_AddPartitionsToTxnResponse_AddPartitionsToTxnPartitionResult_struct, (int32_t)n))
		return false;
	for (size_t i = 0; i < n; i++) {
		out->resultsByPartition.v[i].partitionIndex = entries[i].at.index;
		out->resultsByPartition.v[i].partitionErrorCode = entries[i].error;
	}
	return true;
}

static bool answer_each(struct ask *ask, const struct entry *entries, size_t n)
{
	if (!FB_RESPONSE_ARRAY(ask->req, ask->out, kw_AddPartitionsToTxnResponse_AddPartitionsToTxnTopicResult_struct,
			       ask->ntopics))
		return false;
	ask->out.n = 0;
	for (size_t i = 0, to; i < n; i = to) {
		for (to = i + 1; to < n && entries[to].topic == entries[i].topic;)
			to++;
		if (!answer_topic(ask, entries + i, to - i))
			return false;
	}
	return true;
}

/* One partition that is not there, and none is added. */
static bool answer_unknown(struct ask *ask, const struct fb_txn_partition *partitions)
{
	size_t n;
	struct entry *entries = list_entries(ask, partitions, &n);

	for (size_t i = 0; entries && i < n; i++)
		entries[i].error = entries[i].at.topic ? KW_ERR_OPERATION_NOT_ATTEMPTED
						       : KW_ERR_UNKNOWN_TOPIC_OR_PARTITION;
	return entries && answer_each(ask, entries, n);
}

/* error: what is said of all of them, without a look. */
static bool verify(struct ask *ask, struct fb_txn_partition *partitions, int16_t error)
{
	int16_t *errors = kw_alloc(&ask->req->arena, ask->n * sizeof *errors);
	size_t n;
	struct entry *entries = list_entries(ask, partitions, &n);

	if (!errors || !entries)
		return false;
	for (size_t i = 0; i < n; i++)
		partitions[i] = entries[i].at;
	if (!error)
		fb_txn_verify(ask->req->cluster, &ask->producer, partitions, n, errors);
	for (size_t i = 0; i < n; i++)
		entries[i].error = error ? error : errors[i];
	return answer_each(ask, entries, n);
}

/* ---- the request ---- */

static bool answer(struct ask *ask)
{
	bool knows_fenced = ask->req->version >= KNOWS_FENCED, all_known;
	struct fb_txn_partition *partitions;
	int16_t error;

	for (int32_t t = 0; t < ask->ntopics; t++)
		ask->n += (size_t)ask->topics[t].partitions.n;
	if (ask->req->forced)
		return answer_all(ask, ask->req->forced);
	if (!collect(ask, &partitions, &all_known))
		return false;
	if (!all_known && fb_mutant(FB_M_UNKNOWN_PARTITION_SPREADS))
		return answer_all(ask, KW_ERR_UNKNOWN_TOPIC_OR_PARTITION);
	if (!all_known)
		return answer_unknown(ask, partitions);
	error = fb_txn_judge(ask->req, ask->producer.transactionalId);
	if (ask->verifyOnly && !fb_mutant(FB_M_VERIFY_ADDS))
		return verify(ask, partitions, error);
	if (!error)
		error = fb_txn_add(ask->req->cluster, &ask->producer, partitions, ask->n);
	return answer_all(ask, fb_txn_error(error, knows_fenced));
}

static bool answer_one(struct fb_request *req)
{
	const struct kw_AddPartitionsToTxnRequest *body = req->body;
	struct kw_AddPartitionsToTxnResponse *response = req->response;
	struct ask ask = {
		.req = req,
		.producer = {body->v3AndBelowTransactionalId, body->v3AndBelowProducerId,
			     body->v3AndBelowProducerEpoch},
		.topics = body->v3AndBelowTopics.v, .ntopics = body->v3AndBelowTopics.n,
	};
	bool ok = answer(&ask);

	response->resultsByTopicV3AndBelow.v = ask.out.v;
	response->resultsByTopicV3AndBelow.n = ask.out.n;
	return ok;
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
			.req = req, .producer = {one->transactionalId, one->producerId, one->producerEpoch},
			.verifyOnly = one->verifyOnly, .topics = one->topics.v, .ntopics = one->topics.n,
		};

		if (!answer(&ask))
			return false;
		out->transactionalId = one->transactionalId;
		out->topicResults.v = ask.out.v;
		out->topicResults.n = ask.out.n;
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
