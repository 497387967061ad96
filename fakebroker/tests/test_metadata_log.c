/* The metadata log: the same records, versions and batches as a Kafka 4.4.0 wrote over the same requests
 * (data/metadata_log_kafka_4.4.0.txt). */
#include "fakebroker/cluster/log_line.h"
#include "fakebroker/tests/http.h"
#include "fakebroker/tests/talk.h"
#include "lib/text/file.h"
#include "lib/wire/errors.h"
#include "lib/wire/set.h"

static const char zero_id[] = "AAAAAAAAAAAAAAAAAAAAAA";

/* ---- the requests ---- */

static struct running run;
static struct kc_conn *broker, *controller;

static void begin_with(int nodes, const char *level, bool reports)
{
	const char *no_report[] = {"kit.static.configs.level=40"};
	struct fb_settings settings = {.nodes = nodes, .metadata_version = level, .set = {no_report, reports ? 0 : 1}};

	running_start(&run, &settings);
	broker = dial(&run, 1);
	controller = dial(&run, FB_CONTROLLER_ID);
}

static void begin(const char *level, bool reports)
{
	begin_with(1, level, reports);
}

static void end(void)
{
	kc_free(broker);
	kc_free(controller);
	running_stop(&run);
}

static void create(const char *topics)
{
	json_decref(talk(&run, broker, "CreateTopics", 7, "{'topics': [%s], 'timeoutMs': 5000}", topics));
}

static void alter(int type, const char *name, const char *configs)
{
	assert_int_equal(ask_num(&run, broker, "responses.0.errorCode", "IncrementalAlterConfigs", 1,
				 "{'resources': [{'resourceType': %d, 'resourceName': '%s', 'configs': [%s]}]}", type,
				 name, configs), 0);
}

#define FEATURES                                                                                             \
	"{'name': 'metadata.version', 'minSupportedVersion': 7, 'maxSupportedVersion': 33}, "                \
	"{'name': 'kraft.version', 'minSupportedVersion': 0, 'maxSupportedVersion': 1}, "                    \
	"{'name': 'group.version', 'minSupportedVersion': 0, 'maxSupportedVersion': 1}, "                    \
	"{'name': 'transaction.version', 'minSupportedVersion': 0, 'maxSupportedVersion': 2}, "              \
	"{'name': 'eligible.leader.replicas.version', 'minSupportedVersion': 0, 'maxSupportedVersion': 1}, " \
	"{'name': 'share.version', 'minSupportedVersion': 0, 'maxSupportedVersion': 2}, "                    \
	"{'name': 'streams.version', 'minSupportedVersion': 0, 'maxSupportedVersion': 1}"

/* `more` ends the request. */
static int64_t enlist_with(int version, int id, const char *incarnation, const char *rack, const char *more)
{
	int64_t epoch = ask_num(&run, controller, "brokerEpoch", "BrokerRegistration", version,
				"{'brokerId': %d, 'clusterId': '%s', 'incarnationId': '%s', 'listeners': [{'name': "
				"'PLAINTEXT', 'host': 'h', "
				"'port': 9, 'securityProtocol': 0}], 'features': [" FEATURES
				"], 'rack': %s, 'logDirs': ['%s']%s}",
				id, run.process.cluster->id, incarnation, rack, incarnation, more);

	assert_true(epoch > 0);
	return epoch;
}

static int64_t enlist(int id, const char *incarnation, const char *rack)
{
	return enlist_with(4, id, incarnation, rack, "");
}

static void beat(int id, int64_t epoch, const char *wants)
{
	assert_int_equal(ask_num(&run, controller, "errorCode", "BrokerHeartbeat", 1,
				 "{'brokerId': %d, 'brokerEpoch': %lld, 'currentMetadataOffset': 1000000, %s}", id,
				 (long long)epoch, wants), 0);
}

static void dismiss(int id)
{
	assert_int_equal(ask_num(&run, controller, "errorCode", "UnregisterBroker", 0, "{'brokerId': %d}", id), 0);
}

