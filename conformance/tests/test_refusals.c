/* What a target refuses to the kit itself is told in the target's words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "conformance/tests/answers.h"

enum { LEVEL = 20 };

static struct peer peer;
static struct cf_profile profile = {.timeout = 20000, .patience = 20000};
static struct cf_target target;
static struct cf_run run;
static struct kt_err err;
static char note[500];

/* ---- the target ---- */

/* A target at level 20 that serves one more API, in one version. */
static json_t *versions_with(const char *api, int version)
{
	return json_pack("{s:i, s:[{s:i, s:i, s:i}, {s:i, s:i, s:i}], s:i, s:[], s:I, s:[{s:s, s:i, s:i}], s:b}",
			 "errorCode", 0, "apiKeys",
			 "apiKey", 18, "minVersion", 0, "maxVersion", kw_request(18)->versions.max,
			 "apiKey", kw_api_key(api), "minVersion", version, "maxVersion", version,
			 "throttleTimeMs", 0, "supportedFeatures", "finalizedFeaturesEpoch", (json_int_t)1,
			 "finalizedFeatures", "name", "metadata.version", "maxVersionLevel", LEVEL, "minVersionLevel",
			 LEVEL, "zkMigrationReady", 0);
}

/* It answers one request of that API with `answer`, after ApiVersions as often as it is asked for it. */
static void start(const char *api, int version, int asked_versions, const char *answer)
{
	static struct peer_step steps[8];
	static const struct peer_step *const scripts[] = {steps, NULL};
	size_t n = 0;

	while (asked_versions-- > 0) {
		steps[n++] = (struct peer_step){PEER_READ, 0, 0};
		encode_answer(&steps[n++], "ApiVersions", kw_request(18)->versions.max, versions_with(api, version));
	}
	steps[n++] = (struct peer_step){PEER_READ, 0, 0};
	encode_answer(&steps[n++], api, version, json_loads(answer, 0, NULL));
	steps[n++] = (struct peer_step){PEER_READ_END, 0, 0};
	steps[n] = (struct peer_step){0};
	peer_listen(&peer);
	peer_start(&peer, scripts);

	target = (struct cf_target){.profile = &profile, .host = "127.0.0.1", .port = peer.port, .broker_id = 1,
				    .brokers = 1};
	run = (struct cf_run){.target = &target, .level = -1};
	err = (struct kt_err){0};
	note[0] = '\0';
}

static void finish(void)
{
	for (size_t i = 0; i < run.nlinks; i++)
		cf_link_close(&run.links[i]);
	peer_join(&peer);
	free_answers(peer.scripts[0]);
	peer_fini(&peer);
	json_decref(run.brokers);
	json_decref(run.configs);
	json_decref(run.topics);
}

/* ---- tests ---- */

static void a_broker_that_stays_registered(void **state)
{
	(void)state;
	start("UnregisterBroker", 0, 1,
	      "{\"throttleTimeMs\": 0, \"errorCode\": 41, \"errorMessage\": \"No leader\\u001b.\"}");
	run.brokers = json_pack("[i]", 7);
	cf_run_undo(&run, note, sizeof note);
	assert_string_equal(note, "broker 7 cannot be unregistered: NOT_CONTROLLER (41): No leader?.");
	finish();
}

static void a_config_that_stays_set(void **state)
{
	(void)state;
	start("IncrementalAlterConfigs", 1, 1,
	      "{\"throttleTimeMs\": 0, \"responses\": [{\"errorCode\": 40, \"errorMessage\": \"The default is "
	      "illegal.\", \"resourceType\": 4, \"resourceName\": \"1\"}]}");
	run.configs = json_pack("[[s, s]]", "1", "num.io.threads");
	cf_run_undo(&run, note, sizeof note);
	assert_string_equal(note, "num.io.threads of broker \"1\" cannot be deleted: INVALID_CONFIG (40): The "
				  "default is illegal.");
	finish();
}

static void a_topic_that_stays(void **state)
{
	(void)state;
	start("DeleteTopics", 5, 1,
	      "{\"throttleTimeMs\": 0, \"responses\": [{\"name\": \"t\", \"errorCode\": 73, "
	      "\"errorMessage\": \"Topic deletion is disabled.\"}]}");
	run.topics = json_pack("[s]", "t");
	cf_run_undo(&run, note, sizeof note);
	assert_string_equal(note,
			    "topic t cannot be deleted: TOPIC_DELETION_DISABLED (73): Topic deletion is disabled.");
	finish();
}

/* Before version 5 DeleteTopics gives a code only. */
static void a_topic_that_stays_without_words(void **state)
{
	(void)state;
	start("DeleteTopics", 4, 1, "{\"throttleTimeMs\": 0, \"responses\": [{\"name\": \"t\", \"errorCode\": 73}]}");
	run.topics = json_pack("[s]", "t");
	cf_run_undo(&run, note, sizeof note);
	assert_string_equal(note, "topic t cannot be deleted: TOPIC_DELETION_DISABLED (73)");
	finish();
}

static void a_level_that_stays(void **state)
{
	(void)state;
	start("UpdateFeatures", 2, 2,
	      "{\"throttleTimeMs\": 0, \"errorCode\": 95, \"errorMessage\": \"Unsupported metadata.version.\"}");
	assert_int_equal(cf_level_move(&run, 7, &err), KT_ENET);
	assert_string_equal(err.text, "metadata.version cannot be moved from 20 to 7: INVALID_UPDATE_VERSION (95): "
			    "Unsupported metadata.version.");
	finish();
}

/* Up to version 1 the whole is taken, and each feature may be refused. */
static void a_feature_that_stays(void **state)
{
	(void)state;
	start("UpdateFeatures", 1, 2,
	      "{\"throttleTimeMs\": 0, \"errorCode\": 0, \"errorMessage\": null, \"results\": [{\"feature\": "
	      "\"metadata.version\", \"errorCode\": 95, \"errorMessage\": \"Would lose metadata.\"}]}");
	assert_int_equal(cf_level_move(&run, 7, &err), KT_ENET);
	assert_string_equal(err.text,
			    "metadata.version cannot be moved from 20 to 7: INVALID_UPDATE_VERSION (95): Would "
			    "lose metadata.");
	finish();
}

static void a_coordinator_that_is_not_told(void **state)
{
	(void)state;
	start("FindCoordinator", 3, 1,
	      "{\"throttleTimeMs\": 0, \"errorCode\": 53, \"errorMessage\": \"Not for you.\", \"nodeId\": -1, "
	      "\"host\": \"\", \"port\": -1}");
	assert_null(cf_run_link(&run, "coordinator", "pay", &err));
	assert_string_equal(err.text, "FindCoordinator for \"pay\" was answered with "
			    "TRANSACTIONAL_ID_AUTHORIZATION_FAILED (53): Not for you.");
	finish();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_broker_that_stays_registered),
		cmocka_unit_test(a_config_that_stays_set),
		cmocka_unit_test(a_topic_that_stays),
		cmocka_unit_test(a_topic_that_stays_without_words),
		cmocka_unit_test(a_level_that_stays),
		cmocka_unit_test(a_feature_that_stays),
		cmocka_unit_test(a_coordinator_that_is_not_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
