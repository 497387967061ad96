/* Stages E and F: is it one batch of magic 2, and can its producer id be read. */
#include "lib/wire/errors.h"
#include "lib/wire/next_batch.h"
#include "lib/wire/verdict_steps.h"

enum { ZSTD_SINCE = 7 };

/* What a record set is judged with. */
struct shape {
	int version;                 /* of the request */
	struct kw_arena *arena;
	struct kw_verdict *v;
	bool *whole;
};

static bool refuse(const struct shape *shape, enum kw_rule rule, const struct kw_batch *batch)
{
	const struct kw_rule_facts facts = {.batch = batch, .version = shape->version};
	char text[200];

	kw_rule_words(rule, false, &facts, text, sizeof text);
	shape->v->rule = (int)rule;
	shape->v->errorCode = (int16_t)kw_rule_code(rule);
	shape->v->reason = kw_strndup(shape->arena, text, strlen(text));
	return false;
}

/* A failure of the whole request is not about this batch, so the verdict then does not tell of it either. */
static bool refuse_whole(const struct shape *shape, enum kw_rule rule, const struct kw_batch *batch)
{
	*shape->whole = true;
	shape->v->records = 0;
	shape->v->codec = -1;
	return refuse(shape, rule, batch);
}

/* Of a batch that may be shorter than its header. */
static int attributes_of(const struct kw_batch *batch)
{
	return kw_rd16(batch->p + KW_B_ATTRIBUTES);
}

/* For those who watch what arrives; nothing is judged by it. */
static void describe(const struct kw_batch *batch, struct kw_verdict *v)
{
	if (batch->size < KW_B_RECORDS)
		return;
	v->records = batch->count > 0 ? batch->count : 0;
	v->codec = attributes_of(batch) & KW_A_CODEC;
}

static bool judge_first(const struct shape *shape, const struct kw_batch *batch)
{
	int codec = attributes_of(batch) & KW_A_CODEC;

	if (batch->p[KW_B_MAGIC] != 2)
		return refuse(shape, KW_R_OLD_MAGIC, batch);
	describe(batch, shape->v);
	if (shape->version >= ZSTD_SINCE)
		return true;
	if (!kw_codec_name(codec))
		return refuse_whole(shape, KW_R_EARLY_CODEC, batch);
	return codec != KW_ZSTD || refuse(shape, KW_R_EARLY_ZSTD, batch);
}

/* What follows the first batch: it may be anything that is not a batch, unless its first bytes are wrong for one. */
static bool judge_rest(const struct shape *shape, struct kw_slice *rest)
{
	struct kw_batch second;
	enum kw_rule rule;

	switch (kw_next_batch(rest, &second, &rule)) {
	case KW_NEXT_BATCH:
		return refuse(shape, KW_R_SECOND, &second);
	case KW_NEXT_NONE:
		return true;
	case KW_NEXT_BROKEN:
		break;
	}
	return rule == KW_R_SIZE_OVERFLOW ? refuse_whole(shape, rule, &second) : refuse(shape, rule, &second);
}

/* What stage F reads of the header: the producer id, and of a transactional producer epoch and sequence too. */
static bool judge_size(const struct shape *shape, const struct kw_batch *batch)
{
	size_t need = KW_B_PRODUCER_EPOCH;

	if (batch->size >= need && (int64_t)kw_rd64(batch->p + KW_B_PRODUCER_ID) >= 0 &&
	    attributes_of(batch) & KW_A_TRANSACTIONAL)
		need = KW_B_COUNT;
	return batch->size >= need || refuse_whole(shape, KW_R_NO_PRODUCER_ID, batch);
}

/* Up to version 2 there is no stage E; F goes over all batches, and what it cannot read fails the request. */
static bool judge_old(const struct shape *shape, struct kw_slice *rest)
{
	struct kw_batch batch;
	enum kw_next next;
	enum kw_rule rule;

	while ((next = kw_next_batch(rest, &batch, &rule)) == KW_NEXT_BATCH) {
		if (batch.p[KW_B_MAGIC] < 2)
			continue;
		describe(&batch, shape->v);
		if (!judge_size(shape, &batch))
			return false;
	}
	return next == KW_NEXT_NONE || refuse_whole(shape, rule, &batch);
}

bool kw_verdict_shape(int version, const struct kw_records *records, struct kw_arena *arena, struct kw_verdict *v,
		      bool *whole)
{
	struct shape shape = {version, arena, v, whole};
	struct kw_slice rest = {records->p, records->n > 0 ? (size_t)records->n : 0};
	struct kw_batch batch;
	enum kw_rule rule;

	if (records->n < 0)
		return refuse(&shape, KW_R_NULL_RECORDS, NULL);
	if (version <= KW_OLD_PRODUCE)
		return judge_old(&shape, &rest);
	switch (kw_next_batch(&rest, &batch, &rule)) {
	case KW_NEXT_BATCH:
		return judge_first(&shape, &batch) && judge_rest(&shape, &rest) && judge_size(&shape, &batch);
	case KW_NEXT_NONE:
		return refuse(&shape, KW_R_NOTHING, &batch);
	case KW_NEXT_BROKEN:
		break;
	}
	return rule == KW_R_SIZE_OVERFLOW ? refuse_whole(&shape, rule, &batch) : refuse(&shape, rule, &batch);
}

bool kw_verdict_one_producer(const struct kw_records *records, struct kw_first_producer *first, struct kw_verdict *v)
{
	struct kw_batch batch;

	if (records->n < 0 || kw_batch_parse(records->p, (size_t)records->n, &batch, NULL) < 0)
		return true;
	if (batch.magic != 2 || batch.producerId < 0 || !(batch.attributes & KW_A_TRANSACTIONAL))
		return true;
	if (!first->seen) {
		*first = (struct kw_first_producer){true, batch.producerId, batch.producerEpoch};
		return true;
	}
	if (first->producerId == batch.producerId && first->producerEpoch == batch.producerEpoch)
		return true;
	kw_verdict_init(v);
	v->errorCode = KW_ERR_INVALID_PRODUCER_ID_MAPPING;
	v->errorMessage = v->reason = "Transactional records contained more than one producer ID";
	return false;
}
