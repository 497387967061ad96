/* Rules: put, counted and deleted over HTTP, and what a client sees of them. */
#include "fakebroker/cluster/log_line.h"
#include "fakebroker/control/rules.h"
#include "fakebroker/tests/http.h"
#include "fakebroker/tests/talk.h"

static struct running run;

static int set_up(void **state)
{
	struct fb_settings settings = {.nodes = 2, .seed = 11};

	(void)state;
	running_start(&run, &settings);
	make_topic(&run, "t");
	make_topic(&run, "u");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	running_stop(&run);
	return 0;
}

/* ---- over HTTP ---- */

/* ' stands for ". A new reference to what the broker says of the rule. */
static json_t *put(struct running *r, const char *name, const char *rule)
{
	json_t *json = quoted(rule), *answer;
	char *text = json_dumps(json, 0), path[100];

	snprintf(path, sizeof path, "/v1/rules/%s", name);
	answer = http_json(r, 200, "PUT", path, text);
	free(text);
	json_decref(json);
	return answer;
}

static void set_rule(const char *rule)
{
	json_decref(put(&run, "r", rule));
}

static void delete(const char *name)
{
	char path[100];

	snprintf(path, sizeof path, "/v1/rules/%s", name);
	json_decref(http_json(&run, 200, "DELETE", path, NULL));
}

static int64_t hits(const char *name)
{
	char path[100];
	json_t *json;
	int64_t n;

	snprintf(path, sizeof path, "/v1/rules/%s", name);
	json = http_json(&run, 200, "GET", path, NULL);
	n = num_at(json, "hits");
	json_decref(json);
	return n;
}

static void rules_come_and_go(void **state)
{
	json_t *json = put(&run, "one",
			   "{'match': {'api': 'Fetch'}, 'action': {'delay': 5}, 'expect': {'atLeast': 1}}");

	(void)state;
	assert_string_equal(str_at(json, "name"), "one");
	assert_string_equal(str_at(json, "match.api"), "Fetch");
	assert_int_equal(num_at(json, "action.delay"), 5);
	assert_int_equal(num_at(json, "expect.atLeast"), 1);
	assert_int_equal(num_at(json, "seen"), 0);
	assert_int_equal(num_at(json, "hits"), 0);
	json_decref(json);
	json_decref(put(&run, "two%20words",
			"{'name': 'two words', 'match': {'api': 'Fetch'}, 'action': {'close': true}}"));
	json_decref(put(&run, "one", "{'match': {'api': 'Produce'}, 'action': {'error': 'CORRUPT_MESSAGE'}}"));
	json = http_json(&run, 200, "GET", "/v1/rules", NULL);
	assert_int_equal(json_array_size(json), 2);
	assert_string_equal(str_at(json, "0.name"), "one");   /* in its place */
	assert_string_equal(str_at(json, "0.match.api"), "Produce");
	assert_string_equal(str_at(json, "1.name"), "two words");
	json_decref(json);
	delete("two%20words");
	http_error(&run, 404, "GET", "/v1/rules/two%20words", NULL, "there is no rule \"two words\"");
	http_error(&run, 404, "DELETE", "/v1/rules/two%20words", NULL, "there is no rule \"two words\"");
	delete("one");
	json = http_json(&run, 200, "GET", "/v1/rules", NULL);
	assert_int_equal(json_array_size(json), 0);
	json_decref(json);
}

/* ---- matching ---- */

static bool describes(struct kc_conn *conn)
{
	int64_t error = ask_num(&run, conn, "errorCode", "DescribeCluster", 0, "{}");

	assert_true(error == 0 || error == 56);
	return error == 0;
}

static void by_api_and_version(void **state)
{
	struct kc_conn *conn = dial(&run, 1);

	(void)state;
	set_rule("{'match': {'api': 'DescribeCluster', 'version': 0}, 'action': {'error': 'KAFKA_STORAGE_ERROR'}}");
	assert_false(describes(conn));
	assert_int_equal(ask_num(&run, conn, "errorCode", "DescribeCluster", 1, "{'endpointType': 1}"), 0);
	assert_int_equal(ask_num(&run, conn, "errorCode", "DescribeQuorum", 0, "{}"), 0);
	assert_int_equal(hits("r"), 1);
	delete("r");
	assert_true(describes(conn));
	kc_free(conn);
}

