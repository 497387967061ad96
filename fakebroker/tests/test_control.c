/* The control API over HTTP, beside a broker that serves. */
#include "fakebroker/cluster/log_line.h"
#include "fakebroker/control/recorder.h"
#include <unistd.h>

#include "fakebroker/tests/control_fixture.h"

/* ---- endpoints and methods ---- */

static const struct {
	const char *path;
	const char *methods;       /* in the order of the table */
} paths[] = {
	{"/v1/status", "GET"},
	{"/v1/rules", "GET"},
	{"/v1/rules/x", "GET, PUT, DELETE"},
	{"/v1/requests", "GET, DELETE"},
	{"/v1/wait", "POST"},
	{"/v1/partitions/t/0", "GET"},
	{"/v1/partitions/t/0/append", "POST"},
	{"/v1/observer", "GET, PUT"},
	{"/v1/validators", "GET, PUT"},
	{"/v1/validators/refused", "GET"},
	{"/metrics", "GET"},
};

static void each_path_has_its_methods(void **state)
{
	static const char *const methods[] = {"GET", "PUT", "POST", "DELETE", "PATCH", "OPTIONS", "TRACE"};
	char text[200];

	(void)state;
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
			struct http http;

			if (strstr(paths[i].methods, methods[k]))
				continue;
			http = http_ask(&run, methods[k], paths[i].path, "{}");
			assert_int_equal(http.status, 405);
			snprintf(text, sizeof text, "%s has no %s; it has %s", paths[i].path, methods[k],
				 paths[i].methods);
			assert_string_equal(str_at(http.json, "error"), text);
			snprintf(text, sizeof text, "\r\nAllow: %s\r\n", paths[i].methods);
			assert_non_null(strstr(http.text, text));
			assert_non_null(strstr(http.text, "\r\nContent-Type: application/json\r\n"));
			http_free(&http);
		}
	}
}

static void other_paths_are_not_found(void **state)
{
	static const struct {
		const char *method, *path, *meant;
	} wrong[] = {
		{"GET", "/", NULL},
		{"GET", "/v1", NULL},
		{"GET", "/v1/", NULL},
		{"GET", "/v1/statu", "/v1/status"},
		{"GET", "/v1/status/", NULL},
		{"GET", "/v1/statuses", "/v1/status"},
		{"GET", "/v1/partitions", NULL},
		{"GET", "/metrics/", NULL},
		{"GET", "/V1/status", NULL},
		{"PUT", "/v1/validators/refusd", "/v1/validators/refused"},
		{"POST", "/v1/partitions/plain/0/compat", "/v1/partitions/plain/0/compact"},
		{"DELETE", "/v1/partitions/t/0/apend", "/v1/partitions/t/0/append"},
		{"POST", "/v1/partitions/t/0/0", NULL},
		{"GET", "/v1/nodes/1/restart", NULL},
		{"GET", "/v1/nodes/1", NULL},
	};
	char text[200];

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		snprintf(text, sizeof text, "there is no path %s%s%s%s", wrong[i].path,
			 wrong[i].meant ? "; did you mean " : "", wrong[i].meant ? wrong[i].meant : "",
			 wrong[i].meant ? "?" : "");
		http_error(&run, 404, wrong[i].method, wrong[i].path, NULL, text);
	}
}

