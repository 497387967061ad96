#include "fakebroker/cluster/metadata_records.h"

#include "kw_messages.h"
#include "lib/wire/errors.h"

/* Levels at which records change. */
enum {
	LEVEL_MIGRATION = 8,         /* RegisterBrokerRecord 2 */
	LEVEL_TRANSACTIONS = 13,     /* the first records are one transaction */
	LEVEL_CONTROLLERS = 15,      /* controllers register */
	LEVEL_ELR = 23,              /* PartitionRecord 2 */
};

enum { FENCE = 1, UNFENCE = -1, REGISTER_WITH_STATICS = 5 };

static int16_t level_of(const struct fb_cluster *cluster)
{
	return cluster->levels.v[FB_METADATA_VERSION];
}

void fb_wrote(struct fb_cluster *cluster)
{
	fb_metadata_close(&cluster->metadata, fb_cluster_now(cluster));
}

int16_t fb_judge_batch(const struct fb_cluster *cluster, bool validateOnly, const char **message, enum fb_fault *fault)
{
	int code = fb_metadata_fits(&cluster->metadata);

	*message = NULL;
	if (cluster->metadata.nrecords > FB_MAX_RECORDS) {
		*message = "Unable to perform excessively large batch operation.";
		return KW_ERR_POLICY_VIOLATION;
	}
	if (!code || (code == KT_ELIMIT && validateOnly))
		return 0;
	if (code == KT_ELIMIT && atomic_load(&fb_cluster_controller(cluster)->imitates))
		*fault = FB_F_LARGE_BATCH;
	return KW_ERR_UNKNOWN_SERVER_ERROR;
}

