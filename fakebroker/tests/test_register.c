/* Registrations: what the controller of Apache Kafka 4.4.0 answered, and the kit's check of static configurations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fakebroker/config/register.h"
#include "fakebroker/tests/cluster_view.h"

static const struct fb_feature_range features_44[] = {
	{{"metadata.version", 16}, 7, 33},   {{"kraft.version", 13}, 0, 1},
	{{"transaction.version", 19}, 0, 2}, {{"group.version", 13}, 0, 1},
	{{"share.version", 13}, 0, 2},       {{"eligible.leader.replicas.version", 32}, 0, 1},
	{{"streams.version", 15}, 0, 1},
};

enum { NFEATURES = sizeof features_44 / sizeof *features_44 };

static const struct kw_uuid dir_a = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
static const struct kw_uuid dir_b = {{9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9}};
static const struct kw_uuid me = {{7}}, other = {{8}};

/* A good request of a new broker. */
static struct fb_register_view good(void)
{
	static const struct fb_listener_view listener = {{"PLAINTEXT", 9}, {"localhost", 9}, 9092, 0};

	return (struct fb_register_view){
		.version = 4, .brokerId = 5, .clusterId = kw_str("cluster"), .incarnationId = me,
		.listeners = &listener, .nlisteners = 1, .features = features_44, .nfeatures = NFEATURES,
		.logDirs = &dir_a, .nlogDirs = 1,
	};
}

static void expect(struct fixture *f, const struct fb_register_view *request, int16_t code, const char *reason)
{
	struct fb_register_answer answer;

	assert_int_equal(fb_register_check(&f->view, request, &f->arena, &answer), 0);
	assert_int_equal(answer.errorCode, code);
	if (reason)
		assert_string_equal(answer.reason, reason);
	else
		assert_null(answer.reason);
}

static struct fb_register_answer check(struct fixture *f, const struct fb_register_view *request)
{
	struct fb_register_answer answer;

	assert_int_equal(fb_register_check(&f->view, request, &f->arena, &answer), 0);
	return answer;
}

/* Broker 1 is live, broker 80 is registered and fenced. */
static void two_brokers(struct fixture *f)
{
	f->brokers[0] = (struct fb_broker_view){.id = 1, .live = true, .incarnationId = other};
	f->brokers[1] = (struct fb_broker_view){.id = 80, .incarnationId = other, .logDirs = &dir_b, .nlogDirs = 1};
	f->view.nbrokers = 2;
}

/* ---- Kafka's answers ---- */

static void takes_a_good_one(void **state)
{
	struct fixture *f = *state;
	struct fb_register_view request = good();
	struct fb_register_answer answer;

	two_brokers(f);
	expect(f, &request, 0, NULL);
	request.brokerId = -1;
	expect(f, &request, 0, NULL);
	request.nlisteners = 0;
	expect(f, &request, 0, NULL);
	request.incarnationId = (struct kw_uuid){{0}};
	expect(f, &request, 0, NULL);
	/* A fenced broker's id is free; the same incarnation amends its registration. */
	request = good();
	request.brokerId = 80;
	assert_int_equal(fb_register_check(&f->view, &request, &f->arena, &answer), 0);
	assert_false(answer.amends);
	request.incarnationId = other;
	assert_int_equal(fb_register_check(&f->view, &request, &f->arena, &answer), 0);
	assert_int_equal(answer.errorCode, 0);
	assert_true(answer.amends);
}

static void cluster_id_comes_first(void **state)
{
	struct fixture *f = *state;
	struct fb_register_view request = good();

	request.clusterId = kw_str("wrong");
	request.nlogDirs = 0;
	request.isMigratingZkBroker = true;
	expect(f, &request, 104, "Expected cluster ID cluster, but got cluster ID wrong");
	request.clusterId = kw_str("");
	expect(f, &request, 104, "Expected cluster ID cluster, but got cluster ID ");
}

static void a_live_broker_keeps_its_id(void **state)
{
	struct fixture *f = *state;
	struct fb_register_view request = good();

	two_brokers(f);
	request.brokerId = 1;
	request.isMigratingZkBroker = true;
	expect(f, &request, 101, "Another broker is registered with that broker id. If the broker was recently "
	       "restarted this should self-resolve once the heartbeat manager expires the broker's session.");
}

