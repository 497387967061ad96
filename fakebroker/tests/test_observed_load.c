/* What observers count is what clients counted on their own side of the socket, to record and byte: several clients at
 * once on four event loops, compressed, refused, repeated and without an answer; on connections that die; and while
 * observers are exchanged. Meant for ThreadSanitizer, too. */
#include <stdatomic.h>
#include <unistd.h>

#include "fakebroker/tests/http.h"
#include "fakebroker/tests/talk.h"
#include "lib/client/login.h"

enum { CLIENTS = 8, USERS = 2, TOPICS = 3, ROUNDS = 120 };

static const char *const users[USERS] = {"alice", "bob"};
static const char *const topics[TOPICS] = {"orders", "payments", "clicks"};
static const char *const codecs[] = {"none", "gzip", "snappy", "lz4", "zstd"};

static const char *sets[] = {
	"listeners=SASL_PLAINTEXT://:9092", "sasl.enabled.mechanisms=PLAIN", NULL,
	"listener.name.sasl_plaintext.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule "
	"required user_alice=\"a\" user_bob=\"b\";",
	NULL, NULL, "observer.SlowObserver.us=20000000", NULL,
};

static struct running run;
static char audit[] = "/tmp/kassay-load-XXXXXX";

/* cmocka's assertions are for the main thread alone: the others leave their first failure here. */
static pthread_mutex_t failure_lock = PTHREAD_MUTEX_INITIALIZER;
static char failure[400];

__attribute__((format(printf, 2, 3))) static bool check(bool ok, const char *fmt, ...)
{
	va_list ap;

	if (ok)
		return true;
	va_start(ap, fmt);
	pthread_mutex_lock(&failure_lock);
	if (!failure[0])
		vsnprintf(failure, sizeof failure, fmt, ap);
	pthread_mutex_unlock(&failure_lock);
	va_end(ap);
	return false;
}

static void start(const char *observers, const char *mode, int timeout)
{
	static char classes[100], modes[100], files[100], timeouts[100];
	struct fb_settings settings = {.threads = 4, .set = {.v = sets, .n = sizeof sets / sizeof *sets}};

	failure[0] = '\0';
	snprintf(classes, sizeof classes, "observer.class.name=%s", observers);
	snprintf(modes, sizeof modes, "observer.mode=%s", mode);
	snprintf(files, sizeof files, "observer.AuditObserver.file=%s", audit);
	snprintf(timeouts, sizeof timeouts, "observer.shutdown.timeout=%d", timeout);
	sets[2] = classes;
	sets[4] = files;
	sets[5] = modes;
	sets[7] = timeouts;
	running_start(&run, &settings);
	for (int i = 0; i < TOPICS; i++)
		make_topic(&run, topics[i]);
}

/* ---- a client, and what it counts ---- */

enum flow { ACCEPTED, REFUSED, DUPLICATE, CONSUMED, FLOWS };

struct counts {
	int64_t requests, out, in;                 /* frames and their bytes, size fields included */
	int64_t records[TOPICS][FLOWS], bytes[TOPICS][FLOWS];
};

struct client {
	pthread_t thread;
	int number;
	char id[24];
	struct kc_conn *conn;
	struct kw_arena arena;
	struct counts counts;
	int64_t producer_id;
	int32_t sequence[TOPICS];
	int64_t offset[TOPICS];
};

static void *body_for(struct client *client, int api, int version, const char *fmt, ...)
{
	char text[4096];
	struct kt_err err = {0};
	json_t *json;
	void *body = NULL;
	va_list ap;

	kw_arena_reset(&client->arena);
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	for (char *p = text; *p; p++)
		if (*p == '\'')
			*p = '"';
	json = json_loads(text, 0, NULL);
	check(json && kw_from_json(kw_request(api), version, json, &client->arena, &body, &err) == 0, "%s: %s", text,
	      err.text);
	json_decref(json);
	return body;
}