static void finalize(int type, const char *updates)
{
	char list[600] = "", feature[100];
	int level, used;

	while (sscanf(updates, " %99s %d%n", feature, &level, &used) == 2) {
		size_t n = strlen(list);

		snprintf(list + n, sizeof list - n, "%s{'feature': '%s', 'maxVersionLevel': %d, 'upgradeType': %d}",
			 n ? ", " : "", feature, level, type);
		updates += used;
	}
	assert_int_equal(ask_num(&run, broker, "errorCode", "UpdateFeatures", 2, "{'featureUpdates': [%s]}", list), 0);
}

static const char none[] = "'wantFence': false, 'wantShutDown': false";

/* Topics, configurations and brokers come and go. */
static void live_a_life(void)
{
	int64_t epoch;

	create("{'name': 't1', 'numPartitions': 2, 'replicationFactor': 1, 'configs': [{'name': 'cleanup.policy', "
	       "'value': 'compact'}, {'name': 'retention.ms', 'value': '1000'}]}, {'name': 't2', 'numPartitions': 1, "
	       "'replicationFactor': 1}");
	alter(FB_TOPIC, "t1", "{'name': 'cleanup.policy', 'configOperation': 1, 'value': null}, {'name': "
			      "'retention.ms', 'configOperation': 0, 'value': '2000'}");
	alter(FB_BROKER, "", "{'name': 'log.cleaner.threads', 'configOperation': 0, 'value': '2'}");
	alter(FB_TOPIC, "t1", "{'name': 'retention.ms', 'configOperation': 0, 'value': '2000'}");   /* is so already */
	epoch = enlist(50, "YWFhYWFhYWFhYWFhYWFhYQ", "'r'");
	beat(50, epoch, none);
	beat(50, epoch, none);
	beat(50, epoch, "'wantFence': true");
	beat(50, epoch, none);
	beat(50, epoch, "'wantShutDown': true");
	dismiss(50);
	epoch = enlist(51, "Y2NjY2NjY2NjY2NjY2NjYw", "null");
	assert_int_equal(enlist(51, "Y2NjY2NjY2NjY2NjY2NjYw", "null"), epoch);
	assert_true(enlist(51, "ZGRkZGRkZGRkZGRkZGRkZA", "null") > epoch);
	dismiss(51);
	json_decref(talk(&run, broker, "DeleteTopics", 6,
			 "{'topics': [{'name': 't2', 'topicId': '%s'}], 'timeoutMs': 5000}",
			 zero_id));
}

static void climb(void)
{
	alter(FB_BROKER, "1", "{'name': 'min.insync.replicas', 'configOperation': 0, 'value': '1'}");
	finalize(FB_UPGRADE, "metadata.version 8");
	finalize(FB_UPGRADE, "metadata.version 14");
	finalize(FB_UPGRADE, "metadata.version 17");
	create("{'name': 't3', 'numPartitions': 1, 'replicationFactor': 1}");
	enlist(52, "ZWVlZWVlZWVlZWVlZWVlZQ", "null");
	dismiss(52);
	finalize(FB_UPGRADE, "metadata.version 23");
	create("{'name': 't4', 'numPartitions': 1, 'replicationFactor': 1}");
	finalize(FB_UPGRADE, "group.version 1 metadata.version 29 eligible.leader.replicas.version 1");
	finalize(FB_UPGRADE, "metadata.version 30");
	finalize(FB_UPGRADE, "metadata.version 30");
	finalize(FB_UPGRADE, "transaction.version 2");
	finalize(FB_SAFE_DOWNGRADE, "transaction.version 1");
	finalize(FB_UPGRADE, "kraft.version 1");
}

/* ---- the records ---- */

struct text {
	char *s;
	size_t n, size;
	int64_t batch;
};

