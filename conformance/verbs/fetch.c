/* fetch and endOffset: what a partition holds. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/vars.h"
#include "conformance/verbs/verbs.h"
#include "lib/text/base64.h"
#include "lib/wire/record_time.h"

/* The last versions that name topics. */
enum { FETCH = 1, LIST_OFFSETS = 2, FETCH_BY_NAME = 12, LATEST_OFFSET = -1 };
/* Bytes that the further answers of toEnd may have. */
enum { REST_MAX = 32 << 20 };

const struct cf_arg cf_args_fetch[] = {
	{"topic", CF_ARG_STR, true, "name of the topic"},
	{"partition", CF_ARG_INT, false, "0 unless given"},
	{"offset", CF_ARG_INT, true, "first offset that is wanted"},
	{"isolationLevel", CF_ARG_INT, false, "0, read_uncommitted, unless given; 1: read_committed"},
	{"toEnd", CF_ARG_BOOL, false,
	 "true: all up to the end, with the requests it takes in one time-out; the answer is the first one's"},
	{"version", CF_ARG_ANY, false, "a number up to 12"},
	{0},
};

const struct cf_arg cf_args_endOffset[] = {
	{"topic", CF_ARG_STR, true, "name of the topic"},
	{"partition", CF_ARG_INT, false, "0 unless given"},
	{"isolationLevel", CF_ARG_INT, false, "0, read_uncommitted, unless given; 1: read_committed"},
	{"version", CF_ARG_ANY, false, "a number or \"latest\""},
	{0},
};

/* ---- records as JSON ---- */

static json_t *text_or_hex(const uint8_t *p, int32_t n)
{
	json_t *text;

	if (n < 0)
		return json_null();
	/* A case cannot write a NUL in a text. */
	text = n > 0 && memchr(p, 0, (size_t)n) ? NULL : json_stringn((const char *)p, (size_t)n);
	return text ? text : json_pack("{s:o}", "hex", kt_hex_json(p, (size_t)n));
}

struct reader {
	json_t *records;
	const struct kw_batch *batch;
};

static int add_record(void *arg, int32_t index, const struct kw_record *record)
{
	struct reader *reader = arg;
	json_t *headers = json_array();

	(void)index;
	for (int32_t i = 0; i < record->nheaders; i++) {
		const struct kw_header *header = &record->headers[i];

		json_array_append_new(headers,
				      json_pack("{s:o, s:o}", "key",
						text_or_hex((const uint8_t *)header->key.s, header->key.n), "value",
						text_or_hex(header->value.p, header->value.n)));
	}
	json_array_append_new(reader->records,
			      json_pack("{s:I, s:I, s:o, s:o, s:o}", "offset",
					(json_int_t)kw_record_offset(reader->batch, record->offsetDelta),
					"timestamp", (json_int_t)kw_record_time(reader->batch, record), "key",
					text_or_hex(record->key.p, record->key.n), "value",
					text_or_hex(record->value.p, record->value.n), "headers", headers));
	return 0;
}

/* Under the names that fields have in the batches of the verb produce. */
static json_t *header_json(const struct kw_batch *batch)
{
	return json_pack("{s:I, s:i, s:i, s:I, s:b, s:i, s:i, s:I, s:I, s:I, s:i, s:i, s:i}", "baseOffset",
			 (json_int_t)batch->baseOffset, "partitionLeaderEpoch", batch->partitionLeaderEpoch, "magic",
			 batch->magic, "crc", (json_int_t)batch->crc, "crcIsRight",
			 batch->crc == kw_batch_crc(batch->p, batch->size), "attributes", batch->attributes,
			 "lastOffsetDelta", batch->lastOffsetDelta, "baseTimestamp", (json_int_t)batch->baseTimestamp,
			 "maxTimestamp", (json_int_t)batch->maxTimestamp, "producerId", (json_int_t)batch->producerId,
			 "producerEpoch", batch->producerEpoch, "baseSequence", batch->baseSequence, "count",
			 batch->count);
}

/* Adds the records, and the headers of their batches, to the lists of the subject. A batch that cannot be read is told
 * among the records, and is the last. Returns the offset behind the last batch, -1 if there is none, or one that cannot
 * be read. */
