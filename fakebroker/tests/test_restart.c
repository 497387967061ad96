/* Brokers that stop and start while the others serve: what clients and the controller see of it, and rolling restarts
 * with other static values. test_restart_load has them under load. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "fakebroker/cluster/log_line.h"
#include "fakebroker/tests/http.h"
#include "fakebroker/tests/talk.h"
#include "lib/wire/errors.h"

static struct running run;

static int start_one(void **state)
{
	static char scenario[] = "fakebroker/tests/scenarios/good-restart.json";
	struct fb_settings settings = {.scenario = scenario, .threads = 1};

	(void)state;
	running_start(&run, &settings);
	return 0;
}

static int stop_all(void **state)
{
	(void)state;
	running_stop(&run);
	return 0;
}

static void post(int status, const char *path, const char *body)
{
	json_decref(http_json(&run, status, "POST", path, body));
}

/* Does anybody listen there? */
static int try_port(int port)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int fd = socket(AF_INET, SOCK_STREAM, 0), code;

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	code = connect(fd, (struct sockaddr *)&in, sizeof in) < 0 ? errno : 0;
	close(fd);
	return code;
}

static json_t *metadata(struct kc_conn *conn, const char *topic)
{
	return talk(&run, conn, "Metadata", 12, "{'topics': [{'topicId': 'AAAAAAAAAAAAAAAAAAAAAA', 'name': '%s'}], "
		    "'allowAutoTopicCreation': false}", topic);
}

/* "2,3" of an array of ids. */
static const char *ids(json_t *json, const char *path, char out[64])
{
	json_t *id;
	size_t i, n = 0;

	out[0] = '\0';
	json_array_foreach(at(json, path), i, id)
		n += (size_t)snprintf(out + n, 64 - n, "%s%d", i ? "," : "", (int)json_integer_value(id));
	return out;
}

static void assert_ids(json_t *json, const char *path, const char *expected)
{
	char text[64];

	assert_string_equal(ids(json, path, text), expected);
}

/* ---- what is seen of it ---- */

static void a_stopped_broker_is_gone_for_clients(void **state)
{
	struct kc_conn *one = dial(&run, 1), *two = dial(&run, 2);
	int port = fb_cluster_node(run.process.cluster, 2)->port, code;
	const uint8_t *p;
	size_t n;
	json_t *json;

	(void)state;
	tell(&run, two, "Fetch", 12, "{'maxWaitMs': 60000, 'minBytes': 1, 'maxBytes': 1000, 'topics': [{'topic': "
	     "'one', 'partitions': [{'partition': 1, 'fetchOffset': 0, 'partitionMaxBytes': 1000}]}]}");
	post(200, "/v1/nodes/2/stop", NULL);
	assert_int_equal(try_port(port), ECONNREFUSED);
	code = kc_read_frame(two, soon(), &p, &n, NULL);
	if (code == 0)   /* the Fetch was told that broker 2 leads no longer */
		code = kc_read_frame(two, soon(), &p, &n, NULL);
	assert_true(code == KT_ECLOSED || code == KT_ENET);   /* reset, when the request was not read yet */
	kc_free(two);
	json = talk(&run, one, "DescribeCluster", 2, "{'endpointType': 1, 'includeFencedBrokers': true}");
	assert_int_equal(json_array_size(at(json, "brokers")), 3);
	assert_int_equal(num_at(json, "brokers.1.brokerId"), 2);
	assert_true(num_at(json, "brokers.1.isFenced"));
	assert_false(num_at(json, "brokers.2.isFenced"));
	json_decref(json);
	json = metadata(one, "three");
	assert_int_equal(json_array_size(at(json, "brokers")), 2);
	assert_int_equal(num_at(json, "brokers.1.nodeId"), 3);
	json_decref(json);
	kc_free(one);
}

