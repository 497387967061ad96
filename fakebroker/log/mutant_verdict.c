#include "fakebroker/log/mutant_verdict.h"

#include "fakebroker/log/mutant_checks.h"
#include "fakebroker/mutants.h"
#include "lib/wire/errors.h"
#include "lib/wire/next_batch.h"
#include "lib/wire/record_time.h"

enum { ZSTD_SINCE = 7, SHOWN = 3, NO_TIMESTAMP = -1 };

static bool has(uint64_t rules, int rule)
{
	return rule >= 0 && rules >> rule & 1;
}

#define RULE(rule) (UINT64_C(1) << (rule))

/* ---- the record set ---- */

/* Is what cannot be a batch taken for the end of the set? */
static bool is_end(enum kw_rule rule, const struct kw_batch *batch)
{
	return (rule == KW_R_RECORD_SIZE && fb_mutant(FB_M_SHORT_LENGTH_ENDS)) ||
	       (rule == KW_R_MAGIC && batch->magic > 2 && fb_mutant(FB_M_MAGIC_ENDS)) ||
	       (rule == KW_R_SIZE_OVERFLOW && fb_mutant(FB_M_LENGTH_OVERFLOW_ENDS));
}

static void read_as_old_magic(struct kw_records *records, struct kw_arena *arena)
{
	uint8_t *p = kw_alloc(arena, (size_t)records->n);

	if (!p)
		return;
	memcpy(p, records->p, (size_t)records->n);
	p[KW_B_MAGIC] = 0;
	records->p = p;
}

static void bend_set(struct kw_records *records, struct kw_arena *arena)
{
	struct kw_slice rest = {records->p, records->n > 0 ? (size_t)records->n : 0};
	struct kw_batch batch;
	enum kw_rule rule;
	enum kw_next next;

	while ((next = kw_next_batch(&rest, &batch, &rule)) == KW_NEXT_BATCH && !fb_mutant(FB_M_REST_DROPPED))
		continue;
	if (next == KW_NEXT_BATCH || (next == KW_NEXT_BROKEN && is_end(rule, &batch)))
		records->n -= (int32_t)rest.n;
	else if (next == KW_NEXT_BROKEN && rule == KW_R_MAGIC && batch.magic < 0 && batch.p == records->p &&
		 fb_mutant(FB_M_MAGIC_SIGN_UNCHECKED))
		read_as_old_magic(records, arena);
}

void fb_mutant_sets(const struct kw_ProduceRequest *request, struct kw_arena *arena)
{
	for (int32_t t = 0; t < request->topicData.n; t++)
		for (int32_t p = 0; p < request->topicData.v[t].partitionData.n; p++)
			bend_set(&request->topicData.v[t].partitionData.v[p].records, arena);
}

/* ---- the answer ---- */

#define OFFSETS (RULE(KW_R_OFFSET_RANGE) | RULE(KW_R_COUNT) | RULE(KW_R_COUNT_OF_RANGE))

