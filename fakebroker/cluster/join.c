/* Our own brokers register at our own controller: the same check as for any other broker. */
#include <stdio.h>

#include "fakebroker/cluster/metadata_records.h"

static size_t own_features(const struct fb_release *release, struct fb_feature_range *features)
{
	size_t n = 0;

	for (int i = 0; i < FB_NFEATURES; i++)
		if (release->supported[i].max > 0)
			features[n++] = (struct fb_feature_range){kw_str(fb_feature_name((enum fb_feature)i)),
								  release->supported[i].min, release->supported[i].max};
	return n;
}

/* The controller is not told what is sensitive, so the broker looks at it itself. */
static int check_sensitive(const struct fb_cluster_view *view, int32_t node, struct kw_arena *arena, struct kt_err *err)
{
	int16_t level = view->levels.v[FB_METADATA_VERSION];
	struct fb_violation *found;
	int n = fb_sensitive_violations(view, node, level, arena, &found);

	if (n < 0)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	if (n == 0)
		return 0;
	return kt_fail(err, KT_ERANGE,
		       "broker %d cannot start: metadata.version %d makes this configuration illegal: %.*s: %s",
		       node, level, found->name.n, found->name.s, found->message);
}

/* As its first heartbeat does. */
static void unfence(struct fb_cluster *cluster, struct fb_broker *broker)
{
	fb_write_uncordoned(cluster, broker);
	fb_wrote(cluster);
	broker->fenced = false;
	fb_write_fencing(cluster, broker);
	fb_leaderless_elect(cluster);
	fb_wrote(cluster);
	fb_replicas_catch_up(cluster);
}

static int join(struct fb_cluster *cluster, struct fb_node *node, struct kw_arena *arena, struct kt_err *err)
{
	struct fb_feature_range features[FB_NFEATURES];
	struct fb_listener_view listener = {kw_str(node->auth.name), kw_str(node->host), (uint16_t)node->port,
					      (int16_t)node->auth.protocol};
	struct fb_static_config *statics = NULL;
	struct fb_register_view request = {
		.version = (int16_t)cluster->registrationVersion, .brokerId = node->id,
		.clusterId = kw_str(cluster->id), .incarnationId = node->incarnationId, .rack = kw_str(node->rack),
		.listeners = &listener, .nlisteners = 1, .features = features,
		.nfeatures = own_features(cluster->release, features), .logDirs = &node->logDir, .nlogDirs = 1,
	};
	struct fb_cluster_view *view = fb_cluster_view(cluster, arena);
	struct fb_register_answer answer;
	struct fb_broker *broker;
	int64_t epoch;
	int nstatics, code;

	if (!view)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	if (check_sensitive(view, node->id, arena, err) < 0)
		return err->code;
	nstatics = fb_configs_report(cluster->configs, node->id, arena, &statics);
	if (nstatics < 0)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	request.statics = statics;
	request.nstatics = (size_t)nstatics;
	if (fb_register_check(view, &request, arena, &answer) < 0)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	if (answer.errorCode)
		return kt_fail(err, KT_ERANGE, "broker %d cannot join: %s", node->id, answer.reason);
	code = fb_cluster_register(cluster, &request, answer.keepsStatics, answer.amends, &epoch);
	if (code)
		return kt_fail(err, code, "broker %d cannot join: %s", node->id,
			       code == KT_ELIMIT ? "its static configuration is too large to be registered"
						 : "out of memory");
	broker = fb_cluster_broker(cluster, node->id);
	broker->own = true;
	if (broker->fenced)
		unfence(cluster, broker);
	return 0;
}

static void read_imitates(const struct fb_cluster *cluster, struct fb_node *node)
{
	atomic_store(&node->imitates,
		     fb_configs_bool(cluster->configs, FB_BROKER, KW_NULL_STR, node->id, "kit.imitate.faults", false));
}

int fb_node_join(struct fb_cluster *cluster, struct fb_node *node, struct kt_err *err)
{
	struct kw_arena arena;
	int code;

	read_imitates(cluster, node);
	kw_arena_init(&arena, 0);
	code = join(cluster, node, &arena, err);
	kw_arena_fini(&arena);
	return code;
}

int fb_cluster_join(struct fb_cluster *cluster, struct kt_err *err)
{
	int code = 0;

	for (size_t i = 0; i + 1 < cluster->nnodes && !code; i++)
		if (!cluster->nodes[i].stopped)
			code = fb_node_join(cluster, &cluster->nodes[i], err);
	return code;
}

/* As Kafka's formatter does, which writes the records of features that bring some. */
int fb_cluster_format(struct fb_cluster *cluster, struct kt_err *err)
{
	struct fb_change *changes = NULL;
	struct fb_cluster_view *view;
	struct kw_arena arena;
	int n = 0;

	cluster->registrationVersion = (int)fb_configs_long(cluster->configs, FB_BROKER, KW_NULL_STR, FB_CONTROLLER_ID,
							    "kit.registration.version", FB_STATICS_VERSION);
	read_imitates(cluster, fb_cluster_controller(cluster));
	kw_arena_init(&arena, 0);
	if (cluster->levels.v[FB_ELR_VERSION] > 0) {
		view = fb_cluster_view(cluster, &arena);
		n = view ? fb_elr_changes(view, &arena, &changes) : KT_ENOMEM;
	}
	if (n >= 0) {
		fb_write_bootstrap(cluster, changes, (size_t)n);
		cluster->features_epoch = cluster->metadata.end - 1;
		n = fb_configs_apply(cluster->configs, changes, (size_t)n);
	}
	kw_arena_fini(&arena);
	return n < 0 ? kt_fail(err, KT_ENOMEM, "out of memory") : 0;
}
