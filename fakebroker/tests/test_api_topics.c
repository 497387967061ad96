/* Topics over the wire: CreateTopics, DeleteTopics. What is expected was measured on Apache Kafka 4.4.0 with one
 * broker, unless a line says that it is the kit's. */
#include "fakebroker/cluster/log_line.h"
#include "fakebroker/tests/http.h"
#include "fakebroker/tests/talk.h"

static struct running run;
static struct kc_conn *conn;

static int start(int nodes)
{
	struct fb_settings settings = {.nodes = nodes};

	running_start(&run, &settings);
	conn = dial(&run, 1);
	return 0;
}

static int one_broker(void **state)
{
	(void)state;
	return start(1);
}

static int three_brokers(void **state)
{
	(void)state;
	return start(3);
}

static int tear_down(void **state)
{
	(void)state;
	kc_free(conn);
	running_stop(&run);
	return 0;
}

/* ---- CreateTopics ---- */

#define TOPIC(name) "{'name': '" name "', 'numPartitions': 1, 'replicationFactor': 1}"
#define SIZED(name, n, rf) "{'name': '" name "', 'numPartitions': " #n ", 'replicationFactor': " #rf "}"
#define PLACED(name, n, rf, assignments) \
	"{'name': '" name "', 'numPartitions': " #n ", 'replicationFactor': " #rf ", 'assignments': [" assignments "]}"
#define AT(partition, brokers) "{'partitionIndex': " #partition ", 'brokerIds': [" brokers "]}"

enum { TIMED_OUT = 7, INVALID_TOPIC = 17, EXISTS = 36, INVALID_PARTITIONS = 37, INVALID_RF = 38, INVALID_PLACES = 39,
       INVALID_CONFIG = 40, INVALID_REQUEST = 42, POLICY_VIOLATION = 44 };

#define TOO_MANY "Unable to perform excessively large batch operation."
#define X50 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define X250 X50 X50 X50 X50 X50