static void bend_code(struct kw_verdict *v)
{
	static const struct {
		enum fb_mutant mutant;
		uint64_t rules;
		int16_t error;
	} rows[] = {
		{FB_M_LEGACY_CODE, RULE(KW_R_OLD_MAGIC), KW_ERR_CORRUPT_MESSAGE},
		{FB_M_NO_BATCH_CODE, RULE(KW_R_NOTHING), KW_ERR_CORRUPT_MESSAGE},
		{FB_M_SMALL_BATCH_CODE, RULE(KW_R_NO_HEADER), KW_ERR_INVALID_RECORD},
		{FB_M_UNKNOWN_CODEC_CORRUPT, RULE(KW_R_CODEC), KW_ERR_CORRUPT_MESSAGE},
		{FB_M_COUNT_CODE, OFFSETS, KW_ERR_CORRUPT_MESSAGE},
		{FB_M_TIME_CODE, RULE(KW_R_TIMESTAMPS), KW_ERR_INVALID_RECORD},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (fb_mutant(rows[i].mutant) && has(rows[i].rules, v->rule))
			v->errorCode = rows[i].error;
	if (fb_mutant(FB_M_TIME_NEVER_WINS) && v->rule == KW_R_TIMESTAMPS && v->nrecordErrors > 1)
		v->errorCode = KW_ERR_INVALID_RECORD;
}

static const char *message_about_all(const struct kw_verdict *v, struct kw_arena *arena)
{
	const char *list = "";

	for (int32_t i = 0; list && i < v->nrecordErrors; i++)
		list = kw_sprintf(arena, "%s%sRecordError(batchIndex=%d, message='%s')", list, i ? ", " : "",
				  v->recordErrors[i].batchIndex, v->recordErrors[i].batchIndexErrorMessage.s);
	return list ? kw_sprintf(arena, "One or more records have been rejected due to %d record errors in total, and "
				 "only showing the first three errors at most: [%s]", v->nrecordErrors, list) : NULL;
}

/* at: its place in the list. */
static void bend_record_error(struct kw_ProduceResponse_BatchIndexAndErrorMessage *error, int32_t at)
{
	if (fb_mutant(FB_M_INDEX_FROM_ONE))
		error->batchIndex++;
	if (fb_mutant(FB_M_INDEX_AMONG_REFUSED))
		error->batchIndex = at;
	if (fb_mutant(FB_M_RECORD_ERROR_TEXT_UNTOLD))
		error->batchIndexErrorMessage = KW_NULL_STR;
}

static void bend_record_errors(struct kw_verdict *v, struct kw_arena *arena)
{
	if (v->rule == KW_R_RECORDS && v->nrecordErrors > SHOWN && fb_mutant(FB_M_MESSAGE_SHOWS_ALL))
		v->errorMessage = message_about_all(v, arena);
	if (v->rule == KW_R_TIMESTAMPS && fb_mutant(FB_M_TIME_ERRORS_UNTOLD))
		v->nrecordErrors = 0;
	if (v->nrecordErrors > 0 && fb_mutant(FB_M_RECORDS_WITHOUT_MESSAGE))
		v->errorMessage = NULL;
	if (v->nrecordErrors > SHOWN && fb_mutant(FB_M_THREE_RECORD_ERRORS))
		v->nrecordErrors = SHOWN;
	if (v->nrecordErrors > 1 && fb_mutant(FB_M_ONE_RECORD_ERROR))
		v->nrecordErrors = 1;
	for (int32_t i = 0; i < v->nrecordErrors; i++)
		bend_record_error(&v->recordErrors[i], i);
}

/* ---- request and shape ---- */

bool fb_mutant_goes_on(struct kw_verdict *v)
{
	bool framing = v->rule >= 0;

	if (framing ? fb_mutant(FB_M_FRAMING_APART) : fb_mutant(FB_M_TRANSACTIONAL_ID_UNCHECKED)) {
		kw_verdict_init(v);
		return true;
	}
	if (framing && fb_mutant(FB_M_FRAMING_WITHOUT_MESSAGE))
		v->errorMessage = NULL;
	return false;
}

static bool has_more(const struct kw_records *records)
{
	struct kw_slice rest = {records->p, records->n > 0 ? (size_t)records->n : 0};
	struct kw_batch batch;
	enum kw_rule rule;

	return kw_next_batch(&rest, &batch, &rule) == KW_NEXT_BATCH && rest.n > 0;
}

bool fb_mutant_shape(int version, const struct kw_records *records, struct kw_arena *arena, struct kw_verdict *v,
		     bool *whole)
{
	if (fb_mutant(FB_M_ZSTD_ALWAYS) && version < ZSTD_SINCE)
		version = ZSTD_SINCE;
	if (fb_mutant(FB_M_ZSTD_LATER) && version == ZSTD_SINCE)
		version = ZSTD_SINCE - 1;
	if (fb_mutant(FB_M_REST_REFUSED) && has_more(records)) {
		v->errorCode = KW_ERR_CORRUPT_MESSAGE;
		return false;
	}
	if (kw_verdict_shape(version, records, arena, v, whole))
		return true;
	*whole = *whole || (records->n < 0 && fb_mutant(FB_M_NULL_SPREADS));
	bend_code(v);
	return false;
}

/* ---- the batch ---- */

struct bent {
	const struct fb_append *a;
	const struct kw_leader *leader;    /* as it would be asked without a mutant */
	struct kw_leader asked;
	struct kw_topic_conf conf;         /* asked.conf */
	struct kw_arena *arena;
	struct kw_batch batch;
	bool partial;                      /* records are only skimmed */
	bool keys;                         /* they are judged here, in place of in the library */
	int32_t refused;                   /* records */
};

static bool crc_is_wrong(const struct kw_batch *batch)
{
	return batch->size >= KW_B_RECORDS && kw_batch_crc(batch->p, batch->size) != batch->crc;
}

/* The rules that are not asked. */
static uint64_t without(const struct bent *bent)
{
	const struct kw_batch *batch = &bent->batch;
	bool wrong = crc_is_wrong(batch);
	const struct {
		enum fb_mutant mutant;
		bool when;
		uint64_t rules;
	} rows[] = {
		{FB_M_BASE_OFFSET_UNCHECKED, true, RULE(KW_R_BASE_OFFSET)},
		{FB_M_BASE_OFFSET_SIGN_UNCHECKED, batch->baseOffset < 0, RULE(KW_R_BASE_OFFSET)},
		{FB_M_SIZE_UNCHECKED, true, RULE(KW_R_TOO_LARGE)},
		{FB_M_CRC_UNCHECKED, true, RULE(KW_R_CRC)},
		{FB_M_CHAIN_WITHOUT_CRC, bent->a->chain != NULL, RULE(KW_R_CRC)},
		{FB_M_CRC_BEFORE_BASE_OFFSET, wrong, RULE(KW_R_BASE_OFFSET)},
		{FB_M_CRC_BEFORE_SIZE, wrong, RULE(KW_R_TOO_LARGE)},
		{FB_M_EMPTY_BATCH_TAKEN, batch->count <= 0, OFFSETS},
		{FB_M_COUNT_RANGE_UNCHECKED, true, RULE(KW_R_COUNT_OF_RANGE)},
		{FB_M_CONTROL_TAKEN, true, RULE(KW_R_CONTROL)},
		{FB_M_SEQUENCE_SIGN_UNCHECKED, true, RULE(KW_R_NO_SEQUENCE)},
	};
	uint64_t rules = 0;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].when && fb_mutant(rows[i].mutant))
			rules |= rows[i].rules;
	return rules;
}