static void by_node(void **state)
{
	struct kc_conn *one = dial(&run, 1), *two = dial(&run, 2), *controller = dial(&run, FB_CONTROLLER_ID);

	(void)state;
	set_rule("{'match': {'api': 'DescribeQuorum', 'node': 2}, 'action': {'error': 'KAFKA_STORAGE_ERROR'}}");
	assert_int_equal(ask_num(&run, one, "errorCode", "DescribeQuorum", 0, "{}"), 0);
	assert_int_equal(ask_num(&run, two, "errorCode", "DescribeQuorum", 0, "{}"), 56);
	set_rule("{'match': {'api': 'DescribeQuorum', 'node': 1000}, 'action': {'error': 'KAFKA_STORAGE_ERROR'}}");
	assert_int_equal(ask_num(&run, two, "errorCode", "DescribeQuorum", 0, "{}"), 0);
	assert_int_equal(ask_num(&run, controller, "errorCode", "DescribeQuorum", 0, "{}"), 56);
	delete("r");
	kc_free(one);
	kc_free(two);
	kc_free(controller);
}

static bool is_hit(const char *pattern, const char *client_id)
{
	int port = fb_cluster_node(run.process.cluster, 1)->port;
	struct kc_conn *conn;
	char rule[200];
	bool hit;

	assert_int_equal(kc_connect("127.0.0.1", port, client_id, soon(), &conn, NULL), 0);
	snprintf(rule, sizeof rule,
		 "{'match': {'clientId': '%s'}, 'action': {'error': 'KAFKA_STORAGE_ERROR'}}", pattern);
	set_rule(rule);
	hit = !describes(conn);
	delete("r");
	kc_free(conn);
	return hit;
}

static void by_client_id(void **state)
{
	(void)state;
	assert_true(is_hit("app-1", "app-1"));
	assert_false(is_hit("app-1", "app-11"));
	assert_true(is_hit("app-*", "app-11"));
	assert_true(is_hit("app-[0-9]", "app-7"));
	assert_false(is_hit("app-?", "app-"));
	assert_true(is_hit("*", ""));
	assert_true(is_hit("*", NULL));
	assert_true(is_hit("", NULL));
	assert_false(is_hit("?*", NULL));
}

static int64_t fetch_error(struct kc_conn *conn, const char *topic)
{
	return ask_num(&run, conn, "responses.0.partitions.0.errorCode", "Fetch", 12,
		       "{'maxBytes': 1000, 'topics': [{'topic': "
		       "'%s', 'partitions': [{'partition': 0, 'partitionMaxBytes': 1000}]}]}", topic);
}

static int64_t fetch_error_by_id(struct kc_conn *conn, const char *topic)
{
	char id[23];

	kw_uuid_text(fb_topic_find(run.process.cluster, kw_str(topic))->id, id);
	return ask_num(&run, conn, "responses.0.partitions.0.errorCode", "Fetch", 13,
		       "{'maxBytes': 1000, 'topics': [{'topicId': "
		       "'%s', 'partitions': [{'partition': 0, 'partitionMaxBytes': 1000}]}]}", id);
}

static void by_topic(void **state)
{
	struct kc_conn *conn = dial(&run, 1);

	(void)state;
	set_rule("{'match': {'topic': 't'}, 'action': {'error': 'KAFKA_STORAGE_ERROR'}}");
	assert_int_equal(fetch_error(conn, "t"), 56);
	assert_int_equal(fetch_error(conn, "u"), 0);
	assert_int_equal(fetch_error_by_id(conn, "t"), 56);
	assert_int_equal(fetch_error_by_id(conn, "u"), 0);
	assert_int_equal(ask_num(&run, conn, "topics.0.errorCode", "Metadata", 12, "{'topics': [{'name': 't'}]}"), 56);
	assert_int_equal(ask_num(&run, conn, "topics.0.errorCode", "Metadata", 12, "{'topics': [{'name': 'u'}]}"), 0);
	assert_int_equal(ask_num(&run, conn, "responses.0.errorCode", "DeleteTopics", 5, "{'topicNames': ['t']}"), 56);
	assert_int_equal(ask_num(&run, conn, "results.0.errorCode", "DescribeConfigs", 4,
				 "{'resources': [{'resourceType': 2, "
				 "'resourceName': 'u', 'configurationKeys': []}]}"), 0);
	assert_int_equal(hits("r"), 4);
	delete("r");
	kc_free(conn);
}

