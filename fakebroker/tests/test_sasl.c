/* SASL/PLAIN: byte for byte what Kafka answers, and who is then known to rules and observers. */
#include "fakebroker/control/rules.h"
#include "fakebroker/tests/talk.h"
#include "lib/client/login.h"
#include "lib/text/base64.h"

static const char jaas[] = "listener.name.client.plain.sasl.jaas.config=org.apache.kafka.common.security.plain."
			   "PlainLoginModule required username=\"admin\" password=\"admin-secret\" "
			   "user_admin=\"admin-secret\" user_alice=\"wonder\";";

static const char *sets[] = {
	"listeners=CLIENT://:9092,CONTROLLER://:9093",
	"controller.listener.names=CONTROLLER",
	"listener.security.protocol.map=CONTROLLER:PLAINTEXT,CLIENT:SASL_PLAINTEXT",
	"sasl.enabled.mechanisms=PLAIN",
	jaas,
	"observer.class.name=TrafficObserver",
};

static struct running run;
static struct kc_login login;

enum { LIST_GROUPS = 16 };

static int setup(void **state)
{
	const struct fb_settings settings = {.set = {.v = sets, .n = sizeof sets / sizeof *sets}};

	(void)state;
	running_start(&run, &settings);
	make_topic(&run, "t");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	running_stop(&run);
	kc_login_fini(&login);
	return 0;
}

static struct kc_conn *connect_plainly(void)
{
	struct kc_conn *conn;

	assert_int_equal(kc_connect("127.0.0.1", fb_cluster_node(run.process.cluster, 1)->port, "test", soon(), &conn,
				    NULL),
			 0);
	return conn;
}

/* Sends a frame given in hex; what comes back, in hex, or "closed". */
static void exchange(struct kc_conn *conn, const char *frame, char *answer, size_t size)
{
	size_t n = strlen(frame) / 2;
	uint8_t *bytes = malloc(n + 5);
	const uint8_t *p;
	struct kt_err err = {0};
	int rc;

	kw_wr32(bytes, (uint32_t)n);
	assert_int_equal(kt_hex_decode(frame, strlen(frame), bytes + 4), (long)n);
	rc = kc_write(conn, bytes, n + 4, soon(), &err);
	if (rc == 0)
		rc = kc_read_frame(conn, soon(), &p, &n, &err);
	if (rc == 0) {
		assert_true(2 * n < size);
		kt_hex_encode(p, n, answer);
	} else {
		assert_true(rc == KT_ECLOSED || rc == KT_ENET);
		snprintf(answer, size, "closed");
	}
	free(bytes);
}

static void answers_as_kafka(void **state)
{
	json_t *doc = json_load_file("fakebroker/tests/data/sasl_kafka_4.4.0.json", 0, NULL), *row, *step;
	size_t i, k;

	(void)state;
	assert_non_null(doc);
	assert_true(json_array_size(json_object_get(doc, "rows")) > 40);
	json_array_foreach(json_object_get(doc, "rows"), i, row) {
		struct kc_conn *conn = connect_plainly();

		json_array_foreach(json_object_get(row, "steps"), k, step) {
			const char *wanted = json_string_value(json_array_get(step, 1));
			char answer[8192];

			exchange(conn, json_string_value(json_array_get(step, 0)), answer, sizeof answer);
			if (strcmp(wanted, "any") == 0 ? strcmp(answer, "closed") == 0 : strcmp(answer, wanted) != 0)
				fail_msg("%s, step %zu: %s instead of %s",
					 json_string_value(json_object_get(row, "name")), k + 1, answer, wanted);
		}
		kc_free(conn);
	}
	json_decref(doc);
}

/* A size above sasl.server.max.receive.size ends the connection before the frame has come. */
static void bounds_frames_of_strangers(void **state)
{
	static const uint8_t size[4] = {0, 8, 0, 1};   /* 524289 */
	struct kc_conn *conn = connect_plainly();

	(void)state;
	assert_int_equal(kc_write(conn, size, sizeof size, soon(), NULL), 0);
	assert_int_equal(kc_wait_close(conn, soon()), KC_CLOSED);
	kc_free(conn);
}