static bool key_mutated(void)
{
	return fb_mutant(FB_M_NULL_KEY_TAKEN) || fb_mutant(FB_M_NULL_KEY_COMPRESSED_TAKEN) ||
	       fb_mutant(FB_M_NULL_KEY_FIRST_TAKEN) || fb_mutant(FB_M_EMPTY_KEY_REFUSED) ||
	       fb_mutant(FB_M_TOMBSTONE_REFUSED) || fb_mutant(FB_M_CHAIN_BEFORE_KEY);
}

static bool header_in_time(const struct bent *bent)
{
	int64_t age = kw_wrap_sub(bent->leader->now, bent->batch.maxTimestamp);

	return age <= bent->conf.beforeMaxMs && kw_wrap_sub(0, age) <= bent->conf.afterMaxMs;
}

static void bend_conf(struct bent *bent)
{
	struct kw_topic_conf *conf = &bent->conf;
	bool time = (fb_mutant(FB_M_TIME_BY_HEADER) && header_in_time(bent)) ||
		    (fb_mutant(FB_M_TIME_COMPRESSED_UNCHECKED) && bent->partial);

	bent->keys = (conf->compact && key_mutated()) || fb_mutant(FB_M_KEY_ALWAYS_NEEDED);
	if (bent->keys)
		conf->compact = false;
	if (time || fb_mutant(FB_M_PAST_UNCHECKED))
		conf->beforeMaxMs = INT64_MAX;
	if (time || fb_mutant(FB_M_FUTURE_UNCHECKED))
		conf->afterMaxMs = INT64_MAX;
	if (fb_mutant(FB_M_SIZE_LIMIT_EXCLUSIVE))
		conf->maxMessageBytes--;
}

