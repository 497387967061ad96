/* The broker's own checks before it passes a request on: BROKER and BROKER_LOGGER resources.
 * Source: ConfigAdminManager, DynamicBrokerConfig, RuntimeLoggerManager, Kafka 4.4. */
#include <stdlib.h>

#include "fakebroker/config/alter.h"
#include "fakebroker/config/effective.h"
#include "fakebroker/config/parse.h"
#include "fakebroker/config/twins.h"
#include "fakebroker/mutants.h"
#include "lib/wire/errors.h"

/* ---- BROKER ---- */

static bool check_is_self(struct fb_alter *alter, const char *expected)
{
	struct kw_str name = alter->resource->resourceName;
	int64_t id;

	if (!fb_parse_long(name, INT32_MIN, INT32_MAX, &id) && fb_mutant(FB_M_BROKER_NAME_ANY))
		return true;
	if (!fb_parse_long(name, INT32_MIN, INT32_MAX, &id))
		return fb_refuse(alter, KW_ERR_INVALID_REQUEST, "Node id must be an integer, but it is: %.*s",
			FB_STR(name));
	if (id != alter->facts->self && !fb_mutant(FB_M_OTHER_BROKER_TAKEN))
		return fb_refuse(alter, KW_ERR_INVALID_REQUEST, "%s %d, but received %.*s", expected,
			alter->facts->self, FB_STR(name));
	return true;
}

static bool read_only(const struct fb_configdef *def, struct kw_str name)
{
	if (fb_mutant(FB_M_ALL_READ_ONLY) && def && def->origin == FB_FROM_KAFKA)
		return true;
	if (fb_mutant(FB_M_NUMBERS_READ_ONLY) && def && (def->type == FB_INT || def->type == FB_LONG))
		return true;
	return def && def->dynamic == FB_READ_ONLY && fb_listener_key(name).n < 0 && !fb_mutant(FB_M_READ_ONLY_TAKEN);
}

static bool without_listener(const struct fb_configdef *def, struct kw_str name)
{
	return def && fb_security_key(name);
}

static bool per_broker(const struct fb_configdef *def, struct kw_str name)
{
	return (def && def->dynamic == FB_PER_BROKER) || fb_listener_key(name).n >= 0;
}

/* Refuses the names that wrong() finds, in Java's order. */
static bool refuse_names(struct fb_alter *alter, const struct fb_kvs *merged, const char *text,
			 bool (*wrong)(const struct fb_configdef *def, struct kw_str name))
{
	enum { SMALL_SET = 4 };
	struct fb_named *names = kw_alloc(alter->arena, merged->n * sizeof *names);
	struct kw_str *parts = kw_alloc(alter->arena, merged->n * sizeof *parts), all;
	size_t n = 0;

	if (!names || !parts)
		return fb_refuse_memory(alter);
	for (size_t i = 0; i < merged->n; i++) {
		struct kw_str name = merged->v[i].name;

		if (wrong(fb_configdef_find(alter->configs->defs, FB_BROKER, name), name))
			names[n++].name = name;
	}
	if (!n)
		return true;
	fb_java_order(names, n, n);
	for (size_t i = 0; i < n; i++)
		parts[i] = names[i].name;
	all = fb_join(parts, n, ", ", alter->arena);
	if (!fb_configdefs_before(alter->configs->defs, "4.2"))
		return fb_refuse(alter, KW_ERR_INVALID_REQUEST, "%s: [%.*s]", text, FB_STR(all));
	/* Scala's sets: large ones have another name, and so has the mutable one of this message. */
	return fb_refuse(alter, KW_ERR_INVALID_REQUEST, "%s: %sSet(%.*s)", text,
		wrong == without_listener || n > SMALL_SET ? "Hash" : "", FB_STR(all));
}

/* Listener overrides are checked like the key that they override. */
static bool check_listener_values(struct fb_alter *alter, const struct fb_kvs *merged)
{
	const char *message;

	for (size_t i = 0; i < merged->n; i++) {
		const struct fb_configdef *def = fb_configdef_find(alter->configs->defs, FB_BROKER, merged->v[i].name);

		if (def && fb_listener_key(merged->v[i].name).n >= 0 &&
		    !fb_config_parse_check(def, merged->v[i].value, alter->arena, &message))
			return fb_refuse(alter, KW_ERR_INVALID_REQUEST, "%s", message);
	}
	return true;
}

