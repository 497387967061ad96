/* Kafka's faults (faults.def): every row is sent to a broker that answers as a healthy one does, and to one that
 * imitates Kafka 4.4.0; and docs/fakebroker.md has the table. */
#include "fakebroker/cluster/log_line.h"
#include "fakebroker/tests/http.h"
#include "fakebroker/tests/talk.h"
#include "lib/text/file.h"
#include "lib/wire/errors.h"

/* What controller.quorum.election.timeout.ms is set to, and half of it: no test takes so long, elect_soon() ends it. */
enum { CONTROLLER = FB_CONTROLLER_ID, ELECTION_MS = 1500000 };

static struct running run;
static struct kc_conn *conn, *controller;

static void start(const char **sets, size_t nsets, const char **node_sets, size_t nnode_sets)
{
	struct fb_settings settings = {.nodes = 2, .set = {sets, nsets}, .node_set = {node_sets, nnode_sets}};

	running_start(&run, &settings);
	conn = dial(&run, 1);
	controller = dial(&run, CONTROLLER);
	make_topic(&run, "t");
	make_topic(&run, "u");
}

static int start_healthy(void **state)
{
	(void)state;
	start(NULL, 0, NULL, 0);
	return 0;
}

static int start_imitating(void **state)
{
	static const char *sets[] = {"kit.imitate.faults=true", "controller.quorum.election.timeout.ms=1000000"};

	(void)state;
	start(sets, 2, NULL, 0);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	kc_free(conn);
	kc_free(controller);
	running_stop(&run);
	return 0;
}

/* ---- what is sent ---- */

#define NULL_RECORDS "{'acks': -1, 'topicData': [{'name': 't', 'partitionData': [{'index': 0, 'records': null}]}]}"
#define GOOD_RECORDS "{'index': 0, 'records': {'batches': [{'records': [{'value': 'v'}]}]}}"
#define ALTER(type, name, configs) \
	"{'resources': [{'resourceType': " #type ", 'resourceName': '" name "', 'configs': [" configs "]}], " \
	"'validateOnly': false}"
#define OPERATION_9 ALTER(2, "t", "{'name': 'retention.ms', 'configOperation': 9, 'value': '1'}")
#define NULL_OPERAND ALTER(2, "t", "{'name': 'cleanup.policy', 'configOperation': 2, 'value': null}")
#define RESOURCE "{'resourceType': 2, 'resourceName': 't', 'configs': [{'name': 'retention.ms', 'value': '1'}]}"
#define TWICE "{'resources': [" RESOURCE ", " RESOURCE "], 'validateOnly': false}"
/* A block of ten bytes that says it inflates to 1 GiB. */
#define PREAMBLE \
	"{'acks': -1, 'topicData': [{'name': 't', 'partitionData': [{'index': 0, 'records': {'batches': [{" \
	"'codec': 'snappy', 'count': 1, 'lastOffsetDelta': 0, 'payload': {'hex': '80808080040000000000'}}]}}]}]}"
#define LISTENER(name, host, port, protocol) \
	"{'name': '" name "', 'host': '" host "', 'port': " #port ", 'securityProtocol': " #protocol "}"

static json_t *registration(const char *listener)
{
	json_t *features = json_array(), *json, *supported, *feature;
	size_t i;

	json = talk(&run, controller, "ApiVersions", 4, "{'clientSoftwareName': 'test', 'clientSoftwareVersion': '1'}");
	supported = json_object_get(json, "supportedFeatures");
	json_array_foreach(supported, i, feature)
		json_array_append_new(features, json_pack("{s:O, s:O, s:O}", "name", json_object_get(feature, "name"),
			"minSupportedVersion", json_object_get(feature, "minVersion"), "maxSupportedVersion",
			json_object_get(feature, "maxVersion")));
	json_decref(json);
	return json_pack("{s:i, s:s, s:s, s:[o], s:o, s:n, s:[s], s:i}", "brokerId", 50, "clusterId",
			 run.process.cluster->id, "incarnationId", "abcdefghijklmnopqrstuA", "listeners",
			 quoted(listener), "features", features, "rack", "logDirs", "bcdefghijklmnopqrstuAQ",
			 "previousBrokerEpoch", -1);
}

