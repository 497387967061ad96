/* Requests that exclude each other, at the same time, on four event loops: the outcome is that of one order or the
 * other, and an illegal state never comes about. Meant for ThreadSanitizer, too. */
#include "fakebroker/tests/talk.h"
#include "lib/wire/errors.h"

enum { ROUNDS = 150 };

static struct running run;
static struct kc_conn *conns[2], *controller;

static int start(void **state)
{
	static char scenario[] = "fixtures/scenarios/demo.json";
	struct fb_settings settings = {.scenario = scenario, .threads = 4};

	(void)state;
	running_start(&run, &settings);
	conns[0] = dial(&run, 1);
	conns[1] = dial(&run, 2);
	controller = dial(&run, FB_CONTROLLER_ID);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	kc_free(conns[0]);
	kc_free(conns[1]);
	kc_free(controller);
	running_stop(&run);
	return 0;
}

#define ALTER "{'resources': [{'resourceType': 2, 'resourceName': 'payments', 'configs': [{'name': 'kit.topic.min', " \
	      "'configOperation': 0, 'value': '%d'}]}]}"
#define UPDATE "{'timeoutMs': 1000, 'featureUpdates': [{'feature': 'metadata.version', 'maxVersionLevel': %d, " \
	       "'upgradeType': %d}]}"

static int64_t heard(struct kc_conn *conn, const char *api, int version, const char *path)
{
	json_t *json = hear(&run, conn, api, version);
	int64_t code = num_at(json, path);

	json_decref(json);
	return code;
}

static void update(int level, int type)
{
	assert_int_equal(ask_num(&run, conns[0], "errorCode", "UpdateFeatures", 2, UPDATE, level, type), 0);
}

static void an_alteration_or_an_upgrade(void **state)
{
	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		int64_t alter, upgrade;

		if (i % 2)
			tell(&run, conns[1], "UpdateFeatures", 2, UPDATE, 28, FB_UPGRADE);
		tell(&run, conns[0], "IncrementalAlterConfigs", 1, ALTER, 10);
		if (i % 2 == 0)
			tell(&run, conns[1], "UpdateFeatures", 2, UPDATE, 28, FB_UPGRADE);
		alter = heard(conns[0], "IncrementalAlterConfigs", 1, "responses.0.errorCode");
		upgrade = heard(conns[1], "UpdateFeatures", 2, "errorCode");
		assert_int_equal(alter ? alter : upgrade, KW_ERR_INVALID_CONFIG);
		assert_int_equal(alter ? upgrade : alter, 0);
		assert_int_equal(run.process.cluster->levels.v[FB_METADATA_VERSION], alter ? 28 : 27);
		assert_int_equal(ask_num(&run, conns[0], "responses.0.errorCode", "IncrementalAlterConfigs", 1, ALTER,
					 2048), 0);
		if (alter)
			update(27, FB_SAFE_DOWNGRADE);
	}
}

#define REGISTER                                                                                           \
	"{'brokerId': 77, 'clusterId': '%s', 'incarnationId': 'kassayIncarnationAAAAQ', 'listeners': [], " \
	"'logDirs': ['kassayDirectoryAAAAAAA'], 'features': ["                                             \
	"{'name': 'metadata.version', 'minSupportedVersion': 7, 'maxSupportedVersion': 33}, "              \
	"{'name': 'group.version', 'maxSupportedVersion': 1}, "                                            \
	"{'name': 'transaction.version', 'maxSupportedVersion': 2}, "                                      \
	"{'name': 'eligible.leader.replicas.version', 'maxSupportedVersion': 1}, "                         \
	"{'name': 'share.version', 'maxSupportedVersion': 2}], "                                           \
	"'staticConfigs': [{'name': 'kit.int.min', 'value': '10'}]}"

static void a_registration_or_an_upgrade(void **state)
{
	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		int64_t joined, upgrade;

		if (i % 2)
			tell(&run, conns[1], "UpdateFeatures", 2, UPDATE, 28, FB_UPGRADE);
		tell(&run, controller, "BrokerRegistration", 5, REGISTER, run.process.cluster->id);
		if (i % 2 == 0)
			tell(&run, conns[1], "UpdateFeatures", 2, UPDATE, 28, FB_UPGRADE);
		joined = heard(controller, "BrokerRegistration", 5, "errorCode");
		upgrade = heard(conns[1], "UpdateFeatures", 2, "errorCode");
		if (joined) {
			assert_int_equal(joined, KW_ERR_INVALID_REGISTRATION);
			assert_int_equal(upgrade, 0);
			update(27, FB_SAFE_DOWNGRADE);
			continue;
		}
		assert_int_equal(upgrade, KW_ERR_INVALID_CONFIG);
		assert_int_equal(ask_num(&run, conns[0], "errorCode", "UnregisterBroker", 0, "{'brokerId': 77}"), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_alteration_or_an_upgrade, start, stop),
		cmocka_unit_test_setup_teardown(a_registration_or_an_upgrade, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