/* ---- its records ---- */

static bool lacks_key(const struct bent *bent, int32_t index, const struct kw_record *record)
{
	if (fb_mutant(FB_M_NULL_KEY_TAKEN) || (fb_mutant(FB_M_NULL_KEY_COMPRESSED_TAKEN) && bent->partial) ||
	    (fb_mutant(FB_M_NULL_KEY_FIRST_TAKEN) && index == 0))
		return false;
	return record->key.n < 0 || (fb_mutant(FB_M_EMPTY_KEY_REFUSED) && record->key.n == 0) ||
	       (fb_mutant(FB_M_TOMBSTONE_REFUSED) && record->value.n < 0);
}

/* reason NULL: the arena is full. */
static bool refuse_record(struct bent *bent, int16_t error, const char *reason, int16_t *code, const char **text)
{
	*code = error;
	*text = reason ? reason : "out of memory";
	bent->refused++;
	return false;
}

static bool chain_accepts(struct bent *bent, int32_t index, const struct kw_record *record, int16_t *code,
			  const char **text)
{
	const struct kw_leader *leader = bent->leader;

	if (!leader->validate || fb_mutant_hides_record(bent->a, &bent->batch, index, bent->refused, bent->arena) ||
	    leader->validate(leader->validate_arg, &bent->batch, index, record, code, text))
		return true;
	bent->refused++;
	return false;
}

static bool validate(void *arg, const struct kw_batch *batch, int32_t index, const struct kw_record *record,
		     int16_t *code, const char **text)
{
	struct bent *bent = arg;
	bool early = fb_mutant(FB_M_CHAIN_BEFORE_KEY);

	if (fb_mutant(FB_M_NO_TIME_JUDGED) && !bent->conf.logAppendTime &&
	    kw_record_time(batch, record) == NO_TIMESTAMP)
		return refuse_record(bent, KW_ERR_INVALID_TIMESTAMP, "The timestamp is out of range", code, text);
	if (early && !chain_accepts(bent, index, record, code, text))
		return false;
	if (bent->keys && lacks_key(bent, index, record))
		return refuse_record(bent, KW_ERR_INVALID_RECORD,
				     kw_sprintf(bent->arena, "Compacted topic cannot accept message without key in "
						"topic partition %s-%d",
						bent->a->topic, bent->a->partition), code, text);
	if (!early && !chain_accepts(bent, index, record, code, text))
		return false;
	if (fb_mutant_refuses_record(bent->a, batch, index, record))
		return refuse_record(bent, KW_ERR_INVALID_RECORD, "The record is not as it should be", code, text);
	return true;
}

/* ---- what becomes of it ---- */

static bool refuse(const struct bent *bent, enum kw_rule rule, const char *reason, struct kw_verdict *v)
{
	v->recordErrors = NULL;
	v->nrecordErrors = 0;
	v->errorMessage = NULL;
	return kw_verdict_refuse(bent->leader, rule, bent->batch.size, reason, v);
}

/* What is wrong with the records, if that is why they were refused. */
static enum kw_walk fault_of(const struct bent *bent, const struct kw_verdict *v, struct kt_err *err)
{
	struct kw_walk_opts opts = {
		.skip_bodies = bent->partial,
		.record_max = bent->conf.maxDecompressedMessageBytes,
		.inflate_max = bent->leader->inflate_max,
	};
	enum kw_walk why = KW_WALK_END;

	if (v->rule == KW_R_BAD_RECORD || v->rule == KW_R_UNREADABLE)
		kw_batch_walk(&bent->batch, &opts, NULL, NULL, &why, err);
	return why;
}

/* As it was sent. */
static bool take(const struct bent *bent, struct kw_append_plan **plan, struct kw_verdict *v)
{
	const struct kw_batch *batch = &bent->batch;

	*plan = kw_alloc(bent->arena, sizeof **plan);
	if (!*plan)
		return kw_verdict_refuse(bent->leader, KW_R_NO_MEMORY, 0, "out of memory", v);
	**plan = (struct kw_append_plan){
		.batch = *batch,
		.body = {batch->p + KW_B_RECORDS, batch->size - KW_B_RECORDS},
	};
	memcpy((*plan)->header, batch->p, KW_B_RECORDS);
	v->errorCode = 0;
	v->reason = NULL;
	v->rule = -1;
	v->logStartOffset = -1;
	return true;
}

