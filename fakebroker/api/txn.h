/* What the APIs of transactions share. */
#ifndef KASSAY_FAKEBROKER_API_TXN_H
#define KASSAY_FAKEBROKER_API_TXN_H

#include "fakebroker/cluster/transactions.h"
#include "fakebroker/request.h"

/* Can this node answer for the transactional id? 0, INVALID_REQUEST for an empty one, NOT_COORDINATOR. Under the
 * cluster's lock. */
int16_t fb_txn_judge(const struct fb_request *req, struct kw_str transactionalId);
/* Versions from before PRODUCER_FENCED are told INVALID_PRODUCER_EPOCH. */
int16_t fb_txn_error(int16_t error, bool knows_fenced);

#endif
