#include "fakebroker/cluster/create_topics.h"

#include <stdlib.h>

#include "fakebroker/cluster/metadata_records.h"
#include "fakebroker/config/topicname.h"
#include "fakebroker/config/twins.h"
#include "fakebroker/mutants.h"
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

int16_t fb_topic_judge_name(struct fb_cluster *cluster, struct kw_str name, struct kw_arena *arena,
			    const char **message)
{
	const struct fb_topic *other = fb_topic_find_alike(cluster, name);

	if (fb_topic_find(cluster, name)) {
		*message = kw_sprintf(arena, "Topic '%.*s' already exists.", name.n, name.s);
		return fb_mutant(FB_M_TOPIC_EXISTS_CODE) ? KW_ERR_INVALID_REQUEST : KW_ERR_TOPIC_ALREADY_EXISTS;
	}
	if (other && !fb_mutant(FB_M_COLLISION_TAKEN)) {
		*message = kw_sprintf(arena, "Topic '%.*s' collides with existing topic: %s", name.n, name.s,
				      other->name);
		return KW_ERR_INVALID_TOPIC_EXCEPTION;
	}
	*message = fb_topic_name_fault(name, arena);
	return *message ? KW_ERR_INVALID_TOPIC_EXCEPTION : 0;
}

static void judge_name(const struct fb_creation *creation, const creatable *topic, result *out)
{
	const char *message = NULL;
	int16_t error = fb_topic_judge_name(creation->cluster, topic->name, creation->arena, &message);

	if (error)
		fail(out, error, message);
}