/* Sends, counts, and with an answer reads, counts and decodes it. */
static void *exchange(struct client *client, int api, int version, const void *body, bool answered)
{
	struct kt_err err = {0};
	const uint8_t *p;
	struct kw_buf buf;
	void *response = NULL;
	size_t n;

	kw_buf_init(&buf, 0);
	if (kc_encode(client->conn, api, version, body, &buf, NULL, &err) == 0 &&
	    kc_write(client->conn, buf.p, buf.n, soon(), &err) == 0) {
		client->counts.requests++;
		client->counts.out += (int64_t)buf.n;
	}
	kw_buf_fini(&buf);
	if (!err.code && answered && kc_read_frame(client->conn, soon(), &p, &n, &err) == 0) {
		client->counts.in += (int64_t)n + 4;
		kc_decode(api, version, p, n, &client->arena, NULL, &response, &err);
	}
	check(!err.code, "%s: %s", kw_api_name(api), err.text);
	return response;
}

static void send_batch(struct client *client, int topic, int acks, int records, const char *more, enum flow flow)
{
	static const int16_t wanted[FLOWS] = {[REFUSED] = 2};
	struct kw_ProduceRequest *body;
	const struct kw_ProduceResponse *response;

	body = body_for(client, 0, 9,
			"{'acks': %d, 'topicData': [{'name': '%s', 'partitionData': [{'index': 0, 'records': "
			"{'batches': [{'records': [{'key': '%s', 'value': 'some value', 'repeat': %d}]%s}]}}]}]}",
			acks, topics[topic], client->id, records, more);
	if (!body)
		return;
	client->counts.records[topic][flow] += records;
	client->counts.bytes[topic][flow] += body->topicData.v[0].partitionData.v[0].records.n;
	response = exchange(client, 0, 9, body, acks != 0);
	if (response)
		check(response->responses.v[0].partitionResponses.v[0].errorCode == wanted[flow],
		      "produce: error %d, not %d", response->responses.v[0].partitionResponses.v[0].errorCode,
		      wanted[flow]);
}

static void read_some(struct client *client, int topic)
{
	const struct kw_FetchResponse *response;
	struct kw_records records;
	struct kw_batch batch;
	void *body;

	body = body_for(client, 1, 12,
			"{'maxWaitMs': 0, 'minBytes': 0, 'maxBytes': 1000000, 'topics': [{'topic': '%s', 'partitions': "
			"[{'partition': 0, 'fetchOffset': %lld, 'partitionMaxBytes': 700}]}]}",
			topics[topic], (long long)client->offset[topic]);
	response = body ? exchange(client, 1, 12, body, true) : NULL;
	if (!response || !check(response->responses.v[0].partitions.v[0].errorCode == 0, "fetch failed"))
		return;
	records = response->responses.v[0].partitions.v[0].records;
	for (int32_t at = 0; at < records.n; at += (int32_t)batch.size) {
		if (kw_batch_parse(records.p + at, (size_t)(records.n - at), &batch, NULL) < 0)
			break;   /* cut off: its bytes count, its records do not */
		client->counts.records[topic][CONSUMED] += batch.count;
		client->offset[topic] = batch.baseOffset + batch.count;
	}
	client->counts.bytes[topic][CONSUMED] += records.n > 0 ? records.n : 0;
}

/* The same batch twice, as an idempotent producer does that missed the answer. */
static void send_twice(struct client *client, int topic, int records)
{
	char more[160];

	snprintf(more, sizeof more, ", 'producerId': %lld, 'producerEpoch': 0, 'baseSequence': %d",
		 (long long)client->producer_id, client->sequence[topic]);
	client->sequence[topic] += records;
	send_batch(client, topic, -1, records, more, ACCEPTED);
	send_batch(client, topic, -1, records, more, DUPLICATE);
}

static atomic_int working;        /* clients that are not done */

