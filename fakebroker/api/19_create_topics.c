/* CreateTopics (19): names, configurations, assignments, in the order of ReplicationControlManager.createTopics. */
#include <stdlib.h>

#include "fakebroker/request.h"

enum {
	INVALID_TOPIC = 17, TOPIC_ALREADY_EXISTS = 36, INVALID_PARTITIONS = 37, INVALID_REPLICATION_FACTOR = 38,
	INVALID_REPLICA_ASSIGNMENT = 39, INVALID_CONFIG = 40, INVALID_REQUEST = 42,
};

typedef struct kw_CreateTopicsRequest_CreatableTopic creatable;
typedef struct kw_CreateTopicsResponse_CreatableTopicResult result;

static bool fail(result *out, int16_t error, const char *message)
{
	out->errorCode = error;
	out->errorMessage = kw_str(message);
	return false;
}

static bool judge_name(struct fb_request *req, const creatable *topic, result *out)
{
	const char *text;

	if (req->forced)
		return fail(out, req->forced, NULL);
	if (kw_str_is(topic->name, "__cluster_metadata"))
		return fail(out, INVALID_REQUEST, "Creation of internal topic __cluster_metadata is prohibited.");
	text = fb_topic_name_error(topic->name, &req->arena);
	if (text)
		return fail(out, INVALID_TOPIC, text);
	if (fb_topic_find(req->cluster, topic->name))
		return fail(out, TOPIC_ALREADY_EXISTS,
			    kw_sprintf(&req->arena, "Topic '%.*s' already exists.", topic->name.n, topic->name.s));
	return true;
}

static bool judge_configs(struct fb_request *req, const creatable *topic, struct fb_alter_result *changes, result *out)
{
	struct fb_config_facts facts = fb_cluster_facts(req->cluster, req->node);
	struct fb_alter_config *named = kw_alloc(&req->arena, (size_t)topic->configs.n * sizeof *named);

	for (int32_t i = 0; named && i < topic->configs.n; i++)
		named[i] = (struct fb_alter_config){topic->configs.v[i].name, FB_SET, topic->configs.v[i].value};
	if (!named || fb_create_check(req->cluster->configs, &facts, topic->name, named, topic->configs.n, &req->arena,
				      changes) < 0)
		return fail(out, -1, NULL);
	return changes->errorCode == 0 || fail(out, changes->errorCode, changes->errorMessage);
}

/* ---- where the partitions go ---- */

struct layout {
	int32_t npartitions, rf;
	int32_t *replicas;         /* NULL: as the broker likes */
};

static bool judge_replicas(struct fb_request *req, const struct kw_CreateTopicsRequest_CreatableReplicaAssignment *a,
			   result *out)
{
	for (int32_t i = 0; i < a->brokerIds.n; i++) {
		struct fb_broker *broker = fb_cluster_broker(req->cluster, a->brokerIds.v[i]);

		if (!broker || !broker->own)
			return fail(out, INVALID_REPLICA_ASSIGNMENT,
				    kw_sprintf(&req->arena, "The manual partition assignment includes broker %d, but no such "
					       "broker is registered.", a->brokerIds.v[i]));
		for (int32_t k = 0; k < i; k++)
			if (a->brokerIds.v[k] == a->brokerIds.v[i])
				return fail(out, INVALID_REPLICA_ASSIGNMENT,
					    kw_sprintf(&req->arena, "The manual partition assignment includes the broker %d "
						       "more than once.", a->brokerIds.v[i]));
	}
	return true;
}

