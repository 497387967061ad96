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

/* classes NULL: those of the configuration. Nothing is made, and *out is NULL, when `present` already is what they ask
 * for. The log outlives every observer; the configuration is asked only while one is made. */
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
	if (err)
		env.log = NULL;   /* the caller tells it */
	if (!present || strcmp(fb_observer_classes(present), classes) != 0)
		code = fb_observer_new(classes, &env, out, err);
	kw_arena_fini(&lookup.arena);
	return code;
}

int fb_cluster_observe_check(struct fb_cluster *cluster, const char *classes, int32_t *node, struct kt_err *err)
{
	size_t n = classes ? 1 : cluster->nnodes - 1;
	struct kt_err why = {0};

	for (size_t i = 0; i < n && !why.code; i++) {
		struct fb_observer *made;

		*node = cluster->nodes[i].id;
		if (make(cluster, *node, classes, NULL, &made, &why) < 0)
			return kt_fail(err, KT_ENOMEM, "out of memory");
		fb_observer_unref(made);
	}
	return why.code ? kt_fail(err, why.code, "%s", why.text) : 0;
}

static int64_t shutdown_timeout(const struct fb_cluster *cluster, const struct fb_node *node)
{
	return fb_configs_long(cluster->configs, FB_BROKER, KW_NULL_STR, node->id, "observer.shutdown.timeout",
			       FB_OBSERVER_TIMEOUT_MS);
}

static void close_observer(struct fb_observer *observer, int64_t timeout)
{
	if (!observer)
		return;
	fb_observer_close(observer, timeout, NULL);
	fb_observer_unref(observer);
}

/* An observer may take its time to begin and to end: requests pass meanwhile. */
static int exchange(struct fb_cluster *cluster, struct fb_node *node, const char *classes)
{
	struct fb_observer *made, *old;
	int64_t timeout;
	int code;

	pthread_rwlock_rdlock(&cluster->lock);
	code = make(cluster, node->id, classes, node->observer, &made, NULL);
	timeout = shutdown_timeout(cluster, node);
	pthread_rwlock_unlock(&cluster->lock);
	if (!made)
		return code;
	pthread_rwlock_wrlock(&cluster->lock);
	old = node->observer;
	node->observer = made;
	pthread_rwlock_unlock(&cluster->lock);
	close_observer(old, timeout);
	return 0;
}

int fb_cluster_observe(struct fb_cluster *cluster, const char *classes, struct kt_err *err)
{
	for (size_t i = 0; i + 1 < cluster->nnodes; i++)
		if (exchange(cluster, &cluster->nodes[i], classes) < 0)
			return kt_fail(err, KT_ENOMEM, "out of memory");
	return 0;
}

struct closing {
	pthread_t thread;
	struct fb_observer *observer;
	int64_t timeout;
};

static void *close_one(void *arg)
{
	struct closing *closing = arg;

	close_observer(closing->observer, closing->timeout);
	return NULL;
}

/* All at once, so that the time-outs of several brokers do not add up. */
void fb_cluster_close_observers(struct fb_cluster *cluster)
{
	struct closing closing[FB_MAX_NODES];
	size_t n = 0;

	for (size_t i = 0; i + 1 < cluster->nnodes; i++) {
		struct fb_node *node = &cluster->nodes[i];

		closing[n] = (struct closing){.observer = node->observer, .timeout = shutdown_timeout(cluster, node)};
		node->observer = NULL;
		if (pthread_create(&closing[n].thread, NULL, close_one, &closing[n]) == 0)
			n++;
		else
			close_one(&closing[n]);
	}
	while (n)
		pthread_join(closing[--n].thread, NULL);
}

struct fb_observer *fb_node_observer(struct fb_cluster *cluster, struct fb_node *node)
{
	struct fb_observer *observer;

	pthread_rwlock_rdlock(&cluster->lock);
	observer = node->observer ? fb_observer_ref(node->observer) : NULL;
	pthread_rwlock_unlock(&cluster->lock);
	return observer;
}
