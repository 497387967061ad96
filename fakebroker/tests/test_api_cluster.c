/* The cluster over the wire: registration, heartbeats, what describes it, features, configuration. What is expected was
 * measured on Apache Kafka 4.4.0, unless a line says that it is the kit's. */
#include "fakebroker/cluster/log_line.h"
#include "fakebroker/control/endpoints.h"
#include "fakebroker/tests/talk.h"

static struct running run;
static struct kc_conn *conn, *controller;

static int set_up(void **state)
{
	static char scenario[] = "fakebroker/tests/scenarios/good-levels.json";
	struct fb_settings settings = {.scenario = scenario, .nodes = 2};

	(void)state;
	running_start(&run, &settings);
	conn = dial(&run, 1);
	controller = dial(&run, FB_CONTROLLER_ID);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	kc_free(conn);
	kc_free(controller);
	running_stop(&run);
	return 0;
}

/* ---- brokers from elsewhere ---- */

#define FEATURE(name, min, max) "{'name': '" name "', 'minSupportedVersion': " #min ", 'maxSupportedVersion': " #max "}"
#define FEATURES \
	FEATURE("metadata.version", 7, 33) ", " FEATURE("kraft.version", 0, 1) ", " \
	FEATURE("group.version", 0, 1) ", " FEATURE("transaction.version", 0, 2) ", " \
	FEATURE("eligible.leader.replicas.version", 0, 1) ", " \
	FEATURE("share.version", 0, 2) ", " FEATURE("streams.version", 0, 1)

/* The answer to a registration; incarnation and directory differ by a letter. */
static json_t *enroll(int id, char incarnation, const char *statics)
{
	return talk(&run, controller, "BrokerRegistration", 5, "{'brokerId': %d, 'clusterId': '%s', 'incarnationId': "
		    "'%cZ5gKqsvTGGJxHMFXMuXUg', 'listeners': [{'name': 'PLAINTEXT', 'host': 'elsewhere', 'port': 9099, "
		    "'securityProtocol': 0}], 'features': [" FEATURES "], 'rack': 'r9', 'logDirs': "
		    "['%cA5gKqsvTGGJxHMFX%02dXug'], 'staticConfigs': [%s]}",
		    id, run.process.cluster->id, incarnation, incarnation, id, statics);
}

/* Epoch, or minus the error code. */
static int64_t enrolled(int id, char incarnation)
{
	json_t *json = enroll(id, incarnation, "");
	int64_t error = num_at(json, "errorCode"), epoch = num_at(json, "brokerEpoch");

	json_decref(json);
	return error ? -error : epoch;
}

/* "caught up", "fenced", "shall shut down" as a bit each, or minus the error code. */
static int64_t beat(int id, int64_t epoch, int64_t offset, bool fence, bool shut)
{
	json_t *json = talk(&run, controller, "BrokerHeartbeat", 1, "{'brokerId': %d, 'brokerEpoch': %lld, "
			    "'currentMetadataOffset': %lld, 'wantFence': %s, 'wantShutDown': %s}", id, (long long)epoch,
			    (long long)offset, fence ? "true" : "false", shut ? "true" : "false");
	int64_t error = num_at(json, "errorCode"), bits;

	bits = num_at(json, "isCaughtUp") | num_at(json, "isFenced") << 1 | num_at(json, "shouldShutDown") << 2;
	json_decref(json);
	return error ? -error : bits;
}

enum { CAUGHT_UP = 1, FENCED = 2, SHUT_DOWN = 4, STALE_EPOCH = -77, DUPLICATE = -101 };

static void unregister(int id)
{
	assert_int_equal(ask_num(&run, conn, "errorCode", "UnregisterBroker", 0, "{'brokerId': %d}", id), 0);
}

