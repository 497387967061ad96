/* Metadata over the wire, and the topics that it brings into being. What is expected was measured on Apache Kafka
 * 4.4.0, unless a line says that it is the kit's. */
#include "fakebroker/cluster/log_line.h"
#include "fakebroker/tests/http.h"
#include "fakebroker/tests/talk.h"

static struct running run;
static struct kc_conn *conn;

static int set_up(void **state)
{
	static const struct fb_settings settings = {.nodes = 3};

	(void)state;
	running_start(&run, &settings);
	conn = dial(&run, 1);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	kc_free(conn);
	running_stop(&run);
	return 0;
}

static void empty_and_null_lists_differ(void **state)
{
	json_t *json;

	(void)state;
	make_topic(&run, "m1");
	make_topic(&run, "m2");
	for (int version = 0; version <= 13; version++) {
		json = talk(&run, conn, "Metadata", version, "{'topics': []}");
		assert_int_equal(json_array_size(at(json, "topics")), version == 0 ? 2 : 0);
		assert_int_equal(json_array_size(at(json, "brokers")), 3);
		json_decref(json);
		if (version == 0)
			continue;
		json = talk(&run, conn, "Metadata", version, "{'topics': null}");
		assert_int_equal(json_array_size(at(json, "topics")), 2);
		assert_string_equal(str_at(json, "topics.0.name"), "m1");
		json_decref(json);
	}
}

static void brokers_have_their_addresses(void **state)
{
	json_t *json = talk(&run, conn, "Metadata", 12, "{'topics': []}");

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		json_t *broker = json_array_get(at(json, "brokers"), i);

		assert_int_equal(num_at(broker, "nodeId"), (int64_t)i + 1);
		assert_string_equal(str_at(broker, "host"), "127.0.0.1");
		assert_int_equal(num_at(broker, "port"), run.process.cluster->nodes[i].port);
		assert_null(str_at(broker, "rack"));
	}
	assert_string_equal(str_at(json, "clusterId"), run.process.cluster->id);
	assert_int_equal(num_at(json, "controllerId"), 1);
	json_decref(json);
}

/* A client that is not answered with "here it is" asks again: Kafka creates behind the answer. */
static void topics_come_when_both_sides_want_them(void **state)
{
	const struct fb_topic *topic;
	json_t *json;

	(void)state;
	json = talk(&run, conn, "Metadata", 4, "{'topics': [{'name': 'auto'}], 'allowAutoTopicCreation': false}");
	assert_int_equal(num_at(json, "topics.0.errorCode"), 3);
	json_decref(json);
	assert_null(fb_topic_find(run.process.cluster, kw_str("auto")));
	json = talk(&run, conn, "Metadata", 4, "{'topics': [{'name': 'auto'}, {'name': 'a b'}]}");
	assert_int_equal(num_at(json, "topics.0.errorCode"), 3);
	assert_int_equal(num_at(json, "topics.1.errorCode"), 17);
	json_decref(json);
	json = talk(&run, conn, "Metadata", 4, "{'topics': [{'name': 'auto'}]}");
	assert_int_equal(num_at(json, "topics.0.errorCode"), 0);
	assert_int_equal(json_array_size(at(json, "topics.0.partitions")), 1);
	json_decref(json);
	json_decref(talk(&run, conn, "Metadata", 0, "{'topics': [{'name': 'auto0'}]}"));   /* had no such flag */
	topic = fb_topic_find(run.process.cluster, kw_str("auto0"));
	assert_non_null(topic);
	assert_int_equal(topic->replicationFactor, 1);
}

static void a_broker_can_forbid_creation(void **state)
{
	struct kt_list set = {0};
	struct fb_settings settings = {.nodes = 3};
	struct running other;
	struct kc_conn *c;

	(void)state;
	kt_list_add(&set, "auto.create.topics.enable=false");
	settings.set = set;
	running_start(&other, &settings);
	c = dial(&other, 1);
	assert_int_equal(ask_num(&other, c, "topics.0.errorCode", "Metadata", 4, "{'topics': [{'name': 'auto'}]}"), 3);
	assert_null(fb_topic_find(other.process.cluster, kw_str("auto")));
	kc_free(c);
	running_stop(&other);
	kt_list_fini(&set);
}

/* Does the topic come with these values of the brokers? */
static int32_t partitions_on_demand(const char **sets, size_t nsets, const char *topic)
{
	struct fb_settings settings = {.nodes = 2, .set = {sets, nsets}};
	const struct fb_topic *made;
	struct running other;
	struct kc_conn *c;
	int32_t n;

	running_start(&other, &settings);
	c = dial(&other, 1);
	json_decref(talk(&other, c, "Metadata", 4, "{'topics': [{'name': '%s'}]}", topic));
	made = fb_topic_find(other.process.cluster, kw_str(topic));
	n = made ? made->npartitions : 0;
	assert_true(!made || made->replicationFactor == 2);
	kc_free(c);
	running_stop(&other);
	return n;
}

