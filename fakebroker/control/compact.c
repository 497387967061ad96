/* POST /v1/partitions/TOPIC/N/compact: one round of Kafka's log cleaner, now. */
#include "fakebroker/control/endpoints.h"

enum { CONFLICT = 409 };

static json_t *done_json(const struct fb_compacted *done)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "firstDirtyOffset", (json_int_t)done->firstDirtyOffset,
			 "firstUncleanableOffset", (json_int_t)done->firstUncleanableOffset, "batchesRead",
			 (json_int_t)done->batchesRead, "batchesKept", (json_int_t)done->batchesKept, "recordsRead",
			 (json_int_t)done->recordsRead, "recordsKept", (json_int_t)done->recordsKept, "bytesRead",
			 (json_int_t)done->bytesRead, "bytesKept", (json_int_t)done->bytesKept);
}

/* {"roll": boolean}, or nothing. */
static int read_body(const struct fb_ask *ask, bool *roll, struct kt_err *err)
{
	struct kt_obj obj;

	if (!ask->body.root)
		return 0;
	kt_obj_root(&obj, &ask->body, err);
	kt_obj_bool(&obj, "roll", roll);
	return kt_obj_done(&obj);
}

static void refuse(struct fb_answer *answer, const char *code, const struct kt_err *err)
{
	char line[1024];

	if (err->code == KT_ENOMEM) {
		fb_answer_err(answer, err);
		return;
	}
	fb_answer_error(answer, CONFLICT, "%s", kt_err_line(err, line, sizeof line));
	json_object_set_new(answer->json, "code", json_string(code));
}

static void compact(struct fb_cluster *cluster, struct fb_partition *partition, const struct fb_compaction *conf, bool roll,
		    struct fb_answer *answer)
{
	int64_t now = fb_cluster_now(cluster);
	struct fb_compacted done;
	struct kt_err err = {0};
	int code;

	pthread_mutex_lock(&partition->lock);
	if (roll)
		fb_log_roll(&partition->log);
	code = fb_log_compact(&partition->log, &partition->producers, &partition->txns, conf, now, &done, &err);
	pthread_mutex_unlock(&partition->lock);
	if (code)
		refuse(answer, "uncleanable", &err);
	else
		answer->json = done_json(&done);
}

/* The partition with a reference of its topic, or NULL. */
static struct fb_partition *find(struct fb_cluster *cluster, const char *name, int32_t index, struct fb_compaction *conf)
{
	struct fb_partition *partition;
	struct fb_topic *topic;

	pthread_rwlock_rdlock(&cluster->lock);
	topic = fb_topic_find(cluster, kw_str(name));
	partition = topic ? fb_topic_partition(topic, index) : NULL;
	if (partition) {
		fb_topic_ref(topic);
		*conf = topic->compaction;
	}
	pthread_rwlock_unlock(&cluster->lock);
	return partition;
}

void fb_post_compact(const struct fb_ask *ask, const char *rest, struct fb_answer *answer)
{
	size_t n = strlen(rest) - strlen("/compact");
	struct fb_partition *partition = NULL;
	struct fb_partition_path path;
	struct fb_compaction conf;
	struct kt_err err = {0};
	bool roll = false;

	if (fb_partition_path(rest, n, &path))
		partition = find(ask->cluster, path.topic, path.index, &conf);
	if (!partition) {
		fb_answer_no_partition(rest, n, answer);
		return;
	}
	if (read_body(ask, &roll, &err) < 0) {
		fb_answer_err(answer, &err);
	} else if (!conf.compacts) {
		kt_fail(&err, KT_EUSAGE, "cleanup.policy of topic %s has no \"compact\"", path.topic);
		refuse(answer, "policy", &err);
	} else {
		compact(ask->cluster, partition, &conf, roll, answer);
	}
	fb_topic_unref(partition->topic);
}
