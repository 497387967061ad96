#include "fakebroker/cluster/on_demand.h"
#include "fakebroker/cluster/transactions.h"

#include <stdlib.h>

#include "fakebroker/cluster/log_line.h"
#include "fakebroker/config/java_hash.h"
#include "fakebroker/mutants.h"
#include "lib/wire/errors.h"
#include "lib/wire/message.h"

enum { NO_EPOCH = -1, LAST_EPOCH = INT16_MAX - 1, COORDINATOR_EPOCH = 0, FIRST_CAP = 8, MOST_IDS = 100000 };

static const char topic_name[] = "__transaction_state";

const char *fb_txn_state_name(enum fb_txn_state state)
{
	static const char *const names[] = {
#define KT_X(sym, name) [sym] = name,
		FB_TXN_STATES(KT_X)
#undef KT_X
	};

	return names[state];
}

/* ---- life ---- */

struct fb_transactions *fb_transactions_new(void)
{
	struct fb_transactions *transactions = calloc(1, sizeof *transactions);

	if (transactions)
		pthread_mutex_init(&transactions->lock, NULL);
	return transactions;
}

static void forget_partitions(struct fb_txn *txn)
{
	for (size_t i = 0; i < txn->n; i++)
		fb_topic_unref(txn->partitions[i].topic);
	txn->n = 0;
}

void fb_transactions_free(struct fb_transactions *transactions)
{
	if (!transactions)
		return;
	for (size_t i = 0; i < transactions->n; i++) {
		forget_partitions(transactions->v[i]);
		free(transactions->v[i]->partitions);
		free((char *)(uintptr_t)transactions->v[i]->id.s);
		free(transactions->v[i]);
	}
	free(transactions->v);
	pthread_mutex_destroy(&transactions->lock);
	free(transactions);
}

/* ---- who coordinates ---- */

const struct fb_node *fb_txn_coordinator(struct fb_cluster *cluster, struct kw_str id)
{
	struct fb_topic *topic = fb_topic_find(cluster, kw_str(topic_name));

	if (!topic)
		return NULL;
	return fb_cluster_node(cluster, topic->partitions[fb_java_slot(id, topic->npartitions)].leader);
}

void fb_txn_topic(struct fb_cluster *cluster, const struct fb_node *node)
{
	const struct kw_str name = kw_str(topic_name);

	if (!fb_topic_find(cluster, name))
		fb_topics_on_demand(cluster, node, &name, 1);
}

static int32_t config(const struct fb_cluster *cluster, int32_t node, const char *name, int32_t otherwise)
{
	return (int32_t)fb_configs_long(cluster->configs, FB_BROKER, KW_NULL_STR, node, name, otherwise);
}

/* ---- the ids ---- */

