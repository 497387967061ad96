/* Topics and their partitions. */
#include <stdlib.h>

#include "fakebroker/cluster/on_demand.h"
#include "fakebroker/config/topicname.h"
#include "lib/wire/errors.h"

/* ---- the three orders in which topics are kept ---- */

/* How a topic stands to what is looked for: below 0, 0, above 0. */
typedef int fb_order(const struct fb_topic *topic, const void *key);

static int by_name(const struct fb_topic *topic, const void *key)
{
	return kw_str_cmp(kw_str(topic->name), *(const struct kw_str *)key);
}

static int by_id(const struct fb_topic *topic, const void *key)
{
	return memcmp(&topic->id, key, sizeof topic->id);
}

/* As if every '.' were a '_'. */
static int by_name_alike(const struct fb_topic *topic, const void *key)
{
	return fb_topic_name_cmp_alike(kw_str(topic->name), *(const struct kw_str *)key);
}

/* Where the key is or belongs. */
static size_t place(struct fb_topic *const *topics, size_t n, fb_order *order, const void *key)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (order(topics[mid], key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct fb_topic *find(struct fb_topic *const *topics, size_t n, fb_order *order, const void *key)
{
	size_t i = place(topics, n, order, key);

	return i < n && order(topics[i], key) == 0 ? topics[i] : NULL;
}

struct fb_topic *fb_topic_find(const struct fb_cluster *cluster, struct kw_str name)
{
	return find(cluster->topics, cluster->ntopics, by_name, &name);
}

struct fb_topic *fb_topic_find_id(const struct fb_cluster *cluster, struct kw_uuid id)
{
	return find(cluster->topics_by_id, cluster->ntopics, by_id, &id);
}

struct fb_topic *fb_topic_find_alike(const struct fb_cluster *cluster, struct kw_str name)
{
	return find(cluster->topics_alike, cluster->ntopics, by_name_alike, &name);
}

static int reserve(struct fb_topic ***topics, size_t n)
{
	struct fb_topic **v = realloc(*topics, n * sizeof *v);

	if (!v)
		return KT_ENOMEM;
	*topics = v;
	return 0;
}

static void insert_at(struct fb_topic **topics, size_t n, size_t i, struct fb_topic *topic)
{
	memmove(&topics[i + 1], &topics[i], (n - i) * sizeof *topics);
	topics[i] = topic;
}

static int insert(struct fb_cluster *cluster, struct fb_topic *topic)
{
	const struct kw_str name = kw_str(topic->name);
	size_t n = cluster->ntopics;

	if (reserve(&cluster->topics, n + 1) < 0 || reserve(&cluster->topics_by_id, n + 1) < 0 ||
	    reserve(&cluster->topics_alike, n + 1) < 0)
		return KT_ENOMEM;
	insert_at(cluster->topics, n, place(cluster->topics, n, by_name, &name), topic);
	insert_at(cluster->topics_by_id, n, place(cluster->topics_by_id, n, by_id, &topic->id), topic);
	insert_at(cluster->topics_alike, n, place(cluster->topics_alike, n, by_name_alike, &name), topic);
	cluster->ntopics++;
	return 0;
}

/* It is there, from i on. */
static void remove_from(struct fb_topic **topics, size_t n, size_t i, const struct fb_topic *topic)
{
	while (topics[i] != topic)
		i++;
	memmove(&topics[i], &topics[i + 1], (n - i - 1) * sizeof *topics);
}

void fb_topic_delete(struct fb_cluster *cluster, struct fb_topic *topic)
{
	const struct kw_str name = kw_str(topic->name);
	size_t n = cluster->ntopics;

	remove_from(cluster->topics, n, place(cluster->topics, n, by_name, &name), topic);
	remove_from(cluster->topics_by_id, n, place(cluster->topics_by_id, n, by_id, &topic->id), topic);
	remove_from(cluster->topics_alike, n, place(cluster->topics_alike, n, by_name_alike, &name), topic);
	cluster->ntopics--;
	fb_configs_forget(cluster->configs, FB_TOPIC, name);
	fb_topic_unref(topic);
}

/* ---- life ---- */

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

/* Our brokers in the order in which they are taken: those that run, those that are registered, the others. */
struct tiers {
	int32_t ids[FB_MAX_NODES];
	size_t end[3];
};

static void list_brokers(struct fb_cluster *cluster, struct tiers *tiers)
{
	size_t n = 0;

	for (size_t tier = 0; tier < 3; tier++) {
		for (size_t i = 0; i + 1 < cluster->nnodes; i++) {
			const struct fb_node *node = &cluster->nodes[i];

			if (tier == (!node->stopped ? 0 : fb_cluster_broker(cluster, node->id) ? 1 : 2))
				tiers->ids[n++] = node->id;
		}
		tiers->end[tier] = n;
	}
}

/* Leaders go round over our own brokers, starting where the last topic ended. Those that are stopped get replicas only
 * where the others do not suffice. */
static void assign(struct fb_cluster *cluster, struct fb_topic *topic)
{
	size_t rf = (size_t)topic->replicationFactor;
	struct tiers tiers;

	list_brokers(cluster, &tiers);
	for (size_t p = 0; p < (size_t)topic->npartitions; p++) {
		for (size_t r = 0, tier = 0, from = 0; r < rf; r++) {
			while (r >= tiers.end[tier])
				from = tiers.end[tier++];
			topic->replicas[p * rf + r] =
				tiers.ids[from + (cluster->ntopics + p + r) % (tiers.end[tier] - from)];
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
