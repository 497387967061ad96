#include "fakebroker/cluster/on_demand.h"

#include "fakebroker/cluster/create_topics.h"
#include "fakebroker/cluster/log_line.h"
#include "fakebroker/config/parse.h"

typedef struct kw_CreateTopicsRequest_CreatableTopic creatable;
typedef struct kw_CreateTopicsRequest_CreatableTopicConfig config;

/* What an internal topic is made of. */
static const struct internal {
	const char *name, *partitions, *replicas;   /* the latter two are broker configurations */
	struct {
		const char *name, *value;
		const char *setting;                /* or the broker configuration that has the value */
	} configs[5];                               /* in the order in which Kafka writes them */
} internals[] = {
	{"__consumer_offsets", "offsets.topic.num.partitions", "offsets.topic.replication.factor",
	 {{"compression.type", "producer", NULL},
	  {"cleanup.policy", "compact", NULL},
	  {"segment.bytes", NULL, "offsets.topic.segment.bytes"}}},
	{"__transaction_state", "transaction.state.log.num.partitions", "transaction.state.log.replication.factor",
	 {{"compression.type", "uncompressed", NULL},
	  {"cleanup.policy", "compact", NULL},
	  {"min.insync.replicas", NULL, "transaction.state.log.min.isr"},
	  {"segment.bytes", NULL, "transaction.state.log.segment.bytes"},
	  {"unclean.leader.election.enable", "false", NULL}}},
	{"__share_group_state", "share.coordinator.state.topic.num.partitions",
	 "share.coordinator.state.topic.replication.factor",
	 {{"compression.type", "producer", NULL},
	  {"cleanup.policy", "delete", NULL},
	  {"min.insync.replicas", NULL, "share.coordinator.state.topic.min.isr"},
	  {"retention.ms", "-1", NULL},
	  {"segment.bytes", NULL, "share.coordinator.state.topic.segment.bytes"}}},
};

enum { NCONFIGS = sizeof internals->configs / sizeof *internals->configs };

static const struct internal *find(struct kw_str name)
{
	for (size_t i = 0; i < sizeof internals / sizeof *internals; i++)
		if (kw_str_is(name, internals[i].name))
			return &internals[i];
	return NULL;
}

bool fb_topic_is_internal(struct kw_str name)
{
	return find(name) != NULL;
}

/* ---- what the broker asks for ---- */

struct demand {
	struct fb_cluster *cluster;
	const struct fb_node *node;
	struct kw_arena arena;
};

static int64_t number(const struct demand *demand, const char *name, int64_t fallback)
{
	return fb_configs_long(demand->cluster->configs, FB_BROKER, KW_NULL_STR, demand->node->id, name, fallback);
}

static int registered(const struct demand *demand)
{
	int n = 0;

	for (size_t i = 0; i + 1 < demand->cluster->nnodes; i++)
		n += fb_cluster_broker(demand->cluster, demand->cluster->nodes[i].id) != NULL;
	return n;
}

/* Null where the release has no such configuration. */
static struct kw_str setting(struct demand *demand, const char *name)
{
	return fb_configs_get(demand->cluster->configs, FB_BROKER, KW_NULL_STR, demand->node->id, name, &demand->arena,
			      NULL);
}

static void fill_internal(struct demand *demand, const struct internal *internal, creatable *topic)
{
	int brokers = registered(demand);

	topic->numPartitions = (int32_t)number(demand, internal->partitions, 50);
	topic->replicationFactor = (int16_t)number(demand, internal->replicas, 3);
	if (brokers && topic->replicationFactor > brokers)
		topic->replicationFactor = (int16_t)brokers;
	topic->configs.v = kw_alloc(&demand->arena, NCONFIGS * sizeof *topic->configs.v);
	for (size_t i = 0; topic->configs.v && i < NCONFIGS && internal->configs[i].name; i++) {
		struct kw_str value = internal->configs[i].setting ? setting(demand, internal->configs[i].setting)
								   : kw_str(internal->configs[i].value);

		if (value.n >= 0)
			topic->configs.v[topic->configs.n++] = (config){
				.name = kw_str(internal->configs[i].name), .value = value};
	}
}

static void fill(struct demand *demand, struct kw_str name, creatable *topic)
{
	const struct internal *internal = find(name);

	topic->name = name;
	if (internal) {
		fill_internal(demand, internal, topic);
		return;
	}
	topic->numPartitions = (int32_t)number(demand, "num.partitions", 1);
	topic->replicationFactor = (int16_t)number(demand, "default.replication.factor", 1);
}

static void ask(struct demand *demand, const struct kw_CreateTopicsRequest *body)
{
	struct fb_creation creation = {.cluster = demand->cluster, .node = demand->node, .arena = &demand->arena};
	struct kw_CreateTopicsResponse response = {0};

	if (!fb_topics_create(&creation, body, &response))
		fb_log_repeated(KASSAY_ERROR, "no memory to create topics on demand");
	for (int32_t i = 0; i < response.topics.n; i++) {
		const struct kw_CreateTopicsResponse_CreatableTopicResult *topic = &response.topics.v[i];

		if (topic->errorCode)
			fb_log_repeated(KASSAY_WARN, "topic %.*s cannot be created on demand: %.*s",
					FB_STR(topic->name), FB_STR(topic->errorMessage));
	}
}

void fb_topics_on_demand(struct fb_cluster *cluster, const struct fb_node *node, const struct kw_str *names, int32_t n)
{
	struct demand demand = {.cluster = cluster, .node = node};
	struct kw_CreateTopicsRequest body = {0};

	if (fb_controller_away(cluster))
		return;
	kw_arena_init(&demand.arena, 0);
	body.topics.v = kw_new_array(&kw_CreateTopicsRequest_CreatableTopic_struct, n, &demand.arena);
	body.topics.n = body.topics.v ? n : 0;
	for (int32_t i = 0; i < body.topics.n; i++)
		fill(&demand, names[i], &body.topics.v[i]);
	ask(&demand, &body);
	kw_arena_fini(&demand.arena);
}
