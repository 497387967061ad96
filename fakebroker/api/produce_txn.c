/* Produce in transactions: is the partition part of the one that the batch says it is of? */
#include "fakebroker/api/produce.h"
#include "fakebroker/cluster/transactions.h"
#include "fakebroker/mutants.h"
#include "lib/wire/errors.h"

/* The first version that adds partitions to the transaction by itself (KIP-890), and the first that knows an error for
 * "abort, and go on". */
enum { ADDS_PARTITIONS = 12, KNOWS_ABORTABLE = 11 };

/* What the coordinator is asked, for all of the request's partitions at once. */
struct question {
	struct fb_txn_producer producer;
	bool adds;
	struct fb_txn_partition *partitions;
	struct fb_produce_item **items;
	int16_t *errors;                     /* of each, where they differ */
	size_t n;
};

/* Why a batch is no part of a transaction, as AddPartitionsToTxnManager and ReplicaManager say it to the version. */
static void refuse_transaction(const struct fb_produce_items *all, struct fb_produce_item *item, int16_t error)
{
	switch (error) {
	case KW_ERR_PRODUCER_FENCED:
		fb_item_refuse(item, KW_ERR_INVALID_PRODUCER_EPOCH, NULL);
		break;
	case KW_ERR_COORDINATOR_NOT_AVAILABLE:
		fb_item_refuse(item, KW_ERR_NOT_ENOUGH_REPLICAS,
			       "Unable to verify the partition has been added to the transaction. "
			       "Underlying error: COORDINATOR_NOT_AVAILABLE");
		break;
	case KW_ERR_TRANSACTION_ABORTABLE:
		if (all->req->version < KNOWS_ABORTABLE)
			fb_item_refuse(item, KW_ERR_INVALID_TXN_STATE, "Partition was not added to the transaction");
		else
			fb_item_refuse(item, error, NULL);
		break;
	default:
		fb_item_refuse(item, error, NULL);
	}
}

/* The first batch if it is one of a transaction that has a producer. */
static bool in_transaction(const struct fb_produce_item *item, struct kw_batch *batch)
{
	const struct kw_records *records = &item->data->records;

	return records->n > 0 && kw_batch_parse(records->p, (size_t)records->n, batch, NULL) == 0 &&
	       batch->magic == 2 && batch->attributes & KW_A_TRANSACTIONAL && fb_has_producer_id(batch);
}

/* Adds the partition to the question, unless the leader knows without it. */
static void begin(struct fb_produce_items *all, struct fb_produce_item *item, const struct kw_batch *batch,
		  struct question *question)
{
	struct fb_partition *partition = item->partition;
	int16_t error;

	if (partition->leader != all->req->node->id) {
		fb_item_refuse(item, KW_ERR_NOT_LEADER_OR_FOLLOWER, NULL);
		return;
	}
	pthread_mutex_lock(&partition->lock);
	error = fb_producers_verify(&partition->producers, batch, question->adds, fb_cluster_now(all->req->cluster),
				    &item->guard);
	pthread_mutex_unlock(&partition->lock);
	if (error) {
		fb_item_refuse(item, error, NULL);
		return;
	}
	if (item->guard == FB_NO_GUARD)
		return;
	question->producer.producerId = batch->producerId;
	question->producer.producerEpoch = batch->producerEpoch;
	question->items[question->n] = item;
	question->partitions[question->n++] = (struct fb_txn_partition){item->ref, partition->index};
}

/* Nothing happens if there is nothing to ask. */
static void ask(struct fb_produce_items *all, struct question *question)
{
	struct fb_cluster *cluster = all->req->cluster;
	int16_t error = 0;

	if (question->n == 0)
		return;
	if (question->producer.transactionalId.n == 0 && !fb_mutant(FB_M_EMPTY_ID_TAKEN))
		error = KW_ERR_INVALID_REQUEST;
	else if (!fb_txn_coordinator(cluster, question->producer.transactionalId))
		error = KW_ERR_COORDINATOR_NOT_AVAILABLE;
	else if (question->adds)
		error = fb_txn_add(cluster, &question->producer, question->partitions, question->n);
	else
		fb_txn_verify(cluster, &question->producer, question->partitions, question->n, question->errors);
	for (size_t i = 0; i < question->n; i++)
		if (error || question->errors[i])
			refuse_transaction(all, question->items[i], error ? error : question->errors[i]);
	question->n = 0;
}

/* Versions that add partitions do so whether verification is on or not. */
static void check_all(struct fb_produce_items *all)
{
	struct kw_arena *arena = &all->req->arena;
	struct question question = {
		.producer = {.transactionalId = all->body->transactionalId},
		.adds = all->req->version >= ADDS_PARTITIONS,
		.partitions = kw_alloc(arena, (size_t)all->n * sizeof *question.partitions),
		.items = kw_alloc(arena, (size_t)all->n * sizeof *question.items),
		.errors = kw_alloc(arena, (size_t)all->n * sizeof *question.errors),
	};
	bool memory = question.partitions && question.items && question.errors;

	for (int32_t i = 0; i < all->n; i++) {
		struct fb_produce_item *item = &all->v[i];
		struct kw_batch batch;

		if (!fb_item_is_judged(item) || !in_transaction(item, &batch))
			continue;
		if (memory)
			begin(all, item, &batch, &question);
		else
			fb_item_refuse(item, KW_ERR_UNKNOWN_SERVER_ERROR, NULL);
		if (fb_mutant(FB_M_TWO_PRODUCERS_TAKEN))
			ask(all, &question);
	}
	ask(all, &question);
}

void fb_produce_check_transactions(struct fb_produce_items *all)
{
	struct fb_request *req = all->req;

	pthread_rwlock_rdlock(&req->cluster->lock);
	all->guarded = fb_configs_bool(req->cluster->configs, FB_BROKER, KW_NULL_STR, req->node->id,
				       "transaction.partition.verification.enable", true);
	if (all->guarded || (req->version >= ADDS_PARTITIONS && !fb_mutant(FB_M_UNVERIFIED_NOT_ADDED)))
		check_all(all);
	pthread_rwlock_unlock(&req->cluster->lock);
}
