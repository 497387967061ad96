/* The brokers' observers: made at the start, exchanged while requests pass, closed at the end. */
#include "fakebroker/cluster/cluster.h"
#include "fakebroker/cluster/log_line.h"
#include "fakebroker/mutants.h"
#include "fakebroker/thread.h"

/* Configuration as the observer of a node sees it. The lock is taken for each question, so that create() of a plugin
 * may take its time. */
struct lookup {
	struct fb_cluster *cluster;
	int32_t node;
	const char *mode;            /* in place of observer.mode, or NULL */
	const json_t *options;       /* texts by the rest of their names behind "observer.": before the
					configuration's; or NULL */
	struct kw_arena arena;
};

static const char *config(void *arg, const char *name)
{
	struct lookup *lookup = arg;
	const char *copy;
	struct kw_str v;

	if (lookup->mode && strcmp(name, "observer.mode") == 0)
		return lookup->mode;
	if (strncmp(name, FB_OBSERVER_PREFIX, strlen(FB_OBSERVER_PREFIX)) == 0) {
		const char *given = json_string_value(
			json_object_get(lookup->options, name + strlen(FB_OBSERVER_PREFIX)));

		if (given)
			return given;
	}
	pthread_rwlock_rdlock(&lookup->cluster->lock);
	v = fb_configs_get(lookup->cluster->configs, FB_BROKER, KW_NULL_STR, lookup->node, name, &lookup->arena, NULL);
	if (v.n < 0)   /* an option of a plugin is no known configuration */
		v = fb_configs_static(lookup->cluster->configs, lookup->node, kw_str(name));
	copy = v.n < 0 ? NULL : kw_strndup(&lookup->arena, v.s, (size_t)v.n);
	pthread_rwlock_unlock(&lookup->cluster->lock);
	return copy;
}

static bool is_what_they_ask_for(const struct fb_observer *present, const char *classes, struct lookup *lookup)
{
	const char *mode = config(lookup, "observer.mode");

	return present && !lookup->options && strcmp(fb_observer_classes(present), classes) == 0 &&
	       fb_observer_queued(present) == (mode && strcmp(mode, "queued") == 0);
}

struct wanted {
	const char *classes, *mode;
	const json_t *options;
	bool strict;
};

/* classes and mode NULL: those of the configuration. Nothing is made, and *out is NULL, when `present` already is what
 * they ask for. Strict: a class that cannot be had is told in err instead of the log, and 0 returned. The log
 * outlives every observer; the configuration is asked only while one is made. */
static int make(struct fb_cluster *cluster, int32_t node, const struct wanted *wanted,
		const struct fb_observer *present, struct fb_observer **out, struct kt_err *err)
{
	const char *classes = wanted->classes;
	struct kt_err why = {0};
	struct lookup lookup = {.cluster = cluster, .node = node, .mode = wanted->mode, .options = wanted->options};
	struct fb_hook_env env = {config, fb_hook_line, &lookup, cluster->plugins};
	int code = 0;

	*out = NULL;
	kw_arena_init(&lookup.arena, 0);
	if (!classes)
		classes = config(&lookup, "observer.class.name");
	if (!classes)
		classes = "";
	if (wanted->strict)
		env.log = NULL;   /* the caller tells it */
	if (!is_what_they_ask_for(present, classes, &lookup))
		code = fb_observer_new(classes, &env, out, &why);
	kw_arena_fini(&lookup.arena);
	if (code || (wanted->strict && why.code))
		kt_fail(err, why.code, "%s", why.text);
	return code;
}