static void tell_registration(const char *listener)
{
	json_t *json = registration(listener);
	char *text = json_dumps(json, 0);

	tell(&run, controller, "BrokerRegistration", 4, "%s", text);
	free(text);
	json_decref(json);
}

/* ---- fates ---- */

/* Neither the request nor what follows on the connection is answered, while others are. */
static void expect_mute(struct kc_conn **which, int32_t node)
{
	tell(&run, *which, "ApiVersions", 0, "{}");
	json_decref(talk(&run, node == CONTROLLER ? conn : controller, "ApiVersions", 0, "{}"));
	assert_int_equal(kc_wait_close(*which, kc_now_ms() + 30), KC_OPEN);
	assert_false(kc_has_frame(*which));
	kc_free(*which);
	*which = dial(&run, node);
}

static int64_t leader_epoch(void)
{
	return ask_num(&run, conn, "topics.0.partitions.0.leaderEpoch", "DescribeQuorum", 1,
		       "{'topics': [{'topicName': '__cluster_metadata', 'partitions': [{'partitionIndex': 0}]}]}");
}

static int64_t unregister(struct kc_conn *c)
{
	return ask_num(&run, c, "errorCode", "UnregisterBroker", 0, "{'brokerId': 77}");
}

static void elect_soon(void)
{
	atomic_store(&run.process.cluster->controller_back, fb_now_ns() + 50000000);
}

/* Nobody leads, and two epochs later the controller does. The broker waits with what it has to forward. */
static void expect_resignation(int64_t epoch)
{
	int64_t away = fb_controller_away(run.process.cluster);
	json_t *json = talk(&run, controller, "UpdateFeatures", 1, "{'featureUpdates': [], 'validateOnly': true}");

	assert_in_range(away, (int64_t)ELECTION_MS * 500000, (int64_t)ELECTION_MS * 1000000);
	assert_int_equal(num_at(json, "errorCode"), KW_ERR_NOT_CONTROLLER);
	assert_string_equal(str_at(json, "errorMessage"), "The active controller appears to be node 1000.");
	json_decref(json);
	assert_int_equal(unregister(controller), KW_ERR_NOT_CONTROLLER);
	assert_int_equal(ask_num(&run, controller, "errorCode", "BrokerHeartbeat", 0,
				 "{'brokerId': 1, 'brokerEpoch': 1}"),
			 KW_ERR_NOT_CONTROLLER);
	assert_int_equal(ask_num(&run, controller, "topics.0.partitions.0.errorCode", "DescribeQuorum", 1,
				 "{'topics': [{'topicName': '__cluster_metadata', 'partitions': "
				 "[{'partitionIndex': 0}]}]}"),
			 KW_ERR_NOT_LEADER_OR_FOLLOWER);
	json_decref(talk(&run, conn, "Metadata", 1, "{'topics': []}"));
	assert_true(fb_controller_away(run.process.cluster) > 0);
	elect_soon();
	assert_int_equal(unregister(conn), KW_ERR_BROKER_ID_NOT_REGISTERED);
	assert_int_equal(unregister(controller), KW_ERR_BROKER_ID_NOT_REGISTERED);
	assert_int_equal(leader_epoch(), epoch + 2);
}

/* ---- produce ---- */

static int64_t produce_error(const char *body)
{
	return ask_num(&run, conn, "responses.0.partitionResponses.0.errorCode", "Produce", 9, "%s", body);
}

