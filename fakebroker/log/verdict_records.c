/* Stage K8 to K15: the records, one by one, as Kafka's LogValidator sees them. */
#include <inttypes.h>
#include <stdio.h>

#include "fakebroker/log/java_utf8.h"
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

static bool is_duplicate(const struct check *check)
{
	const struct fb_append *a = check->a;
	const struct fb_producer_batch *duplicate = NULL;
	const char *reason;

	fb_producers_check(a->producers, check->batch, a->topic, a->partition, 0, check->arena, &reason, &duplicate);
	return duplicate;
}

/* The codecs at which a mutant forgets the validators. */
static bool is_skipped_codec(int codec)
{
	static const struct {
		enum fb_mutant mutant;
		int codec;
	} rows[] = {
		{FB_M_CHAIN_WITHOUT_GZIP, KW_GZIP}, {FB_M_CHAIN_WITHOUT_SNAPPY, KW_SNAPPY}, {FB_M_CHAIN_WITHOUT_LZ4, KW_LZ4},
		{FB_M_CHAIN_WITHOUT_ZSTD, KW_ZSTD},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (codec == rows[i].codec && fb_mutant(rows[i].mutant))
			return true;
	return false;
}

/* Do validators see this record? */
static bool is_shown(const struct check *check, int32_t index)
{
	if (!check->a->chain || fb_mutant(FB_M_CHAIN_IGNORED) || is_skipped_codec(check->place.codec))
		return false;
	if ((fb_mutant(FB_M_CHAIN_SKIPS_FIRST) && index == 0) || (fb_mutant(FB_M_CHAIN_SEES_FIRST_ONLY) && index > 0) ||
	    (fb_mutant(FB_M_CHAIN_SKIPS_LAST) && index > 0 && index == check->batch->count - 1) ||
	    (fb_mutant(FB_M_CHAIN_STOPS) && check->n > 0))
		return false;
	return !fb_mutant(FB_M_DUPLICATE_NOT_SHOWN) || !is_duplicate(check);
}

static bool is_canonical(const struct check *check, const struct kw_record *record)
{
	const uint8_t *p = check->batch->p + KW_B_RECORDS + record->at;
	struct kw_buf out = {0};
	bool same;

	if (check->place.codec != KW_NONE)
		return true;
	kw_record_put(&out, record);
	same = out.n == record->size && memcmp(out.p, p, out.n) == 0;
	kw_buf_fini(&out);
	return same;
}

static bool has_odd_header(const struct kw_record *record)
{
	for (int32_t i = 0; i < record->nheaders && record->headers; i++) {
		const struct kw_header *header = &record->headers[i];

		if ((fb_mutant(FB_M_HEADER_KEY_EMPTY_JUDGED) && header->key.n == 0) ||
		    (fb_mutant(FB_M_HEADER_VALUE_NULL_JUDGED) && header->value.n < 0) ||
		    (fb_mutant(FB_M_HEADER_KEY_UTF8_JUDGED) &&
		     !fb_java_utf8_good((const uint8_t *)header->key.s, (size_t)header->key.n)))
			return true;
	}
	return false;
}

/* Mutants that judge what nobody asked them to. */
static bool is_overjudged(const struct check *check, int32_t index, const struct kw_record *record)
{
	return (fb_mutant(FB_M_OFFSET_DELTAS_JUDGED) && record->offsetDelta != index) ||
	       (fb_mutant(FB_M_RECORD_ATTRIBUTES_JUDGED) && record->attributes) ||
	       (fb_mutant(FB_M_SIZE_LIMIT_INFLATED) && record->at + record->size > (size_t)check->a->conf->maxMessageBytes) ||
	       (fb_mutant(FB_M_ONLY_CANONICAL) && !is_canonical(check, record)) || has_odd_header(record);
}

/* Kafka's own checks and, if they find nothing, the validators. 0 (also when the record is refused) or KT_ENOMEM. */
static int judge(struct check *check, int32_t index, const struct kw_record *record, int64_t timestamp)
{
	const struct fb_append *a = check->a;
	struct fb_rejection rejection;

	if (fb_mutant(FB_M_CHAIN_BEFORE_KEY) && a->chain &&
	    fb_chain_validate(a->chain, &check->place, index, record, &rejection))
		return refuse_by_validator(check, index, &rejection);
	if (a->conf->compact && lacks_key(check, index, record))
		return refuse_key(check, index);
	if (!a->conf->logAppendTime && has_time(check, timestamp)) {
		if (out_of_range(a, judged_time(check, timestamp)))
			return refuse_range(check, index, record, timestamp);
	} else if (check->batch->attributes & KW_A_LOG_APPEND_TIME) {
		return refuse_type(check, index, record, timestamp);
	}
	if (is_shown(check, index) && fb_chain_validate(a->chain, &check->place, index, record, &rejection))
		return refuse_by_validator(check, index, &rejection);
	return is_overjudged(check, index, record) ? add_error(check, index, "The record is not as it should be") : 0;
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

/* Faults of records that a mutant does not see, by why the walk stopped and how its text begins. */
static bool is_unseen(enum kw_walk why, const char *text)
{
	static const struct {
		enum fb_mutant mutant;
		enum kw_walk why;
		const char *text;
	} rows[] = {
		{FB_M_RECORD_STRUCTURE_UNSEEN, KW_WALK_BAD_RECORD, "Found invalid record structure"},
		{FB_M_RECORD_SIZE_UNSEEN, KW_WALK_BAD_RECORD, "Invalid record size"},
		{FB_M_HEADER_COUNT_UNSEEN, KW_WALK_BAD_RECORD, "Found invalid number of record headers"},
		{FB_M_HEADER_COUNT_SIGN_UNSEEN, KW_WALK_BAD_RECORD, "Found invalid number of record headers -"},
		{FB_M_HEADER_KEY_NULL_UNSEEN, KW_WALK_BAD_RECORD, "Invalid negative header key size"},
		{FB_M_SKIPPED_END_UNSEEN, KW_WALK_BAD_RECORD, "Reached end of input stream"},
		{FB_M_FEWER_RECORDS_UNSEEN, KW_WALK_EARLY_EOF, ""},
		{FB_M_MORE_RECORDS_UNSEEN, KW_WALK_TRAILING, ""},
		{FB_M_LONG_VARINT_UNSEEN, KW_WALK_BAD_VARINT, ""},
		{FB_M_BROKEN_CODEC_UNSEEN, KW_WALK_BAD_CODEC, ""},
		{FB_M_BROKEN_END_UNSEEN, KW_WALK_BAD_CODEC, "Error checking for remaining bytes"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (fb_mutant(rows[i].mutant) && why == rows[i].why && strncmp(text, rows[i].text, strlen(rows[i].text)) == 0)
			return true;
	return false;
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
	return is_unseen(why, err.text) || fb_refuse_batch(judge, refusal_of(why), "%s", err.text);
}
