/* Produce in transactions: is the partition part of the one that the batch says it is of? */
#include "fakebroker/api/produce.h"
#include "fakebroker/cluster/transactions.h"
#include "lib/wire/errors.h"

/* The first version that adds partitions to the transaction by itself (KIP-890), and the first that knows an error for
 * "abort, and go on". */
enum { ADDS_PARTITIONS = 12, KNOWS_ABORTABLE = 11 };

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

/* A partition in which the producer's transaction is open already is not asked about, as in Kafka. */
static void check_transaction(struct fb_produce_items *all, struct fb_produce_item *item)
{
	struct fb_request *req = all->req;
	struct fb_partition *partition = item->partition;
	struct fb_txn_producer producer = {.transactionalId = all->body->transactionalId};
	struct fb_txn_partition at = {item->ref, partition->index};
	struct kw_batch batch;
	int16_t error;
	bool open;

	if (!in_transaction(item, &batch) || partition->leader != req->node->id)
		return;
	producer.producerId = batch.producerId;
	producer.producerEpoch = batch.producerEpoch;
	pthread_mutex_lock(&partition->lock);
	open = fb_producers_in_txn(&partition->producers, batch.producerId, batch.producerEpoch);
	item->markers = fb_producers_markers(&partition->producers, batch.producerId);
	pthread_mutex_unlock(&partition->lock);
	item->verified = true;
	if (open)
		return;
	if (!fb_txn_coordinator(req->cluster, producer.transactionalId))
		error = KW_ERR_COORDINATOR_NOT_AVAILABLE;
	else if (req->version >= ADDS_PARTITIONS)
		error = fb_txn_add(req->cluster, &producer, &at, 1);
	else
		error = fb_txn_verify(req->cluster, &producer, &at);
	if (error)
		refuse_transaction(all, item, error);
}

static bool verifies(const struct fb_request *req)
{
	return fb_configs_bool(req->cluster->configs, FB_BROKER, KW_NULL_STR, req->node->id,
			       "transaction.partition.verification.enable", true);
}

void fb_produce_check_transactions(struct fb_produce_items *all)
{
	struct fb_cluster *cluster = all->req->cluster;

	pthread_rwlock_rdlock(&cluster->lock);
	for (int32_t i = 0; verifies(all->req) && i < all->n; i++)
		if (fb_item_is_judged(&all->v[i]))
			check_transaction(all, &all->v[i]);
	pthread_rwlock_unlock(&cluster->lock);
}
