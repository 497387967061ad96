#include "conformance/incident.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/capability.h"
#include "lib/text/base64.h"
#include "lib/wire/batch.h"

enum { FRAME_MAX = 100 << 20, PARTITIONS_MAX = 10 };

/* ---- reading ---- */

static int read_notes(struct cf_incident *incident, struct kt_obj *obj)
{
	struct kt_obj note;
	struct kt_arr arr;

	if (!kt_obj_array(obj, "notes", &arr))
		return obj->err->code;
	if (!incident->frame)
		return kt_obj_fail(obj, "notes", KT_EUSAGE, "notes are about the bytes of \"frame\"");
	incident->notes = calloc(arr.n + 1, sizeof *incident->notes);
	if (!incident->notes)
		return kt_obj_fail(obj, NULL, KT_ENOMEM, "out of memory");
	while (kt_arr_object(&arr, &note)) {
		struct cf_incident_note *place = &incident->notes[incident->nnotes++];

		kt_obj_need(&note, "at", "size", "text", NULL);
		kt_obj_int(&note, "at", 0, FRAME_MAX, &place->at);
		kt_obj_int(&note, "size", 1, 64, &place->size);
		kt_obj_str(&note, "text", &place->text);
		if (kt_obj_done(&note))
			break;
	}
	return obj->err->code;
}

static int read_mended(struct cf_incident *incident, struct kt_obj *obj)
{
	struct kt_obj mended;

	if (!kt_obj_object(obj, "mended", &mended))
		return obj->err->code;
	kt_obj_need(&mended, "title", incident->frame ? "edits" : "send", "expect", NULL);
	if (incident->topic)
		kt_obj_need(&mended, "endOffset", NULL);
	kt_obj_str(&mended, "title", &incident->mended_title);
	incident->mended_edits = incident->frame ? kt_obj_any(&mended, "edits") : NULL;
	incident->mended_send = incident->send ? kt_obj_any(&mended, "send") : NULL;
	incident->mended_expect = kt_obj_any(&mended, "expect");
	if (incident->topic)
		kt_obj_int(&mended, "endOffset", 0, INT32_MAX, &incident->mended_end_offset);
	return kt_obj_done(&mended);
}

/* The bytes are built once, so that what is put in and what is expected back are the same. */
static int read_log(struct cf_incident *incident, struct kt_obj *obj)
{
	struct kt_obj log, records;
	bool keep_offsets = false;
	json_t *batches;

	if (!kt_obj_object(obj, "log", &log))
		return obj->err->code;
	kt_obj_need(&log, "keepOffsets", "records", NULL);
	kt_obj_bool(&log, "keepOffsets", &keep_offsets);
	kt_obj_object(&log, "records", &records);
	kt_obj_need(&records, "batches", NULL);
	batches = kt_obj_any(&records, "batches");
	if (kt_obj_done(&records) || kt_obj_done(&log))
		return obj->err->code;
	if (!keep_offsets)
		return kt_obj_fail(&log, "keepOffsets", KT_EUSAGE,
				   "an incident's bytes are kept as they are: true is expected");
	if (!incident->topic)
		return kt_obj_fail(obj, "log", KT_EUSAGE, "\"log\" needs \"topic\"");
	incident->has_log = true;
	if (kw_batches_from_json(batches, &incident->log, obj->err))
		return kt_obj_place(&records, "batches");
	return 0;
}

static int read_topic(struct cf_incident *incident, struct kt_obj *obj)
{
	struct kt_obj topic;

	if (!kt_obj_object(obj, "topic", &topic))
		return obj->err->code;
	kt_obj_need(&topic, "name", NULL);
	kt_obj_str(&topic, "name", &incident->topic);
	incident->topic_configs = kt_obj_any(&topic, "configs");
	incident->topic_partitions = 1;
	kt_obj_int(&topic, "partitions", 1, PARTITIONS_MAX, &incident->topic_partitions);
	if (!incident->steps) {
		kt_obj_need(obj, "endOffset", NULL);
		kt_obj_int(obj, "endOffset", 0, INT32_MAX, &incident->end_offset);
	}
	return kt_obj_done(&topic);
}

/* What is sent: recorded bytes, a request that is built, or several. */
static void read_request(struct cf_incident *incident, struct kt_obj *obj)
{
	incident->steps = kt_obj_any(obj, "steps");
	if (incident->steps) {
		incident->needs = kt_obj_any(obj, "needs");
		return;
	}
	kt_obj_need(obj, "expect", NULL);
	incident->expect = kt_obj_any(obj, "expect");
	incident->send = kt_obj_any(obj, "send");
	if (incident->send)
		return;
	kt_obj_need(obj, "frame", "answer", NULL);
	kt_obj_str(obj, "frame", &incident->frame);
	incident->answer = kt_obj_any(obj, "answer");
}

static int read_incident(struct cf_incident *incident, struct kt_err *err)
{
	struct kt_obj obj;

	kt_obj_root(&obj, &incident->doc, err);
	kt_obj_need(&obj, "id", "title", "source", "text", NULL);
	kt_obj_str(&obj, "id", &incident->id);
	kt_obj_str(&obj, "title", &incident->title);
	kt_obj_str(&obj, "text", &incident->text);
	incident->sources = kt_obj_any(&obj, "source");
	read_request(incident, &obj);
	if (read_topic(incident, &obj) || read_notes(incident, &obj) || read_log(incident, &obj))
		return err->code;
	if (!incident->steps && read_mended(incident, &obj))
		return err->code;
	return kt_obj_done(&obj);
}