int fb_cluster_observe_check(struct fb_cluster *cluster, const char *classes, int32_t *node, struct kt_err *err)
{
	const struct wanted wanted = {.classes = classes, .strict = true};
	size_t n = classes ? 1 : cluster->nnodes - 1;
	struct kt_err why = {0};

	for (size_t i = 0; i < n && !why.code; i++) {
		struct fb_observer *made;

		*node = cluster->nodes[i].id;
		make(cluster, *node, &wanted, NULL, &made, &why);
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
	if (fb_observer_close(observer, timeout, NULL) < 0 && fb_mutant(FB_M_CLOSE_UNBOUNDED))
		nanosleep(&(struct timespec){.tv_sec = 4}, NULL);
	fb_observer_unref(observer);
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
static void close_all(struct fb_cluster *cluster, struct fb_observer *const *observers, size_t n)
{
	struct closing closing[FB_MAX_NODES];
	size_t started = 0;

	for (size_t i = 0; i < n; i++) {
		int64_t timeout;

		if (!observers[i])
			continue;
		pthread_rwlock_rdlock(&cluster->lock);
		timeout = shutdown_timeout(cluster, &cluster->nodes[i]);
		pthread_rwlock_unlock(&cluster->lock);
		closing[started] = (struct closing){.observer = observers[i], .timeout = timeout};
		if (fb_thread_start(&closing[started].thread, NULL, close_one, &closing[started]) == 0)
			started++;
		else
			close_one(&closing[started]);
	}
	while (started)
		pthread_join(closing[--started].thread, NULL);
}

static bool runs(struct fb_cluster *cluster, const struct fb_node *node)
{
	bool stopped;

	pthread_rwlock_rdlock(&cluster->lock);
	stopped = node->stopped;
	pthread_rwlock_unlock(&cluster->lock);
	return !stopped;
}

/* Puts an observer, or none, into force. Under the cluster's lock. */
static void install(struct fb_node *node, struct fb_observer *observer)
{
	if (observer)
		fb_observer_passed_by(observer, &node->passed);
	atomic_store(&node->observer, observer);
	atomic_store_explicit(&node->wants_produce, observer && fb_observer_wants_produce(observer),
			      memory_order_release);
	atomic_store_explicit(&node->watched, observer && !fb_observer_idle(observer), memory_order_release);
}

/* Made before and closed after they are exchanged, both under no lock: requests pass meanwhile. */
int fb_cluster_observe(struct fb_cluster *cluster, const char *classes, const char *mode, const json_t *options,
		       bool strict, struct kt_err *err)
{
	const struct wanted wanted = {classes, mode, options, strict};
	struct fb_observer *observers[FB_MAX_NODES] = {NULL};
	size_t n = cluster->nnodes - 1;
	struct kt_err why = {0};

	for (size_t i = 0; i < n && !why.code; i++) {
		struct fb_observer *present;

		if (!runs(cluster, &cluster->nodes[i]))
			continue;
		present = fb_node_observer(cluster, &cluster->nodes[i]);
		make(cluster, cluster->nodes[i].id, &wanted, present, &observers[i], &why);
		fb_observer_unref(present);
	}
	pthread_rwlock_wrlock(&cluster->lock);
	for (size_t i = 0; i < n && !why.code; i++) {
		struct fb_observer *old = cluster->nodes[i].observer;

		if (observers[i] && !cluster->nodes[i].stopped) {
			install(&cluster->nodes[i], observers[i]);
			observers[i] = old;
		}
	}
	pthread_rwlock_unlock(&cluster->lock);
	close_all(cluster, observers, n);   /* the old ones, or those made in vain */
	return why.code ? kt_fail(err, why.code, "%s", why.text) : 0;
}

void fb_cluster_close_observers(struct fb_cluster *cluster)
{
	struct fb_observer *observers[FB_MAX_NODES];

	for (size_t i = 0; i + 1 < cluster->nnodes; i++) {
		observers[i] = cluster->nodes[i].observer;
		install(&cluster->nodes[i], NULL);
	}
	close_all(cluster, observers, cluster->nnodes - 1);
}

int fb_node_observe(struct fb_cluster *cluster, struct fb_node *node, struct kt_err *err)
{
	struct kt_err why = {0};
	struct fb_observer *made;
	int64_t timeout;

	if (make(cluster, node->id, &(struct wanted){0}, NULL, &made, &why) < 0)
		return kt_fail(err, why.code == KT_ENOMEM ? KT_ENOMEM : KT_EPLUGIN, "%s", why.text);
	pthread_rwlock_wrlock(&cluster->lock);
	if (!node->observer) {   /* else somebody exchanges all of them right now */
		install(node, made);
		made = NULL;
	}
	timeout = shutdown_timeout(cluster, node);
	pthread_rwlock_unlock(&cluster->lock);
	close_observer(made, timeout);
	return 0;
}

void fb_node_close_observer(struct fb_cluster *cluster, struct fb_node *node)
{
	struct fb_observer *observer;
	int64_t timeout;

	pthread_rwlock_wrlock(&cluster->lock);
	observer = node->observer;
	install(node, NULL);
	timeout = shutdown_timeout(cluster, node);
	pthread_rwlock_unlock(&cluster->lock);
	close_observer(observer, timeout);
}

struct fb_observer *fb_node_observer(struct fb_cluster *cluster, struct fb_node *node)
{
	struct fb_observer *observer;

	pthread_rwlock_rdlock(&cluster->lock);
	observer = node->observer ? fb_observer_ref(node->observer) : NULL;
	pthread_rwlock_unlock(&cluster->lock);
	return observer;
}
