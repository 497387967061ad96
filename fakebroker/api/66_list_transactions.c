/* ListTransactions (66): the transactional ids that this node coordinates (KIP-664). */
#include "fakebroker/api/txn.h"
#include "fakebroker/mutants.h"
#include "lib/text/regex.h"
#include "lib/wire/errors.h"

/* What the request asks for. */
struct filter {
	const struct kw_ListTransactionsRequest *body;
	int64_t now;
	struct kt_regex *pattern;    /* NULL: every id fits */
};

/* Kafka's patterns are RE2's, which ours come close to. The whole id has to fit. */
static bool compile(struct filter *filter)
{
	struct kw_str given = filter->body->transactionalIdPattern;

	return given.n <= 0 || fb_mutant(FB_M_LIST_PATTERN_IGNORED) ||
	       kt_regex_compile(&filter->pattern, given.s, (size_t)given.n, KT_REGEX_WHOLE, NULL) == 0;
}

static bool state_fits(const struct kw_ListTransactionsRequest *body, enum fb_txn_state state)
{
	for (int32_t i = 0; i < body->stateFilters.n; i++)
		if (kw_str_is(body->stateFilters.v[i], fb_txn_state_name(state)))
			return true;
	return body->stateFilters.n == 0 || fb_mutant(FB_M_LIST_STATES_IGNORED);
}

static bool producer_fits(const struct kw_ListTransactionsRequest *body, int64_t producerId)
{
	for (int32_t i = 0; i < body->producerIdFilters.n; i++)
		if (body->producerIdFilters.v[i] == producerId)
			return true;
	return body->producerIdFilters.n == 0;
}

/* A duration asks for transactions that have been going on for longer. */
static bool duration_fits(const struct filter *filter, const struct fb_txn *txn)
{
	return filter->body->durationFilter < 0 || filter->now - txn->started_ms > filter->body->durationFilter;
}

static bool fits(const struct filter *filter, const struct fb_txn *txn)
{
	return state_fits(filter->body, txn->state) && producer_fits(filter->body, txn->producerId) &&
	       duration_fits(filter, txn);
}

static bool list(struct fb_request *req, const struct filter *filter, struct kw_ListTransactionsResponse *response)
{
	const struct fb_transactions *transactions = req->cluster->transactions;
	int32_t n = 0;

	if (!FB_RESPONSE_ARRAY(req, response->transactionStates, kw_ListTransactionsResponse_TransactionState_struct,
			       (int32_t)transactions->n))
		return false;
	for (size_t i = 0; i < transactions->n; i++) {
		const struct fb_txn *txn = transactions->v[i];
		struct kw_ListTransactionsResponse_TransactionState *out = &response->transactionStates.v[n];

		if (fb_txn_coordinator(req->cluster, txn->id) != req->node || !fits(filter, txn))
			continue;
		n++;
		out->transactionalId = kw_str_dup(&req->arena, txn->id);
		out->producerId = txn->producerId;
		out->transactionState = kw_str(fb_txn_state_name(txn->state));
	}
	response->transactionStates.n = n;
	return true;
}

/* Leaves those out whose ids do not match, or cannot be matched within bounds. Not under the locks, for it may take
 * long. */
static void keep_matching(const struct kt_regex *pattern, struct kw_ListTransactionsResponse *response)
{
	int32_t n = 0;

	for (int32_t i = 0; i < response->transactionStates.n; i++) {
		struct kw_str id = response->transactionStates.v[i].transactionalId;

		if (kt_regex_matches(pattern, id.s, (size_t)id.n) == 1)
			response->transactionStates.v[n++] = response->transactionStates.v[i];
	}
	response->transactionStates.n = n;
}

/* States that there are not are told and otherwise ignored. */
static bool tell_unknown(struct fb_request *req, const struct kw_ListTransactionsRequest *body,
			 struct kw_ListTransactionsResponse *response)
{
	response->unknownStateFilters.v = kw_alloc(&req->arena, (size_t)body->stateFilters.n *
								       sizeof *response->unknownStateFilters.v);
	for (int32_t i = 0; response->unknownStateFilters.v && i < body->stateFilters.n; i++) {
		enum fb_txn_state state = 0;

		while (state < FB_TXN_NSTATES && !kw_str_is(body->stateFilters.v[i], fb_txn_state_name(state)))
			state++;
		if (state == FB_TXN_NSTATES)
			response->unknownStateFilters.v[response->unknownStateFilters.n++] = body->stateFilters.v[i];
	}
	return response->unknownStateFilters.v;
}

enum fb_outcome fb_list_transactions(struct fb_request *req)
{
	struct filter filter = {.body = req->body, .now = fb_cluster_now(req->cluster)};
	struct kw_ListTransactionsResponse *response = req->response;
	bool ok = true;

	response->errorCode = req->forced;
	if (!req->forced && !compile(&filter))
		response->errorCode = KW_ERR_INVALID_REGULAR_EXPRESSION;
	if (response->errorCode)
		return FB_REPLY;
	pthread_rwlock_rdlock(&req->cluster->lock);
	pthread_mutex_lock(&req->cluster->transactions->lock);
	ok = tell_unknown(req, req->body, response) && list(req, &filter, response);
	pthread_mutex_unlock(&req->cluster->transactions->lock);
	pthread_rwlock_unlock(&req->cluster->lock);
	if (ok && filter.pattern)
		keep_matching(filter.pattern, response);
	kt_regex_free(filter.pattern);
	return ok ? FB_REPLY : FB_CLOSE;
}
