/* Requests that alter configurations: what happens to which resource, and in which order the checks come.
 * Source: ConfigAdminManager.preprocess (broker), ControllerApis, ConfigurationControlManager and
 * ControllerConfigurationValidator (controller), Kafka 4.4. */
#include "fakebroker/config/alter.h"

#include "fakebroker/config/levels.h"
#include "fakebroker/config/message.h"
#include "fakebroker/config/mvrules.h"
#include "fakebroker/config/parse.h"
#include "fakebroker/config/twins.h"
#include "fakebroker/mutants.h"
#include "lib/wire/errors.h"

enum { MAX_VALUE = 32767 };

bool fb_refuse(struct fb_alter *alter, int16_t code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	alter->result->errorCode = code;
	alter->result->errorMessage = fmt ? fb_message_cap(fb_vmessage(alter->arena, fmt, ap), alter->arena) : NULL;
	va_end(ap);
	return false;
}

bool fb_refuse_memory(struct fb_alter *alter)
{
	return fb_refuse(alter, KW_ERR_UNKNOWN_SERVER_ERROR, "The request needs more memory than one request may take");
}

static bool is_broker(const struct fb_alter *alter)
{
	return alter->resource->resourceType == FB_BROKER;
}

/* ---- the controller ---- */

/* Source: ConfigurationControlManager.isCordonedLogDirsInvalid. Only a broker knows its directories, so that straight
 * from a client the controller takes nothing that is not set already. */
static bool cordons_more(struct fb_alter *alter, struct kw_str value)
{
	size_t nold, nnew;
	struct kw_str now = fb_kvs_get(alter->existing, kw_str("cordoned.log.dirs"));
	struct kw_str *old = fb_split_list(now, alter->arena, &nold);
	struct kw_str *new = fb_split_list(value, alter->arena, &nnew);

	if (!old || !new)
		return true;
	for (size_t i = 0; i < nnew; i++) {
		size_t at = 0;

		while (at < nold && !kw_str_eq(old[at], new[i]))
			at++;
		if (at == nold)
			return true;
	}
	return false;
}

static bool check_broker_change(struct fb_alter *alter, const struct fb_change *change)
{
	bool cordoned = kw_str_is(change->name, "cordoned.log.dirs");

	if (kw_str_is(change->name, "min.insync.replicas") && alter->facts->elr) {
		if (change->resourceName.n > 0)
			return fb_refuse(alter, KW_ERR_INVALID_CONFIG, "Broker-level min.insync.replicas cannot be "
				"altered while ELR is enabled.");
		if (change->value.n < 0)
			return fb_refuse(alter, KW_ERR_INVALID_CONFIG, "Cluster-level min.insync.replicas cannot be "
				"removed while ELR is enabled.");
	}
	if (cordoned && alter->facts->level < FB_LEVEL_CORDONED)
		return fb_refuse(alter, KW_ERR_INVALID_CONFIG, "The cordoned.log.dirs configuration value cannot be "
			"set because it requires metadata.version >= 4.3-IV0");
	if (cordoned && alter->facts->controller && cordons_more(alter, change->value))
		return fb_refuse(alter, KW_ERR_INVALID_CONFIG, "When updating cordoned.log.dirs via controllers,  the "
			"new value must be a subset of the current configuration value.");
	return true;
}

static bool check_changes(struct fb_alter *alter)
{
	for (size_t i = 0; i < alter->ntouched; i++) {
		const struct fb_change *change = &alter->touched[i];

		if (is_broker(alter) && !check_broker_change(alter, change))
			return false;
		if (change->value.n > MAX_VALUE)
			return fb_refuse(alter, KW_ERR_INVALID_CONFIG, "The configuration value cannot be added "
				"because it exceeds the maximum value size of 32767 bytes.");
	}
	return true;
}

static bool check_broker_name(struct fb_alter *alter)
{
	struct kw_str name = alter->resource->resourceName;
	int64_t id;

	if (name.n == 0)
		return true;
	if (!fb_parse_long(name, INT32_MIN, INT32_MAX, &id))
		return fb_refuse(alter, KW_ERR_INVALID_REQUEST, "Unable to parse broker name as a base 10 number.");
	if (id < 0)
		return fb_refuse(alter, KW_ERR_INVALID_REQUEST, "Invalid negative broker ID.");
	return true;
}