static bool manual(struct fb_request *req, const creatable *topic, struct layout *layout, result *out)
{
	int32_t n = topic->assignments.n, rf = topic->assignments.v[0].brokerIds.n;

	if (topic->replicationFactor != -1)
		return fail(out, INVALID_REQUEST, "A manual partition assignment was specified, but replication factor was "
						  "not set to -1.");
	if (topic->numPartitions != -1)
		return fail(out, INVALID_REQUEST, "A manual partition assignment was specified, but numPartitions was not "
						  "set to -1.");
	layout->replicas = rf > 0 && n <= FB_MAX_PARTITIONS ? kw_alloc(&req->arena, (size_t)n * (size_t)rf * 4) : NULL;
	if (!layout->replicas)
		return fail(out, INVALID_REPLICA_ASSIGNMENT, "The manual partition assignment includes an empty replica list.");
	for (int32_t i = 0; i < n; i++) {
		const struct kw_CreateTopicsRequest_CreatableReplicaAssignment *a = &topic->assignments.v[i];

		if (!judge_replicas(req, a, out))
			return false;
		if (a->partitionIndex < 0 || a->partitionIndex >= n || layout->replicas[a->partitionIndex * rf])
			return fail(out, INVALID_REPLICA_ASSIGNMENT,
				    "partitions should be a consecutive 0-based integer sequence");
		if (a->brokerIds.n != rf)
			return fail(out, INVALID_REPLICA_ASSIGNMENT, "The manual partition assignment includes a partition "
								     "with a different number of replicas.");
		memcpy(layout->replicas + a->partitionIndex * rf, a->brokerIds.v, (size_t)rf * 4);
	}
	layout->npartitions = n;
	layout->rf = rf;
	return true;
}

static bool judge_layout(struct fb_request *req, const creatable *topic, struct layout *layout, result *out)
{
	const struct fb_configs *configs = req->cluster->configs;
	int32_t brokers = (int32_t)req->cluster->nnodes - 1;

	if (topic->assignments.n > 0)
		return manual(req, topic, layout, out);
	if (topic->replicationFactor < -1 || topic->replicationFactor == 0)
		return fail(out, INVALID_REPLICATION_FACTOR,
			    "Replication factor must be larger than 0, or -1 to use the default value.");
	if (topic->numPartitions < -1 || topic->numPartitions == 0)
		return fail(out, INVALID_PARTITIONS, "Number of partitions was set to an invalid non-positive value.");
	layout->rf = topic->replicationFactor;
	if (layout->rf == -1)
		layout->rf = (int32_t)fb_configs_long(configs, FB_BROKER, KW_NULL_STR, req->cluster->nodes[0].id,
						      "default.replication.factor", 1);
	layout->npartitions = topic->numPartitions;
	if (layout->npartitions == -1)
		layout->npartitions = (int32_t)fb_configs_long(configs, FB_BROKER, KW_NULL_STR, req->cluster->nodes[0].id,
							       "num.partitions", 1);
	if (layout->rf < 1 || layout->npartitions < 1)
		return fail(out, layout->rf < 1 ? INVALID_REPLICATION_FACTOR : INVALID_PARTITIONS,
			    "The broker's own default is not a positive number.");
	if (layout->rf > brokers)
		return fail(out, INVALID_REPLICATION_FACTOR,
			    kw_sprintf(&req->arena, "Unable to replicate the partition %d time(s): The target replication "
				       "factor of %d cannot be reached because only %d broker(s) are registered or some "
				       "brokers have all their log directories cordoned.", layout->rf, layout->rf, brokers));
	if (layout->npartitions > FB_MAX_PARTITIONS)
		return fail(out, INVALID_PARTITIONS,
			    kw_sprintf(&req->arena, "fakebroker takes at most %d partitions a topic.", FB_MAX_PARTITIONS));
	return true;
}

/* ---- the answer ---- */

static struct kw_str copy(struct fb_request *req, struct kw_str s)
{
	return s.n < 0 ? s : (struct kw_str){kw_strndup(&req->arena, s.s, (size_t)s.n), s.n};
}

static bool describe(struct fb_request *req, struct kw_str name, result *out)
{
	struct fb_described *d;
	int n = fb_configs_describe(req->cluster->configs, FB_TOPIC, name, req->node->id, NULL, -1, &req->arena, &d);

	if (n < 0 || !FB_RESPONSE_ARRAY(req, out->configs, kw_CreateTopicsResponse_CreatableTopicConfigs_struct, n))
		return false;
	for (int i = 0; i < n; i++)
		out->configs.v[i] = (struct kw_CreateTopicsResponse_CreatableTopicConfigs){
			.name = copy(req, d[i].name), .value = copy(req, d[i].value), .readOnly = d[i].readOnly,
			.configSource = (int8_t)d[i].source, .isSensitive = d[i].isSensitive,
		};
	return true;
}

/* The topic is made in any case, for validateOnly only as long as it takes to describe it: what follows from its
 * configuration, its validators above all, is tried by doing it. */