static void set_login(const char *user, const char *password)
{
	assert_int_equal(kc_login_set(&login, "security.protocol", "SASL_PLAINTEXT", NULL), 1);
	assert_int_equal(kc_login_set(&login, "sasl.mechanism", "PLAIN", NULL), 1);
	assert_int_equal(kc_login_set(&login, "sasl.username", user, NULL), 1);
	assert_int_equal(kc_login_set(&login, "sasl.password", password, NULL), 1);
	assert_int_equal(kc_login_check(&login, NULL), 0);
}

static struct kc_conn *dial_as(const char *user, const char *password)
{
	struct kc_conn *conn = connect_plainly();

	set_login(user, password);
	kc_use_login(conn, &login);
	assert_int_equal(kc_negotiate(conn, soon(), NULL), 0);
	return conn;
}

/* Who does not log in is told what the matter may be, at the first request alone. */
static void says_what_may_lack(void **state)
{
	struct kw_ListGroupsRequest request = {0};
	struct kc_conn *conn = connect_plainly();
	struct kc_login nobody = {.how = "give a login"};
	struct kw_arena arena;
	struct kt_err err = {0};
	char wanted[300];
	void *response;

	(void)state;
	snprintf(wanted, sizeof wanted, "127.0.0.1:%d closed the connection at the first request after ApiVersions, as "
		 "a listener does that wants a SASL login; give a login",
		 fb_cluster_node(run.process.cluster, 1)->port);
	kw_arena_init(&arena, 0);
	kc_use_login(conn, &nobody);
	assert_int_equal(kc_negotiate(conn, soon(), &err), 0);
	assert_int_equal(kc_call(conn, LIST_GROUPS, 0, &request, soon(), &arena, &response, &err), KT_ECLOSED);
	assert_string_equal(err.text, wanted);
	kc_free(conn);
	conn = dial_as("alice", "wonder");
	err = (struct kt_err){0};
	assert_int_equal(kc_call(conn, LIST_GROUPS, 99, &request, soon(), &arena, &response, &err), KT_EVERSION);
	assert_null(strstr(err.text, "SASL"));
	kc_free(conn);
	kw_arena_fini(&arena);
}

static void refuses_the_client(void **state)
{
	struct kc_conn *conn = connect_plainly();
	struct kt_err err = {0};

	(void)state;
	set_login("alice", "looking-glass");
	kc_use_login(conn, &login);
	assert_int_equal(kc_negotiate(conn, soon(), &err), KT_EPEER);
	assert_non_null(strstr(err.text,
			       "SASL_AUTHENTICATION_FAILED (58): Authentication failed: Invalid username or password"));
	assert_int_equal(kc_wait_close(conn, soon()), KC_CLOSED);
	kc_free(conn);
}

static void put_rule(const char *text)
{
	json_t *json = quoted(text);
	struct kt_err err = {0};
	struct kt_obj obj;

	kt_obj_open(&obj, NULL, json, "$", &err);
	assert_int_equal(fb_rules_put(run.process.cluster->rules, NULL, &obj), 0);
	json_decref(json);
}

static json_int_t traffic_of(const char *principal, const char *metric)
{
	struct fb_observer *observer = fb_node_observer(run.process.cluster, fb_cluster_node(run.process.cluster, 1));
	json_t *json = fb_observer_json(observer), *sample, *metrics;
	json_int_t value = 0;
	size_t i;

	metrics = json_object_get(json_array_get(json_object_get(json, "observers"), 0), "metrics");
	json_array_foreach(json_object_get(json_object_get(metrics, metric), "samples"), i, sample)
		if (strcmp(json_string_value(json_object_get(sample, "principal")), principal) == 0)
			value = json_integer_value(json_object_get(sample, "value"));
	json_decref(json);
	fb_observer_unref(observer);
	return value;
}

