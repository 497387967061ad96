/* Topics and their partitions. */
#include <stdlib.h>

#include "fakebroker/cluster/cluster.h"
#include "lib/wire/errors.h"

/* Where the name is or belongs. */
static size_t place(const struct fb_cluster *cluster, struct kw_str name)
{
	size_t lo = 0, hi = cluster->ntopics;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (kw_str_cmp(kw_str(cluster->topics[mid]->name), name) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct fb_topic *fb_topic_find(struct fb_cluster *cluster, struct kw_str name)
{
	size_t i = place(cluster, name);

	return i < cluster->ntopics && kw_str_is(name, cluster->topics[i]->name) ? cluster->topics[i] : NULL;
}

/* Where the id is or belongs, in topics_by_id. */
static size_t place_id(const struct fb_cluster *cluster, struct kw_uuid id)
{
	size_t lo = 0, hi = cluster->ntopics;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (memcmp(&cluster->topics_by_id[mid]->id, &id, sizeof id) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct fb_topic *fb_topic_find_id(struct fb_cluster *cluster, struct kw_uuid id)
{
	size_t i = place_id(cluster, id);

	return i < cluster->ntopics && kw_uuid_eq(cluster->topics_by_id[i]->id, id) ? cluster->topics_by_id[i] : NULL;
}

struct fb_topic *fb_topic_ref(struct fb_topic *topic)
{
	atomic_fetch_add(&topic->refs, 1);
	return topic;
}

void fb_topic_unref(struct fb_topic *topic)
{
	if (!topic || atomic_fetch_sub(&topic->refs, 1) != 1)
		return;
	for (int32_t i = 0; topic->partitions && i < topic->npartitions; i++) {
		fb_log_fini(&topic->partitions[i].log);
		fb_producers_fini(&topic->partitions[i].producers);
		fb_txns_fini(&topic->partitions[i].txns);
		fb_epochs_fini(&topic->partitions[i].epochs);
		pthread_mutex_destroy(&topic->partitions[i].lock);
	}
	fb_chain_unref(topic->chain);
	free(topic->chain_key);
	free(topic->partitions);
	free(topic->replicas);
	free(topic->in_sync);
	free(topic->name);
	free(topic);
}

struct fb_partition *fb_topic_partition(struct fb_topic *topic, int32_t index)
{
	return index >= 0 && index < topic->npartitions ? &topic->partitions[index] : NULL;
}

int16_t fb_partition_judge_epoch(const struct fb_partition *partition, int32_t currentLeaderEpoch)
{
	if (currentLeaderEpoch == -1 || currentLeaderEpoch == partition->leaderEpoch)
		return 0;
	return currentLeaderEpoch < partition->leaderEpoch ? KW_ERR_FENCED_LEADER_EPOCH : KW_ERR_UNKNOWN_LEADER_EPOCH;
}

/* Ids of our brokers: those that run, *running of them, then the others. */
static void list_brokers(const struct fb_cluster *cluster, int32_t ids[FB_MAX_NODES], size_t *running)
{
	size_t n = 0;

	for (int stopped = 0; stopped <= 1; stopped++) {
		for (size_t i = 0; i + 1 < cluster->nnodes; i++)
			if (cluster->nodes[i].stopped == (stopped == 1))
				ids[n++] = cluster->nodes[i].id;
		if (!stopped)
			*running = n;
	}
}

/* Leaders go round over our own brokers, starting where the last topic ended. Those that are stopped get replicas only
 * where the others do not suffice. */
static void assign(struct fb_cluster *cluster, struct fb_topic *topic)
{
	size_t brokers = cluster->nnodes - 1, rf = (size_t)topic->replicationFactor, running;
	int32_t ids[FB_MAX_NODES];

	list_brokers(cluster, ids, &running);
	for (size_t p = 0; p < (size_t)topic->npartitions; p++) {
		for (size_t r = 0; r < rf; r++) {
			size_t at = cluster->ntopics + p + r;

			topic->replicas[p * rf + r] = r < running ? ids[at % running]
								  : ids[running + at % (brokers - running)];
		}
	}
}

static struct fb_topic *topic_new(struct kw_str name, int32_t npartitions, int32_t rf, size_t log_max)
{
	struct fb_topic *topic = calloc(1, sizeof *topic);

	if (!topic)
		return NULL;
	atomic_init(&topic->refs, 1);
	topic->name = strndup(name.s, (size_t)name.n);
	topic->replicationFactor = rf;
	topic->replicas = calloc((size_t)npartitions * (size_t)rf, sizeof *topic->replicas);
	topic->in_sync = calloc(2 * (size_t)npartitions * (size_t)rf, sizeof *topic->in_sync);
	topic->partitions = calloc((size_t)npartitions, sizeof *topic->partitions);
	if (!topic->name || !topic->replicas || !topic->in_sync || !topic->partitions) {
		fb_topic_unref(topic);
		return NULL;
	}
	topic->npartitions = npartitions;
	for (int32_t i = 0; i < npartitions; i++) {
		struct fb_partition *partition = &topic->partitions[i];

		partition->topic = topic;
		partition->index = i;
		partition->isr.v = topic->in_sync + 2 * i * rf;
		partition->elr.v = partition->isr.v + rf;
		pthread_mutex_init(&partition->lock, NULL);
		fb_log_init(&partition->log, log_max);
		fb_producers_init(&partition->producers);
	}
	return topic;
}

static int insert(struct fb_cluster *cluster, struct fb_topic *topic)
{
	size_t i = place(cluster, kw_str(topic->name));
	size_t k = place_id(cluster, topic->id);
	struct fb_topic **v = realloc(cluster->topics, (cluster->ntopics + 1) * sizeof *v), **ids;

	if (!v)
		return KT_ENOMEM;
	cluster->topics = v;
	ids = realloc(cluster->topics_by_id, (cluster->ntopics + 1) * sizeof *ids);
	if (!ids)
		return KT_ENOMEM;
	cluster->topics_by_id = ids;
	memmove(&v[i + 1], &v[i], (cluster->ntopics - i) * sizeof *v);
	memmove(&ids[k + 1], &ids[k], (cluster->ntopics - k) * sizeof *ids);
	ids[k] = topic;
	v[i] = topic;
	cluster->ntopics++;
	return 0;
}

int fb_topic_create(struct fb_cluster *cluster, struct kw_str name, int32_t npartitions, int32_t rf,
		    const int32_t *replicas, struct fb_topic **out, struct kt_err *err)
{
	size_t log_max = (size_t)fb_configs_long(cluster->configs, FB_BROKER, KW_NULL_STR, cluster->nodes[0].id,
						 "kit.log.max.bytes", 0);
	struct fb_topic *topic = topic_new(name, npartitions, rf, log_max);

	*out = NULL;
	if (!topic)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	kw_uuid_random(&topic->id);
	atomic_init(&topic->producers_seen_ms, fb_cluster_now(cluster));
	topic->internal = fb_topic_is_internal(name);
	if (replicas)
		memcpy(topic->replicas, replicas, (size_t)npartitions * (size_t)rf * sizeof *replicas);
	else
		assign(cluster, topic);
	for (int32_t i = 0; i < npartitions; i++) {
		fb_partition_begin(cluster, &topic->partitions[i]);
		if (fb_epochs_begin(&topic->partitions[i].epochs, 0, 0) < 0) {
			fb_topic_unref(topic);
			return kt_fail(err, KT_ENOMEM, "out of memory");
		}
	}
	if (fb_topic_configure(cluster, topic, err) < 0 || insert(cluster, topic) < 0) {
		fb_topic_unref(topic);
		return err && err->code ? err->code : kt_fail(err, KT_ENOMEM, "out of memory");
	}
	*out = topic;
	return 0;
}

void fb_topic_delete(struct fb_cluster *cluster, struct fb_topic *topic)
{
	size_t i = place(cluster, kw_str(topic->name)), k = place_id(cluster, topic->id);

	cluster->ntopics--;
	memmove(&cluster->topics_by_id[k], &cluster->topics_by_id[k + 1],
		(cluster->ntopics - k) * sizeof *cluster->topics_by_id);
	memmove(&cluster->topics[i], &cluster->topics[i + 1], (cluster->ntopics - i) * sizeof *cluster->topics);
	fb_configs_forget(cluster->configs, FB_TOPIC, kw_str(topic->name));
	fb_topic_unref(topic);
}

bool fb_topic_is_internal(struct kw_str name)
{
	return kw_str_is(name, "__consumer_offsets") || kw_str_is(name, "__transaction_state") ||
	       kw_str_is(name, "__share_group_state");
}