/* A record of the message with all fields at their defaults; and adding it. */
#define RECORD(name)                                                                                                   \
	struct kw_##name record;                                                                                       \
	kw_set_defaults(&kw_##name##_struct, &record)
#define ADD(cluster, name, version) fb_metadata_add(&(cluster)->metadata, &kw_msg_##name, version, &record)

/* ---- levels ---- */

void fb_write_feature(struct fb_cluster *cluster, enum fb_feature feature, int16_t level)
{
	RECORD(FeatureLevelRecord);

	record.name = kw_str(fb_feature_name(feature));
	record.featureLevel = level;
	ADD(cluster, FeatureLevelRecord, 0);
}

static void write_leader(struct fb_cluster *cluster)
{
	struct kw_LeaderChangeMessage_Voter voter = {.voterId = FB_CONTROLLER_ID};
	struct kw_LeaderChangeMessage message;

	kw_set_defaults(&kw_LeaderChangeMessage_struct, &message);
	message.leaderId = FB_CONTROLLER_ID;
	message.voters.v = message.grantingVoters.v = &voter;
	message.voters.n = message.grantingVoters.n = 1;
	fb_metadata_add_control(&cluster->metadata, KW_CONTROL_LEADER_CHANGE, &message);
	fb_wrote(cluster);
}

static void write_controller(struct fb_cluster *cluster)
{
	const struct fb_node *node = fb_cluster_node(cluster, FB_CONTROLLER_ID);
	struct kw_RegisterControllerRecord_ControllerEndpoint endpoint = {
		.name = kw_str("CONTROLLER"), .host = kw_str(node->host), .port = (uint16_t)node->port};
	struct kw_RegisterControllerRecord_ControllerFeature features[FB_NFEATURES] = {{.name = KW_NULL_STR}};
	int32_t n = 0;

	for (int i = 0; i < FB_NFEATURES; i++) {
		const struct fb_range *range = &cluster->release->supported[i];

		if (range->max > 0)
			features[n++] = (struct kw_RegisterControllerRecord_ControllerFeature){
				.name = kw_str(fb_feature_name((enum fb_feature)i)), .minSupportedVersion = range->min,
				.maxSupportedVersion = range->max};
	}
	RECORD(RegisterControllerRecord);

	record.controllerId = FB_CONTROLLER_ID;
	record.incarnationId = node->incarnationId;
	record.endPoints.v = &endpoint;
	record.endPoints.n = 1;
	record.features.v = features;
	record.features.n = n;
	ADD(cluster, RegisterControllerRecord, 0);
	fb_wrote(cluster);
}

void fb_write_voters(struct fb_cluster *cluster)
{
	const struct fb_node *node = fb_cluster_node(cluster, FB_CONTROLLER_ID);
	struct kw_VotersRecord_Endpoint endpoint = {.name = kw_str("CONTROLLER"), .host = kw_str(node->host),
						    .port = (uint16_t)node->port};
	struct kw_VotersRecord_Voter voter = {.voterId = FB_CONTROLLER_ID, .voterDirectoryId = node->logDir,
					      .endpoints = {&endpoint, 1},
					      .kRaftVersionFeature = {.maxSupportedVersion = 1}};
	struct kw_KRaftVersionRecord version = {.kRaftVersion = cluster->levels.v[FB_KRAFT_VERSION]};
	struct kw_VotersRecord voters = {.voters = {&voter, 1}};

	fb_wrote(cluster);
	fb_metadata_add_control(&cluster->metadata, KW_CONTROL_KRAFT_VERSION, &version);
	fb_metadata_add_control(&cluster->metadata, KW_CONTROL_KRAFT_VOTERS, &voters);
	fb_wrote(cluster);
}

static void write_begin(struct fb_cluster *cluster)
{
	RECORD(BeginTransactionRecord);

	record.name = kw_str("Bootstrap records");
	ADD(cluster, BeginTransactionRecord, 0);
}

static void write_end(struct fb_cluster *cluster)
{
	RECORD(EndTransactionRecord);

	ADD(cluster, EndTransactionRecord, 0);
}

void fb_write_bootstrap(struct fb_cluster *cluster, const struct fb_change *configs, size_t n)
{
	bool transaction = level_of(cluster) >= LEVEL_TRANSACTIONS;

	write_leader(cluster);
	if (transaction)
		write_begin(cluster);
	for (int i = 0; i < FB_NFEATURES; i++)
		if (cluster->levels.v[i] > 0 && i != FB_KRAFT_VERSION)
			fb_write_feature(cluster, (enum fb_feature)i, cluster->levels.v[i]);
	fb_write_configs(cluster, configs, n);
	if (transaction)
		write_end(cluster);
	fb_wrote(cluster);
	if (level_of(cluster) >= LEVEL_CONTROLLERS)
		write_controller(cluster);
}

void fb_write_level_follows(struct fb_cluster *cluster, int16_t was)
{
	int16_t is = level_of(cluster);

	if (was < LEVEL_CONTROLLERS && is >= LEVEL_CONTROLLERS)
		write_controller(cluster);
	if (was >= FB_LEVEL_CORDONED)
		return;
	for (size_t i = 0; i < cluster->nbrokers; i++) {
		if (!cluster->brokers[i]->own)
			continue;
		fb_write_uncordoned(cluster, cluster->brokers[i]);
		fb_wrote(cluster);
	}
}

/* ---- configurations ---- */

void fb_write_configs(struct fb_cluster *cluster, const struct fb_change *changes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		RECORD(ConfigRecord);

		if (changes[i].resourceType == FB_BROKER_LOGGER)
			continue;
		record.resourceType = changes[i].resourceType;
		record.resourceName = changes[i].resourceName;
		record.name = changes[i].name;
		record.value = changes[i].value;
		ADD(cluster, ConfigRecord, 0);
	}
}

/* ---- topics ---- */

/* The directory that a replica is put in: the broker's, if it has only one. */
static struct kw_uuid directory_of(struct fb_cluster *cluster, int32_t id)
{
	const struct fb_broker *broker = fb_cluster_broker(cluster, id);

	return broker && broker->view.nlogDirs == 1 ? broker->view.logDirs[0] : (struct kw_uuid){{0}};
}

static int partition_version(const struct fb_cluster *cluster)
{
	return level_of(cluster) >= LEVEL_ELR ? 2 : level_of(cluster) >= FB_LEVEL_DIRECTORIES;
}