static void its_partitions_get_other_leaders(void **state)
{
	struct kc_conn *one = dial(&run, 1);
	json_t *json = metadata(one, "three");

	(void)state;
	assert_ids(json, "topics.0.partitions.0.replicaNodes", "2,3,1");
	assert_int_equal(num_at(json, "topics.0.partitions.0.leaderId"), 2);
	json_decref(json);
	post(200, "/v1/nodes/2/stop", NULL);
	json = metadata(one, "three");
	assert_int_equal(num_at(json, "topics.0.partitions.0.leaderId"), 3);
	assert_int_equal(num_at(json, "topics.0.partitions.0.leaderEpoch"), 1);
	assert_ids(json, "topics.0.partitions.0.isrNodes", "3,1");
	assert_ids(json, "topics.0.partitions.0.offlineReplicas", "2");
	assert_int_equal(num_at(json, "topics.0.partitions.1.leaderEpoch"), 0);
	json_decref(json);
	post(200, "/v1/nodes/2/start", NULL);
	json = metadata(one, "three");
	assert_int_equal(num_at(json, "topics.0.partitions.0.leaderId"), 3);   /* no election without need */
	assert_int_equal(num_at(json, "topics.0.partitions.0.leaderEpoch"), 1);
	assert_ids(json, "topics.0.partitions.0.isrNodes", "3,1,2");
	assert_ids(json, "topics.0.partitions.0.offlineReplicas", "");
	json_decref(json);
	kc_free(one);
}

static void a_partition_without_other_replicas_waits_for_its_leader(void **state)
{
	struct kc_conn *one = dial(&run, 1), *two;
	json_t *json = metadata(one, "one");
	int p = 0;
	char path[64];

	(void)state;
	do
		snprintf(path, sizeof path, "topics.0.partitions.%d.leaderId", p);
	while (num_at(json, path) != 2 && ++p < 3);
	json_decref(json);
	assert_int_equal(p < 3, 1);
	post(200, "/v1/nodes/2/stop", NULL);
	json = metadata(one, "one");
	snprintf(path, sizeof path, "topics.0.partitions.%d.errorCode", p);
	assert_int_equal(num_at(json, path), KW_ERR_LEADER_NOT_AVAILABLE);
	snprintf(path, sizeof path, "topics.0.partitions.%d.leaderId", p);
	assert_int_equal(num_at(json, path), -1);
	snprintf(path, sizeof path, "topics.0.partitions.%d.isrNodes", p);
	assert_ids(json, path, "");   /* the last one is an eligible leader */
	json_decref(json);
	post(200, "/v1/nodes/2/start", NULL);
	json = metadata(one, "one");
	snprintf(path, sizeof path, "topics.0.partitions.%d.leaderId", p);
	assert_int_equal(num_at(json, path), 2);
	snprintf(path, sizeof path, "topics.0.partitions.%d.leaderEpoch", p);
	assert_int_equal(num_at(json, path), 2);   /* to none, and back */
	json_decref(json);
	two = dial(&run, 2);
	assert_int_equal(ask_num(&run, two, "responses.0.partitionResponses.0.errorCode", "Produce", 9, "{'acks': -1, "
				 "'topicData': [{'name': 'one', 'partitionData': [{'index': %d, 'records': "
				 BATCH("{'value': 'v'}") "}]}]}", p), 0);
	kc_free(two);
	kc_free(one);
}

static void topics_are_made_on_those_that_run(void **state)
{
	struct kc_conn *one = dial(&run, 1);
	json_t *json;

	(void)state;
	post(200, "/v1/nodes/2/stop", NULL);
	assert_int_equal(ask_num(&run, one, "topics.0.errorCode", "CreateTopics", 7, "{'topics': [{'name': 'new', "
				 "'numPartitions': 2, 'replicationFactor': 2}], 'timeoutMs': 1000}"), 0);
	json = metadata(one, "new");
	assert_ids(json, "topics.0.partitions.0.offlineReplicas", "");
	assert_ids(json, "topics.0.partitions.1.offlineReplicas", "");
	json_decref(json);
	assert_int_equal(ask_num(&run, one, "topics.0.errorCode", "CreateTopics", 7, "{'topics': [{'name': 'given', "
				 "'numPartitions': -1, 'replicationFactor': -1, 'assignments': [{'partitionIndex': 0, "
				 "'brokerIds': [2, 1]}]}], 'timeoutMs': 1000}"), 0);
	json = metadata(one, "given");
	assert_int_equal(num_at(json, "topics.0.partitions.0.leaderId"), 1);
	json_decref(json);
	kc_free(one);
}

