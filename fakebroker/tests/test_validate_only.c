/* validateOnly changes nothing, whatever the call and whatever it would delete; a refused change is undone. */
#include "fakebroker/tests/running.h"

static struct running run;

static int set_up(void **state)
{
	struct fb_settings settings = {.nodes = 1};

	(void)state;
	running_start(&run, &settings);
	make_topic(&run, "t");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	running_stop(&run);
	return 0;
}

#define RESOURCE(type, name, rest) "{\"resources\": [{\"resourceType\": " type ", \"resourceName\": \"" name "\"" rest
#define CONFIG(name, value) "{\"name\": \"" name "\", \"configOperation\": 0, \"value\": \"" value "\"}"
#define OLD_CONFIG(name, value) "{\"name\": \"" name "\", \"value\": \"" value "\"}"
#define CONFIGS(list) ", \"configs\": [" list "]}]"
#define ONLY ", \"validateOnly\": true}"

static void *ask(struct kc_conn *conn, int api, int version, const char *body)
{
	struct kt_err err = {0};
	json_t *json = json_loads(body, 0, NULL);
	void *request;

	if (kw_from_json(kw_request(api), version, json, &run.arena, &request, &err) < 0)
		fail_msg("%s: %s", err.path, err.text);
	json_decref(json);
	return call(&run, conn, api, version, request);
}

static void assert_value(const char *name, const char *want)
{
	struct kw_str v;

	pthread_rwlock_rdlock(&run.process.cluster->lock);
	v = fb_configs_dynamic(run.process.cluster->configs, FB_TOPIC, kw_str("t"), kw_str(name));
	assert_true(want ? kw_str_is(v, want) : v.n < 0);
	pthread_rwlock_unlock(&run.process.cluster->lock);
}

static void replacing_all_by_nothing(void **state)
{
	struct kc_conn *conn = dial(&run, 1);
	struct kw_AlterConfigsResponse *answer;

	(void)state;
	ask(conn, 33, 2, RESOURCE("2", "t", CONFIGS(OLD_CONFIG("retention.ms", "77777") ", "
						    OLD_CONFIG("cleanup.policy", "compact"))) "}");
	for (int i = 0; i < 3; i++) {
		answer = ask(conn, 33, i, RESOURCE("2", "t", "}]") ONLY);
		assert_int_equal(answer->responses.v[0].errorCode, 0);
		assert_value("retention.ms", "77777");
		assert_value("cleanup.policy", "compact");
		assert_true(fb_topic_find(run.process.cluster, kw_str("t"))->conf.compact);
	}
	ask(conn, 33, 2, RESOURCE("2", "t", "}]}"));
	assert_value("retention.ms", NULL);
	assert_false(fb_topic_find(run.process.cluster, kw_str("t"))->conf.compact);
	kc_free(conn);
}

static void validators_that_cannot_be_made(void **state)
{
	struct kc_conn *conn = dial(&run, 1);
	struct kw_AlterConfigsResponse *answer;

	(void)state;
	ask(conn, 33, 2, RESOURCE("2", "t", CONFIGS(OLD_CONFIG("retention.ms", "5"))) "}");
	answer = ask(conn, 33, 2, RESOURCE("2", "t", CONFIGS(OLD_CONFIG("record.validator.classes", "Nope"))) "}");
	assert_int_equal(answer->responses.v[0].errorCode, 40);
	assert_value("retention.ms", "5");
	assert_value("record.validator.classes", NULL);
	kc_free(conn);
}

static void observers_that_cannot_be_had(void **state)
{
	struct kc_conn *conn = dial(&run, 1);
	struct kw_IncrementalAlterConfigsResponse *answer;
	struct fb_observer *observer;

	(void)state;
	answer = ask(conn, 44, 1, RESOURCE("4", "", CONFIGS(CONFIG("observer.class.name", "TrafficObserver"))) "}");
	assert_int_equal(answer->responses.v[0].errorCode, 0);
	for (int i = 0; i < 2; i++) {
		answer = ask(conn, 44, 1, i ? RESOURCE("4", "", CONFIGS(CONFIG("observer.class.name", "Nope"))) "}"
					    : RESOURCE("4", "", CONFIGS(CONFIG("observer.class.name", "Nope"))) ONLY);
		assert_int_equal(answer->responses.v[0].errorCode, 40);
		observer = fb_node_observer(run.process.cluster, &run.process.cluster->nodes[0]);
		assert_string_equal(fb_observer_classes(observer), "TrafficObserver");
		fb_observer_unref(observer);
	}
	kc_free(conn);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replacing_all_by_nothing),
		cmocka_unit_test(validators_that_cannot_be_made),
		cmocka_unit_test(observers_that_cannot_be_had),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
