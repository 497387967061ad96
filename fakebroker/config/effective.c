#include "fakebroker/config/effective.h"

#include <stdatomic.h>

#include "fakebroker/config/parse.h"

enum { MINUTE = 60 * 1000, HOUR = 60 * MINUTE };

static const struct {
	const char *name[FB_MAX_SYNONYMS];
	int64_t factor[FB_MAX_SYNONYMS];
} families[] = {
	{{"log.retention.ms", "log.retention.minutes", "log.retention.hours"}, {1, MINUTE, HOUR}},
	{{"log.roll.ms", "log.roll.hours"}, {1, HOUR}},
	{{"log.roll.jitter.ms", "log.roll.jitter.hours"}, {1, HOUR}},
	{{"log.flush.interval.ms", "log.flush.scheduler.interval.ms"}, {1, 1}},
};

enum { NFAMILIES = sizeof families / sizeof *families };

/* The scheduler's interval stands in for the flush interval, but not the other way round. */
static bool member(size_t family, struct kw_str name)
{
	for (size_t i = 0; i < FB_MAX_SYNONYMS && families[family].name[i]; i++) {
		if (kw_str_is(name, families[family].name[i]))
			return i == 0 || families[family].factor[i] > 1;
	}
	return false;
}

void fb_broker_names(struct kw_str name, struct fb_names *names)
{
	struct kw_str base = fb_listener_key(name);

	*names = (struct fb_names){.name = {name, base}, .factor = {1, 1}, .n = base.n < 0 ? 1 : 2};
	for (size_t f = 0; f < NFAMILIES; f++) {
		if (!member(f, name))
			continue;
		names->n = 0;
		while (names->n < FB_MAX_SYNONYMS && families[f].name[names->n]) {
			names->name[names->n] = kw_str(families[f].name[names->n]);
			names->factor[names->n] = families[f].factor[names->n];
			names->n++;
		}
	}
}

bool fb_security_key(struct kw_str name)
{
	static const char *const keys[] = {
		"ssl.keystore.type", "ssl.keystore.location", "ssl.keystore.password", "ssl.key.password",
		"ssl.keystore.key", "ssl.keystore.certificate.chain", "ssl.truststore.type", "ssl.truststore.location",
		"ssl.truststore.password", "ssl.truststore.certificates"};

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		if (kw_str_is(name, keys[i]))
			return true;
	}
	return false;
}

bool fb_dynamic_usable(const struct fb_configdefs *defs, struct kw_str name, struct kw_str value, bool perBroker,
		       struct kw_arena *arena)
{
	const struct fb_configdef *def = fb_configdef_find(defs, FB_BROKER, name);
	bool listener = fb_listener_key(name).n >= 0;
	const char *message;

	if (!def)
		return true;
	if (!listener && (def->dynamic == FB_READ_ONLY || fb_security_key(name)))
		return false;
	if (!perBroker && (listener || def->dynamic == FB_PER_BROKER))
		return false;
	return fb_config_parse_check(def, value, arena, &message);
}

struct kw_str fb_layer(const struct fb_configs *configs, int32_t node, enum fb_source layer, struct kw_str name,
		       struct kw_arena *arena)
{
	const struct fb_configdef *def;
	struct kw_str value = KW_NULL_STR;
	struct fb_id_text id;

	switch (layer) {
	case FB_SRC_DYNAMIC_BROKER:
		fb_id_text(&id, node);
		value = fb_configs_dynamic(configs, FB_BROKER, id.str, name);
		break;
	case FB_SRC_DYNAMIC_DEFAULT:
		value = fb_configs_dynamic(configs, FB_BROKER, kw_str(""), name);
		break;
	case FB_SRC_STATIC:
		return fb_configs_static(configs, node, name);
	case FB_SRC_DEFAULT:
		def = fb_configdef_find(configs->defs, FB_BROKER, name);
		return def && kw_str_is(name, def->name) ? kw_str(def->def) : KW_NULL_STR;
	default:
		return KW_NULL_STR;
	}
	if (value.n >= 0 && !fb_dynamic_usable(configs->defs, name, value, layer == FB_SRC_DYNAMIC_BROKER, arena))
		return KW_NULL_STR;
	return value;
}

/* The strongest value of exactly one broker key. */
static struct kw_str broker_value(const struct fb_configs *configs, int32_t node, struct kw_str name,
				  struct kw_arena *arena, enum fb_source *source)
{
	struct kw_str value = KW_NULL_STR;

	for (enum fb_source layer = FB_SRC_DYNAMIC_BROKER; value.n < 0 && layer <= FB_SRC_DEFAULT; layer++) {
		value = fb_layer(configs, node, layer, name, arena);
		*source = layer;
	}
	return value;
}