/* Bit i is set if request i of 8 is hit. */
static unsigned pattern(const char *match)
{
	struct kc_conn *conn = dial(&run, 1);
	char rule[300];
	unsigned bits = 0;

	snprintf(rule, sizeof rule,
		 "{'match': {'api': 'DescribeCluster'%s%s}, 'action': {'error': 'KAFKA_STORAGE_ERROR'}}",
		 *match ? ", " : "", match);
	set_rule(rule);
	for (unsigned i = 0; i < 8; i++)
		bits |= (unsigned)!describes(conn) << i;
	assert_int_equal(hits("r"), __builtin_popcount(bits));
	delete("r");
	kc_free(conn);
	return bits;
}

static void by_count(void **state)
{
	(void)state;
	assert_int_equal(pattern(""), 0xff);
	assert_int_equal(pattern("'nth': 3"), 0x04);
	assert_int_equal(pattern("'every': 1"), 0xff);
	assert_int_equal(pattern("'every': 3"), 0x24);
	assert_int_equal(pattern("'times': 2"), 0x03);
	assert_int_equal(pattern("'every': 2, 'times': 2"), 0x0a);
	assert_int_equal(pattern("'nth': 9"), 0);
	assert_int_equal(pattern("'probability': 0"), 0);
	assert_int_equal(pattern("'probability': 1"), 0xff);
	assert_int_equal(pattern("'probability': 1, 'times': 3"), 0x07);
}

static void the_first_rule_wins(void **state)
{
	struct kc_conn *conn = dial(&run, 1);

	(void)state;
	json_decref(put(&run, "a",
			"{'match': {'api': 'DescribeCluster', 'times': 1}, 'action': {'error': 'CORRUPT_MESSAGE'}}"));
	json_decref(put(&run, "b",
			"{'match': {'api': 'DescribeCluster'}, 'action': {'error': 'KAFKA_STORAGE_ERROR'}}"));
	assert_int_equal(ask_num(&run, conn, "errorCode", "DescribeCluster", 0, "{}"), 2);
	assert_int_equal(ask_num(&run, conn, "errorCode", "DescribeCluster", 0, "{}"), 56);
	assert_int_equal(hits("a"), 1);
	assert_int_equal(hits("b"), 1);
	delete("a");
	delete("b");
	kc_free(conn);
}

/* Which of 64 requests a broker of this seed hits. */
static uint64_t dice_of(int64_t seed)
{
	struct fb_settings settings = {.nodes = 1, .seed = seed};
	struct running other;
	struct kc_conn *conn;
	uint64_t bits = 0;

	running_start(&other, &settings);
	json_decref(put(&other, "r", "{'match': {'api': 'DescribeCluster', 'probability': 0.5}, "
				     "'action': {'error': 'KAFKA_STORAGE_ERROR'}}"));
	conn = dial(&other, 1);
	for (unsigned i = 0; i < 64; i++)
		bits |= (uint64_t)(ask_num(&other, conn, "errorCode", "DescribeCluster", 0, "{}") != 0) << i;
	kc_free(conn);
	running_stop(&other);
	return bits;
}

static void dice_repeat_with_their_seed(void **state)
{
	uint64_t bits = dice_of(42);

	(void)state;
	assert_true(bits == dice_of(42));
	assert_true(bits != dice_of(43));
	assert_in_range(__builtin_popcountll(bits), 16, 48);
}

/* ---- actions ---- */

static const char one_record[] = "'topicData': [{'name': 't', 'partitionData': [{'index': 0, 'records': {'batches': "
				 "[{'records': [{'value': 'a'}]}]}}]}]";

