/* What happens by itself as time goes by. */
#include "fakebroker/cluster/log_line.h"
#include "fakebroker/cluster/transactions.h"

static int64_t interval(const struct fb_cluster *cluster, const char *name, int64_t fallback)
{
	return fb_configs_long(cluster->configs, FB_BROKER, KW_NULL_STR, cluster->nodes[0].id, name, fallback);
}

/* A clock that was moved makes things due at once: forwards, or so far back that they would be due in an age. */
static bool is_due(int64_t *due, int64_t now, int64_t every)
{
	if (now < *due && *due - now <= every)
		return false;
	*due = now + every;
	return true;
}

static size_t retain(struct fb_topic *topic, int64_t now, int64_t expirationMs)
{
	size_t all = 0;

	for (int32_t i = 0; i < topic->npartitions; i++) {
		struct fb_partition *partition = &topic->partitions[i];
		int64_t start;
		size_t n;

		pthread_mutex_lock(&partition->lock);
		n = fb_log_retain(&partition->log, &topic->retention, now);
		fb_producers_expire(&partition->producers, now, expirationMs);
		start = partition->log.logStartOffset;
		pthread_mutex_unlock(&partition->lock);
		if (n > 0)
			fb_log_line(KASSAY_INFO,
				    "%s-%d: retention removed %zu batches, the log starts at %lld", topic->name, i, n,
				    (long long)start);
		all += n;
	}
	return all;
}

static void retain_all(struct fb_cluster *cluster, int64_t now)
{
	size_t n = 0;

	pthread_rwlock_rdlock(&cluster->lock);
	for (size_t i = 0; i < cluster->ntopics; i++)
		n += retain(cluster->topics[i], now, interval(cluster, "producer.id.expiration.ms", 86400000));
	pthread_rwlock_unlock(&cluster->lock);
	if (n > 0)
		fb_server_poke(cluster->server);
}

void fb_cluster_tick(struct fb_cluster *cluster, bool at_once)
{
	int64_t now = fb_cluster_now(cluster), every_txns, every_retention, first_retention;
	bool txns, retention;

	pthread_rwlock_rdlock(&cluster->lock);
	every_txns = interval(cluster, "transaction.abort.timed.out.transaction.cleanup.interval.ms", 10000);
	every_retention = interval(cluster, "log.retention.check.interval.ms", 300000);
	first_retention = interval(cluster, "log.initial.task.delay.ms", 30000);
	pthread_rwlock_unlock(&cluster->lock);
	pthread_mutex_lock(&cluster->tick_lock);
	if (!cluster->retention_due)
		cluster->retention_due = now + (first_retention < every_retention ? first_retention : every_retention);
	txns = is_due(&cluster->txns_due, now, every_txns) || at_once;
	retention = is_due(&cluster->retention_due, now, every_retention) || at_once;
	pthread_mutex_unlock(&cluster->tick_lock);
	fb_sessions_expire(cluster);
	if (txns)
		fb_txn_expire(cluster);
	if (retention)
		retain_all(cluster, now);
}