static void work_through(struct client *client)
{
	const struct kw_InitProducerIdResponse *id;
	char codec[40];
	void *body = body_for(client, 22, 4, "{'transactionalId': null, 'transactionTimeoutMs': 1000, 'producerId': "
			      "-1, 'producerEpoch': -1}");

	id = body ? exchange(client, 22, 4, body, true) : NULL;
	if (!id)
		return;
	client->producer_id = id->producerId;
	for (int i = 0; i < ROUNDS && !failure[0]; i++) {
		int topic = (i + client->number) % TOPICS, records = 1 + (i + client->number) % 7;

		snprintf(codec, sizeof codec, ", 'codec': '%s'", codecs[i % 5]);
		switch (i % 6) {
		case 0:
		case 1: send_batch(client, topic, i % 6 ? 1 : -1, records, codec, ACCEPTED); break;
		case 2: send_batch(client, topic, 0, records, codec, ACCEPTED); break;
		case 3: send_batch(client, topic, 1, records, ", 'crc': 1", REFUSED); break;
		case 4: send_twice(client, topic, records); break;
		case 5: read_some(client, topic); break;
		}
	}
	/* By this answer everything before it was handled. */
	body = body_for(client, 60, 0, "{}");
	if (body)
		exchange(client, 60, 0, body, true);
}

static void *work(void *arg)
{
	work_through(arg);
	atomic_fetch_sub(&working, 1);
	return NULL;
}

static void connect_client(struct client *client, int number)
{
	struct kt_err err = {0};

	*client = (struct client){.number = number};
	snprintf(client->id, sizeof client->id, "client-%d", number);
	kw_arena_init(&client->arena, 0);
	if (kc_connect("127.0.0.1", fb_cluster_node(run.process.cluster, 1)->port, client->id, soon(), &client->conn,
		       &err) < 0 ||
	    kc_negotiate(client->conn, soon(), &err) < 0 ||
	    kc_log_in_as(client->conn, users[number % USERS], number % USERS ? "b" : "a", soon(), &err) < 0)
		fail_msg("%s", err.text);
}

static void disconnect(struct client *clients)
{
	for (int i = 0; i < CLIENTS; i++) {
		kc_free(clients[i].conn);
		kw_arena_fini(&clients[i].arena);
	}
}

static void begin_work(struct client *clients)
{
	atomic_store(&working, CLIENTS);
	for (int i = 0; i < CLIENTS; i++)
		assert_int_equal(pthread_create(&clients[i].thread, NULL, work, &clients[i]), 0);
}

static void end_work(struct client *clients)
{
	for (int i = 0; i < CLIENTS; i++)
		pthread_join(clients[i].thread, NULL);
	if (failure[0])
		fail_msg("%s", failure);
}

/* ---- what the observer counted ---- */

static json_t *metrics(void)
{
	struct fb_observer *observer = fb_node_observer(run.process.cluster, fb_cluster_node(run.process.cluster, 1));
	json_t *json = fb_observer_json(observer), *found;

	found = json_incref(json_object_get(json_array_get(json_object_get(json, "observers"), 0), "metrics"));
	json_decref(json);
	fb_observer_unref(observer);
	return found;
}

/* The sum of the samples that have these labels: pairs of name and value, NULL at the end. */
static int64_t value_of(json_t *json, const char *metric, const char *const *labels)
{
	json_t *sample, *samples = json_object_get(json_object_get(json, metric), "samples");
	int64_t sum = 0;
	size_t i, k;

	assert_true(json_is_array(samples));
	json_array_foreach(samples, i, sample) {
		for (k = 0; labels[k]; k += 2) {
			const char *v = json_string_value(json_object_get(sample, labels[k]));

			if (!v || strcmp(v, labels[k + 1]) != 0)
				break;
		}
		if (!labels[k])
			sum += json_integer_value(json_object_get(sample, "value"));
	}
	return sum;
}

static int64_t of_principal(json_t *json, int user, const char *metric)
{
	char name[32];

	snprintf(name, sizeof name, "User:%s", users[user]);
	return value_of(json, metric, (const char *const[]){"principal", name, NULL});
}

static void compare_flows(json_t *json, const struct client *client)
{
	static const char *const outcomes[FLOWS] = {"accepted", "refused", "duplicate"};
	char principal[32];

	snprintf(principal, sizeof principal, "User:%s", users[client->number % USERS]);
	for (int t = 0; t < TOPICS; t++) {
		for (int flow = 0; flow < FLOWS; flow++) {
			const char *const labels[] = {
				"principal", principal, "client_id", client->id, "topic", topics[t],
				"direction", flow == CONSUMED ? "consumed" : "produced",
				outcomes[flow] ? "outcome" : NULL, outcomes[flow], NULL,
			};

			assert_int_equal(value_of(json, "traffic_flow_records_total", labels),
					 client->counts.records[t][flow]);
			assert_int_equal(value_of(json, "traffic_flow_record_bytes_total", labels),
					 client->counts.bytes[t][flow]);
		}
	}
}