/* Is the broker told to clients? */
static bool is_listed(int id)
{
	json_t *json = talk(&run, conn, "Metadata", 12, "{'topics': []}"), *broker;
	bool listed = false;
	size_t i;

	json_array_foreach(at(json, "brokers"), i, broker)
		listed |= num_at(broker, "nodeId") == id;
	json_decref(json);
	return listed;
}

static void heartbeats_fence_and_unfence(void **state)
{
	int64_t epoch = enrolled(50, '5');

	(void)state;
	assert_true(epoch > 0);
	assert_false(is_listed(50));
	assert_int_equal(beat(50, epoch, 0, false, false), FENCED);          /* it has not read its own registration */
	assert_int_equal(beat(50, epoch, epoch, true, false), CAUGHT_UP | FENCED);
	assert_int_equal(beat(50, epoch, epoch, false, false), CAUGHT_UP);
	assert_true(is_listed(50));
	assert_int_equal(beat(50, epoch, 0, false, false), 0);               /* once in, it may lag */
	assert_int_equal(beat(50, epoch, epoch, true, false), CAUGHT_UP | FENCED);
	assert_false(is_listed(50));
	assert_int_equal(beat(50, epoch, epoch, false, false), CAUGHT_UP);
	assert_int_equal(beat(50, epoch, epoch, false, true), CAUGHT_UP | FENCED | SHUT_DOWN);
	assert_int_equal(beat(50, epoch + 1, epoch, false, false), STALE_EPOCH);
	assert_int_equal(beat(51, epoch, epoch, false, false), STALE_EPOCH);
	unregister(50);
	assert_int_equal(beat(50, epoch, epoch, false, false), STALE_EPOCH);
}

/* Whoever sends heartbeats keeps its id, fenced or not. */
static void an_id_belongs_to_a_live_broker(void **state)
{
	int64_t epoch = enrolled(50, '5'), again;

	(void)state;
	again = enrolled(50, '6');                                           /* never heard of the first */
	assert_true(again > epoch);
	assert_int_equal(beat(50, epoch, epoch, true, false), STALE_EPOCH);
	assert_int_equal(beat(50, again, again, true, false), CAUGHT_UP | FENCED);
	assert_int_equal(enrolled(50, '5'), DUPLICATE);
	assert_int_equal(enrolled(50, '6'), again);                          /* the same incarnation amends */
	assert_int_equal(enrolled(1, '5'), DUPLICATE);
	unregister(50);
}

/* As if its last heartbeat were so much older. */
static void pass_time(int32_t id, int64_t ms)
{
	struct fb_cluster *cluster = run.process.cluster;

	pthread_rwlock_wrlock(&cluster->lock);
	fb_cluster_broker(cluster, id)->contact_ns -= ms * 1000000;
	pthread_rwlock_unlock(&cluster->lock);
	fb_cluster_tick(cluster, false);
}

/* A broker that falls silent is out of service when its session is over. */
static void silence_fences(void **state)
{
	int64_t epoch = enrolled(50, '5');

	(void)state;
	assert_int_equal(beat(50, epoch, epoch, false, false), CAUGHT_UP);
	assert_true(is_listed(50));
	pass_time(50, 9001);                                                 /* broker.session.timeout.ms is over */
	assert_false(is_listed(50));
	assert_int_equal(beat(50, epoch, 0, false, false), FENCED);          /* it has to catch up again */
	assert_false(is_listed(50));
	assert_int_equal(beat(50, epoch, epoch, false, false), CAUGHT_UP);
	assert_true(is_listed(50));
	pass_time(50, 8000);
	assert_true(is_listed(50));
	assert_int_equal(enrolled(50, '6'), DUPLICATE);
	pass_time(50, 1001);
	assert_true(enrolled(50, '6') > epoch);
	unregister(50);
}