static void no_zk_brokers(void **state)
{
	struct fixture *f = *state;
	struct fb_register_view request = good();

	request.isMigratingZkBroker = true;
	request.nlogDirs = 0;
	expect(f, &request, 102, "Controller does not support registering ZK brokers.");
}

static void log_directories(void **state)
{
	const struct kw_uuid reserved[] = {dir_a, {{[15] = 99}}}, twice[] = {dir_a, dir_a}, owned[] = {dir_a, dir_b};
	const struct kw_uuid allowed = {{[15] = 100}};
	struct fixture *f = *state;
	struct fb_register_view request = good();

	two_brokers(f);
	request.nlogDirs = 0;
	request.nfeatures = 0;
	expect(f, &request, 119, "No directories specified in request");
	request = good();
	request.nlogDirs = 2;
	request.logDirs = reserved;
	expect(f, &request, 119, "Reserved directory ID in request");
	request.logDirs = twice;
	expect(f, &request, 119, "Duplicate directory ID in request");
	request.logDirs = owned;
	expect(f, &request, 119, "Broker 80 is already registered with directory CQkJCQkJCQkJCQkJCQkJCQ");
	request.brokerId = 80;
	expect(f, &request, 0, NULL);
	request.logDirs = &allowed;
	request.nlogDirs = 1;
	expect(f, &request, 0, NULL);
	/* Only from the level that knows directories on. */
	f->view.levels = fb_levels_at(f->view.release, 16);
	request.nlogDirs = 0;
	expect(f, &request, 0, NULL);
}

#define NOT_SUPPORTED(level, feature, range) \
	"Unable to register because the broker does not support finalized version " level " of " feature ". " \
	"The broker wants a version between " range ", inclusive."

static void features(void **state)
{
	static const struct {
		struct fb_feature_range v[NFEATURES + 1];
		size_t n;
		int16_t code;
		const char *reason;
	} rows[] = {
		{{{{NULL, 0}, 0, 0}}, 0, 119, "Request features do not contain 'metadata.version'"},
		{{{{"group.version", 13}, 0, 1}}, 1, 119, "Request features do not contain 'metadata.version'"},
		{{{{"metadata.version", 16}, 7, 33}}, 1, 35, NOT_SUPPORTED("1", "group.version", "0 and 0")},
		{{{{"metadata.version", 16}, 7, 20}}, 1, 35, NOT_SUPPORTED("33", "metadata.version", "7 and 20")},
		{{{{"metadata.version", 16}, 100, 200}}, 1, 35, NOT_SUPPORTED("33", "metadata.version", "100 and 200")},
		{{{{"metadata.version", 16}, 33, 7}}, 1, 35, NOT_SUPPORTED("33", "metadata.version", "33 and 7")},
		{{{{"group.version", 13}, 5, 6}}, 1, 35, NOT_SUPPORTED("1", "group.version", "5 and 6")},
		{{{{"foo", 3}, 1, 2}}, 1, 35, NOT_SUPPORTED("0", "foo", "1 and 2")},
		{{{{"metadata.version", 16}, 33, 33}, {{"transaction.version", 19}, 0, 2},
		  {{"group.version", 13}, 0, 1}, {{"share.version", 13}, 0, 2},
		  {{"eligible.leader.replicas.version", 32}, 0, 1}, {{"streams.version", 15}, 0, 1},
		  {{"foo", 3}, 0, 5}}, 7, 0, NULL},
		{{{{"metadata.version", 16}, 7, 33}, {{"group.version", 13}, 0, 1}, {{"share.version", 13}, 0, 2},
		  {{"eligible.leader.replicas.version", 32}, 0, 1}, {{"streams.version", 15}, 0, 1}}, 5, 35,
		 NOT_SUPPORTED("2", "transaction.version", "0 and 0")},
	};
	struct fixture *f = *state;
	struct fb_register_view request = good();

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		request.features = rows[i].v;
		request.nfeatures = rows[i].n;
		expect(f, &request, rows[i].code, rows[i].reason);
	}
	/* A node at 7 has no feature that a broker could lack. */
	f->view.levels = fb_levels_at(f->view.release, 7);
	request.features = rows[2].v;
	request.nfeatures = 1;
	expect(f, &request, 0, NULL);
}

/* ---- the kit's answers ---- */

