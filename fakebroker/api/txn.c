#include "fakebroker/api/txn.h"

#include "lib/wire/errors.h"

int16_t fb_txn_judge(const struct fb_request *req, struct kw_str transactionalId)
{
	if (transactionalId.n <= 0)
		return KW_ERR_INVALID_REQUEST;
	return fb_txn_coordinator(req->cluster, transactionalId) == req->node ? 0 : KW_ERR_NOT_COORDINATOR;
}

int16_t fb_txn_error(int16_t error, bool knows_fenced)
{
	return error == KW_ERR_PRODUCER_FENCED && !knows_fenced ? KW_ERR_INVALID_PRODUCER_EPOCH : error;
}