static const struct {
	int status;
	const char *method, *path, *body, *error;
} bad[] = {
	/* the query */
	{400, "GET", "/v1/status%00x", NULL, "the path has a NUL"},
	{400, "GET", "/v1/status?x=1", NULL, "GET /v1/status has no parameter \"x\""},
	{400, "GET", "/v1/requests?lmit=1", NULL,
	 "GET /v1/requests has no parameter \"lmit\"; did you mean \"limit\"?"},
	{400, "GET", "/v1/requests?limit", NULL, "the query cannot be read: NAME=VALUE&... is expected"},
	{400, "GET", "/v1/requests?limit=0", NULL, "limit: must be 1 to 10000, not 0"},
	{400, "GET", "/v1/requests?limit=10001", NULL, "limit: must be 1 to 10000, not 10001"},
	{400, "GET", "/v1/requests?after=-1", NULL, "after: must be at least 0, not -1"},
	{400, "GET", "/v1/requests?after=1x", NULL, "after: must be a whole number, not \"1x\""},
	{400, "GET", "/v1/requests?after=%2B1", NULL, "after: must be digits only, not \"+1\""},
	{400, "GET", "/v1/requests?after=-0", NULL, "after: must be digits only, not \"-0\""},
	{400, "GET", "/v1/metadata-log?from=%2B1", NULL, "from: must be digits only, not \"+1\""},
	{400, "GET", "/v1/requests?node=a", NULL, "node: must be a whole number, not \"a\""},
	{400, "GET", "/v1/requests?bytes=2", NULL, "bytes: must be 0 to 1, not 2"},
	{400, "GET", "/v1/requests?api=Fetsh", NULL, "api: Kafka has no API \"Fetsh\""},
	/* bodies */
	{400, "POST", "/v1/wait", NULL, "POST /v1/wait needs a body: a JSON object"},
	{400, "POST", "/v1/wait", "[]", "body:1: $: must be an object, not an array"},
	{400, "POST", "/v1/wait", "{\n\"api\": }", "body:2: unexpected token near '}' (column 8)"},
	{400, "POST", "/v1/wait", "{\"api\": \"Fetch\", \"api\": \"Fetch\"}",
	 "body:1: duplicate object key near '\"api\"' (column 22)"},
	{400, "POST", "/v1/wait", "7", "body:1: '[' or '{' expected near '7' (column 1)"},
	{400, "POST", "/v1/wait", "{\"aip\": \"Fetch\"}",
	 "body:1: $.aip: unknown member \"aip\"; did you mean \"api\"?"},
	{400, "POST", "/v1/wait", "{\"api\": \"Fetsh\"}", "api: Kafka has no API \"Fetsh\""},
	{400, "POST", "/v1/wait", "{\"timeoutMs\": 30001}", "body:1: $.timeoutMs: must be 0 to 30000, not 30001"},
	{400, "POST", "/v1/wait", "{\"count\": 0}", "body:1: $.count: must be at least 1, not 0"},
	{400, "PUT", "/v1/rules/x", NULL, "PUT /v1/rules/x needs a body: a JSON object"},
	{400, "PUT", "/v1/rules/x", "{\n\"match\": {\n\"apis\": 1},\n\"action\": {\"close\": true}}",
	 "body:3: $.match.apis: unknown member \"apis\"; did you mean \"api\"?"},
	{400, "PUT", "/v1/rules/x", "{\"name\": \"y\", \"action\": {\"close\": true}}",
	 "body:1: $.name: the rule is put as \"x\""},
	{400, "PUT", "/v1/rules/", "{\"action\": {\"close\": true}}",
	 "PUT /v1/rules/NAME is expected, with a name in UTF-8"},
	{400, "PUT", "/v1/rules/%ff", "{\"action\": {\"close\": true}}",
	 "PUT /v1/rules/NAME is expected, with a name in UTF-8"},
	{404, "GET", "/v1/rules/nope", NULL, "there is no rule \"nope\""},
	{404, "DELETE", "/v1/rules/nope", NULL, "there is no rule \"nope\""},
	{400, "PUT", "/v1/observer", NULL, "PUT /v1/observer needs a body: a JSON object"},
	{400, "PUT", "/v1/observer", "{}", "body:1: $: missing member \"classes\""},
	{400, "PUT", "/v1/observer", "{\"classes\": \"TrafficObservr\"}",
	 "no observer 'TrafficObservr', did you mean 'TrafficObserver'"},
	/* partitions */
	{404, "GET", "/v1/partitions/t/1", NULL, "there is no partition t/1; /v1/partitions/TOPIC/N is expected"},
	{404, "GET", "/v1/partitions/t/-1", NULL, "there is no partition t/-1; /v1/partitions/TOPIC/N is expected"},
	{404, "GET", "/v1/partitions/t/+0", NULL, "there is no partition t/+0; /v1/partitions/TOPIC/N is expected"},
	{404, "GET", "/v1/partitions/t/-0", NULL, "there is no partition t/-0; /v1/partitions/TOPIC/N is expected"},
	{404, "POST", "/v1/partitions/t/+0/compact", NULL,
	 "there is no partition t/+0; /v1/partitions/TOPIC/N is expected"},
	{404, "POST", "/v1/partitions/t/+0/append", "{}",
	 "there is no partition t/+0; /v1/partitions/TOPIC/N is expected"},
	{404, "POST", "/v1/nodes/+1/stop", NULL, "there is no node \"+1\""},
	{404, "GET", "/v1/partitions/t/4294967296", NULL,
	 "there is no partition t/4294967296; /v1/partitions/TOPIC/N is expected"},
	{404, "GET", "/v1/partitions/t/0x0", NULL, "there is no partition t/0x0; /v1/partitions/TOPIC/N is expected"},
	{404, "GET", "/v1/partitions/t", NULL, "there is no partition t; /v1/partitions/TOPIC/N is expected"},
	{404, "GET", "/v1/partitions/nope/0", NULL, "there is no partition nope/0; /v1/partitions/TOPIC/N is expected"},
};