/* One after the other on one broker. The answers are those of the topics in their order. */
static const struct {
	const char *topics;
	struct { int16_t error; const char *message; } answers[3];
} creations[] = {
	{TOPIC("c-a"), {{0, NULL}}},
	{TOPIC("c-a"), {{EXISTS, "Topic 'c-a' already exists."}}},
	{SIZED("none", 0, 1), {{INVALID_PARTITIONS, "Number of partitions was set to an invalid non-positive value."}}},
	{SIZED("none", -2, 1), {{INVALID_PARTITIONS,
				 "Number of partitions was set to an invalid non-positive value."}}},
	{SIZED("none", 1, 0),
	 {{INVALID_RF, "Replication factor must be larger than 0, or -1 to use the default value."}}},
	{SIZED("none", 1, -2),
	 {{INVALID_RF, "Replication factor must be larger than 0, or -1 to use the default value."}}},
	{SIZED("none", 1, 3),
	 {{INVALID_RF, "Unable to replicate the partition 3 time(s): The target replication factor of 3 cannot be "
		       "reached because only 1 broker(s) are registered or some brokers have all their log "
		       "directories cordoned."}}},
	{SIZED("defaults", -1, -1), {{0, NULL}}},
	{TOPIC("a b"),
	 {{INVALID_TOPIC, "Topic name is invalid: 'a b' contains one or more characters other than ASCII "
			  "alphanumerics, '.', '_' and '-'"}}},
	{TOPIC("."), {{INVALID_TOPIC, "Topic name is invalid: '.' is not allowed"}}},
	{TOPIC(".."), {{INVALID_TOPIC, "Topic name is invalid: '..' is not allowed"}}},
	{TOPIC(""), {{INVALID_TOPIC, "Topic name is invalid: the empty string is not allowed"}}},
	{TOPIC(X250),
	 {{INVALID_TOPIC,
	   "Topic name is invalid: the length of '" X250 "' is longer than the max allowed length 249"}}},
	/* names are held against those that there are, not against each other */
	{TOPIC("x_y") "," TOPIC("x.y"), {{0, NULL}, {0, NULL}}},
	{TOPIC("x.y"), {{EXISTS, "Topic 'x.y' already exists."}}},
	{TOPIC("x-y"), {{0, NULL}}},
	{TOPIC("p.q.r") "," TOPIC("pq_r"), {{0, NULL}, {0, NULL}}},
	{TOPIC("p_q.r") "," TOPIC("p.q_r") "," TOPIC("pq.r"),
	 {{INVALID_TOPIC, "Topic 'p_q.r' collides with existing topic: p.q.r"},
	  {INVALID_TOPIC, "Topic 'p.q_r' collides with existing topic: p.q.r"},
	  {INVALID_TOPIC, "Topic 'pq.r' collides with existing topic: pq_r"}}},
	{SIZED("p_q_r", 0, 1), {{INVALID_TOPIC, "Topic 'p_q_r' collides with existing topic: p.q.r"}}},
	{TOPIC("_") "," TOPIC("__"), {{0, NULL}, {0, NULL}}},
	{TOPIC(".") "," TOPIC("..") "," TOPIC("._"),
	 {{INVALID_TOPIC, "Topic '.' collides with existing topic: _"},
	  {INVALID_TOPIC, "Topic '..' collides with existing topic: __"},
	  {INVALID_TOPIC, "Topic '._' collides with existing topic: __"}}},
	{TOPIC("__consumer_offsets"), {{0, NULL}}},
	{TOPIC("__cluster_metadata"), {{INVALID_REQUEST,
					"Creation of internal topic __cluster_metadata is prohibited."}}},
	/* what the controller never sees comes last */
	{TOPIC("twice") "," TOPIC("__cluster_metadata") "," TOPIC("c-b") "," TOPIC("twice"),
	 {{0, NULL}, {INVALID_REQUEST, "Duplicate topic name."},
	  {INVALID_REQUEST, "Creation of internal topic __cluster_metadata is prohibited."}}},
	{TOPIC("__cluster_metadata") "," TOPIC("__cluster_metadata"), {{INVALID_REQUEST, "Duplicate topic name."}}},
	{PLACED("none", 1, 1, AT(0, "1")),
	 {{INVALID_REQUEST, "A manual partition assignment was specified, but replication factor was not set to -1."}}},
	{PLACED("none", 1, -1, AT(0, "1")),
	 {{INVALID_REQUEST, "A manual partition assignment was specified, but numPartitions was not set to -1."}}},
	{PLACED("none", -1, -1, AT(0, "99")),
	 {{INVALID_PLACES, "The manual partition assignment includes broker 99, but no such broker is registered."}}},
	{PLACED("none", -1, -1, AT(0, "99, 98, 1, 1")),
	 {{INVALID_PLACES, "The manual partition assignment includes the broker 1 more than once."}}},
	{PLACED("none", -1, -1, AT(0, "")),
	 {{INVALID_PLACES, "The manual partition assignment includes an empty replica list."}}},
	{PLACED("none", -1, -1, AT(0, "1") "," AT(0, "1")),
	 {{INVALID_PLACES, "Found multiple manual partition assignments for partition 0"}}},
	{PLACED("none", -1, -1, AT(1, "1")),
	 {{INVALID_PLACES, "partitions should be a consecutive 0-based integer sequence"}}},
	{PLACED("none", -1, -1, AT(-3, "1")),
	 {{INVALID_PLACES, "partitions should be a consecutive 0-based integer sequence"}}},
	{PLACED("none", -1, -1, AT(0, "1") "," AT(2, "1")),
	 {{INVALID_PLACES, "partitions should be a consecutive 0-based integer sequence"}}},
	{PLACED("placed", -1, -1, AT(1, "1") "," AT(0, "1")), {{0, NULL}}},
	{SIZED("none", 6000, 1) "," TOPIC("no") "," SIZED("none2", 5000, 1),
	 {{POLICY_VIOLATION, "Excessively large number of partitions per request."},
	  {POLICY_VIOLATION, "Excessively large number of partitions per request."},
	  {POLICY_VIOLATION, "Excessively large number of partitions per request."}}},
	/* a record for the topic and one for each partition; what is refused goes with the rest */
	{SIZED("none", 10000, 1), {{POLICY_VIOLATION, TOO_MANY}}},
	{SIZED("none", 9996, 1) "," SIZED("none2", 3, 1) "," TOPIC("a b"),
	 {{POLICY_VIOLATION, TOO_MANY}, {POLICY_VIOLATION, TOO_MANY}, {POLICY_VIOLATION, TOO_MANY}}},
	{SIZED("wide", 9999, 1), {{0, NULL}}},
	/* what is refused anyway counts as well, what is named twice does not */
	{SIZED("none", 20000, 1) "," SIZED("none", 20000, 1), {{INVALID_REQUEST, "Duplicate topic name."}}},
};

