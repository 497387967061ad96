#include "conformance/target.h"

#include <stdio.h>
#include <string.h>

#include "conformance/match.h"
#include "conformance/result.h"
#include "conformance/vars.h"
#include "lib/text/address.h"

int cf_node_address(json_t *node, char host[KT_HOST_MAX], int *port, struct kt_err *err)
{
	json_int_t number = json_integer_value(json_object_get(node, "port"));
	const char *text = cf_text(node, "host");
	size_t n = strlen(text);
	char brief[400];

	if (n == 0 || n >= KT_HOST_MAX || number < 1 || number > UINT16_MAX)
		return kt_fail(err, KT_ENET, "the target names host %s, port %" JSON_INTEGER_FORMAT
			       ", which is no address",
			       cf_brief(json_object_get(node, "host"), brief, sizeof brief), number);
	memcpy(host, text, n + 1);
	*port = (int)number;
	return 0;
}

struct cf_link cf_target_broker(const struct cf_target *target)
{
	struct cf_link link = {.port = target->port, .timeout = target->profile->timeout,
			       .login = &target->profile->login};

	memcpy(link.host, target->host, sizeof link.host);
	return link;
}

struct cf_link cf_target_controller(const struct cf_target *target)
{
	struct cf_link link = {.port = target->controller_port, .timeout = target->profile->timeout,
			       .login = &target->profile->login};

	memcpy(link.host, target->controller_host, sizeof link.host);
	return link;
}

bool cf_target_lists(json_t *apis, int api, int *min, int *max)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(apis, "apiKeys"), i, row) {
		if (json_integer_value(json_object_get(row, "apiKey")) != api)
			continue;
		*min = (int)json_integer_value(json_object_get(row, "minVersion"));
		*max = (int)json_integer_value(json_object_get(row, "maxVersion"));
		return true;
	}
	return false;
}

static json_t *row_of(json_t *apis, const char *list, const char *name)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(apis, list), i, row)
		if (strcmp(cf_text(row, "name"), name) == 0)
			return row;
	return NULL;
}

void cf_feature(json_t *apis, const char *name, int *min, int *max, int *level)
{
	json_t *supported = row_of(apis, "supportedFeatures", name),
	       *finalized = row_of(apis, "finalizedFeatures", name);

	*min = supported ? (int)json_integer_value(json_object_get(supported, "minVersion")) : -1;
	*max = supported ? (int)json_integer_value(json_object_get(supported, "maxVersion")) : -1;
	*level = finalized ? (int)json_integer_value(json_object_get(finalized, "maxVersionLevel")) : -1;
}

/* "api:Produce@13": the broker's list counts, or else the controller's. */
static bool has_api(const struct cf_target *target, int api, int version, char *why, size_t size)
{
	json_t *lists[] = {target->apis, target->controller_apis};
	int min, max;

	snprintf(why, size, "ApiVersions does not list %s", kw_api_name(api));
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		if (!cf_target_lists(lists[i], api, &min, &max))
			continue;
		if (version < 0 || (version >= min && version <= max))
			return true;
		snprintf(why, size, "ApiVersions lists %s %d to %d, not %d", kw_api_name(api), min, max, version);
	}
	return false;
}

static bool has_level(const struct cf_target *target, int level, char *why, size_t size)
{
	snprintf(why, size,
		 "ApiVersions lists metadata.version %d to %d, not %d", target->min_level, target->max_level, level);
	return level >= target->min_level && level <= target->max_level;
}

bool cf_target_has(const struct cf_target *target, const char *need, char *why, size_t size)
{
	enum cf_capability capability = cf_capability_find(need);
	int api, version, level;

	if (cf_need_api(need, &api, &version))
		return has_api(target, api, version, why, size);
	if (cf_need_level(need, &level))
		return has_level(target, level, why, size);
	if (target->can[capability].present)
		return true;
	snprintf(why, size, "%s: %s", need, target->can[capability].evidence);
	return false;
}

