/* InitProducerId (22): a producer's id and epoch; those of a transactional producer from its coordinator. */
#include "fakebroker/api/txn.h"
#include "fakebroker/mutants.h"
#include "lib/wire/errors.h"

/* The first version that knows PRODUCER_FENCED; an id or epoch that is not named. */
enum { KNOWS_FENCED = 4, NONE = -1 };

static int16_t init(struct fb_request *req, struct fb_txn_producer *producer)
{
	const struct kw_InitProducerIdRequest *body = req->body;
	bool half = (body->producerId == NONE) != (body->producerEpoch == NONE);
	bool empty_as_none = fb_mutant(FB_M_INIT_EMPTY_ID_TAKEN);
	int16_t error;

	if (req->forced)
		return req->forced;
	if (half && fb_mutant(FB_M_INIT_PAIR_UNCHECKED))
		return 0;
	if ((body->transactionalId.n == 0 && !empty_as_none) || half)
		return KW_ERR_INVALID_REQUEST;
	if (body->transactionalId.n < 0 || (body->transactionalId.n == 0 && empty_as_none)) {
		producer->producerId = atomic_fetch_add(&req->cluster->next_producer_id, 1);
		producer->producerEpoch = 0;
		return 0;
	}
	pthread_rwlock_rdlock(&req->cluster->lock);
	error = fb_txn_judge(req, body->transactionalId);
	if (!error)
		error = fb_txn_init_producer(req->cluster, req->node->id, producer, body->transactionTimeoutMs);
	pthread_rwlock_unlock(&req->cluster->lock);
	return fb_txn_error(error, req->version >= KNOWS_FENCED);
}

enum fb_outcome fb_init_producer_id(struct fb_request *req)
{
	const struct kw_InitProducerIdRequest *body = req->body;
	struct fb_txn_producer producer = {body->transactionalId, body->producerId, body->producerEpoch};
	struct kw_InitProducerIdResponse *response = req->response;

	response->errorCode = init(req, &producer);
	response->producerId = response->errorCode ? -1 : producer.producerId;
	response->producerEpoch = response->errorCode ? -1 : producer.producerEpoch;
	return FB_REPLY;
}
