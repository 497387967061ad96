#include "fakebroker/config/values.h"

#include <stdio.h>
#include <stdlib.h>

#include "fakebroker/config/parse.h"
#include "fakebroker/config/state.h"

struct fb_configs *fb_configs_new(const struct fb_configdefs *defs)
{
	struct fb_configs *configs = calloc(1, sizeof *configs);

	if (configs)
		*configs = (struct fb_configs){.defs = defs, .changes = 1};
	return configs;
}

void fb_configs_free(struct fb_configs *configs)
{
	if (!configs)
		return;
	for (size_t i = 0; i < configs->nresources; i++) {
		fb_str_free(configs->resources[i].name);
		fb_kvs_fini(&configs->resources[i].kvs);
	}
	for (size_t i = 0; i < configs->nnodes; i++)
		fb_kvs_fini(&configs->nodes[i].kvs);
	free(configs->resources);
	free(configs->nodes);
	free(configs);
}

const struct fb_configdefs *fb_configs_defs(const struct fb_configs *configs)
{
	return configs->defs;
}

void fb_id_text(struct fb_id_text *text, int32_t id)
{
	int n = snprintf(text->buf, sizeof text->buf, "%d", id);

	text->str = (struct kw_str){text->buf, n};
}

/* ---- static values ---- */

static const struct fb_kvs *node_find(const struct fb_configs *configs, int32_t id)
{
	for (size_t i = 0; i < configs->nnodes; i++) {
		if (configs->nodes[i].id == id)
			return &configs->nodes[i].kvs;
	}
	return NULL;
}

static struct fb_kvs *node_need(struct fb_configs *configs, int32_t id)
{
	struct fb_kvs *kvs = (struct fb_kvs *)node_find(configs, id);
	struct fb_node_statics *nodes;

	if (kvs)
		return kvs;
	nodes = realloc(configs->nodes, (configs->nnodes + 1) * sizeof *nodes);
	if (!nodes)
		return NULL;
	configs->nodes = nodes;
	nodes[configs->nnodes] = (struct fb_node_statics){.id = id};
	return &nodes[configs->nnodes++].kvs;
}

int fb_configs_check_static(const struct fb_configs *configs, struct kw_str name, struct kw_str value, struct kt_err *err)
{
	const struct fb_configdef *def = fb_configdef_find(configs->defs, FB_BROKER, name);
	struct kw_arena arena;
	const char *message = NULL;
	int rc = 0;

	kw_arena_init(&arena, 0);
	/* A class that only the user's broker has is fine in the user's server.properties. */
	if (def && def->type != FB_CLASS && !fb_config_parse_check(def, value, &arena, &message))
		rc = kt_fail(err, message ? KT_ERANGE : KT_ENOMEM, "%s", message ? message : "out of memory");
	kw_arena_fini(&arena);
	return rc;
}

int fb_configs_set_static(struct fb_configs *configs, int32_t node, struct kw_str name, struct kw_str value,
			  struct kt_err *err)
{
	int rc = fb_configs_check_static(configs, name, value, err);
	struct fb_kvs *kvs;

	if (rc)
		return rc;
	configs->changes++;
	kvs = node_need(configs, node);
	if (!kvs || fb_kvs_set(kvs, name, value))
		return kt_fail(err, KT_ENOMEM, "out of memory");
	return 0;
}

void fb_configs_unset_static(struct fb_configs *configs, int32_t node, struct kw_str name)
{
	struct fb_kvs *kvs = (struct fb_kvs *)node_find(configs, node);

	configs->changes++;
	if (kvs)
		fb_kvs_del(kvs, name);
}

struct kw_str fb_configs_static(const struct fb_configs *configs, int32_t node, struct kw_str name)
{
	const struct fb_kvs *own = node_find(configs, node), *all = node_find(configs, FB_ALL_NODES);
	struct kw_str value = own ? fb_kvs_get(own, name) : KW_NULL_STR;

	return value.n < 0 && all ? fb_kvs_get(all, name) : value;
}

/* Is the node's static value of def worth a report? */
static bool reportable(const struct fb_configs *configs, int32_t node, const struct fb_configdef *def,
		       struct kw_arena *arena)
{
	struct kw_str value = fb_configs_static(configs, node, kw_str(def->name));

	if (value.n < 0)
		return false;
	return !def->def || !kw_str_eq(fb_canonical(def, value, arena), fb_canonical(def, kw_str(def->def), arena));
}

int fb_configs_report(const struct fb_configs *configs, int32_t node, struct kw_arena *arena,
		      struct fb_static_config **reported)
{
	const struct fb_configdef *def = NULL;
	int n = 0;

