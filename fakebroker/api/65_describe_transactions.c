/* DescribeTransactions (65): what the coordinator knows of transactional ids (KIP-664). */
#include <stdlib.h>

#include "fakebroker/api/txn.h"
#include "fakebroker/mutants.h"
#include "lib/wire/errors.h"

static int by_topic(const void *a, const void *b)
{
	const struct fb_txn_partition *x = a, *y = b;
	int c = strcmp(x->topic->name, y->topic->name);

	return c ? c : (x->index > y->index) - (x->index < y->index);
}

/* Partitions by topic. */
static bool list_topics(struct fb_request *req, const struct fb_txn *txn,
			struct kw_DescribeTransactionsResponse_TransactionState *out)
{
	struct fb_txn_partition *sorted;
	int32_t *indexes, n = 0;

	if (fb_mutant(FB_M_TXN_TOPICS_UNTOLD) || txn->n == 0)
		return true;
	sorted = kw_alloc(&req->arena, txn->n * sizeof *sorted);
	indexes = kw_alloc(&req->arena, txn->n * sizeof *indexes);
	if (!sorted || !indexes ||
	    !FB_RESPONSE_ARRAY(req, out->topics, kw_DescribeTransactionsResponse_TopicData_struct, (int32_t)txn->n))
		return false;
	memcpy(sorted, txn->partitions, txn->n * sizeof *sorted);
	qsort(sorted, txn->n, sizeof *sorted, by_topic);
	for (size_t i = 0; i < txn->n; i++) {
		struct kw_DescribeTransactionsResponse_TopicData *topic;
		const char *name = sorted[i].topic->name;

		if (i == 0 || strcmp(name, sorted[i - 1].topic->name) != 0) {
			out->topics.v[n].topic = kw_str(kw_strndup(&req->arena, name, strlen(name)));
			out->topics.v[n++].partitions.v = &indexes[i];
		}
		topic = &out->topics.v[n - 1];
		if (topic->topic.n < 0)
			return false;
		topic->partitions.v[topic->partitions.n++] = sorted[i].index;
	}
	out->topics.n = n;
	return true;
}

static bool describe(struct fb_request *req, struct kw_str id,
		     struct kw_DescribeTransactionsResponse_TransactionState *out)
{
	const struct fb_txn *txn = NULL;

	out->transactionalId = id;
	out->errorCode = req->forced ? req->forced : fb_txn_judge(req, id);
	if (!out->errorCode) {
		txn = fb_txn_find(req->cluster->transactions, id);
		out->errorCode = txn ? 0 : fb_mutant(FB_M_DESCRIBE_TXN_CODE) ? KW_ERR_INVALID_PRODUCER_ID_MAPPING
							: KW_ERR_TRANSACTIONAL_ID_NOT_FOUND;
	}
	if (!txn)
		return true;
	out->transactionState = kw_str(fb_txn_state_name(fb_mutant(FB_M_TXN_STATE_EMPTY) ? FB_TXN_EMPTY : txn->state));
	out->transactionTimeoutMs = txn->timeoutMs;
	out->transactionStartTimeMs = txn->started_ms < 0 && fb_mutant(FB_M_TXN_START_INVENTED) ? 0 : txn->started_ms;
	out->producerId = txn->producerId;
	out->producerEpoch = txn->producerEpoch;
	return list_topics(req, txn, out);
}

enum fb_outcome fb_describe_transactions(struct fb_request *req)
{
	const struct kw_DescribeTransactionsRequest *body = req->body;
	struct kw_DescribeTransactionsResponse *response = req->response;
	bool ok = FB_RESPONSE_ARRAY(req, response->transactionStates,
				    kw_DescribeTransactionsResponse_TransactionState_struct, body->transactionalIds.n);

	pthread_rwlock_rdlock(&req->cluster->lock);
	pthread_mutex_lock(&req->cluster->transactions->lock);
	for (int32_t i = 0; ok && i < body->transactionalIds.n; i++)
		ok = describe(req, body->transactionalIds.v[i], &response->transactionStates.v[i]);
	pthread_mutex_unlock(&req->cluster->transactions->lock);
	pthread_rwlock_unlock(&req->cluster->lock);
	return ok ? FB_REPLY : FB_CLOSE;
}
