/* CreateTopics (19): names, configurations, assignments, in the order of ReplicationControlManager.createTopics. */
#include <stdlib.h>

#include "fakebroker/cluster/metadata_records.h"
#include "fakebroker/config/topicname.h"
#include "fakebroker/config/twins.h"
#include "fakebroker/mutants.h"
#include "fakebroker/request.h"
#include "lib/wire/errors.h"

typedef struct kw_CreateTopicsRequest_CreatableTopic creatable;
typedef struct kw_CreateTopicsRequest_CreatableReplicaAssignment assignment;
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
		return fail(out, req->forced, req->why);
	text = fb_topic_name_fault(topic->name, &req->arena);
	if (text)
		return fail(out, KW_ERR_INVALID_TOPIC_EXCEPTION, text);
	if (fb_topic_find(req->cluster, topic->name))
		return fail(out,
			    fb_mutant(FB_M_TOPIC_EXISTS_CODE) ? KW_ERR_INVALID_REQUEST : KW_ERR_TOPIC_ALREADY_EXISTS,
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
		return fail(out, KW_ERR_UNKNOWN_SERVER_ERROR, NULL);
	return changes->errorCode == 0 || fail(out, changes->errorCode, changes->errorMessage);
}

/* ---- where the partitions go ---- */

struct layout {
	int32_t npartitions, rf;
	int32_t *replicas;         /* NULL: as the broker likes */
};

