/* The cluster as JSON. */
#include <unistd.h>

#include "fakebroker/control/endpoints.h"
#include "fakebroker/control/rules.h"
#include "fakebroker/mutants.h"
#include "lib/text/process.h"

static json_t *node_json(const struct fb_node *node)
{
	return json_pack("{s:i, s:s, s:s, s:i, s:s?, s:b, s:s?, s:b, s:I}", "id", node->id, "role",
			 node->controller ? "controller" : "broker", "host", node->host, "port", node->port, "rack",
			 node->rack, "running", !node->stopped, "whyStopped", node->whyStopped, "imitatesFaults",
			 atomic_load(&node->imitates), "requests", (json_int_t)atomic_load(&node->requests));
}

static json_t *text(struct kw_str s)
{
	json_t *json = s.n < 0 ? json_null() : json_stringn(s.s, (size_t)s.n);

	return json ? json : json_string("(not UTF-8)");
}

static json_t *broker_json(const struct fb_broker *broker)
{
	json_t *statics = json_array();

	for (size_t i = 0; i < broker->view.nstatics; i++) {
		const struct fb_static_config *s = &broker->view.statics[i];

		json_array_append_new(statics, json_pack("{s:o, s:o, s:b}", "name", text(s->name), "value",
							 text(s->value), "isSensitive", s->sensitive));
	}
	return json_pack("{s:i, s:I, s:b, s:b, s:o}", "id", broker->view.id, "epoch", (json_int_t)broker->epoch, "own",
			 broker->own, "fenced", broker->fenced, "staticConfigs", statics);
}

static json_t *topic_json(const struct fb_topic *topic)
{
	json_t *leaders = json_array();
	char id[23];

	kw_uuid_text(topic->id, id);
	for (int32_t i = 0; i < topic->npartitions; i++)
		json_array_append_new(leaders, json_integer(topic->partitions[i].leader));
	return json_pack("{s:s, s:s, s:i, s:i, s:o, s:s}", "name", topic->name, "topicId", id, "partitions",
			 topic->npartitions, "replicationFactor", topic->replicationFactor, "leaders", leaders,
			 "validators", topic->chain ? fb_chain_classes(topic->chain) : "");
}

static json_t *features_json(const struct fb_cluster *cluster)
{
	json_t *json = json_object();

	for (int i = 0; i < FB_NFEATURES; i++)
		json_object_set_new(json, fb_feature_name((enum fb_feature)i), json_integer(cluster->levels.v[i]));
	return json;
}

static json_t *meters_json(struct fb_cluster *cluster)
{
	struct kw_meters m;

	pthread_mutex_lock(&cluster->meters_lock);
	m = cluster->meters;
	pthread_mutex_unlock(&cluster->meters_lock);
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "InvalidMagicNumberRecords",
			 (json_int_t)m.invalidMagicNumberRecords, "InvalidMessageCrcRecords",
			 (json_int_t)m.invalidMessageCrcRecords, "InvalidOffsetOrSequenceRecords",
			 (json_int_t)m.invalidOffsetOrSequenceRecords, "NoKeyCompactedTopicRecords",
			 (json_int_t)m.noKeyCompactedTopicRecords, "BytesRejected", (json_int_t)m.bytesRejected,
			 "FailedProduceRequests", (json_int_t)m.failedProduceRequests);
}

static json_t *mutants_json(void)
{
	json_t *names = json_array();

	for (int i = 0; i < FB_NMUTANTS; i++)
		if (fb_mutant((enum fb_mutant)i))
			json_array_append_new(names, json_string(fb_mutants[i].name));
	return names;
}

static json_t *clock_json(struct fb_clock *clock)
{
	return json_pack("{s:I, s:b, s:I}", "now", (json_int_t)fb_clock_now(clock), "frozen", fb_clock_frozen(clock),
			 "ahead", (json_int_t)fb_clock_ahead(clock));
}

json_t *fb_node_json(struct fb_cluster *cluster, const struct fb_node *node)
{
	json_t *json;

	pthread_rwlock_rdlock(&cluster->lock);
	json = node_json(node);
	pthread_rwlock_unlock(&cluster->lock);
	return json;
}

json_t *fb_status_json(struct fb_cluster *cluster)
{
	json_t *nodes = json_array(), *brokers = json_array(), *topics = json_array(), *json;
	char process[KT_PROCESS_TEXT];
	bool told = kt_process_text(getpid(), process, NULL) == 0;
	int16_t level;

	pthread_rwlock_rdlock(&cluster->lock);
	level = cluster->levels.v[FB_METADATA_VERSION];
	for (size_t i = 0; i < cluster->nnodes; i++)
		json_array_append_new(nodes, node_json(&cluster->nodes[i]));
	for (size_t i = 0; i < cluster->nbrokers; i++)
		json_array_append_new(brokers, broker_json(cluster->brokers[i]));
	for (size_t i = 0; i < cluster->ntopics; i++)
		json_array_append_new(topics, topic_json(cluster->topics[i]));
	json = json_pack("{s:s, s:i, s:s?, s:s, s:s, s:i, s:s, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:i}", "program",
			 "fakebroker " KASSAY_VERSION, "pid", (int)getpid(), "process", told ? process : NULL,
			 "release", cluster->release->name,
			 "clusterId", cluster->id, "metadataVersion", level, "metadataVersionName",
			 fb_level_name(level), "features", features_json(cluster), "lax", cluster->lax,
			 "mutants", mutants_json(), "clock", clock_json(cluster->clock), "nodes", nodes,
			 "registrations", brokers, "topics", topics, "meters", meters_json(cluster), "connections",
			 cluster->server ? fb_server_connections(cluster->server) : 0);
	pthread_rwlock_unlock(&cluster->lock);
	return json;
}

json_t *fb_partition_json(struct fb_cluster *cluster, const char *topic, int32_t index)
{
	struct fb_partition *partition;
	struct fb_topic *t;
	json_t *json = NULL;

	pthread_rwlock_rdlock(&cluster->lock);
	t = fb_topic_find(cluster, kw_str(topic));
	partition = t ? fb_topic_partition(t, index) : NULL;
	if (partition) {
		pthread_mutex_lock(&partition->lock);
		json = json_pack("{s:s, s:i, s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:I}", "topic", topic, "partition",
				 index, "leader", partition->leader, "leaderEpoch", partition->leaderEpoch,
				 "logStartOffset", (json_int_t)partition->log.logStartOffset, "logEndOffset",
				 (json_int_t)partition->log.logEndOffset, "lastStableOffset",
				 (json_int_t)fb_last_stable_offset(&partition->log, &partition->producers), "batches",
				 (json_int_t)(partition->log.n - partition->log.first), "bytes",
				 (json_int_t)partition->log.bytes, "droppedByLimit",
				 (json_int_t)partition->log.dropped);
		pthread_mutex_unlock(&partition->lock);
	}
	pthread_rwlock_unlock(&cluster->lock);
	return json;
}