static void check_message(json_t *json, const char *path, const char *wanted)
{
	const char *message = str_at(json, path);

	if (!message || !wanted)
		assert_true(message == wanted);
	else
		assert_string_equal(message, wanted);
}

static void creations_are_judged(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof creations / sizeof *creations; i++) {
		json_t *json = talk(&run, conn, "CreateTopics", 7, "{'topics': [%s]}", creations[i].topics);
		json_t *topics = at(json, "topics"), *topic;
		size_t k;

		json_array_foreach(topics, k, topic) {
			assert_in_range(k, 0, 2);
			if (num_at(topic, "errorCode") != creations[i].answers[k].error)
				fail_msg("%s: %s", creations[i].topics, json_dumps(topic, 0));
			check_message(topic, "errorMessage", creations[i].answers[k].message);
			assert_int_equal(num_at(topic, "numPartitions") > 0, !creations[i].answers[k].error);
			assert_int_equal(json_array_size(at(topic, "configs")) > 0, !creations[i].answers[k].error);
			assert_int_equal(strcmp(str_at(topic, "topicId"), "AAAAAAAAAAAAAAAAAAAAAA") != 0,
					 !creations[i].answers[k].error);
		}
		assert_true(k == 3 || (!creations[i].answers[k].error && !creations[i].answers[k].message));
		json_decref(json);
	}
	assert_null(fb_topic_find(run.process.cluster, kw_str("none")));
	assert_int_equal(fb_topic_find(run.process.cluster, kw_str("placed"))->npartitions, 2);
}

#define WRONG(value, name, what) "Invalid value " value " for configuration " name ": " what

static const struct {
	const char *configs;       /* NAME=VALUE, with a comma between; VALUE "null" is null */
	int16_t error;
	const char *message;
} configs[] = {
	{"no.such.config=1", INVALID_CONFIG, "Unknown topic config name: no.such.config"},
	{"num.io.threads=4", INVALID_CONFIG, "Unknown topic config name: num.io.threads"},
	{"message.format.version=3.0", INVALID_CONFIG, "Unknown topic config name: message.format.version"},
	{"=1", INVALID_CONFIG, "Unknown topic config name: "},
	{"retention.ms=abc", INVALID_CONFIG, WRONG("abc", "retention.ms", "Not a number of type LONG")},
	{"retention.ms=", INVALID_CONFIG, WRONG("", "retention.ms", "Not a number of type LONG")},
	{"retention.ms=null", INVALID_CONFIG, "Null value not supported for topic configs: retention.ms"},
	{"retention.ms=-2", INVALID_CONFIG, WRONG("-2", "retention.ms", "Value must be at least -1")},
	{"segment.bytes=1", INVALID_CONFIG, WRONG("1", "segment.bytes", "Value must be at least 1048576")},
	{"max.message.bytes=-1", INVALID_CONFIG, WRONG("-1", "max.message.bytes", "Value must be at least 0")},
	{"max.message.bytes=99999999999", INVALID_CONFIG,
	 WRONG("99999999999", "max.message.bytes", "Not a number of type INT")},
	{"cleanup.policy=foo", INVALID_CONFIG,
	 WRONG("foo", "cleanup.policy", "String must be one of: compact, delete")},
	{"compression.type=lzo", INVALID_CONFIG,
	 WRONG("lzo", "compression.type", "String must be one of: uncompressed, zstd, lz4, snappy, gzip, producer")},
	{"preallocate=maybe", INVALID_CONFIG,
	 WRONG("maybe", "preallocate", "Expected value to be either true or false")},
	{"min.insync.replicas=0", INVALID_CONFIG, WRONG("0", "min.insync.replicas", "Value must be at least 1")},
	{"local.retention.ms=2000,retention.ms=1000", 0, NULL},
	{"min.compaction.lag.ms=10,max.compaction.lag.ms=5", INVALID_CONFIG,
	 "conflict topic config setting min.compaction.lag.ms (10) > max.compaction.lag.ms (5)"},
	{"remote.storage.enable=true", INVALID_CONFIG,
	 "Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote log storage."},
	{"retention.ms=abc,compression.type=lzo", INVALID_CONFIG,
	 WRONG("abc", "retention.ms", "Not a number of type LONG")},
	{"retention.ms=1000,retention.ms=2000", 0, NULL},
	/* the kit's: validators are topic configurations here */
	{"record.validator.classes=NonEmptyValue", 0, NULL},
	{"record.validator.classes=NonEmptyValu", INVALID_CONFIG,
	 "no validator 'NonEmptyValu', did you mean 'NonEmptyValue'"},
	{"record.validator.classes=RequiredHeader", INVALID_CONFIG,
	 "validator RequiredHeader: option name is not set: it must be a text that is not empty"},
	{"record.validator.classes=RequiredHeader,record.validator.RequiredHeader.name=trace", 0, NULL},
	{"record.validator.RequiredHeader.nmae=trace", INVALID_CONFIG,
	 "'RequiredHeader.nmae' is no option, did you mean 'name'"},
	{"record.validator.Elsewhere.nmae=trace", 0, NULL},
};

