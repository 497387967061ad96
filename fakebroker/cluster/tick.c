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

static void retain(struct fb_topic *topic, int64_t now)
{
	for (int32_t i = 0; i < topic->npartitions; i++) {
		struct fb_partition *partition = &topic->partitions[i];
		int64_t start;
		size_t n;

		pthread_mutex_lock(&partition->lock);
		n = fb_log_retain(&partition->log, &topic->retention, now);
		start = partition->log.logStartOffset;
		pthread_mutex_unlock(&partition->lock);
		if (n > 0)
			fb_log_line(KASSAY_INFO, "%s-%d: retention removed %zu batches, the log starts at %lld", topic->name, i, n,
				    (long long)start);
	}
}

void fb_cluster_tick(struct fb_cluster *cluster)
{
	int64_t now = fb_cluster_now(cluster);
	bool txns, retention;

	pthread_rwlock_wrlock(&cluster->lock);
	txns = is_due(&cluster->txns_due, now,
		      interval(cluster, "transaction.abort.timed.out.transaction.cleanup.interval.ms", 10000));
	fb_sessions_expire(cluster);
	retention = is_due(&cluster->retention_due, now, interval(cluster, "log.retention.check.interval.ms", 300000));
	pthread_rwlock_unlock(&cluster->lock);
	if (txns)
		fb_txn_expire(cluster);
	if (!retention)
		return;
	pthread_rwlock_rdlock(&cluster->lock);
	for (size_t i = 0; i < cluster->ntopics; i++)
		retain(cluster->topics[i], now);
	pthread_rwlock_unlock(&cluster->lock);
	fb_server_poke(cluster->server);
}
