/* Stage K8 to K15: the records, one by one, as Kafka's LogValidator sees them. */
#include <inttypes.h>
#include <stdio.h>

#include "fakebroker/log/mutant_checks.h"
#include "fakebroker/log/record_time.h"
#include "fakebroker/log/verdict_steps.h"
#include "fakebroker/mutants.h"
#include "lib/wire/errors.h"

enum { NO_TIMESTAMP = -1, SHOWN = 3 };

typedef struct kw_ProduceResponse_BatchIndexAndErrorMessage fb_record_error;

struct check {
	const struct fb_judge *judge;
	const struct fb_append *a;   /* the judge's */
	struct kw_arena *arena;      /* the judge's */
	const struct kw_batch *batch;
	struct fb_records_facts *facts;
	struct fb_batch_place place;
	bool partial;
	/* Refused records. */
	fb_record_error *errors;
	int32_t n, cap;
	bool timestamps;             /* one of them for its timestamp */
	const char *no_key;          /* message of all records without key; made when the first comes */
};

/* ---- refused records ---- */

static int grow(struct check *check)
{
	int32_t cap = check->cap ? check->cap * 2 : 8;
	fb_record_error *errors = kw_alloc(check->arena, (size_t)cap * sizeof *errors);

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
	if (check->n >= SHOWN && fb_mutant(FB_M_THREE_RECORD_ERRORS))
		return 0;
	if (check->n >= 1 && fb_mutant(FB_M_ONE_RECORD_ERROR))
		return 0;
	index += fb_mutant(FB_M_INDEX_FROM_ONE);
	if (!message || (check->n == check->cap && grow(check) < 0))
		return KT_ENOMEM;
	check->errors[check->n++] = (fb_record_error){.batchIndex = index, .batchIndexErrorMessage = kw_str(message)};
	return 0;
}

static int refuse_key(struct check *check, int32_t index)
{
	check->a->meters->noKeyCompactedTopicRecords++;
	if (!check->no_key)
		check->no_key = kw_sprintf(check->arena, "Compacted topic cannot accept message without key in topic "
					   "partition %s-%d", check->a->topic, check->a->partition);
	return add_error(check, index, check->no_key);
}

