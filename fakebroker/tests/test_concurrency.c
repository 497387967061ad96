/* Everything at once, on four event loops: clients that produce, read along, change configurations, make and delete
 * topics, exchange validators and observers, and ask the control API. What a producer was told is in the log, once;
 * nothing else is. Meant for ThreadSanitizer, too. */
#include <stdatomic.h>

#include "fakebroker/cluster/log_line.h"
#include "fakebroker/tests/http.h"
#include "fakebroker/tests/talk.h"

enum { ROUNDS = 40, MAX_BATCH = 4, PRODUCERS = 3, READERS = 2, MAX_RECORDS = ROUNDS * MAX_BATCH };

static struct running run;

/* cmocka's assertions are for the main thread alone: the others leave their first failure here. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char failure[600];

__attribute__((format(printf, 2, 3))) static bool check(bool ok, const char *fmt, ...)
{
	va_list ap;

	if (ok)
		return true;
	va_start(ap, fmt);
	pthread_mutex_lock(&lock);
	if (!failure[0])
		vsnprintf(failure, sizeof failure, fmt, ap);
	pthread_mutex_unlock(&lock);
	va_end(ap);
	return false;
}

/* ---- a client in a thread of its own ---- */

struct client {
	pthread_t thread;
	int number;
	struct kc_conn *conn;
	struct kw_arena arena;
};

static atomic_int producing;      /* producers that are not done */

/* What producers were told is accepted. */
static bool accepted[PRODUCERS][MAX_RECORDS];

static const char *const topic_of[PRODUCERS] = {"checked", "checked", "free"};
static const int acks_of[PRODUCERS] = {1, -1, 0};

static void *make_body(struct client *client, int api, int version, const char *fmt, va_list ap)
{
	char text[4096];
	struct kt_err err = {0};
	json_t *json;
	void *body = NULL;

	kw_arena_reset(&client->arena);
	vsnprintf(text, sizeof text, fmt, ap);
	for (char *p = text; *p; p++)
		if (*p == '\'')
			*p = '"';
	json = json_loads(text, 0, NULL);
	check(json && kw_from_json(kw_request(api), version, json, &client->arena, &body, &err) == 0, "%s: %s", text,
	      err.text);
	json_decref(json);
	return body;
}

/* The answer, valid until the next request; NULL after a failure. */
static void *ask(struct client *client, int api, int version, const char *fmt, ...)
{
	struct kt_err err = {0};
	void *response = NULL, *body;
	va_list ap;

	va_start(ap, fmt);
	body = make_body(client, api, version, fmt, ap);
	va_end(ap);
	if (body)
		check(kc_call(client->conn, api, version, body, soon(), &client->arena, &response, &err) == 0,
		      "%s v%d: %s", kw_api_name(api), version, err.text);
	return response;
}

static void send_only(struct client *client, int api, int version, const char *fmt, ...)
{
	struct kt_err err = {0};
	struct kw_buf buf;
	va_list ap;
	void *body;

	va_start(ap, fmt);
	body = make_body(client, api, version, fmt, ap);
	va_end(ap);
	kw_buf_init(&buf, 0);
	if (body && kc_encode(client->conn, api, version, body, &buf, NULL, &err) == 0)
		kc_write(client->conn, buf.p, buf.n, soon(), &err);
	check(!err.code, "%s v%d: %s", kw_api_name(api), version, err.text);
	kw_buf_fini(&buf);
}

/* ---- producers ---- */

#define PRODUCE "{'acks': %d, 'topicData': [{'name': '%s', 'partitionData': [{'index': 0, 'records': {'batches': " \
		"[{'records': [%s]}]}}]}]}"

/* Keys tell who sent it and which it is; every fifth value is empty, which one of the validators refuses. */
static int make_records(int number, int first, int count, char out[2000])
{
	size_t n = 0;

	for (int i = first; i < first + count; i++)
		n += (size_t)snprintf(out + n, 2000 - n, "%s{'key': '%d-%d', 'value': '%s'}", i > first ? ", " : "",
				      number, i, i % 5 ? "v" : "");
	return first + count;
}

static void *producer(void *arg)
{
	struct client *client = arg;
	const char *topic = topic_of[client->number];
	int acks = acks_of[client->number], next = 0;
	char records[2000];

	for (int round = 0; round < ROUNDS; round++) {
		int first = next;
		const struct kw_ProduceResponse *response;
		int16_t error = 0;

		next = make_records(client->number, first, 1 + round % MAX_BATCH, records);
		if (acks) {
			response = ask(client, 0, 9, PRODUCE, acks, topic, records);
			if (!response)
				break;
			error = response->responses.v[0].partitionResponses.v[0].errorCode;
			check(error == 0 || error == 87, "produce: error %d", error);
		} else {
			send_only(client, 0, 9, PRODUCE, acks, topic, records);
		}
		for (int i = first; i < next && error == 0; i++)
			accepted[client->number][i] = true;
	}
	/* By this answer everything before it was handled. */
	ask(client, 60, 0, "{}");
	atomic_fetch_sub(&producing, 1);
	return NULL;
}