/* Kafka's controller falls over these. */
static void hostile_listeners(void **state)
{
	static const struct {
		struct fb_listener_view v;
		const char *reason;
	} rows[] = {
		{{{"P", 1}, {"h", 1}, 0, 0}, "Cannot serialize ephemeral port 0 in ListenerInfo."},
		{{{"P", 1}, {"", 0}, 1, 0}, "Cannot serialize empty host in ListenerInfo."},
		{{{"P", 1}, {"h", 1}, 1, 99}, "Unknown security protocol 99 in listener P"},
		{{{"P", 1}, {"h", 1}, 1, -1}, "Unknown security protocol -1 in listener P"},
		{{{"", 0}, {"h", 1}, 1, 0}, "Broker listeners must be named."},
	};
	struct fixture *f = *state;
	struct fb_register_view request = good();

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		request.listeners = &rows[i].v;
		expect(f, &request, 119, rows[i].reason);
		/* They come after the directories and before the features. */
		request.nfeatures = 0;
		expect(f, &request, 119, rows[i].reason);
		request.nlogDirs = 0;
		expect(f, &request, 119, "No directories specified in request");
		request.nfeatures = NFEATURES;
		request.nlogDirs = 1;
	}
}

/* As Kafka 4.4.0 does: it finds the missing name when it has taken all else. */
static void hostile_listeners_topple(void **state)
{
	static const struct {
		struct fb_listener_view v;
		enum fb_fault fault;
	} rows[] = {
		{{{"P", 1}, {"h", 1}, 0, 0}, FB_F_PORT_ZERO},
		{{{"P", 1}, {"", 0}, 1, 0}, FB_F_EMPTY_HOST},
		{{{"P", 1}, {"h", 1}, 1, 4}, FB_F_PROTOCOL},
		{{{"", 0}, {"h", 1}, 1, 0}, FB_F_EMPTY_NAME},
	};
	struct fixture *f = *state;
	struct fb_register_view request = good();

	f->view.imitates = true;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		bool named = rows[i].fault != FB_F_EMPTY_NAME;

		request.listeners = &rows[i].v;
		assert_int_equal(check(f, &request).fault, rows[i].fault);
		assert_int_equal(check(f, &request).errorCode, -1);
		request.nfeatures = 0;
		assert_int_equal(check(f, &request).fault, named ? rows[i].fault : FB_NO_FAULT);
		assert_int_equal(check(f, &request).errorCode, named ? -1 : 119);
		request.nfeatures = NFEATURES;
		request.nlogDirs = 0;
		assert_int_equal(check(f, &request).fault, FB_NO_FAULT);
		assert_int_equal(check(f, &request).errorCode, 119);
		request.nlogDirs = 1;
	}
}

/* Of one name the last listener counts. */
static void a_listener_twice(void **state)
{
	static const struct fb_listener_view bad_first[] = {{{"P", 1}, {"h", 1}, 0, 0}, {{"P", 1}, {"h", 1}, 1, 0}};
	static const struct fb_listener_view bad_last[] = {{{"P", 1}, {"h", 1}, 1, 0}, {{"P", 1}, {"h", 1}, 0, 0}};
	struct fixture *f = *state;
	struct fb_register_view request = good();

	request.nlisteners = 2;
	request.listeners = bad_first;
	expect(f, &request, 0, NULL);
	request.listeners = bad_last;
	expect(f, &request, 119, "Cannot serialize ephemeral port 0 in ListenerInfo.");
}

/* Hundreds of thousands fit into a request, which the controller has the cluster's lock for. It may not take hours. */
static void many_listeners_twice(void **state)
{
	enum { N = 400000 };
	struct fb_listener_view *listeners = calloc(2 * N, sizeof *listeners);
	char (*names)[8] = calloc(N, sizeof *names);
	struct fixture *f = *state;
	struct fb_register_view request = good();

	for (size_t i = 0; i < N; i++) {
		int n = snprintf(names[i], sizeof *names, "L%zu", i);

		listeners[i] = (struct fb_listener_view){{names[i], n}, {"h", 1}, 0, 0};
		listeners[N + i] = (struct fb_listener_view){{names[i], n}, {"h", 1}, 1, 0};
	}
	request.listeners = listeners;
	request.nlisteners = 2 * N;
	expect(f, &request, 0, NULL);
	free(names);
	free(listeners);
}