	while ((def = fb_configdef_next(configs->defs, FB_BROKER, def)))
		n += reportable(configs, node, def, arena);
	*reported = kw_alloc(arena, (size_t)n * sizeof **reported);
	if (!*reported)
		return KT_ENOMEM;
	n = 0;
	while ((def = fb_configdef_next(configs->defs, FB_BROKER, def))) {
		struct fb_static_config *entry = &(*reported)[n];

		if (!reportable(configs, node, def, arena))
			continue;
		entry->name = kw_str(def->name);
		entry->sensitive = def->sensitive;
		entry->value = def->sensitive ? KW_NULL_STR : fb_configs_static(configs, node, entry->name);
		n++;
	}
	return n;
}

/* ---- dynamic values ---- */

/* Index of the resource, or of where it belongs. */
static size_t lower_bound(const struct fb_configs *configs, enum fb_scope type, struct kw_str name, bool *found)
{
	size_t from = 0, to = configs->nresources;

	while (from < to) {
		size_t mid = from + (to - from) / 2;
		const struct fb_resource *resource = &configs->resources[mid];
		int order = resource->type == type ? kw_str_cmp(resource->name, name) :
						     (resource->type < type ? -1 : 1);

		if (order == 0) {
			*found = true;
			return mid;
		}
		if (order < 0)
			from = mid + 1;
		else
			to = mid;
	}
	*found = false;
	return from;
}

const struct fb_resource *fb_resource_find(const struct fb_configs *configs, enum fb_scope type, struct kw_str name)
{
	bool found;
	size_t at = lower_bound(configs, type, name, &found);

	return found ? &configs->resources[at] : NULL;
}

static struct fb_resource *resource_need(struct fb_configs *configs, enum fb_scope type, struct kw_str name)
{
	struct fb_resource *resources, fresh = {.type = type};
	bool found;
	size_t at = lower_bound(configs, type, name, &found);

	if (found)
		return &configs->resources[at];
	resources = realloc(configs->resources, (configs->nresources + 1) * sizeof *resources);
	if (!resources)
		return NULL;
	configs->resources = resources;
	fresh.name = fb_str_dup(name);
	if (fresh.name.n < 0)
		return NULL;
	memmove(resources + at + 1, resources + at, (configs->nresources - at) * sizeof *resources);
	resources[at] = fresh;
	configs->nresources++;
	return &resources[at];
}

static int apply(struct fb_configs *configs, const struct fb_change *change)
{
	enum fb_scope type = (enum fb_scope)change->resourceType;
	struct fb_resource *resource;
	bool found;
	size_t at;

	if (type == FB_TOPIC && !fb_configdef_find(configs->defs, type, change->name))
		return 0;
	if (change->value.n >= 0) {
		resource = resource_need(configs, type, change->resourceName);
		return resource ? fb_kvs_set(&resource->kvs, change->name, change->value) : KT_ENOMEM;
	}
	at = lower_bound(configs, type, change->resourceName, &found);
	if (!found)
		return 0;
	resource = &configs->resources[at];
	fb_kvs_del(&resource->kvs, change->name);
	if (resource->kvs.n == 0)
		fb_configs_forget(configs, type, change->resourceName);
	return 0;
}

int fb_configs_apply(struct fb_configs *configs, const struct fb_change *changes, size_t n)
{
	configs->changes++;
	for (size_t i = 0; i < n; i++) {
		if (apply(configs, &changes[i]))
			return KT_ENOMEM;
	}
	return 0;
}

void fb_configs_forget(struct fb_configs *configs, enum fb_scope type, struct kw_str resourceName)
{
	bool found;
	size_t at = lower_bound(configs, type, resourceName, &found);
	struct fb_resource *resource;

	if (!found)
		return;
	configs->changes++;
	resource = &configs->resources[at];
	fb_str_free(resource->name);
	fb_kvs_fini(&resource->kvs);
	configs->nresources--;
	memmove(resource, resource + 1, (configs->nresources - at) * sizeof *resource);
}

struct kw_str fb_configs_dynamic(const struct fb_configs *configs, enum fb_scope type, struct kw_str resourceName,
				 struct kw_str name)
{
	const struct fb_resource *resource = fb_resource_find(configs, type, resourceName);

	return resource ? fb_kvs_get(&resource->kvs, name) : KW_NULL_STR;
}

void fb_configs_each(const struct fb_configs *configs, bool (*each)(void *arg, const struct fb_change *value),
		     void *arg)
{
	for (size_t i = 0; i < configs->nresources; i++) {
		const struct fb_resource *resource = &configs->resources[i];

		for (size_t k = 0; k < resource->kvs.n; k++) {
			struct fb_change change = {(int8_t)resource->type, resource->name, resource->kvs.v[k].name,
						   resource->kvs.v[k].value};

			if (!each(arg, &change))
				return;
		}
	}
}
