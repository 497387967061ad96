/* send: any request. */
#include <string.h>

#include "conformance/vars.h"
#include "conformance/verbs/verbs.h"

const struct cf_arg cf_args_send[] = {
	{"api", CF_ARG_STR, true, "Kafka's name of the request: \"CreateTopics\""},
	{"version", CF_ARG_ANY, false, "a number or \"latest\""},
	{"body", CF_ARG_OBJECT, true, "the request as JSON"},
	{"to", CF_ARG_STR, false, "\"broker\" (unless given), \"controller\", \"leader\" of \"topic\", \"coordinator\" "
				   "of \"transactionalId\""},
	{"topic", CF_ARG_STR, false, "whose leader is meant"},
	{"transactionalId", CF_ARG_STR, false, "whose coordinator is meant"},
	{"at", CF_ARG_STR, false, "path of the part of the answer that the expectation is about"},
	{"tags", CF_ARG_ARRAY, false, "[{\"tag\": N, \"hex\": \"..\"}]: unknown tagged fields behind the body"},
	{"edits", CF_ARG_EDITS, false, "changes of the right frame, see docs/edits.md"},
	{0},
};

int cf_verb_send(struct cf_run *run, json_t *args, struct cf_outcome *out, struct kt_err *err)
{
	const char *name = json_string_value(json_object_get(args, "api")),
		   *at = json_string_value(json_object_get(args, "at"));
	json_t *topic = json_object_get(args, "topic");
	struct cf_link *link = cf_run_link(run, json_string_value(json_object_get(args, "to")),
					   json_string_value(topic ? topic : json_object_get(args, "transactionalId")),
					   err);
	int api = kw_api_key(name), version;

	if (api < 0)
		return kt_fail(err, KT_EUSAGE, "unknown API \"%s\"", name);
	if (!link)
		return err->code;
	version = cf_run_version(run, link, api, args, -1, err);
	if (err->code ||
	    cf_run_exchange_edited(link, api, version, json_incref(json_object_get(args, "body")),
				   json_object_get(args, "tags"), json_object_get(args, "edits"), false, out, err))
		return err->code;
	if (at) {
		json_decref(out->subject);
		out->subject = json_incref(cf_at(out->body, at));
	}
	return 0;
}