/* ---- readers ---- */

struct reading {
	int64_t next;              /* offset */
	int seen[PRODUCERS][MAX_RECORDS];
	int64_t base;
};

static int read_record(void *arg, int32_t index, const struct kw_record *record)
{
	struct reading *reading = arg;
	char key[32];
	int number, i;

	(void)index;
	check(reading->base + record->offsetDelta == reading->next, "offset %lld, not %lld",
	      (long long)(reading->base + record->offsetDelta), (long long)reading->next);
	reading->next++;
	snprintf(key, sizeof key, "%.*s", record->key.n, record->key.p);
	if (check(sscanf(key, "%d-%d", &number, &i) == 2 && number >= 0 && number < PRODUCERS && i >= 0 &&
			  i < MAX_RECORDS,
		  "a record that nobody sent: %s", key))
		reading->seen[number][i]++;
	return 0;
}

/* Reads on from where it was; waits at most wait milliseconds. False after a failure. */
static bool read_on(struct client *client, const char *topic, int wait, struct reading *reading)
{
	const struct kw_FetchResponse *response;
	const struct kw_FetchResponse_PartitionData *p;
	struct kw_batch batch;
	enum kw_walk why;

	response = ask(client, 1, 12, "{'maxWaitMs': %d, 'minBytes': 1, 'maxBytes': 1000000, 'topics': [{'topic': "
		       "'%s', 'partitions': [{'partition': 0, 'fetchOffset': %lld, 'partitionMaxBytes': 900}]}]}",
		       wait, topic,
		       (long long)reading->next);
	if (!response)
		return false;
	p = &response->responses.v[0].partitions.v[0];
	if (!check(p->errorCode == 0, "fetch: error %d", p->errorCode))
		return false;
	for (int32_t at = 0; at < p->records.n; at += (int32_t)batch.size) {
		const uint8_t *bytes = p->records.p + at;

		if (kw_batch_parse(bytes, (size_t)(p->records.n - at), &batch, NULL) < 0)
			break;   /* cut off */
		check(kw_batch_crc(bytes, batch.size) == batch.crc,
		      "a wrong checksum at offset %lld", (long long)batch.baseOffset);
		reading->base = batch.baseOffset;
		if (!check(kw_batch_walk(&batch, NULL, read_record, reading, &why, NULL) == 0, "an unreadable batch"))
			return false;
	}
	return true;
}

static void *reader(void *arg)
{
	struct client *client = arg;
	struct reading *reading = calloc(1, sizeof *reading);
	bool last = false;

	while (!last) {
		int64_t before = reading->next;

		last = atomic_load(&producing) == 0;
		if (!read_on(client, client->number ? "free" : "checked", 20, reading))
			break;
		last = last && reading->next == before;
	}
	free(reading);
	return NULL;
}

/* ---- those who change things ---- */

static void alter(struct client *client, int type, const char *resource, const char *name, const char *value)
{
	const struct kw_IncrementalAlterConfigsResponse *response;

	response = ask(client, 44, 1, "{'resources': [{'resourceType': %d, 'resourceName': '%s', 'configs': [{'name': "
		       "'%s', 'configOperation': 0, 'value': '%s'}]}]}", type, resource, name, value);
	if (response)
		check(response->responses.v[0].errorCode == 0, "alter %s=%s: error %d", name, value,
		      response->responses.v[0].errorCode);
}

static void *configurer(void *arg)
{
	static const char *const validators[] = {"AllowAll", "NonEmptyValue", "", "NonEmptyValue,AllowAll"};
	static const char *const codecs[] = {"gzip", "producer", "lz4", "uncompressed"};
	static const char *const observers[] = {"TrafficObserver", "NoOpObserver", "TrafficObserver,NoOpObserver", ""};

	for (int i = 0; i < ROUNDS; i++) {
		alter(arg, 2, "checked", "record.validator.classes", validators[i % 4]);
		alter(arg, 2, "checked", "compression.type", codecs[i / 2 % 4]);
		alter(arg, 2, "free", "max.message.bytes", i % 2 ? "900000" : "1000000");
		alter(arg, 4, i % 3 ? "" : "1", "observer.class.name", observers[i % 3]);
		ask(arg, 32, 4, "{'resources': [{'resourceType': 4, 'resourceName': '1', 'configurationKeys': null}]}");
	}
	return NULL;
}