/* Where the id is or belongs. */
static size_t place(const struct fb_transactions *transactions, struct kw_str id)
{
	size_t low = 0, high = transactions->n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (kw_str_cmp(transactions->v[mid]->id, id) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct fb_txn *find(const struct fb_transactions *transactions, struct kw_str id)
{
	size_t at = place(transactions, id);

	return at < transactions->n && kw_str_eq(id, transactions->v[at]->id) ? transactions->v[at] : NULL;
}

const struct fb_txn *fb_txn_find(const struct fb_transactions *transactions, struct kw_str id)
{
	return find(transactions, id);
}

static struct fb_txn *add(struct fb_transactions *transactions, struct kw_str id)
{
	size_t cap = transactions->cap ? transactions->cap * 2 : FIRST_CAP, at = place(transactions, id);
	struct fb_txn *txn = calloc(1, sizeof *txn), **v = transactions->v;
	char *copy = malloc((size_t)id.n + 1);

	if (transactions->n == transactions->cap && transactions->n < MOST_IDS)
		v = realloc(v, cap * sizeof *v);
	if (!txn || !copy || !v || transactions->n == MOST_IDS) {
		transactions->v = v ? v : transactions->v;
		free(copy);
		free(txn);
		return NULL;
	}
	memcpy(copy, id.s, (size_t)id.n);
	txn->id = (struct kw_str){copy, id.n};
	transactions->cap = transactions->n == transactions->cap ? cap : transactions->cap;
	transactions->v = v;
	memmove(v + at + 1, v + at, (transactions->n - at) * sizeof *v);
	v[at] = txn;
	transactions->n++;
	txn->producerEpoch = txn->lastProducerEpoch = NO_EPOCH;
	if (fb_mutant(FB_M_FIRST_EPOCH_ONE))
		txn->producerEpoch = 0;
	txn->producerId = txn->lastProducerId = -1;
	txn->started_ms = -1;
	return txn;
}

/* ---- the end of a transaction ---- */

/* A partition may have heard of a later coordinator, by WriteTxnMarkers of somebody else: it is still ours that ends
 * what it began. */
static int16_t mark(const struct fb_txn_partition *at, struct fb_marker marker)
{
	struct fb_partition *partition = fb_topic_partition(at->topic, at->index);
	const struct fb_producer *producer;
	int16_t error;

	marker.logAppendTime = at->topic->conf.logAppendTime;
	pthread_mutex_lock(&partition->lock);
	producer = fb_producers_find(&partition->producers, marker.producerId);
	if (producer && producer->coordinatorEpoch > marker.coordinatorEpoch)
		marker.coordinatorEpoch = producer->coordinatorEpoch;
	error = fb_txns_mark(&partition->txns, &partition->log, &partition->producers, &marker, partition->leaderEpoch);
	pthread_mutex_unlock(&partition->lock);
	if (error)
		fb_log_repeated(KASSAY_ERROR, "%s-%d: no marker for producer %lld: %s", at->topic->name, at->index,
				(long long)marker.producerId, kw_error_name(error));
	return error;
}

/* Writes the markers, with the transaction's epoch as it is now. The first error that there was: a partition that knows
 * the producer in a later epoch has nothing of this one open. */
static int16_t complete(struct fb_cluster *cluster, struct fb_txn *txn, bool commit, bool bumped)
{
	struct fb_marker marker = {
		.producerId = txn->producerId, .producerEpoch = txn->producerEpoch,
		.coordinatorEpoch = COORDINATOR_EPOCH, .commit = commit != fb_mutant(FB_M_END_INVERTED),
		.bumped = bumped, .timestamp = fb_cluster_now(cluster),
	};
	int16_t error = 0;

	for (size_t i = 0; i < txn->n; i++) {
		int16_t code = mark(&txn->partitions[i], marker);

		error = error ? error : code;
	}
	if (txn->n > 0)
		fb_server_poke(cluster->server);
	forget_partitions(txn);
	txn->state = commit ? FB_TXN_COMPLETE_COMMIT : FB_TXN_COMPLETE_ABORT;
	txn->bumped = bumped;
	return error;
}

static int16_t next_epoch(int16_t epoch)
{
	return epoch < INT16_MAX ? (int16_t)(epoch + 1) : epoch;
}

/* Aborts with the next epoch, so that the producer's batches are fenced. The one before it stays known, as in
 * Kafka 4.4.0 (measured): whoever names it to InitProducerId goes on with the next, even the producer that was fenced.
 * In 3.9.0 nobody does (measured, too). */
static void fence(struct fb_cluster *cluster, struct fb_txn *txn)
{
	txn->lastProducerEpoch = fb_release_before(cluster->release, "4.0") ? NO_EPOCH : txn->producerEpoch;
	if (!fb_mutant(FB_M_INIT_ABORT_UNFENCED))
		txn->producerEpoch = next_epoch(txn->producerEpoch);
	complete(cluster, txn, false, false);
}

/* ---- InitProducerId ---- */

static int64_t new_producer_id(struct fb_cluster *cluster)
{
	return atomic_fetch_add(&cluster->next_producer_id, 1);
}

static bool exhausted(const struct fb_txn *txn)
{
	return txn->producerEpoch >= LAST_EPOCH;
}

/* TransactionCoordinator.isValidProducerId: may the producer that names itself so go on? */
static bool is_known(const struct fb_txn *txn, const struct fb_txn_producer *producer)
{
	return txn->producerEpoch == NO_EPOCH || producer->producerId == txn->producerId ||
	       (producer->producerId == txn->lastProducerId && producer->producerEpoch >= LAST_EPOCH);
}

static void rotate(struct fb_cluster *cluster, struct fb_txn *txn, bool remember)
{
	txn->lastProducerId = txn->producerId;
	txn->lastProducerEpoch = remember ? txn->producerEpoch : NO_EPOCH;
	txn->producerId = new_producer_id(cluster);
	txn->producerEpoch = 0;
}

/* TransactionMetadata.prepareIncrementProducerEpoch. expected is NO_EPOCH when the producer names none. */
static int16_t increment(struct fb_txn *txn, int16_t expected)
{
	if (expected == NO_EPOCH || txn->producerEpoch == NO_EPOCH || expected == txn->producerEpoch) {
		txn->lastProducerEpoch = expected == NO_EPOCH ? NO_EPOCH : txn->producerEpoch;
		if (!fb_mutant(FB_M_INIT_KEEPS_EPOCH) || txn->producerEpoch == NO_EPOCH)
			txn->producerEpoch++;
		return 0;
	}
	/* Asked once more, as the answer was lost: a producer that came later would have set this to NO_EPOCH. */
	return expected == txn->lastProducerEpoch || fb_mutant(FB_M_NAMED_EPOCH_UNCHECKED) ? 0 : KW_ERR_PRODUCER_FENCED;
}

static int16_t init_producer(struct fb_cluster *cluster, struct fb_txn *txn, struct fb_txn_producer *producer,
			     int32_t timeoutMs)
{
	bool named = producer->producerId != -1;
	int16_t error = 0;

	if (named && !is_known(txn, producer) && !fb_mutant(FB_M_NAMED_UNCHECKED))
		return KW_ERR_PRODUCER_FENCED;
	if (txn->state == FB_TXN_ONGOING) {
		if (!fb_mutant(FB_M_INIT_LEAVES_OPEN))
			fence(cluster, txn);
		return fb_mutant(FB_M_INIT_ABORT_CODE) ? KW_ERR_INVALID_TXN_STATE : KW_ERR_CONCURRENT_TRANSACTIONS;
	}
	if (exhausted(txn) && (!named || producer->producerEpoch == txn->producerEpoch))
		rotate(cluster, txn, named);
	else
		error = increment(txn, named ? producer->producerEpoch : NO_EPOCH);
	if (error)
		return error;
	txn->timeoutMs = timeoutMs;
	txn->state = FB_TXN_EMPTY;
	if (!fb_mutant(FB_M_TXN_START_STAYS) && !fb_release_before(cluster->release, "4.1"))
		txn->started_ms = -1;
	txn->bumped = false;
	producer->producerId = txn->producerId;
	producer->producerEpoch = txn->producerEpoch;
	return 0;
}

int16_t fb_txn_init_producer(struct fb_cluster *cluster, int32_t node, struct fb_txn_producer *producer,
			     int32_t timeoutMs)
{
	struct fb_transactions *transactions = cluster->transactions;
	int16_t error = KW_ERR_UNKNOWN_SERVER_ERROR;
	struct fb_txn *txn;

	if ((timeoutMs <= 0 && !fb_mutant(FB_M_TIMEOUT_SIGN_UNCHECKED)) ||
	    timeoutMs > (fb_mutant(FB_M_TIMEOUT_UNLIMITED)
				 ? INT32_MAX
				 : config(cluster, node, "transaction.max.timeout.ms", 900000)))
		return KW_ERR_INVALID_TRANSACTION_TIMEOUT;
	pthread_mutex_lock(&transactions->lock);
	txn = find(transactions, producer->transactionalId);
	if (!txn) {
		txn = add(transactions, producer->transactionalId);
		if (txn)
			txn->producerId = new_producer_id(cluster);
	}
	if (txn)
		error = init_producer(cluster, txn, producer, timeoutMs);
	pthread_mutex_unlock(&transactions->lock);
	return error;
}

/* ---- partitions ---- */

static int16_t judge(const struct fb_txn *txn, const struct fb_txn_producer *producer)
{
	if (txn && fb_mutant(FB_M_TXN_PRODUCER_UNCHECKED))
		return 0;
	if (!txn || txn->producerId != producer->producerId)
		return fb_mutant(FB_M_TXN_UNKNOWN_CODE) ? KW_ERR_TRANSACTIONAL_ID_NOT_FOUND
							: KW_ERR_INVALID_PRODUCER_ID_MAPPING;
	return txn->producerEpoch == producer->producerEpoch || fb_mutant(FB_M_TXN_EPOCH_UNCHECKED)
	       ? 0 : KW_ERR_PRODUCER_FENCED;
}

static int compare(const void *a, const void *b)
{
	const struct fb_txn_partition *x = a, *y = b;

	if (x->topic != y->topic)
		return (uintptr_t)x->topic < (uintptr_t)y->topic ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

static bool has(const struct fb_txn *txn, const struct fb_txn_partition *partition)
{
	return txn->n > 0 && bsearch(partition, txn->partitions, txn->n, sizeof *partition, compare);
}

/* Puts partitions in order, each once. How many are left. */
static size_t sort(struct fb_txn_partition *partitions, size_t n)
{
	size_t kept = 0;

	if (n > 1)
		qsort(partitions, n, sizeof *partitions, compare);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || compare(&partitions[kept - 1], &partitions[i]) != 0)
			partitions[kept++] = partitions[i];
	return kept;
}

/* How many of the sorted partitions the transaction does not have. */
static size_t count_new(const struct fb_txn *txn, const struct fb_txn_partition *partitions, size_t n)
{
	size_t fresh = 0;

	for (size_t i = 0; i < n; i++)
		fresh += !has(txn, &partitions[i]);
	return fresh;
}

static int reserve(struct fb_txn *txn, size_t more)
{
	size_t cap = txn->cap ? txn->cap : FIRST_CAP;
	struct fb_txn_partition *partitions;

	if (txn->cap - txn->n >= more)
		return 0;
	while (cap - txn->n < more)
		cap *= 2;
	partitions = realloc(txn->partitions, cap * sizeof *partitions);
	if (!partitions)
		return KT_ENOMEM;
	txn->partitions = partitions;
	txn->cap = cap;
	return 0;
}

/* Merges sorted partitions in, from the end on, where there is room. */
static int add_partitions(struct fb_txn *txn, const struct fb_txn_partition *partitions, size_t n)
{
	size_t fresh = count_new(txn, partitions, n), old = txn->n, to = old + fresh;

	if (reserve(txn, fresh) < 0)
		return KT_ENOMEM;
	txn->n = to;
	while (to > old) {
		int order = old > 0 ? compare(&txn->partitions[old - 1], &partitions[n - 1]) : -1;

		if (order > 0) {
			txn->partitions[--to] = txn->partitions[--old];
			continue;
		}
		n--;
		if (order < 0)
			txn->partitions[--to] = (struct fb_txn_partition){
				fb_topic_ref(partitions[n].topic), partitions[n].index,
			};
	}
	return 0;
}

int16_t fb_txn_add(struct fb_cluster *cluster, const struct fb_txn_producer *producer,
		   struct fb_txn_partition *partitions, size_t n)
{
	struct fb_transactions *transactions = cluster->transactions;
	struct fb_txn *txn;
	int16_t error;

	n = sort(partitions, n);
	pthread_mutex_lock(&transactions->lock);
	txn = find(transactions, producer->transactionalId);
	error = judge(txn, producer);
	if (!error && add_partitions(txn, partitions, n) < 0)
		error = KW_ERR_UNKNOWN_SERVER_ERROR;
	if (!error && txn->state != FB_TXN_ONGOING && !fb_mutant(FB_M_ADD_BEGINS_NOTHING)) {
		txn->state = FB_TXN_ONGOING;
		txn->started_ms = fb_cluster_now(cluster);
	}
	pthread_mutex_unlock(&transactions->lock);
	return error;
}

void fb_txn_verify(struct fb_cluster *cluster, const struct fb_txn_producer *producer,
		   const struct fb_txn_partition *partitions, size_t n, int16_t *errors)
{
	struct fb_transactions *transactions = cluster->transactions;
	const struct fb_txn *txn;
	int16_t error;

	pthread_mutex_lock(&transactions->lock);
	txn = find(transactions, producer->transactionalId);
	error = judge(txn, producer);
	if (!error && fb_mutant(FB_M_VERIFY_NEVER))
		error = KW_ERR_TRANSACTION_ABORTABLE;
	for (size_t i = 0; i < n; i++)
		errors[i] = error || has(txn, &partitions[i]) || fb_mutant(FB_M_VERIFY_ALWAYS)
			  ? error : KW_ERR_TRANSACTION_ABORTABLE;
	pthread_mutex_unlock(&transactions->lock);
}

/* ---- EndTxn ---- */

/* Is it the request that ended the transaction, sent once more? Then its epoch is the one before the bump. */
static bool is_retry(const struct fb_txn *txn, const struct fb_txn_producer *producer)
{
	if (!txn->bumped)
		return false;
	if (producer->producerId == txn->producerId)
		return producer->producerEpoch == txn->producerEpoch - 1;
	return producer->producerId == txn->lastProducerId && producer->producerEpoch == LAST_EPOCH &&
	       txn->producerEpoch == 0;
}

/* What there is to end, by the state. With bump an abort without any partition is as good as one with. */
static int16_t judge_end(const struct fb_txn *txn, bool commit, bool bump, bool retry, bool *done)
{
	enum fb_txn_state ended = commit ? FB_TXN_COMPLETE_COMMIT : FB_TXN_COMPLETE_ABORT;

	*done = false;
	if (txn->state == FB_TXN_ONGOING)
		return 0;
	if (fb_mutant(FB_M_END_NOTHING_TAKEN))
		return 0;
	if (retry || !bump) {
		*done = true;
		return txn->state == ended && !fb_mutant(FB_M_END_AGAIN_REFUSED) ? 0 : KW_ERR_INVALID_TXN_STATE;
	}
	return commit ? KW_ERR_INVALID_TXN_STATE : 0;
}

static void bump_epoch(struct fb_txn *txn)
{
	txn->lastProducerEpoch = txn->producerEpoch;
	txn->lastProducerId = txn->producerId;
	if (!fb_mutant(FB_M_END_NO_BUMP))
		txn->producerEpoch = next_epoch(txn->producerEpoch);
}

static int16_t end(struct fb_cluster *cluster, struct fb_txn *txn, struct fb_txn_producer *producer, bool commit,
		   bool bump)
{
	bool retry = txn && bump && is_retry(txn, producer), done;
	int16_t error = retry ? 0 : judge(txn, producer);

	if (!error)
		error = judge_end(txn, commit, bump, retry, &done);
	if (error)
		return error;
	if (!done) {
		if (txn->state != FB_TXN_ONGOING)
			txn->started_ms = fb_cluster_now(cluster);
		if (bump)
			bump_epoch(txn);
		error = complete(cluster, txn, commit, bump);
		if (bump && txn->producerEpoch == INT16_MAX) {
			txn->producerId = new_producer_id(cluster);
			txn->producerEpoch = 0;
		}
	}
	producer->producerId = txn->producerId;
	producer->producerEpoch = txn->producerEpoch;
	return error;
}

int16_t fb_txn_end(struct fb_cluster *cluster, struct fb_txn_producer *producer, bool commit, bool bump)
{
	struct fb_transactions *transactions = cluster->transactions;
	int16_t error;

	pthread_mutex_lock(&transactions->lock);
	error = end(cluster, find(transactions, producer->transactionalId), producer, commit, bump);
	pthread_mutex_unlock(&transactions->lock);
	return error;
}

void fb_txn_expire(struct fb_cluster *cluster)
{
	struct fb_transactions *transactions = cluster->transactions;
	int64_t now = fb_cluster_now(cluster);

	pthread_mutex_lock(&transactions->lock);
	for (size_t i = 0; i < transactions->n; i++) {
		struct fb_txn *txn = transactions->v[i];

		if (txn->state != FB_TXN_ONGOING || now - txn->started_ms <= txn->timeoutMs)
			continue;
		fence(cluster, txn);
	}
	pthread_mutex_unlock(&transactions->lock);
}

/* ---- scenarios ---- */

int fb_txn_set(struct fb_cluster *cluster, const struct fb_txn_producer *producer, int32_t timeoutMs)
{
	struct fb_transactions *transactions = cluster->transactions;
	struct fb_txn *txn;

	pthread_mutex_lock(&transactions->lock);
	txn = find(transactions, producer->transactionalId);
	if (!txn)
		txn = add(transactions, producer->transactionalId);
	if (txn) {
		txn->producerId = producer->producerId;
		txn->producerEpoch = producer->producerEpoch;
		txn->timeoutMs = timeoutMs;
	}
	pthread_mutex_unlock(&transactions->lock);
	return txn ? 0 : KT_ENOMEM;
}
