#include "conformance/diff/side.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "conformance/judge.h"
#include "conformance/result.h"
#include "conformance/vars.h"
#include "lib/client/cluster.h"
#include "lib/text/base64.h"
#include "lib/wire/errors.h"
#include "lib/wire/set.h"

enum { PRODUCE = 0, FETCH = 1, FIRST_TRANSACTIONAL = 3, FIRST_BY_ID = 13, FETCH_BY_NAME = 12, PATIENCE_MS = 3000,
       READY_MS = 20000, POLL_MS = 20 };

static void pause_ms(int ms)
{
	struct timespec ts = {.tv_nsec = ms * 1000000L};

	nanosleep(&ts, NULL);
}

/* ---- topics ---- */

static json_t *config_rows(const char *kind)
{
	json_t *rows = json_array(), *configs = cf_diff_configs(kind), *value;
	const char *name;

	json_object_foreach(configs, name, value)
		json_array_append_new(rows, json_pack("{s:s, s:O}", "name", name, "value", value));
	json_decref(configs);
	return rows;
}

static int create(struct cf_side *side, const char *name, const char *kind, struct kt_err *err)
{
	json_t *assignments = json_array(), *answer = NULL, *row;
	char why[400];

	for (int i = 0; i < CF_DIFF_PARTITIONS; i++)
		json_array_append_new(assignments,
				      json_pack("{s:i, s:[i]}", "partitionIndex", i, "brokerIds", side->broker_id));
	if (cf_link_ask(&side->link, "CreateTopics", CF_LATEST,
			json_pack("{s:[{s:s, s:i, s:i, s:o, s:o}], s:i}", "topics", "name", name, "numPartitions", -1,
				  "replicationFactor", -1, "assignments", assignments, "configs", config_rows(kind),
				  "timeoutMs", 10000), &answer, err))
		return err->code;
	row = cf_at(answer, "topics[0]");
	/* The other side has just made it, under a name that nobody else has. */
	if (cf_error_code(row) == KW_ERR_TOPIC_ALREADY_EXISTS)
		kt_fail(err, KT_EUSAGE, "A and B are one broker, or of one cluster: %s already has the topic %s",
			side->label, name);
	else if (cf_error_code(row))
		kt_fail(err, KT_EPEER, "%s: topic %s cannot be made: %s", side->label, name,
			cf_error_text(row, why, sizeof why));
	json_decref(answer);
	return err->code;
}

static json_t *fetch_body(const char *name, json_t *ends)
{
	json_t *partitions = json_array(), *end;
	size_t i;

	json_array_foreach(ends, i, end)
		json_array_append_new(partitions, json_pack("{s:i, s:O, s:i}", "partition", (int)i, "fetchOffset", end,
							    "partitionMaxBytes", 4 << 20));
	return json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:[{s:s, s:o}]}", "replicaId", -1, "maxWaitMs", 0, "minBytes",
			 0, "maxBytes", 16 << 20, "sessionId", 0, "sessionEpoch", -1, "topics", "topic", name,
			 "partitions", partitions);
}

/* All partitions from where their logs ended when they were last looked at. */
static int fetch(struct cf_side *side, json_t *topic, json_t **answer, struct kt_err *err)
{
	return cf_link_ask(&side->link, "Fetch", FETCH_BY_NAME,
			   fetch_body(cf_text(topic, "name"), json_object_get(topic, "ends")), answer, err);
}

static bool all_serve(json_t *answer)
{
	json_t *partition;
	size_t i;

	if (json_array_size(cf_at(answer, "responses[0].partitions")) != CF_DIFF_PARTITIONS)
		return false;
	json_array_foreach(cf_at(answer, "responses[0].partitions"), i, partition)
		if (cf_error_code(partition))
			return false;
	return true;
}

static int await(struct cf_side *side, json_t *topic, struct kt_err *err)
{
	int64_t deadline = kc_now_ms() + READY_MS;
	json_t *answer = NULL;

	while (fetch(side, topic, &answer, err) == 0 && !all_serve(answer) && kc_now_ms() < deadline) {
		json_decref(answer);
		answer = NULL;
		pause_ms(POLL_MS);
	}
	if (err->code == KT_OK && !all_serve(answer))
		kt_fail(err, KT_ETIMEOUT, "%s: topic %s has no leader that serves it", side->label,
			cf_text(topic, "name"));
	json_decref(answer);
	return err->code;
}

