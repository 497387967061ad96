/* The static configuration of our own brokers: setting it, and finding what is illegal in it. */
#include <stdlib.h>

#include "fakebroker/cluster/cluster.h"
#include "fakebroker/cluster/log_line.h"

/* Is it an option that its validator or observer does not have? */
static int check_option(const struct fb_cluster *cluster, struct kw_str name, struct kt_err *err)
{
	size_t validator = strlen(FB_VALIDATOR_PREFIX), observer = strlen(FB_OBSERVER_PREFIX);
	char *text = strndup(name.s, (size_t)name.n);
	int code = 0;

	if (!text)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	if (strncmp(text, FB_VALIDATOR_PREFIX, validator) == 0)
		code = fb_chain_check_option(NULL, cluster->plugins, text, err);
	else if (strncmp(text, FB_OBSERVER_PREFIX, observer) == 0)
		code = fb_observer_check_option(cluster->plugins, text, err);
	free(text);
	return code;
}

int fb_cluster_check_static(const struct fb_cluster *cluster, struct kw_str name, struct kw_str value, struct kt_err *err)
{
	int code = check_option(cluster, name, err);

	return code ? code : fb_configs_check_static(cluster->configs, name, value, err);
}

int fb_cluster_set_static(struct fb_cluster *cluster, int32_t node, struct kw_str name, struct kw_str value,
			  struct kt_err *err)
{
	int code = check_option(cluster, name, err);
	const char *near;

	if (!code)
		code = fb_configs_set_static(cluster->configs, node, name, value, err);
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
	int16_t level = cluster->levels.v[FB_METADATA_VERSION];

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
		if (fb_sensitive_violations(view, broker.id, level, arena, &found) > 0 ||
		    fb_static_violations(view, &broker, level, arena, &found) > 0)
			return found;
	}
	return NULL;
}
