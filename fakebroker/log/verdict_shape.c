/* Stages E and F: is it one batch of magic 2, and can its producer id be read. */
#include "fakebroker/log/next_batch.h"
#include "fakebroker/log/verdict.h"
#include "fakebroker/mutants.h"
#include "lib/wire/errors.h"

enum { ZSTD_SINCE = 7 };

/* What a record set is judged with. */
struct shape {
	int version;                 /* of the request */
	struct kw_arena *arena;
	struct fb_verdict *v;
	bool *whole;
};

static bool refuse(const struct shape *shape, int16_t code, const char *reason)
{
	shape->v->errorCode = code;
	shape->v->reason = reason;
	return false;
}

/* ProduceRequest.validateRecords begins all its messages alike. */
static bool refuse_version(const struct shape *shape, int16_t code, const char *but)
{
	const char *reason = kw_sprintf(shape->arena, "Produce requests with version %d %s", shape->version, but);

	return refuse(shape, code, reason);
}

/* A failure of the whole request is not about this batch, so the verdict then does not tell of it either. */
static bool refuse_whole(const struct shape *shape, const char *reason)
{
	*shape->whole = true;
	shape->v->records = 0;
	shape->v->codec = -1;
	return refuse(shape, KW_ERR_UNKNOWN_SERVER_ERROR, reason);
}

static int codec_of(const struct kw_slice *batch)
{
	return kw_rd16(batch->p + KW_B_ATTRIBUTES) & KW_A_CODEC;
}

/* For those who watch what arrives; nothing is judged by it. */
static void describe(const struct kw_slice *batch, struct fb_verdict *v)
{
	int32_t count;

	if (batch->n < KW_B_RECORDS)
		return;
	count = (int32_t)kw_rd32(batch->p + KW_B_COUNT);
	v->records = count > 0 ? count : 0;
	v->codec = codec_of(batch);
}

static bool judge_first(const struct shape *shape, const struct kw_slice *batch)
{
	if (batch->p[KW_B_MAGIC] != 2)
		return refuse_version(shape, fb_mutant(FB_M_LEGACY_CODE) ? KW_ERR_CORRUPT_MESSAGE : KW_ERR_INVALID_RECORD,
				      "are only allowed to contain record batches with magic version 2");
	describe(batch, shape->v);
	if (shape->version >= ZSTD_SINCE + fb_mutant(FB_M_ZSTD_LATER) || fb_mutant(FB_M_ZSTD_ALWAYS))
		return true;
	if (!kw_codec_name(codec_of(batch)))
		return refuse_whole(shape, kw_sprintf(shape->arena, "Unknown compression type id: %d",
						      codec_of(batch)));
	if (codec_of(batch) == KW_ZSTD)
		return refuse_version(shape, KW_ERR_UNSUPPORTED_COMPRESSION_TYPE,
				      "are not allowed to use ZStandard compression");
	return true;
}

/* What follows the first batch: it may be anything that is not a batch, unless its first bytes are wrong for one. */
static bool judge_rest(const struct shape *shape, struct kw_slice *rest)
{
	const char *message = NULL;
	struct kw_slice second;

	if (fb_mutant(FB_M_REST_DROPPED))
		return true;
	if (fb_mutant(FB_M_REST_REFUSED) && rest->n > 0)
		return refuse(shape, KW_ERR_CORRUPT_MESSAGE, "bytes follow the batch");
	switch (fb_next_batch(rest, shape->arena, &second, &message)) {
	case FB_NEXT_BATCH:
		return refuse_version(shape, KW_ERR_INVALID_RECORD,
				      "are only allowed to contain exactly one record batch per partition");
	case FB_NEXT_NONE:
		return true;
	case FB_NEXT_CORRUPT:
		return refuse(shape, KW_ERR_CORRUPT_MESSAGE, message);
	case FB_NEXT_OVERFLOW:
		break;
	}
	return refuse_whole(shape, message);
}

/* What stage F reads of the header: the producer id, and of a transactional producer epoch and sequence too. */
static bool judge_size(const struct shape *shape, const struct kw_slice *batch)
{
	size_t need = KW_B_PRODUCER_EPOCH;

	if (batch->n >= need && (int64_t)kw_rd64(batch->p + KW_B_PRODUCER_ID) >= 0 &&
	    kw_rd16(batch->p + KW_B_ATTRIBUTES) & KW_A_TRANSACTIONAL)
		need = KW_B_COUNT;
	return batch->n >= need || refuse_whole(shape, "the batch ends before its producer id, epoch and sequence");
}

bool fb_verdict_shape(int version, const struct kw_records *records, struct kw_arena *arena, struct fb_verdict *v,
		      bool *whole)
{
	struct shape shape = {version, arena, v, whole};
	struct kw_slice rest = {records->p, records->n > 0 ? (size_t)records->n : 0};
	const char *message = NULL;
	struct kw_slice batch;

	if (records->n < 0)
		return refuse(&shape, KW_ERR_INVALID_RECORD, "records are null");
	switch (fb_next_batch(&rest, arena, &batch, &message)) {
	case FB_NEXT_BATCH:
		break;
	case FB_NEXT_NONE:
		return refuse_version(&shape, fb_mutant(FB_M_NO_BATCH_CODE) ? KW_ERR_CORRUPT_MESSAGE : KW_ERR_INVALID_RECORD,
				      "must have at least one record batch per partition");
	case FB_NEXT_CORRUPT:
		return refuse(&shape, KW_ERR_CORRUPT_MESSAGE, message);
	case FB_NEXT_OVERFLOW:
		return refuse_whole(&shape, message);
	}
	return judge_first(&shape, &batch) && judge_rest(&shape, &rest) && judge_size(&shape, &batch);
}

bool fb_verdict_one_producer(const struct kw_records *records, struct fb_first_producer *first, struct fb_verdict *v)
{
	struct kw_batch batch;

	if (records->n < 0 || kw_batch_parse(records->p, (size_t)records->n, &batch, NULL) < 0)
		return true;
	if (batch.magic != 2 || batch.producerId < 0 || !(batch.attributes & KW_A_TRANSACTIONAL))
		return true;
	if (!first->seen) {
		*first = (struct fb_first_producer){true, batch.producerId, batch.producerEpoch};
		return true;
	}
	if (first->producerId == batch.producerId && first->producerEpoch == batch.producerEpoch)
		return true;
	fb_verdict_init(v);
	v->errorCode = KW_ERR_INVALID_PRODUCER_ID_MAPPING;
	v->errorMessage = v->reason = "Transactional records contained more than one producer ID";
	return false;
}
