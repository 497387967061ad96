/* What happens by itself as time goes by. */
#include "fakebroker/cluster/log_line.h"
#include "fakebroker/cluster/transactions.h"

static int64_t interval(const struct fb_cluster *cluster, const char *name, int64_t fallback)
{
	return fb_configs_long(cluster->configs, FB_BROKER, KW_NULL_STR, cluster->nodes[0].id, name, fallback);
}

/* Milliseconds, which may be as many as "never" is written with. */
static int64_t later(int64_t now, int64_t ms)
{
	int64_t at;

	return __builtin_add_overflow(now, ms, &at) ? INT64_MAX : at;
}

/* A clock that was moved makes things due at once: forwards, or so far back that they would be due in an age. */
static bool is_due(int64_t *due, int64_t now, int64_t every)
{
	if (now < *due && *due - now <= every)
		return false;
	*due = later(now, every);
	return true;
}

static size_t retain(struct fb_topic *topic, int64_t now)
{
	size_t all = 0;

	for (int32_t i = 0; i < topic->npartitions; i++) {
		struct fb_partition *partition = &topic->partitions[i];
		int64_t start;
		size_t n;

		pthread_mutex_lock(&partition->lock);
		n = fb_log_retain(&partition->log, &topic->retention, now);
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
		n += retain(cluster->topics[i], now);
	pthread_rwlock_unlock(&cluster->lock);
	if (n > 0)
		fb_server_poke(cluster->server);
}

/* Kafka has a timer for each log, which begins when that is made (UnifiedLog.producerExpireCheck). */
static void expire_producers(struct fb_topic *topic, int64_t now, int64_t every, int64_t expirationMs, bool at_once)
{
	long long since = atomic_load(&topic->producers_seen_ms);

	if (since <= now && now - since < every && !at_once)
		return;
	if (!atomic_compare_exchange_strong(&topic->producers_seen_ms, &since, now))
		return;   /* another thread does it */
	for (int32_t i = 0; i < topic->npartitions; i++) {
		struct fb_partition *partition = &topic->partitions[i];

		pthread_mutex_lock(&partition->lock);
		fb_producers_expire(&partition->producers, now, expirationMs);
		pthread_mutex_unlock(&partition->lock);
	}
}

static void expire_all_producers(struct fb_cluster *cluster, int64_t now, bool at_once)
{
	int64_t every, expirationMs;

	pthread_rwlock_rdlock(&cluster->lock);
	every = interval(cluster, "producer.id.expiration.check.interval.ms", 600000);
	expirationMs = interval(cluster, "producer.id.expiration.ms", 86400000);
	for (size_t i = 0; i < cluster->ntopics; i++)
		expire_producers(cluster->topics[i], now, every, expirationMs, at_once);
	pthread_rwlock_unlock(&cluster->lock);
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
		cluster->retention_due = later(now, first_retention < every_retention ? first_retention
										      : every_retention);
	txns = is_due(&cluster->txns_due, now, every_txns) || at_once;
	retention = is_due(&cluster->retention_due, now, every_retention) || at_once;
	pthread_mutex_unlock(&cluster->tick_lock);
	fb_sessions_expire(cluster);
	expire_all_producers(cluster, now, at_once);
	if (txns) {
		pthread_rwlock_rdlock(&cluster->lock);
		fb_txn_expire(cluster);
		pthread_rwlock_unlock(&cluster->lock);
	}
	if (retention)
		retain_all(cluster, now);
}