static void an_error_changes_nothing(void **state)
{
	struct kc_conn *conn = dial(&run, 1);
	int64_t end = end_of(&run, "t");
	json_t *json;

	(void)state;
	set_rule("{'match': {'api': 'Produce'}, 'action': {'error': 'NOT_ENOUGH_REPLICAS'}}");
	json = talk(&run, conn, "Produce", 9, "{'acks': 1, %s}", one_record);
	assert_int_equal(num_at(json, "responses.0.partitionResponses.0.errorCode"), 19);
	assert_int_equal(num_at(json, "responses.0.partitionResponses.0.baseOffset"), -1);
	json_decref(json);
	assert_int_equal(end_of(&run, "t"), end);
	tell(&run, conn, "Produce", 9, "{'acks': 0, %s}", one_record);
	assert_int_equal(kc_wait_close(conn, soon()), KC_CLOSED);
	assert_int_equal(end_of(&run, "t"), end);
	kc_free(conn);
	conn = dial(&run, 1);
	set_rule("{'match': {'api': 'CreateTopics'}, 'action': {'error': 'NOT_CONTROLLER'}}");
	assert_int_equal(ask_num(&run, conn, "topics.0.errorCode", "CreateTopics", 7, "{'topics': [{'name': 'n', "
				 "'numPartitions': 1, 'replicationFactor': 1}]}"), 41);
	assert_int_equal(ask_num(&run, conn, "topics.0.errorCode", "Metadata", 12, "{'topics': [{'name': 'n'}], "
				 "'allowAutoTopicCreation': false}"), 3);
	delete("r");
	kc_free(conn);
}

static void close_closes_unanswered(void **state)
{
	struct kc_conn *conn = dial(&run, 1), *other = dial(&run, 1);
	json_t *list = http_json(&run, 200, "GET", "/v1/requests?api=DescribeQuorum", NULL);
	size_t before = json_array_size(list);

	(void)state;
	json_decref(list);
	set_rule("{'match': {'api': 'DescribeQuorum', 'times': 1}, 'action': {'close': true}}");
	tell(&run, conn, "DescribeQuorum", 0, "{}");
	assert_int_equal(kc_wait_close(conn, soon()), KC_CLOSED);
	assert_false(kc_has_frame(conn));
	assert_int_equal(ask_num(&run, other, "errorCode", "DescribeQuorum", 0, "{}"), 0);
	list = http_json(&run, 200, "GET", "/v1/requests?api=DescribeQuorum", NULL);
	assert_int_equal(json_array_size(list), before + 2);
	assert_string_equal(str_at(json_array_get(list, before), "fate"), "closed");
	json_decref(list);
	delete("r");
	kc_free(conn);
	kc_free(other);
}

static void delay_delays(void **state)
{
	struct kc_conn *conn = dial(&run, 1);
	int64_t began = kc_now_ms();

	(void)state;
	set_rule("{'match': {'api': 'DescribeCluster'}, 'action': {'delay': 30}}");
	assert_true(describes(conn));
	assert_true(kc_now_ms() - began >= 30);
	/* and a fetch then waits for as long as it said */
	set_rule("{'match': {'api': 'Fetch'}, 'action': {'delay': 20}}");
	began = kc_now_ms();
	json_decref(talk(&run, conn, "Fetch", 12, "{'maxWaitMs': 30, 'minBytes': 1, 'maxBytes': 1000, 'topics': "
			 "[{'topic': 'u', 'partitions': [{'partition': 0, 'partitionMaxBytes': 1000}]}]}"));
	assert_true(kc_now_ms() - began >= 50);
	delete("r");
	kc_free(conn);
}

/* One event loop: a held request holds its own connection, and nothing else. */
static void a_held_request_holds_nothing_else(void **state)
{
	struct kc_conn *held = dial(&run, 1), *free = dial(&run, 1);
	json_t *json;

	(void)state;
	set_rule("{'match': {'api': 'DescribeCluster', 'times': 1}, 'action': {'delay': 86400000}}");
	tell(&run, held, "DescribeCluster", 0, "{}");
	tell(&run, held, "DescribeQuorum", 0, "{}");
	while (hits("r") == 0)
		;
	assert_true(describes(free));
	json_decref(talk(&run, free, "Produce", 9, "{'acks': 1, %s}", one_record));
	json_decref(talk(&run, free, "CreateTopics", 7, "{'topics': [{'name': 'while-held', 'numPartitions': 1, "
			 "'replicationFactor': 1}]}"));
	json = http_json(&run, 200, "GET", "/v1/status", NULL);
	assert_int_equal(num_at(json, "connections"), 2);
	json_decref(json);
	json_decref(http_json(&run, 200, "PUT", "/v1/observer", "{\"classes\": \"TrafficObserver\"}"));
	delete("r");
	assert_int_equal(kc_wait_close(held, kc_now_ms()), KC_OPEN);
	assert_false(kc_has_frame(held));
	kc_free(free);
	kc_free(held);   /* tear_down() stops a broker that still holds the request */
}