static void write_partition(struct fb_cluster *cluster, const struct fb_topic *topic, int32_t index)
{
	int version = partition_version(cluster);
	int32_t *replicas = &topic->replicas[index * topic->replicationFactor], n = topic->replicationFactor;
	struct kw_uuid directories[FB_MAX_NODES];

	for (int32_t i = 0; i < n; i++)
		directories[i] = directory_of(cluster, replicas[i]);
	RECORD(PartitionRecord);

	record.partitionId = index;
	record.topicId = topic->id;
	record.replicas.v = replicas;
	record.replicas.n = n;
	record.isr.v = topic->partitions[index].isr.v;
	record.isr.n = topic->partitions[index].isr.n;
	record.leader = topic->partitions[index].leader;
	record.leaderEpoch = topic->partitions[index].leaderEpoch;
	record.partitionEpoch = 0;
	record.directories.v = directories;
	record.directories.n = version > 0 ? n : 0;
	ADD(cluster, PartitionRecord, version);
}

/* Whoever was an eligible leader is none by another min.insync.replicas, though a new topic has nobody. */
static void write_clear_elr(struct fb_cluster *cluster, const struct fb_topic *topic, const struct fb_change *configs,
			    size_t n)
{
	RECORD(ClearElrRecord);

	record.topicName = kw_str(topic->name);
	for (size_t i = 0; cluster->levels.v[FB_ELR_VERSION] > 0 && i < n; i++)
		if (kw_str_is(configs[i].name, "min.insync.replicas"))
			ADD(cluster, ClearElrRecord, 0);
}

void fb_write_topic(struct fb_cluster *cluster, const struct fb_topic *topic, const struct fb_change *configs, size_t n)
{
	RECORD(TopicRecord);

	record.name = kw_str(topic->name);
	record.topicId = topic->id;
	ADD(cluster, TopicRecord, 0);
	fb_write_configs(cluster, configs, n);
	write_clear_elr(cluster, topic, configs, n);
	for (int32_t i = 0; i < topic->npartitions; i++)
		write_partition(cluster, topic, i);
}

void fb_write_topic_removal(struct fb_cluster *cluster, const struct fb_topic *topic)
{
	RECORD(RemoveTopicRecord);

	record.topicId = topic->id;
	ADD(cluster, RemoveTopicRecord, 0);
}

void fb_write_partition_change(struct fb_cluster *cluster, const struct fb_partition *partition,
			       const struct fb_partition_change *change)
{
	int32_t lastKnown = partition->lastKnown;

	if (!change->isr && !change->leader && !change->elr)
		return;
	RECORD(PartitionChangeRecord);

	record.partitionId = partition->index;
	record.topicId = partition->topic->id;
	if (change->isr) {
		record.isr.v = partition->isr.v;
		record.isr.n = partition->isr.n;
	}
	if (change->leader)
		record.leader = partition->leader;
	if (change->elr) {
		record.eligibleLeaderReplicas.v = partition->elr.v;
		record.eligibleLeaderReplicas.n = partition->elr.n;
	}
	if (change->lastKnown) {
		record.lastKnownElr.v = &lastKnown;
		record.lastKnownElr.n = lastKnown != FB_NO_LEADER;
	}
	ADD(cluster, PartitionChangeRecord, partition_version(cluster));
}

/* ---- brokers ---- */

/* As the level has it, and 5 when there is something to carry. */
static int registration_version(const struct fb_cluster *cluster, const struct fb_broker *broker)
{
	int16_t level = level_of(cluster);

	if (broker->view.nstatics)
		return REGISTER_WITH_STATICS;
	return level >= FB_LEVEL_CORDONED ? 4 : level >= FB_LEVEL_DIRECTORIES ? 3 : level >= LEVEL_MIGRATION ? 2 : 1;
}

static bool fill_registration(const struct fb_broker *broker, struct kw_RegisterBrokerRecord *record,
			      struct kw_arena *arena)
{
	const struct fb_broker_view *view = &broker->view;
	struct kw_RegisterBrokerRecord_BrokerEndpoint *endpoints = kw_alloc(arena,
									    broker->nlisteners * sizeof *endpoints);
	struct kw_RegisterBrokerRecord_BrokerFeature *features = kw_alloc(arena, view->nfeatures * sizeof *features);
	struct kw_RegisterBrokerRecord_BrokerStaticConfig *statics = kw_alloc(arena, view->nstatics * sizeof *statics);