static void bad_input_is_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		http_error(&run, bad[i].status, bad[i].method, bad[i].path, bad[i].body, bad[i].error);
}

static void large_input_is_refused_or_read(void **state)
{
	enum { MEBI = 1024 * 1024 };
	static const char body[] = "{\"timeoutMs\": 0, \"count\": 1000000}";
	char *text = malloc(18 * MEBI);
	struct http http;

	(void)state;
	memset(text, ' ', 18 * MEBI);
	memcpy(text + MEBI, body, sizeof body);
	json_decref(http_json(&run, 408, "POST", "/v1/wait", text));
	text[MEBI + sizeof body - 1] = ' ';
	text[18 * MEBI - 1] = '\0';
	http_error(&run, 413, "POST", "/v1/wait", text, "a body has at most 16777216 bytes");
	memset(text, 'x', 100000);
	memcpy(text, "/v1/", 4);
	text[3000] = '\0';
	http = http_ask(&run, "GET", text, NULL);
	assert_int_equal(http.status, 404);
	http_free(&http);
	free(text);
}

/* ---- reading ---- */

static void status_tells_what_there_is(void **state)
{
	json_t *json = http_json(&run, 200, "GET", "/v1/status", NULL);

	(void)state;
	assert_string_equal(str_at(json, "program"), "fakebroker " KASSAY_VERSION);
	assert_int_equal(num_at(json, "pid"), getpid());
	assert_string_equal(str_at(json, "release"), "4.4");
	assert_string_equal(str_at(json, "clusterId"), run.process.cluster->id);
	assert_int_equal(num_at(json, "metadataVersion"), 33);
	assert_string_equal(str_at(json, "metadataVersionName"), "4.4-IV2");
	assert_int_equal(json_integer_value(json_object_get(json_object_get(json, "features"), "metadata.version")),
			 33);
	assert_int_equal(json_array_size(at(json, "nodes")), 3);
	assert_int_equal(num_at(json, "nodes.2.id"), 1000);
	assert_string_equal(str_at(json, "nodes.2.role"), "controller");
	assert_null(str_at(json, "nodes.0.rack"));
	assert_int_equal(json_array_size(at(json, "registrations")), 2);
	assert_int_equal(num_at(json, "registrations.1.fenced"), 0);
	assert_string_equal(str_at(json, "topics.0.name"), "t");
	assert_int_equal(num_at(json, "topics.0.leaders.0"), 1);
	assert_true(json_is_false(at(json, "lax")));
	assert_int_equal(json_array_size(at(json, "mutants")), 0);
	assert_true(json_is_false(at(json, "clock.frozen")));
	assert_int_equal(num_at(json, "clock.ahead"), 0);
	assert_true(json_is_false(at(json, "nodes.0.imitatesFaults")));
	json_decref(json);
}

static void a_partition_tells_its_log(void **state)
{
	struct kc_conn *conn = dial(&run, 1);
	json_t *json;

	(void)state;
	make_topic(&run, "p");
	json_decref(talk(&run, conn, "Produce", 9, "{'acks': 1, 'topicData': [{'name': 'p', 'partitionData': "
			 "[{'index': 0, 'records': {'batches': [{'records': [{'value': 'a'}, {'value': 'b'}]}]}}]}]}"));
	json = http_json(&run, 200, "GET", "/v1/partitions/p/0", NULL);
	assert_string_equal(str_at(json, "topic"), "p");
	assert_int_equal(num_at(json, "leader"), 1);
	assert_int_equal(num_at(json, "leaderEpoch"), 0);
	assert_int_equal(num_at(json, "logStartOffset"), 0);
	assert_int_equal(num_at(json, "logEndOffset"), 2);
	assert_int_equal(num_at(json, "batches"), 1);
	assert_int_equal(num_at(json, "bytes"), 61 + 2 * 8);
	assert_int_equal(num_at(json, "droppedByLimit"), 0);
	json_decref(json);
	kc_free(conn);
}