static void unregistration_is_judged(void **state)
{
	json_t *json = talk(&run, conn, "UnregisterBroker", 0, "{'brokerId': 777}");

	(void)state;
	assert_int_equal(num_at(json, "errorCode"), 102);
	assert_string_equal(str_at(json, "errorMessage"), "Broker ID 777 is not currently registered");
	json_decref(json);
	/* The kit's: ours registers again at once. */
	json = talk(&run, conn, "UnregisterBroker", 0, "{'brokerId': 2}");
	assert_int_equal(num_at(json, "errorCode"), 0);
	assert_string_equal(str_at(json, "errorMessage"), "");
	json_decref(json);
	assert_true(is_listed(2));
}

/* ---- descriptions ---- */

static void the_cluster_is_described(void **state)
{
	int64_t epoch = enrolled(50, '5');
	json_t *json = talk(&run, conn, "DescribeCluster", 2, "{'endpointType': 1, 'includeFencedBrokers': true, "
			    "'includeClusterAuthorizedOperations': true}");

	(void)state;
	assert_true(epoch > 0);
	assert_int_equal(num_at(json, "errorCode"), 0);
	assert_string_equal(str_at(json, "clusterId"), run.process.cluster->id);
	assert_int_equal(num_at(json, "endpointType"), 1);
	assert_int_equal(num_at(json, "controllerId"), 1);
	assert_int_equal(num_at(json, "clusterAuthorizedOperations"), 8096);
	assert_int_equal(json_array_size(at(json, "brokers")), 3);
	assert_int_equal(num_at(json, "brokers.0.port"), run.process.cluster->nodes[0].port);
	assert_int_equal(num_at(json, "brokers.0.isFenced"), 0);
	assert_string_equal(str_at(json, "brokers.2.host"), "elsewhere");
	assert_string_equal(str_at(json, "brokers.2.rack"), "r9");
	assert_int_equal(num_at(json, "brokers.2.isFenced"), 1);
	json_decref(json);
	json = talk(&run, conn, "DescribeCluster", 1, "{'endpointType': 1}");
	assert_int_equal(json_array_size(at(json, "brokers")), 2);
	json_decref(json);
	json = talk(&run, controller, "DescribeCluster", 1, "{'endpointType': 2}");
	assert_int_equal(num_at(json, "controllerId"), 1000);
	assert_int_equal(num_at(json, "brokers.0.port"), run.process.cluster->nodes[2].port);
	json_decref(json);
	assert_int_equal(ask_num(&run, controller, "errorCode", "DescribeCluster", 1, "{'endpointType': 1}"), 114);
	json = talk(&run, conn, "DescribeCluster", 1, "{'endpointType': 2}");
	assert_int_equal(num_at(json, "errorCode"), 114);
	assert_string_equal(str_at(json, "errorMessage"), "The request was sent to an endpoint of type BROKER, but we "
			    "wanted an endpoint of type CONTROLLER");
	json_decref(json);
	json = talk(&run, conn, "DescribeCluster", 1, "{'endpointType': 7}");
	assert_int_equal(num_at(json, "errorCode"), 115);
	assert_string_equal(str_at(json, "errorMessage"), "Unsupported endpoint type 7");
	json_decref(json);
	unregister(50);
}

#define QUORUM(topic, partition) "{'topicName': '" topic "', 'partitions': [{'partitionIndex': " #partition "}]}"