static bool check_exists(struct fb_alter *alter)
{
	const struct fb_config_facts *facts = alter->facts;
	struct kw_str name = alter->resource->resourceName;
	int64_t id;

	if (alter->create)
		return true;
	if (alter->resource->resourceType == FB_TOPIC && !fb_mutant(FB_M_MISSING_TOPIC_TAKEN) &&
	    !facts->topicExists(facts->arg, name))
		return fb_refuse(alter, KW_ERR_UNKNOWN_TOPIC_OR_PARTITION, "The topic '%.*s' does not exist.",
			FB_STR(name));
	if (is_broker(alter) && fb_parse_long(name, 0, INT32_MAX, &id) && !facts->nodeExists(facts->arg, (int32_t)id))
		return fb_refuse(alter, KW_ERR_BROKER_ID_NOT_REGISTERED, "No node with id %lld found.", (long long)id);
	return true;
}

/* A broker's values were checked by the broker, or not at all: the controller has only its name checked. */
static bool check_values(struct fb_alter *alter, const struct fb_kvs *merged)
{
	switch (alter->resource->resourceType) {
	case FB_TOPIC: return fb_alter_check_topic(alter, merged);
	case FB_BROKER: return check_broker_name(alter);
	case FB_GROUP: return fb_alter_check_group(alter, merged);
	default: return fb_alter_check_client_metrics(alter, merged);
	}
}

/* ---- the rules that depend on metadata.version ---- */

/* What is in force for a key of the resource once its own value is gone; null if nothing is. */
static struct kw_str behind(struct fb_alter *alter, const struct fb_configdef *def)
{
	struct kw_str value, own = alter->resource->resourceName, cluster = kw_str("");
	int64_t id = alter->facts->self;

	if (!is_broker(alter))
		return fb_configs_get(alter->configs, def->scope, KW_NULL_STR, (int32_t)id, def->name, alter->arena,
				      NULL);
	if (own.n > 0 && fb_parse_long(own, 0, INT32_MAX, &id)) {
		value = fb_configs_dynamic(alter->configs, FB_BROKER, cluster, kw_str(def->name));
		if (value.n >= 0)
			return value;
	}
	value = fb_configs_static(alter->configs, (int32_t)id, kw_str(def->name));
	return value.n >= 0 ? value : kw_str(def->def);
}

static const char *resource_text(struct fb_alter *alter)
{
	struct kw_str name = alter->resource->resourceName;

	switch (alter->resource->resourceType) {
	case FB_TOPIC: return kw_sprintf(alter->arena, "topic %.*s", FB_STR(name));
	case FB_GROUP: return kw_sprintf(alter->arena, "group %.*s", FB_STR(name));
	case FB_CLIENT_METRICS: return kw_sprintf(alter->arena, "client metrics %.*s", FB_STR(name));
	default: return name.n ? kw_sprintf(alter->arena, "broker %.*s", FB_STR(name)) : "the cluster default";
	}
}

/* Alterations that a mutant does not hold against the rules. */
static bool is_unruled(const struct fb_alter *alter)
{
	return fb_mutant(FB_M_MV_ALTER_UNCHECKED) ||
	       (fb_mutant(FB_M_MV_TOPIC_UNCHECKED) && alter->resource->resourceType == FB_TOPIC && !alter->create) ||
	       (fb_mutant(FB_M_MV_CREATE_UNCHECKED) && alter->create) ||
	       (fb_mutant(FB_M_MV_LEGACY_UNCHECKED) && alter->legacy) ||
	       (fb_mutant(FB_M_MV_BROKER_UNCHECKED) && is_broker(alter) && alter->resource->resourceName.n > 0) ||
	       (fb_mutant(FB_M_MV_DEFAULT_UNCHECKED) && is_broker(alter) && alter->resource->resourceName.n == 0);
}

