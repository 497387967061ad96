/* The static configuration of our own brokers: setting it, and finding what is illegal in it. */
#include "fakebroker/cluster/cluster.h"
#include "fakebroker/cluster/log_line.h"

int fb_cluster_set_static(struct fb_cluster *cluster, int32_t node, struct kw_str name, struct kw_str value,
			  struct kt_err *err)
{
	int code = fb_configs_set_static(cluster->configs, node, name, value, err);
	const char *near;

	if (code || fb_configdef_find(cluster->defs, FB_BROKER, name))
		return code;
	near = fb_configdef_near(cluster->defs, FB_BROKER, name);
	fb_log_line(KASSAY_WARN, "there is no broker configuration %.*s%s%s", name.n, name.s, near ? "; did you mean " : "",
		    near ? near : "");
	return 0;
}

const struct fb_violation *fb_cluster_violation(struct fb_cluster *cluster, int32_t *node, struct kw_arena *arena)
{
	struct fb_cluster_view *view = fb_cluster_view(cluster, arena);

	for (size_t i = 0; view && i + 1 < cluster->nnodes; i++) {
		struct fb_broker_view broker = {.id = cluster->nodes[i].id, .reported = true};
		struct fb_static_config *statics;
		struct fb_violation *found;
		int n = fb_configs_report(cluster->configs, broker.id, arena, &statics);

		if (n < 0)
			return NULL;
		broker.statics = statics;
		broker.nstatics = (size_t)n;
		*node = broker.id;
		if (fb_static_violations(view, &broker, cluster->levels.v[FB_METADATA_VERSION], arena, &found) > 0)
			return found;
	}
	return NULL;
}
