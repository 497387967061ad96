#include "fakebroker/cluster/fetch_sessions.h"
#include "fakebroker/cluster/metadata_records.h"
#include "fakebroker/cluster/transactions.h"

#include "fakebroker/mutants.h"

#include <stdio.h>
#include <stdlib.h>

static int nodes_init(struct fb_cluster *cluster, int nbrokers)
{
	cluster->nodes = calloc((size_t)nbrokers + 1, sizeof *cluster->nodes);
	if (!cluster->nodes)
		return KT_ENOMEM;
	cluster->nnodes = (size_t)nbrokers + 1;
	for (size_t i = 0; i < cluster->nnodes; i++) {
		struct fb_node *node = &cluster->nodes[i];

		node->controller = i == (size_t)nbrokers;
		node->id = node->controller ? FB_CONTROLLER_ID : (int32_t)i + 1;
		kw_uuid_random(&node->incarnationId);
		kw_uuid_random(&node->logDir);
		if (!node->controller) {
			node->fetch_sessions = fb_fetch_sessions_new();
			if (!node->fetch_sessions)
				return KT_ENOMEM;
		}
	}
	return 0;
}

/* Many readers at once must not keep a writer out. */
static void init_lock(pthread_rwlock_t *lock)
{
	pthread_rwlockattr_t attr;

	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(lock, &attr);
	pthread_rwlockattr_destroy(&attr);
}

int fb_cluster_new(const struct fb_release *release, int16_t level, int nbrokers, struct fb_cluster **out,
		   struct kt_err *err)
{
	struct fb_cluster *cluster = calloc(1, sizeof *cluster);
	struct kw_uuid id;

	*out = NULL;
	if (!cluster)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	init_lock(&cluster->lock);
	pthread_mutex_init(&cluster->meters_lock, NULL);
	pthread_mutex_init(&cluster->tick_lock, NULL);
	kw_uuid_random(&id);
	kw_uuid_text(id, cluster->id);
	cluster->release = release;
	cluster->levels = fb_levels_at(release, level);
	fb_metadata_init(&cluster->metadata, FB_METADATA_LOG_MAX);
	cluster->registrationVersion = FB_STATICS_VERSION;
	cluster->controllerEpoch = 1;
	cluster->clock = fb_clock_new();
	cluster->transactions = fb_transactions_new();
	cluster->defs = fb_configdefs_new_as_of(release->name);
	cluster->configs = cluster->defs ? fb_configs_new(cluster->defs) : NULL;
	if (!cluster->configs || !cluster->clock || !cluster->transactions || nodes_init(cluster, nbrokers) < 0) {
		fb_cluster_free(cluster);
		return kt_fail(err, KT_ENOMEM, "out of memory");
	}
	*out = cluster;
	return 0;
}

static void broker_free(struct fb_broker *broker)
{
	kw_arena_fini(&broker->arena);
	free(broker);
}

void fb_cluster_free(struct fb_cluster *cluster)
{
	if (!cluster)
		return;
	fb_transactions_free(cluster->transactions);
	while (cluster->ntopics)
		fb_topic_unref(cluster->topics[--cluster->ntopics]);
	free(cluster->topics);
	free(cluster->topics_by_id);
	free(cluster->topics_alike);
	while (cluster->nbrokers)
		broker_free(cluster->brokers[--cluster->nbrokers]);
	free(cluster->brokers);
	for (size_t i = 0; i < cluster->nnodes; i++) {
		if (cluster->nodes[i].observer)
			fb_observer_unref(cluster->nodes[i].observer);
		fb_auth_fini(&cluster->nodes[i].auth);
		fb_fetch_sessions_free(cluster->nodes[i].fetch_sessions);
		free(cluster->nodes[i].rack);
		free(cluster->nodes[i].whyStopped);
	}
	free(cluster->nodes);
	fb_metadata_fini(&cluster->metadata);
	fb_configs_free(cluster->configs);
	fb_configdefs_free(cluster->defs);
	free(cluster->control_url);
	pthread_rwlock_destroy(&cluster->lock);
	pthread_mutex_destroy(&cluster->meters_lock);
	pthread_mutex_destroy(&cluster->tick_lock);
	fb_clock_free(cluster->clock);
	free(cluster);
}

int64_t fb_cluster_now(const struct fb_cluster *cluster)
{
	return fb_clock_now(cluster->clock);
}

struct fb_node *fb_cluster_node(const struct fb_cluster *cluster, int32_t id)
{
	for (size_t i = 0; i < cluster->nnodes; i++)
		if (cluster->nodes[i].id == id)
			return &cluster->nodes[i];
	return NULL;
}

struct fb_node *fb_cluster_controller(const struct fb_cluster *cluster)
{
	return &cluster->nodes[cluster->nnodes - 1];
}

/* ---- what the checks see ---- */

static bool topic_exists(void *arg, struct kw_str name)
{
	return fb_topic_find(arg, name) != NULL;
}

static bool node_exists(void *arg, int32_t id)
{
	return id == FB_CONTROLLER_ID || fb_cluster_broker(arg, id) != NULL;
}