/* 'configs' of a request. */
static void put_configs(char out[2000], const char *list)
{
	size_t n = 0;

	for (const char *p = list; *p; p += strcspn(p, ",") + (p[strcspn(p, ",")] == ',')) {
		int name = (int)strcspn(p, "="), value = (int)strcspn(p, ",") - name - 1;
		bool null = value == 4 && strncmp(p + name + 1, "null", 4) == 0;

		n += (size_t)snprintf(out + n, 2000 - n, "%s{'name': '%.*s', 'value': %s%.*s%s}", n ? ", " : "", name,
				      p, null ? "" : "'", value, p + name + 1, null ? "" : "'");
	}
}

static void configurations_are_judged(void **state)
{
	static const struct { int version; const char *validate; } ways[] = {{7, "true"}, {4, "true"}, {2, "false"}};
	char text[2000];

	(void)state;
	for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
		put_configs(text, configs[i].configs);
		for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
			json_t *json = talk(&run, conn, "CreateTopics", ways[w].version,
					    "{'topics': [{'name': 'config-%zu', "
					    "'numPartitions': 1, 'replicationFactor': 1, 'configs': [%s]}], "
					    "'validateOnly': %s}",
					    i, text, ways[w].validate);

			if (num_at(json, "topics.0.errorCode") != configs[i].error)
				fail_msg("%s: %s", configs[i].configs, json_dumps(json, 0));
			check_message(json, "topics.0.errorMessage", configs[i].message);
			json_decref(json);
		}
	}
}

static void what_is_set_is_there(void **state)
{
	json_t *json = talk(&run, conn, "CreateTopics", 7, "{'topics': [{'name': 'set', 'numPartitions': 2, "
			    "'replicationFactor': -1, 'configs': [{'name': 'retention.ms', 'value': '1'}, {'name': "
			    "'retention.ms', 'value': '2'}]}]}");
	json_t *config;
	size_t i;

	(void)state;
	assert_int_equal(num_at(json, "topics.0.numPartitions"), 2);
	assert_int_equal(num_at(json, "topics.0.replicationFactor"), 1);
	json_array_foreach(at(json, "topics.0.configs"), i, config) {
		bool ours = strcmp(str_at(config, "name"), "retention.ms") == 0;
		bool elr = strcmp(str_at(config, "name"), "min.insync.replicas") == 0;   /* see fb_elr_changes() */

		assert_int_equal(num_at(config, "configSource"), ours ? 1 : elr ? 3 : 5);
		if (ours)
			assert_string_equal(str_at(config, "value"), "2");
	}
	json_decref(json);
	json = talk(&run, conn, "DescribeConfigs", 4, "{'resources': [{'resourceType': 2, 'resourceName': 'set', "
		    "'configurationKeys': ['retention.ms']}]}");
	assert_string_equal(str_at(json, "results.0.configs.0.value"), "2");
	assert_null(str_at(json, "results.0.configs.0.documentation"));
	json_decref(json);
	json = talk(&run, conn, "DescribeConfigs", 4, "{'resources': [{'resourceType': 2, 'resourceName': 'set', "
		    "'configurationKeys': ['flush.ms', 'retention.ms']}], 'includeDocumentation': true}");
	assert_null(str_at(json, "results.0.configs.0.documentation"));   /* nothing is done with it */
	assert_string_equal(str_at(json, "results.0.configs.1.documentation"),
			    "Segments whose newest record is older by the "
			    "broker's clock are removed; -1: never.");
	json_decref(json);
}