static void bend_plan(struct kw_append_plan *plan)
{
	uint8_t *attributes = plan->header + KW_B_ATTRIBUTES;
	uint32_t crc;

	if (!fb_mutant(FB_M_APPEND_TIME_ALWAYS))
		return;
	kw_wr16(attributes, kw_rd16(attributes) | KW_A_LOG_APPEND_TIME);
	crc = kw_crc32c(0, attributes, KW_B_RECORDS - KW_B_ATTRIBUTES);
	kw_wr32(plan->header + KW_B_CRC, kw_crc32c(crc, plan->body.p, plan->body.n));
}

/* Of a batch that the library refused. */
static bool bend_refusal(const struct bent *bent, struct kw_append_plan **plan, struct kw_verdict *v)
{
	struct kt_err err = {0};
	enum kw_walk why = fault_of(bent, v, &err);

	if (why != KW_WALK_END && fb_mutant_misses(why, err.text))
		return take(bent, plan, v);
	if (fb_mutant(FB_M_LONG_VARINT_CODE) && why == KW_WALK_BAD_VARINT)
		v->errorCode = KW_ERR_INVALID_RECORD;
	if (fb_mutant(FB_M_BROKEN_CODEC_CODE) && why == KW_WALK_BAD_CODEC)
		v->errorCode = KW_ERR_CORRUPT_MESSAGE;
	if (fb_mutant(FB_M_REFUSAL_USES_SEQUENCE) && v->nrecordErrors > 0 && bent->a->chain)
		fb_producers_add(bent->a->producers, &bent->batch, bent->a->log->logEndOffset, 0);
	bend_code(v);
	bend_record_errors(v, bent->arena);
	return false;
}

static bool judge(const struct bent *bent, const struct kw_records *records, struct kw_append_plan **plan,
		  struct kw_verdict *v)
{
	bool good = kw_verdict_check(&bent->asked, records, bent->arena, plan, v);

	if ((good || v->rule > KW_R_CODEC) && fb_mutant_lacks_codec(&bent->batch)) {
		refuse(bent, KW_R_CODEC, "Unknown compression type", v);
		bend_code(v);
		return false;
	}
	if ((good || v->rule > KW_R_NO_BATCH) && fb_mutant_refuses_header(&bent->batch))
		return refuse(bent, KW_R_COUNT, "The header of the record batch is not as it should be", v);
	if (!good)
		return bend_refusal(bent, plan, v);
	bend_plan(*plan);
	return true;
}

bool fb_mutant_check(const struct fb_append *a, const struct kw_leader *leader, const struct kw_records *records,
		     struct kw_arena *arena, struct kw_append_plan **plan, struct kw_verdict *v)
{
	struct bent bent = {.a = a, .leader = leader, .asked = *leader, .conf = *leader->conf, .arena = arena};
	struct kw_slice rest = {records->p, records->n > 0 ? (size_t)records->n : 0};
	enum kw_rule rule;
	int source;

	if (kw_next_batch(&rest, &bent.batch, &rule) != KW_NEXT_BATCH)
		return kw_verdict_check(leader, records, arena, plan, v);
	source = bent.batch.attributes & KW_A_CODEC;
	bent.asked.skim = (!a->chain || fb_mutant(FB_M_CHAIN_SKIMS)) && !fb_mutant(FB_M_NEVER_SKIMMED);
	bent.partial = bent.asked.skim && source != KW_NONE &&
		       (bent.conf.compression < 0 || bent.conf.compression == source);
	bend_conf(&bent);
	bent.asked.conf = &bent.conf;
	bent.asked.without = without(&bent);
	bent.asked.validate = validate;
	bent.asked.validate_arg = &bent;
	return judge(&bent, records, plan, v);
}