/* With a code for programs. */
static void refused(int status, const char *code, const char *path, const char *body, const char *error)
{
	json_t *json = http_json(&run, status, "POST", path, body);

	assert_string_equal(str_at(json, "code"), code);
	assert_string_equal(str_at(json, "error"), error);
	json_decref(json);
}

static void wrong_questions_are_answered(void **state)
{
	(void)state;
	http_error(&run, 404, "POST", "/v1/nodes/9/stop", NULL,
		   "there is no node \"9\"");
	http_error(&run, 404, "POST", "/v1/nodes/0/stop", NULL, "there is no node \"0\"");
	http_error(&run, 404, "POST", "/v1/nodes/4294967297/stop", NULL, "there is no node \"4294967297\"");
	http_error(&run, 404, "POST", "/v1/nodes/2/halt", NULL,
		   "there is no path /v1/nodes/2/halt; /v1/nodes/ID/stop or /v1/nodes/ID/start is expected");
	http_error(&run, 404, "POST", "/v1/nodes/2", NULL,
		   "there is no path /v1/nodes/2; /v1/nodes/ID/stop or /v1/nodes/ID/start is expected");
	refused(409, "state", "/v1/nodes/1000/stop", NULL, "node 1000 is the controller, which cannot be stopped");
	refused(409, "state", "/v1/nodes/2/start", NULL, "broker 2 runs");
	http_error(&run, 400, "POST", "/v1/nodes/2/stop", "{}", "/v1/nodes/2/stop takes no body");
	post(200, "/v1/nodes/2/stop", NULL);
	refused(409, "state", "/v1/nodes/2/stop", NULL, "broker 2 is stopped already");
	http_error(&run, 400, "POST", "/v1/nodes/2/start", "{\"config\": {\"\": \"x\"}}",
		   "body:1: $.config[\"\"]: a configuration has a name");
	http_error(&run, 400, "POST", "/v1/nodes/2/start", "{\"confg\": {}}",
		   "body:1: $.confg: unknown member \"confg\"; did you mean \"config\"?");
	http_error(&run, 400, "POST", "/v1/nodes/2/start", "{\"config\": {\"kit.int.min\": 5}}",
		   "body:1: $.config[\"kit.int.min\"]: must be a string, not a whole number");
	http_error(&run, 400, "POST", "/v1/nodes/2/start",
		   "{\"config\": {\"num.io.threads\": \"4\", \"kit.int.min\": \"x\"}}",
		   "Invalid value x for configuration kit.int.min: Not a number of type INT");
	assert_int_equal(fb_configs_static(run.process.cluster->configs, 2, kw_str("num.io.threads")).n, -1);
}

/* Listeners are what they were when the process started, so values for them are not taken and then ignored. */
static void values_that_only_the_process_reads_are_refused(void **state)
{
	static const char *const names[] = {
		"listeners", "listener.security.protocol.map", "listener.name.plaintext.plain.sasl.jaas.config",
		"sasl.enabled.mechanisms", "sasl.server.max.receive.size", "socket.request.max.bytes",
	};

	(void)state;
	post(200, "/v1/nodes/2/stop", NULL);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char body[200], error[300];

		for (int take = 0; take < 2; take++) {
			snprintf(body, sizeof body, "{\"config\": {\"num.io.threads\": \"4\", \"%s\": %s}}", names[i],
				 take ? "null" : "\"1\"");
			snprintf(error, sizeof error, "%s is read when fakebroker starts and not when a broker does; "
				 "give it in the scenario or with --set", names[i]);
			http_error(&run, 400, "POST", "/v1/nodes/2/start", body, error);
		}
	}
	assert_int_equal(fb_configs_static(run.process.cluster->configs, 2, kw_str("num.io.threads")).n, -1);
	post(200, "/v1/nodes/2/start", "{\"config\": {\"num.io.threads\": \"4\"}}");
}

/* ---- what takes its time ---- */

