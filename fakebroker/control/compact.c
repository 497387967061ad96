/* POST /v1/partitions/TOPIC/N/compact: one round of Kafka's log cleaner, now. */
#include "fakebroker/control/endpoints.h"
#include "fakebroker/mutants.h"

enum { CONFLICT = 409 };

static json_t *done_json(const struct fb_compacted *done)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "firstDirtyOffset",
			 (json_int_t)done->firstDirtyOffset, "firstUncleanableOffset",
			 (json_int_t)done->firstUncleanableOffset, "batchesRead", (json_int_t)done->batchesRead,
			 "batchesKept", (json_int_t)done->batchesKept, "recordsRead", (json_int_t)done->recordsRead,
			 "recordsKept", (json_int_t)done->recordsKept, "bytesRead", (json_int_t)done->bytesRead,
			 "bytesKept", (json_int_t)done->bytesKept);
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

/* What the topic's configuration says. */
struct rules {
	struct fb_compaction compaction;
	struct fb_retention retention;
};

static void compact(struct fb_cluster *cluster, struct fb_partition *partition, const struct rules *rules, bool roll,
		    struct fb_answer *answer)
{
	int64_t now = fb_cluster_now(cluster);
	struct fb_compacted done;
	struct kt_err err = {0};
	size_t removed = 0;
	int code;

	pthread_mutex_lock(&partition->lock);
	if (roll)
		fb_log_roll(&partition->log);
	code = fb_log_compact(&partition->log, &partition->producers, &partition->txns, &rules->compaction, now, &done,
			      &err);
	/* The cleaner's thread removes what is too old or too much, too: LogCleaner.cleanFilthiestLog. */
	if (code == 0 && !fb_mutant(FB_M_COMPACT_DELETE_IGNORED))
		removed = fb_log_retain(&partition->log, &rules->retention, now);
	if (fb_mutant(FB_M_PRODUCERS_FORGOTTEN))
		fb_producers_expire(&partition->producers, now, 0);
	pthread_mutex_unlock(&partition->lock);
	if (removed > 0)
		fb_server_poke(cluster->server);
	if (code)
		refuse(answer, "uncleanable", &err);
	else
		answer->json = done_json(&done);
}

/* The partition with a reference of its topic, or NULL. */
static struct fb_partition *find(struct fb_cluster *cluster, const char *name, int32_t index, struct rules *rules)
{
	struct fb_partition *partition;
	struct fb_topic *topic;

	pthread_rwlock_rdlock(&cluster->lock);
	topic = fb_topic_find(cluster, kw_str(name));
	partition = topic ? fb_topic_partition(topic, index) : NULL;
	if (partition) {
		fb_topic_ref(topic);
		*rules = (struct rules){topic->compaction, topic->retention};
	}
	pthread_rwlock_unlock(&cluster->lock);
	return partition;
}

void fb_post_compact(const struct fb_ask *ask, const char *rest, struct fb_answer *answer)
{
	size_t n = strlen(rest) - strlen("/compact");
	struct fb_partition *partition = NULL;
	struct fb_partition_path path;
	struct rules rules;
	struct kt_err err = {0};
	bool roll = false;

	if (fb_partition_path(rest, n, &path))
		partition = find(ask->cluster, path.topic, path.index, &rules);
	if (!partition) {
		fb_answer_no_partition(rest, n, answer);
		return;
	}
	if (read_body(ask, &roll, &err) < 0) {
		fb_answer_err(answer, &err);
	} else if (!rules.compaction.compacts) {
		kt_fail(&err, KT_EUSAGE, "cleanup.policy of topic %s has no \"compact\"", path.topic);
		refuse(answer, "policy", &err);
	} else {
		compact(ask->cluster, partition, &rules, roll, answer);
	}
	fb_topic_unref(partition->topic);
}
