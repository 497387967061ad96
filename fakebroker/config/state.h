/* The inside of the configuration state, for the files that work on it. */
#ifndef KASSAY_FAKEBROKER_CONFIG_STATE_H
#define KASSAY_FAKEBROKER_CONFIG_STATE_H

#include "fakebroker/config/kvs.h"
#include "fakebroker/config/values.h"

/* The dynamic values of one resource. */
struct fb_resource {
	enum fb_scope type;
	struct kw_str name;
	struct fb_kvs kvs;
};

/* The static values of one node, or (FB_ALL_NODES) of all. */
struct fb_node_statics {
	int32_t id;
	struct fb_kvs kvs;
};

struct fb_configs {
	const struct fb_configdefs *defs;
	struct fb_resource *resources;   /* by type and name */
	size_t nresources;
	struct fb_node_statics *nodes;
	size_t nnodes;
	uint64_t changes;                /* from 1; one more whenever a value may have changed */
};

/* NULL if the resource has no dynamic values. */
const struct fb_resource *fb_resource_find(const struct fb_configs *configs, enum fb_scope type, struct kw_str name);

/* Decimal text of a node's id, which is the name of its BROKER resource. */
struct fb_id_text {
	char buf[12];
	struct kw_str str;
};
void fb_id_text(struct fb_id_text *text, int32_t id);

#endif