static int learn_id(struct cf_side *side, json_t *topic, struct kt_err *err)
{
	json_t *answer = NULL, *id;

	if (cf_link_ask(&side->link, "Metadata", CF_LATEST, json_pack("{s:[{s:O}]}", "topics", "name",
								     json_object_get(topic, "name")), &answer, err))
		return err->code;
	id = cf_at(answer, "topics[0].topicId");
	if (id)
		json_object_set(topic, "id", id);
	json_decref(answer);
	return 0;
}

static void delete(struct cf_side *side, json_t *topic)
{
	json_t *answer = NULL;
	struct kt_err err = {0};

	if (topic)
		cf_link_ask(&side->link, "DeleteTopics", 5,
			    json_pack("{s:[O], s:i}", "topicNames", json_object_get(topic, "name"), "timeoutMs", 5000),
			    &answer, &err);
	json_decref(answer);
}

static bool is_wanted(json_t *kinds, const char *kind)
{
	json_t *wanted;
	size_t i;

	json_array_foreach(kinds, i, wanted)
		if (strcmp(json_string_value(wanted), kind) == 0)
			return true;
	return !kinds;
}

int cf_side_renew(struct cf_side *side, json_t *kinds, struct kt_err *err)
{
	side->generation++;
	for (const struct cf_diff_topic *kind = cf_diff_topics; kind->kind && err->code == KT_OK; kind++) {
		json_t *topic;
		char name[160];

		if (!is_wanted(kinds, kind->kind))
			continue;
		delete(side, json_object_get(side->topics, kind->kind));
		snprintf(name, sizeof name, "%s-%s-%d", side->prefix, kind->kind, side->generation);
		topic = json_pack("{s:s, s:[iii]}", "name", name, "ends", 0, 0, 0);
		json_object_set_new(side->topics, kind->kind, topic);
		if (create(side, name, kind->kind, err) == 0 && await(side, topic, err) == 0)
			learn_id(side, topic, err);
	}
	return err->code;
}

/* ---- life ---- */

int cf_side_open(struct cf_side *side, const char *label, const char *address, const char *prefix, struct kt_err *err)
{
	json_t *answer = NULL;

	*side = (struct cf_side){.label = label, .link = {.timeout = PATIENCE_MS}};
	snprintf(side->prefix, sizeof side->prefix, "%s", prefix);
	side->topics = json_object();
	if (kc_parse_address(address, side->link.host, sizeof side->link.host, &side->link.port, err) ||
	    cf_link_ask(&side->link, "Metadata", CF_LATEST, json_pack("{s:[]}", "topics"), &answer, err))
		return err->code;
	/* The broker that answers; of several, the one with this port. */
	side->broker_id = (int)json_integer_value(cf_at(answer, "brokers[0].nodeId"));
	for (size_t i = 0; i < json_array_size(json_object_get(answer, "brokers")); i++) {
		json_t *broker = json_array_get(json_object_get(answer, "brokers"), i);

		if (json_integer_value(json_object_get(broker, "port")) == side->link.port)
			side->broker_id = (int)json_integer_value(json_object_get(broker, "nodeId"));
	}
	json_decref(answer);
	return 0;
}

bool cf_side_serves_old(struct cf_side *side)
{
	json_t *answer = NULL;
	struct kt_err err = {0};

	cf_link_ask(&side->link, "Produce", 0,
		    json_pack("{s:i, s:i, s:[]}", "acks", -1, "timeoutMs", 5000, "topicData"), &answer, &err);
	json_decref(answer);
	return err.code == KT_OK;
}

int cf_side_newest(struct cf_side *side, struct kt_err *err)
{
	return cf_link_open(&side->link, err) ? err->code : cf_link_version(&side->link, PRODUCE, CF_LATEST, -1, err);
}

void cf_side_close(struct cf_side *side)
{
	const char *kind;
	json_t *topic;

	json_object_foreach(side->topics, kind, topic)
		delete(side, topic);
	json_decref(side->topics);
	cf_link_close(&side->link);
}

/* ---- sending ---- */

static json_t *partition_data(json_t *partitions)
{
	json_t *rows = json_array(), *partition;
	size_t i;

	json_array_foreach(partitions, i, partition) {
		json_t *batches = json_object_get(partition, "batches");
		json_t *records = json_is_null(batches) ? json_null() : json_pack("{s:O}", "batches", batches);

		json_array_append_new(rows, json_pack("{s:O, s:o}", "index", json_object_get(partition, "index"),
						      "records", records));
	}
	return rows;
}

