/* Which configurations of a cluster are illegal at a metadata.version (KIP-1294). */
#include "fakebroker/config/mvrules.h"
#include "fakebroker/config/parse.h"
#include "fakebroker/config/upgrade.h"
#include "fakebroker/mutants.h"

struct sweep {
	const struct fb_cluster_view *cluster;
	int16_t level;
	struct kw_arena *arena;
	struct fb_violation *found;
	size_t n, cap;
	bool failed;                  /* no memory */
};

static bool room(struct sweep *sweep)
{
	size_t cap = sweep->cap ? sweep->cap * 2 : 16;
	struct fb_violation *found;

	if (sweep->n < sweep->cap)
		return true;
	found = kw_alloc(sweep->arena, cap * sizeof *found);
	if (!found)
		return false;
	if (sweep->n)
		memcpy(found, sweep->found, sweep->n * sizeof *found);
	sweep->found = found;
	sweep->cap = cap;
	return true;
}

const char *fb_where(enum fb_scope scope, struct kw_str resource, enum fb_layer_kind layer, struct kw_arena *arena)
{
	static const char *const layers[] = {
#define FB_X(sym, name) [sym] = name,
		FB_LAYERS(FB_X)
#undef FB_X
	};
	const char *what = scope == FB_TOPIC ? "topic" : scope == FB_GROUP ? "group" :
			   scope == FB_CLIENT_METRICS ? "client metrics" : "broker";

	if (scope == FB_BROKER && resource.n == 0)
		return "cluster default";
	if (scope != FB_BROKER && layer == FB_LAYER_DYNAMIC)   /* the only layer of its own that it can have */
		return kw_sprintf(arena, "%s %.*s", what, FB_STR(resource));
	return kw_sprintf(arena, "%s %.*s %s", what, FB_STR(resource), layers[layer]);
}

/* Holds one value against the rules of its key. */
static void check_any(struct sweep *sweep, const struct fb_configdef *def, struct kw_str value, struct kw_str resource,
		      enum fb_layer_kind layer)
{
	struct fb_violation violation = {def->scope, resource, layer, NULL, kw_str(def->name), value, NULL};

	if (sweep->failed || !def->nmv || value.n < 0 ||
	    fb_mv_check(def, sweep->level, value, sweep->arena, &violation.message))
		return;
	violation.where = fb_where(def->scope, resource, layer, sweep->arena);
	sweep->failed = resource.n < 0 || !violation.where || !violation.message || !room(sweep);
	if (!sweep->failed)
		sweep->found[sweep->n++] = violation;
}

/* The controller is not told the sensitive ones. */
static void check(struct sweep *sweep, const struct fb_configdef *def, struct kw_str value, struct kw_str resource,
		  enum fb_layer_kind layer)
{
	if (!def->sensitive)
		check_any(sweep, def, value, resource, layer);
}

static struct kw_str id_text(struct sweep *sweep, int32_t id)
{
	return kw_str(kw_sprintf(sweep->arena, "%d", id));
}

static const struct fb_configdefs *defs_of(const struct sweep *sweep)
{
	return fb_configs_defs(sweep->cluster->configs);
}

static void check_statics(struct sweep *sweep, const struct fb_broker_view *broker)
{
	const struct fb_configdef *def = NULL;

	while ((def = fb_configdef_next(defs_of(sweep), FB_BROKER, def))) {
		struct kw_str value = kw_str(def->def);
		bool reported = false;

		if (!def->nmv)
			continue;
		for (size_t i = 0; i < broker->nstatics; i++) {
			if (!kw_str_is(broker->statics[i].name, def->name))
				continue;
			value = broker->statics[i].sensitive ? KW_NULL_STR : broker->statics[i].value;
			reported = true;
		}
		check(sweep, def, value, id_text(sweep, broker->id), reported ? FB_LAYER_STATIC : FB_LAYER_DEFAULT);
	}
}

static bool check_dynamic(void *arg, const struct fb_change *value)
{
	struct sweep *sweep = arg;
	enum fb_scope scope = (enum fb_scope)value->resourceType;
	const struct fb_configdef *def = fb_configdef_find(defs_of(sweep), scope, value->name);

	if (fb_mutant(scope == FB_TOPIC ? FB_M_MV_TOPICS_UNSEEN : FB_M_MV_BROKERS_UNSEEN))
		return true;
	if (def && def->nmv)
		check(sweep, def, value->value, value->resourceName, FB_LAYER_DYNAMIC);
	return !sweep->failed;
}

/* What topics have that have no value of their own. */
static void check_inherited(struct sweep *sweep, const struct fb_configdef *def)
{
	const struct fb_cluster_view *cluster = sweep->cluster;
	struct kw_str value = fb_configs_get(cluster->configs, FB_TOPIC, KW_NULL_STR, cluster->controllerId, def->name,
					     sweep->arena, NULL);

	for (size_t i = 0; i < cluster->ntopics; i++) {
		if (fb_configs_dynamic(cluster->configs, FB_TOPIC, cluster->topics[i], kw_str(def->name)).n < 0)
			check(sweep, def, value, cluster->topics[i], FB_LAYER_DEFAULT);
	}
}

bool fb_level_keeps_statics(const struct fb_cluster_view *cluster, int16_t level)
{
	return level >= fb_configs_long(cluster->configs, FB_BROKER, KW_NULL_STR, cluster->controllerId,
					"kit.static.configs.level", 1);
}

static int finish(const struct sweep *sweep, struct fb_violation **violations)
{
	*violations = sweep->found;
	return sweep->failed || sweep->n > INT32_MAX ? KT_ENOMEM : (int)sweep->n;
}

int fb_violations(const struct fb_cluster_view *cluster, int16_t level, struct kw_arena *arena,
		  struct fb_violation **violations)
{
	struct sweep sweep = {.cluster = cluster, .level = level, .arena = arena};
	const struct fb_configdef *def = NULL;

	for (size_t i = 0; i < cluster->nbrokers; i++) {
		const struct fb_broker_view *broker = &cluster->brokers[i];

		if (fb_mutant(FB_M_MV_STATICS_UNSEEN))
			continue;
		if (broker->reported || (broker->foretold && fb_level_keeps_statics(cluster, level)))
			check_statics(&sweep, broker);
	}
	fb_configs_each(cluster->configs, check_dynamic, &sweep);
	while ((def = fb_configdef_next(defs_of(&sweep), FB_TOPIC, def))) {
		if (def->nmv)
			check_inherited(&sweep, def);
	}
	return finish(&sweep, violations);
}

int fb_static_violations(const struct fb_cluster_view *cluster, const struct fb_broker_view *broker, int16_t level,
			 struct kw_arena *arena, struct fb_violation **violations)
{
	struct sweep sweep = {.cluster = cluster, .level = level, .arena = arena};

	check_statics(&sweep, broker);
	return finish(&sweep, violations);
}

int fb_sensitive_violations(const struct fb_cluster_view *cluster, int32_t node, int16_t level, struct kw_arena *arena,
			    struct fb_violation **violations)
{
	struct sweep sweep = {.cluster = cluster, .level = level, .arena = arena};
	const struct fb_configdef *def = NULL;

	while ((def = fb_configdef_next(defs_of(&sweep), FB_BROKER, def))) {
		if (def->sensitive)
			check_any(&sweep, def, fb_configs_static(cluster->configs, node, kw_str(def->name)),
				  id_text(&sweep, node), FB_LAYER_STATIC);
	}
	return finish(&sweep, violations);
}
