/* --release 4.1 and 3.9: the tables of these releases, as a running Kafka 4.1.1 and 3.9.0 told them. */
#include "fakebroker/cluster/log_line.h"
#include "fakebroker/tests/talk.h"
#include "lib/wire/errors.h"
#include "lib/wire/produce_release.h"

static struct running run;

static void begin(const char *release)
{
	const struct fb_settings settings = {.release = release};

	running_start(&run, &settings);
}

static int64_t max_of(struct kc_conn *conn, int key)
{
	int min, max;

	return kc_advertised(conn, key, &min, &max) ? max : -1;
}

/* The description of a key, or NULL; its document in *keep. */
static json_t *describe(struct kc_conn *conn, int type, const char *resource, const char *name, json_t **keep)
{
	*keep = talk(&run, conn, "DescribeConfigs", 4, "{'resources': [{'resourceType': %d, 'resourceName': '%s', "
		     "'configurationKeys': ['%s']}], 'includeSynonyms': true}", type, resource, name);
	return at(*keep, "results.0.configs.0");
}

static void versions_are_those_of_4_1(void **state)
{
	struct kc_conn *broker, *controller;

	(void)state;
	begin("4.1");
	broker = dial(&run, 1);
	controller = dial(&run, FB_CONTROLLER_ID);
	assert_int_equal(max_of(broker, 2), 10);
	assert_int_equal(max_of(broker, 18), 4);
	assert_int_equal(max_of(broker, 27), 1);
	assert_int_equal(max_of(controller, 63), 1);
	assert_int_equal(max_of(controller, 62), 5);
	assert_int_equal(run.process.cluster->levels.v[FB_METADATA_VERSION], 27);
	assert_int_equal(ask_num(&run, broker, "errorCode", "UpdateFeatures", 1,
				 "{'featureUpdates': [{'feature': "
				 "'metadata.version', 'maxVersionLevel': 28, 'upgradeType': 1}]}"),
			 KW_ERR_INVALID_UPDATE_VERSION);
	/* What 4.4 has closes, as any version that is not there. */
	tell(&run, broker, "ListOffsets", 11, "{'replicaId': -1, 'topics': []}");
	assert_int_equal(kc_wait_close(broker, soon()), KC_CLOSED);
	kc_free(broker);
	kc_free(controller);
	running_stop(&run);
}

static void configurations_are_those_of_4_1(void **state)
{
	struct kc_conn *conn;
	json_t *json, *entry;

	(void)state;
	begin("4.1");
	conn = dial(&run, 1);
	assert_null(describe(conn, FB_BROKER, "1", "cordoned.log.dirs", &json));
	json_decref(json);
	entry = describe(conn, FB_BROKER, "1", "log.dirs", &json);
	assert_int_equal(num_at(entry, "configType"), FB_STRING);
	json_decref(json);
	entry = describe(conn, FB_BROKER, "1", "share.coordinator.append.linger.ms", &json);
	assert_string_equal(str_at(entry, "value"), "5");
	json_decref(json);
	entry = describe(conn, FB_GROUP, "g", "consumer.session.timeout.ms", &json);
	assert_string_equal(str_at(entry, "synonyms.0.name"), "consumer.session.timeout.ms");
	assert_int_equal(json_array_size(at(entry, "synonyms")), 1);
	json_decref(json);
	json = talk(&run, conn, "IncrementalAlterConfigs", 1, "{'resources': [{'resourceType': 4, 'resourceName': '1', "
		    "'configs': [{'name': 'log.dirs', 'configOperation': 0, 'value': '/x'}]}]}");
	assert_string_equal(str_at(json, "responses.0.errorMessage"),
			    "Cannot update these configs dynamically: Set(log.dirs)");
	json_decref(json);
	/* Pools that come later do not stand in the way. */
	assert_int_equal(ask_num(&run, conn, "responses.0.errorCode", "IncrementalAlterConfigs", 1, "{'resources': "
				 "[{'resourceType': 4, 'resourceName': '1', 'configs': [{'name': 'num.io.threads', "
				 "'configOperation': 0, 'value': '9'}]}]}"), 0);
	kc_free(conn);
	running_stop(&run);
}

/* ---- what a batch is told: the table that lib/wire's own verdicts are tested with, over the wire ---- */

static void create_topic(struct kc_conn *conn, const char *name, json_t *configs)
{
	json_t *list = json_array(), *value;
	const char *key;
	char *text;

	json_object_foreach(configs, key, value) {
		char number[32];

		snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
		json_array_append_new(list, json_pack("{s:s, s:s}", "name", key, "value",
						      json_is_string(value) ? json_string_value(value) : number));
	}
	text = json_dumps(list, 0);
	assert_int_equal(ask_num(&run, conn, "topics.0.errorCode", "CreateTopics", 7,
				 "{'topics': [{'name': '%s', "
				 "'numPartitions': 1, 'replicationFactor': 1, 'configs': %s}], 'timeoutMs': 5000}",
				 name, text), 0);
	free(text);
	json_decref(list);
}