/* The names of those that are missed and that the target gets from what `given` says, with commas. */
static void add_missed(const struct cf_target *target, const bool *missed, const char *given, char *text, size_t size)
{
	const char *between = "";

	for (int i = 0; i < CF_NCAPABILITIES; i++) {
		const char *own = cf_capability_given((enum cf_capability)i);
		size_t n = strlen(text);

		if (target->can[i].present || !missed[i] || !own || strcmp(own, given) != 0)
			continue;
		snprintf(text + n, size - n, "%s%s", between, cf_capability_name((enum cf_capability)i));
		between = ", ";
	}
}

void cf_target_hint(const struct cf_target *target, const bool *missed, char *text, size_t size)
{
	*text = '\0';
	for (int i = 0; i < CF_NCAPABILITIES && target->can[CF_CAN_CONTROL].present; i++) {
		const char *given = cf_capability_given((enum cf_capability)i);
		char names[200] = "";
		size_t n = strlen(text);

		if (!given || strstr(text, given))
			continue;
		add_missed(target, missed, given, names, sizeof names);
		if (*names)
			snprintf(text + n, size - n, "%s%s (%s)", n ? ", " : "The fakebroker was started without ",
				 given, names);
	}
}

/* ---- JSON ---- */

static json_t *versions_json(json_t *apis)
{
	json_t *out = json_object(), *row;
	size_t i;

	json_array_foreach(json_object_get(apis, "apiKeys"), i, row) {
		const char *name = kw_api_name((int)json_integer_value(json_object_get(row, "apiKey")));
		char number[16];

		if (!name) {
			snprintf(number, sizeof number, "%d", (int)json_integer_value(json_object_get(row, "apiKey")));
			name = number;
		}
		json_object_set_new(out, name, json_pack("[O,O]", json_object_get(row, "minVersion"),
							 json_object_get(row, "maxVersion")));
	}
	return out;
}

static json_t *features_json(json_t *apis)
{
	json_t *out = json_object(), *row;
	size_t i;

	json_array_foreach(json_object_get(apis, "supportedFeatures"), i, row) {
		const char *name = cf_text(row, "name");
		int min, max, level;

		if (!*name)   /* none, or no text */
			continue;
		cf_feature(apis, name, &min, &max, &level);
		json_object_set_new(out, name, json_pack("{s:[i,i], s:i}", "supported", min, max, "finalized", level));
	}
	return out;
}

static json_t *abilities_json(const struct cf_target *target)
{
	json_t *out = json_array();

	for (int i = 0; i < CF_NCAPABILITIES; i++) {
		enum cf_capability capability = (enum cf_capability)i;

		json_array_append_new(out, json_pack("{s:s, s:s, s:b, s:s}", "name", cf_capability_name(capability),
						     "meaning", cf_capability_meaning(capability),
						     "present", target->can[i].present,
						     "evidence", target->can[i].evidence));
	}
	return out;
}

json_t *cf_target_json(const struct cf_target *target)
{
	char address[KT_ADDRESS_MAX], controller[KT_ADDRESS_MAX] = "";

	kt_address(address, sizeof address, target->host, target->port);
	if (target->controller_host[0])
		kt_address(controller, sizeof controller, target->controller_host, target->controller_port);
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:o, s:o, s:o, s:o}",
			 "name", target->profile->name ? target->profile->name : address, "bootstrap", address,
			 "note", target->note,
			 "clusterId", target->cluster_id, "controller", controller, "brokerId", target->broker_id,
			 "brokers", target->brokers, "metadataVersion", target->level,
			 "capabilities", abilities_json(target), "features", features_json(target->apis),
			 "apis", versions_json(target->apis), "controllerApis", versions_json(target->controller_apis));
}

void cf_target_fini(struct cf_target *target)
{
	json_decref(target->metadata);
	json_decref(target->apis);
	json_decref(target->controller_apis);
	target->metadata = target->apis = target->controller_apis = NULL;
}