static void validators_tell_what_they_saw(void **state)
{
	struct kc_conn *conn = dial(&run, 1);
	json_t *json;

	(void)state;
	json_decref(talk(&run, conn, "CreateTopics", 7, "{'topics': [{'name': 'v', 'numPartitions': 1, "
			 "'replicationFactor': 2, 'configs': [{'name': 'record.validator.classes', 'value': "
			 "'NonEmptyValue,AllowAll'}]}]}"));
	json = talk(&run, conn, "Metadata", 12, "{'topics': [{'name': 'v'}]}");
	if (num_at(json, "topics.0.partitions.0.leaderId") != 1) {
		kc_free(conn);
		conn = dial(&run, 2);
	}
	json_decref(json);
	json_decref(talk(&run, conn, "Produce", 9, "{'acks': 1, 'topicData': [{'name': 'v', 'partitionData': "
			 "[{'index': 0, 'records': {'batches': [{'records': [{'value': 'a'}, {'value': ''}]}]}}]}]}"));
	json = http_json(&run, 200, "GET", "/v1/validators", NULL);
	assert_int_equal(json_object_size(json), 1);
	assert_string_equal(str_at(json, "v.classes"), "NonEmptyValue,AllowAll");
	assert_string_equal(str_at(json, "v.validators.0.name"), "NonEmptyValue");
	assert_int_equal(num_at(json, "v.validators.0.seen"), 2);
	assert_int_equal(num_at(json, "v.validators.0.refused"), 1);
	assert_int_equal(num_at(json, "v.validators.1.seen"), 1);
	json_decref(json);
	kc_free(conn);
}

/* ---- the observer ---- */

static void observers_are_exchanged(void **state)
{
	json_t *json = http_json(&run, 200, "GET", "/v1/observer", NULL);
	struct kc_conn *conn;

	(void)state;
	assert_int_equal(json_array_size(json), 2);
	assert_int_equal(num_at(json, "1.node"), 2);
	assert_string_equal(str_at(json, "1.classes"), "NoOpObserver");
	json_decref(json);
	json = http_json(&run, 200, "PUT", "/v1/observer", "{\"classes\": \"NoOpObserver,TrafficObserver\"}");
	assert_string_equal(str_at(json, "0.classes"), "NoOpObserver,TrafficObserver");
	assert_string_equal(str_at(json, "1.observers.1.name"), "TrafficObserver");
	assert_int_equal(num_at(json, "1.observers.1.seen"), 0);
	json_decref(json);
	conn = dial(&run, 2);
	json_decref(talk(&run, conn, "DescribeCluster", 0, "{}"));
	json = http_json(&run, 200, "GET", "/v1/observer", NULL);
	assert_int_equal(num_at(json, "0.observers.1.seen"), 0);
	assert_int_equal(num_at(json, "1.observers.1.seen"), 2);   /* ApiVersions, DescribeCluster */
	assert_null(str_at(json, "1.observers.1.fallback"));
	json_decref(json);
	/* what cannot be had leaves what there is */
	json_decref(http_json(&run, 400, "PUT", "/v1/observer", "{\"classes\": \"AllowAll\"}"));
	json = http_json(&run, 200, "GET", "/v1/observer", NULL);
	assert_int_equal(num_at(json, "1.observers.1.seen"), 2);
	json_decref(json);
	json = http_json(&run, 200, "PUT", "/v1/observer", "{\"classes\": \"TrafficObserver\", \"mode\": \"queued\"}");
	assert_string_equal(str_at(json, "0.observers.0.mode"), "queued");
	json_decref(json);
	json = http_json(&run, 200, "PUT", "/v1/observer", "{\"classes\": \"TrafficObserver\"}");
	assert_string_equal(str_at(json, "0.observers.0.mode"), "inline");
	json_decref(json);
	json_decref(http_json(&run, 400, "PUT", "/v1/observer",
			      "{\"classes\": \"TrafficObserver\", \"mode\": \"fast\"}"));
	json_decref(http_json(&run, 200, "PUT", "/v1/observer", "{\"classes\": \"NoOpObserver\"}"));
	kc_free(conn);
}

