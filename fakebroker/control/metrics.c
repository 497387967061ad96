/* Prometheus text: the broker's own numbers and the observers'. */
#include <stdarg.h>
#include <stdlib.h>

#include "fakebroker/control/endpoints.h"

__attribute__((format(printf, 2, 3)))
static void put(struct kw_buf *buf, const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	kw_put(buf, line, strlen(line));
}

static void put_meters(struct fb_cluster *cluster, struct kw_buf *buf)
{
	struct kw_meters m;

	pthread_mutex_lock(&cluster->meters_lock);
	m = cluster->meters;
	pthread_mutex_unlock(&cluster->meters_lock);
	const struct {
		const char *name, *help;
		uint64_t v;
	} rows[] = {
		{"invalid_magic_number_records",
		 "Kafka's InvalidMagicNumberRecordsPerSec", m.invalidMagicNumberRecords},
		{"invalid_message_crc_records", "Kafka's InvalidMessageCrcRecordsPerSec", m.invalidMessageCrcRecords},
		{"invalid_offset_or_sequence_records", "Kafka's InvalidOffsetOrSequenceRecordsPerSec",
		 m.invalidOffsetOrSequenceRecords},
		{"no_key_compacted_topic_records",
		 "Kafka's NoKeyCompactedTopicRecordsPerSec", m.noKeyCompactedTopicRecords},
		{"bytes_rejected", "Kafka's BytesRejectedPerSec", m.bytesRejected},
		{"failed_produce_requests", "Kafka's FailedProduceRequestsPerSec", m.failedProduceRequests},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		put(buf, "# HELP kassay_%s_total %s\n# TYPE kassay_%s_total counter\nkassay_%s_total %llu\n",
		    rows[i].name, rows[i].help, rows[i].name, rows[i].name, (unsigned long long)rows[i].v);
}

/* Every validator of every chain, to fn. */
static void each_validator(struct fb_cluster *cluster, struct kw_buf *buf,
			   void (*fn)(struct kw_buf *buf, const char *topic, const struct fb_validator_stats *stats))
{
	for (size_t i = 0; i < cluster->ntopics; i++) {
		const struct fb_topic *topic = cluster->topics[i];

		for (size_t k = 0; k < fb_chain_size(topic->chain); k++) {
			struct fb_validator_stats stats;

			fb_chain_stats(topic->chain, k, &stats);
			fn(buf, topic->name, &stats);
		}
	}
}

static void put_validator_records(struct kw_buf *buf, const char *topic, const struct fb_validator_stats *s)
{
	const char *fmt = "kassay_validator_records_total{topic=\"%s\",validator=\"%s\",result=\"%s\"} %llu\n";

	put(buf, fmt, topic, s->name, "accepted", (unsigned long long)(s->seen - s->refused - s->failed));
	put(buf, fmt, topic, s->name, "refused", (unsigned long long)s->refused);
	put(buf, fmt, topic, s->name, "failed", (unsigned long long)s->failed);
}

static void put_validator_seconds(struct kw_buf *buf, const char *topic, const struct fb_validator_stats *s)
{
	put(buf, "kassay_validator_seconds_total{topic=\"%s\",validator=\"%s\"} %.9f\n", topic, s->name,
	    (double)s->nanoseconds / 1e9);
}

static void put_validators(struct fb_cluster *cluster, struct kw_buf *buf)
{
	put(buf, "# HELP kassay_validator_records_total records that a validator saw, by what it said\n"
		 "# TYPE kassay_validator_records_total counter\n");
	each_validator(cluster, buf, put_validator_records);
	put(buf, "# HELP kassay_validator_seconds_total time that a validator took\n"
		 "# TYPE kassay_validator_seconds_total counter\n");
	each_validator(cluster, buf, put_validator_seconds);
}

/* A plugin's collect() runs here, so not under the lock. */
static void put_observers(struct fb_cluster *cluster, struct kw_buf *buf)
{
	struct fb_observer **observers = calloc(cluster->nnodes, sizeof(struct fb_observer *));
	int32_t *nodes = calloc(cluster->nnodes, sizeof *nodes);
	size_t n = 0;
	char *text = NULL;

	for (size_t i = 0; observers && nodes && i + 1 < cluster->nnodes; i++) {
		observers[n] = fb_node_observer(cluster, &cluster->nodes[i]);
		nodes[n] = cluster->nodes[i].id;
		n += observers[n] != NULL;   /* none while the broker starts */
	}
	if (observers && nodes)
		text = fb_observer_prometheus(observers, nodes, n);
	if (text)
		kw_put(buf, text, strlen(text));
	while (n > 0)
		fb_observer_unref(observers[--n]);
	free(text);
	free(observers);
	free(nodes);
}

char *fb_metrics_text(struct fb_cluster *cluster)
{
	struct kw_buf buf;
	char *text;

	kw_buf_init(&buf, 0);
	put(&buf,
	    "# HELP kassay_connections connections open now\n# TYPE kassay_connections gauge\nkassay_connections %d\n",
	    cluster->server ? fb_server_connections(cluster->server) : 0);
	put_meters(cluster, &buf);
	pthread_rwlock_rdlock(&cluster->lock);
	put_validators(cluster, &buf);
	pthread_rwlock_unlock(&cluster->lock);
	put_observers(cluster, &buf);
	kw_put_u8(&buf, '\0');
	text = buf.failed ? NULL : strdup((char *)buf.p);
	kw_buf_fini(&buf);
	return text;
}