static bool check_mv_rules(struct fb_alter *alter)
{
	const char *all = NULL, *message, *name = fb_level_name(alter->facts->level);

	for (size_t i = 0; i < alter->ntouched; i++) {
		const struct fb_change *change = &alter->touched[i];
		const struct fb_configdef *def = fb_configdef_find(alter->configs->defs,
			(enum fb_scope)change->resourceType, change->name);
		struct kw_str value;

		if (!def || !def->nmv || def->sensitive || is_unruled(alter))
			continue;
		value = change->value.n >= 0 ? change->value : fb_mutant(FB_M_MV_DELETE_AS_ZERO) ? kw_str("0")
											  : behind(alter, def);
		if (value.n < 0 || fb_mv_check(def, alter->facts->level, value, alter->arena, &message))
			continue;
		all = kw_sprintf(alter->arena, "%s%s%s", all ? all : "", all ? "; " : "", message ? message : "");
		if (!all)
			return fb_refuse_memory(alter);
	}
	if (!all)
		return true;
	return fb_refuse(alter, KW_ERR_INVALID_CONFIG, "metadata.version %d%s%s%s makes this configuration of %s "
		"illegal: %s", alter->facts->level, name ? " (" : "", name ? name : "", name ? ")" : "",
		resource_text(alter), all);
}

/* Kafka writes no record for a value that is there already, except for brokers. */
static bool make_changes(struct fb_alter *alter)
{
	struct fb_change *changes = kw_alloc(alter->arena, alter->ntouched * sizeof *changes);
	size_t n = 0;

	if (!changes)
		return fb_refuse_memory(alter);
	for (size_t i = 0; i < alter->ntouched; i++) {
		const struct fb_change *change = &alter->touched[i];

		if (is_broker(alter) || !kw_str_eq(fb_kvs_get(alter->existing, change->name), change->value))
			changes[n++] = *change;
	}
	alter->result->changes = changes;
	alter->result->nchanges = n;
	return true;
}

/* For a mutant: those keys of a refused request whose values could be had. */
static void make_good_changes(struct fb_alter *alter)
{
	size_t n = 0;

	for (size_t i = 0; i < alter->ntouched; i++) {
		struct fb_change *change = &alter->touched[i];
		const struct fb_configdef *def = fb_configdef_find(alter->configs->defs,
								   (enum fb_scope)change->resourceType, change->name);
		const char *message;

		if (def && change->value.n >= 0 && fb_config_parse_check(def, change->value, alter->arena, &message))
			alter->touched[n++] = *change;
	}
	alter->ntouched = n;
	make_changes(alter);
}

static void at_controller(struct fb_alter *alter)
{
	struct fb_kvs merged;

	alter->result->forwarded = true;
	if (fb_alter_compute(alter, FB_AT_CONTROLLER) && check_changes(alter) && fb_alter_merge(alter, &merged) &&
	    check_values(alter, &merged) && check_exists(alter) && check_mv_rules(alter))
		make_changes(alter);
	else if (fb_mutant(FB_M_GOOD_KEYS_APPLIED))
		make_good_changes(alter);
}

/* ---- the broker ---- */

static bool check_duplicates(struct fb_alter *alter)
{
	size_t n = fb_mutant(FB_M_KEY_TWICE_TAKEN) ? 0 : (size_t)alter->resource->nconfigs;
	struct fb_named *names = kw_alloc(alter->arena, n * sizeof *names);
	struct fb_twins *twins;

	if (!names)
		return fb_refuse_memory(alter);
	for (size_t i = 0; i < n; i++)
		names[i].name = alter->resource->configs[i].name;
	twins = fb_find_twins(names, n, alter->arena);
	if (!twins)
		return fb_refuse_memory(alter);
	for (size_t i = 0; i < n; i++) {
		if (twins[i].first != i)
			return fb_refuse(alter, KW_ERR_INVALID_REQUEST, "Error due to duplicate config keys");
	}
	return true;
}

static bool check_nulls(struct fb_alter *alter)
{
	size_t n = (size_t)alter->resource->nconfigs, nnull = 0;
	struct kw_str *names = kw_alloc(alter->arena, n * sizeof *names), all;

	if (!names)
		return fb_refuse_memory(alter);
	for (size_t i = 0; i < n; i++) {
		const struct fb_alter_config *config = &alter->resource->configs[i];

		if (config->value.n < 0 && (alter->legacy || config->configOperation != FB_DELETE))
			names[nnull++] = config->name;
	}
	if (!nnull || fb_mutant(FB_M_NULL_TAKEN))
		return true;
	all = fb_join(names, nnull, ", ", alter->arena);
	return fb_refuse(alter, KW_ERR_INVALID_REQUEST, "Null value not supported for : %.*s", FB_STR(all));
}