static void expectations_can_be_met(void **state)
{
	static const struct {
		const char *match, *expect, *error;
	} rows[] = {
		{"{}", "{'hits': 1, 'atLeast': 2}", ".atLeast: 1 hits, but at least 2 of them, are never met"},
		{"{'times': 2}", "{'hits': 3}", ".hits: by its match the rule has at most 2 hits"},
		{"{'times': 2}", "{'atLeast': 3}", ".atLeast: by its match the rule has at most 2 hits"},
		{"{'nth': 5}", "{'hits': 2}", ".hits: by its match the rule has at most 1 hit"},
		{"{'nth': 5, 'every': 2}", "{'hits': 1}", ".hits: by its match the rule has at most 0 hits"},
		{"{'probability': 0}", "{'atLeast': 1}", ".atLeast: by its match the rule has at most 0 hits"},
		{"{}", "{'hits': 2, 'atLeast': 2}", NULL},
		{"{'times': 2}", "{'hits': 2}", NULL},
		{"{'nth': 6, 'every': 2}", "{'atLeast': 1}", NULL},
		{"{'probability': 0}", "{'hits': 0}", NULL},
	};
	char rule[200], error[200];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		snprintf(rule, sizeof rule, "{'match': %s, 'action': {'delay': 0}, 'expect': %s}", rows[i].match,
			 rows[i].expect);
		if (rows[i].error) {
			json_t *json = quoted(rule);
			char *body = json_dumps(json, 0);

			snprintf(error, sizeof error, "body:1: $.expect%s", rows[i].error);
			http_error(&run, 400, "PUT", "/v1/rules/never", body, error);
			free(body);
			json_decref(json);
		} else {
			json_decref(put(&run, "never", rule));
			delete("never");
		}
	}
}

static void expectations_are_judged(void **state)
{
	struct fb_rules *rules = run.process.cluster->rules;
	struct kc_conn *conn = dial(&run, 1);
	char text[200];

	(void)state;
	json_decref(put(&run, "none",
			"{'match': {'api': 'DescribeCluster'}, 'action': {'delay': 0}, 'expect': {'hits': 0}}"));
	assert_int_equal(fb_rules_unmet(rules, text, sizeof text), 0);
	describes(conn);
	json_decref(put(&run, "some",
			"{'match': {'api': 'DescribeQuorum'}, 'action': {'delay': 0}, 'expect': {'atLeast': 2}}"));
	assert_int_equal(fb_rules_unmet(rules, text, sizeof text), 2);
	assert_string_equal(text, "none: 1 hits, expected 0; some: 0 hits, expected at least 2");
	delete("none");
	json_decref(talk(&run, conn, "DescribeQuorum", 0, "{}"));
	json_decref(talk(&run, conn, "DescribeQuorum", 0, "{}"));
	json_decref(talk(&run, conn, "DescribeQuorum", 0, "{}"));
	assert_int_equal(fb_rules_unmet(rules, text, sizeof text), 0);
	delete("some");
	kc_free(conn);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_come_and_go),
		cmocka_unit_test(by_api_and_version),
		cmocka_unit_test(by_node),
		cmocka_unit_test(by_client_id),
		cmocka_unit_test(by_topic),
		cmocka_unit_test(by_count),
		cmocka_unit_test(the_first_rule_wins),
		cmocka_unit_test(dice_repeat_with_their_seed),
		cmocka_unit_test(an_error_changes_nothing),
		cmocka_unit_test(close_closes_unanswered),
		cmocka_unit_test(delay_delays),
		cmocka_unit_test(expectations_can_be_met),
		cmocka_unit_test(expectations_are_judged),
		cmocka_unit_test(a_held_request_holds_nothing_else),
	};

	fb_log_level(KASSAY_ERROR);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
