/* What a target says of itself is believed as far as it is text and an address. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "conformance/tests/answers.h"

static struct peer peer;
static struct peer_step steps[8];
static struct cf_profile profile;
static struct cf_target target;
static struct kt_err err;

static json_t *versions(void)
{
	return json_loads("{\"errorCode\": 0, \"throttleTimeMs\": 0, \"finalizedFeaturesEpoch\": 1,"
			  " \"zkMigrationReady\": false,"
			  " \"apiKeys\": [{\"apiKey\": 3, \"minVersion\": 12, \"maxVersion\": 12},"
			  "             {\"apiKey\": 18, \"minVersion\": 0, \"maxVersion\": 4}],"
			  " \"supportedFeatures\": [{\"name\": {\"hex\": \"66ff\"}, \"minVersion\": 1,"
			  "   \"maxVersion\": 2},"
			  "  {\"name\": \"metadata.version\", \"minVersion\": 7, \"maxVersion\": 29}],"
			  " \"finalizedFeatures\": [{\"name\": {\"hex\": \"ff\"}, \"maxVersionLevel\": 1,"
			  "   \"minVersionLevel\": 1},"
			  "  {\"name\": \"metadata.version\", \"maxVersionLevel\": 20, \"minVersionLevel\": 20}]}",
			  0, NULL);
}

/* Takes brokers and cluster_id. */
static json_t *metadata(json_t *brokers, json_t *cluster_id)
{
	return json_pack("{s:i, s:o, s:o, s:i, s:[]}", "throttleTimeMs", 0, "brokers", brokers, "clusterId",
			 cluster_id, "controllerId", 1, "topics");
}

/* Takes host. */
static json_t *broker(int id, json_t *host, int port)
{
	return json_pack("{s:i, s:o, s:i, s:n}", "nodeId", id, "host", host, "port", port, "rack");
}

/* Asks for a target that answers ApiVersions twice and Metadata once. The brokers that it names take no connection. */
static int probe(json_t *brokers, json_t *cluster_id)
{
	static const struct peer_step *const scripts[] = {steps, NULL};
	char address[64];

	for (int i = 0; i < 3; i++)
		steps[2 * i] = (struct peer_step){PEER_READ, 0, 0};
	encode_answer(&steps[1], "ApiVersions", 4, versions());
	encode_answer(&steps[3], "ApiVersions", 4, versions());
	encode_answer(&steps[5], "Metadata", 12, metadata(brokers, cluster_id));
	steps[6] = (struct peer_step){PEER_READ_END, 0, 0};
	steps[7] = (struct peer_step){0};
	peer_start(&peer, scripts);
	profile = (struct cf_profile){.timeout = 20000, .topicPrefix = "kassay-"};
	err = (struct kt_err){0};
	snprintf(address, sizeof address, "127.0.0.1:%d", peer.port);
	cf_target_probe(&target, address, &profile, &err);
	peer_join(&peer);
	free_answers(steps);
	return err.code;
}

static void finish(void)
{
	cf_target_fini(&target);
	peer_fini(&peer);
}

static json_t *cluster(void)
{
	return json_string("cluster");
}

/* A broker may have another name here; its port tells it as long as no other has the same. */
static void the_broker_that_was_given_is_asked(void **state)
{
	(void)state;
	peer_listen(&peer);
	probe(json_pack("[o, o]", broker(1, json_string("127.0.0.2"), 1),
			broker(2, json_string("127.0.0.3"), peer.port)), cluster());
	assert_int_equal(target.broker_id, 2);
	assert_int_equal(target.brokers, 2);
	assert_string_equal(target.host, "127.0.0.3");
	assert_string_equal(target.note, "");
	finish();

	peer_listen(&peer);
	probe(json_pack("[o]", broker(7, json_string("127.0.0.2"), 1)), cluster());
	assert_int_equal(target.broker_id, 7);
	assert_string_equal(target.note, "");
	finish();
}

static void that_another_is_asked_is_said(void **state)
{
	char note[200];
	json_t *json;

	(void)state;
	peer_listen(&peer);
	probe(json_pack("[o, o]", broker(1, json_string("127.0.0.2"), peer.port),
			broker(2, json_string("127.0.0.3"), peer.port)), cluster());
	assert_int_equal(target.broker_id, 1);
	snprintf(note, sizeof note, "Metadata lists 2 brokers and none at 127.0.0.1:%d: what was asked is broker 1 at "
		 "127.0.0.2:%d.", peer.port, peer.port);
	assert_string_equal(target.note, note);
	json = cf_target_json(&target);
	assert_string_equal(json_string_value(json_object_get(json, "note")), note);
	json_decref(json);
	finish();
}

static void an_address_is_one_or_none(void **state)
{
	struct { json_t *host; int port; const char *said; } rows[] = {
		{json_pack("{s:s}", "hex", "ff"), 1,
		 "the target names host {\"hex\":\"ff\"}, port 1, which is no address"},
		{json_string(""), 1, "the target names host \"\", port 1, which is no address"},
		{json_string("a"), 0, "the target names host \"a\", port 0, which is no address"},
		{json_string("a"), 65536, "the target names host \"a\", port 65536, which is no address"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		peer_listen(&peer);
		assert_int_equal(probe(json_pack("[o]", broker(1, rows[i].host, rows[i].port)), cluster()), KT_ENET);
		assert_string_equal(err.text, rows[i].said);
		finish();
	}
}

/* Names of features that are no text are not taken for another's, and the id of a cluster is not cut. */
static void what_is_no_text_is_left_out(void **state)
{
	char id[201];
	json_t *json;

	(void)state;
	for (size_t i = 0; i < 100; i++)
		memcpy(id + 2 * i, "\xc3\xa9", 3);
	peer_listen(&peer);
	probe(json_pack("[o]", broker(1, json_string("127.0.0.2"), 1)), json_string(id));
	assert_int_equal(target.level, 20);
	assert_int_equal(target.max_level, 29);
	json = cf_target_json(&target);
	assert_string_equal(json_string_value(json_object_get(json, "clusterId")), id);
	assert_int_equal(json_object_size(json_object_get(json, "features")), 1);
	json_decref(json);
	finish();

	peer_listen(&peer);
	probe(json_pack("[o]", broker(1, json_string("127.0.0.2"), 1)), json_pack("{s:s}", "hex", "ff"));
	json = cf_target_json(&target);
	assert_string_equal(json_string_value(json_object_get(json, "clusterId")), "");
	json_decref(json);
	finish();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_broker_that_was_given_is_asked),
		cmocka_unit_test(that_another_is_asked_is_said),
		cmocka_unit_test(an_address_is_one_or_none),
		cmocka_unit_test(what_is_no_text_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
