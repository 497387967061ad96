/* EndTxn (26): commits or aborts. Version 5 also raises the producer's epoch (KIP-890). */
#include "fakebroker/api/txn.h"

/* The first version that knows PRODUCER_FENCED, and the first that raises the epoch. */
enum { KNOWS_FENCED = 2, BUMPS = 5 };

enum fb_outcome fb_end_txn(struct fb_request *req)
{
	const struct kw_EndTxnRequest *body = req->body;
	struct fb_txn_producer producer = {body->transactionalId, body->producerId, body->producerEpoch};
	struct kw_EndTxnResponse *response = req->response;
	int16_t error;

	response->errorCode = req->forced;
	if (req->forced)
		return FB_REPLY;
	pthread_rwlock_rdlock(&req->cluster->lock);
	error = fb_txn_judge(req, body->transactionalId);
	if (!error)
		error = fb_txn_end(req->cluster, &producer, body->committed, req->version >= BUMPS);
	pthread_rwlock_unlock(&req->cluster->lock);
	response->errorCode = fb_txn_error(error, req->version >= KNOWS_FENCED);
	if (!error && req->version >= BUMPS) {
		response->producerId = producer.producerId;
		response->producerEpoch = producer.producerEpoch;
	}
	return FB_REPLY;
}