static void null_records_are_refused(void **state)
{
	json_t *json = talk(&run, conn, "Produce", 9, "%s", NULL_RECORDS);

	(void)state;
	assert_int_equal(num_at(json, "responses.0.partitionResponses.0.errorCode"), KW_ERR_INVALID_RECORD);
	assert_null(str_at(json, "responses.0.partitionResponses.0.errorMessage"));
	assert_int_equal(num_at(json, "responses.0.partitionResponses.0.baseOffset"), -1);
	json_decref(json);
	/* The other partition is none the worse. */
	assert_int_equal(ask_num(&run, conn, "responses.1.partitionResponses.0.errorCode", "Produce", 9,
				 "{'acks': -1, 'topicData': [{'name': 't', 'partitionData': [{'index': 0, 'records': "
				 "null}]}, {'name': 'u', 'partitionData': [" GOOD_RECORDS "]}]}"), 0);
	assert_int_equal(end_of(&run, "u"), 1);
	assert_int_equal(produce_error(PREAMBLE), KW_ERR_UNKNOWN_SERVER_ERROR);
	assert_int_equal(produce_error("{'acks': -1, 'topicData': [{'name': 't', 'partitionData': [" GOOD_RECORDS
				       "]}]}"), 0);
}

/* One of topic's entries after the other in a request; all measured on Kafka 4.4.0. */
static void null_records_mute(void **state)
{
#define NULLS "{'index': 0, 'records': null}"
#define NO_MAGIC "{'index': 0, 'records': {'batches': [{'records': [{'value': 'v'}], 'magic': 3}]}}"
#define TRANSACTIONAL "{'index': 0, 'records': {'batches': [{'records': [{'value': 'v'}], 'attributes': 16}]}}"
	static const struct {
		int version, acks;
		const char *t, *u, *nope;       /* entries for these topics, or "" */
		bool mute;
		int64_t appended;               /* to t */
	} rows[] = {
		{9, -1, NULLS, "", "", true, 0},
		{3, -1, NULLS, "", "", true, 0},
		{12, 1, NULLS, "", "", true, 0},
		{9, 0, NULLS, "", "", true, 0},
		{9, 5, NULLS, "", "", true, 0},
		{9, -1, GOOD_RECORDS, NULLS, "", true, 0},
		{9, 0, GOOD_RECORDS, NULLS, "", true, 0},
		{9, -1, GOOD_RECORDS ", " NULLS, "", "", true, 0},
		{9, -1, NULLS ", " GOOD_RECORDS, "", "", false, 1},
		{9, -1, "", "", NULLS, false, 0},
		{9, -1, GOOD_RECORDS, "", NULLS, false, 1},
		{9, -1, NO_MAGIC, "", NULLS, true, 0},
		{9, 0, NO_MAGIC, "", NULLS, true, 0},
		{9, -1, TRANSACTIONAL, "", NULLS, true, 0},
		{9, -1, TRANSACTIONAL, NULLS, "", true, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		int64_t end = end_of(&run, "t");

		tell(&run, conn, "Produce", rows[i].version, "{'acks': %d, 'topicData': [{'name': 't', "
		     "'partitionData': [%s]}, {'name': 'u', 'partitionData': [%s]}, {'name': 'nope', "
		     "'partitionData': [%s]}]}", rows[i].acks, rows[i].t,
		     rows[i].u, rows[i].nope);
		if (rows[i].mute)
			expect_mute(&conn, 1);
		else
			json_decref(hear(&run, conn, "Produce", rows[i].version));
		if (end_of(&run, "t") != end + rows[i].appended)
			fail_msg("row %zu", i);
	}
	assert_int_equal(end_of(&run, "u"), 0);
	assert_int_equal(produce_error(PREAMBLE), KW_ERR_UNKNOWN_SERVER_ERROR);
	assert_int_equal(produce_error("{'acks': -1, 'topicData': [{'name': 't', 'partitionData': [" GOOD_RECORDS
				       "]}]}"), 0);
}

/* ---- the others that are never answered ---- */

static void no_transactions_are_added(void **state)
{
	json_t *json = talk(&run, conn, "AddPartitionsToTxn", 4, "{'transactions': []}");

	(void)state;
	assert_int_equal(num_at(json, "errorCode"), 0);
	assert_int_equal(json_array_size(json_object_get(json, "resultsByTransaction")), 0);
	json_decref(json);
}

static void no_transactions_mute(void **state)
{
	(void)state;
	tell(&run, conn, "AddPartitionsToTxn", 4, "{'transactions': []}");
	expect_mute(&conn, 1);
	tell(&run, conn, "AddPartitionsToTxn", 5, "{'transactions': []}");
	expect_mute(&conn, 1);
	json_decref(talk(&run, conn, "AddPartitionsToTxn", 3, "{'v3AndBelowTransactionalId': 'x', "
			 "'v3AndBelowProducerId': 1, 'v3AndBelowProducerEpoch': 0, 'v3AndBelowTopics': []}"));
}

static void expect_results(json_t *json, size_t n, int code, const char *message)
{
	assert_int_equal(json_array_size(json_object_get(json, "responses")), n);
	for (size_t i = 0; i < n; i++) {
		char path[40];

		snprintf(path, sizeof path, "responses.%zu.errorCode", i);
		assert_int_equal(num_at(json, path), code);
		snprintf(path, sizeof path, "responses.%zu.errorMessage", i);
		if (message)
			assert_string_equal(str_at(json, path), message);
		else
			assert_null(str_at(json, path));
	}
	json_decref(json);
}

static int64_t retention(void)
{
	return fb_configs_long(run.process.cluster->configs, FB_TOPIC, kw_str("t"), 1, "retention.ms", 0);
}

static void a_resource_twice_is_refused(void **state)
{
	static const char unknown[] = "{'resources': [{'resourceType': 99, 'resourceName': 'x', 'configs': []}, "
				      "{'resourceType': 99, 'resourceName': 'x', 'configs': []}], "
				      "'validateOnly': false}";

	(void)state;
	expect_results(talk(&run, conn, "AlterConfigs", 1, TWICE), 2, KW_ERR_INVALID_REQUEST,
		       "Each resource must appear at most once.");
	expect_results(talk(&run, controller, "AlterConfigs", 1, TWICE), 1, KW_ERR_INVALID_REQUEST,
		       "Duplicate resource.");
	expect_results(talk(&run, controller, "AlterConfigs", 1, unknown), 2, KW_ERR_UNSUPPORTED_VERSION,
		       "Unknown resource type 99.");
	assert_int_equal(retention(), 604800000);
}

static void a_resource_twice_mutes(void **state)
{
	(void)state;
	for (int version = 0; version <= 2; version++) {
		tell(&run, conn, "AlterConfigs", version, TWICE);
		expect_mute(&conn, 1);
	}
	expect_results(talk(&run, controller, "AlterConfigs", 1, TWICE), 1, KW_ERR_INVALID_REQUEST,
		       "Duplicate resource.");
	tell(&run, controller, "AlterConfigs", 1, "{'resources': [{'resourceType': 99, 'resourceName': 'x', 'configs': "
	     "[]}, {'resourceType': 98, 'resourceName': 'x', 'configs': []}], 'validateOnly': false}");
	expect_mute(&controller, CONTROLLER);
	assert_int_equal(retention(), 604800000);
}

/* ---- the controller ---- */

static void bad_operations_are_refused(void **state)
{
	static const char unknown[] = "Unknown operations type 9",
			  null[] = "Null value not supported for : cleanup.policy";

	(void)state;
	expect_results(talk(&run, conn, "IncrementalAlterConfigs", 1, OPERATION_9), 1, KW_ERR_INVALID_REQUEST, unknown);
	expect_results(talk(&run, controller, "IncrementalAlterConfigs", 1, OPERATION_9), 1, KW_ERR_INVALID_REQUEST,
		       unknown);
	expect_results(talk(&run, controller, "IncrementalAlterConfigs", 1, NULL_OPERAND), 1, KW_ERR_INVALID_REQUEST,
		       null);
	assert_int_equal(unregister(controller), KW_ERR_BROKER_ID_NOT_REGISTERED);
	assert_int_equal(leader_epoch(), 1);
}

static void bad_operations_topple(void **state)
{
	static const char both[] = "{'resources': [{'resourceType': 2, 'resourceName': 'u', 'configs': [{'name': "
		"'retention.ms', 'configOperation': 0, 'value': '5'}]}, {'resourceType': 2, 'resourceName': 't', "
		"'configs': [{'name': 'retention.ms', 'configOperation': -1, 'value': '1'}]}], 'validateOnly': false}";
	int64_t epoch = leader_epoch();

	(void)state;
	expect_results(talk(&run, conn, "IncrementalAlterConfigs", 1, OPERATION_9), 1, -1, NULL);
	expect_resignation(epoch);
	expect_results(talk(&run, controller, "IncrementalAlterConfigs", 0, both), 2, -1, NULL);
	expect_resignation(epoch + 2);
	assert_int_equal(fb_configs_long(run.process.cluster->configs, FB_TOPIC, kw_str("u"), 1, "retention.ms", 0),
			 604800000);
	expect_results(talk(&run, controller, "IncrementalAlterConfigs", 1, NULL_OPERAND), 1, -1, NULL);
	expect_resignation(epoch + 4);
	/* A broker's own configurations do not come that far. */
	expect_results(talk(&run, conn, "IncrementalAlterConfigs", 1,
			    ALTER(4, "1", "{'name': 'log.retention.ms', 'configOperation': 9, 'value': '1'}")), 1,
		       KW_ERR_INVALID_REQUEST, "Unknown operations type 9");
	assert_int_equal(leader_epoch(), epoch + 6);
}

/* Configurations that nobody knows, of a broker, of 9.6 MB together, beside a topic's. */
static void alter_much(bool validateOnly, int16_t broker, int16_t topic)
{
	static struct kw_IncrementalAlterConfigsRequest_AlterableConfig configs[300], one;
	static char text[32001];
	struct kw_IncrementalAlterConfigsRequest_AlterConfigsResource resources[] = {
		{.resourceType = 4, .resourceName = kw_str("1"), .configs = {configs, 300}},
		{.resourceType = 2, .resourceName = kw_str("t"), .configs = {&one, 1}},
	};
	struct kw_IncrementalAlterConfigsRequest request = {.resources = {resources, 2}, .validateOnly = validateOnly};
	struct kw_IncrementalAlterConfigsResponse *response;

	memset(text, 'v', sizeof text - 1);
	one.name = kw_str("retention.ms");
	one.value = kw_str("5");
	for (int i = 0; i < 300; i++) {
		configs[i].name = kw_str(kw_sprintf(&run.arena, "nobody.knows.%d", i));
		configs[i].value = kw_str(text);
	}
	response = call(&run, conn, 44, 1, &request);
	assert_int_equal(response->responses.v[0].errorCode, broker);
	assert_true(response->responses.v[0].errorMessage.n < 0);
	assert_int_equal(response->responses.v[1].errorCode, topic);
	assert_int_equal(retention(), 604800000);
	kw_arena_reset(&run.arena);
}

/* Topics with a configuration of 32,000 bytes each. */
static void create_much(bool validateOnly, int16_t error)
{
	static struct kw_CreateTopicsRequest_CreatableTopicConfig config;
	static char text[32001];
	struct kw_CreateTopicsRequest request = {.timeoutMs = 1000, .validateOnly = validateOnly};
	struct kw_CreateTopicsResponse *response;

	for (int i = 0; i < 32000; i++)
		text[i] = "0:1,"[i % 4];
	text[31999] = '\0';
	config.name = kw_str("follower.replication.throttled.replicas");
	config.value = kw_str(text);
	request.topics.v = kw_new_array(&kw_CreateTopicsRequest_CreatableTopic_struct, 300, &run.arena);
	request.topics.n = 300;
	for (int i = 0; i < 300; i++) {
		request.topics.v[i].name = kw_str(kw_sprintf(&run.arena, i == 7 ? "a %d" : "a%d", i));
		request.topics.v[i].numPartitions = request.topics.v[i].replicationFactor = 1;
		request.topics.v[i].configs.v = &config;
		request.topics.v[i].configs.n = 1;
	}
	response = call(&run, conn, 19, 7, &request);
	assert_int_equal(response->topics.n, 300);
	for (int i = 0; i < 300; i++)
		assert_int_equal(response->topics.v[i].errorCode,
				 i == 7 && !error ? KW_ERR_INVALID_TOPIC_EXCEPTION : error);
	assert_null(fb_topic_find(run.process.cluster, kw_str("a0")));
	kw_arena_reset(&run.arena);
}

static void large_batches_are_refused(void **state)
{
	int64_t start = run.process.cluster->metadata.start, end = run.process.cluster->metadata.end;

	(void)state;
	alter_much(true, 0, 0);
	alter_much(false, -1, -1);
	create_much(true, 0);
	create_much(false, -1);
	assert_int_equal(run.process.cluster->metadata.start, start);
	assert_int_equal(run.process.cluster->metadata.end, end);
	assert_int_equal(leader_epoch(), 1);
}

static void large_batches_topple(void **state)
{
	int64_t epoch = leader_epoch();

	(void)state;
	alter_much(true, 0, 0);
	create_much(true, 0);
	assert_int_equal(leader_epoch(), epoch);
	alter_much(false, -1, -1);
	expect_resignation(epoch);
	create_much(false, -1);
	expect_resignation(epoch + 2);
}

static const char *const listeners[] = {LISTENER("P", "h", 0, 0), LISTENER("P", "", 1, 0), LISTENER("P", "h", 1, 99)};
static const char nameless[] = LISTENER("", "h", 1, 0);

static int64_t heard_registration(void)
{
	json_t *json = hear(&run, controller, "BrokerRegistration", 4);
	int64_t code = num_at(json, "errorCode");

	assert_true(code == 0 || num_at(json, "brokerEpoch") == -1);
	json_decref(json);
	return code;
}

static void bad_listeners_are_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof listeners / sizeof *listeners; i++) {
		tell_registration(listeners[i]);
		assert_int_equal(heard_registration(), KW_ERR_INVALID_REGISTRATION);
	}
	tell_registration(nameless);
	assert_int_equal(heard_registration(), KW_ERR_INVALID_REGISTRATION);
	assert_int_equal(leader_epoch(), 1);
	tell_registration(LISTENER("P", "h", 1, 0));
	assert_int_equal(heard_registration(), 0);
}

