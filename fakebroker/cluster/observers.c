/* The brokers' observers: made at the start, exchanged while requests pass, closed at the end. */
#include "fakebroker/cluster/cluster.h"
#include "fakebroker/cluster/log_line.h"

/* Configuration as the observer of a node sees it. */
struct lookup {
	struct fb_cluster *cluster;
	int32_t node;
	struct kw_arena arena;
};

static const char *config(void *arg, const char *name)
{
	struct lookup *lookup = arg;
	struct kw_str v = fb_configs_get(lookup->cluster->configs, FB_BROKER, KW_NULL_STR, lookup->node, name,
					 &lookup->arena, NULL);

	if (v.n < 0)   /* an option of a plugin is no known configuration */
		v = fb_configs_static(lookup->cluster->configs, lookup->node, kw_str(name));
	return v.n < 0 ? NULL : kw_strndup(&lookup->arena, v.s, (size_t)v.n);
}

/* The log outlives every observer; the configuration is asked only while one is made. classes NULL: those of the
 * configuration. Nothing is made, and *out is NULL, when `present` already is what they ask for. */
static int make(struct fb_cluster *cluster, int32_t node, const char *classes, const struct fb_observer *present,
		struct fb_observer **out, struct kt_err *err)
{
	struct lookup lookup = {.cluster = cluster, .node = node};
	struct fb_hook_env env = {config, fb_hook_line, &lookup, cluster->plugins};
	int code = 0;

	*out = NULL;
	kw_arena_init(&lookup.arena, 0);
	if (!classes)
		classes = config(&lookup, "observer.class.name");
	if (!classes)
		classes = "";
	if (!present || strcmp(fb_observer_classes(present), classes) != 0)
		code = fb_observer_new(classes, &env, out, err);
	kw_arena_fini(&lookup.arena);
	return code;
}

int fb_cluster_observe_check(struct fb_cluster *cluster, const char *classes, struct kt_err *err)
{
	struct kt_err why = {0};
	struct fb_observer *made;

	if (make(cluster, cluster->nodes[0].id, classes, NULL, &made, &why) < 0)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	fb_observer_unref(made);
	return why.code ? kt_fail(err, why.code, "%s", why.text) : 0;
}

static void close_observer(struct fb_cluster *cluster, int32_t node, struct fb_observer *observer)
{
	int64_t timeout = fb_configs_long(cluster->configs, FB_BROKER, KW_NULL_STR, node, "observer.shutdown.timeout",
					  FB_OBSERVER_TIMEOUT_MS);

	if (!observer)
		return;
	fb_observer_close(observer, timeout, NULL);
	fb_observer_unref(observer);
}

int fb_cluster_observe(struct fb_cluster *cluster, const char *classes, struct kt_err *err)
{
	for (size_t i = 0; i + 1 < cluster->nnodes; i++) {
		struct fb_node *node = &cluster->nodes[i];
		struct fb_observer *made, *old = NULL;
		int code;

		pthread_rwlock_wrlock(&cluster->lock);
		code = make(cluster, node->id, classes, node->observer, &made, NULL);
		if (made) {
			old = node->observer;
			node->observer = made;
		}
		pthread_rwlock_unlock(&cluster->lock);
		if (code)
			return kt_fail(err, KT_ENOMEM, "out of memory");
		close_observer(cluster, node->id, old);
	}
	return 0;
}

void fb_cluster_close_observers(struct fb_cluster *cluster)
{
	for (size_t i = 0; i + 1 < cluster->nnodes; i++) {
		close_observer(cluster, cluster->nodes[i].id, cluster->nodes[i].observer);
		cluster->nodes[i].observer = NULL;
	}
}

struct fb_observer *fb_node_observer(struct fb_cluster *cluster, struct fb_node *node)
{
	struct fb_observer *observer;

	pthread_rwlock_rdlock(&cluster->lock);
	observer = node->observer ? fb_observer_ref(node->observer) : NULL;
	pthread_rwlock_unlock(&cluster->lock);
	return observer;
}