static void put(struct text *text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void put(struct text *text, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	text->n += (size_t)vsnprintf(text->s + text->n, text->size - text->n, fmt, ap);
	va_end(ap);
	assert_true(text->n < text->size);
}

static void put_value(struct text *text, const char *name, const json_t *value)
{
	if (json_is_string(value))
		put(text, " %s=%s", name, json_string_value(value));
	else if (json_is_null(value))
		put(text, " %s=null", name);
	else if (json_is_integer(value))
		put(text, " %s=%lld", name, (long long)json_integer_value(value));
	else
		put(text, " %s=%s", name, json_is_true(value) ? "true" : "false");
}

static void put_ids(struct text *text, const char *name, json_t *ids)
{
	json_t *id;
	size_t i;

	put(text, " %s=", name);
	json_array_foreach(ids, i, id)
		put(text, i ? ",%lld" : "%lld", (long long)json_integer_value(id));
}

/* A line of the data file. */
static void put_record(struct text *text, json_t *record, int64_t batch)
{
	static const char *const values[] = {
		"name", "featureLevel", "resourceType", "resourceName", "value", "partitionId", "leader", "leaderEpoch",
		"partitionEpoch", "brokerId", "rack", "fenced", "inControlledShutdown",
	};
	static const char *const ids[] = {"replicas", "isr", "eligibleLeaderReplicas", "lastKnownElr"};
	static const char *const arrays[] = {"directories", "logDirs", "cordonedLogDirs", "endPoints", "features"};
	json_t *data = json_object_get(record, "data");

	put(text, "%s %s %lld", batch == text->batch ? "     " : "batch", str_at(record, "type"),
	    (long long)num_at(record, "version"));
	text->batch = batch;
	for (size_t i = 0; !json_is_true(json_object_get(record, "control")) && i < sizeof values / sizeof *values; i++)
		if (json_object_get(data, values[i]))
			put_value(text, values[i], json_object_get(data, values[i]));
	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
		if (json_object_get(data, ids[i]))
			put_ids(text, ids[i], json_object_get(data, ids[i]));
	for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
		if (json_object_get(data, arrays[i]))
			put(text, " %s=%zu", arrays[i], json_array_size(json_object_get(data, arrays[i])));
	put(text, "\n");
}

static int collect_base(void *arg, const struct fb_metadata_record *record)
{
	json_t *bases = arg;

	json_array_append_new(bases, json_integer(record->baseOffset));
	return 0;
}

/* The log from an offset on; with `only`, the records of this type, each in front of which a batch begins. */
static char *log_text(size_t from, const char *only)
{
	struct text text = {malloc(65536), 0, 65536, -1};
	json_t *bases = json_array(), *log, *record;
	size_t i;

	assert_int_equal(fb_metadata_each(&run.process.cluster->metadata, 0, collect_base, bases), 0);
	log = http_json(&run, 200, "GET", "/v1/metadata-log", NULL);
	assert_int_equal(json_array_size(at(log, "records")), json_array_size(bases));
	json_array_foreach(at(log, "records"), i, record) {
		assert_int_equal(num_at(record, "offset"), i);
		if (i >= from && (!only || strcmp(str_at(record, "type"), only) == 0))
			put_record(&text, record, json_integer_value(json_array_get(bases, i)));
	}
	assert_int_equal(num_at(log, "logStartOffset"), 0);
	assert_int_equal(num_at(log, "logEndOffset"), i);
	json_decref(log);
	json_decref(bases);
	return text.s;
}

/* What Kafka wrote: the lines behind "# WHEN", up to the next one. */
static char *kafka_text(const char *when)
{
	char mark[40], *text, *from, *to;
	size_t n;

	assert_int_equal(kt_file_read("fakebroker/tests/data/metadata_log_kafka_4.4.0.txt", 1 << 20, &text, &n, NULL),
			 0);
	snprintf(mark, sizeof mark, "# %s\n", when);
	from = strstr(text, mark);
	assert_non_null(from);
	from += strlen(mark);
	to = strchr(from, '#');
	if (to)
		*to = '\0';
	memmove(text, from, strlen(from) + 1);
	return text;
}

static void check(const char *when, size_t from, const char *only)
{
	char *wanted = kafka_text(when), *got = log_text(from, only);

	if (strcmp(wanted, got) != 0)
		print_error("--- kafka\n%s--- fakebroker\n%s", wanted, got);
	assert_string_equal(got, wanted);
	free(wanted);
	free(got);
}

static void as_kafka_from_level_7(void **state)
{
	(void)state;
	begin("7", false);
	live_a_life();
	climb();
	check("level 7", 0, NULL);
	end();
}

static void as_kafka_at_level_33(void **state)
{
	(void)state;
	begin("33", false);
	live_a_life();
	check("level 33", 0, NULL);
	end();
}

/* ---- brokers that go and come ---- */

static void create_on(const char *name, const char *assignments, const char *configs)
{
	char topic[400];

	snprintf(topic, sizeof topic, "{'name': '%s', 'numPartitions': -1, 'replicationFactor': -1, 'assignments': "
		 "[%s], 'configs': [%s]}", name, assignments, configs);
	create(topic);
}

static void stop(int id)
{
	char path[40];

	snprintf(path, sizeof path, "/v1/nodes/%d/stop", id);
	json_decref(http_json(&run, 200, "POST", path, NULL));
}

static void start(int id)
{
	char path[40];

	snprintf(path, sizeof path, "/v1/nodes/%d/start", id);
	json_decref(http_json(&run, 200, "POST", path, NULL));
}

#define ON_2_3 "{'partitionIndex': 0, 'brokerIds': [2, 3]}"

/* Kafka's heartbeats of that time told no cordoned directories. */
static void without_cordoned(char *text)
{
	char *at = strstr(text, "cordonedLogDirs"), *end;

	if (!at)
		return;
	end = strchr(at, '\n') + 1;
	while (at > text && at[-1] != '\n')
		at--;
	memmove(at, end, strlen(end) + 1);
}

static void check_leaders(const char *level, const char *when)
{
	char *wanted = kafka_text(when), *got;
	size_t from;

	begin_with(3, level, false);
	create_on("a", ON_2_3 ", {'partitionIndex': 1, 'brokerIds': [3, 2]}", "");
	create_on("b", "{'partitionIndex': 0, 'brokerIds': [2]}", "");
	from = (size_t)run.process.cluster->metadata.end;
	stop(2);
	start(2);
	got = log_text(from, NULL);
	without_cordoned(got);
	assert_string_equal(got, wanted);
	free(got);
	free(wanted);
	end();
}

static void leaders_change_as_in_kafka(void **state)
{
	(void)state;
	check_leaders("33", "leaders at level 33");
	check_leaders("7", "leaders at level 7");
}

static void eligible_leaders_are_kept_as_in_kafka(void **state)
{
	(void)state;
	begin_with(3, "33", false);
	create_on("c", ON_2_3, "{'name': 'min.insync.replicas', 'value': '2'}");
	stop(2);
	stop(3);
	start(2);
	start(3);
	check("two in sync at level 33", 0, "PARTITION_CHANGE_RECORD");
	end();
}

/* Without an ISR no topic is made. */
static void a_topic_begins_with_replicas_that_run(void **state)
{
	json_t *json;
	char *got;

	(void)state;
	begin_with(3, "33", false);
	stop(2);
	create_on("c", ON_2_3, "");
	got = log_text((size_t)run.process.cluster->metadata.end - 1, NULL);
	assert_string_equal(got, "batch PARTITION_RECORD 2 partitionId=0 leader=3 leaderEpoch=0 partitionEpoch=0 "
				 "replicas=2,3 isr=3 directories=2\n");
	free(got);
	json = talk(&run, broker, "CreateTopics", 7, "{'topics': [{'name': 'd', 'numPartitions': -1, "
		    "'replicationFactor': -1, 'assignments': [{'partitionIndex': 0, 'brokerIds': [2]}]}], "
		    "'timeoutMs': 5000}");
	assert_int_equal(num_at(json, "topics.0.errorCode"), KW_ERR_INVALID_REPLICA_ASSIGNMENT);
	assert_string_equal(str_at(json, "topics.0.errorMessage"), "All brokers specified in the manual partition "
			    "assignment for partition 0 are fenced or in controlled shutdown.");
	json_decref(json);
	end();
}

/* Below 3.6-IV0 every replica that goes costs an epoch. */
static void a_follower_goes_as_in_kafka(void **state)
{
	static const char *const levels[] = {"11", "12"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		char when[40];

		begin_with(3, levels[i], false);
		create_on("c", ON_2_3, "");
		stop(3);
		snprintf(when, sizeof when, "follower at level %s", levels[i]);
		check(when, 0, "PARTITION_CHANGE_RECORD");
		assert_int_equal(run.process.cluster->topics[0]->partitions[0].leaderEpoch, 1 - i);
		end();
	}
}

/* As if the last heartbeat were older than broker.session.timeout.ms when the controller looks. */
static void fall_silent(int id)
{
	struct fb_cluster *cluster = run.process.cluster;

	pthread_rwlock_wrlock(&cluster->lock);
	fb_cluster_broker(cluster, id)->contact_ns -= 9001 * INT64_C(1000000);
	pthread_rwlock_unlock(&cluster->lock);
	fb_cluster_tick(cluster, false);
}

/* Once for each session; Kafka writes it also when the broker had asked to be fenced. */
static void silence_is_recorded(void **state)
{
	static const char fenced[] = "batch BROKER_REGISTRATION_CHANGE_RECORD 0 brokerId=50 fenced=1\n";
	int64_t epoch, offset;
	char *got;

	(void)state;
	begin("29", false);
	epoch = enlist(50, "YWFhYWFhYWFhYWFhYWFhYQ", "null");
	beat(50, epoch, none);
	for (int asks = 0; asks <= 1; asks++) {
		if (asks)
			beat(50, epoch, "'wantFence': true");
		offset = run.process.cluster->metadata.end;
		fall_silent(50);
		got = log_text((size_t)offset, NULL);
		assert_string_equal(got, fenced);
		free(got);
		fb_cluster_tick(run.process.cluster, false);
		assert_int_equal(run.process.cluster->metadata.end, offset + 1);
	}
	end();
}

/* ---- KIP-1294's version ---- */

static void static_configurations_are_recorded(void **state)
{
	json_t *log, *record;

	(void)state;
	begin("33", true);
	log = http_json(&run, 200, "GET", "/v1/metadata-log?from=11&limit=1", NULL);
	record = at(log, "records.0");
	assert_string_equal(str_at(record, "type"), "REGISTER_BROKER_RECORD");
	assert_int_equal(num_at(record, "version"), 5);
	assert_int_equal(num_at(record, "data.brokerEpoch"), num_at(record, "offset"));
	assert_string_equal(str_at(record, "data.staticConfigs.0.name"), "kit.control.url");
	assert_string_equal(str_at(record, "data.staticConfigs.0.value"), run.process.cluster->control_url);
	assert_int_equal(json_array_size(at(log, "records")), 1);
	json_decref(log);
	end();
}

static void assert_nowhere(const char *path, const char *secret)
{
	struct http http = http_ask(&run, "GET", path, NULL);

	assert_int_equal(http.status, 200);
	assert_null(strstr(http.body, secret));
	http_free(&http);
}

/* Of our own broker's password, and of one that a broker sends in spite of the flag, only the flag is told. */
static void secrets_are_not_recorded(void **state)
{
	static const char secret[] = "kittens-and-keys";
	const char *node_set[] = {"1:ssl.keystore.password=kittens-and-keys"};
	struct fb_settings settings = {.metadata_version = "33", .node_set = {node_set, 1}};
	struct kw_buf segment;
	json_t *log, *statics;

	(void)state;
	running_start(&run, &settings);
	broker = dial(&run, 1);
	controller = dial(&run, FB_CONTROLLER_ID);
	enlist_with(5, 50, "YWFhYWFhYWFhYWFhYWFhYQ", "null", ", 'staticConfigs': [{'name': 'ssl.key.password', "
		    "'value': 'kittens-and-keys', 'isSensitive': true}]");
	log = http_json(&run, 200, "GET", "/v1/metadata-log?from=11", NULL);
	statics = at(log, "records.0.data.staticConfigs");
	assert_int_equal(json_array_size(statics), 2);
	assert_string_equal(str_at(statics, "1.name"), "ssl.keystore.password");
	assert_null(str_at(statics, "1.value"));
	assert_true(num_at(statics, "1.isSensitive"));
	statics = at(log, "records.3.data.staticConfigs");
	assert_string_equal(str_at(statics, "0.name"), "ssl.key.password");
	assert_null(str_at(statics, "0.value"));
	assert_true(num_at(statics, "0.isSensitive"));
	json_decref(log);
	assert_nowhere("/v1/metadata-log", secret);
	assert_nowhere("/v1/status", secret);
	kw_buf_init(&segment, 0);
	fb_metadata_segment(&run.process.cluster->metadata, &segment);
	assert_null(memmem(segment.p, segment.n, secret, strlen(secret)));
	kw_buf_fini(&segment);
	end();
}

/* ---- what was refused or only asked leaves nothing ---- */

static void refusals_write_nothing(void **state)
{
	int64_t last;

	(void)state;
	begin("33", true);
	last = run.process.cluster->metadata.end;
	create("{'name': 'bad name', 'numPartitions': 1, 'replicationFactor': 1}");
	json_decref(talk(&run, broker, "CreateTopics", 7, "{'topics': [{'name': 'v', 'numPartitions': 1, "
			 "'replicationFactor': 1}], 'timeoutMs': 5000, 'validateOnly': true}"));
	json_decref(talk(&run, broker, "UpdateFeatures", 2, "{'featureUpdates': [{'feature': 'metadata.version', "
			 "'maxVersionLevel': 99, 'upgradeType': 1}]}"));
	json_decref(talk(&run, broker, "IncrementalAlterConfigs", 1, "{'resources': [{'resourceType': 4, "
			 "'resourceName': '', 'configs': [{'name': 'log.cleaner.threads', 'configOperation': 0, "
			 "'value': '2'}]}], 'validateOnly': true}"));
	/* Legal by itself, but the class cannot be had. */
	json_decref(talk(&run, broker, "IncrementalAlterConfigs", 1, "{'resources': [{'resourceType': 4, "
			 "'resourceName': '', 'configs': [{'name': 'record.validator.classes', 'configOperation': 0, "
			 "'value': 'Nope'}]}]}"));
	create("{'name': 't', 'numPartitions': 1, 'replicationFactor': 1}");
	assert_int_equal(run.process.cluster->metadata.end, last + 2);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_kafka_from_level_7),
		cmocka_unit_test(as_kafka_at_level_33),
		cmocka_unit_test(leaders_change_as_in_kafka),
		cmocka_unit_test(eligible_leaders_are_kept_as_in_kafka),
		cmocka_unit_test(a_topic_begins_with_replicas_that_run),
		cmocka_unit_test(a_follower_goes_as_in_kafka),
		cmocka_unit_test(silence_is_recorded),
		cmocka_unit_test(static_configurations_are_recorded),
		cmocka_unit_test(secrets_are_not_recorded),
		cmocka_unit_test(refusals_write_nothing),
	};

	fb_log_level(KASSAY_ERROR + 1);
	return cmocka_run_group_tests_name("metadata log", tests, NULL, NULL);
}