/* Nobody calls it, and yet it has seen what passed since it came into force. */
static void an_idle_observer_is_not_called(void **state)
{
	struct kc_conn *conn = dial(&run, 2);
	json_t *json;

	(void)state;
	json_decref(http_json(&run, 200, "PUT", "/v1/observer", "{\"classes\": \"SloObserver\"}"));
	json_decref(talk(&run, conn, "DescribeCluster", 0, "{}"));
	json = http_json(&run, 200, "PUT", "/v1/observer", "{\"classes\": \"NoOpObserver\"}");
	assert_int_equal(num_at(json, "1.observers.0.seen"), 0);
	json_decref(json);
	for (int i = 0; i < 3; i++)
		json_decref(talk(&run, conn, "DescribeCluster", 0, "{}"));
	json = http_json(&run, 200, "GET", "/v1/observer", NULL);
	assert_int_equal(num_at(json, "0.observers.0.seen"), 0);
	assert_int_equal(num_at(json, "1.observers.0.seen"), 3);
	assert_int_equal(num_at(json, "1.observers.0.nanoseconds"), 0);
	json_decref(json);
	/* in queued mode it is called, as it is beside another */
	json_decref(http_json(&run, 200, "PUT", "/v1/observer", "{\"classes\": \"NoOpObserver,SloObserver\"}"));
	json_decref(talk(&run, conn, "DescribeCluster", 0, "{}"));
	json = http_json(&run, 200, "GET", "/v1/observer", NULL);
	assert_int_equal(num_at(json, "1.observers.0.seen"), 1);
	assert_int_equal(num_at(json, "1.observers.1.seen"), 1);
	json_decref(json);
	json_decref(http_json(&run, 200, "PUT", "/v1/observer", "{\"classes\": \"NoOpObserver\"}"));
	kc_free(conn);
}

static void observers_are_made_with_options(void **state)
{
	static const char every[] = "{\"classes\": \"FailingObserver\", \"options\": {\"FailingObserver.n\": \"1\"}}";
	static const char second[] = "{\"classes\": \"FailingObserver\", \"options\": {\"FailingObserver.n\": \"2\"}}";
	struct kc_conn *conn = dial(&run, 2);
	json_t *json;

	(void)state;
	for (int n = 1; n <= 2; n++) {
		/* the same class with other options is another observer */
		json = http_json(&run, 200, "PUT", "/v1/observer", n == 1 ? every : second);
		assert_int_equal(num_at(json, "1.observers.0.seen"), 0);
		json_decref(json);
		for (int i = 0; i < 4; i++)
			json_decref(talk(&run, conn, "DescribeCluster", 0, "{}"));
		json = http_json(&run, 200, "GET", "/v1/observer", NULL);
		assert_int_equal(num_at(json, "1.observers.0.failed"), 4 / n);
		json_decref(json);
	}
	json_decref(
		http_json(&run, 400, "PUT", "/v1/observer",
			  "{\"classes\": \"FailingObserver\", \"options\": {\"FailingObserver.create\": \"true\"}}"));
	json_decref(http_json(&run, 400, "PUT", "/v1/observer",
			      "{\"classes\": \"SlowObserver\", \"options\": {\"SlowObserver.us\": 1}}"));
	json_decref(http_json(&run, 200, "PUT", "/v1/observer", "{\"classes\": \"NoOpObserver\"}"));
	kc_free(conn);
}

/* Nobody would read them, and who asked would believe that they hold. */
static void options_of_no_observer_are_refused(void **state)
{
	static const struct {
		const char *classes, *option, *error;
	} rows[] = {
		{"SlowObserver", "SlowObserver.uss",
		 "'SlowObserver.uss' is no option of 'SlowObserver', did you mean 'SlowObserver.us'"},
		{"SlowObserver", "us", "'us' is no option of 'SlowObserver', did you mean 'SlowObserver.us'"},
		{"TrafficObserver", "limit",
		 "'limit' is no option of 'TrafficObserver', did you mean 'TrafficObserver.limit'"},
		{"NoOpObserver, TrafficObserver", "observer.TrafficObserver.limit",
		 "'observer.TrafficObserver.limit' is no option of 'NoOpObserver, TrafficObserver', did you mean "
		 "'TrafficObserver.limit'"},
		{"TrafficObserver", "Trafic.limit",
		 "'Trafic.limit' is no option of 'TrafficObserver', did you mean 'TrafficObserver.limit'"},
		{"TrafficObserver", "SlowObserver.us",
		 "'SlowObserver.us' is no option of 'TrafficObserver': NAME.OPTION is expected, with a NAME of that "
		 "list"},
		{"TrafficObserver", "queue.entries",
		 "'queue.entries' is no option of 'TrafficObserver': NAME.OPTION is expected, with a NAME of that "
		 "list"},
	};
	char body[300], error[400];
	json_t *json;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		snprintf(body, sizeof body, "{\"classes\": \"%s\", \"options\": {\"%s\": \"3\"}}", rows[i].classes,
			 rows[i].option);
		snprintf(error, sizeof error, "body:1: $.options%s%s%s: %s", strchr(rows[i].option, '.') ? "[\"" : ".",
			 rows[i].option, strchr(rows[i].option, '.') ? "\"]" : "", rows[i].error);
		http_error(&run, 400, "PUT", "/v1/observer", body, error);
	}
	/* Which observers there are is told before what they may be given. */
	http_error(&run, 400, "PUT", "/v1/observer",
		   "{\"classes\": \"TrafficObservr\", \"options\": {\"TrafficObserver.limit\": \"3\"}}",
		   "no observer 'TrafficObservr', did you mean 'TrafficObserver'");
	json = http_json(&run, 200, "PUT", "/v1/observer",
			 "{\"classes\": \"NoOpObserver,TrafficObserver\", "
			 "\"options\": {\"TrafficObserver.limit\": \"3\"}}");
	assert_string_equal(str_at(json, "0.classes"), "NoOpObserver,TrafficObserver");
	json_decref(json);
	json_decref(http_json(&run, 200, "PUT", "/v1/observer", "{\"classes\": \"NoOpObserver\"}"));
}