struct fb_config_facts fb_cluster_facts(struct fb_cluster *cluster, const struct fb_node *self)
{
	return (struct fb_config_facts){
		.self = self->id,
		.controller = self->controller,
		.level = cluster->levels.v[FB_METADATA_VERSION],
		.elr = cluster->levels.v[FB_ELR_VERSION] >= 1,
		.groups = fb_configdefs_has(cluster->defs, FB_GROUP),
		.topicExists = topic_exists,
		.imitates = atomic_load(&self->imitates),
		.controllerImitates = atomic_load(&fb_cluster_controller(cluster)->imitates),
		.nodeExists = node_exists,
		.arg = cluster,
	};
}

/* What one of our brokers will say of its static configurations. */
static bool foretell(const struct fb_cluster *cluster, struct fb_broker_view *view, struct kw_arena *arena)
{
	struct fb_static_config *statics = NULL;
	int n = fb_configs_report(cluster->configs, view->id, arena, &statics);

	view->foretold = true;
	view->statics = statics;
	view->nstatics = n < 0 ? 0 : (size_t)n;
	return n >= 0;
}

/* Did one of our nodes register it, whether it runs or not? */
static bool is_ours(const struct fb_cluster *cluster, const struct fb_broker *broker)
{
	const struct fb_node *node = fb_cluster_node(cluster, broker->view.id);

	return node && kw_uuid_eq(node->incarnationId, broker->view.incarnationId);
}

/* Are its static values known before it tells them? Not to a controller that could not be told. */
static bool will_report(const struct fb_cluster *cluster, const struct fb_broker *broker)
{
	return cluster->registrationVersion >= FB_STATICS_VERSION && !broker->view.reported && is_ours(cluster, broker);
}

struct fb_cluster_view *fb_cluster_view(struct fb_cluster *cluster, struct kw_arena *arena)
{
	struct fb_cluster_view *view = kw_alloc(arena, sizeof *view);
	struct fb_broker_view *brokers = kw_alloc(arena, cluster->nbrokers * sizeof *brokers);
	struct kw_str *topics = kw_alloc(arena, cluster->ntopics * sizeof *topics);

	if (!view || !brokers || !topics)
		return NULL;
	for (size_t i = 0; i < cluster->nbrokers; i++) {
		const struct fb_broker *broker = cluster->brokers[i];

		brokers[i] = broker->view;
		brokers[i].live = fb_broker_in_session(cluster, broker);
		if (will_report(cluster, broker) && !foretell(cluster, &brokers[i], arena))
			return NULL;
	}
	for (size_t i = 0; i < cluster->ntopics; i++)
		topics[i] = kw_str(cluster->topics[i]->name);
	*view = (struct fb_cluster_view){
		.clusterId = kw_str(cluster->id), .controllerId = FB_CONTROLLER_ID, .release = cluster->release,
		.levels = cluster->levels, .brokers = brokers, .nbrokers = cluster->nbrokers, .topics = topics,
		.ntopics = cluster->ntopics, .configs = cluster->configs,
		.imitates = atomic_load(&fb_cluster_controller(cluster)->imitates),
	};
	return view;
}

/* ---- registered brokers ---- */

struct fb_broker *fb_cluster_broker(struct fb_cluster *cluster, int32_t id)
{
	for (size_t i = 0; i < cluster->nbrokers; i++)
		if (cluster->brokers[i]->view.id == id)
			return cluster->brokers[i];
	return NULL;
}

void fb_cluster_unregister(struct fb_cluster *cluster, int32_t id)
{
	for (size_t i = 0; i < cluster->nbrokers; i++) {
		if (cluster->brokers[i]->view.id != id)
			continue;
		fb_write_unregistration(cluster, cluster->brokers[i]);
		fb_wrote(cluster);
		broker_free(cluster->brokers[i]);
		cluster->nbrokers--;
		memmove(&cluster->brokers[i], &cluster->brokers[i + 1],
			(cluster->nbrokers - i) * sizeof *cluster->brokers);
		return;
	}
}

static void *copy_array(struct kw_arena *arena, const void *v, size_t n, size_t size)
{
	void *p = kw_alloc(arena, n * size);

	if (p && n)
		memcpy(p, v, n * size);
	return p;
}

/* As in Kafka's map, the last of a name wins. */
static int copy_listeners(struct fb_broker *broker, const struct fb_register_view *request)
{
	struct fb_twins *twins;
	struct kw_arena arena;

	kw_arena_init(&arena, 0);
	twins = fb_listener_twins(request, &arena);
	broker->listeners = kw_alloc(&broker->arena, request->nlisteners * sizeof *broker->listeners);
	for (size_t i = 0; twins && broker->listeners && i < request->nlisteners; i++) {
		const struct fb_listener_view *l = &request->listeners[twins[i].last];

		if (twins[i].first == i)
			broker->listeners[broker->nlisteners++] = (struct fb_endpoint){
				kw_strndup(&broker->arena, l->name.s, (size_t)l->name.n),
				kw_strndup(&broker->arena, l->host.s, (size_t)l->host.n), l->port, l->securityProtocol,
			};
	}
	kw_arena_fini(&arena);
	return twins && !broker->arena.failed ? 0 : KT_ENOMEM;
}