/* As CreateTopics with these numbers would be answered. */
static void creation_on_demand_obeys_the_defaults(void **state)
{
	static const char *good[] = {"num.partitions=3", "default.replication.factor=2"};
	static const char *too_many[] = {"num.partitions=2000000000", "default.replication.factor=2"};
	static const char *too_few[] = {"num.partitions=3", "default.replication.factor=3"};

	(void)state;
	assert_int_equal(partitions_on_demand(good, 2, "auto"), 3);
	assert_int_equal(partitions_on_demand(too_many, 2, "auto"), 0);
	assert_int_equal(partitions_on_demand(too_few, 2, "auto"), 0);
	assert_int_equal(partitions_on_demand(good, 2, "__cluster_metadata"), 0);
}

static int64_t error_of(const char *topic, const char *create)
{
	return ask_num(&run, conn, "topics.0.errorCode", "Metadata", 4,
		       "{'topics': [{'name': '%s'}], 'allowAutoTopicCreation': %s}", topic, create);
}

static void names_collide_on_demand(void **state)
{
	(void)state;
	json_decref(talk(&run, conn, "Metadata", 4, "{'topics': [{'name': 'pair.1'}, {'name': 'pair_1'}]}"));
	assert_int_equal(error_of("pair.1", "false"), 0);
	assert_int_equal(error_of("pair_1", "false"), 0);
	assert_int_equal(error_of("one.1", "true"), 3);
	assert_int_equal(error_of("one_1", "true"), 3);
	assert_int_equal(error_of("one.1", "false"), 0);
	assert_int_equal(error_of("one_1", "true"), 3);
}

/* There is nobody who could make it. */
static void a_controller_is_needed(void **state)
{
	struct fb_cluster *cluster = run.process.cluster;

	(void)state;
	fb_controller_resign(cluster);
	assert_true(fb_controller_away(cluster) > 0);
	assert_int_equal(error_of("waits", "true"), 3);
	assert_null(fb_topic_find(cluster, kw_str("waits")));
	atomic_store(&cluster->controller_back, fb_now_ns());   /* it leads again */
	assert_int_equal(error_of("waits", "true"), 3);
	assert_int_equal(error_of("waits", "true"), 0);
}

/* What a topic has of its own, NAME=VALUE by name, with a blank between. */
static void own_configs(const char *topic, char out[400])
{
	json_t *json = talk(&run, conn, "DescribeConfigs", 4,
			    "{'resources': [{'resourceType': 2, 'resourceName': '%s', 'configurationKeys': null}]}",
			    topic);
	json_t *config;
	size_t i;

	*out = '\0';
	json_array_foreach(at(json, "results.0.configs"), i, config)
		if (num_at(config, "configSource") == 1)
			snprintf(out + strlen(out), 400 - strlen(out), "%s%s=%s", *out ? " " : "",
				 str_at(config, "name"), str_at(config, "value"));
	json_decref(json);
}

/* The records from an offset on, but for those of partitions: TYPE, or NAME=VALUE of a configuration. */
static void written(int64_t from, char out[600])
{
	char path[64];
	json_t *json, *record;
	size_t i;

	snprintf(path, sizeof path, "/v1/metadata-log?from=%lld", (long long)from);
	json = http_json(&run, 200, "GET", path, NULL);
	*out = '\0';
	json_array_foreach(at(json, "records"), i, record) {
		const char *type = str_at(record, "type"), *gap = *out ? " " : "";
		size_t n = strlen(out);

		if (strcmp(type, "CONFIG_RECORD") == 0)
			snprintf(out + n, 600 - n, "%s%s=%s", gap, str_at(record, "data.name"),
				 str_at(record, "data.value"));
		else if (strcmp(type, "PARTITION_RECORD") != 0)
			snprintf(out + n, 600 - n, "%s%s", gap, type);
	}
	json_decref(json);
}