static bool make(struct fb_request *req, const creatable *topic, const struct layout *layout,
		 const struct fb_alter_result *changes, bool keep, result *out)
{
	struct fb_cluster *cluster = req->cluster;
	struct kt_err err = {0};
	struct fb_topic *made;
	bool ok;

	if (fb_configs_apply(cluster->configs, changes->changes, changes->nchanges) < 0)
		return fail(out, -1, NULL);
	if (fb_topic_create(cluster, topic->name, layout->npartitions, layout->rf, layout->replicas, &made, &err) < 0) {
		fb_configs_forget(cluster->configs, FB_TOPIC, topic->name);
		return fail(out, INVALID_CONFIG, kw_sprintf(&req->arena, "%s", err.text));
	}
	out->topicId = keep ? made->id : (struct kw_uuid){{0}};
	out->numPartitions = layout->npartitions;
	out->replicationFactor = (int16_t)layout->rf;
	ok = describe(req, topic->name, out);
	if (!keep)
		fb_topic_delete(cluster, made);
	return ok;
}

static void create(struct fb_request *req, const creatable *topic, bool keep, result *out)
{
	struct fb_alter_result changes = {0};
	struct layout layout = {0};

	out->name = topic->name;
	out->errorMessage = KW_NULL_STR;
	out->configs.n = -1;
	if (judge_name(req, topic, out) && judge_configs(req, topic, &changes, out) &&
	    judge_layout(req, topic, &layout, out) && make(req, topic, &layout, &changes, keep, out))
		return;
	if (!out->errorCode)
		fail(out, -1, NULL);
	out->numPartitions = out->replicationFactor = -1;
	out->configs.n = -1;
}

/* ---- topics named twice ---- */

static int by_name(const void *a, const void *b)
{
	const creatable *x = *(const creatable *const *)a, *y = *(const creatable *const *)b;
	int32_t n = x->name.n < y->name.n ? x->name.n : y->name.n;
	int c = n > 0 ? memcmp(x->name.s, y->name.s, (size_t)n) : 0;

	if (!c)
		c = (x->name.n > y->name.n) - (x->name.n < y->name.n);
	return c ? c : (x > y) - (x < y);
}

enum { ONCE, FIRST_OF_SEVERAL, AGAIN };

/* For each topic: is its name there once, or is it the first or a later one of several? NULL without memory. */
static uint8_t *repetitions(struct fb_request *req, const struct kw_CreateTopicsRequest *body)
{
	size_t n = (size_t)body->topics.n;
	const creatable **sorted = kw_alloc(&req->arena, n * sizeof *sorted);
	uint8_t *kind = kw_alloc(&req->arena, n);

	if (!sorted || !kind)
		return NULL;
	for (size_t i = 0; i < n; i++)
		sorted[i] = &body->topics.v[i];
	qsort(sorted, n, sizeof *sorted, by_name);
	for (size_t i = 1; i < n; i++) {
		uint8_t *before = &kind[sorted[i - 1] - body->topics.v];

		if (!kw_str_eq(sorted[i - 1]->name, sorted[i]->name))
			continue;
		if (*before == ONCE)
			*before = FIRST_OF_SEVERAL;
		kind[sorted[i] - body->topics.v] = AGAIN;
	}
	return kind;
}

enum fb_outcome fb_create_topics(struct fb_request *req)
{
	const struct kw_CreateTopicsRequest *body = req->body;
	struct kw_CreateTopicsResponse *response = req->response;
	const uint8_t *kind = repetitions(req, body);
	int32_t n = 0;

	if (!kind || !FB_RESPONSE_ARRAY(req, response->topics, kw_CreateTopicsResponse_CreatableTopicResult_struct,
					body->topics.n))
		return FB_CLOSE;
	pthread_rwlock_wrlock(&req->cluster->lock);
	for (int32_t i = 0; i < body->topics.n; i++) {
		if (kind[i] == AGAIN)
			continue;
		if (kind[i] == ONCE) {
			create(req, &body->topics.v[i], !body->validateOnly, &response->topics.v[n++]);
			continue;
		}
		response->topics.v[n].name = body->topics.v[i].name;
		fail(&response->topics.v[n++], INVALID_REQUEST, "Duplicate topic name.");
	}
	response->topics.n = n;
	pthread_rwlock_unlock(&req->cluster->lock);
	return FB_REPLY;
}
