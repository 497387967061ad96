/* Stages B and C: what one batch does to the whole request before any partition is looked at. */
#include "fakebroker/log/next_batch.h"
#include "fakebroker/log/verdict.h"
#include "fakebroker/mutants.h"
#include "lib/wire/errors.h"

void fb_verdict_init(struct fb_verdict *v)
{
	*v = (struct fb_verdict){.baseOffset = -1, .logAppendTimeMs = -1, .logStartOffset = -1, .codec = -1};
}

enum peek { PLAIN, TRANSACTIONAL, BROKEN };

static bool is_transactional(const struct kw_slice *batch)
{
	return batch->p[KW_B_MAGIC] == 2 && kw_rd16(batch->p + KW_B_ATTRIBUTES) & KW_A_TRANSACTIONAL;
}

static enum peek peek(const struct kw_records *records, struct kw_arena *arena, struct fb_verdict *v)
{
	struct kw_slice rest = {records->p, records->n > 0 ? (size_t)records->n : 0};
	const char *message = NULL;
	struct kw_slice batch;

	switch (fb_next_batch(&rest, arena, &batch, &message)) {
	case FB_NEXT_BATCH:
		return is_transactional(&batch) ? TRANSACTIONAL : PLAIN;
	case FB_NEXT_NONE:
		return PLAIN;
	case FB_NEXT_CORRUPT:
		v->errorCode = KW_ERR_CORRUPT_MESSAGE;
		v->errorMessage = fb_mutant(FB_M_FRAMING_WITHOUT_MESSAGE) ? NULL : message;
		break;
	case FB_NEXT_OVERFLOW:
		v->errorCode = KW_ERR_UNKNOWN_SERVER_ERROR;
		break;
	}
	v->reason = message;
	return BROKEN;
}

bool fb_verdict_request(const struct kw_ProduceRequest *request, struct kw_arena *arena, struct fb_verdict *v)
{
	enum peek found = PLAIN;

	fb_verdict_init(v);
	/* Kafka stops looking at the first transactional batch, so that a broken one behind it is found later. */
	for (int32_t t = 0; found == PLAIN && t < request->topicData.n; t++) {
		const struct kw_ProduceRequest_TopicProduceData *topic = &request->topicData.v[t];

		for (int32_t p = 0; found == PLAIN && p < topic->partitionData.n; p++)
			found = peek(&topic->partitionData.v[p].records, arena, v);
	}
	if (fb_mutant(FB_M_FRAMING_APART) && found == BROKEN) {
		fb_verdict_init(v);
		return true;
	}
	if (found == TRANSACTIONAL && request->transactionalId.n < 0 && !fb_mutant(FB_M_TRANSACTIONAL_ID_UNCHECKED)) {
		v->errorCode = KW_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED;
		v->reason = "Transactional Id authorization failed.";
		return false;
	}
	return found != BROKEN;
}