static void bad_listeners_topple(void **state)
{
	int64_t epoch = leader_epoch();

	(void)state;
	for (size_t i = 0; i < sizeof listeners / sizeof *listeners; i++) {
		tell_registration(listeners[i]);
		assert_int_equal(heard_registration(), -1);
		expect_resignation(epoch);
		epoch += 2;
	}
}

static void post(int status, const char *path, const char *body)
{
	json_decref(http_json(&run, status, "POST", path, body));
}

/* Its listener closes, brokers go on, and it can be started again. */
static void a_nameless_listener_ends_the_controller(void **state)
{
	struct kc_conn *other = dial(&run, CONTROLLER);
	int port = fb_cluster_node(run.process.cluster, CONTROLLER)->port;
	int64_t epoch = leader_epoch();
	struct kc_conn *none;

	(void)state;
	post(409, "/v1/nodes/1000/start", NULL);
	tell_registration(nameless);
	assert_int_equal(kc_wait_close(controller, soon()), KC_CLOSED);
	assert_int_equal(kc_wait_close(other, soon()), KC_CLOSED);
	kc_free(controller);
	kc_free(other);
	assert_true(kc_connect("127.0.0.1", port, "test", soon(), &none, NULL) < 0);
	tell(&run, conn, "UnregisterBroker", 0, "{'brokerId': 77}");   /* which waits for a controller */
	other = dial(&run, 1);
	json_decref(talk(&run, other, "Metadata", 1, "{'topics': []}"));
	kc_free(other);
	assert_false(kc_has_frame(conn));
	fb_controller_resign(run.process.cluster);   /* by a request that was on its way when the controller ended */
	assert_true(fb_controller_away(run.process.cluster) == INT64_MAX);
	http_error(&run, 409, "POST", "/v1/nodes/1000/stop", NULL, "node 1000 is the controller, which has ended");
	post(200, "/v1/nodes/1000/start", NULL);
	json_decref(hear(&run, conn, "UnregisterBroker", 0));
	controller = dial(&run, CONTROLLER);
	assert_int_equal(unregister(controller), KW_ERR_BROKER_ID_NOT_REGISTERED);
	assert_int_equal(leader_epoch(), epoch + 2);
}