/* ---- as a case ---- */

static json_t *request_step(const struct cf_incident *incident, json_t *send, json_t *expect)
{
	json_t *answer = incident->answer, *frame;

	if (send)
		return json_pack("{s:O, s:O}", "send", send, "expect", expect);
	frame = json_pack("{s:s, s:{s:O, s:O}}", "hex", incident->frame, "answer", "api",
			  json_object_get(answer, "api"), "version", json_object_get(answer, "version"));
	if (incident->topic)
		json_object_update_new(frame, json_pack("{s:{s:s}, s:s}", "rename", incident->topic, "$topic", "topic",
							"$topic"));
	if (json_object_get(answer, "at"))
		json_object_set(frame, "at", json_object_get(answer, "at"));
	return json_pack("{s:o, s:O}", "frame", frame, "expect", expect);
}

static json_t *mended_step(const struct cf_incident *incident)
{
	json_t *step = request_step(incident, incident->mended_send, incident->mended_expect);

	if (incident->mended_edits)
		json_object_set(json_object_get(step, "frame"), "edits", incident->mended_edits);
	return step;
}

static void add_end_step(const struct cf_incident *incident, json_t *steps, int offset)
{
	if (incident->topic)
		json_array_append_new(steps, json_pack("{s:{s:s}, s:{s:{s:i}}}", "endOffset", "topic", "$topic",
						       "expect", "body", "offset", offset));
}

/* The requests, sound and mended, each with what is left in the topic. */
static json_t *request_steps(const struct cf_incident *incident)
{
	json_t *steps = json_pack("[o]", request_step(incident, incident->send, incident->expect));

	add_end_step(incident, steps, incident->end_offset);
	if (incident->mended_title) {
		json_array_append_new(steps, mended_step(incident));
		add_end_step(incident, steps, incident->mended_end_offset);
	}
	return steps;
}

/* Puts the bytes into the log and fetches them. */
static json_t *log_steps(const struct cf_incident *incident)
{
	size_t n = incident->log.n;
	char *base64 = malloc(kt_base64_len(n, false) + 1);
	json_t *steps = NULL;

	if (base64) {
		kt_base64_encode(incident->log.p, n, false, base64);
		steps = json_pack("[{s:{s:s, s:s, s:{s:b, s:{s:o}}}, s:{s:{s:i}}},"
				  "{s:{s:s, s:i, s:s, s:s, s:s, s:{s:i, s:i, s:i, s:i, s:[{s:s, s:[{s:i, s:i, "
				  "s:i}]}]}}, s:{s:s, s:s, s:{s:s}}}]",
				  "control", "path", "/v1/partitions/${topic}/0/append", "method", "POST", "body",
				  "keepOffsets", 1, "records", "hex", kt_hex_json(incident->log.p, n),
				  "expect", "body", "status", 200, "send", "api", "Fetch", "version", 4, "to",
				  "leader", "topic", "$topic", "at", "responses[0].partitions[0]", "body",
				  "replicaId", -1, "maxWaitMs", 0, "minBytes", 1,
				  "maxBytes", INT32_MAX, "topics", "topic", "$topic", "partitions", "partition", 0,
				  "fetchOffset", 0, "partitionMaxBytes", INT32_MAX, "expect", "name",
				  "fetched as they are", "error", "NONE", "body", "records", base64);
	}
	free(base64);
	return steps;
}

/* Takes steps. needs may be NULL. */
static json_t *case_json(const struct cf_incident *incident, json_t *steps, json_t *needs)
{
	json_t *json = json_pack("{s:s, s:s, s:o}", "id", "incident.replay", "title", incident->title, "steps", steps),
	       *topic;

	if (json && incident->topic) {
		topic = json_pack("{s:i}", "partitions", incident->topic_partitions);
		if (incident->topic_configs)
			json_object_set(topic, "configs", incident->topic_configs);
		json_object_set_new(json, "topics", json_pack("{s:o}", "topic", topic));
	}
	if (json && needs)
		json_object_set(json, "needs", needs);
	return json;
}

/* Takes json. */
static int make_case(const struct cf_incident *incident, json_t *json, struct cf_case **out, struct kt_err *err)
{
	char *text = json ? json_dumps(json, 0) : NULL;

	if (text)
		cf_case_parse(incident->doc.name, text, out, err);
	else
		kt_fail(err, KT_ETYPE, "\"answer\" needs \"api\" and \"version\"");
	free(text);
	json_decref(json);
	return err->code;
}

static int make_cases(struct cf_incident *incident, struct kt_err *err)
{
	json_t *steps = incident->steps ? json_incref(incident->steps) : request_steps(incident), *needs;

	if (make_case(incident, case_json(incident, steps, incident->needs), &incident->cas, err) || !incident->has_log)
		return err->code;
	needs = json_pack("[s]", cf_capability_name(CF_CAN_CONTROL));
	make_case(incident, case_json(incident, log_steps(incident), needs), &incident->log_case, err);
	json_decref(needs);
	return err->code;
}

int cf_incident_load(struct cf_incident *incident, const char *file, struct kt_err *err)
{
	memset(incident, 0, sizeof *incident);
	if (kt_json_load(&incident->doc, file, err) || read_incident(incident, err))
		return err->code;
	return make_cases(incident, err);
}

void cf_incident_fini(struct cf_incident *incident)
{
	cf_case_free(incident->cas);
	cf_case_free(incident->log_case);
	kw_buf_fini(&incident->log);
	free(incident->notes);
	kt_json_fini(&incident->doc);
	memset(incident, 0, sizeof *incident);
}