static void static_configs(void **state)
{
	static const struct fb_static_config bad[] = {{{"kit.rises", 9}, {"16", 2}, false},
						      {{"kit.default", 11}, {"6", 1}, false},
						      {{"no.such.config", 14}, {"x", 1}, false}};
	static const struct fb_static_config fine[] = {{{"kit.rises", 9}, {"1024", 4}, false},
						       {{"kit.default", 11}, {"6", 1}, false},
						       {{"kit.secret", 10}, {NULL, -1}, true}};
	struct fixture *f = *state;
	struct fb_register_view request = good();

	request.version = 5;
	request.statics = bad;
	request.nstatics = 3;
	expect(f, &request, 119, "metadata.version 33 makes these configurations illegal: broker 5 static "
	       "kit.rises=16: Invalid value 16 for configuration kit.rises: Value must be at least 1024 "
	       "(rule of level 28)");
	request.statics = fine;
	expect(f, &request, 0, NULL);
	/* What it does not report has its default, which may be illegal. */
	request.nstatics = 1;
	expect(f, &request, 119, "metadata.version 33 makes these configurations illegal: broker 5 default "
	       "kit.default=5: Invalid value 5 for configuration kit.default: Value must be at least 6 "
	       "(rule of level 31)");
	/* A request that cannot tell is not held against it. */
	request.version = 4;
	expect(f, &request, 0, NULL);
	/* Kafka's own checks come first. */
	request.version = 5;
	request.nfeatures = 0;
	expect(f, &request, 119, "Request features do not contain 'metadata.version'");
	/* Dynamic values are not the registration's business. */
	request = good();
	request.version = 5;
	request.statics = fine;
	request.nstatics = 3;
	set(f, FB_BROKER, "5", "kit.rises", "1");
	expect(f, &request, 0, NULL);
}

static void below_the_level_of_static_configs(void **state)
{
	static const struct fb_static_config bad[] = {{{"kit.rises", 9}, {"0", 1}, false}};
	struct fixture *f = *state;
	struct fb_register_view request = good();
	struct fb_register_answer answer;

	assert_int_equal(fb_configs_set_static(f->configs, FB_ALL_NODES, kw_str("kit.static.configs.level"),
					       kw_str("29"), NULL),
			 0);
	f->view.levels = fb_levels_at(f->view.release, 28);
	request.version = 5;
	request.statics = bad;
	request.nstatics = 1;
	assert_int_equal(fb_register_check(&f->view, &request, &f->arena, &answer), 0);
	assert_int_equal(answer.errorCode, 0);
	assert_false(answer.keepsStatics);
	f->view.levels = fb_levels_at(f->view.release, 29);
	assert_int_equal(fb_register_check(&f->view, &request, &f->arena, &answer), 0);
	assert_int_equal(answer.errorCode, 119);
	assert_false(answer.keepsStatics);
	request.nstatics = 0;
	assert_int_equal(fb_register_check(&f->view, &request, &f->arena, &answer), 0);
	assert_int_equal(answer.errorCode, 0);
	assert_true(answer.keepsStatics);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(takes_a_good_one, view_setup, view_teardown),
		cmocka_unit_test_setup_teardown(cluster_id_comes_first, view_setup, view_teardown),
		cmocka_unit_test_setup_teardown(a_live_broker_keeps_its_id, view_setup, view_teardown),
		cmocka_unit_test_setup_teardown(no_zk_brokers, view_setup, view_teardown),
		cmocka_unit_test_setup_teardown(log_directories, view_setup, view_teardown),
		cmocka_unit_test_setup_teardown(features, view_setup, view_teardown),
		cmocka_unit_test_setup_teardown(hostile_listeners, view_setup, view_teardown),
		cmocka_unit_test_setup_teardown(hostile_listeners_topple, view_setup, view_teardown),
		cmocka_unit_test_setup_teardown(a_listener_twice, view_setup, view_teardown),
		cmocka_unit_test_setup_teardown(many_listeners_twice, view_setup, view_teardown),
		cmocka_unit_test_setup_teardown(static_configs, view_setup, view_teardown),
		cmocka_unit_test_setup_teardown(below_the_level_of_static_configs, view_setup, view_teardown),
	};

	return cmocka_run_group_tests_name("register", tests, NULL, NULL);
}
