/* produce: the batches of one partition, in the form of lib/wire/batch.h. */
#include <stdio.h>
#include <string.h>

#include "conformance/vars.h"
#include "conformance/verbs/verbs.h"

enum { PRODUCE = 0, FIRST_BY_ID = 13, ACKS_ALL = -1 };

const struct cf_arg cf_args_produce[] = {
	{"topic", CF_ARG_STR, true, "name of the topic"},
	{"partition", CF_ARG_INT, false, "0 unless given"},
	{"batches", CF_ARG_ARRAY, true, "batches, right and wrong, in the form of lib/wire/batch.h"},
	{"acks", CF_ARG_INT, false, "-1 unless given; with 0 no answer is read"},
	{"transactionalId", CF_ARG_STR, false, "null unless given"},
	{"timeoutMs", CF_ARG_INT, false, "5000 unless given"},
	{"version", CF_ARG_ANY, false, "a number or \"latest\""},
	{0},
};

static json_t *topic_key(struct cf_run *run, const char *topic, int version, struct kt_err *err)
{
	json_t *id = json_object_get(run->topic_ids, topic);

	if (version < FIRST_BY_ID)
		return json_pack("{s:s}", "name", topic);
	if (id)
		return json_pack("{s:O}", "topicId", id);
	kt_fail(err, KT_EPEER, "Produce %d names topics by id, and the target told none of \"%s\"", version, topic);
	return NULL;
}

static json_t *number(json_t *args, const char *name, json_int_t fallback)
{
	json_t *given = json_object_get(args, name);

	return given ? json_incref(given) : json_integer(fallback);
}

/* The answer for the partition that was asked. */
static json_t *partition_of(json_t *body, const char *topic, json_t *id, json_int_t partition)
{
	char path[400];

	if (json_object_get(json_array_get(json_object_get(body, "responses"), 0), "topicId"))
		snprintf(path, sizeof path,
			 "responses[topicId=%s].partitionResponses[index=%lld]", json_string_value(id),
			 (long long)partition);
	else
		snprintf(path, sizeof path,
			 "responses[name=%s].partitionResponses[index=%lld]", topic, (long long)partition);
	return cf_at(body, path);
}

int cf_verb_produce(struct cf_run *run, json_t *args, struct cf_outcome *out, struct kt_err *err)
{
	const char *topic = json_string_value(json_object_get(args, "topic"));
	struct cf_link *link = cf_run_link(run, "leader", topic, err);
	json_t *partition = number(args, "partition", 0), *acks = number(args, "acks", ACKS_ALL), *entry = NULL;
	json_t *transactional = json_object_get(args, "transactionalId");
	int version = link ? cf_run_version(run, link, PRODUCE, args, -1, err) : -1;

	if (err->code == KT_OK)
		entry = topic_key(run, topic, version, err);
	if (!entry)
		goto out;
	json_object_set_new(entry, "partitionData",
			    json_pack("[{s:O, s:{s:O}}]", "index", partition, "records", "batches",
				      json_object_get(args, "batches")));
	if (cf_run_exchange(link, PRODUCE, version,
			    json_pack("{s:O, s:O, s:o, s:[o]}", "transactionalId",
				      transactional ? transactional : json_null(), "acks", acks, "timeoutMs",
				      number(args, "timeoutMs", 5000), "topicData", entry),
			    NULL, json_integer_value(acks) == 0, out, err))
		goto out;
	json_decref(out->subject);
	out->subject = json_incref(partition_of(out->body, topic, json_object_get(run->topic_ids, topic),
						json_integer_value(partition)));
out:
	json_decref(partition);
	json_decref(acks);
	return err->code;
}
