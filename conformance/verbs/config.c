/* alter and describe: the configs of one resource. */
#include <stdio.h>
#include <string.h>

#include "conformance/vars.h"
#include "conformance/verbs/verbs.h"

enum { INCREMENTAL_ALTER_CONFIGS = 44, DESCRIBE_CONFIGS = 32, RESOURCE_BROKER = 4 };

const struct cf_arg cf_args_alter[] = {
	{"resource", CF_ARG_STR, true,
	 "\"topic:NAME\", \"broker:ID\", \"broker:\" (all), \"group:ID\", \"client-metrics:NAME\""},
	{"set", CF_ARG_OBJECT, false, "config -> value or null"},
	{"delete", CF_ARG_ARRAY, false, "configs"},
	{"append", CF_ARG_OBJECT, false, "list config -> elements"},
	{"subtract", CF_ARG_OBJECT, false, "list config -> elements"},
	{"validateOnly", CF_ARG_BOOL, false, "false unless given"},
	{"to", CF_ARG_STR, false, "\"broker\" (unless given) or \"controller\""},
	{"version", CF_ARG_ANY, false, "a number or \"latest\""},
	{0},
};

const struct cf_arg cf_args_describe[] = {
	{"resource", CF_ARG_STR, true, "as in alter"},
	{"keys", CF_ARG_ARRAY, false, "configs; all unless given"},
	{"version", CF_ARG_ANY, false, "a number or \"latest\""},
	{0},
};

static const struct {
	const char *word;
	int type;
} types[] = {{"topic", 2}, {"broker", 4}, {"broker-logger", 8}, {"client-metrics", 16}, {"group", 32}};

static const struct {
	const char *member;
	int operation;
} operations[] = {{"set", 0}, {"delete", 1}, {"append", 2}, {"subtract", 3}};

static int split_resource(json_t *args, int *type, const char **name, struct kt_err *err)
{
	const char *resource = json_string_value(json_object_get(args, "resource")), *colon = strchr(resource, ':');
	size_t n = colon ? (size_t)(colon - resource) : 0;

	for (size_t i = 0; colon && i < sizeof types / sizeof *types; i++)
		if (strlen(types[i].word) == n && strncmp(types[i].word, resource, n) == 0) {
			*type = types[i].type;
			*name = colon + 1;
			return 0;
		}
	return kt_fail(err, KT_EUSAGE,
		       "resource: must be \"topic:NAME\", \"broker:ID\" or the like, not \"%s\"", resource);
}

static json_t *alterations(json_t *args)
{
	json_t *out = json_array(), *value;
	const char *name;
	size_t k;

	for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
		json_t *member = json_object_get(args, operations[i].member);

		json_object_foreach(member, name, value)
			json_array_append_new(out, json_pack("{s:s, s:i, s:O}", "name", name, "configOperation",
							     operations[i].operation, "value", value));
		json_array_foreach(member, k, value)
			json_array_append_new(out, json_pack("{s:O, s:i, s:n}", "name", value, "configOperation",
							     operations[i].operation, "value"));
	}
	return out;
}

/* What was set on brokers outlives the topics of the case. */
static void remember(struct cf_run *run, json_t *args, const char *resource, json_t *subject)
{
	const char *name;
	json_t *value;

	if (cf_error_code(subject) != 0 ||
	    json_is_true(json_object_get(args, "validateOnly")))
		return;
	json_object_foreach(json_object_get(args, "set"), name, value)
		json_array_append_new(run->configs, json_pack("[s, s]", resource, name));
}

int cf_verb_alter(struct cf_run *run, json_t *args, struct cf_outcome *out, struct kt_err *err)
{
	struct cf_link *link = cf_run_link(run, json_string_value(json_object_get(args, "to")), NULL, err);
	const char *name;
	int type, version;

	if (!link || split_resource(args, &type, &name, err))
		return err->code;
	version = cf_run_version(run, link, INCREMENTAL_ALTER_CONFIGS, args, -1, err);
	if (err->code)
		return err->code;
	if (cf_run_exchange(link, INCREMENTAL_ALTER_CONFIGS, version,
			    json_pack("{s:[{s:i, s:s, s:o}], s:b}", "resources", "resourceType", type, "resourceName",
				      name, "configs", alterations(args), "validateOnly",
				      json_is_true(json_object_get(args, "validateOnly"))),
			    NULL, false, out, err))
		return err->code;
	json_decref(out->subject);
	out->subject = json_incref(cf_at(out->body, "responses[0]"));
	if (type == RESOURCE_BROKER && out->subject)
		remember(run, args, name, out->subject);
	return 0;
}

int cf_verb_describe(struct cf_run *run, json_t *args, struct cf_outcome *out, struct kt_err *err)
{
	struct cf_link *link = cf_run_link(run, "broker", NULL, err);
	json_t *keys = json_object_get(args, "keys");
	const char *name;
	int type, version;

	if (!link || split_resource(args, &type, &name, err))
		return err->code;
	version = cf_run_version(run, link, DESCRIBE_CONFIGS, args, -1, err);
	if (err->code)
		return err->code;
	if (cf_run_exchange(link, DESCRIBE_CONFIGS, version,
			    json_pack("{s:[{s:i, s:s, s:O}]}", "resources", "resourceType", type, "resourceName", name,
				      "configurationKeys", keys ? keys : json_null()),
			    NULL, false, out, err))
		return err->code;
	json_decref(out->subject);
	out->subject = json_incref(cf_at(out->body, "results[0]"));
	return 0;
}