/* ---- one node alone ---- */

static void each_node_for_itself(void **state)
{
	static const char *node_sets[] = {"2:kit.imitate.faults=true"};
	struct kc_conn *other;

	(void)state;
	start(NULL, 0, node_sets, 1);
	other = dial(&run, 2);
	expect_results(talk(&run, conn, "AlterConfigs", 1, TWICE), 2, KW_ERR_INVALID_REQUEST,
		       "Each resource must appear at most once.");
	tell(&run, other, "AlterConfigs", 1, TWICE);
	expect_mute(&other, 2);
	expect_results(talk(&run, other, "IncrementalAlterConfigs", 1, OPERATION_9), 1, KW_ERR_INVALID_REQUEST,
		       "Unknown operations type 9");   /* the controller is a node of its own */
	kc_free(other);
	post(200, "/v1/nodes/2/stop", NULL);
	post(200, "/v1/nodes/2/start", "{\"config\": {\"kit.imitate.faults\": \"false\"}}");
	other = dial(&run, 2);
	expect_results(talk(&run, other, "AlterConfigs", 1, TWICE), 2, KW_ERR_INVALID_REQUEST,
		       "Each resource must appear at most once.");
	kc_free(other);
	stop(NULL);
}

/* ---- docs ---- */

static void docs_have_the_table(void **state)
{
	static const char begin[] = "<!-- faults.def -->\n", end[] = "<!-- end of faults.def -->";
	char wanted[16384], *text, *from, *to;
	size_t n;

	(void)state;
	n = (size_t)snprintf(wanted, sizeof wanted,
			     "| fault | sent | Kafka | otherwise | releases |\n|---|---|---|---|---|\n");
	for (int i = 1; i < FB_NFAULTS; i++) {
		const struct fb_fault_row *row = &fb_faults[i];

		n += (size_t)snprintf(wanted + n, sizeof wanted - n, "| `%s` | %s: %s | %s; %s. %s | %s | %s |\n",
				      row->name, row->api, row->sent, row->does, fb_fate_text(row->fate), row->source,
				      row->healthy, row->releases);
		assert_true(n < sizeof wanted);
	}
	assert_int_equal(kt_file_read("docs/fakebroker.md", 1 << 20, &text, &n, NULL), 0);
	from = strstr(text, begin);
	to = from ? strstr(from, end) : NULL;
	if (to)
		*to = '\0';
	if (!to || strcmp(from + strlen(begin), wanted) != 0)
		fprintf(stderr, "docs/fakebroker.md is to have\n%s", wanted);   /* longer than print_error() takes */
	assert_non_null(to);
	assert_string_equal(from + strlen(begin), wanted);
	free(text);
}