static void validate_only_leaves_nothing(void **state)
{
	int64_t offset = run.process.cluster->metadata.end;

	(void)state;
	assert_int_equal(ask_num(&run, conn, "topics.0.errorCode", "CreateTopics", 7, "{'topics': [{'name': 'dry', "
				 "'numPartitions': 1, 'replicationFactor': 1, 'configs': [{'name': 'retention.ms', "
				 "'value': '5'}]}], 'validateOnly': true}"), 0);
	assert_int_equal(ask_num(&run, conn, "topics.0.errorCode", "Metadata", 12, "{'topics': [{'name': 'dry'}], "
				 "'allowAutoTopicCreation': false}"), 3);
	assert_int_equal(run.process.cluster->metadata.end, offset);
	assert_int_equal(ask_num(&run, conn, "topics.0.errorCode", "CreateTopics", 7,
				 "{'topics': [" TOPIC("dry") "]}"), 0);
	assert_int_equal(fb_configs_long(run.process.cluster->configs, FB_TOPIC, kw_str("dry"), 1, "retention.ms", 0),
			 604800000);
}

/* A topic or a partition is a record each, a configuration is another: 10,000 and no more. */
static struct kw_CreateTopicsResponse *create_many(int32_t n, bool configured)
{
	static struct kw_CreateTopicsRequest_CreatableTopicConfig config;
	struct kw_CreateTopicsRequest request = {.timeoutMs = 1000, .validateOnly = true};

	config.name = kw_str("retention.ms");
	config.value = kw_str("1");
	request.topics.v = kw_new_array(&kw_CreateTopicsRequest_CreatableTopic_struct, n, &run.arena);
	request.topics.n = n;
	for (int32_t i = 0; i < n; i++) {
		request.topics.v[i].name = kw_str(kw_sprintf(&run.arena, "m%d", i));
		request.topics.v[i].numPartitions = request.topics.v[i].replicationFactor = 1;
	}
	if (configured) {
		request.topics.v[n / 2].configs.v = &config;
		request.topics.v[n / 2].configs.n = 1;
	}
	return call(&run, conn, 19, 7, &request);
}

static void requests_are_bounded(void **state)
{
	static const struct { int n; bool configured; int16_t error; } rows[] = {
		{5000, false, 0}, {5000, true, POLICY_VIOLATION}, {5001, false, POLICY_VIOLATION},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct kw_CreateTopicsResponse *response = create_many(rows[i].n, rows[i].configured);

		assert_int_equal(response->topics.n, rows[i].n);
		for (int32_t k = 0; k < rows[i].n; k++) {
			assert_int_equal(response->topics.v[k].errorCode, rows[i].error);
			assert_true(rows[i].error ? kw_str_is(response->topics.v[k].errorMessage, TOO_MANY)
						  : response->topics.v[k].errorMessage.n < 0);
			assert_int_equal(response->topics.v[k].configs.n > 0, !rows[i].error);
		}
		kw_arena_reset(&run.arena);
	}
	assert_null(fb_topic_find(run.process.cluster, kw_str("m0")));
	assert_int_equal(run.process.cluster->metadata.nrecords, 0);
}

/* ---- DeleteTopics ---- */

