/* probe: is the target still there? */
#include <string.h>

#include "conformance/verbs/verbs.h"

enum { METADATA = 3 };

const struct cf_arg cf_args_probe[] = {
	{"on", CF_ARG_STR, false, "\"same\" connection (unless given), or a \"new\" one"},
	{"to", CF_ARG_STR, false, "\"broker\" (unless given) or \"controller\""},
	{0},
};

int cf_verb_probe(struct cf_run *run, json_t *args, struct cf_outcome *out, struct kt_err *err)
{
	const char *on = json_string_value(json_object_get(args, "on")),
		   *to = json_string_value(json_object_get(args, "to"));
	struct cf_link *link = cf_run_link(run, to, NULL, err);
	bool controller = to && strcmp(to, "controller") == 0;
	const char *name = controller ? "ApiVersions" : "Metadata";
	int api = kw_api_key(name), version;

	if (link && on && strcmp(on, "new") == 0) {
		cf_link_close(link);
		link = cf_run_link(run, to, NULL, err);
	}
	if (!link)
		return err->code;
	version = controller ? 0 : cf_link_version(link, api, CF_LATEST, -1, err);
	if (err->code || cf_run_exchange(link, api, version,
					 controller ? json_object()
						    : json_pack("{s:[], s:b}", "topics", "allowAutoTopicCreation", 0),
					 NULL, false, out, err))
		return err->code;
	return out->answered ? 0 : kt_fail(err, KT_ECLOSED, "the target does not answer a harmless request any more");
}