int main(void)
{
	const struct CMUnitTest healthy[] = {
		cmocka_unit_test(null_records_are_refused),
		cmocka_unit_test(no_transactions_are_added),
		cmocka_unit_test(a_resource_twice_is_refused),
		cmocka_unit_test(bad_operations_are_refused),
		cmocka_unit_test(large_batches_are_refused),
		cmocka_unit_test(bad_listeners_are_refused),
	};
	const struct CMUnitTest imitating[] = {
		cmocka_unit_test(null_records_mute),
		cmocka_unit_test(no_transactions_mute),
		cmocka_unit_test(a_resource_twice_mutes),
		cmocka_unit_test(bad_operations_topple),
		cmocka_unit_test(large_batches_topple),
		cmocka_unit_test(bad_listeners_topple),
		cmocka_unit_test(a_nameless_listener_ends_the_controller),
	};
	const struct CMUnitTest alone[] = {
		cmocka_unit_test(each_node_for_itself),
		cmocka_unit_test(docs_have_the_table),
	};

	fb_log_level(KASSAY_ERROR);   /* what is imitated is meant to be */
	return cmocka_run_group_tests_name("faults, healthy", healthy, start_healthy, stop) +
	       cmocka_run_group_tests_name("faults, imitating", imitating, start_imitating, stop) +
	       cmocka_run_group_tests_name("faults", alone, NULL, NULL);
}
