/* What a request makes of the values: SET, DELETE, APPEND, SUBTRACT and replacing all.
 * Source: ConfigAdminManager.prepareIncrementalConfigs, ConfigurationControlManager.incrementalAlterConfigResource and
 * legacyAlterConfigResource, Kafka 4.4. */
#include "fakebroker/config/alter.h"

#include <stdlib.h>

#include "fakebroker/config/parse.h"
#include "fakebroker/config/twins.h"
#include "fakebroker/mutants.h"
#include "lib/wire/errors.h"

struct kw_str *fb_java_split(struct kw_str text, struct kw_arena *arena, size_t *n)
{
	size_t max = 1;
	struct kw_str *parts;

	for (int32_t i = 0; i < text.n; i++)
		max += text.s[i] == ',';
	parts = kw_alloc(arena, max * sizeof *parts);
	*n = 0;
	if (!parts)
		return NULL;
	if (text.n <= 0) {
		parts[(*n)++] = kw_str("");
		return parts;
	}
	for (int32_t from = 0, to = 0; to <= text.n; to++) {
		if (to < text.n && text.s[to] != ',')
			continue;
		parts[(*n)++] = (struct kw_str){text.s + from, to - from};
		from = to + 1;
	}
	while (*n && parts[*n - 1].n == 0)
		--*n;
	return parts;
}

/* Appends the parts that are not there yet. */
static size_t append_parts(struct kw_str *parts, const struct fb_named *all, const struct fb_twins *twins, size_t nold,
			   size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (i < nold || twins[i].first == i)
			parts[kept++] = all[i].name;
	}
	return kept;
}

/* Each part to subtract takes the first one away that is equal to it. */
static size_t subtract_parts(struct kw_str *parts, struct fb_named *all, const struct fb_twins *twins, size_t nold,
			     size_t n)
{
	size_t kept = 0;

	for (size_t i = nold; i < n; i++)
		all[twins[i].first].tag++;     /* of each group: how many are to go */
	for (size_t i = 0; i < nold; i++) {
		if (all[twins[i].first].tag > 0)
			all[twins[i].first].tag--;
		else
			parts[kept++] = all[i].name;
	}
	return kept;
}

/* The list `now` (or the default, if null) with the parts of `value` added or removed. Null when memory is
 * exhausted. */
static struct kw_str change_list(const struct fb_configdef *def, struct kw_str now, struct kw_str value, bool append,
				 struct kw_arena *arena)
{
	size_t nold, nnew, n = 0;
	struct kw_str *old = fb_java_split(now.n < 0 ? kw_str(def->def) : now, arena, &nold), *parts;
	struct kw_str *new = fb_java_split(value, arena, &nnew);
	struct fb_named *all = old && new ? kw_alloc(arena, (nold + nnew) * sizeof *all) : NULL;
	struct fb_twins *twins;

	if (!all)
		return KW_NULL_STR;
	for (size_t i = 0; i < nold; i++) {
		if (old[i].n)
			all[n++].name = old[i];
	}
	nold = n;
	for (size_t i = 0; i < nnew; i++)
		all[n++].name = new[i];
	parts = kw_alloc(arena, n * sizeof *parts);
	twins = fb_find_twins(all, n, arena);
	if (!parts || !twins)
		return KW_NULL_STR;
	n = append ? append_parts(parts, all, twins, nold, n) : subtract_parts(parts, all, twins, nold, n);
	return fb_join(parts, n, ",", arena);
}

static bool refuse_list(struct fb_alter *alter, const struct fb_configdef *def, struct kw_str name, bool append,
			enum fb_stage stage)
{
	const char *text;

	if (stage == FB_AT_CONTROLLER)
		text = kw_sprintf(alter->arena, "Can't %s to key %.*s because its type is not LIST.",
			append ? "APPEND" : "SUBTRACT", FB_STR(name));
	else if (!def)
		text = kw_sprintf(alter->arena, "Unknown config name: %.*s", FB_STR(name));
	else
		text = kw_sprintf(alter->arena, "Config value %s is not allowed for config key: %.*s",
			append ? "append" : "subtract", FB_STR(name));
	return fb_refuse(alter, KW_ERR_INVALID_CONFIG, "%s", text);
}

/* The controller knows the types of topic and broker configurations only (KafkaConfigSchema). */
static const struct fb_configdef *list_def(struct fb_alter *alter, struct kw_str name)
{
	enum fb_scope scope = (enum fb_scope)alter->resource->resourceType;
	const struct fb_configdef *def = NULL;

	if (scope == FB_TOPIC || scope == FB_BROKER)
		def = fb_configdef_find(alter->configs->defs, scope, name);
	return def && kw_str_is(name, def->name) ? def : NULL;
}

/* The whole request fails for it: fb_alter_check() sees to that. */
static bool trip(struct fb_alter *alter, enum fb_fault fault)
{
	*alter->fault = fault;
	return fb_refuse(alter, KW_ERR_UNKNOWN_SERVER_ERROR, NULL);
}

/* Brokers have refused it before. */
static bool refuse_null_operand(struct fb_alter *alter, struct kw_str name)
{
	if (fb_mutant(FB_M_NULL_OPERAND_TAKEN))
		return true;
	if (alter->facts->controllerImitates)
		return trip(alter, FB_F_NULL_OPERAND);
	return fb_refuse(alter, KW_ERR_INVALID_REQUEST, "Null value not supported for : %.*s", FB_STR(name));
}

static bool compute_list(struct fb_alter *alter, const struct fb_alter_config *config, enum fb_stage stage,
			 struct kw_str *value)
{
	bool append = config->configOperation == FB_APPEND;
	const struct fb_configdef *def = list_def(alter, config->name);
	struct kw_str now;