static void traffic_equals_the_sockets(void **state)
{
	static const char *const frames[] = {"traffic_principal_requests_total",
					     "traffic_principal_request_bytes_total",
					     "traffic_principal_response_bytes_total"};
	struct client clients[CLIENTS];
	json_t *before, *after;

	(void)state;
	start("TrafficObserver", "inline", 10000);
	for (int i = 0; i < CLIENTS; i++)
		connect_client(&clients[i], i);
	before = metrics();
	begin_work(clients);
	end_work(clients);
	after = metrics();
	for (int i = 0; i < CLIENTS; i++)
		compare_flows(after, &clients[i]);
	for (int user = 0; user < USERS; user++) {
		int64_t wanted[3] = {0};

		for (int i = user; i < CLIENTS; i += USERS) {
			wanted[0] += clients[i].counts.requests;
			wanted[1] += clients[i].counts.out;
			wanted[2] += clients[i].counts.in;
		}
		for (int k = 0; k < 3; k++)
			assert_int_equal(of_principal(after, user, frames[k]) - of_principal(before, user, frames[k]),
					 wanted[k]);
	}
	json_decref(before);
	json_decref(after);
	disconnect(clients);
	running_stop(&run);
}

/* ---- while they are exchanged ---- */

static void sum_audit(int64_t records[TOPICS][FLOWS])
{
	static const char *const members[FLOWS] = {"produced", "refused", "duplicate", "consumed"};
	FILE *f = fopen(audit, "r");
	char line[2048];

	while (fgets(line, sizeof line, f)) {
		json_t *json = json_loads(line, 0, NULL);
		const char *topic = json_string_value(json_object_get(json, "topic"));

		assert_non_null(topic);
		for (int t = 0; t < TOPICS; t++)
			for (int flow = 0; flow < FLOWS && strcmp(topics[t], topic) == 0; flow++)
				records[t][flow] += json_integer_value(
					json_object_get(json_object_get(json, members[flow]), "records"));
		json_decref(json);
	}
	fclose(f);
}

/* Each instance writes what it counted when it is closed: together they counted everything, and nothing twice. */
static void exchange_under_load(const char *mode)
{
	static const char *const lists[] = {"AuditObserver,NoOpObserver", "AuditObserver",
					    "NoOpObserver,AuditObserver"};
	struct client clients[CLIENTS];
	int64_t got[TOPICS][FLOWS] = {0};
	struct kt_err err = {0};
	int fd;

	memcpy(audit + sizeof audit - 7, "XXXXXX", 6);
	fd = mkstemp(audit);
	close(fd);
	start("AuditObserver", mode, 10000);
	for (int i = 0; i < CLIENTS; i++)
		connect_client(&clients[i], i);
	begin_work(clients);
	for (int i = 0; atomic_load(&working) > 0 || i < 6; i++)
		assert_int_equal(fb_cluster_observe(run.process.cluster, lists[i % 3], NULL, NULL, true, &err), 0);
	end_work(clients);
	disconnect(clients);
	running_stop(&run);
	sum_audit(got);
	for (int t = 0; t < TOPICS; t++) {
		for (int flow = 0; flow < FLOWS; flow++) {
			int64_t wanted = 0;

			for (int i = 0; i < CLIENTS; i++)
				wanted += clients[i].counts.records[t][flow];
			assert_int_equal(got[t][flow], wanted);
		}
	}
	unlink(audit);
}

static void exchanged_inline(void **state)
{
	(void)state;
	exchange_under_load("inline");
}

static void exchanged_queued(void **state)
{
	(void)state;
	exchange_under_load("queued");
}

/* ---- an observer that hangs ---- */