static void the_quorum_is_described(void **state)
{
	static const char *const wrong[] = {QUORUM("__cluster_metadata", 1), QUORUM("nope", 0),
					    QUORUM("__cluster_metadata", 0) ", " QUORUM("x", 0)};
	json_t *json = talk(&run, conn, "DescribeQuorum", 2, "{'topics': [" QUORUM("__cluster_metadata", 0) "]}");

	(void)state;
	assert_int_equal(num_at(json, "errorCode"), 0);
	assert_string_equal(str_at(json, "errorMessage"), "");
	assert_int_equal(num_at(json, "topics.0.partitions.0.leaderId"), 1000);
	assert_int_equal(num_at(json, "topics.0.partitions.0.highWatermark"), run.process.cluster->metadata.end);
	assert_int_equal(num_at(json, "topics.0.partitions.0.currentVoters.0.replicaId"), 1000);
	assert_int_equal(num_at(json, "nodes.0.nodeId"), 1000);
	assert_int_equal(num_at(json, "nodes.0.listeners.0.port"), run.process.cluster->nodes[2].port);
	json_decref(json);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		json = talk(&run, conn, "DescribeQuorum", 2, "{'topics': [%s]}", wrong[i]);
		assert_int_equal(num_at(json, "errorCode"), 0);
		assert_int_equal(num_at(json, "topics.0.partitions.0.errorCode"), 3);
		assert_string_equal(str_at(json, "topics.0.partitions.0.errorMessage"),
				    "This server does not host this topic-partition.");
		assert_int_equal(json_array_size(at(json, "nodes")), 0);
		json_decref(json);
	}
}

static void coordinators_are_found(void **state)
{
	json_t *json = talk(&run, conn, "FindCoordinator", 4, "{'keyType': 0, 'coordinatorKeys': ['g', '']}");

	(void)state;
	assert_int_equal(num_at(json, "coordinators.0.errorCode"), 0);
	assert_string_equal(str_at(json, "coordinators.0.errorMessage"), "");
	assert_in_range(num_at(json, "coordinators.0.nodeId"), 1, 2);
	assert_int_equal(num_at(json, "coordinators.1.errorCode"), 0);
	json_decref(json);
	json = talk(&run, conn, "FindCoordinator", 3, "{'key': 'g', 'keyType': 0}");
	assert_string_equal(str_at(json, "errorMessage"), "NONE");
	assert_string_equal(str_at(json, "host"), "127.0.0.1");
	json_decref(json);
	json = talk(&run, conn, "FindCoordinator", 4, "{'keyType': 9, 'coordinatorKeys': ['g']}");
	assert_int_equal(num_at(json, "coordinators.0.errorCode"), 42);
	assert_int_equal(num_at(json, "coordinators.0.nodeId"), -1);
	assert_int_equal(num_at(json, "coordinators.0.port"), -1);
	json_decref(json);
	/* the kit's: there are none for share groups */
	assert_int_equal(ask_num(&run, conn, "coordinators.0.errorCode", "FindCoordinator", 6,
				 "{'keyType': 2, 'coordinatorKeys': ['g:AAAAAAAAAAAAAAAAAAAAAQ:0']}"), 15);
}

/* ---- features ---- */

#define PREFIX "The update failed for all features since the following feature had an error: "

static int64_t level(void)
{
	return run.process.cluster->levels.v[FB_METADATA_VERSION];
}

static void updates_are_refused(void **state)
{
	static const struct { const char *update, *message; } rows[] = {
		{"'feature': 'metadata.version', 'maxVersionLevel': 34, 'upgradeType': 1",
		 PREFIX "Invalid update version 34 for feature metadata.version. Local controller 1000 only "
			"supports versions 7-33"},
		{"'feature': 'metadata.version', 'maxVersionLevel': 26, 'upgradeType': 1",
		 PREFIX "Invalid update version 26 for feature metadata.version. Can't downgrade the version of this "
			"feature without setting the upgrade type to either safe or unsafe downgrade."},
		{"'feature': 'metadata.version', 'maxVersionLevel': 22, 'upgradeType': 2",
		 PREFIX "Unsupported metadata.version downgrade from 27 to 22. Refusing to perform the requested "
			"downgrade because it might delete metadata information."},
		{"'feature': 'foo', 'maxVersionLevel': 1, 'upgradeType': 1", PREFIX
		 "Invalid update version 1 for feature foo. Local controller 1000 does not support this feature."},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		for (int version = 1; version <= 2; version++) {
			json_t *json = talk(&run, version == 1 ? conn : controller, "UpdateFeatures", version,
					    "{'featureUpdates': [{%s}], 'validateOnly': false}", rows[i].update);

			assert_int_equal(num_at(json, "errorCode"), 95);
			assert_string_equal(str_at(json, "errorMessage"), rows[i].message);
			if (version == 1)
				assert_int_equal(json_array_size(at(json, "results")), 0);
			json_decref(json);
		}
	}
	assert_int_equal(level(), 27);
}

