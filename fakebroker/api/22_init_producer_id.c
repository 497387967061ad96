/* InitProducerId (22) for idempotent producers. Transactions are not served: there is no coordinator for them. */
#include "fakebroker/request.h"
#include "lib/wire/errors.h"

static int16_t judge(const struct fb_request *req)
{
	const struct kw_InitProducerIdRequest *body = req->body;

	if (req->forced)
		return req->forced;
	if (body->transactionalId.n == 0)
		return KW_ERR_INVALID_REQUEST;
	if ((body->producerId < 0) != (body->producerEpoch < 0))
		return KW_ERR_INVALID_REQUEST;
	return body->transactionalId.n > 0 ? KW_ERR_COORDINATOR_NOT_AVAILABLE : 0;
}

enum fb_outcome fb_init_producer_id(struct fb_request *req)
{
	struct kw_InitProducerIdResponse *response = req->response;

	response->errorCode = judge(req);
	response->producerId = -1;
	response->producerEpoch = -1;
	if (response->errorCode)
		return FB_REPLY;
	response->producerId = atomic_fetch_add(&req->cluster->next_producer_id, 1);
	response->producerEpoch = 0;
	return FB_REPLY;
}