static int refuse_range(struct check *check, int32_t index, const struct kw_record *record, int64_t timestamp)
{
	const struct fb_append *a = check->a;
	int64_t first = fb_wrap_sub(a->now, a->conf->beforeMaxMs), last = fb_wrap_add(a->now, a->conf->afterMaxMs);
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

static int refuse_by_validator(struct check *check, int32_t index, const struct fb_rejection *rejection)
{
	if (fb_mutant(FB_M_REFUSAL_USES_SEQUENCE) && check->n == 0)
		fb_producers_add(check->a->producers, check->batch, check->a->log->logEndOffset, 0);
	check->timestamps = check->timestamps || rejection->error == KW_ERR_INVALID_TIMESTAMP;
	return add_error(check, index, kw_strndup(check->arena, rejection->text, strlen(rejection->text)));
}

/* ---- one record ---- */

/* Both comparisons wrap, as Kafka's. */
static bool out_of_range(const struct fb_append *a, int64_t timestamp)
{
	int64_t age = fb_wrap_sub(a->now, timestamp);

	return (age > a->conf->beforeMaxMs && !fb_mutant(FB_M_PAST_UNCHECKED)) ||
	       (fb_wrap_sub(0, age) > a->conf->afterMaxMs && !fb_mutant(FB_M_FUTURE_UNCHECKED));
}

static bool lacks_key(const struct check *check, int32_t index, const struct kw_record *record)
{
	if (fb_mutant(FB_M_NULL_KEY_TAKEN) || (fb_mutant(FB_M_NULL_KEY_COMPRESSED_TAKEN) && check->partial) ||
	    (fb_mutant(FB_M_NULL_KEY_FIRST_TAKEN) && index == 0))
		return false;
	return record->key.n < 0 || (fb_mutant(FB_M_EMPTY_KEY_REFUSED) && record->key.n == 0) ||
	       (fb_mutant(FB_M_TOMBSTONE_REFUSED) && record->value.n < 0);
}

/* The time by which a record is judged. */
static int64_t judged_time(const struct check *check, int64_t timestamp)
{
	return fb_mutant(FB_M_TIME_BY_HEADER) ? check->batch->maxTimestamp : timestamp;
}

static bool has_time(const struct check *check, int64_t timestamp)
{
	if (fb_mutant(FB_M_TIME_COMPRESSED_UNCHECKED) && check->partial)
		return false;
	return timestamp != NO_TIMESTAMP || fb_mutant(FB_M_NO_TIME_JUDGED);
}

/* Kafka's own checks and, if they find nothing, the validators. 0 (also when the record is refused) or KT_ENOMEM. */
static int judge(struct check *check, int32_t index, const struct kw_record *record, int64_t timestamp)
{
	const struct fb_append *a = check->a;
	struct fb_rejection rejection;

	if (fb_mutant(FB_M_CHAIN_BEFORE_KEY) && a->chain &&
	    fb_chain_validate(a->chain, &check->place, index, record, &rejection))
		return refuse_by_validator(check, index, &rejection);
	if ((a->conf->compact || fb_mutant(FB_M_KEY_ALWAYS_NEEDED)) && lacks_key(check, index, record))
		return refuse_key(check, index);
	if (!a->conf->logAppendTime && has_time(check, timestamp)) {
		if (out_of_range(a, judged_time(check, timestamp)))
			return refuse_range(check, index, record, timestamp);
	} else if (check->batch->attributes & KW_A_LOG_APPEND_TIME) {
		return refuse_type(check, index, record, timestamp);
	}
	if (a->chain && !(fb_mutated() && fb_mutant_hides_record(a, check->batch, index, check->n, check->arena)) &&
	    fb_chain_validate(a->chain, &check->place, index, record, &rejection))
		return refuse_by_validator(check, index, &rejection);
	if (fb_mutated() && fb_mutant_refuses_record(a, check->batch, index, record))
		return add_error(check, index, "The record is not as it should be");
	return 0;
}

static int check_record(void *arg, int32_t index, const struct kw_record *record)
{
	struct check *check = arg;
	struct fb_records_facts *facts = check->facts;
	int64_t timestamp = fb_record_time(check->batch, record);

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
	for (int32_t i = 0; i < check->n && (i < SHOWN || fb_mutant(FB_M_MESSAGE_SHOWS_ALL)); i++) {
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
	struct fb_verdict *v = check->judge->v;
	bool timestamps = check->timestamps && !(fb_mutant(FB_M_TIME_NEVER_WINS) && check->n > 1) &&
			  !fb_mutant(FB_M_TIME_CODE);
	const char *message = timestamps ? "One or more records have been rejected due to invalid timestamp"
					 : summary(check);

	if (!message)
		return fb_refuse_no_memory(check->judge);
	v->errorMessage = fb_mutant(FB_M_RECORDS_WITHOUT_MESSAGE) ? NULL : message;
	v->recordErrors = check->errors;
	v->nrecordErrors = check->n;
	return fb_refuse_with(check->judge, timestamps ? FB_R_TIMESTAMPS : FB_R_RECORDS, message);
}

/* How a fault of the records is answered. */
static enum fb_refusal refusal_of(enum kw_walk why)
{
	if (fb_mutant(FB_M_LONG_VARINT_CODE) && why == KW_WALK_BAD_VARINT)
		return FB_R_BAD_RECORD;
	if (fb_mutant(FB_M_BROKEN_CODEC_CODE) && why == KW_WALK_BAD_CODEC)
		return FB_R_CORRUPT;
	return kw_walk_code(why) == KW_ERR_INVALID_RECORD ? FB_R_BAD_RECORD : FB_R_UNREADABLE;
}

bool fb_check_records(const struct fb_judge *judge, const struct kw_batch *batch, bool partial,
		      struct fb_records_facts *facts)
{
	const struct fb_append *a = judge->a;
	struct check check = {
		.judge = judge, .a = a, .arena = judge->arena, .batch = batch, .facts = facts, .partial = partial,
		.place = {a->topic, a->partition, batch->attributes & KW_A_CODEC, batch->baseTimestamp},
	};
	struct kw_walk_opts opts = fb_walk_opts(a, partial);
	struct kt_err err = {0};
	enum kw_walk why;

	*facts = (struct fb_records_facts){.maxTimestamp = NO_TIMESTAMP};
	if (kw_batch_walk(batch, &opts, check_record, &check, &why, &err) == 0)
		return check.n == 0 || refuse_records(&check);
	if (why == KW_WALK_STOPPED)
		return fb_refuse_no_memory(judge);
	return fb_mutant_misses(why, err.text) || fb_refuse_batch(judge, refusal_of(why), "%s", err.text);
}