static int64_t update(int to, int type, const char *validate)
{
	return ask_num(&run, conn, "errorCode", "UpdateFeatures", 2, "{'featureUpdates': [{'feature': "
		       "'metadata.version', 'maxVersionLevel': %d, 'upgradeType': %d}], 'validateOnly': %s}",
		       to, type, validate);
}

/* The kit's: KIP-1294 says that it is refused, not how. Broker 2 has kit.x=512 of its own, which level 28 does not
 * allow. */
static void an_upgrade_waits_for_the_configuration(void **state)
{
	int64_t epoch = run.process.cluster->features_epoch;
	json_t *json = talk(&run, conn, "UpdateFeatures", 2, "{'featureUpdates': [{'feature': 'metadata.version', "
			    "'maxVersionLevel': 28, 'upgradeType': 1}]}");

	(void)state;
	assert_int_equal(num_at(json, "errorCode"), 40);
	assert_non_null(strstr(str_at(json, "errorMessage"), "broker 2 static kit.x=512"));
	json_decref(json);
	assert_int_equal(update(28, 1, "true"), 40);
	assert_int_equal(update(26, 2, "true"), 0);
	assert_int_equal(level(), 27);
	assert_int_equal(run.process.cluster->features_epoch, epoch);
	assert_int_equal(update(26, 2, "false"), 0);
	assert_int_equal(level(), 26);
	assert_true(run.process.cluster->features_epoch > epoch);
	assert_int_equal(ask_num(&run, conn, "finalizedFeaturesEpoch", "ApiVersions", 3, "{'clientSoftwareName': 'x', "
				 "'clientSoftwareVersion': '1'}"), run.process.cluster->features_epoch);
	assert_int_equal(update(27, 1, "false"), 0);
	assert_int_equal(level(), 27);
}

/* A registration that would be illegal is refused, and one that was legal stands in an upgrade's way. */
static void registrations_are_held_against_the_level(void **state)
{
	json_t *json = enroll(60, '7', "{'name': 'kit.x', 'value': '0', 'isSensitive': false}");

	(void)state;
	assert_int_equal(num_at(json, "errorCode"), 119);
	assert_int_equal(num_at(json, "brokerEpoch"), -1);
	json_decref(json);
	assert_int_equal(beat(60, 1, 1, false, false), STALE_EPOCH);
	json = enroll(60, '7', "{'name': 'kit.x', 'value': '700', 'isSensitive': false}");
	assert_int_equal(num_at(json, "errorCode"), 0);
	json_decref(json);
	json = talk(&run, conn, "UpdateFeatures", 2, "{'featureUpdates': [{'feature': 'metadata.version', "
		    "'maxVersionLevel': 28, 'upgradeType': 1}], 'validateOnly': true}");
	assert_non_null(strstr(str_at(json, "errorMessage"), "broker 2 static kit.x=512"));
	assert_non_null(strstr(str_at(json, "errorMessage"), "broker 60 static kit.x=700"));
	json_decref(json);
	unregister(60);
}

/* The kit's: the level that knows static configurations is 28 here. Our own brokers tell theirs when it is reached, so
 * an illegal one stands in its way before. */
