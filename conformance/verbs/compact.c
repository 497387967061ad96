/* compact: one round of log compaction, over the whole log at once, on any broker.
 *
 * A fakebroker compacts when its control API is asked to. Another broker compacts by itself, and is kept from it until
 * then: the topic has min.cleanable.dirty.ratio 1, which no log exceeds. With 0 any new record will do; once the round
 * has been, which a record shows that is there no more, it is 1 again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "conformance/vars.h"
#include "conformance/verbs/verbs.h"
#include "lib/client/http.h"
#include "lib/wire/errors.h"

enum { RESOURCE_TOPIC = 2, WAIT = 60000, POLL = 100, OK = 200 };

const struct cf_arg cf_args_compact[] = {
	{"topic", CF_ARG_STR, true, "name of the topic; it has min.cleanable.dirty.ratio 1"},
	{"partition", CF_ARG_INT, false, "0 unless given"},
	{"gone", CF_ARG_INT, true, "offset of a record that the round takes away"},
	{"timeoutMs", CF_ARG_INT, false, "how long a broker may take that compacts by itself; 60000 unless given"},
	{0},
};

/* The control API's {"error": text}, or what else it said. */
static void refuse(int status, const char *answer, struct kt_err *err)
{
	json_t *json = json_loads(answer, 0, NULL);
	const char *why = json_string_value(json_object_get(json, "error"));

	kt_fail(err, KT_EUSAGE, "the control API answers %d: %.300s", status, why ? why : answer);
	json_decref(json);
}

static int ask_control(struct cf_run *run, const char *topic, json_int_t partition, struct kt_err *err)
{
	char url[600], *answer = NULL;
	int status = 0;

	snprintf(url, sizeof url,
		 "%s/v1/partitions/%s/%lld/compact", run->target->control_url, topic, (long long)partition);
	if (kc_http("POST", url, NULL, run->target->profile->timeout, &status, &answer, err) == 0 && status != OK)
		refuse(status, answer, err);
	free(answer);
	return err->code;
}

static int set_ratio(struct cf_run *run, const char *topic, const char *value, struct kt_err *err)
{
	struct cf_link *link = cf_run_link(run, "broker", NULL, err);
	json_t *answer = NULL, *row;
	char why[400];

	if (!link || cf_link_ask(link, "IncrementalAlterConfigs", CF_LATEST,
				 json_pack("{s:[{s:i, s:s, s:[{s:s, s:i, s:s}]}]}", "resources", "resourceType",
					   RESOURCE_TOPIC, "resourceName", topic, "configs", "name",
					   "min.cleanable.dirty.ratio", "configOperation", 0, "value", value),
				 &answer, err))
		return err->code;
	row = cf_at(answer, "responses[0]");
	if (!row || cf_error_code(row))
		kt_fail(err, KT_EPEER, "min.cleanable.dirty.ratio of %s cannot be set to %s: %s", topic, value,
			row ? cf_error_text(row, why, sizeof why) : "IncrementalAlterConfigs answered for no resource");
	json_decref(answer);
	return err->code;
}

/* Behind the log's start it is, too; any other refusal says nothing about it. */
static bool is_gone(json_t *subject, json_int_t offset)
{
	json_t *records = json_object_get(subject, "records"), *record;
	int error = cf_error_code(subject);
	size_t i;

	if (!records || (error != 0 && error != KW_ERR_OFFSET_OUT_OF_RANGE))
		return false;
	json_array_foreach(records, i, record)
		if (json_integer_value(json_object_get(record, "offset")) == offset)
			return false;
	return true;
}

/* Fetches from that record on until it is not there, or the time is up; the outcome is the last fetch's, and `gone`. */
static int await(struct cf_run *run, json_t *args, int64_t deadline, struct cf_outcome *out, struct kt_err *err)
{
	json_int_t offset = json_integer_value(json_object_get(args, "gone"));
	json_t *fetch = json_pack("{s:O, s:I}", "topic", json_object_get(args, "topic"), "offset", offset);
	bool gone;

	if (json_object_get(args, "partition"))
		json_object_set(fetch, "partition", json_object_get(args, "partition"));
	while (cf_verb_fetch(run, fetch, out, err) == 0) {
		struct timespec ts = {.tv_nsec = POLL * 1000000L};

		gone = is_gone(out->subject, offset);
		if (out->subject)
			json_object_set_new(out->subject, "gone", json_boolean(gone));
		if (gone || kc_now_ms() >= deadline)
			break;
		cf_outcome_fini(out);
		nanosleep(&ts, NULL);
	}
	json_decref(fetch);
	return err->code;
}

/* What the log does not have is not there after the round either, which proves nothing. */
static int must_be_within(struct cf_run *run, json_t *args, struct kt_err *err)
{
	json_t *ask = json_pack("{s:O, s:O*}", "topic", json_object_get(args, "topic"), "partition",
				json_object_get(args, "partition"));
	json_int_t offset = json_integer_value(json_object_get(args, "gone")), end;
	struct cf_outcome out = {0};

	if (cf_verb_end_offset(run, ask, &out, err) == 0 && out.subject && cf_error_code(out.subject) == 0) {
		end = json_integer_value(json_object_get(out.subject, "offset"));
		if (offset < 0 || offset >= end)
			kt_fail(err, KT_EUSAGE, "there is no record %lld to be taken away: the log ends at offset %lld",
				(long long)offset, (long long)end);
	}
	cf_outcome_fini(&out);
	json_decref(ask);
	return err->code;
}

int cf_verb_compact(struct cf_run *run, json_t *args, struct cf_outcome *out, struct kt_err *err)
{
	const char *topic = json_string_value(json_object_get(args, "topic"));
	json_t *wait = json_object_get(args, "timeoutMs");
	int64_t ms = cf_profile_wait(run->target->profile, wait ? (int)json_integer_value(wait) : WAIT);

	if (must_be_within(run, args, err))
		return err->code;
	if (run->target->can[CF_CAN_CONTROL].present) {
		if (ask_control(run, topic, json_integer_value(json_object_get(args, "partition")), err) == 0)
			await(run, args, 0, out, err);
	} else if (set_ratio(run, topic, "0", err) == 0 && await(run, args, kc_now_ms() + ms, out, err) == 0) {
		set_ratio(run, topic, "1", err);
	}
	return err->code;
}