/* [error code, records appended, number of record errors], or "closed". */
static json_t *put(json_t *row)
{
	const char *topic = json_string_value(json_object_get(row, "topic"));
	int version = (int)json_integer_value(json_object_get(row, "version"));
	const char *release = run.process.cluster->release->name;
	json_t *body = json_pack("{s:i, s:[{s:s, s:[{s:i, s:{s:O}}]}]}", "acks", -1, "topicData", "name", topic,
				 "partitionData", "index", 0, "records", "batches", json_object_get(row, "batches")),
	       *json, *is;
	char *text = json_dumps(body, 0);
	struct kc_conn *conn = dial(&run, 1);
	int64_t before = end_of(&run, topic);

	if (version > kw_release_find(release)->maxVersion)
		version = kw_release_find(release)->maxVersion;
	if (version < kw_release_find(release)->minVersion) {
		tell(&run, conn, "Produce", version, "%s", text);
		is = kc_wait_close(conn, soon()) == KC_CLOSED ? json_string("closed") : json_null();
	} else {
		json = talk(&run, conn, "Produce", version, "%s", text);
		is = json_pack("[III]", num_at(json, "responses.0.partitionResponses.0.errorCode"),
			       end_of(&run, topic) - before,
			       (json_int_t)json_array_size(at(json, "responses.0.partitionResponses.0.recordErrors")));
		json_decref(json);
	}
	kc_free(conn);
	free(text);
	json_decref(body);
	return is;
}

static void check_rows(json_t *table, const char *release)
{
	json_t *row, *now;
	size_t i;

	json_array_foreach(json_object_get(table, "cases"), i, row) {
		json_t *wanted = json_object_get(json_object_get(row, "answers"), release), *is;

		now = json_object_get(row, "now");
		fb_clock_set(run.process.cluster->clock, json_integer_value(now ? now : json_object_get(table, "now")),
			     true);
		is = put(row);
		if (!json_equal(is, wanted))
			fail_msg("%s, %s: %s", release, json_string_value(json_object_get(row, "case")),
				 json_dumps(is, JSON_ENCODE_ANY));
		json_decref(is);
	}
}

static void batches_are_judged_as_by_the_release(void **state)
{
	static const char *const releases[] = {"3.9", "4.1", "4.4"};
	json_t *table = json_load_file("lib/wire/tests/data/produce_releases.json", 0, NULL), *configs;
	struct kc_conn *conn;
	const char *name;

	(void)state;
	assert_int_equal(json_array_size(json_object_get(table, "cases")), 71);
	for (size_t i = 0; i < sizeof releases / sizeof *releases; i++) {
		begin(releases[i]);
		conn = dial(&run, 1);
		json_object_foreach(json_object_get(table, "topics"), name, configs)
			create_topic(conn, name, configs);
		kc_free(conn);
		check_rows(table, releases[i]);
		running_stop(&run);
	}
	json_decref(table);
}

/* The rule of log.dirs counts entries though the release calls it a string. */
static void several_directories_need_a_level(void **state)
{
	const char *dirs[] = {"log.dirs=/a,/b"};
	struct fb_settings settings = {.release = "4.1", .metadata_version = "16", .set = {dirs, 1}, .check = true,
				       .host = "127.0.0.1", .advertise = "127.0.0.1", .threads = 1};
	struct fb_broker_process process;
	struct kt_err err = {0};

	(void)state;
	assert_int_equal(fb_start(&process, &settings, &err), KT_ERANGE);
	assert_non_null(strstr(err.text, "Multiple log directories (aka JBOD) are not supported"));
	fb_stop(&process);
	settings.metadata_version = "17";
	err = (struct kt_err){0};
	assert_int_equal(fb_start(&process, &settings, &err), 0);
	fb_stop(&process);
}

static void only_measured_releases(void **state)
{
	static const char *const releases[] = {"3.8", "4.2", "4.5", "x"};

	(void)state;
	for (size_t i = 0; i < sizeof releases / sizeof *releases; i++) {
		struct fb_settings settings = {.release = releases[i], .check = true};
		struct fb_broker_process process;
		struct kt_err err = {0};

		assert_int_equal(fb_start(&process, &settings, &err), KT_EUNKNOWN);
		fb_stop(&process);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_are_those_of_4_1),
		cmocka_unit_test(configurations_are_those_of_4_1),
		cmocka_unit_test(batches_are_judged_as_by_the_release),
		cmocka_unit_test(several_directories_need_a_level),
		cmocka_unit_test(only_measured_releases),
	};

	fb_log_level(KASSAY_ERROR + 1);
	return cmocka_run_group_tests_name("release", tests, NULL, NULL);
}