static void our_brokers_tell_their_statics_later(void **state)
{
	static char scenario[] = "fakebroker/tests/scenarios/good-statics-later.json";
	static const char upgrade[] =
		"{'featureUpdates': [{'feature': 'metadata.version', 'maxVersionLevel': 28, 'upgradeType': 1}]}";
	struct fb_settings settings = {.scenario = scenario};
	const struct fb_broker_view *view;
	struct running later;
	struct kc_conn *c;
	int64_t epoch;
	json_t *json;

	(void)state;
	running_start(&later, &settings);
	c = dial(&later, 1);
	epoch = fb_cluster_broker(later.process.cluster, 3)->epoch;
	assert_false(fb_cluster_broker(later.process.cluster, 3)->view.reported);
	json = talk(&later, c, "UpdateFeatures", 2, upgrade);
	assert_int_equal(num_at(json, "errorCode"), 40);
	assert_non_null(strstr(str_at(json, "errorMessage"), "illegal: broker 3 static kit.x=512: "));
	json_decref(json);
	assert_int_equal(fb_cluster_set_static(later.process.cluster, 3, kw_str("kit.x"), kw_str("1024"), NULL, NULL),
			 0);
	assert_int_equal(ask_num(&later, c, "errorCode", "UpdateFeatures", 2, upgrade), 0);
	for (int32_t id = 1; id <= 3; id++)
		assert_true(fb_cluster_broker(later.process.cluster, id)->view.reported);
	view = &fb_cluster_broker(later.process.cluster, 3)->view;
	assert_int_equal(fb_cluster_broker(later.process.cluster, 3)->epoch, epoch);
	assert_false(fb_cluster_broker(later.process.cluster, 3)->fenced);
	json = fb_status_json(later.process.cluster);
	assert_string_equal(str_at(json, "registrations.2.staticConfigs.2.name"), "kit.x");
	assert_string_equal(str_at(json, "registrations.2.staticConfigs.2.value"), "1024");
	assert_int_equal(view->nstatics, 3);
	json_decref(json);
	kc_free(c);
	running_stop(&later);
}

static void min_insync_replicas_is_a_cluster_default(void **state)
{
	struct kw_str name = kw_str("min.insync.replicas");
	struct running later;
	static const char *const versions[] = {"4.4-IV2", "25"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		running_start(&later, &(struct fb_settings){.metadata_version = versions[i]});
		assert_int_equal(later.process.cluster->levels.v[FB_ELR_VERSION], 1 - i);
		assert_int_equal(fb_configs_dynamic(later.process.cluster->configs, FB_BROKER, kw_str(""), name).n,
				 i ? -1 : 1);
		running_stop(&later);
	}
}

/* ---- configuration ---- */

static int64_t alter(struct kc_conn *c, int type, const char *resource, const char *name, const char *value,
		     const char *validate)
{
	return ask_num(&run, c, "responses.0.errorCode", "IncrementalAlterConfigs", 1,
		       "{'resources': [{'resourceType': %d, "
		       "'resourceName': '%s', 'configs': [{'name': '%s', 'configOperation': 0, 'value': '%s'}]}], "
		       "'validateOnly': %s}",
		       type, resource, name, value, validate);
}

static const char *observer_of(int32_t node)
{
	struct fb_observer *observer = fb_node_observer(run.process.cluster,
							fb_cluster_node(run.process.cluster, node));
	static char classes[100];

	snprintf(classes, sizeof classes, "%s", fb_observer_classes(observer));
	fb_observer_unref(observer);
	return classes;
}

static void an_observer_is_a_dynamic_configuration(void **state)
{
	(void)state;
	assert_string_equal(observer_of(1), "NoOpObserver");
	assert_int_equal(alter(conn, 4, "1", "observer.class.name", "TrafficObserver", "true"), 0);
	assert_string_equal(observer_of(1), "NoOpObserver");
	assert_int_equal(alter(conn, 4, "1", "observer.class.name", "TrafficObserver", "false"), 0);
	assert_string_equal(observer_of(1), "TrafficObserver");
	assert_string_equal(observer_of(2), "NoOpObserver");
	assert_int_equal(alter(conn, 4, "1", "observer.class.name", "Nope", "false"), 40);
	assert_string_equal(observer_of(1), "TrafficObserver");
	assert_int_equal(alter(conn, 4, "", "observer.class.name", "SlowObserver", "false"), 0);
	assert_string_equal(observer_of(1), "TrafficObserver");
	assert_string_equal(observer_of(2), "SlowObserver");
}