/* JournalObserver writes a line when it is created, and a pipe that is full lets it wait. */
static void a_start_that_hangs_does_not_hold_up_the_api(void **state)
{
	char dir[] = "/tmp/kassay-restart-XXXXXX", fifo[60], body[300], page[4096] = "";
	int starting, exchanging, stopping, reader;
	struct http http;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(fifo, sizeof fifo, "%s/fifo", dir);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	reader = open(fifo, O_RDWR | O_NONBLOCK);
	assert_true(reader >= 0);
	while (write(reader, page, sizeof page) > 0)
		;
	snprintf(body, sizeof body, "{\"config\": {\"observer.class.name\": \"JournalObserver\", "
		 "\"observer.JournalObserver.file\": \"%s\"}}", fifo);
	post(200, "/v1/nodes/2/stop", NULL);
	starting = http_dial(run.process.control_port);
	http_send(starting, "POST", "/v1/nodes/2/start", body);
	exchanging = http_dial(run.process.control_port);
	http_send(exchanging, "PUT", "/v1/observer", "{\"classes\": \"NoOpObserver\"}");
	stopping = http_dial(run.process.control_port);     /* by a client that does not stay */
	http_send(stopping, "POST", "/v1/nodes/3/stop", NULL);
	json_decref(http_json(&run, 200, "GET", "/v1/status", NULL));
	json_decref(http_json(&run, 404, "POST", "/v1/nodes", NULL));
	close(stopping);
	json_decref(http_json(&run, 200, "GET", "/v1/rules", NULL));
	while (read(reader, page, sizeof page) > 0)
		;
	http = http_read(starting);
	assert_int_equal(http.status, 200);
	assert_true(num_at(http.json, "running"));
	http_free(&http);
	http = http_read(exchanging);
	assert_int_equal(http.status, 200);
	assert_int_equal(json_array_size(http.json), 3);
	http_free(&http);
	refused(409, "state", "/v1/nodes/3/stop", NULL, "broker 3 is stopped already");
	close(reader);
	unlink(fifo);
	rmdir(dir);
}

static int64_t end_of_epoch(struct kc_conn *conn, int epoch)
{
	return ask_num(&run, conn, "topics.0.partitions.0.endOffset", "OffsetForLeaderEpoch", 4,
		       "{'replicaId': -1, 'topics': "
		       "[{'topic': 'three', 'partitions': [{'partition': 0, 'currentLeaderEpoch': -1, "
		       "'leaderEpoch': %d}]}]}",
		       epoch);
}

static void a_consumer_learns_where_an_epoch_ended(void **state)
{
	struct kc_conn *two = dial(&run, 2), *three;

	(void)state;
	assert_int_equal(produce(&run, two, "three", BATCH("{'value': 'a'}, {'value': 'b'}")), 0);
	assert_int_equal(end_of_epoch(two, 0), 2);
	kc_free(two);
	post(200, "/v1/nodes/2/stop", NULL);
	three = dial(&run, 3);
	assert_int_equal(produce(&run, three, "three", BATCH("{'value': 'c'}")), 2);
	assert_int_equal(end_of_epoch(three, 0), 2);
	assert_int_equal(end_of_epoch(three, 1), 3);
	assert_int_equal(end_of_epoch(three, 2), -1);
	kc_free(three);
}

/* ---- registration ---- */

static json_t *node(int i)
{
	json_t *status = http_json(&run, 200, "GET", "/v1/status", NULL), *nodes = json_object_get(status, "nodes");
	json_t *found = json_incref(json_array_get(nodes, (size_t)i));

	json_decref(status);
	return found;
}

static void a_start_that_is_refused_leaves_it_stopped(void **state)
{
	struct fb_cluster *cluster = run.process.cluster;
	int port = fb_cluster_node(cluster, 2)->port;
	static const char why[] = "broker 2 cannot join: metadata.version 27 makes these configurations illegal: "
				  "broker 2 static kit.int.min=0: Invalid value 0 for configuration kit.int.min: Value "
				  "must be at least 1 (rule of level 25)";
	json_t *json;

	(void)state;
	post(200, "/v1/nodes/2/stop", NULL);
	refused(409, "refused", "/v1/nodes/2/start", "{\"config\": {\"kit.int.min\": \"0\"}}", why);
	assert_int_equal(try_port(port), ECONNREFUSED);
	json = node(1);
	assert_false(num_at(json, "running"));
	assert_string_equal(str_at(json, "whyStopped"), why);
	json_decref(json);
	http_error(&run, 409, "POST", "/v1/nodes/2/start", NULL, why);   /* its properties are what they were made */
	post(200, "/v1/nodes/2/start", "{\"config\": {\"kit.int.min\": null}}");
	assert_int_equal(try_port(port), 0);
	json = node(1);
	assert_true(num_at(json, "running"));
	assert_null(str_at(json, "whyStopped"));
	json_decref(json);
}

