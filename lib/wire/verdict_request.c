/* Stages B and C: what one batch does to the whole request before any partition is looked at. */
#include "lib/wire/errors.h"
#include "lib/wire/next_batch.h"
#include "lib/wire/verdict.h"

void kw_verdict_init(struct kw_verdict *v)
{
	*v = (struct kw_verdict){.baseOffset = -1, .logAppendTimeMs = -1, .logStartOffset = -1, .codec = -1,
				 .rule = -1};
}

enum peek { PLAIN, TRANSACTIONAL, BROKEN };

static bool is_transactional(const struct kw_batch *batch)
{
	return batch->p[KW_B_MAGIC] == 2 && kw_rd16(batch->p + KW_B_ATTRIBUTES) & KW_A_TRANSACTIONAL;
}

static enum peek peek(const struct kw_records *records, struct kw_arena *arena, struct kw_verdict *v)
{
	struct kw_slice rest = {records->p, records->n > 0 ? (size_t)records->n : 0};
	struct kw_batch batch;
	const struct kw_rule_facts facts = {.batch = &batch};
	enum kw_rule rule;
	char text[200];

	switch (kw_next_batch(&rest, &batch, &rule)) {
	case KW_NEXT_BATCH:
		return is_transactional(&batch) ? TRANSACTIONAL : PLAIN;
	case KW_NEXT_NONE:
		return PLAIN;
	case KW_NEXT_BROKEN:
		break;
	}
	kw_rule_words(rule, false, &facts, text, sizeof text);
	v->rule = (int)rule;
	v->errorCode = (int16_t)kw_rule_code(rule);
	v->reason = kw_strndup(arena, text, strlen(text));
	/* That of an exception which Kafka did not foresee is not shown. */
	v->errorMessage = v->errorCode == KW_ERR_UNKNOWN_SERVER_ERROR ? NULL : v->reason;
	return BROKEN;
}

bool kw_verdict_request(const struct kw_ProduceRequest *request, struct kw_arena *arena, struct kw_verdict *v)
{
	enum peek found = PLAIN;

	kw_verdict_init(v);
	/* Kafka stops looking at the first transactional batch, so that a broken one behind it is found later. */
	for (int32_t t = 0; found == PLAIN && t < request->topicData.n; t++) {
		const struct kw_ProduceRequest_TopicProduceData *topic = &request->topicData.v[t];

		for (int32_t p = 0; found == PLAIN && p < topic->partitionData.n; p++)
			found = peek(&topic->partitionData.v[p].records, arena, v);
	}
	if (found == TRANSACTIONAL && request->transactionalId.n < 0) {
		v->errorCode = KW_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED;
		v->reason = "Transactional Id authorization failed.";
		return false;
	}
	return found != BROKEN;
}
