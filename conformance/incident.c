#include "conformance/incident.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAME_MAX = 100 << 20 };

/* ---- reading ---- */

static int read_notes(struct cf_incident *incident, struct kt_obj *obj)
{
	struct kt_obj note;
	struct kt_arr arr;

	if (!kt_obj_array(obj, "notes", &arr))
		return obj->err->code;
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

static int read_topic(struct cf_incident *incident, struct kt_obj *obj)
{
	struct kt_obj topic;

	if (!kt_obj_object(obj, "topic", &topic))
		return obj->err->code;
	kt_obj_need(&topic, "name", NULL);
	kt_obj_str(&topic, "name", &incident->topic);
	incident->topic_configs = kt_obj_any(&topic, "configs");
	kt_obj_need(obj, "endOffset", NULL);
	kt_obj_int(obj, "endOffset", 0, INT32_MAX, &incident->end_offset);
	return kt_obj_done(&topic);
}

/* What is sent: recorded bytes, or a request that is built. */
static void read_request(struct cf_incident *incident, struct kt_obj *obj)
{
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
	kt_obj_need(&obj, "id", "title", "source", "text", "expect", NULL);
	kt_obj_str(&obj, "id", &incident->id);
	kt_obj_str(&obj, "title", &incident->title);
	kt_obj_str(&obj, "text", &incident->text);
	incident->sources = kt_obj_any(&obj, "source");
	incident->expect = kt_obj_any(&obj, "expect");
	read_request(incident, &obj);
	if (read_topic(incident, &obj) || read_notes(incident, &obj) || read_mended(incident, &obj))
		return err->code;
	return kt_obj_done(&obj);
}

/* ---- as a case ---- */

static json_t *request_step(const struct cf_incident *incident, json_t *send, json_t *expect)
{
	json_t *answer = incident->answer, *frame;

	if (send)
		return json_pack("{s:O, s:O}", "send", send, "expect", expect);
	frame = json_pack("{s:s, s:{s:O, s:O}}", "hex", incident->frame, "answer", "api", json_object_get(answer, "api"),
			  "version", json_object_get(answer, "version"));
	if (incident->topic)
		json_object_update_new(frame, json_pack("{s:{s:s}, s:s}", "rename", incident->topic, "$topic", "topic", "$topic"));
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
		json_array_append_new(steps, json_pack("{s:{s:s}, s:{s:{s:i}}}", "endOffset", "topic", "$topic", "expect",
						       "body", "offset", offset));
}

static json_t *case_json(const struct cf_incident *incident)
{
	json_t *steps = json_pack("[o]", request_step(incident, incident->send, incident->expect));
	json_t *json, *topic;

	add_end_step(incident, steps, incident->end_offset);
	if (incident->mended_title) {
		json_array_append_new(steps, mended_step(incident));
		add_end_step(incident, steps, incident->mended_end_offset);
	}
	json = json_pack("{s:s, s:s, s:o}", "id", "incident.replay", "title", incident->title, "steps", steps);
	if (incident->topic) {
		topic = json_object();
		if (incident->topic_configs)
			json_object_set(topic, "configs", incident->topic_configs);
		json_object_set_new(json, "topics", json_pack("{s:o}", "topic", topic));
	}
	return json;
}

static int make_case(struct cf_incident *incident, struct kt_err *err)
{
	json_t *json = case_json(incident);
	char *text = json ? json_dumps(json, 0) : NULL;

	if (text)
		cf_case_parse(incident->doc.name, text, &incident->cas, err);
	else
		kt_fail(err, KT_ETYPE, "\"answer\" needs \"api\" and \"version\"");
	free(text);
	json_decref(json);
	return err->code;
}

int cf_incident_load(struct cf_incident *incident, const char *file, struct kt_err *err)
{
	memset(incident, 0, sizeof *incident);
	if (kt_json_load(&incident->doc, file, err) || read_incident(incident, err))
		return err->code;
	return make_case(incident, err);
}

void cf_incident_fini(struct cf_incident *incident)
{
	cf_case_free(incident->cas);
	free(incident->notes);
	kt_json_fini(&incident->doc);
	memset(incident, 0, sizeof *incident);
}