static int fill_broker(struct fb_broker *broker, const struct fb_register_view *request, bool keep_statics)
{
	struct kw_arena *arena = &broker->arena;
	struct fb_feature_range *features = copy_array(arena, request->features, request->nfeatures, sizeof *features);
	struct fb_static_config *statics = copy_array(arena, request->statics, request->nstatics, sizeof *statics);
	struct kw_uuid *dirs = copy_array(arena, request->logDirs, request->nlogDirs, sizeof *dirs);

	if (!features || !statics || !dirs || copy_listeners(broker, request))
		return KT_ENOMEM;
	for (size_t i = 0; i < request->nfeatures; i++)
		features[i].name = kw_str_dup(arena, features[i].name);
	for (size_t i = 0; i < request->nstatics; i++) {
		statics[i].name = kw_str_dup(arena, statics[i].name);
		statics[i].value = statics[i].sensitive ? KW_NULL_STR : kw_str_dup(arena, statics[i].value);
	}
	broker->rack = request->rack.n < 0 ? NULL : kw_strndup(arena, request->rack.s, (size_t)request->rack.n);
	broker->view = (struct fb_broker_view){
		.id = request->brokerId, .incarnationId = request->incarnationId, .features = features,
		.nfeatures = request->nfeatures, .logDirs = dirs, .nlogDirs = request->nlogDirs,
		.reported = keep_statics, .statics = statics, .nstatics = keep_statics ? request->nstatics : 0,
	};
	return arena->failed ? KT_ENOMEM : 0;
}

/* Room for one more. */
static int reserve_broker(struct fb_cluster *cluster)
{
	struct fb_broker **v = realloc(cluster->brokers, (cluster->nbrokers + 1) * sizeof *v);

	if (!v)
		return KT_ENOMEM;
	cluster->brokers = v;
	return 0;
}

static void insert_broker(struct fb_cluster *cluster, struct fb_broker *broker)
{
	struct fb_broker **v = cluster->brokers;
	size_t i = 0;

	while (i < cluster->nbrokers && v[i]->view.id < broker->view.id)
		i++;
	memmove(&v[i + 1], &v[i], (cluster->nbrokers - i) * sizeof *v);
	v[i] = broker;
	cluster->nbrokers++;
}

static void replace_broker(struct fb_cluster *cluster, struct fb_broker *old, struct fb_broker *broker)
{
	size_t i = 0;

	while (cluster->brokers[i] != old)
		i++;
	cluster->brokers[i] = broker;
	broker_free(old);
}

/* As a registration leaves it, which amends the old one (not NULL) or begins anew. */
static void begin_broker(const struct fb_cluster *cluster, struct fb_broker *broker, const struct fb_broker *old,
			 bool amends)
{
	broker->epoch = amends ? old->epoch : fb_metadata_next(&cluster->metadata);
	broker->fenced = amends && !fb_mutant(FB_M_AMENDING_FENCES) ? old->fenced : true;
	broker->contact_ns = amends ? old->contact_ns : 0;
	broker->inControlledShutdown = amends && old->inControlledShutdown;
	if (!amends && fb_mutant(FB_M_UNFENCED_AT_FIRST)) {
		broker->fenced = false;
		broker->contact_ns = fb_now_ns() + 60000000000;
	}
	broker->own = old && old->own;
}

/* Is the record one that can be kept? If not, it is taken back. */
static int write_registration(struct fb_cluster *cluster, const struct fb_broker *broker)
{
	int32_t written = cluster->metadata.nrecords;
	int code;

	fb_write_registration(cluster, broker);
	code = fb_metadata_fits(&cluster->metadata);
	if (code)
		fb_metadata_rewind(&cluster->metadata, written);
	return code;
}

int fb_cluster_register(struct fb_cluster *cluster, const struct fb_register_view *request, bool keep_statics,
			bool amends, int64_t *epoch)
{
	struct fb_broker *old = fb_cluster_broker(cluster, request->brokerId);
	struct fb_broker *broker = calloc(1, sizeof *broker);
	bool ignored = old && fb_mutant(FB_M_MV_FIRST_REPORT_STAYS) && request->nstatics;
	int code;

	if (!broker)
		return KT_ENOMEM;
	kw_arena_init(&broker->arena, 0);
	code = fill_broker(broker, request, keep_statics);
	if (!code)
		code = reserve_broker(cluster);
	if (!code) {
		begin_broker(cluster, broker, old, amends && old);
		*epoch = broker->epoch;
		code = ignored ? 0 : write_registration(cluster, broker);
	}
	if (code || ignored) {
		broker_free(broker);
		return code;
	}
	if (old)
		replace_broker(cluster, old, broker);
	else
		insert_broker(cluster, broker);
	fb_wrote(cluster);
	return 0;
}