/* In the release. */
static bool exists_type(const struct fb_configs *configs, int8_t resourceType)
{
	switch (resourceType) {
	case FB_TOPIC: case FB_BROKER: case FB_CLIENT_METRICS: case FB_BROKER_LOGGER: return true;
	case FB_GROUP: return fb_configdefs_has(configs->defs, FB_GROUP);
	default: return false;
	}
}

static bool known_type(const struct fb_alter *alter)
{
	int8_t type = alter->resource->resourceType;

	return exists_type(alter->configs, type) && !(type == FB_BROKER_LOGGER && alter->legacy);
}

static void at_broker(struct fb_alter *alter)
{
	if (!check_duplicates(alter) || !check_nulls(alter))
		return;
	if (!known_type(alter) && fb_mutant(FB_M_UNKNOWN_TYPE_TAKEN))
		return;
	if (!known_type(alter))
		fb_refuse(alter, KW_ERR_INVALID_REQUEST, "Unknown resource type %d", alter->resource->resourceType);
	else if (alter->resource->resourceType == FB_BROKER_LOGGER)
		fb_alter_check_loggers(alter);
	else if (!is_broker(alter) || fb_alter_check_broker(alter))
		at_controller(alter);
}

/* ---- requests ---- */

static const struct fb_kvs *existing(const struct fb_configs *configs, const struct fb_alter_resource *resource)
{
	static const struct fb_kvs none;
	const struct fb_resource *found = fb_resource_find(configs, (enum fb_scope)resource->resourceType,
							   resource->resourceName);

	return found ? &found->kvs : &none;
}

/* Straight at the controller: the types that it does not alter. */
static bool check_type(struct fb_alter *alter)
{
	if (known_type(alter))
		return true;
	if (alter->resource->resourceType == FB_BROKER_LOGGER)
		return fb_refuse(alter, KW_ERR_INVALID_REQUEST, "Unexpected resource type BROKER_LOGGER.");
	return fb_refuse(alter, KW_ERR_UNSUPPORTED_VERSION, "Unknown resource type %d.", alter->resource->resourceType);
}

static void straight(struct fb_alter *alter)
{
	if (!check_type(alter))
		return;
	if (alter->resource->resourceType == FB_BROKER_LOGGER)
		fb_alter_check_loggers(alter);
	else
		at_controller(alter);
}

/* A resource that is named more than once. False: it is answered where it was named first. */
static bool answer_repeated(struct fb_alter *alter, bool first)
{
	if (alter->facts->controller && !exists_type(alter->configs, alter->resource->resourceType)) {
		check_type(alter);
		return true;
	}
	fb_refuse(alter, KW_ERR_INVALID_REQUEST, alter->facts->controller ? "Duplicate resource."
									  : "Each resource must appear at most once.");
	return first || !alter->facts->controller;
}

static struct fb_twins *resource_twins(const struct fb_alter_request *request, struct kw_arena *arena)
{
	size_t n = (size_t)(request->nresources > 0 ? request->nresources : 0);
	struct fb_named *named = kw_alloc(arena, n * sizeof *named);

	if (!named)
		return NULL;
	for (size_t i = 0; i < n; i++)
		named[i] = (struct fb_named){request->resources[i].resourceType, request->resources[i].resourceName};
	return fb_find_twins(named, n, arena);
}

/* AlterConfigsResponse makes a map of the results, in which types that do not exist are one, and fails to if there are
 * two for a resource. The controller answers once for what is named twice, unless it does not know the type. */
static int find_mute(const struct fb_configs *configs, const struct fb_config_facts *facts,
		     const struct fb_alter_request *request, struct kw_arena *arena, enum fb_fault *fault)
{
	size_t total = (size_t)(request->nresources > 0 ? request->nresources : 0), n = 0;
	struct fb_named *named = kw_alloc(arena, total * sizeof *named);
	struct fb_twins *twins;

	if (!named)
		return KT_ENOMEM;
	for (size_t i = 0; i < total; i++) {
		int8_t type = request->resources[i].resourceType;
		bool exists = exists_type(configs, type);

		if (!exists || !facts->controller)
			named[n++] = (struct fb_named){exists ? type : 0, request->resources[i].resourceName};
	}
	twins = fb_find_twins(named, n, arena);
	if (!twins)
		return KT_ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (twins[i].first != i)
			*fault = FB_F_RESOURCE_TWICE;
	return 0;
}

