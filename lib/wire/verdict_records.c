/* Stage K8 to K15: the records, one by one, as Kafka's LogValidator sees them. */
#include <inttypes.h>
#include <stdio.h>

#include "lib/wire/errors.h"
#include "lib/wire/verdict_steps.h"

enum { NO_TIMESTAMP = -1, SHOWN = 3 };

typedef struct kw_ProduceResponse_BatchIndexAndErrorMessage kw_record_error;

struct check {
	const struct kw_judge *judge;
	const struct kw_leader *leader;   /* the judge's */
	struct kw_arena *arena;           /* the judge's */
	const struct kw_batch *batch;
	struct kw_records_facts *facts;
	bool partial;
	/* Refused records. */
	kw_record_error *errors;
	int32_t n, cap;
	bool timestamps;             /* one of them for its timestamp */
	const char *no_key;          /* message of all records without key; made when the first comes */
};

/* ---- refused records ---- */

static int grow(struct check *check)
{
	int32_t cap = check->cap ? check->cap * 2 : 8;
	kw_record_error *errors = kw_alloc(check->arena, (size_t)cap * sizeof *errors);

	if (!errors)
		return KT_ENOMEM;
	if (check->n)
		memcpy(errors, check->errors, (size_t)check->n * sizeof *errors);
	check->errors = errors;
	check->cap = cap;
	return 0;
}

/* message in the arena; NULL: it is full. */
static int add_error(struct check *check, int32_t index, const char *message)
{
	if (!message || (check->n == check->cap && grow(check) < 0))
		return KT_ENOMEM;
	check->errors[check->n++] = (kw_record_error){.batchIndex = index, .batchIndexErrorMessage = kw_str(message)};
	return 0;
}

static int refuse_key(struct check *check, int32_t index)
{
	check->leader->meters->noKeyCompactedTopicRecords++;
	if (!check->no_key)
		check->no_key = kw_sprintf(check->arena, "Compacted topic cannot accept message without key in topic "
					   "partition %s-%d", check->leader->topic, check->leader->partition);
	return add_error(check, index, check->no_key);
}

static int refuse_range(struct check *check, int32_t index, const struct kw_record *record, int64_t timestamp)
{
	const struct kw_leader *leader = check->leader;
	int64_t first = kw_wrap_sub(leader->now, leader->conf->beforeMaxMs);
	int64_t last = kw_wrap_add(leader->now, leader->conf->afterMaxMs);
	const char *message = kw_sprintf(check->arena, "Timestamp %" PRId64 " of message with offset %d is out of "
					 "range. The timestamp should be within [%" PRId64 ", %" PRId64 "]", timestamp,
					 record->offsetDelta, first, last);

	check->timestamps = true;
	return add_error(check, index, message);
}

/* A size as Kafka prints that of a null: a record that is read whole has none, a partial one has the length it read. */
static int32_t printed(const struct check *check, struct kw_bytes bytes)
{
	return bytes.n >= 0 || check->partial ? bytes.n : 0;
}

static int refuse_type(struct check *check, int32_t index, const struct kw_record *record, int64_t timestamp)
{
	const char *message = kw_sprintf(check->arena, "Invalid timestamp type in message %sDefaultRecord(offset=%d, "
					 "timestamp=%" PRId64 ", key=%d bytes, value=%d bytes). Producer should not "
					 "set timestamp type to LogAppendTime.", check->partial ? "Partial" : "",
					 record->offsetDelta, timestamp, printed(check, record->key),
					 printed(check, record->value));

	check->timestamps = true;
	return add_error(check, index, message);
}

static int refuse_by_validator(struct check *check, int32_t index, int16_t code, const char *text)
{
	check->timestamps = check->timestamps || code == KW_ERR_INVALID_TIMESTAMP;
	return add_error(check, index, kw_strndup(check->arena, text, strlen(text)));
}

/* ---- one record ---- */

/* Kafka's own checks. 0 (also when the record is refused) or KT_ENOMEM. */
static int judge(struct check *check, int32_t index, const struct kw_record *record, int64_t timestamp)
{
	const struct kw_leader *leader = check->leader;

	if (leader->conf->compact && record->key.n < 0)
		return refuse_key(check, index);
	if (!leader->conf->logAppendTime && timestamp != NO_TIMESTAMP) {
		if (kw_out_of_range(leader, timestamp))
			return refuse_range(check, index, record, timestamp);
	} else if (check->batch->attributes & KW_A_LOG_APPEND_TIME) {
		return refuse_type(check, index, record, timestamp);
	}
	return 0;
}

static int check_record(void *arg, int32_t index, const struct kw_record *record)
{
	struct check *check = arg;
	struct kw_records_facts *facts = check->facts;
	int64_t timestamp = kw_record_time(check->batch, record);

	if (timestamp > facts->maxTimestamp || (timestamp == facts->maxTimestamp && !facts->hasMax)) {
		facts->maxTimestamp = timestamp;
		facts->hasMax = true;
		facts->indexOfMax = index;
		facts->deltaOfMax = record->offsetDelta;
	}
	if (index == 0)
		facts->firstDelta = record->offsetDelta;
	if (record->offsetDelta != index)
		facts->odd = true;
	return judge(check, index, record, timestamp);
}