/* Twenty seconds for each request, behind a queue: nobody waits, and closing it is bounded. */
static void hanging_behind_a_queue(void **state)
{
	struct client clients[CLIENTS];
	int64_t began = kc_now_ms();

	(void)state;
	start("SlowObserver", "queued", 50);
	for (int i = 0; i < CLIENTS; i++)
		connect_client(&clients[i], i);
	begin_work(clients);
	end_work(clients);
	disconnect(clients);
	running_stop(&run);
	assert_true(kc_now_ms() - began < 20000);
}

/* ---- connections that die ---- */

/* Requests whose clients are gone before the answer: what the broker logged as received is what was observed. */
static void dying_connections(void **state)
{
	static const char *const of_produce[] = {"api", "Produce", NULL};
	struct client client;
	json_t *json;

	(void)state;
	start("TrafficObserver", "inline", 10000);
	for (int i = 0; i < 40; i++) {
		struct kw_buf buf;
		void *body;

		connect_client(&client, i % CLIENTS);
		body = body_for(&client, 0, 9,
				"{'acks': %d, 'topicData': [{'name': 'orders', 'partitionData': [{'index': 0, "
				"'records': " BATCH("{'value': 'x', 'repeat': 3}") "}]}]}",
				i % 3 - 1);
		kw_buf_init(&buf, 0);
		assert_int_equal(kc_encode(client.conn, 0, 9, body, &buf, NULL, NULL), 0);
		/* Every fourth frame is cut off: it never was a request. */
		assert_int_equal(kc_write(client.conn, buf.p, i % 4 ? buf.n : buf.n - 1, soon(), NULL), 0);
		kw_buf_fini(&buf);
		kc_free(client.conn);
		kw_arena_fini(&client.arena);
	}
	json_decref(http_json(&run, 200, "POST", "/v1/wait",
			      "{\"api\": \"Produce\", \"count\": 30, \"timeoutMs\": 20000}"));
	json = http_json(&run, 200, "GET", "/v1/requests?api=Produce&limit=1000", NULL);
	assert_int_equal(json_array_size(json), 30);
	json_decref(json);
	json = metrics();
	assert_int_equal(value_of(json, "traffic_api_requests_total", of_produce), 30);
	assert_int_equal(value_of(json, "traffic_api_records_total", of_produce), 90);
	json_decref(json);
	assert_int_equal(end_of(&run, "orders"), 90);
	running_stop(&run);
}

/* A request that waits, and waits no longer than its client is there or maxWaitMs. */
static void dying_while_waiting(void **state)
{
	static const char *const of_fetch[] = {"api", "Fetch", NULL};
	struct client client;
	struct kw_buf buf;
	json_t *json;

	(void)state;
	start("TrafficObserver", "inline", 10000);
	for (int i = 0; i < 10; i++) {
		void *body;

		connect_client(&client, i % CLIENTS);
		body = body_for(&client, 1, 4,
				"{'replicaId': -1, 'maxWaitMs': 300, 'minBytes': 1, 'maxBytes': 1000, 'topics': "
				"[{'topic': 'orders', 'partitions': [{'partition': 0, 'partitionMaxBytes': 1000}]}]}");
		kw_buf_init(&buf, 0);
		assert_int_equal(kc_encode(client.conn, 1, 4, body, &buf, NULL, NULL), 0);
		assert_int_equal(kc_write(client.conn, buf.p, buf.n, soon(), NULL), 0);
		kw_buf_fini(&buf);
		kc_free(client.conn);
		kw_arena_fini(&client.arena);
	}
	json_decref(http_json(&run, 200, "POST", "/v1/wait",
			      "{\"api\": \"Fetch\", \"count\": 10, \"timeoutMs\": 20000}"));
	json = metrics();
	assert_int_equal(value_of(json, "traffic_api_requests_total", of_fetch), 10);
	json_decref(json);
	running_stop(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(traffic_equals_the_sockets),
		cmocka_unit_test(exchanged_inline),
		cmocka_unit_test(exchanged_queued),
		cmocka_unit_test(hanging_behind_a_queue),
		cmocka_unit_test(dying_connections),
		cmocka_unit_test(dying_while_waiting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