/* A topic that comes, takes records, is waited on and goes. */
static void *maker(void *arg)
{
	struct client *client = arg;

	for (int i = 0; i < ROUNDS; i++) {
		ask(client, 19, 7, "{'topics': [{'name': 'tmp', 'numPartitions': 3, 'replicationFactor': 2, 'configs': "
		    "[{'name': 'record.validator.classes', 'value': 'AllowAll'}]}]}");
		ask(client, 3, 12, "{'topics': null}");
		ask(client, 0, 9, PRODUCE, 1, "tmp", "{'value': 'x', 'repeat': 9}");
		ask(client, 2, 7, "{'replicaId': -1, 'topics': [{'name': 'tmp', 'partitions': [{'partitionIndex': 1, "
		    "'timestamp': -1}]}]}");
		ask(client, 20, 5, "{'topicNames': ['tmp']}");
	}
	return NULL;
}

static void watch(const char *method, const char *path, const char *body, int wanted)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)run.process.control_port)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct http http;

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (!check(connect(fd, (struct sockaddr *)&in, sizeof in) == 0, "cannot connect to the control API")) {
		close(fd);
		return;
	}
	http_send(fd, method, path, body);
	http = http_read(fd);
	check(http.status == wanted, "%s %s: %d: %.200s", method, path, http.status, http.body);
	http_free(&http);
}

static void *watcher(void *arg)
{
	static const char *const classes[] = {"{\"classes\": \"NoOpObserver\"}", "{\"classes\": \"TrafficObserver\"}"};
	static const char rule[] = "{\"match\": {\"api\": \"DescribeConfigs\", \"every\": 3}, \"action\": "
				   "{\"delay\": 1}}";

	(void)arg;
	for (int i = 0; i < ROUNDS / 2; i++) {
		watch("GET", "/v1/status", NULL, 200);
		watch("GET", "/metrics", NULL, 200);
		watch("PUT", "/v1/observer", classes[i % 2], 200);
		watch("PUT", "/v1/rules/r", rule, 200);
		watch("GET", "/v1/requests?limit=50&bytes=1", NULL, 200);
		watch("POST", "/v1/wait", "{\"api\": \"Metadata\", \"count\": 1, \"timeoutMs\": 20000}", 200);
		watch("GET", "/v1/validators", NULL, 200);
		watch("GET", "/v1/observer", NULL, 200);
		watch("GET", "/v1/partitions/checked/0", NULL, 200);
		watch("DELETE", "/v1/rules/r", NULL, 200);
	}
	return NULL;
}

/* ---- together ---- */

static void compare(struct client *client, const char *topic)
{
	const struct fb_log *log = &fb_topic_find(run.process.cluster, kw_str(topic))->partitions[0].log;
	struct reading *reading = calloc(1, sizeof *reading);

	while (reading->next < log->logEndOffset)
		if (!read_on(client, topic, 0, reading))
			break;
	for (int n = 0; n < PRODUCERS; n++)
		for (int i = 0; i < MAX_RECORDS && strcmp(topic_of[n], topic) == 0; i++)
			check(reading->seen[n][i] == accepted[n][i],
			      "record %d-%d is there %d times, and accepted %d times", n, i,
			      reading->seen[n][i], accepted[n][i]);
	free(reading);
}

static void all_at_once(void **state)
{
	static const struct { void *(*run)(void *arg); int number;
	} roles[] = {
		{producer, 0}, {producer, 1}, {producer, 2}, {reader, 0}, {reader, 1}, {configurer, 0}, {maker, 0},
		{watcher, 0},
	};
	enum { N = sizeof roles / sizeof *roles };
	struct client clients[N];
	int all = 0;

	(void)state;
	atomic_store(&producing, PRODUCERS);
	for (int i = 0; i < N; i++) {
		clients[i] = (struct client){.number = roles[i].number, .conn = dial(&run, 1)};
		kw_arena_init(&clients[i].arena, 0);
		assert_int_equal(pthread_create(&clients[i].thread, NULL, roles[i].run, &clients[i]), 0);
	}
	for (int i = 0; i < N; i++)
		pthread_join(clients[i].thread, NULL);
	compare(&clients[0], "checked");
	compare(&clients[0], "free");
	for (int i = 0; i < N; i++) {
		kw_arena_fini(&clients[i].arena);
		kc_free(clients[i].conn);
	}
	if (failure[0])
		fail_msg("%s", failure);
	for (int i = 0; i < MAX_RECORDS; i++)
		all += accepted[0][i];
	assert_in_range(all, ROUNDS / 2, MAX_RECORDS);   /* some were refused, and some were not */
	assert_int_equal(fb_topic_find(run.process.cluster, kw_str("free"))->partitions[0].log.logEndOffset,
			 ROUNDS / MAX_BATCH * (1 + 2 + 3 + 4));
}

static int set_up(void **state)
{
	struct fb_settings settings = {.nodes = 2, .threads = 4};

	(void)state;
	running_start(&run, &settings);
	make_topic(&run, "checked");
	make_topic(&run, "free");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	running_stop(&run);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_at_once),
	};

	fb_log_level(KASSAY_ERROR + 1);   /* "" is no observer, and the log says so */
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