static json_int_t read_set(json_t *partition, json_t *subject)
{
	json_t *base64 = json_object_get(partition, "records");
	json_t *records = json_object_get(subject, "records"), *batches = json_object_get(subject, "batches");
	const char *s = json_string_value(base64);
	size_t length = s ? strlen(s) : 0, at = 0;
	uint8_t *p = malloc(length / 4 * 3 + 3);
	long n = p && s ? kt_base64_decode(s, length, p) : 0;
	json_int_t next = -1;

	while (n > 0 && at < (size_t)n) {
		struct kt_err err = {0};
		struct kw_batch batch;
		struct reader reader = {records, &batch};
		enum kw_walk why;

		if (kw_batch_parse(p + at, (size_t)n - at, &batch, &err) ||
		    kw_batch_walk(&batch, NULL, add_record, &reader, &why, &err)) {
			if (err.code == KT_ETRUNC)
				break;
			json_array_append_new(records, json_pack("{s:s}", "unreadable", err.text));
			next = -1;
			break;
		}
		json_array_append_new(batches, header_json(&batch));
		at += batch.size;
		next = kw_next_offset(&batch);
	}
	free(p);
	return next;
}

static json_int_t partition_arg(json_t *args)
{
	return json_integer_value(json_object_get(args, "partition"));
}

static int isolation_arg(json_t *args)
{
	return (int)json_integer_value(json_object_get(args, "isolationLevel"));
}

static json_t *fetch_body(json_t *args, json_int_t offset, int version)
{
	json_t *body = json_pack("{s:i, s:i, s:i, s:i, s:i, s:[{s:O, s:[{s:I, s:I, s:i}]}]}", "replicaId", -1,
				 "maxWaitMs", 500, "minBytes", 1, "maxBytes", 52428800, "isolationLevel",
				 isolation_arg(args), "topics", "topic", json_object_get(args, "topic"), "partitions",
				 "partition", partition_arg(args), "fetchOffset", offset, "partitionMaxBytes",
				 52428800);

	if (version >= 7)
		json_object_set_new(body, "sessionEpoch", json_integer(-1));
	return body;
}

/* One request. The partition's part of the answer, or NULL; borrowed of out. */
static json_t *fetch_from(struct cf_link *link, json_t *args, json_int_t offset, int version, struct cf_outcome *out,
			  struct kt_err *err)
{
	char path[400];

	if (cf_run_exchange(link, FETCH, version, fetch_body(args, offset, version), NULL, false, out, err))
		return NULL;
	snprintf(path, sizeof path, "responses[topic=%s].partitions[partitionIndex=%lld]",
		 json_string_value(json_object_get(args, "topic")), (long long)partition_arg(args));
	return cf_at(out->body, path);
}

/* ---- up to the end ---- */

struct rest {
	struct cf_link *link;
	json_t *args;
	int version;
	struct cf_outcome *out;      /* of the step: gets the records, and the bytes */
	int64_t deadline;
	int asked;                   /* further requests */
	size_t bytes;                /* of their answers */
};

__attribute__((format(printf, 3, 4)))
static json_int_t broken_off(const struct rest *rest, json_int_t from, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	kt_clean(text);
	json_object_set_new(rest->out->evidence, "unreadable",
			    json_sprintf("the log cannot be read from offset %lld on: %s", (long long)from, text));
	return -1;
}

/* Adds the bytes of a further exchange to those of the step. */
static void keep_bytes(struct rest *rest, json_t *evidence)
{
	static const char *const ways[] = {"requestHex", "responseHex"};
	json_t *hex;
	size_t i;

	for (size_t k = 0; k < sizeof ways / sizeof *ways; k++)
		json_array_extend(json_object_get(rest->out->evidence, ways[k]), json_object_get(evidence, ways[k]));
	json_array_foreach(json_object_get(evidence, "responseHex"), i, hex)
		rest->bytes += json_string_length(hex) / 2;
}