static int64_t upgrade(struct kc_conn *conn, int level)
{
	return ask_num(&run, conn, "errorCode", "UpdateFeatures", 2, "{'timeoutMs': 1000, 'featureUpdates': "
		       "[{'feature': 'metadata.version', 'maxVersionLevel': %d, 'upgradeType': 1}]}", level);
}

static int64_t epoch_of(int32_t id)
{
	return fb_cluster_broker(run.process.cluster, id)->epoch;
}

/* A stopped broker is registered as it was; only the next start tells what changed. */
static void a_rolling_restart_with_corrected_values_frees_the_upgrade(void **state)
{
	struct kc_conn *one = dial(&run, 1);
	int64_t epoch = epoch_of(2);

	(void)state;
	assert_int_equal(upgrade(one, 28), KW_ERR_INVALID_CONFIG);
	post(200, "/v1/nodes/2/stop", NULL);
	assert_int_equal(upgrade(one, 28), KW_ERR_INVALID_CONFIG);
	post(200, "/v1/nodes/2/start", "{\"config\": {\"kit.int.min\": \"2048\"}}");
	assert_true(epoch_of(2) > epoch);
	assert_int_equal(upgrade(one, 28), 0);
	post(200, "/v1/nodes/2/stop", NULL);
	http_error(&run, 409, "POST", "/v1/nodes/2/start", "{\"config\": {\"kit.int.min\": \"16\"}}",
		   "broker 2 cannot join: metadata.version 28 makes these configurations illegal: broker 2 static "
		   "kit.int.min=16: Invalid value 16 for configuration kit.int.min: Value must be at least 1024 "
		   "(rule of level 28)");
	kc_free(one);
}

static void an_unregistered_broker_no_longer_counts(void **state)
{
	struct kc_conn *one = dial(&run, 1);

	(void)state;
	post(200, "/v1/nodes/2/stop", NULL);
	assert_int_equal(ask_num(&run, one, "errorCode", "UnregisterBroker", 0, "{'brokerId': 2}"), 0);
	assert_int_equal(upgrade(one, 28), 0);
	post(409, "/v1/nodes/2/start", NULL);
	post(200, "/v1/nodes/2/start", "{\"config\": {\"kit.int.min\": null}}");
	assert_int_equal(fb_cluster_broker(run.process.cluster, 2)->view.id, 2);
	kc_free(one);
}

/* Its id may be somebody else's by then. */
static void a_foreign_broker_can_take_its_id(void **state)
{
	struct kc_conn *controller = dial(&run, FB_CONTROLLER_ID);
	json_t *json;

	(void)state;
	post(200, "/v1/nodes/2/stop", NULL);
	json = talk(&run, controller, "BrokerRegistration", 4, "{'brokerId': 2, 'clusterId': '%s', 'incarnationId': "
		    "'kassayIncarnationAAAAQ', 'listeners': [{'name': 'PLAINTEXT', 'host': 'x', 'port': 1}], "
		    "'features': [{'name': 'metadata.version', 'minSupportedVersion': 7, 'maxSupportedVersion': 33}, "
		    "{'name': 'group.version', 'maxSupportedVersion': 1}, {'name': 'transaction.version', "
		    "'maxSupportedVersion': 2}, {'name': 'eligible.leader.replicas.version', "
		    "'maxSupportedVersion': 1}], "
		    "'logDirs': ['kassayDirectoryAAAAAAA']}", run.process.cluster->id);
	assert_int_equal(num_at(json, "errorCode"), 0);
	assert_int_equal(ask_num(&run, controller, "errorCode", "BrokerHeartbeat", 1,
				 "{'brokerId': 2, 'brokerEpoch': %d, "
				 "'currentMetadataOffset': 1000}",
				 (int)num_at(json, "brokerEpoch")), 0);
	json_decref(json);
	http_error(&run, 409, "POST", "/v1/nodes/2/start", NULL, "broker 2 cannot join: Another broker is registered "
		   "with that broker id. If the broker was recently restarted this should self-resolve once the "
		   "heartbeat manager expires the broker's session.");
	assert_int_equal(ask_num(&run, controller, "errorCode", "UnregisterBroker", 0, "{'brokerId': 2}"), 0);
	post(200, "/v1/nodes/2/start", NULL);
	kc_free(controller);
}