/* The same, and then the validators if it found nothing. */
static int check_and_validate(void *arg, int32_t index, const struct kw_record *record)
{
	struct check *check = arg;
	const struct kw_leader *leader = check->leader;
	int32_t refused = check->n;
	int code = check_record(arg, index, record);
	const char *text;
	int16_t error;

	if (code || check->n > refused ||
	    leader->validate(leader->validate_arg, check->batch, index, record, &error, &text))
		return code;
	return refuse_by_validator(check, index, error, text);
}

/* ---- all records at once ---- */

/* Would judge() pass every record? Timestamps that wrap, or are none, are left to it. */
static bool passes(const struct check *check, const struct kw_tally *tally)
{
	const struct kw_leader *leader = check->leader;

	if (tally->minTimestamp < 0 || leader->now < 0 || (leader->conf->compact && tally->null_key))
		return false;
	if (leader->conf->logAppendTime)
		return !(check->batch->attributes & KW_A_LOG_APPEND_TIME);
	return !kw_out_of_range(leader, tally->minTimestamp) && !kw_out_of_range(leader, tally->maxTimestamp);
}

static bool accept_tally(void *arg, const struct kw_tally *tally)
{
	struct check *check = arg;
	struct kw_records_facts *facts = check->facts;

	if (!passes(check, tally))
		return false;
	facts->maxTimestamp = tally->maxTimestamp;
	facts->hasMax = true;
	facts->indexOfMax = tally->indexOfMax;
	facts->deltaOfMax = tally->deltaOfMax;
	facts->firstDelta = tally->firstDelta;
	facts->odd = tally->odd;
	return true;
}

/* ---- the batch ---- */

static void put_text(struct kw_buf *out, const char *text)
{
	kw_put(out, text, strlen(text));
}

static void put_number(struct kw_buf *out, int32_t n)
{
	char text[16];

	snprintf(text, sizeof text, "%d", n);
	put_text(out, text);
}

/* Kafka's message about all refused records, which shows the first few. NULL: out of memory. */
static const char *summary(const struct check *check)
{
	struct kw_buf out = {0};
	const char *message;

	put_text(&out, "One or more records have been rejected due to ");
	put_number(&out, check->n);
	put_text(&out, " record errors in total, and only showing the first three errors at most: [");
	for (int32_t i = 0; i < check->n && i < SHOWN; i++) {
		put_text(&out, i ? ", RecordError(batchIndex=" : "RecordError(batchIndex=");
		put_number(&out, check->errors[i].batchIndex);
		put_text(&out, ", message='");
		put_text(&out, check->errors[i].batchIndexErrorMessage.s);
		put_text(&out, "')");
	}
	put_text(&out, "]");
	message = out.failed ? NULL : kw_strndup(check->arena, (const char *)out.p, out.n);
	kw_buf_fini(&out);
	return message;
}

static bool refuse_records(const struct check *check)
{
	struct kw_verdict *v = check->judge->v;
	const char *message = check->timestamps ? "One or more records have been rejected due to invalid timestamp"
						: summary(check);

	if (!message)
		return kw_refuse_no_memory(check->judge);
	v->errorMessage = message;
	v->recordErrors = check->errors;
	v->nrecordErrors = check->n;
	return kw_refuse_with(check->judge, check->timestamps ? KW_R_TIMESTAMPS : KW_R_RECORDS, message);
}

__attribute__((always_inline))
static inline bool walk_records(const struct kw_judge *judge, const struct kw_batch *batch, bool partial,
				struct kw_records_facts *facts, kw_record_fn *fn, kw_tally_fn *tally)
{
	const struct kw_leader *leader = judge->leader;
	struct check check = {
		.judge = judge, .leader = leader, .arena = judge->arena, .batch = batch, .facts = facts,
		.partial = partial,
	};
	struct kw_walk_opts opts = kw_judge_walk_opts(leader, partial);
	struct kt_err err = {0};
	enum kw_walk why;

	opts.tally = tally;
	*facts = (struct kw_records_facts){.maxTimestamp = NO_TIMESTAMP, .partial = partial};
	if (kw_batch_walk(batch, &opts, fn, &check, &why, &err) == 0)
		return check.n == 0 || refuse_records(&check);
	if (why == KW_WALK_STOPPED)
		return kw_refuse_no_memory(judge);
	return kw_refuse_batch(judge, kw_walk_code(why) == KW_ERR_INVALID_RECORD ? KW_R_BAD_RECORD : KW_R_UNREADABLE,
			       "%s", err.text);
}

/* Apart, so that a batch without validators pays for one comparison and no more. */
__attribute__((noinline))
static bool validate_records(const struct kw_judge *judge, const struct kw_batch *batch, bool skim,
			     struct kw_records_facts *facts)
{
	return walk_records(judge, batch, skim, facts, check_and_validate, NULL);
}

bool kw_check_records(const struct kw_judge *judge, const struct kw_batch *batch, bool skim,
		      struct kw_records_facts *facts)
{
	if (judge->leader->validate)
		return validate_records(judge, batch, skim && judge->leader->skim, facts);
	return walk_records(judge, batch, skim, facts, check_record, accept_tally);
}