	if ((!def || def->type != FB_LIST) && !(def && fb_mutant(FB_M_APPEND_ANY_TYPE)))
		return refuse_list(alter, def, config->name, append, stage);
	now = fb_kvs_get(alter->existing, config->name);
	if (config->value.n < 0)
		return refuse_null_operand(alter, config->name);
	/* A broker trips over a key that has no default, not even null. */
	if (stage == FB_AT_BROKER && now.n < 0 && !def->def && !def->validator.null_ok)
		return fb_refuse(alter, KW_ERR_UNKNOWN_SERVER_ERROR, NULL);
	if (fb_mutant(FB_M_APPEND_REPLACES) && append)
		return true;
	if (fb_mutant(FB_M_SUBTRACT_IGNORED) && !append)
		return *value = now, true;
	*value = change_list(def, now, config->value, append, alter->arena);
	return value->n >= 0 || fb_refuse_memory(alter);
}

static bool compute(struct fb_alter *alter, const struct fb_alter_config *config, enum fb_stage stage,
		    struct kw_str *value)
{
	*value = config->value;
	if (alter->legacy)
		return true;
	switch (config->configOperation) {
	case FB_SET:
		return true;
	case FB_DELETE:
		*value = fb_mutant(FB_M_DELETE_IGNORED) ? fb_kvs_get(alter->existing, config->name) : KW_NULL_STR;
		return true;
	case FB_APPEND: case FB_SUBTRACT:
		return compute_list(alter, config, stage, value);
	default:
		if (fb_mutant(FB_M_OPERATION_ANY))
			return true;
		if (stage == FB_AT_CONTROLLER && alter->facts->controllerImitates)
			return trip(alter, FB_F_OPERATION);
		return fb_refuse(alter, KW_ERR_INVALID_REQUEST, "Unknown operations type %d", config->configOperation);
	}
}

static void touch(struct fb_alter *alter, struct kw_str name, struct kw_str value)
{
	alter->touched[alter->ntouched++] = (struct fb_change){alter->resource->resourceType,
		alter->resource->resourceName, name, value};
}

/* The entries of the request that count, as the last of a repeated name does, in the order in which they are looked at:
 * tag is the index of each. Returns the number. The twins are those of the existing values, if any, and then of the
 * request. */
static size_t live_entries(struct fb_alter *alter, enum fb_stage stage, struct fb_named *live,
			   const struct fb_twins *twins, size_t nexisting)
{
	size_t n = 0, total = (size_t)alter->resource->nconfigs;

	for (size_t i = 0; i < total; i++) {
		if (twins[nexisting + i].last == nexisting + i)
			live[n++] = (struct fb_named){(int)i, alter->resource->configs[i].name};
	}
	if (stage == FB_AT_CONTROLLER)
		fb_java_order(live, n, n);
	return n;
}

bool fb_alter_compute(struct fb_alter *alter, enum fb_stage stage)
{
	bool replaces = alter->legacy && !fb_mutant(FB_M_LEGACY_MERGES);
	size_t n = (size_t)alter->resource->nconfigs, nexisting = replaces ? alter->existing->n : 0, nlive;
	struct fb_named *names = kw_alloc(alter->arena, (nexisting + n) * sizeof *names);
	struct fb_named *live = kw_alloc(alter->arena, n * sizeof *live);
	struct fb_twins *twins;

	alter->touched = kw_alloc(alter->arena, (nexisting + n) * sizeof *alter->touched);
	alter->ntouched = 0;
	if (!names || !live || !alter->touched)
		return fb_refuse_memory(alter);
	for (size_t i = 0; i < nexisting; i++)
		names[i].name = alter->existing->v[i].name;
	for (size_t i = 0; i < n; i++)
		names[nexisting + i].name = alter->resource->configs[i].name;
	twins = fb_find_twins(names, nexisting + n, alter->arena);
	if (!twins)
		return fb_refuse_memory(alter);
	nlive = live_entries(alter, stage, live, twins, nexisting);
	for (size_t i = 0; i < nlive; i++) {
		struct kw_str value;

		if (!compute(alter, &alter->resource->configs[live[i].tag], stage, &value))
			return false;
		touch(alter, live[i].name, value);
	}
	for (size_t i = 0; i < nexisting; i++) {
		if (twins[i].last == i)
			touch(alter, names[i].name, KW_NULL_STR);
	}
	return true;
}

static int compare(const void *pa, const void *pb)
{
	const struct fb_change *a = pa, *b = pb;

	return kw_str_cmp(a->name, b->name);
}

bool fb_alter_merge(struct fb_alter *alter, struct fb_kvs *merged)
{
	size_t nold = alter->existing->n, nnew = alter->ntouched, i = 0, k = 0;
	struct fb_change *new = kw_alloc(alter->arena, nnew * sizeof *new);

	*merged = (struct fb_kvs){.v = kw_alloc(alter->arena, (nold + nnew) * sizeof *merged->v), .cap = nold + nnew};
	if (!new || !merged->v)
		return fb_refuse_memory(alter);
	if (nnew)
		memcpy(new, alter->touched, nnew * sizeof *new);
	qsort(new, nnew, sizeof *new, compare);
	while (i < nold || k < nnew) {
		const struct fb_kv *old = i < nold ? &alter->existing->v[i] : NULL;
		int order = !old ? 1 : k == nnew ? -1 : kw_str_cmp(old->name, new[k].name);

		if (order < 0)
			merged->v[merged->n++] = *old;
		else if (new[k].value.n >= 0)
			merged->v[merged->n++] = (struct fb_kv){new[k].name, new[k].value};
		i += order <= 0;
		k += order >= 0;
	}
	return true;
}