/* ---- before the level that keeps static values ---- */

static int start_early(void **state)
{
	static const char *set[] = {"kit.static.configs.level=28"};
	static char scenario[] = "fakebroker/tests/scenarios/good-restart-early.json";
	struct fb_settings settings = {.scenario = scenario, .set = {set, 1}};

	(void)state;
	running_start(&run, &settings);
	return 0;
}

/* What it will tell at the new level is known, whether it runs, was stopped, or tried to start in vain. */
static void a_refused_start_does_not_free_the_upgrade(void **state)
{
	struct kc_conn *one = dial(&run, 1);

	(void)state;
	assert_int_equal(upgrade(one, 28), KW_ERR_INVALID_CONFIG);
	post(200, "/v1/nodes/2/stop", NULL);
	assert_int_equal(upgrade(one, 28), KW_ERR_INVALID_CONFIG);
	refused(409, "refused", "/v1/nodes/2/start", "{\"config\": {\"kit.secret\": \"swordfish\"}}",
		"broker 2 cannot start: metadata.version 27 makes this configuration illegal: kit.secret: Invalid "
		"value [hidden] for configuration kit.secret: String must be one of: shibboleth (rule of level 25)");
	assert_int_equal(upgrade(one, 28), KW_ERR_INVALID_CONFIG);
	post(200, "/v1/nodes/2/start", "{\"config\": {\"kit.secret\": null, \"kit.int.min\": \"2048\"}}");
	assert_int_equal(upgrade(one, 28), 0);
	kc_free(one);
}

/* ---- a controller from before KIP-1294 ---- */

static int start_old(void **state)
{
	static const char *set[] = {"kit.registration.version=4"};
	static char scenario[] = "fakebroker/tests/scenarios/good-restart.json";
	struct fb_settings settings = {.scenario = scenario, .set = {set, 1}};

	(void)state;
	running_start(&run, &settings);
	return 0;
}

/* It is told nothing, so it refuses nothing. */
static void brokers_speak_to_an_old_controller_as_it_can(void **state)
{
	struct kc_conn *one = dial(&run, 1), *controller = dial(&run, FB_CONTROLLER_ID);
	const uint8_t *p;
	json_t *status;
	size_t n;

	(void)state;
	assert_int_equal(kc_version(controller, 62, -1), 4);
	tell(&run, controller, "BrokerRegistration", 5, "{'brokerId': 9, 'clusterId': 'x'}");
	assert_int_equal(kc_read_frame(controller, soon(), &p, &n, NULL), KT_ECLOSED);
	kc_free(controller);
	status = http_json(&run, 200, "GET", "/v1/status", NULL);
	assert_int_equal(json_array_size(at(status, "registrations.1.staticConfigs")), 0);
	json_decref(status);
	post(200, "/v1/nodes/2/stop", NULL);
	post(200, "/v1/nodes/2/start", "{\"config\": {\"kit.int.min\": \"0\"}}");
	assert_int_equal(upgrade(one, 28), 0);
	kc_free(one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, start_one, stop_all)
		T(a_stopped_broker_is_gone_for_clients),
		T(its_partitions_get_other_leaders),
		T(a_partition_without_other_replicas_waits_for_its_leader),
		T(a_consumer_learns_where_an_epoch_ended),
		T(topics_are_made_on_those_that_run),
		T(wrong_questions_are_answered),
		T(values_that_only_the_process_reads_are_refused),
		T(a_start_that_hangs_does_not_hold_up_the_api),
		T(a_start_that_is_refused_leaves_it_stopped),
		T(a_rolling_restart_with_corrected_values_frees_the_upgrade),
		T(an_unregistered_broker_no_longer_counts),
		T(a_foreign_broker_can_take_its_id),
		cmocka_unit_test_setup_teardown(a_refused_start_does_not_free_the_upgrade, start_early, stop_all),
		cmocka_unit_test_setup_teardown(brokers_speak_to_an_old_controller_as_it_can, start_old, stop_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
