/* Transactions as compaction passes them: which batches are of an aborted one, and which markers have nothing left to
 * end.
 *
 * Source: CleanedTransactionMetadata of Apache Kafka 4.4.
 */
#ifndef KASSAY_FAKEBROKER_LOG_CLEANED_TXNS_H
#define KASSAY_FAKEBROKER_LOG_CLEANED_TXNS_H

#include "fakebroker/log/txns.h"

struct fb_cleaned_txn;

struct fb_cleaned_txns {
	struct fb_aborted *rows;        /* by first offset; those of `next` on were not met yet */
	size_t nrows, next;
	struct fb_cleaned_txn *v;       /* what is known of each producer, by id */
	size_t n, cap;
	struct fb_aborted *kept;        /* whose marker was met while batches of the transaction are left:
					   nrows at most */
	size_t nkept;
};

/* For batches from the offset `from` on, which are then to be shown in order. 0 or KT_ENOMEM. */
int fb_cleaned_txns_init(struct fb_cleaned_txns *cleaned, const struct fb_txns *txns, int64_t from);
void fb_cleaned_txns_fini(struct fb_cleaned_txns *cleaned);
/* A batch that is no control batch. 1 if it is of an aborted transaction, 0 if not, or KT_ENOMEM. */
int fb_cleaned_txns_data(struct fb_cleaned_txns *cleaned, const struct kw_batch *batch);
/* A control batch of that type (enum kw_control; -1: it is empty). 1 if nothing of its transaction was met, so that it
 * may go, 0 or KT_ENOMEM. */
int fb_cleaned_txns_marker(struct fb_cleaned_txns *cleaned, const struct kw_batch *batch, int type);
/* Drops of `txns` the rows of markers below `end` that were not kept: no batch is left that they would hide. */
void fb_cleaned_txns_apply(const struct fb_cleaned_txns *cleaned, struct fb_txns *txns, int64_t end);

#endif
