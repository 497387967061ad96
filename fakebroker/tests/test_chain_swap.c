/* Validators on four event loops: they hold up nobody else's partition, and a chain that is exchanged judges the
 * batches that it has begun to the end. Meant for ThreadSanitizer, too. */
#include <stdatomic.h>
#include <fcntl.h>

#include "fakebroker/tests/hook_fixtures.h"
#include "fakebroker/tests/http.h"
#include "fakebroker/tests/talk.h"

static struct running run;

static int set_up(void **state)
{
	struct fb_settings settings = {.nodes = 1, .threads = 4};

	(void)state;
	running_start(&run, &settings);
	make_topic(&run, "t");
	make_topic(&run, "other");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	running_stop(&run);
	return 0;
}

#define PRODUCE "{'acks': 1, 'topicData': [{'name': '%s', 'partitionData': [{'index': 0, 'records': {'batches': " \
		"[{'records': [{'value': 'v', 'repeat': %d}]}]}}]}]}"
#define ANSWER "responses.0.partitionResponses.0."

static void put_chain(const char *body)
{
	json_decref(http_json(&run, 200, "PUT", "/v1/validators", body));
}

/* ---- a validator that takes its time ---- */

static void wait_for_file(const char *path)
{
	int64_t end = soon();

	while (access(path, F_OK) != 0) {
		assert_true(kc_now_ms() < end);
		usleep(1000);
	}
}

static void send_produce(struct kc_conn *conn)
{
	struct kw_ProduceRequest *body = body_of(&run, 0, 9, "{'acks': 1, 'topicData': [{'name': 't', 'partitionData': "
						 "[{'index': 0, 'records': {'batches': [{'records': [{'value': 'v', "
						 "'repeat': 3}]}]}}]}]}");
	struct kw_buf buf;

	kw_buf_init(&buf, 0);
	assert_int_equal(kc_encode(conn, 0, 9, body, &buf, NULL, NULL), 0);
	assert_int_equal(kc_write(conn, buf.p, buf.n, soon(), NULL), 0);
	kw_buf_fini(&buf);
}

static int64_t end_offset(struct kc_conn *conn)
{
	return ask_num(&run, conn, "topics.0.partitions.0.offset", "ListOffsets", 7,
		       "{'replicaId': -1, 'topics': [{'name': 't', 'partitions': [{'partitionIndex': 0, "
		       "'timestamp': -1}]}]}");
}

/* While a record waits in its validator, its partition is read, another one is written, and the topic gets other
 * validators, which judge what comes next. The record that waits gets the verdict of those it came to. */
static void a_slow_validator_holds_up_nobody_else(void **state)
{
	char dir[] = "/tmp/kassay-gate-XXXXXX", path[PATH_MAX], file[64], waiting[80], body[PATH_MAX + 200];
	struct kc_conn *held = dial(&run, 1), *conn = dial(&run, 1);   /* neighbours are on different loops */
	const struct kw_ProduceResponse *response;
	const uint8_t *p;
	json_t *json;
	size_t n;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(file, sizeof file, "%s/gate", dir);
	snprintf(waiting, sizeof waiting, "%s.waiting", file);
	snprintf(body, sizeof body, "{\"topic\": \"t\", \"configs\": {\"record.validator.classes\": \"%s#Gate\", "
		 "\"record.validator.Gate.file\": \"%s\"}}", plugin_path("gate", path), file);
	put_chain(body);
	send_produce(held);
	wait_for_file(waiting);

	assert_int_equal(ask_num(&run, conn, "responses.0.partitions.0.errorCode", "Fetch", 11,
				 "{'replicaId': -1, 'maxWaitMs': 0, 'minBytes': 0, 'maxBytes': 999, 'topics': "
				 "[{'topic': 't', 'partitions': [{'partition': 0, 'fetchOffset': 0, "
				 "'partitionMaxBytes': 999}]}]}"), 0);
	assert_int_equal(end_offset(conn), 0);
	assert_int_equal(ask_num(&run, conn, ANSWER "errorCode", "Produce", 9, PRODUCE, "other", 1), 0);
	put_chain("{\"topic\": \"t\", \"configs\": {\"record.validator.classes\": \"RejectAll\"}}");
	json = talk(&run, conn, "Produce", 9, PRODUCE, "t", 2);
	assert_int_equal(num_at(json, ANSWER "errorCode"), 87);
	assert_string_equal(str_at(json, ANSWER "recordErrors.1.batchIndexErrorMessage"), "RejectAll: refused");
	json_decref(json);
	assert_int_equal(access(waiting, F_OK), 0);   /* all of that happened meanwhile */
	assert_int_equal(end_offset(conn), 0);

	close(creat(file, 0600));
	assert_int_equal(kc_read_frame(held, soon(), &p, &n, NULL), 0);
	assert_int_equal(kc_decode(0, 9, p, n, &run.arena, NULL, (void **)&response, NULL), 0);
	assert_int_equal(response->responses.v[0].partitionResponses.v[0].errorCode, 0);
	assert_int_equal(end_offset(conn), 3);
	unlink(file);
	rmdir(dir);
	kc_free(held);
	kc_free(conn);
}