static json_t *produce_body(json_t *topic, json_t *mutation, int version)
{
	json_t *entry = json_pack("{s:o}", "partitionData", partition_data(json_object_get(mutation, "partitions"))),
	       *body;

	if (version < FIRST_BY_ID)
		json_object_set(entry, "name", json_object_get(topic, "name"));
	else
		json_object_set(entry, "topicId", json_object_get(topic, "id"));
	body = json_pack("{s:O, s:i, s:[o]}", "acks", json_object_get(mutation, "acks"), "timeoutMs", 5000, "topicData",
			 entry);
	if (version >= FIRST_TRANSACTIONAL)
		json_object_set_new(body, "transactionalId", json_null());
	return body;
}

struct told {
	json_t *answer;            /* NULL if there is none, or one that cannot be read */
	json_t *answered;          /* bool, or "unreadable: ..." */
	enum cf_fate fate;
};

/* Waits for what is to come. Where nothing came in time, the same wait again would tell nothing new. */
static int take_answer(struct cf_side *side, int version, bool wait, struct told *told, const struct kt_err *sent,
		       struct kt_err *err)
{
	json_t *evidence = json_object();
	struct kt_err why = *sent;

	if (why.code == KT_OK && wait)
		cf_link_receive(&side->link, PRODUCE, version, evidence, &told->answer, &why);
	json_decref(evidence);
	if (why.code == KT_ENOMEM) {
		*err = why;
		return why.code;
	}
	told->answered = why.code == KT_ECORRUPT ? json_sprintf("unreadable: %s", why.text)
						 : json_boolean(told->answer);
	if (why.code == KT_ETIMEOUT) {
		told->fate = CF_SILENT;
		cf_link_close(&side->link);
	} else {
		told->fate = cf_link_fate(&side->link, NULL);
	}
	return 0;
}

static int produce(struct cf_side *side, json_t *topic, json_t *mutation, struct told *told, struct kt_err *err)
{
	int version = (int)json_integer_value(json_object_get(mutation, "version"));
	bool wait = json_integer_value(json_object_get(mutation, "acks")) != 0;
	json_t *body = produce_body(topic, mutation, version);
	struct kt_err why = {0};
	struct kw_buf frame;

	kw_buf_init(&frame, 0);
	if (cf_link_open(&side->link, err) ||
	    cf_link_encode(&side->link, PRODUCE, version, body, NULL, &frame, err))
		goto out;
	cf_link_send(&side->link, frame.p, frame.n, NULL, &why);
	take_answer(side, version, wait, told, &why, err);
out:
	kw_buf_fini(&frame);
	json_decref(body);
	return err->code;
}

/* ---- what was appended ---- */

/* Records as they are before compression; as they are where they cannot be inflated. */
static json_t *records_of(const struct kw_batch *batch)
{
	const uint8_t *p = batch->p + KW_B_RECORDS;
	size_t n = batch->size - KW_B_RECORDS;
	struct kw_buf out = {0};
	json_t *hex;

	if ((batch->attributes & KW_A_CODEC) == KW_NONE ||
	    kw_decompress_as(batch->attributes & KW_A_CODEC, NULL, p, n, &out, NULL) < 0)
		hex = kt_hex_json(p, n);
	else
		hex = kt_hex_json(out.p, out.n);
	kw_buf_fini(&out);
	return hex;
}

static json_t *batch_json(const struct kw_batch *batch)
{
	bool right = kw_batch_crc(batch->p, batch->size) == batch->crc;
	bool append_time = batch->attributes & KW_A_LOG_APPEND_TIME;

	return json_pack("{s:I, s:i, s:i, s:b, s:i, s:I, s:o, s:I, s:i, s:i, s:i, s:o}", "baseOffset",
			 (json_int_t)batch->baseOffset, "partitionLeaderEpoch", (int)batch->partitionLeaderEpoch,
			 "attributes", (int)batch->attributes, "crcIsRight", right, "lastOffsetDelta",
			 (int)batch->lastOffsetDelta, "baseTimestamp", (json_int_t)batch->baseTimestamp, "maxTimestamp",
			 append_time ? json_string("append time") : json_integer(batch->maxTimestamp), "producerId",
			 (json_int_t)batch->producerId, "producerEpoch", (int)batch->producerEpoch, "baseSequence",
			 (int)batch->baseSequence, "count", (int)batch->count, "records", records_of(batch));
}