static bool judge_configs(const struct fb_creation *creation, const creatable *topic, struct fb_alter_result *changes,
			  result *out)
{
	struct fb_config_facts facts = fb_cluster_facts(creation->cluster, creation->node);
	struct fb_alter_config *named = kw_alloc(creation->arena, (size_t)topic->configs.n * sizeof *named);

	for (int32_t i = 0; named && i < topic->configs.n; i++)
		named[i] = (struct fb_alter_config){topic->configs.v[i].name, FB_SET, topic->configs.v[i].value};
	if (!named || fb_create_check(creation->cluster->configs, &facts, topic->name, named, topic->configs.n,
				      creation->arena, changes) < 0)
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
static bool judge_replicas(const struct fb_creation *creation, const assignment *a, int32_t rf, result *out)
{
	int32_t n = a->brokerIds.n, *ids = kw_alloc(creation->arena, (size_t)n * sizeof *ids);

	if (!ids)
		return fail(out, KW_ERR_UNKNOWN_SERVER_ERROR, NULL);
	if (n == 0)
		return fail(out, KW_ERR_INVALID_REPLICA_ASSIGNMENT,
		            "The manual partition assignment includes an empty replica list.");
	memcpy(ids, a->brokerIds.v, (size_t)n * sizeof *ids);
	qsort(ids, (size_t)n, sizeof *ids, by_id);
	for (int32_t i = 0; i < n; i++) {
		if (!fb_cluster_node(creation->cluster, ids[i]) || !fb_cluster_broker(creation->cluster, ids[i]))
			return fail(out, KW_ERR_INVALID_REPLICA_ASSIGNMENT,
				    kw_sprintf(creation->arena,
					       "The manual partition assignment includes broker %d, but "
					       "no such broker is registered.", ids[i]));
		if (i && ids[i] == ids[i - 1])
			return fail(out, KW_ERR_INVALID_REPLICA_ASSIGNMENT,
				    kw_sprintf(creation->arena,
					       "The manual partition assignment includes the broker %d "
					       "more than once.", ids[i]));
	}
	if (rf && n != rf)
		return fail(out, KW_ERR_INVALID_REPLICA_ASSIGNMENT,
			    kw_sprintf(creation->arena, "The manual partition assignment includes a partition with %d "
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
static bool judge_assignments(const struct fb_creation *creation, const creatable *topic, result *out)
{
	struct fb_named *names = kw_alloc(creation->arena, (size_t)topic->assignments.n * sizeof *names);
	struct fb_twins *twins;
	int32_t rf = 0;

	for (int32_t i = 0; names && i < topic->assignments.n; i++)
		names[i] = (struct fb_named){topic->assignments.v[i].partitionIndex, kw_str("")};
	twins = names ? fb_find_twins(names, (size_t)topic->assignments.n, creation->arena) : NULL;
	if (!twins)
		return fail(out, KW_ERR_UNKNOWN_SERVER_ERROR, NULL);
	for (int32_t i = 0; i < topic->assignments.n; i++) {
		const assignment *a = &topic->assignments.v[i];

		if (twins[i].first != (size_t)i)
			return fail(out, KW_ERR_INVALID_REPLICA_ASSIGNMENT,
				    kw_sprintf(creation->arena,
					       "Found multiple manual partition assignments for partition %d",
					       a->partitionIndex));
		if (!judge_replicas(creation, a, rf, out))
			return false;
		if (!any_runs(creation->cluster, a))
			return fail(out, KW_ERR_INVALID_REPLICA_ASSIGNMENT,
				    kw_sprintf(creation->arena,
					       "All brokers specified in the manual partition assignment "
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

static bool manual(const struct fb_creation *creation, const creatable *topic, struct layout *layout, result *out)
{
	int32_t n = topic->assignments.n, rf = topic->assignments.v[0].brokerIds.n;

	if (topic->replicationFactor != -1)
		return fail(out, KW_ERR_INVALID_REQUEST, "A manual partition assignment was specified, but replication "
						  "factor was not set to -1.");
	if (topic->numPartitions != -1)
		return fail(out, KW_ERR_INVALID_REQUEST, "A manual partition assignment was specified, but "
						  "numPartitions was not set to -1.");
	if (!judge_assignments(creation, topic, out))
		return false;
	layout->replicas = kw_alloc(creation->arena, (size_t)n * (size_t)rf * sizeof *layout->replicas);
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

/* The controller's own. */
static int32_t setting(const struct fb_creation *creation, const char *name)
{
	return (int32_t)fb_configs_long(creation->cluster->configs, FB_BROKER, KW_NULL_STR, FB_CONTROLLER_ID, name, 1);
}

/* Our brokers that are registered; *running of them run. Others cannot have replicas here. */
static int32_t count_brokers(const struct fb_creation *creation, int32_t *running)
{
	struct fb_cluster *cluster = creation->cluster;
	int32_t registered = 0;

	*running = 0;
	for (size_t i = 0; i + 1 < cluster->nnodes; i++) {
		int32_t id = cluster->nodes[i].id;

		registered += fb_cluster_broker(cluster, id) != NULL;
		*running += fb_node_runs(cluster, id);
	}
	return registered;
}

static bool cannot_place(const struct fb_creation *creation, const struct layout *layout, result *out, const char *why)
{
	return fail(out, KW_ERR_INVALID_REPLICATION_FACTOR,
		    kw_sprintf(creation->arena, "Unable to replicate the partition %d time(s): %s", layout->rf, why));
}

/* StripedReplicaPlacer. What it says besides, since directories can be cordoned. */
static bool judge_place(const struct fb_creation *creation, const struct layout *layout, result *out)
{
	bool cordons = fb_configdef_find(creation->cluster->defs, FB_BROKER, kw_str("cordoned.log.dirs"));
	int32_t running, brokers = count_brokers(creation, &running);

	if (layout->rf <= 0)
		return cannot_place(creation, layout, out, kw_sprintf(creation->arena, "Invalid replication factor %d: "
				    "the replication factor must be positive.", layout->rf));
	if (running == 0)
		return cannot_place(creation, layout, out, cordons ? "All brokers are currently fenced, or have all "
				    "their log directories cordoned." : "All brokers are currently fenced.");
	if (layout->rf > brokers)
		return cannot_place(creation, layout, out,
				    kw_sprintf(creation->arena, "The target replication factor of %d cannot be reached "
					       "because only %d broker(s) are registered%s.", layout->rf, brokers,
					       cordons ? " or some brokers have all their log directories cordoned"
						       : ""));
	return true;
}

static bool judge_layout(const struct fb_creation *creation, const creatable *topic, struct layout *layout, result *out)
{
	if (topic->assignments.n > 0)
		return manual(creation, topic, layout, out);
	if (topic->replicationFactor < -1 || (topic->replicationFactor == 0 && !fb_mutant(FB_M_ZERO_AS_DEFAULT)))
		return fail(out, KW_ERR_INVALID_REPLICATION_FACTOR,
			    "Replication factor must be larger than 0, or -1 to use the default value.");
	if (topic->numPartitions < -1 || (topic->numPartitions == 0 && !fb_mutant(FB_M_ZERO_AS_DEFAULT)))
		return fail(out, KW_ERR_INVALID_PARTITIONS,
			    "Number of partitions was set to an invalid non-positive value.");
	layout->rf = topic->replicationFactor <= 0 ? (int16_t)setting(creation, "default.replication.factor")
						   : topic->replicationFactor;
	layout->npartitions = topic->numPartitions <= 0 ? setting(creation, "num.partitions") : topic->numPartitions;
	return judge_place(creation, layout, out);
}

/* ---- the topics of a request ---- */

struct batch {
	struct fb_creation *creation;
	const struct kw_CreateTopicsRequest *body;
	struct fb_twins *twins;
	result *out;
	int32_t n;                 /* results so far */
	struct fb_topic **made;    /* as many as there are topics, NULL if it is refused */
};

static bool describe(const struct fb_creation *creation, const struct fb_topic *topic, result *out)
{
	struct fb_described *d;
	int n = fb_configs_describe(creation->cluster->configs, FB_TOPIC, kw_str(topic->name), creation->node->id, NULL,
				    -1, creation->arena, &d);

	if (n < 0)
		return false;
	out->configs.v = kw_new_array(&kw_CreateTopicsResponse_CreatableTopicConfigs_struct, n, creation->arena);
	out->configs.n = out->configs.v ? n : 0;
	for (int i = 0; i < out->configs.n; i++)
		out->configs.v[i] = (struct kw_CreateTopicsResponse_CreatableTopicConfigs){
			.name = kw_str_dup(creation->arena, d[i].name),
			.value = kw_str_dup(creation->arena, d[i].value), .readOnly = d[i].readOnly,
			.configSource = (int8_t)d[i].source, .isSensitive = d[i].isSensitive,
		};
	return !creation->arena->failed;
}

/* What follows from the configuration, validators above all, is tried by doing it. NULL if it is refused. */
static struct fb_topic *make(struct fb_creation *creation, const creatable *topic, const struct layout *layout,
			     const struct fb_alter_result *changes, result *out)
{
	struct fb_cluster *cluster = creation->cluster;
	struct kt_err err = {0};
	struct fb_topic *made;

	if (fb_configs_apply(cluster->configs, changes->changes, changes->nchanges) < 0)
		return NULL;
	if (fb_topic_create(cluster, topic->name, layout->npartitions, layout->rf, layout->replicas, &made, &err) < 0) {
		fb_configs_forget(cluster->configs, FB_TOPIC, topic->name);
		fail(out, KW_ERR_INVALID_CONFIG, kw_sprintf(creation->arena, "%s", err.text));
		return NULL;
	}
	out->topicId = made->id;
	out->numPartitions = layout->npartitions;
	out->replicationFactor = (int16_t)layout->rf;
	if (describe(creation, made, out)) {
		fb_write_topic(cluster, made, changes->changes, changes->nchanges);
		return made;
	}
	fb_topic_delete(cluster, made);
	return NULL;
}

static void clear(result *out)
{
	out->topicId = (struct kw_uuid){{0}};
	out->numPartitions = out->replicationFactor = -1;
	out->configs.n = 0;
}

static struct fb_topic *create(struct fb_creation *creation, const creatable *topic, result *out)
{
	struct fb_alter_result changes = {0};
	struct layout layout = {0};
	struct fb_topic *made = NULL;

	if (!out->errorCode && judge_configs(creation, topic, &changes, out) &&
	    judge_layout(creation, topic, &layout, out))
		made = make(creation, topic, &layout, &changes, out);
	if (made)
		return made;
	if (!out->errorCode)
		fail(out, KW_ERR_UNKNOWN_SERVER_ERROR, NULL);
	clear(out);
	return NULL;
}

/* Takes back all that were made. */
static void undo(struct batch *batch)
{
	for (int32_t i = batch->n; i-- > 0;)
		if (batch->made[i])
			fb_topic_delete(batch->creation->cluster, batch->made[i]);
	fb_metadata_rewind(&batch->creation->cluster->metadata, 0);
}

/* All of them become one batch of records, or none does. */
static void keep(struct batch *batch)
{
	struct fb_cluster *cluster = batch->creation->cluster;
	const char *message = NULL;
	int16_t error = fb_judge_batch(cluster, batch->body->validateOnly, &message, &batch->creation->fault);

	if (error || batch->body->validateOnly)
		undo(batch);
	for (int32_t i = 0; error && i < batch->n; i++) {
		fail(&batch->out[i], error, message);
		clear(&batch->out[i]);
	}
	fb_wrote(cluster);
}

/* ---- the request ---- */

static const char metadata_topic[] = "__cluster_metadata";

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
			n += setting(batch->creation, "num.partitions");
		else if (topic->numPartitions > 0)
			n += topic->numPartitions;
	}
	return n > FB_MAX_PARTITIONS;
}

static void refuse(struct batch *batch, int32_t i, int16_t error, const char *message)
{
	batch->out[batch->n].name = batch->body->topics.v[i].name;
	fail(&batch->out[batch->n++], batch->creation->forced ? batch->creation->forced : error,
	     batch->creation->forced ? batch->creation->why : message);
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

/* Names first: against each other they are not held. */
static void create_all(struct batch *batch)
{
	struct fb_creation *creation = batch->creation;
	const struct kw_CreateTopicsRequest *body = batch->body;

	for (int32_t i = 0; i < body->topics.n; i++) {
		if (!is_for_controller(batch, i))
			continue;
		batch->out[batch->n].name = body->topics.v[i].name;
		batch->out[batch->n].errorMessage = KW_NULL_STR;
		judge_name(creation, &body->topics.v[i], &batch->out[batch->n++]);
	}
	for (int32_t i = 0, at = 0; i < body->topics.n; i++)
		if (is_for_controller(batch, i)) {
			batch->made[at] = create(creation, &body->topics.v[i], &batch->out[at]);
			at++;
		}
	keep(batch);
	spread(batch);
}

/* As ControllerApis.createTopics orders them: what the controller was given, repeated names, the metadata log. */
static void answer(struct batch *batch)
{
	int32_t n = batch->body->topics.n;

	if (!batch->creation->forced && too_many_partitions(batch)) {
		for (int32_t i = 0; i < n; i++)
			refuse(batch, i, KW_ERR_POLICY_VIOLATION,
			       "Excessively large number of partitions per request.");
		return;
	}
	if (!batch->creation->forced)
		create_all(batch);
	for (int32_t i = 0; batch->creation->forced && i < n; i++)
		if (is_for_controller(batch, i))
			refuse(batch, i, batch->creation->forced, NULL);
	for (int32_t i = 0; i < n; i++)
		if (is_repeated(batch, i) && batch->twins[i].first == (size_t)i)
			refuse(batch, i, KW_ERR_INVALID_REQUEST, "Duplicate topic name.");
	for (int32_t i = 0; i < n; i++)
		if (!is_repeated(batch, i) && !is_for_controller(batch, i))
			refuse(batch, i, KW_ERR_INVALID_REQUEST,
			       "Creation of internal topic __cluster_metadata is prohibited.");
}

bool fb_topics_create(struct fb_creation *creation, const struct kw_CreateTopicsRequest *body,
		      struct kw_CreateTopicsResponse *response)
{
	struct batch batch = {.creation = creation, .body = body};
	size_t n = (size_t)body->topics.n;
	struct fb_named *names = kw_alloc(creation->arena, n * sizeof *names);

	for (size_t i = 0; names && i < n; i++)
		names[i] = (struct fb_named){0, body->topics.v[i].name};
	batch.twins = names ? fb_find_twins(names, n, creation->arena) : NULL;
	batch.made = kw_alloc(creation->arena, n * sizeof *batch.made);
	batch.out = kw_new_array(&kw_CreateTopicsResponse_CreatableTopicResult_struct, (int32_t)n, creation->arena);
	if (!batch.twins || !batch.made || !batch.out)
		return false;
	answer(&batch);
	response->topics.v = batch.out;
	response->topics.n = batch.n;
	return true;
}