static void deletions_are_judged(void **state)
{
	char id[23];
	json_t *json;

	(void)state;
	json_decref(talk(&run, conn, "CreateTopics", 7,
			 "{'topics': [" TOPIC("d1") "," TOPIC("d2") "," TOPIC("d3") "]}"));
	kw_uuid_text(fb_topic_find(run.process.cluster, kw_str("d3"))->id, id);
	json = talk(&run, conn, "DeleteTopics", 5, "{'topicNames': ['nope', 'd1', 'd2', 'd2'], 'timeoutMs': 5000}");
	assert_int_equal(json_array_size(at(json, "responses")), 3);
	assert_int_equal(num_at(json, "responses.0.errorCode"), 3);
	assert_string_equal(str_at(json, "responses.0.errorMessage"),
			    "This server does not host this topic-partition.");
	assert_int_equal(num_at(json, "responses.1.errorCode"), 0);
	assert_null(str_at(json, "responses.1.errorMessage"));
	assert_int_equal(num_at(json, "responses.2.errorCode"), 42);
	assert_string_equal(str_at(json, "responses.2.errorMessage"), "Duplicate topic name.");
	json_decref(json);
	assert_non_null(fb_topic_find(run.process.cluster, kw_str("d2")));
	json = talk(&run, conn, "DeleteTopics", 6, "{'topics': [{'name': null, 'topicId': '%s'}, {'name': null, "
		    "'topicId': '5Z5gKqsvTGGJxHMFXMuXUg'}, {'name': 'd2', 'topicId': '5Z5gKqsvTGGJxHMFXMuXUg'}, "
		    "{'name': null}], 'timeoutMs': 5000}", id);
	assert_int_equal(num_at(json, "responses.0.errorCode"), 0);
	assert_string_equal(str_at(json, "responses.0.name"), "d3");
	assert_int_equal(num_at(json, "responses.1.errorCode"), 100);
	assert_string_equal(str_at(json, "responses.1.errorMessage"), "This server does not host this topic ID.");
	assert_null(str_at(json, "responses.1.name"));
	assert_int_equal(num_at(json, "responses.2.errorCode"), 42);
	assert_string_equal(str_at(json, "responses.2.errorMessage"),
			    "You may not specify both topic name and topic id.");
	assert_int_equal(num_at(json, "responses.3.errorCode"), 42);
	assert_string_equal(str_at(json, "responses.3.errorMessage"), "Neither topic name nor id were specified.");
	json_decref(json);
	json = talk(&run, conn, "DeleteTopics", 6,
		    "{'topics': [{'name': null, 'topicId': '%s'}, {'name': null, 'topicId': '%s'}], "
		    "'timeoutMs': 5000}",
		    id, id);
	assert_int_equal(json_array_size(at(json, "responses")), 1);
	assert_string_equal(str_at(json, "responses.0.errorMessage"), "Duplicate topic id.");
	json_decref(json);
	assert_null(fb_topic_find(run.process.cluster, kw_str("d1")));
	assert_null(fb_topic_find(run.process.cluster, kw_str("d3")));
}

#define BY_NAME "{'name': 'both'}"
#define BY_ID "{'name': null, 'topicId': '%1$s'}"
#define BY_BOTH "{'name': 'both', 'topicId': '%1$s'}"
#define GIVEN "The provided topic name maps to an ID that was already supplied."
#define ONE_OF_THEM "You may not specify both topic name and topic id."
#define NO_ID "AAAAAAAAAAAAAAAAAAAAAA"