/* A value in the unit of its family's first name; null if it is no number. */
static struct kw_str convert(const struct fb_configs *configs, struct kw_str name, struct kw_str value, int64_t factor,
			     struct kw_arena *arena)
{
	const struct fb_configdef *def = fb_configdef_find(configs->defs, FB_BROKER, name);
	int64_t number = fb_config_long(def, value, 0);

	/* A negative time means without limit, in any unit. */
	if (__builtin_mul_overflow(number, factor, &number))
		number = INT64_MAX;
	return kw_str(kw_sprintf(arena, "%lld", (long long)(number < 0 ? -1 : number)));
}

/* What a topic or group without its own value has: the broker's value of its synonym, or the default. A synonym that
 * only has its default says nothing as long as a weaker name is set: log.retention.hours=1 holds while
 * log.retention.ms is not set. */
static struct kw_str inherited(const struct fb_configs *configs, int32_t node, const struct fb_configdef *def,
			       struct kw_arena *arena, enum fb_source *source)
{
	struct fb_names names;

	*source = FB_SRC_DEFAULT;
	if (!def->synonym)
		return kw_str(def->def);
	fb_broker_names(kw_str(def->synonym), &names);
	for (size_t i = 0; i < names.n; i++) {
		struct kw_str value = broker_value(configs, node, names.name[i], arena, source);

		if (value.n >= 0 && *source != FB_SRC_DEFAULT)
			return names.factor[i] == 1 ? value :
			       convert(configs, names.name[i], value, names.factor[i], arena);
	}
	*source = FB_SRC_DEFAULT;
	return kw_str(def->def);
}

static enum fb_source own_source(enum fb_scope type)
{
	return type == FB_TOPIC ? FB_SRC_TOPIC : type == FB_GROUP ? FB_SRC_GROUP :
	       type == FB_CLIENT_METRICS ? FB_SRC_CLIENT_METRICS : FB_SRC_LOGGER;
}

/* streams.assignor.name is the first of group.streams.assignors. */
static struct kw_str first_entry(const struct fb_configs *configs, const struct fb_configdef *def, int32_t node,
				 struct kw_arena *arena, enum fb_source *source)
{
	struct kw_str list = broker_value(configs, node, kw_str(def->synonym), arena, source), *items;
	size_t n = 0;

	items = list.n < 0 ? NULL : fb_split_list(list, arena, &n);
	return n ? items[0] : KW_NULL_STR;
}

struct kw_str fb_configs_get(const struct fb_configs *configs, enum fb_scope type, struct kw_str resourceName,
			     int32_t node, const char *name, struct kw_arena *arena, enum fb_source *source)
{
	const struct fb_configdef *def;
	enum fb_source unused;
	struct kw_str value;

	if (!source)
		source = &unused;
	if (type == FB_BROKER)
		return broker_value(configs, node, kw_str(name), arena, source);
	value = resourceName.n < 0 ? KW_NULL_STR : fb_configs_dynamic(configs, type, resourceName, kw_str(name));
	*source = own_source(type);
	def = fb_configdef_find(configs->defs, type, kw_str(name));
	if (value.n >= 0 || !def)
		return value;
	if (type == FB_GROUP && def->type == FB_STRING && def->synonym)
		return first_entry(configs, def, node, arena, source);
	return inherited(configs, node, def, arena, source);
}

int64_t fb_configs_long(const struct fb_configs *configs, enum fb_scope type, struct kw_str resourceName, int32_t node,
			const char *name, int64_t fallback)
{
	const struct fb_configdef *def = fb_configdef_find(configs->defs, type, kw_str(name));
	struct kw_arena arena;
	int64_t number;

	kw_arena_init(&arena, 0);
	number = fb_config_long(def, fb_configs_get(configs, type, resourceName, node, name, &arena, NULL), fallback);
	kw_arena_fini(&arena);
	return number;
}

int64_t fb_configs_kept_long(const struct fb_configs *configs, int32_t node, const char *name, int64_t fallback,
			     struct fb_kept_long *kept)
{
	if (atomic_load(&kept->changes) != configs->changes) {
		atomic_store(&kept->value, fb_configs_long(configs, FB_BROKER, KW_NULL_STR, node, name, fallback));
		atomic_store(&kept->changes, configs->changes);
	}
	return atomic_load(&kept->value);
}

bool fb_configs_bool(const struct fb_configs *configs, enum fb_scope type, struct kw_str resourceName, int32_t node,
		     const char *name, bool fallback)
{
	return fb_configs_long(configs, type, resourceName, node, name, fallback) != 0;
}
