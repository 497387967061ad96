/* register: a broker that registers, right in everything that the step does not change. */
#include <string.h>

#include "conformance/verbs/verbs.h"
#include "lib/text/base64.h"

enum { BROKER_REGISTRATION = 62, FIRST_ZK = 1, FIRST_LOG_DIRS = 2, FIRST_EPOCH = 3, KAFKAS_LATEST = 4,
       STATIC_CONFIGS = 5 };

const struct cf_arg cf_args_register[] = {
	{"brokerId", CF_ARG_ANY, false, "one that no broker has, unless given"},
	{"incarnationId", CF_ARG_STR, false, "a random uuid unless given"},
	{"features", CF_ARG_OBJECT, false,
	 "feature -> [min, max], or null to leave it out; else what the controller supports"},
	{"staticConfigs", CF_ARG_OBJECT, false, "config -> value or null (sensitive); version 5"},
	{"body", CF_ARG_OBJECT, false, "members of the request that replace the ones made up"},
	{"tags", CF_ARG_ARRAY, false, "as in send"},
	{"version", CF_ARG_INT, false, "4, or 5 with staticConfigs, unless given"},
	{0},
};

static json_t *random_uuid(struct cf_run *run)
{
	struct kw_uuid id;
	char text[23];

	for (size_t i = 0; i < sizeof id.b; i++)
		id.b[i] = (uint8_t)cf_random(run);
	kw_uuid_text(id, text);
	return json_string(text);
}

static json_t *default_features(const struct cf_target *target)
{
	json_t *out = json_object(), *row;
	size_t i;

	json_array_foreach(json_object_get(target->controller_apis, "supportedFeatures"), i, row)
		json_object_set_new(out, json_string_value(json_object_get(row, "name")),
				    json_pack("[I, I]", json_integer_value(json_object_get(row, "minVersion")),
					      json_integer_value(json_object_get(row, "maxVersion"))));
	return out;
}

static json_t *features(const struct cf_target *target, json_t *changes)
{
	json_t *ranges = default_features(target), *out = json_array(), *range;
	const char *name;

	json_object_update(ranges, changes);
	json_object_foreach(ranges, name, range)
		if (json_is_array(range))
			json_array_append_new(out, json_pack("{s:s, s:O, s:O}", "name", name, "minSupportedVersion",
							     json_array_get(range, 0), "maxSupportedVersion",
							     json_array_get(range, 1)));
	json_decref(ranges);
	return out;
}

static json_t *static_configs(json_t *configs)
{
	json_t *out = json_array(), *value;
	const char *name;

	json_object_foreach(configs, name, value)
		json_array_append_new(out, json_pack("{s:s, s:O, s:b}", "name", name, "value", value, "isSensitive",
						     json_is_null(value)));
	return out;
}

static json_t *id_of(struct cf_run *run, json_t *args)
{
	json_t *given = json_object_get(args, "brokerId");

	if (!given)
		given = json_object_get(run->vars, "newBroker");
	return json_is_string(given) ? json_integer(run->target->broker_id) : json_incref(given);
}

static json_t *request(struct cf_run *run, json_t *args, int version)
{
	json_t *incarnation = json_object_get(args, "incarnationId");
	json_t *body = json_pack("{s:o, s:s, s:o, s:[{s:s, s:s, s:i, s:i}], s:o, s:n}", "brokerId", id_of(run, args),
				 "clusterId", run->target->cluster_id, "incarnationId",
				 incarnation ? json_incref(incarnation) : random_uuid(run), "listeners", "name",
				 "PLAINTEXT", "host", "127.0.0.1", "port", 1, "securityProtocol", 0, "features",
				 features(run->target, json_object_get(args, "features")), "rack");

	if (version >= FIRST_ZK)
		json_object_set_new(body, "isMigratingZkBroker", json_false());
	if (version >= FIRST_LOG_DIRS)
		json_object_set_new(body, "logDirs", json_pack("[o]", random_uuid(run)));
	if (version >= FIRST_EPOCH)
		json_object_set_new(body, "previousBrokerEpoch", json_integer(-1));
	if (json_object_get(args, "staticConfigs"))
		json_object_set_new(body, "staticConfigs", static_configs(json_object_get(args, "staticConfigs")));
	json_object_update(body, json_object_get(args, "body"));
	return body;
}

/* What the controller took is to be unregistered, once. */
static void remember(struct cf_run *run, json_t *id, json_t *answer)
{
	json_t *known;
	size_t i;

	if (!answer || cf_error_code(answer) != 0 ||
	    json_integer_value(id) == run->target->broker_id)
		return;
	json_array_foreach(run->brokers, i, known)
		if (json_equal(known, id))
			return;
	json_array_append(run->brokers, id);
}

int cf_verb_register(struct cf_run *run, json_t *args, struct cf_outcome *out, struct kt_err *err)
{
	struct cf_link *link = cf_run_link(run, "controller", NULL, err);
	int max = json_object_get(args, "staticConfigs") ? STATIC_CONFIGS : KAFKAS_LATEST, version;
	json_t *body;

	if (!link)
		return err->code;
	version = cf_run_version(run, link, BROKER_REGISTRATION, args, max, err);
	if (err->code)
		return err->code;
	body = request(run, args, version);
	if (cf_run_exchange(link, BROKER_REGISTRATION, version, json_incref(body), json_object_get(args, "tags"), false,
			    out, err) == 0)
		remember(run, json_object_get(body, "brokerId"), out->body);
	json_decref(body);
	return err->code;
}