/* The stored values that Kafka would still use; the others it forgets before it looks at the request. */
static bool usable_values(struct fb_alter *alter, bool perBroker, struct fb_kvs *usable)
{
	const struct fb_kvs *all = alter->existing;

	*usable = (struct fb_kvs){.v = kw_alloc(alter->arena, all->n * sizeof *usable->v), .cap = all->n};
	if (!usable->v)
		return fb_refuse_memory(alter);
	for (size_t i = 0; i < all->n; i++) {
		if (fb_dynamic_usable(alter->configs->defs, all->v[i].name, all->v[i].value, perBroker, alter->arena))
			usable->v[usable->n++] = all->v[i];
	}
	return true;
}

bool fb_alter_check_broker(struct fb_alter *alter)
{
	bool perBroker = alter->resource->resourceName.n > 0, good;
	const struct fb_kvs *existing = alter->existing;
	struct fb_kvs usable, merged;

	if (perBroker && !check_is_self(alter, "Unexpected broker id, expected"))
		return false;
	if (!usable_values(alter, perBroker, &usable))
		return false;
	alter->existing = &usable;
	good = fb_alter_compute(alter, FB_AT_BROKER) && fb_alter_merge(alter, &merged) &&
	       ((fb_mutant(FB_M_READ_ONLY_DEFAULT_TAKEN) && !perBroker) ||
		refuse_names(alter, &merged, "Cannot update these configs dynamically", read_only)) &&
	       refuse_names(alter, &merged, "These security configs can be dynamically updated only per-listener using "
			    "the listener prefix", without_listener) &&
	       fb_alter_check_values(alter, &merged, FB_BROKER, KW_ERR_INVALID_REQUEST) &&
	       check_listener_values(alter, &merged) &&
	       (perBroker || refuse_names(alter, &merged, "Cannot update these configs at default cluster level, "
					  "broker id must be specified", per_broker)) &&
	       fb_alter_check_reconfiguration(alter, &merged);
	alter->existing = existing;
	return good;
}

/* ---- BROKER_LOGGER ---- */

static const char levels[] = "DEBUG, ERROR, FATAL, INFO, TRACE, WARN";

static bool is_level(struct kw_str level, struct kw_arena *arena)
{
	size_t n = 0;
	struct kw_str *known = fb_split_list(kw_str(levels), arena, &n);

	for (size_t i = 0; known && i < n; i++) {
		if (kw_str_eq(known[i], level))
			return true;
	}
	return false;
}

static bool check_logger(struct fb_alter *alter, const struct fb_alter_config *config)
{
	bool append = config->configOperation == FB_APPEND;

	switch (config->configOperation) {
	case FB_SET: case FB_DELETE:
		break;
	case FB_APPEND: case FB_SUBTRACT:
		return fb_refuse(alter, KW_ERR_INVALID_REQUEST, "%s operation is not allowed for the BROKER_LOGGER "
			"resource", append ? "APPEND" : "SUBTRACT");
	default:
		return fb_refuse(alter, KW_ERR_INVALID_REQUEST, "Unknown operation type %d is not allowed for the "
			"BROKER_LOGGER resource", config->configOperation);
	}
	if (!kw_str_is(config->name, "root"))
		return fb_refuse(alter, KW_ERR_INVALID_CONFIG, "Logger %.*s does not exist!", FB_STR(config->name));
	if (config->configOperation == FB_DELETE)
		return fb_refuse(alter, KW_ERR_INVALID_REQUEST,
				 "Removing the log level of the root logger is not allowed");
	if (config->value.n < 0)
		return fb_refuse(alter, KW_ERR_UNKNOWN_SERVER_ERROR, "The server experienced an unexpected error when "
			"processing the request.");
	if (!is_level(config->value, alter->arena))
		return fb_refuse(alter, KW_ERR_INVALID_CONFIG, "Cannot set the log level of root to %.*s as it is not "
			"a supported log level. Valid log levels are %s", FB_STR(config->value), levels);
	return true;
}

bool fb_alter_check_loggers(struct fb_alter *alter)
{
	size_t n = (size_t)alter->resource->nconfigs;
	struct fb_change *changes = kw_alloc(alter->arena, n * sizeof *changes);

	if (!changes)
		return fb_refuse_memory(alter);
	if (!check_is_self(alter, "Unexpected node id. Expected"))
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct fb_alter_config *config = &alter->resource->configs[i];

		if (!check_logger(alter, config))
			return false;
		changes[i] = (struct fb_change){FB_BROKER_LOGGER, alter->resource->resourceName, config->name,
						config->value};
	}
	alter->result->changes = changes;
	alter->result->nchanges = n;
	return true;
}