void fb_alter_fail_forwarded(struct fb_alter_answer *answer, int16_t error, const char *message)
{
	for (size_t i = 0; i < answer->nresults; i++) {
		struct fb_alter_result *result = &answer->results[i];

		if (!result->forwarded)
			continue;
		result->errorCode = error;
		result->errorMessage = message;
		result->nchanges = 0;
	}
}

int fb_alter_check(const struct fb_configs *configs, const struct fb_config_facts *facts,
		   const struct fb_alter_request *request, struct kw_arena *arena, struct fb_alter_answer *answer)
{
	size_t n = (size_t)(request->nresources > 0 ? request->nresources : 0);
	struct fb_twins *twins = resource_twins(request, arena);

	*answer = (struct fb_alter_answer){.results = kw_alloc(arena, n * sizeof *answer->results)};
	if (!twins || !answer->results)
		return KT_ENOMEM;
	if (request->legacy && facts->imitates && find_mute(configs, facts, request, arena, &answer->fault) < 0)
		return KT_ENOMEM;
	if (answer->fault)
		return 0;
	for (size_t i = 0; i < n; i++) {
		const struct fb_alter_resource *resource = &request->resources[i];
		struct fb_alter_result *result = &answer->results[answer->nresults++];
		struct fb_alter alter = {.configs = configs, .facts = facts, .arena = arena, .resource = resource,
					 .legacy = request->legacy, .existing = existing(configs, resource),
					 .result = result, .fault = &answer->fault};

		*result = (struct fb_alter_result){.resourceType = resource->resourceType,
						   .resourceName = resource->resourceName};
		if (twins[i].first != twins[i].last && !fb_mutant(FB_M_RESOURCE_TWICE_TAKEN))
			answer->nresults -= !answer_repeated(&alter, twins[i].first == i);
		else if (facts->controller)
			straight(&alter);
		else
			at_broker(&alter);
	}
	if (answer->fault)   /* what Kafka's controller trips over takes all with it that it was to look at */
		fb_alter_fail_forwarded(answer, KW_ERR_UNKNOWN_SERVER_ERROR, NULL);
	return 0;
}

/* Unlike an alteration, a new topic is not given a null value as if it were a deletion. */
static bool check_create_nulls(struct fb_alter *alter)
{
	size_t n = (size_t)alter->resource->nconfigs, nnull = 0;
	struct kw_str *names = kw_alloc(alter->arena, n * sizeof *names), all;

	if (!names)
		return fb_refuse_memory(alter);
	for (size_t i = 0; i < alter->ntouched; i++) {
		if (alter->touched[i].value.n < 0)
			names[nnull++] = alter->touched[i].name;
	}
	if (!nnull || fb_mutant(FB_M_CREATE_NULL_TAKEN))
		return true;
	all = fb_join(names, nnull, ",", alter->arena);
	return fb_refuse(alter, KW_ERR_INVALID_CONFIG, "Null value not supported for topic configs: %.*s", FB_STR(all));
}

int fb_create_check(const struct fb_configs *configs, const struct fb_config_facts *facts, struct kw_str topic,
		    const struct fb_alter_config *named, int32_t n, struct kw_arena *arena,
		    struct fb_alter_result *result)
{
	static const struct fb_kvs none;
	const struct fb_alter_resource resource = {FB_TOPIC, topic, named, n > 0 ? n : 0};
	struct fb_alter alter = {.configs = configs, .facts = facts, .arena = arena, .resource = &resource,
				 .create = true, .existing = &none, .result = result};
	struct fb_alter_config *sets = kw_alloc(arena, (size_t)resource.nconfigs * sizeof *sets);
	struct fb_alter_resource created = resource;
	struct fb_kvs merged;

	*result = (struct fb_alter_result){.resourceType = FB_TOPIC, .resourceName = topic};
	if (!sets)
		return KT_ENOMEM;
	for (int32_t i = 0; i < resource.nconfigs; i++)
		sets[i] = (struct fb_alter_config){named[i].name, FB_SET, named[i].value};
	created.configs = sets;
	alter.resource = &created;
	if (fb_alter_compute(&alter, FB_AT_CONTROLLER) && check_create_nulls(&alter) && check_changes(&alter) &&
	    fb_alter_merge(&alter, &merged) && check_values(&alter, &merged) && check_mv_rules(&alter))
		make_changes(&alter);
	return 0;
}
