/* The transaction coordinator: what Kafka keeps of each transactional id in __transaction_state.
 *
 * Markers are written at once, as all partitions are in this process: the states PrepareCommit and PrepareAbort, and
 * with them CONCURRENT_TRANSACTIONS after the end of a transaction, never show. Everything takes the coordinator's own
 * lock, which comes after the cluster's and before a partition's.
 *
 * Source: Kafka 4.4.0's TransactionCoordinator, TransactionMetadata, TransactionStateManager; KIP-98, KIP-360, KIP-890.
 */
#ifndef KASSAY_FAKEBROKER_CLUSTER_TRANSACTIONS_H
#define KASSAY_FAKEBROKER_CLUSTER_TRANSACTIONS_H

#include "fakebroker/cluster/cluster.h"

/* Kafka's TransactionState: X(symbol, name). */
#define FB_TXN_STATES(X)                                 \
	X(FB_TXN_EMPTY, "Empty")                         \
	X(FB_TXN_ONGOING, "Ongoing")                     \
	X(FB_TXN_PREPARE_COMMIT, "PrepareCommit")        \
	X(FB_TXN_PREPARE_ABORT, "PrepareAbort")          \
	X(FB_TXN_COMPLETE_COMMIT, "CompleteCommit")      \
	X(FB_TXN_COMPLETE_ABORT, "CompleteAbort")        \
	X(FB_TXN_DEAD, "Dead")                           \
	X(FB_TXN_PREPARE_EPOCH_FENCE, "PrepareEpochFence")

enum fb_txn_state {
#define KT_X(sym, name) sym,
	FB_TXN_STATES(KT_X)
#undef KT_X
	FB_TXN_NSTATES
};

const char *fb_txn_state_name(enum fb_txn_state state);

struct fb_txn_partition {
	struct fb_topic *topic;          /* a reference, where the coordinator keeps it */
	int32_t index;
};

struct fb_txn {
	struct kw_str id;                /* its own; any bytes, NUL included */
	int64_t producerId, lastProducerId;
	int16_t producerEpoch, lastProducerEpoch;
	int32_t timeoutMs;
	enum fb_txn_state state;
	int64_t started_ms;              /* of the last transaction of the producer; -1 before the first */
	bool bumped;                     /* the last one was ended as transaction.version 2 has it */
	struct fb_txn_partition *partitions; /* in an order of their own, none twice */
	size_t n, cap;
};

struct fb_transactions {
	pthread_mutex_t lock;
	struct fb_txn **v;               /* by id */
	size_t n, cap;
};

/* NULL without memory. */
struct fb_transactions *fb_transactions_new(void);
void fb_transactions_free(struct fb_transactions *transactions);

/* The broker that coordinates the id, once __transaction_state is there; NULL before. Under the cluster's lock. */
const struct fb_node *fb_txn_coordinator(struct fb_cluster *cluster, struct kw_str id);
/* Makes __transaction_state unless it is there, as Kafka does when a broker is asked for the first coordinator; see
 * on_demand.h. Under the cluster's lock, for writing. */
void fb_txn_topic(struct fb_cluster *cluster, const struct fb_node *node);

/* A producer as it names itself. */
struct fb_txn_producer {
	struct kw_str transactionalId;
	int64_t producerId;              /* -1: none */
	int16_t producerEpoch;
};

/* All of these are under the cluster's lock and return 0 or Kafka's error code as of its newest version of the request
 * (PRODUCER_FENCED). */

/* InitProducerId at the node: *producer gets id and epoch to go on with. Beyond 100,000 transactional ids:
 * UNKNOWN_SERVER_ERROR. An ongoing transaction is aborted, and the producer has to ask
 * once more: CONCURRENT_TRANSACTIONS. */
int16_t fb_txn_init_producer(struct fb_cluster *cluster, int32_t node, struct fb_txn_producer *producer,
			     int32_t timeoutMs);
/* AddPartitionsToTxn: begins a transaction unless one is ongoing, also with no partition at all. Puts the partitions
 * into an order of its own; some may be there twice. */
int16_t fb_txn_add(struct fb_cluster *cluster, const struct fb_txn_producer *producer,
		   struct fb_txn_partition *partitions, size_t n);
/* Are the partitions part of the producer's transaction? Sets the error of each: TRANSACTION_ABORTABLE if it is not. */
void fb_txn_verify(struct fb_cluster *cluster, const struct fb_txn_producer *producer,
		   const struct fb_txn_partition *partitions, size_t n, int16_t *errors);
/* EndTxn. bump: transaction.version 2 (EndTxn 5): *producer gets the epoch, or once epochs are exhausted the id, to go
 * on with. What a partition said to its marker, if it took none: the transaction has ended all the same. */
int16_t fb_txn_end(struct fb_cluster *cluster, struct fb_txn_producer *producer, bool commit, bool bump);
/* Aborts what has been ongoing for longer than its time-out. */
void fb_txn_expire(struct fb_cluster *cluster);
/* Sets a transactional id's producer, for scenarios. 0 or KT_ENOMEM. */
int fb_txn_set(struct fb_cluster *cluster, const struct fb_txn_producer *producer, int32_t timeoutMs);

/* For those who list them, with transactions->lock held. NULL if the id is not known. */
const struct fb_txn *fb_txn_find(const struct fb_transactions *transactions, struct kw_str id);

#endif