/* Takes what one further request brings. The offset to go on from, -1 if there is none. */
static json_int_t take_more(struct rest *rest, json_int_t from, struct cf_outcome *more, json_t *partition)
{
	const char *unreadable = json_string_value(json_object_get(more->evidence, "unreadable"));
	char why[400];

	keep_bytes(rest, more->evidence);
	if (!more->answered)
		return broken_off(rest, from, "no answer");
	if (unreadable)
		return broken_off(rest, from, "%s", unreadable);
	if (cf_error_code(more->body))
		return broken_off(rest, from, "%s", cf_error_text(more->body, why, sizeof why));
	if (!partition)
		return broken_off(rest, from, "the answer does not tell of the partition");
	if (cf_error_code(partition))
		return broken_off(rest, from, "%s", cf_error_text(partition, why, sizeof why));
	return read_set(partition, rest->out->subject);
}

/* What there is from an offset on, up to the end that readers of this isolation level see, or to where nothing new
 * comes. Who answers each request with more is not followed for ever. */
static int fetch_rest(struct rest *rest, json_int_t next, struct kt_err *err)
{
	const char *bound = isolation_arg(rest->args) ? "lastStableOffset" : "highWatermark";
	json_int_t end = json_integer_value(json_object_get(rest->out->subject, bound)), from = -1;

	while (next > from && next < end && err->code == KT_OK) {
		struct cf_outcome more = {0};
		json_t *partition;

		from = next;
		if (kc_now_ms() > rest->deadline || rest->bytes > REST_MAX) {
			broken_off(rest, from, "%d further requests with %zu bytes do not bring the end, offset %lld",
				   rest->asked, rest->bytes, (long long)end);
			break;
		}
		rest->asked++;
		partition = fetch_from(rest->link, rest->args, next, rest->version, &more, err);
		if (err->code == KT_OK)
			next = take_more(rest, from, &more, partition);
		cf_outcome_fini(&more);
	}
	return err->code;
}

int cf_verb_fetch(struct cf_run *run, json_t *args, struct cf_outcome *out, struct kt_err *err)
{
	struct cf_link *link = cf_run_link(run, "leader", json_string_value(json_object_get(args, "topic")), err);
	int version = link ? cf_run_version(run, link, FETCH, args, FETCH_BY_NAME, err) : -1;
	json_t *partition;
	json_int_t next;

	if (err->code)
		return err->code;
	partition = fetch_from(link, args, json_integer_value(json_object_get(args, "offset")), version, out, err);
	json_decref(out->subject);
	out->subject = partition ? json_copy(partition) : json_copy(out->body);
	if (!partition)
		return err->code;
	json_object_set_new(out->subject, "records", json_array());
	json_object_set_new(out->subject, "batches", json_array());
	next = read_set(partition, out->subject);
	if (json_is_true(json_object_get(args, "toEnd"))) {
		struct rest rest = {.link = link, .args = args, .version = version, .out = out,
				    .deadline = kc_now_ms() + link->timeout};

		fetch_rest(&rest, next, err);
	}
	return err->code;
}

int cf_verb_end_offset(struct cf_run *run, json_t *args, struct cf_outcome *out, struct kt_err *err)
{
	const char *topic = json_string_value(json_object_get(args, "topic"));
	struct cf_link *link = cf_run_link(run, "leader", topic, err);
	char path[400];
	int version;

	if (!link)
		return err->code;
	version = cf_run_version(run, link, LIST_OFFSETS, args, -1, err);
	if (err->code)
		return err->code;
	if (cf_run_exchange(link, LIST_OFFSETS, version,
			    json_pack("{s:i, s:i, s:[{s:s, s:[{s:I, s:I}]}]}", "replicaId", -1, "isolationLevel",
				      isolation_arg(args), "topics", "name", topic, "partitions", "partitionIndex",
				      partition_arg(args), "timestamp", (json_int_t)LATEST_OFFSET),
			    NULL, false, out, err))
		return err->code;
	snprintf(path, sizeof path,
		 "topics[name=%s].partitions[partitionIndex=%lld]", topic, (long long)partition_arg(args));
	json_decref(out->subject);
	out->subject = json_incref(cf_at(out->body, path));
	return 0;
}
