/* DescribeTransactions (65): what the coordinator knows of transactional ids (KIP-664). */
#include "fakebroker/api/txn.h"
#include "lib/wire/errors.h"

/* Partitions by topic, in the order in which the topics joined. */
static bool list_topics(struct fb_request *req, const struct fb_txn *txn,
			struct kw_DescribeTransactionsResponse_TransactionState *out)
{
	int32_t n = 0;

	if (!FB_RESPONSE_ARRAY(req, out->topics, kw_DescribeTransactionsResponse_TopicData_struct, (int32_t)txn->n))
		return false;
	for (size_t i = 0; i < txn->n; i++) {
		const char *name = txn->partitions[i].topic->name;
		struct kw_DescribeTransactionsResponse_TopicData *topic = out->topics.v;

		while (topic < out->topics.v + n && !kw_str_is(topic->topic, name))
			topic++;
		if (topic == out->topics.v + n) {
			n++;
			topic->topic = kw_str(kw_strndup(&req->arena, name, strlen(name)));
			topic->partitions.v = kw_alloc(&req->arena, txn->n * sizeof *topic->partitions.v);
		}
		if (!topic->partitions.v)
			return false;
		topic->partitions.v[topic->partitions.n++] = txn->partitions[i].index;
	}
	out->topics.n = n;
	return true;
}

static bool describe(struct fb_request *req, struct kw_str id, struct kw_DescribeTransactionsResponse_TransactionState *out)
{
	const struct fb_txn *txn = NULL;

	out->transactionalId = id;
	out->errorCode = req->forced ? req->forced : fb_txn_judge(req, id);
	if (!out->errorCode) {
		txn = fb_txn_find(req->cluster->transactions, id);
		out->errorCode = txn ? 0 : KW_ERR_TRANSACTIONAL_ID_NOT_FOUND;
	}
	if (!txn)
		return true;
	out->transactionState = kw_str(fb_txn_state_name(txn->state));
	out->transactionTimeoutMs = txn->timeoutMs;
	out->transactionStartTimeMs = txn->started_ms;
	out->producerId = txn->producerId;
	out->producerEpoch = txn->producerEpoch;
	return list_topics(req, txn, out);
}

enum fb_outcome fb_describe_transactions(struct fb_request *req)
{
	const struct kw_DescribeTransactionsRequest *body = req->body;
	struct kw_DescribeTransactionsResponse *response = req->response;
	bool ok = FB_RESPONSE_ARRAY(req, response->transactionStates, kw_DescribeTransactionsResponse_TransactionState_struct,
				    body->transactionalIds.n);

	pthread_rwlock_rdlock(&req->cluster->lock);
	pthread_mutex_lock(&req->cluster->transactions->lock);
	for (int32_t i = 0; ok && i < body->transactionalIds.n; i++)
		ok = describe(req, body->transactionalIds.v[i], &response->transactionStates.v[i]);
	pthread_mutex_unlock(&req->cluster->transactions->lock);
	pthread_rwlock_unlock(&req->cluster->lock);
	return ok ? FB_REPLY : FB_CLOSE;
}