/* Whoever asks for them first. The partitions are those of three brokers that are told nothing else. */
static void internal_topics_are_kafkas(void **state)
{
	static const struct { const char *name, *configs, *written; } rows[] = {
		{"__consumer_offsets", "cleanup.policy=compact compression.type=producer segment.bytes=104857600",
		 "TOPIC_RECORD compression.type=producer cleanup.policy=compact segment.bytes=104857600"},
		{"__transaction_state",
		 "cleanup.policy=compact compression.type=uncompressed min.insync.replicas=2 segment.bytes=104857600 "
		 "unclean.leader.election.enable=false",
		 "TOPIC_RECORD compression.type=uncompressed cleanup.policy=compact min.insync.replicas=2 "
		 "segment.bytes=104857600 unclean.leader.election.enable=false CLEAR_ELR_RECORD"},
		{"__share_group_state",
		 "cleanup.policy=delete compression.type=producer min.insync.replicas=2 retention.ms=-1 "
		 "segment.bytes=104857600",
		 "TOPIC_RECORD compression.type=producer cleanup.policy=delete min.insync.replicas=2 retention.ms=-1 "
		 "segment.bytes=104857600 CLEAR_ELR_RECORD"},
	};
	char configs[400], records[600];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		int64_t end = run.process.cluster->metadata.end;
		const struct fb_topic *topic;

		assert_int_equal(error_of(rows[i].name, "true"), 3);
		written(end, records);
		assert_string_equal(records, rows[i].written);
		topic = fb_topic_find(run.process.cluster, kw_str(rows[i].name));
		assert_int_equal(topic->npartitions, 50);
		assert_int_equal(topic->replicationFactor, 3);
		own_configs(rows[i].name, configs);
		assert_string_equal(configs, rows[i].configs);
		json_decref(talk(&run, conn, "DeleteTopics", 5, "{'topicNames': ['%s'], 'timeoutMs': 5000}",
				 rows[i].name));
	}
	json_decref(talk(&run, conn, "FindCoordinator", 4, "{'keyType': 1, 'coordinatorKeys': ['x']}"));
	own_configs("__transaction_state", configs);
	assert_string_equal(configs, rows[1].configs);
	json_decref(talk(&run, conn, "DeleteTopics", 5, "{'topicNames': ['__transaction_state'], 'timeoutMs': 5000}"));
}

static void topics_are_found_by_id(void **state)
{
	static const char other[] = "5Z5gKqsvTGGJxHMFXMuXUg";
	char id[23];
	json_t *json;

	(void)state;
	make_topic(&run, "byid");
	kw_uuid_text(fb_topic_find(run.process.cluster, kw_str("byid"))->id, id);
	json = talk(&run, conn, "Metadata", 12, "{'topics': [{'topicId': '%s', 'name': null}, {'topicId': '%s', "
		    "'name': null}, {'topicId': '%s', 'name': 'm1'}, {'name': 'm1'}]}", id, other, id);
	assert_int_equal(json_array_size(at(json, "topics")), 2);   /* an id twice is one, a name among ids none */
	assert_string_equal(str_at(json, "topics.0.name"), "byid");
	assert_string_equal(str_at(json, "topics.0.topicId"), id);
	assert_int_equal(num_at(json, "topics.1.errorCode"), 100);
	assert_null(str_at(json, "topics.1.name"));
	assert_string_equal(str_at(json, "topics.1.topicId"), other);
	json_decref(json);
	/* versions that have the field and cannot use it */
	json = talk(&run, conn, "Metadata", 10, "{'topics': [{'topicId': '%s', 'name': 'byid'}]}", id);
	assert_int_equal(json_array_size(at(json, "brokers")), 0);
	assert_null(str_at(json, "clusterId"));
	assert_int_equal(num_at(json, "controllerId"), -1);
	assert_int_equal(num_at(json, "topics.0.errorCode"), 42);
	json_decref(json);
	assert_int_equal(ask_num(&run, conn, "topics.0.errorCode", "Metadata", 12, "{'topics': [{'name': null}]}"), -1);
}

static void names_are_judged(void **state)
{
	json_t *json = talk(&run, conn, "Metadata", 12, "{'topics': [{'name': 'm1'}, {'name': ''}, {'name': 'm1'}, "
			    "{'name': '__transaction_state'}], 'allowAutoTopicCreation': false, "
			    "'includeTopicAuthorizedOperations': true}");

	(void)state;
	assert_int_equal(json_array_size(at(json, "topics")), 3);
	assert_int_equal(num_at(json, "topics.0.topicAuthorizedOperations"), 3576);
	assert_int_equal(num_at(json, "topics.1.errorCode"), 17);
	assert_int_equal(num_at(json, "topics.1.topicAuthorizedOperations"), 3576);
	assert_int_equal(num_at(json, "topics.2.errorCode"), 3);
	assert_int_equal(num_at(json, "topics.2.topicAuthorizedOperations"), 3576);
	assert_int_equal(num_at(json, "topics.2.isInternal"), 1);
	json_decref(json);
	assert_int_equal(ask_num(&run, conn, "clusterAuthorizedOperations", "Metadata", 8, "{'topics': [], "
				 "'includeClusterAuthorizedOperations': true}"), 8096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_and_null_lists_differ),
		cmocka_unit_test(brokers_have_their_addresses),
		cmocka_unit_test(topics_come_when_both_sides_want_them),
		cmocka_unit_test(a_broker_can_forbid_creation),
		cmocka_unit_test(creation_on_demand_obeys_the_defaults),
		cmocka_unit_test(topics_are_found_by_id),
		cmocka_unit_test(names_are_judged),
		cmocka_unit_test(names_collide_on_demand),
		cmocka_unit_test(internal_topics_are_kafkas),
		cmocka_unit_test(a_controller_is_needed),
	};

	fb_log_level(KASSAY_ERROR);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
