/* Stopping and starting one of our brokers while the others serve. */
#include <stdlib.h>

#include "fakebroker/cluster/fetch_sessions.h"
#include "fakebroker/cluster/log_line.h"
#include "fakebroker/cluster/metadata_records.h"

enum { CLOSE_MS = 2000 };

bool fb_node_runs(const struct fb_cluster *cluster, int32_t id)
{
	const struct fb_node *node = fb_cluster_node(cluster, id);

	return node && !node->controller && !node->stopped;
}

const struct fb_node *fb_cluster_running(const struct fb_cluster *cluster, size_t from)
{
	size_t brokers = cluster->nnodes - 1;

	for (size_t i = 0; i < brokers; i++) {
		const struct fb_node *node = &cluster->nodes[(from + i) % brokers];

		if (!node->stopped)
			return node;
	}
	return NULL;
}

int32_t fb_cluster_any(const struct fb_cluster *cluster)
{
	const struct fb_node *node = fb_cluster_running(cluster, 0);

	return node ? node->id : -1;
}

/* ---- stopping ---- */

/* What the controller does of a broker that wants to go: if it leads anything, others do first. It is registered still,
 * unless somebody unregistered it. */
static void retire(struct fb_cluster *cluster, struct fb_node *node)
{
	struct fb_broker *broker = fb_cluster_broker(cluster, node->id);
	bool leads = fb_broker_leads(cluster, node->id);

	node->stopped = true;
	if (!broker || !broker->own) {
		fb_broker_leaves(cluster, node->id);
		fb_wrote(cluster);
		return;
	}
	if (leads) {
		broker->inControlledShutdown = true;
		fb_write_controlled_shutdown(cluster, broker);
		fb_broker_leaves(cluster, node->id);
		fb_wrote(cluster);
	}
	broker->own = false;
	broker->fenced = true;
	broker->contact_ns = 0;
	fb_broker_leaves(cluster, node->id);
	fb_write_fencing(cluster, broker);
	fb_wrote(cluster);
}

int fb_node_stop(struct fb_cluster *cluster, struct fb_node *node, bool *held, struct kt_err *err)
{
	bool stopped;

	pthread_rwlock_wrlock(&cluster->lock);
	stopped = node->stopped;
	if (!stopped)
		retire(cluster, node);
	pthread_rwlock_unlock(&cluster->lock);
	if (stopped)
		return kt_fail(err, KT_EUSAGE, "broker %d is stopped already", node->id);
	*held = fb_server_close(cluster->server, node, CLOSE_MS, NULL) < 0;
	fb_node_close_observer(cluster, node);
	fb_fetch_sessions_clear(node->fetch_sessions);
	fb_server_poke(cluster->server);   /* fetches that wait elsewhere look at their partitions again */
	fb_log_line(KASSAY_INFO, "broker %d stopped%s", node->id, *held ? "; a request holds up a thread" : "");
	return 0;
}

/* ---- starting ---- */

/* All or nothing, unless memory runs out. */
static int change_statics(struct fb_cluster *cluster, int32_t id, const struct fb_static_change *changes, size_t n,
			  struct kt_err *err)
{
	for (size_t i = 0; i < n; i++)
		if (fb_static_check_restart(changes[i].name, err) < 0 ||
		    (changes[i].value.n >= 0 &&
		     fb_cluster_check_static(cluster, changes[i].name, changes[i].value, err) < 0))
			return err->code;
	for (size_t i = 0; i < n; i++) {
		if (changes[i].value.n < 0)
			fb_configs_unset_static(cluster->configs, id, changes[i].name);
		else if (fb_cluster_set_static(cluster, id, changes[i].name, changes[i].value, NULL, err) < 0)
			return err->code;
	}
	return 0;
}

static bool has_validators(const struct fb_static_change *changes, size_t n)
{
	size_t prefix = strlen(FB_VALIDATOR_PREFIX);

	for (size_t i = 0; i < n; i++)
		if (changes[i].name.n >= (int32_t)prefix && memcmp(changes[i].name.s, FB_VALIDATOR_PREFIX, prefix) == 0)
			return true;
	return false;
}

/* As a new incarnation. A refusal is KT_EPEER, and KT_EPLUGIN when the validators that it is to have cannot be had. */
static int readmit(struct fb_cluster *cluster, struct fb_node *node, const struct fb_static_change *changes, size_t n,
		   struct kt_err *err)
{
	const struct kw_uuid former = node->incarnationId;
	struct kt_err why = {0};
	int code = KT_EPLUGIN;

	kw_uuid_random(&node->incarnationId);
	node->stopped = false;
	if (fb_node_join(cluster, node, &why) < 0) {
		node->incarnationId = former;   /* that of the registration, which is ours still */
		code = KT_EPEER;
	} else if (n == 0 || fb_topics_reconfigure(cluster, has_validators(changes, n), &why) == 0) {
		return 0;
	}
	retire(cluster, node);
	return kt_fail(err, why.code == KT_ENOMEM ? KT_ENOMEM : code, "%s", why.text);
}

/* Under the lock: everything but what takes time. */
static int admit(struct fb_cluster *cluster, struct fb_node *node, const struct fb_static_change *changes, size_t n,
		 struct kt_err *err)
{
	if (!node->stopped)
		return kt_fail(err, KT_EUSAGE, "broker %d runs", node->id);
	if (change_statics(cluster, node->id, changes, n, err) < 0)
		return err->code;
	return readmit(cluster, node, changes, n, err);
}

/* Remembers the outcome. A broker that failed to start is stopped as before, with its new static values. */
static void conclude(struct fb_cluster *cluster, struct fb_node *node, const struct kt_err *why)
{
	pthread_rwlock_wrlock(&cluster->lock);
	if (why->code && !node->stopped)
		retire(cluster, node);
	free(node->whyStopped);
	node->whyStopped = why->code ? strdup(why->text) : NULL;
	pthread_rwlock_unlock(&cluster->lock);
	if (why->code)
		fb_node_close_observer(cluster, node);
}

int fb_node_start(struct fb_cluster *cluster, struct fb_node *node, const struct fb_static_change *changes, size_t n,
		  struct kt_err *err)
{
	struct kt_err why = {0};

	pthread_rwlock_wrlock(&cluster->lock);
	admit(cluster, node, changes, n, &why);
	pthread_rwlock_unlock(&cluster->lock);
	if (why.code == KT_EUSAGE)
		return kt_fail(err, why.code, "%s", why.text);
	if (!why.code)
		fb_node_observe(cluster, node, &why);
	if (!why.code)
		fb_server_reopen(cluster->server, node, &why);
	conclude(cluster, node, &why);
	if (why.code) {
		fb_log_line(KASSAY_WARN, "broker %d does not start: %s", node->id, why.text);
		return kt_fail(err, why.code, "%s", why.text);
	}
	fb_log_line(KASSAY_INFO, "broker %d started", node->id);
	fb_server_poke(cluster->server);
	return 0;
}