/* A topic that is named in two ways. In which order Kafka answers is left to chance. */
static void a_topic_is_named_in_one_way(void **state)
{
	static const struct {
		const char *topics;
		bool deleted;
		struct { int16_t error; const char *name, *message; bool has_id; } answers[2];
	} rows[] = {
		{BY_NAME "," BY_ID, false, {{INVALID_REQUEST, "both", GIVEN, true}}},
		{BY_ID "," BY_NAME, false, {{INVALID_REQUEST, "both", GIVEN, true}}},
		{BY_NAME "," BY_ID "," BY_ID, false,
		 {{INVALID_REQUEST, "both", GIVEN, true}, {INVALID_REQUEST, NULL, "Duplicate topic id.", true}}},
		{BY_BOTH "," BY_BOTH, false,
		 {{INVALID_REQUEST, "both", ONE_OF_THEM, true}, {INVALID_REQUEST, "both", ONE_OF_THEM, true}}},
		{"{'name': null}, {'name': null}", false,
		 {{INVALID_REQUEST, NULL, "Neither topic name nor id were specified.", false},
		  {INVALID_REQUEST, NULL, "Neither topic name nor id were specified.", false}}},
		{BY_NAME "," BY_NAME "," BY_ID, true,
		 {{INVALID_REQUEST, "both", "Duplicate topic name.", false}, {0, "both", NULL, true}}},
		{BY_BOTH "," BY_ID, true, {{INVALID_REQUEST, "both", ONE_OF_THEM, true}, {0, "both", NULL, true}}},
		{BY_BOTH "," BY_NAME, true, {{INVALID_REQUEST, "both", ONE_OF_THEM, true}, {0, "both", NULL, true}}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char id[23], body[500], topics[400];
		json_t *json, *answer;
		size_t k;

		if (!fb_topic_find(run.process.cluster, kw_str("both")))
			json_decref(talk(&run, conn, "CreateTopics", 7, "{'topics': [" TOPIC("both") "]}"));
		kw_uuid_text(fb_topic_find(run.process.cluster, kw_str("both"))->id, id);
		snprintf(topics, sizeof topics, rows[i].topics, id);
		snprintf(body, sizeof body, "{'topics': [%s], 'timeoutMs': 5000}", topics);
		json = talk(&run, conn, "DeleteTopics", 6, "%s", body);
		json_array_foreach(at(json, "responses"), k, answer) {
			assert_in_range(k, 0, 1);
			assert_int_equal(num_at(answer, "errorCode"), rows[i].answers[k].error);
			check_message(answer, "errorMessage", rows[i].answers[k].message);
			check_message(answer, "name", rows[i].answers[k].name);
			assert_string_equal(str_at(answer, "topicId"), rows[i].answers[k].has_id ? id : NO_ID);
		}
		assert_true(k == 2 || (k == 1 && !rows[i].answers[1].error));
		json_decref(json);
		assert_int_equal(fb_topic_find(run.process.cluster, kw_str("both")) == NULL, rows[i].deleted);
	}
}

/* Whatever else is wrong. */
static void time_outs_are_obeyed(void **state)
{
	(void)state;
	json_decref(talk(&run, conn, "CreateTopics", 7, "{'topics': [" TOPIC("timed") "]}"));
	for (int timeout = 0; timeout >= -1; timeout--) {
		json_t *json = talk(&run, conn, "CreateTopics", 7, "{'topics': [" TOPIC("late") "," TOPIC("a b") "], "
				    "'timeoutMs': %d}", timeout);

		for (int i = 0; i < 2; i++) {
			json_t *topic = json_array_get(at(json, "topics"), (size_t)i);

			assert_int_equal(num_at(topic, "errorCode"), TIMED_OUT);
			assert_null(str_at(topic, "errorMessage"));
		}
		json_decref(json);
		json = talk(&run, conn, "DeleteTopics", 6, "{'topics': [{'name': 'timed'}, {'name': 'nope'}], "
			    "'timeoutMs': %d}", timeout);
		assert_int_equal(num_at(json, "responses.0.errorCode"), TIMED_OUT);
		assert_int_equal(num_at(json, "responses.1.errorCode"), TIMED_OUT);
		assert_null(str_at(json, "responses.1.errorMessage"));
		json_decref(json);
	}
	assert_null(fb_topic_find(run.process.cluster, kw_str("late")));
	assert_non_null(fb_topic_find(run.process.cluster, kw_str("timed")));
}

/* A topic of the same name is another one: other id, no configuration, no records. */
static void a_new_topic_has_nothing_of_the_old(void **state)
{
	struct fb_cluster *cluster = run.process.cluster;
	struct kw_uuid id;

	(void)state;
	json_decref(talk(&run, conn, "CreateTopics", 7, "{'topics': [{'name': 'again', 'numPartitions': 1, "
			 "'replicationFactor': 1, 'configs': [{'name': 'cleanup.policy', 'value': 'compact'}]}]}"));
	id = fb_topic_find(cluster, kw_str("again"))->id;
	json_decref(talk(&run, conn, "Produce", 9, "{'acks': 1, 'topicData': [{'name': 'again', 'partitionData': "
			 "[{'index': 0, 'records': {'batches': [{'records': [{'key': 'k', 'value': 'a'}]}]}}]}]}"));
	json_decref(talk(&run, conn, "DeleteTopics", 5, "{'topicNames': ['again'], 'timeoutMs': 5000}"));
	json_decref(talk(&run, conn, "CreateTopics", 7, "{'topics': [" TOPIC("again") "]}"));
	assert_false(kw_uuid_eq(fb_topic_find(cluster, kw_str("again"))->id, id));
	assert_false(fb_topic_find(cluster, kw_str("again"))->conf.compact);
	assert_int_equal(fb_topic_find(cluster, kw_str("again"))->partitions[0].log.logEndOffset, 0);
}

/* ---- where partitions go ---- */

static void partitions_are_spread(void **state)
{
	int leads[4] = {0};
	json_t *json, *p;
	size_t i;

	(void)state;
	json_decref(talk(&run, conn, "CreateTopics", 7, "{'topics': [" SIZED("spread", 6, 2) "]}"));
	json = talk(&run, conn, "Metadata", 12, "{'topics': [{'name': 'spread'}]}");
	json_array_foreach(at(json, "topics.0.partitions"), i, p) {
		int64_t leader = num_at(p, "leaderId");

		assert_int_equal(num_at(p, "partitionIndex"), (int64_t)i);
		assert_int_equal(num_at(p, "replicaNodes.0"), leader);
		assert_int_equal(num_at(p, "replicaNodes.1"), leader % 3 + 1);
		assert_true(json_equal(at(p, "replicaNodes"), at(p, "isrNodes")));
		assert_in_range(leader, 1, 3);
		leads[leader]++;
	}
	for (i = 1; i <= 3; i++)
		assert_int_equal(leads[i], 2);
	json_decref(json);
}

static void post(const char *path)
{
	json_decref(http_json(&run, 200, "POST", path, NULL));
}

static void expect_38(struct kc_conn *controller, const char *topics, const char *message)
{
	json_t *json = talk(&run, controller, "CreateTopics", 7, "{'topics': [%s]}", topics);

	assert_int_equal(num_at(json, "topics.0.errorCode"), INVALID_RF);
	assert_string_equal(str_at(json, "topics.0.errorMessage"), message);
	json_decref(json);
}

/* Replicas need brokers that are registered, leaders one that runs. */
static void topics_need_brokers(void **state)
{
	static const char fenced[] = "Unable to replicate the partition 1 time(s): All brokers are currently fenced, "
				     "or have all their log directories cordoned.";
	struct kc_conn *controller = dial(&run, FB_CONTROLLER_ID);
	const struct fb_topic *topic;

	(void)state;
	post("/v1/nodes/3/stop");
	assert_int_equal(ask_num(&run, controller, "topics.0.errorCode", "CreateTopics", 7,
				 "{'topics': [" SIZED("three", 4, 3) "]}"), 0);
	assert_int_equal(ask_num(&run, controller, "errorCode", "UnregisterBroker", 0, "{'brokerId': 3}"), 0);
	expect_38(controller, SIZED("none", 1, 3),
		  "Unable to replicate the partition 3 time(s): The target replication factor of 3 cannot be reached "
		  "because only 2 broker(s) are registered or some brokers have all their log directories cordoned.");
	assert_int_equal(ask_num(&run, controller, "topics.0.errorCode", "CreateTopics", 7,
				 "{'topics': [" SIZED("two", 4, 2) "]}"), 0);
	topic = fb_topic_find(run.process.cluster, kw_str("two"));
	for (int i = 0; i < 8; i++)
		assert_in_range(topic->replicas[i], 1, 2);
	post("/v1/nodes/1/stop");
	post("/v1/nodes/2/stop");
	expect_38(controller, TOPIC("none"), fenced);
	assert_int_equal(ask_num(&run, controller, "topics.0.errorCode", "CreateTopics", 7,
				 "{'topics': [" PLACED("none", -1, -1, AT(0, "1")) "]}"), INVALID_PLACES);
	for (int i = 1; i <= 3; i++) {
		char path[40];

		snprintf(path, sizeof path, "/v1/nodes/%d/start", i);
		post(path);
	}
	kc_free(controller);
	kc_free(conn);
	conn = dial(&run, 1);
}

int main(void)
{
	const struct CMUnitTest one[] = {
		cmocka_unit_test(creations_are_judged),
		cmocka_unit_test(configurations_are_judged),
		cmocka_unit_test(what_is_set_is_there),
		cmocka_unit_test(validate_only_leaves_nothing),
		cmocka_unit_test(requests_are_bounded),
		cmocka_unit_test(deletions_are_judged),
		cmocka_unit_test(a_topic_is_named_in_one_way),
		cmocka_unit_test(time_outs_are_obeyed),
		cmocka_unit_test(a_new_topic_has_nothing_of_the_old),
	};
	const struct CMUnitTest three[] = {
		cmocka_unit_test(partitions_are_spread),
		cmocka_unit_test(topics_need_brokers),
	};
	int failed;

	fb_log_level(KASSAY_ERROR);
	failed = cmocka_run_group_tests(one, one_broker, tear_down);
	return failed + cmocka_run_group_tests(three, three_brokers, tear_down);
}