static json_t *appended(const char *base64)
{
	size_t length = base64 ? strlen(base64) : 0;
	uint8_t *p = malloc(length / 4 * 3 + 3);
	long n = p && base64 ? kt_base64_decode(base64, length, p) : 0;
	struct kw_set set = {.p = p, .n = n > 0 ? (size_t)n : 0};
	json_t *batches = json_array();
	struct kw_entry entry;
	struct kw_batch batch;

	while (kw_set_next(&set, &entry, NULL) > 0)
		if (entry.magic == 2 && kw_batch_parse(entry.p, entry.size, &batch, NULL) == 0)
			json_array_append_new(batches, batch_json(&batch));
	free(p);
	return batches;
}

/* ---- the outcome ---- */

/* A clock's time in a message is no two brokers' the same: numbers of 12 digits and more become T. */
static json_t *masked(json_t *text)
{
	const char *s = json_string_value(text);
	char *out = s ? malloc(strlen(s) + 1) : NULL, *at = out;
	json_t *json;

	if (!out)
		return json_null();
	while (*s) {
		size_t digits = strspn(s, "0123456789");

		if (digits >= 12)
			*at++ = 'T';
		else if (digits)
			at = mempcpy(at, s, digits);
		else
			*at++ = *s++;
		s += digits;
	}
	*at = '\0';
	json = json_string(out);
	free(out);
	return json;
}

static json_t *masked_errors(json_t *errors)
{
	json_t *out = json_array(), *error;
	size_t i;

	json_array_foreach(errors, i, error)
		json_array_append_new(out,
				      json_pack("{s:O, s:o}", "batchIndex", json_object_get(error, "batchIndex"),
						"message", masked(json_object_get(error, "batchIndexErrorMessage"))));
	return out;
}

static json_t *answer_of(json_t *answer, int index)
{
	char path[80];

	snprintf(path, sizeof path, "responses[0].partitionResponses[index=%d]", index);
	return cf_at(answer, path);
}

static json_t *partition_outcome(json_t *told, json_t *found, int index)
{
	json_t *out = json_pack("{s:i, s:O, s:o}", "index", index, "endOffset", json_object_get(found, "highWatermark"),
				"appended", appended(json_string_value(json_object_get(found, "records")))), *start;

	if (!told)
		return out;
	start = json_object_get(told, "logStartOffset");
	json_object_set(out, "errorCode", json_object_get(told, "errorCode"));
	json_object_set_new(out, "errorMessage", masked(json_object_get(told, "errorMessage")));
	json_object_set_new(out, "recordErrors", masked_errors(json_object_get(told, "recordErrors")));
	json_object_set(out, "baseOffset", json_object_get(told, "baseOffset"));
	json_object_set_new(out, "logAppendTime",
			    json_string(json_integer_value(json_object_get(told, "logAppendTimeMs")) < 0
					? "none" : "set"));
	json_object_set(out, "logStartOffset", start ? start : json_null());
	return out;
}

static void keep_ends(json_t *topic, json_t *fetched)
{
	json_t *partition;
	size_t i;

	json_array_foreach(cf_at(fetched, "responses[0].partitions"), i, partition)
		json_array_set(json_object_get(topic, "ends"),
			       (size_t)json_integer_value(json_object_get(partition, "partitionIndex")),
			       json_object_get(partition, "highWatermark"));
}

int cf_side_ask(struct cf_side *side, json_t *mutation, json_t **outcome, struct kt_err *err)
{
	json_t *topic = json_object_get(side->topics, cf_text(mutation, "topic")), *fetched = NULL;
	json_t *partitions = json_array(), *partition;
	struct told told = {0};
	struct kt_err why = {0};
	size_t i;

	*outcome = NULL;
	if (produce(side, topic, mutation, &told, err))
		goto out;
	/* A connection may be closed a moment after it has answered; the next fetch goes through a new one. */
	if (fetch(side, topic, &fetched, &why)) {
		if (why.code == KT_ECLOSED || why.code == KT_ENET)
			told.fate = CF_CLOSED;
		if (fetch(side, topic, &fetched, err))
			goto out;
	}
	json_array_foreach(json_object_get(mutation, "partitions"), i, partition) {
		int index = (int)json_integer_value(json_object_get(partition, "index"));
		char path[80];

		snprintf(path, sizeof path, "responses[0].partitions[partitionIndex=%d]", index);
		json_array_append_new(partitions,
				      partition_outcome(answer_of(told.answer, index), cf_at(fetched, path), index));
	}
	keep_ends(topic, fetched);
	*outcome = json_pack("{s:s, s:O, s:O}", "connection", cf_fate_words[told.fate], "answered", told.answered,
			     "partitions", partitions);
out:
	json_decref(partitions);
	json_decref(told.answer);
	json_decref(told.answered);
	json_decref(fetched);
	return err->code;
}