static void a_default_needs_no_topic(void **state)
{
	(void)state;
	assert_int_equal(run.process.cluster->ntopics, 0);
	assert_int_equal(alter(conn, 4, "", "record.validator.classes", "Nope", "true"), 40);
	assert_int_equal(alter(conn, 4, "", "record.validator.classes", "Nope", "false"), 40);
	assert_int_equal(alter(conn, 4, "1", "record.validator.classes", "Nope", "false"), 40);
	assert_int_equal(alter(conn, 4, "1", "record.validator.RejectEvery.m", "1", "false"), 40);
}

static void trying_changes_nothing(void **state)
{
	const struct fb_topic *topic;
	const struct fb_chain *chain;

	(void)state;
	make_topic(&run, "try");
	topic = fb_topic_find(run.process.cluster, kw_str("try"));
	assert_int_equal(alter(conn, 2, "try", "record.validator.classes", "AllowAll", "false"), 0);
	chain = topic->chain;
	assert_int_equal(alter(conn, 2, "try", "record.validator.classes", "NonEmptyValue", "true"), 0);
	assert_int_equal(alter(conn, 2, "try", "record.validator.classes", "Nope", "true"), 40);
	assert_int_equal(alter(conn, 2, "try", "record.validator.classes", "Nope", "false"), 40);
	assert_int_equal(alter(conn, 2, "try", "max.message.bytes", "1000", "true"), 0);
	assert_ptr_equal(topic->chain, chain);   /* not even its counters */
	assert_int_equal(topic->conf.maxMessageBytes, 1048588);
	/* a broker's default that one topic cannot have is no topic's */
	make_topic(&run, "try2");
	assert_int_equal(alter(conn, 2, "try", "record.validator.classes", "RequiredHeader", "false"), 40);
	assert_int_equal(alter(conn, 4, "", "record.validator.classes", "RequiredHeader", "false"), 40);
	assert_int_equal(alter(conn, 4, "", "record.validator.RejectAll.txet", "no", "false"), 40);
	assert_int_equal(alter(conn, 2, "try", "record.validator.RejectAll.txet", "no", "false"), 40);
	assert_int_equal(alter(conn, 2, "try", "record.validator.RejectAll.text", "no", "false"), 0);
	chain = topic->chain;
	assert_null(fb_topic_find(run.process.cluster, kw_str("try2"))->chain);
	assert_ptr_equal(topic->chain, chain);
	assert_int_equal(alter(conn, 4, "", "record.validator.classes", "NonEmptyValue", "false"), 0);
	assert_string_equal(fb_chain_classes(fb_topic_find(run.process.cluster, kw_str("try2"))->chain),
			    "NonEmptyValue");
	assert_ptr_equal(topic->chain, chain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heartbeats_fence_and_unfence),
		cmocka_unit_test(an_id_belongs_to_a_live_broker),
		cmocka_unit_test(silence_fences),
		cmocka_unit_test(unregistration_is_judged),
		cmocka_unit_test(the_cluster_is_described),
		cmocka_unit_test(the_quorum_is_described),
		cmocka_unit_test(coordinators_are_found),
		cmocka_unit_test(updates_are_refused),
		cmocka_unit_test(an_upgrade_waits_for_the_configuration),
		cmocka_unit_test(registrations_are_held_against_the_level),
		cmocka_unit_test(our_brokers_tell_their_statics_later),
		cmocka_unit_test(min_insync_replicas_is_a_cluster_default),
		cmocka_unit_test(an_observer_is_a_dynamic_configuration),
		cmocka_unit_test(a_default_needs_no_topic),
		cmocka_unit_test(trying_changes_nothing),
	};

	fb_log_level(KASSAY_ERROR + 1);   /* what is refused is meant to be */
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
