/* Brokers that stop and start under load, on four event loops: nothing that was acknowledged is lost (meant for
 * ThreadSanitizer, too). */
#include <stdatomic.h>

#include "fakebroker/cluster/log_line.h"
#include "fakebroker/tests/http.h"
#include "fakebroker/tests/talk.h"
#include "lib/wire/errors.h"

enum { PRODUCERS = 3, CYCLES = 12, MOST = 20000 };

static struct running run;
static atomic_bool over;
static atomic_int failures;

struct producer {
	pthread_t thread;
	int number;
	int acked;
	struct kw_arena arena;
};

/* One record to partition 1 of "three", by whichever broker leads it. True: it was acknowledged. */
static bool produce_one(struct producer *producer, struct kc_conn **conn, int32_t *at_node)
{
	struct fb_cluster *cluster = run.process.cluster;
	struct kw_ProduceResponse *response;
	void *answer, *body;
	json_t *json;
	int16_t error;
	char text[300];

	if (!*conn) {
		int port;

		pthread_rwlock_rdlock(&cluster->lock);
		*at_node = fb_topic_find(cluster, kw_str("three"))->partitions[1].leader;
		port = fb_cluster_node(cluster, *at_node)->port;
		pthread_rwlock_unlock(&cluster->lock);
		if (kc_connect("127.0.0.1", port, "test", soon(), conn, NULL) < 0)
			return false;
	}
	kw_arena_reset(&producer->arena);
	snprintf(text, sizeof text, "{\"acks\": -1, \"topicData\": [{\"name\": \"three\", \"partitionData\": "
		 "[{\"index\": 1, \"records\": {\"batches\": [{\"records\": [{\"key\": \"%d\", \"value\": "
		 "\"v\"}]}]}}]}]}", producer->number);
	json = json_loads(text, 0, NULL);
	kw_from_json(kw_request(0), 9, json, &producer->arena, &body, NULL);
	json_decref(json);
	if (kc_call(*conn, 0, 9, body, soon(), &producer->arena, &answer, NULL) < 0) {
		kc_free(*conn);
		*conn = NULL;
		return false;
	}
	response = answer;
	error = response->responses.v[0].partitionResponses.v[0].errorCode;
	if (error == KW_ERR_NOT_LEADER_OR_FOLLOWER) {
		kc_free(*conn);
		*conn = NULL;
	} else if (error) {
		atomic_fetch_add(&failures, 1);
	}
	return error == 0;
}

static void *producing(void *arg)
{
	struct producer *producer = arg;
	struct kc_conn *conn = NULL;
	int32_t at_node;

	kw_arena_init(&producer->arena, 0);
	while (!atomic_load(&over) && producer->acked < MOST)
		producer->acked += produce_one(producer, &conn, &at_node);
	kc_free(conn);
	kw_arena_fini(&producer->arena);
	return NULL;
}

/* What was acknowledged is in the log; what was in flight when its broker stopped may be there. */
static void brokers_stop_and_start_under_load(void **state)
{
	static char scenario[] = "fakebroker/tests/scenarios/good-restart.json";
	struct fb_settings settings = {.scenario = scenario, .threads = 4};
	struct producer producers[PRODUCERS] = {{.number = 0}};
	int64_t acked = 0, end;

	(void)state;
	running_start(&run, &settings);
	for (int i = 0; i < PRODUCERS; i++) {
		producers[i].number = i;
		assert_int_equal(pthread_create(&producers[i].thread, NULL, producing, &producers[i]), 0);
	}
	for (int i = 0; i < CYCLES; i++) {
		char path[40];

		snprintf(path, sizeof path, "/v1/nodes/%d/stop", 1 + i % 3);
		json_decref(http_json(&run, 200, "POST", path, NULL));
		json_decref(http_json(&run, 200, "GET", "/v1/observer", NULL));
		snprintf(path, sizeof path, "/v1/nodes/%d/start", 1 + i % 3);
		json_decref(http_json(&run, 200, "POST", path,
				      i % 2 ? "{\"config\": {\"kit.int.min\": \"100\"}}" : NULL));
	}
	atomic_store(&over, true);
	for (int i = 0; i < PRODUCERS; i++) {
		pthread_join(producers[i].thread, NULL);
		acked += producers[i].acked;
	}
	end = fb_topic_find(run.process.cluster, kw_str("three"))->partitions[1].log.logEndOffset;
	assert_int_equal(atomic_load(&failures), 0);
	assert_true(acked > 0);
	assert_in_range(end, acked, acked + CYCLES * PRODUCERS);
	running_stop(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(brokers_stop_and_start_under_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