static int by_id(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

/* rf 0: this is the first partition. */
static bool judge_replicas(struct fb_request *req, const assignment *a, int32_t rf, result *out)
{
	int32_t n = a->brokerIds.n, *ids = kw_alloc(&req->arena, (size_t)n * sizeof *ids);

	if (!ids)
		return fail(out, KW_ERR_UNKNOWN_SERVER_ERROR, NULL);
	if (n == 0)
		return fail(out, KW_ERR_INVALID_REPLICA_ASSIGNMENT,
		            "The manual partition assignment includes an empty replica list.");
	memcpy(ids, a->brokerIds.v, (size_t)n * sizeof *ids);
	qsort(ids, (size_t)n, sizeof *ids, by_id);
	for (int32_t i = 0; i < n; i++) {
		if (!fb_cluster_node(req->cluster, ids[i]) || !fb_cluster_broker(req->cluster, ids[i]))
			return fail(out, KW_ERR_INVALID_REPLICA_ASSIGNMENT,
				    kw_sprintf(&req->arena, "The manual partition assignment includes broker %d, but "
					       "no such broker is registered.", ids[i]));
		if (i && ids[i] == ids[i - 1])
			return fail(out, KW_ERR_INVALID_REPLICA_ASSIGNMENT,
				    kw_sprintf(&req->arena, "The manual partition assignment includes the broker %d "
					       "more than once.", ids[i]));
	}
	if (rf && n != rf)
		return fail(out, KW_ERR_INVALID_REPLICA_ASSIGNMENT,
			    kw_sprintf(&req->arena, "The manual partition assignment includes a partition with %d "
				       "replica(s), but this is not consistent with previous partitions, which have "
				       "%d replica(s).", n, rf));
	return true;
}

static bool any_runs(const struct fb_cluster *cluster, const assignment *a)
{
	for (int32_t i = 0; i < a->brokerIds.n; i++)
		if (fb_node_runs(cluster, a->brokerIds.v[i]))
			return true;
	return false;
}

/* Kafka walks the partitions in the order of the request, and only then looks for gaps. */
static bool judge_assignments(struct fb_request *req, const creatable *topic, result *out)
{
	struct fb_named *names = kw_alloc(&req->arena, (size_t)topic->assignments.n * sizeof *names);
	struct fb_twins *twins;
	int32_t rf = 0;

	for (int32_t i = 0; names && i < topic->assignments.n; i++)
		names[i] = (struct fb_named){topic->assignments.v[i].partitionIndex, kw_str("")};
	twins = names ? fb_find_twins(names, (size_t)topic->assignments.n, &req->arena) : NULL;
	if (!twins)
		return fail(out, KW_ERR_UNKNOWN_SERVER_ERROR, NULL);
	for (int32_t i = 0; i < topic->assignments.n; i++) {
		const assignment *a = &topic->assignments.v[i];

		if (twins[i].first != (size_t)i)
			return fail(out, KW_ERR_INVALID_REPLICA_ASSIGNMENT,
				    kw_sprintf(&req->arena,
					       "Found multiple manual partition assignments for partition %d",
					       a->partitionIndex));
		if (!judge_replicas(req, a, rf, out))
			return false;
		if (!any_runs(req->cluster, a))
			return fail(out, KW_ERR_INVALID_REPLICA_ASSIGNMENT,
				    kw_sprintf(&req->arena, "All brokers specified in the manual partition assignment "
					       "for partition %d are fenced or in controlled shutdown.",
					       a->partitionIndex));
		rf = a->brokerIds.n;
	}
	for (int32_t i = 0; i < topic->assignments.n; i++)
		if (names[i].tag < 0 || names[i].tag >= topic->assignments.n)
			return fail(out, KW_ERR_INVALID_REPLICA_ASSIGNMENT,
				    "partitions should be a consecutive 0-based integer sequence");
	return true;
}

static bool manual(struct fb_request *req, const creatable *topic, struct layout *layout, result *out)
{
	int32_t n = topic->assignments.n, rf = topic->assignments.v[0].brokerIds.n;

	if (topic->replicationFactor != -1)
		return fail(out, KW_ERR_INVALID_REQUEST, "A manual partition assignment was specified, but replication "
						  "factor was not set to -1.");
	if (topic->numPartitions != -1)
		return fail(out, KW_ERR_INVALID_REQUEST, "A manual partition assignment was specified, but "
						  "numPartitions was not set to -1.");
	if (!judge_assignments(req, topic, out))
		return false;
	layout->replicas = kw_alloc(&req->arena, (size_t)n * (size_t)rf * sizeof *layout->replicas);
	if (!layout->replicas)
		return fail(out, KW_ERR_UNKNOWN_SERVER_ERROR, NULL);
	for (int32_t i = 0; i < n; i++) {
		const assignment *a = &topic->assignments.v[i];

		memcpy(layout->replicas + a->partitionIndex * rf, a->brokerIds.v,
		       (size_t)rf * sizeof *layout->replicas);
	}
	layout->npartitions = n;
	layout->rf = rf;
	return true;
}

static int32_t broker_default(const struct fb_request *req, const char *name)
{
	return (int32_t)fb_configs_long(req->cluster->configs, FB_BROKER, KW_NULL_STR, req->cluster->nodes[0].id, name,
					1);
}

/* What the controller says besides, since directories can be cordoned. */
static const char *cordoned(const struct fb_request *req)
{
	return fb_configdef_find(req->cluster->defs, FB_BROKER, kw_str("cordoned.log.dirs"))
		       ? " or some brokers have all their log directories cordoned" : "";
}

static bool judge_layout(struct fb_request *req, const creatable *topic, struct layout *layout, result *out)
{
	int32_t brokers = (int32_t)req->cluster->nnodes - 1;

	if (topic->assignments.n > 0)
		return manual(req, topic, layout, out);
	if (topic->replicationFactor < -1 || (topic->replicationFactor == 0 && !fb_mutant(FB_M_ZERO_AS_DEFAULT)))
		return fail(out, KW_ERR_INVALID_REPLICATION_FACTOR,
			    "Replication factor must be larger than 0, or -1 to use the default value.");
	if (topic->numPartitions < -1 || (topic->numPartitions == 0 && !fb_mutant(FB_M_ZERO_AS_DEFAULT)))
		return fail(out, KW_ERR_INVALID_PARTITIONS,
			    "Number of partitions was set to an invalid non-positive value.");
	layout->rf = topic->replicationFactor <= 0 ? broker_default(req, "default.replication.factor")
						    : topic->replicationFactor;
	layout->npartitions = topic->numPartitions <= 0 ? broker_default(req, "num.partitions") : topic->numPartitions;
	if (layout->rf < 1 || layout->npartitions < 1)
		return fail(out, layout->rf < 1 ? KW_ERR_INVALID_REPLICATION_FACTOR : KW_ERR_INVALID_PARTITIONS,
			    "The broker's own default is not a positive number.");
	if (layout->rf > brokers)
		return fail(out, KW_ERR_INVALID_REPLICATION_FACTOR,
			    kw_sprintf(&req->arena, "Unable to replicate the partition %d time(s): The target "
				       "replication factor of %d cannot be reached because only %d broker(s) "
				       "are registered%s.", layout->rf,
				       layout->rf, brokers, cordoned(req)));
	return true;
}

/* ---- the answer ---- */

static bool describe(struct fb_request *req, struct kw_str name, result *out)
{
	struct fb_described *d;
	int n = fb_configs_describe(req->cluster->configs, FB_TOPIC, name, req->node->id, NULL, -1, &req->arena, &d);

	if (n < 0 || !FB_RESPONSE_ARRAY(req, out->configs, kw_CreateTopicsResponse_CreatableTopicConfigs_struct, n))
		return false;
	for (int i = 0; i < n; i++)
		out->configs.v[i] = (struct kw_CreateTopicsResponse_CreatableTopicConfigs){
			.name = kw_str_dup(&req->arena, d[i].name),
			.value = kw_str_dup(&req->arena, d[i].value), .readOnly = d[i].readOnly,
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
		return fail(out, KW_ERR_UNKNOWN_SERVER_ERROR, NULL);
	if (fb_topic_create(cluster, topic->name, layout->npartitions, layout->rf, layout->replicas, &made, &err) < 0) {
		fb_configs_forget(cluster->configs, FB_TOPIC, topic->name);
		return fail(out, KW_ERR_INVALID_CONFIG, kw_sprintf(&req->arena, "%s", err.text));
	}
	out->topicId = made->id;
	out->numPartitions = layout->npartitions;
	out->replicationFactor = (int16_t)layout->rf;
	ok = describe(req, topic->name, out);
	if (keep && ok)
		fb_write_topic(cluster, made, changes->changes, changes->nchanges);
	else
		fb_topic_delete(cluster, made);
	return ok;
}

static void create(struct fb_request *req, const creatable *topic, bool keep, result *out)
{
	struct fb_alter_result changes = {0};
	struct layout layout = {0};

	out->name = topic->name;
	out->errorMessage = KW_NULL_STR;
	if (judge_name(req, topic, out) && judge_configs(req, topic, &changes, out) &&
	    judge_layout(req, topic, &layout, out) && make(req, topic, &layout, &changes, keep, out))
		return;
	if (!out->errorCode)
		fail(out, KW_ERR_UNKNOWN_SERVER_ERROR, NULL);
	out->topicId = (struct kw_uuid){{0}};
	out->numPartitions = out->replicationFactor = -1;
	out->configs.n = 0;
}

/* ---- the request ---- */

static const char metadata_topic[] = "__cluster_metadata";

struct batch {
	struct fb_request *req;
	const struct kw_CreateTopicsRequest *body;
	struct fb_twins *twins;
	result *out;
	int32_t n;                 /* results so far */
};

static bool is_repeated(const struct batch *batch, int32_t i)
{
	return batch->twins[i].first != batch->twins[i].last;
}

static bool is_for_controller(const struct batch *batch, int32_t i)
{
	return !is_repeated(batch, i) && !kw_str_is(batch->body->topics.v[i].name, metadata_topic);
}

/* Of those that the controller is given: the others do not count. */
static bool too_many_partitions(const struct batch *batch)
{
	int64_t n = 0;

	for (int32_t i = 0; i < batch->body->topics.n; i++) {
		const creatable *topic = &batch->body->topics.v[i];

		if (!is_for_controller(batch, i))
			continue;
		if (topic->assignments.n)
			n += topic->assignments.n;
		else if (topic->numPartitions == -1)
			n += broker_default(batch->req, "num.partitions");
		else if (topic->numPartitions > 0)
			n += topic->numPartitions;
	}
	return n > FB_MAX_PARTITIONS;
}

static void refuse(struct batch *batch, int32_t i, int16_t error, const char *message)
{
	batch->out[batch->n].name = batch->body->topics.v[i].name;
	fail(&batch->out[batch->n++], batch->req->forced ? batch->req->forced : error,
	     batch->req->forced ? batch->req->why : message);
}

/* A mutant that refuses all topics of a request if it refuses one. */
static void spread(struct batch *batch)
{
	bool refused = false;

	for (int32_t i = 0; i < batch->n; i++)
		refused |= batch->out[i].errorCode != 0;
	for (int32_t i = 0; refused && fb_mutant(FB_M_CREATE_SPREADS) && i < batch->n; i++)
		if (!batch->out[i].errorCode)
			fail(&batch->out[i], KW_ERR_INVALID_REQUEST, NULL);
}

/* As ControllerApis.createTopics orders them: what the controller was given, repeated names, the metadata log. */
static void answer(struct batch *batch)
{
	const struct kw_CreateTopicsRequest *body = batch->body;
	int32_t n = body->topics.n;

	if (!batch->req->forced && too_many_partitions(batch)) {
		for (int32_t i = 0; i < n; i++)
			refuse(batch, i, KW_ERR_POLICY_VIOLATION,
			       "Excessively large number of partitions per request.");
		return;
	}
	for (int32_t i = 0; i < n; i++)
		if (is_for_controller(batch, i))
			create(batch->req, &body->topics.v[i], !body->validateOnly, &batch->out[batch->n++]);
	spread(batch);
	for (int32_t i = 0; i < n; i++)
		if (is_repeated(batch, i) && batch->twins[i].first == (size_t)i)
			refuse(batch, i, KW_ERR_INVALID_REQUEST, "Duplicate topic name.");
	for (int32_t i = 0; i < n; i++)
		if (!is_repeated(batch, i) && !is_for_controller(batch, i))
			refuse(batch, i, KW_ERR_INVALID_REQUEST,
			       "Creation of internal topic __cluster_metadata is prohibited.");
}

enum fb_outcome fb_create_topics(struct fb_request *req)
{
	struct batch batch = {.req = req, .body = req->body};
	struct kw_CreateTopicsResponse *response = req->response;
	size_t n = (size_t)batch.body->topics.n;
	struct fb_named *names = kw_alloc(&req->arena, n * sizeof *names);

	for (size_t i = 0; names && i < n; i++)
		names[i] = (struct fb_named){0, batch.body->topics.v[i].name};
	batch.twins = names ? fb_find_twins(names, n, &req->arena) : NULL;
	if (!batch.twins ||
	    !FB_RESPONSE_ARRAY(req, response->topics, kw_CreateTopicsResponse_CreatableTopicResult_struct, (int32_t)n))
		return FB_CLOSE;
	batch.out = response->topics.v;
	pthread_rwlock_wrlock(&req->cluster->lock);
	answer(&batch);
	fb_wrote(req->cluster);
	pthread_rwlock_unlock(&req->cluster->lock);
	response->topics.n = batch.n;
	return FB_REPLY;
}