/* ---- waiting ---- */

static void a_wait_ends(void **state)
{
	long long after = http_last_request(&run);
	struct kc_conn *conn = dial(&run, 1);   /* one ApiVersions */
	char body[200];
	json_t *json;

	(void)state;
	snprintf(body, sizeof body, "{\"after\": %lld, \"api\": \"ApiVersions\", \"node\": 1}", after);
	json = http_json(&run, 200, "POST", "/v1/wait", body);
	assert_int_equal(num_at(json, "met"), 1);
	json_decref(json);
	snprintf(body, sizeof body,
		 "{\"after\": %lld, \"api\": \"ApiVersions\", \"node\": 2, \"timeoutMs\": 20}", after);
	json = http_json(&run, 408, "POST", "/v1/wait", body);
	assert_int_equal(num_at(json, "met"), 0);
	json_decref(json);
	snprintf(body, sizeof body, "{\"after\": %lld, \"count\": 2, \"timeoutMs\": 0}", after);
	json_decref(http_json(&run, 408, "POST", "/v1/wait", body));
	kc_free(conn);
}

/* Several wait for different things, and one of them goes away; what they wait for ends them. */
static void waits_do_not_disturb_each_other(void **state)
{
	enum { N = 4 };
	struct kc_conn *conn = dial(&run, 1);
	char body[200];
	int fds[N], gone = http_dial(run.process.control_port), late;

	(void)state;
	snprintf(body, sizeof body,
		 "{\"after\": %lld, \"api\": \"DescribeCluster\", \"count\": 3}", (long long)http_last_request(&run));
	http_send(gone, "POST", "/v1/wait", body);
	for (int i = 0; i < N; i++) {
		fds[i] = http_dial(run.process.control_port);
		http_send(fds[i], "POST", "/v1/wait", body);
	}
	late = http_dial(run.process.control_port);
	http_send(late, "POST", "/v1/wait", "{\"api\": \"UnregisterBroker\", \"timeoutMs\": 30000}");
	json_decref(talk(&run, conn, "DescribeCluster", 0, "{}"));
	close(gone);
	json_decref(talk(&run, conn, "DescribeCluster", 0, "{}"));
	json_decref(talk(&run, conn, "DescribeCluster", 0, "{}"));
	for (int i = 0; i < N; i++) {
		struct http http = http_read(fds[i]);

		assert_int_equal(http.status, 200);
		http_free(&http);
	}
	json_decref(http_json(&run, 200, "GET", "/v1/status", NULL));
	close(late);
	kc_free(conn);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_path_has_its_methods),
		cmocka_unit_test(other_paths_are_not_found),
		cmocka_unit_test(bad_input_is_told),
		cmocka_unit_test(large_input_is_refused_or_read),
		cmocka_unit_test(status_tells_what_there_is),
		cmocka_unit_test(a_partition_tells_its_log),
		cmocka_unit_test(validators_tell_what_they_saw),
		cmocka_unit_test(observers_are_exchanged),
		cmocka_unit_test(an_idle_observer_is_not_called),
		cmocka_unit_test(observers_are_made_with_options),
		cmocka_unit_test(options_of_no_observer_are_refused),
		cmocka_unit_test(a_wait_ends),
		cmocka_unit_test(waits_do_not_disturb_each_other),
	};

	fb_log_level(KASSAY_ERROR);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