static void principals_are_known(void **state)
{
	struct kc_conn *alice, *admin;

	(void)state;
	put_rule("{'name': 'r', 'match': {'api': 'Produce', 'principal': 'User:ali*'}, 'action': {'error': "
		 "'TOPIC_AUTHORIZATION_FAILED'}}");
	alice = dial_as("alice", "wonder");
	admin = dial_as("admin", "admin-secret");
	assert_int_equal(produce(&run, alice, "t", BATCH("{'value': 'YQ=='}, {'value': 'YQ=='}")), -29);
	assert_int_equal(produce(&run, admin, "t", BATCH("{'value': 'YQ=='}")), 0);
	assert_int_equal(traffic_of("User:alice", "traffic_principal_records_total"), 2);
	assert_int_equal(traffic_of("User:admin", "traffic_principal_records_total"), 1);
	/* SaslAuthenticate makes the principal; what came before was nobody's. */
	assert_int_equal(traffic_of("User:alice", "traffic_principal_requests_total"), 2);
	assert_true(traffic_of("User:ANONYMOUS", "traffic_principal_requests_total") > 0);
	kc_free(alice);
	kc_free(admin);
}

/* What cannot be served is told at the start. */
static void configuration(void **state)
{
	static const struct {
		const char *set[5];
		size_t n;
		const char *wanted;
	} rows[] = {
		{{"listeners=CLIENT://:1"},
		 1,
		 "listener.security.protocol.map: there is no protocol for listener CLIENT"},
		{{"listeners=SSL://:1"},
		 1,
		 "listener.security.protocol.map: listener SSL has the protocol SSL; served are PLAINTEXT "
		 "and SASL_PLAINTEXT"},
		{{"listeners=SASL_PLAINTEXT://:1"},
		 1,
		 "sasl.enabled.mechanisms of listener SASL_PLAINTEXT is \"GSSAPI\"; PLAIN alone "
		 "is served"},
		{{"listeners=SASL_PLAINTEXT://:1", "sasl.enabled.mechanisms=PLAIN"},
		 2,
		 "listener SASL_PLAINTEXT needs listener.name.NAME.plain.sasl.jaas.config (NAME in lower case)"},
		{{"listeners=SASL_PLAINTEXT://:1", "sasl.enabled.mechanisms=PLAIN",
		  "listener.name.sasl_plaintext.plain.sasl.jaas.config=Module required"},
		 3,
		 "plain.sasl.jaas.config of listener SASL_PLAINTEXT: the JAAS entry is not terminated by a semicolon"},
		{{"listeners=SASL_PLAINTEXT://:1", "sasl.enabled.mechanisms=PLAIN",
		  "listener.name.sasl_plaintext.plain.sasl.jaas.config=Module required;"},
		 3,
		 "plain.sasl.jaas.config of listener SASL_PLAINTEXT: the login module must be "
		 "org.apache.kafka.common.security.plain.PlainLoginModule"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct fb_settings settings = {.host = "127.0.0.1",
						     .advertise = "127.0.0.1",
						     .threads = 1,
						     .check = true,
						     .set = {.v = (const char **)rows[i].set, .n = rows[i].n}};
		struct fb_broker_process process;
		struct kt_err err = {0};

		assert_int_not_equal(fb_start(&process, &settings, &err), 0);
		assert_string_equal(err.text, rows[i].wanted);
		fb_stop(&process);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(answers_as_kafka, setup, teardown),
		cmocka_unit_test_setup_teardown(bounds_frames_of_strangers, setup, teardown),
		cmocka_unit_test_setup_teardown(says_what_may_lack, setup, teardown),
		cmocka_unit_test_setup_teardown(refuses_the_client, setup, teardown),
		cmocka_unit_test_setup_teardown(principals_are_known, setup, teardown),
		cmocka_unit_test(configuration),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
