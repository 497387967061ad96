#include "fakebroker/api/txn.h"

#include "fakebroker/mutants.h"
#include "lib/wire/errors.h"

int16_t fb_txn_judge(const struct fb_request *req, struct kw_str transactionalId)
{
	if (transactionalId.n <= 0 && !fb_mutant(FB_M_EMPTY_ID_TAKEN))
		return KW_ERR_INVALID_REQUEST;
	return fb_txn_coordinator(req->cluster, transactionalId) == req->node ? 0 : KW_ERR_NOT_COORDINATOR;
}

int16_t fb_txn_error(int16_t error, bool knows_fenced)
{
	if (fb_mutant(FB_M_FENCED_CODE))
		knows_fenced = false;
	return error == KW_ERR_PRODUCER_FENCED && !knows_fenced ? KW_ERR_INVALID_PRODUCER_EPOCH : error;
}