/* ---- exchanged under load ---- */

enum { PRODUCERS = 3, BATCH = 20, ROUNDS = 60 };

/* cmocka's assertions are for the main thread alone. */
struct producer {
	pthread_t thread;
	struct kc_conn *conn;
	const struct kw_ProduceRequest *body;
	int by[2];                /* batches that the one chain refused, and the other */
	const char *fault;
};

static atomic_int producing;
static const char *const texts[2] = {"the first chain", "the second chain"};

/* Which of the texts all records were refused with; -1: they were not. */
static int chain_of(const struct kw_ProduceResponse *response)
{
	const struct kw_ProduceResponse_PartitionProduceResponse *answer =
		&response->responses.v[0].partitionResponses.v[0];
	int chain = -1;

	if (answer->errorCode != 87 || answer->recordErrors.n != BATCH)
		return -1;
	for (int i = 0; i < 2; i++)
		if (kw_str_is(answer->recordErrors.v[0].batchIndexErrorMessage, texts[i]))
			chain = i;
	for (int32_t i = 0; i < BATCH && chain >= 0; i++)
		if (answer->recordErrors.v[i].batchIndex != i ||
		    !kw_str_is(answer->recordErrors.v[i].batchIndexErrorMessage, texts[chain]))
			return -1;
	return chain;
}

static void *produce_on(void *arg)
{
	struct producer *producer = arg;

	for (int i = 0; (i < ROUNDS || !producer->by[0] || !producer->by[1]) && !producer->fault; i++) {
		struct kw_arena arena;
		void *response;
		int chain;

		kw_arena_init(&arena, 0);
		if (kc_call(producer->conn, 0, 9, producer->body, soon(), &arena, &response, NULL) < 0)
			producer->fault = "no answer";
		else if ((chain = chain_of(response)) < 0)
			producer->fault = "a batch is judged by none of the chains, or by both";
		else
			producer->by[chain]++;
		kw_arena_fini(&arena);
	}
	atomic_fetch_sub(&producing, 1);
	return NULL;
}

static void every_batch_has_one_chain(void **state)
{
	struct producer producers[PRODUCERS] = {0};
	char body[300];

	(void)state;
	for (int i = 0; i < PRODUCERS; i++)
		producers[i].conn = dial(&run, 1);
	for (int swap = 0; swap == 0 || atomic_load(&producing) > 0; swap++) {
		snprintf(body, sizeof body, "{\"topic\": \"t\", \"configs\": {\"record.validator.classes\": \"%s\", "
			 "\"record.validator.RejectAll.text\": \"%s\"}}", swap % 2 ? "AllowAll,RejectAll" : "RejectAll",
			 texts[swap % 2]);
		put_chain(body);
		for (int i = 0; swap == 0 && i < PRODUCERS; i++) {
			char text[512];

			snprintf(text, sizeof text, PRODUCE, "t", BATCH);
			producers[i].body = body_of(&run, 0, 9, text);
			atomic_fetch_add(&producing, 1);
			assert_int_equal(pthread_create(&producers[i].thread, NULL, produce_on, &producers[i]), 0);
		}
	}
	for (int i = 0; i < PRODUCERS; i++) {
		pthread_join(producers[i].thread, NULL);
		if (producers[i].fault)
			fail_msg("%s", producers[i].fault);
		kc_free(producers[i].conn);
	}
}

/* Static values that no chain can be made of: what is in force stays, and is not made anew by the next change. */
static void a_refused_start_changes_nothing(void **state)
{
	struct fb_cluster *cluster = run.process.cluster;
	const struct fb_change unrelated = {FB_TOPIC, kw_str("t"), kw_str("retention.ms"), kw_str("1000")};
	const struct fb_chain *chain;
	struct kt_err err = {0};

	(void)state;
	put_chain("{\"topic\": \"t\", \"configs\": {\"record.validator.classes\": \"NonEmptyValue\"}}");
	pthread_rwlock_wrlock(&cluster->lock);
	chain = fb_topic_find(cluster, kw_str("t"))->chain;
	assert_int_equal(fb_cluster_set_static(cluster, 1, kw_str("record.validator.classes"), kw_str("NoSuch"), NULL,
					       NULL), 0);
	assert_true(fb_topics_reconfigure(cluster, true, &err) < 0);
	assert_int_equal(fb_cluster_configure(cluster, &unrelated, 1, NULL), 0);
	assert_ptr_equal(fb_topic_find(cluster, kw_str("t"))->chain, chain);
	fb_configs_unset_static(cluster->configs, 1, kw_str("record.validator.classes"));
	assert_int_equal(fb_topics_reconfigure(cluster, true, &err), 0);
	assert_ptr_not_equal(fb_topic_find(cluster, kw_str("t"))->chain, chain);
	fb_metadata_close(&cluster->metadata, 0);
	pthread_rwlock_unlock(&cluster->lock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slow_validator_holds_up_nobody_else),
		cmocka_unit_test(every_batch_has_one_chain),
		cmocka_unit_test(a_refused_start_changes_nothing),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