	if (!endpoints || !features || !statics)
		return false;
	for (size_t i = 0; i < broker->nlisteners; i++)
		endpoints[i] = (struct kw_RegisterBrokerRecord_BrokerEndpoint){
			.name = kw_str(broker->listeners[i].name), .host = kw_str(broker->listeners[i].host),
			.port = broker->listeners[i].port, .securityProtocol = broker->listeners[i].securityProtocol};
	for (size_t i = 0; i < view->nfeatures; i++)
		features[i] = (struct kw_RegisterBrokerRecord_BrokerFeature){
			.name = view->features[i].name, .minSupportedVersion = view->features[i].min,
			.maxSupportedVersion = view->features[i].max};
	for (size_t i = 0; i < view->nstatics; i++)
		statics[i] = (struct kw_RegisterBrokerRecord_BrokerStaticConfig){
			.name = view->statics[i].name, .value = view->statics[i].value,
			.isSensitive = view->statics[i].sensitive};
	record->endPoints.v = endpoints;
	record->endPoints.n = (int32_t)broker->nlisteners;
	record->features.v = features;
	record->features.n = (int32_t)view->nfeatures;
	record->staticConfigs.v = statics;
	record->staticConfigs.n = (int32_t)view->nstatics;
	return true;
}

void fb_write_registration(struct fb_cluster *cluster, const struct fb_broker *broker)
{
	const struct fb_broker_view *view = &broker->view;
	struct kw_arena arena;

	kw_arena_init(&arena, 0);
	RECORD(RegisterBrokerRecord);

	record.brokerId = view->id;
	record.incarnationId = view->incarnationId;
	record.brokerEpoch = broker->epoch;
	record.rack = kw_str(broker->rack);
	record.fenced = broker->fenced;
	record.inControlledShutdown = broker->inControlledShutdown;
	if (level_of(cluster) >= FB_LEVEL_DIRECTORIES) {
		record.logDirs.v = (struct kw_uuid *)view->logDirs;
		record.logDirs.n = (int32_t)view->nlogDirs;
	}
	if (fill_registration(broker, &record, &arena))
		ADD(cluster, RegisterBrokerRecord, registration_version(cluster, broker));
	else
		fb_metadata_add_failed(&cluster->metadata, KT_ENOMEM);
	kw_arena_fini(&arena);
}

void fb_write_unregistration(struct fb_cluster *cluster, const struct fb_broker *broker)
{
	RECORD(UnregisterBrokerRecord);

	record.brokerId = broker->view.id;
	record.brokerEpoch = broker->epoch;
	ADD(cluster, UnregisterBrokerRecord, 0);
}

void fb_write_fencing(struct fb_cluster *cluster, const struct fb_broker *broker)
{
	RECORD(BrokerRegistrationChangeRecord);

	record.brokerId = broker->view.id;
	record.brokerEpoch = broker->epoch;
	record.fenced = broker->fenced ? FENCE : UNFENCE;
	ADD(cluster, BrokerRegistrationChangeRecord, 0);
}

void fb_write_controlled_shutdown(struct fb_cluster *cluster, const struct fb_broker *broker)
{
	RECORD(BrokerRegistrationChangeRecord);

	record.brokerId = broker->view.id;
	record.brokerEpoch = broker->epoch;
	record.inControlledShutdown = 1;
	ADD(cluster, BrokerRegistrationChangeRecord, 1);
}

void fb_write_uncordoned(struct fb_cluster *cluster, const struct fb_broker *broker)
{
	if (level_of(cluster) < FB_LEVEL_CORDONED)
		return;
	RECORD(BrokerRegistrationChangeRecord);

	record.brokerId = broker->view.id;
	record.brokerEpoch = broker->epoch;
	record.cordonedLogDirs.v = NULL;
	record.cordonedLogDirs.n = 0;
	ADD(cluster, BrokerRegistrationChangeRecord, 3);
}
