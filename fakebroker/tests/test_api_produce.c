/* Producing over the wire: acks, leaders, idempotent producers, and what configurations make of a batch. What is
 * expected was measured on Apache Kafka 4.4.0, unless a line says that it is the kit's. */
#include "fakebroker/cluster/log_line.h"
#include "fakebroker/tests/talk.h"

static struct running run;
static struct kc_conn *conn;

static int set_up(void **state)
{
	struct fb_settings settings = {.nodes = 2};

	(void)state;
	running_start(&run, &settings);
	conn = dial(&run, 1);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	kc_free(conn);
	running_stop(&run);
	return 0;
}

/* ---- who may produce what ---- */

static void acks_zero_answers_nothing(void **state)
{
	struct kc_conn *c = dial(&run, 1);

	(void)state;
	make_topic(&run, "zero");
	tell(&run, c, "Produce", 9,
	     "{'acks': 0, 'topicData': [{'name': 'zero', 'partitionData': [{'index': 0, 'records': "
	     BATCH("{'value': 'a'}") "}]}]}");
	/* Its answer is the first that comes. */
	assert_int_equal(produce(&run, c, "zero", BATCH("{'value': 'b'}")), 1);
	tell(&run, c, "Produce", 9,
	     "{'acks': 0, 'topicData': [{'name': 'nope', 'partitionData': [{'index': 0, 'records': "
	     BATCH("{'value': 'a'}") "}]}]}");
	assert_int_equal(kc_wait_close(c, soon()), KC_CLOSED);
	assert_false(kc_has_frame(c));
	assert_int_equal(end_of(&run, "zero"), 2);
	kc_free(c);
}

static void only_the_leader_takes_records(void **state)
{
	struct kc_conn *other = dial(&run, 2);
	json_t *json;

	(void)state;
	make_topic(&run, "led");
	for (int version = 9; version <= 12; version++) {
		json = talk(&run, other, "Produce", version, "{'acks': 1, 'topicData': [{'name': 'led', "
			    "'partitionData': [{'index': 0, 'records': " BATCH("{'value': 'a'}") "}]}]}");
		assert_int_equal(num_at(json, "responses.0.partitionResponses.0.errorCode"), 6);
		if (version >= 10)
			assert_int_equal(num_at(json, "responses.0.partitionResponses.0.currentLeader.leaderId"), 1);
		json_decref(json);
	}
	assert_int_equal(end_of(&run, "led"), 0);
	kc_free(other);
}

static void of_two_entries_for_one_partition_the_last_counts(void **state)
{
	static const char one[] = BATCH("{'value': 'a'}"), three[] = BATCH("{'value': 'b', 'repeat': 3}");
	json_t *json;

	(void)state;
	make_topic(&run, "twice");
	json = talk(&run, conn, "Produce", 9, "{'acks': 1, 'topicData': [{'name': 'twice', 'partitionData': [{'index': "
		    "0, 'records': %s}, {'index': 0, 'records': %s}]}]}", one, three);
	assert_int_equal(json_array_size(at(json, "responses.0.partitionResponses")), 1);
	assert_int_equal(num_at(json, "responses.0.partitionResponses.0.errorCode"), 0);
	json_decref(json);
	assert_int_equal(end_of(&run, "twice"), 3);
	json_decref(talk(&run, conn, "Produce", 9, "{'acks': 1, 'topicData': [{'name': 'twice', 'partitionData': "
			 "[{'index': 0, 'records': %s}]}, {'name': 'twice', 'partitionData': [{'index': 0, "
			 "'records': %s}]}]}", three, one));
	assert_int_equal(end_of(&run, "twice"), 4);
}

/* ---- idempotent producers ---- */

static int64_t produce_as(int64_t id, int epoch, int sequence, int count)
{
	char records[300];

	snprintf(records, sizeof records, "{'batches': [{'producerId': %lld, 'producerEpoch': %d, 'baseSequence': %d, "
		 "'records': [{'value': 'x', 'repeat': %d}]}]}", (long long)id, epoch, sequence, count);
	return produce(&run, conn, "idem", records);
}

static void producers_are_told_apart(void **state)
{
	json_t *json = talk(&run, conn, "InitProducerId", 4, "{'transactionalId': null, 'transactionTimeoutMs': 1000}");
	int64_t id = num_at(json, "producerId");

	(void)state;
	assert_int_equal(num_at(json, "errorCode"), 0);
	assert_int_equal(num_at(json, "producerEpoch"), 0);
	json_decref(json);
	assert_int_equal(ask_num(&run, conn, "producerId", "InitProducerId", 0, "{'transactionalId': null}"), id + 1);
	make_topic(&run, "idem");
	assert_int_equal(produce_as(id, 0, 0, 3), 0);
	assert_int_equal(produce_as(id, 0, 3, 1), 3);
	assert_int_equal(produce_as(id, 0, 3, 1), 3);    /* again: told as before, appended once */
	assert_int_equal(produce_as(id, 0, 0, 3), 0);
	assert_int_equal(end_of(&run, "idem"), 4);
	assert_int_equal(produce_as(id, 0, 0, 2), -45);
	assert_int_equal(produce_as(id, 0, 10, 1), -45);
	assert_int_equal(produce_as(id, 1, 0, 1), 4);
	assert_int_equal(produce_as(id, 0, 4, 1), -47);
	assert_int_equal(produce_as(id + 1, 0, 5, 1), 5);   /* never seen: any first sequence will do */
	assert_int_equal(end_of(&run, "idem"), 6);
}

static void producer_ids_are_judged(void **state)
{
	static const struct { const char *body; int error; } rows[] = {
		{"{'transactionalId': null, 'transactionTimeoutMs': -1}", 0},
		{"{'transactionalId': null, 'producerId': 5, 'producerEpoch': 3}", 0},
		{"{'transactionalId': null, 'producerId': -2, 'producerEpoch': -2}", 0},
		{"{'transactionalId': null, 'producerId': 5, 'producerEpoch': -1}", 42},
		{"{'transactionalId': null, 'producerId': -1, 'producerEpoch': 3}", 42},
		{"{'transactionalId': '', 'transactionTimeoutMs': 60000}", 42},
		/* Nobody asked for its coordinator. */
		{"{'transactionalId': 'txn', 'transactionTimeoutMs': 60000}", 16},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		json_t *json = talk(&run, conn, "InitProducerId", 4, "%s", rows[i].body);

		assert_int_equal(num_at(json, "errorCode"), rows[i].error);
		assert_int_equal(num_at(json, "producerId") >= 0, !rows[i].error);
		assert_int_equal(num_at(json, "producerEpoch"), rows[i].error ? -1 : 0);
		json_decref(json);
	}
}

/* ---- configuration that changes what is stored ---- */

static int64_t alter(const char *topic, const char *name, const char *value)
{
	return ask_num(&run, conn, "responses.0.errorCode", "IncrementalAlterConfigs", 1,
		       "{'resources': [{'resourceType': 2, "
		       "'resourceName': '%s', 'configs': [{'name': '%s', 'configOperation': 0, 'value': '%s'}]}]}",
		       topic, name, value);
}

static void configure(const char *topic, const char *name, const char *value)
{
	assert_int_equal(alter(topic, name, value), 0);
}

/* The last batch of the topic, as it is fetched. */
static struct kw_batch last_batch(const char *topic)
{
	const struct kw_FetchResponse *response;
	const struct kw_records *records;
	struct kw_batch batch;
	char text[300];

	snprintf(text, sizeof text, "{'maxWaitMs': 0, 'minBytes': 1, 'maxBytes': 100000, 'topics': [{'topic': '%s', "
		 "'partitions': [{'partition': 0, 'fetchOffset': %lld, 'partitionMaxBytes': 100000}]}]}", topic,
		 (long long)end_of(&run, topic) - 1);
	response = call(&run, conn, 1, 12, body_of(&run, 1, 12, text));
	records = &response->responses.v[0].partitions.v[0].records;
	assert_int_equal(kw_batch_parse(records->p, (size_t)records->n, &batch, NULL), 0);
	assert_int_equal(batch.size, records->n);
	assert_int_equal(kw_batch_crc(records->p, batch.size), batch.crc);
	return batch;
}

static void max_message_bytes_takes_effect(void **state)
{
	static const char kilobyte[] = BATCH("{'value': {'size': 1000}}");

	(void)state;
	make_topic(&run, "conf");
	assert_int_equal(produce(&run, conn, "conf", kilobyte), 0);
	configure("conf", "max.message.bytes", "1000");
	assert_int_equal(produce(&run, conn, "conf", kilobyte), -10);
	configure("conf", "max.message.bytes", "2000");
	assert_int_equal(produce(&run, conn, "conf", kilobyte), 1);
}

static void timestamp_type_takes_effect(void **state)
{
	static const char old[] = "{'batches': [{'baseTimestamp': 1000, 'records': [{'value': 'a'}, {'value': 'b', "
				  "'timestampDelta': 5}, {'value': 'c', 'timestampDelta': 3}]}]}";
	int64_t before = fb_cluster_now(run.process.cluster);
	struct kw_batch batch;

	(void)state;
	assert_int_equal(produce(&run, conn, "conf", old), 2);
	batch = last_batch("conf");
	assert_int_equal(batch.maxTimestamp, 1005);
	assert_int_equal(batch.attributes & KW_A_LOG_APPEND_TIME, 0);
	configure("conf", "message.timestamp.type", "LogAppendTime");
	assert_int_equal(produce(&run, conn, "conf", old), 5);
	batch = last_batch("conf");
	assert_true(batch.maxTimestamp >= before);
	assert_int_equal(batch.attributes & KW_A_LOG_APPEND_TIME, KW_A_LOG_APPEND_TIME);
	configure("conf", "message.timestamp.type", "CreateTime");
}

static int count_values(void *arg, int32_t index, const struct kw_record *record)
{
	(void)index;
	*(int *)arg += record->value.n == 1 && record->value.p[0] == 'z';
	return 0;
}

/* The stored batch is encoded anew, and has the same records. */
static void compression_type_takes_effect(void **state)
{
	static const struct { const char *type; int codec; } rows[] = {
		{"gzip", KW_GZIP}, {"snappy", KW_SNAPPY}, {"lz4", KW_LZ4}, {"zstd", KW_ZSTD}, {"uncompressed", KW_NONE},
		{"producer", KW_LZ4},
	};
	static const char records[] = "{'batches': [{'codec': 'lz4', 'records': [{'value': 'z', 'repeat': 50}]}]}";

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct kw_batch batch;
		enum kw_walk why;
		int n = 0;

		configure("conf", "compression.type", rows[i].type);
		assert_in_range(produce(&run, conn, "conf", records), 1, 999);
		batch = last_batch("conf");
		assert_int_equal(batch.attributes & KW_A_CODEC, rows[i].codec);
		assert_int_equal(batch.count, 50);
		assert_int_equal(kw_batch_walk(&batch, NULL, count_values, &n, &why, NULL), 0);
		assert_int_equal(n, 50);
	}
}

static int32_t stored_bytes(const char *level)
{
	static const char records[] = "{'batches': [{'records': [{'value': {'size': 100}, 'repeat': 500}]}]}";

	configure("level", "compression.gzip.level", level);
	assert_in_range(produce(&run, conn, "level", records), 0, 9999);
	return (int32_t)last_batch("level").size;
}

static void compression_levels_take_effect(void **state)
{
	int32_t by_default;

	(void)state;
	make_topic(&run, "level");
	configure("level", "compression.type", "gzip");
	by_default = stored_bytes("-1");
	assert_int_equal(stored_bytes("6"), by_default);
	assert_int_not_equal(stored_bytes("1"), by_default);
}

/* A chain that is put, changed and taken away between requests. */
static void validators_take_effect(void **state)
{
	(void)state;
	make_topic(&run, "valid");
	assert_int_equal(produce(&run, conn, "valid", BATCH("{'value': ''}")), 0);
	configure("valid", "record.validator.classes", "NonEmptyValue");
	assert_int_equal(produce(&run, conn, "valid", BATCH("{'value': ''}")), -87);
	assert_int_equal(alter("valid", "record.validator.classes", "Nope"), 40);
	assert_int_equal(produce(&run, conn, "valid", BATCH("{'value': ''}")), -87);
	configure("valid", "record.validator.classes", "");
	assert_int_equal(produce(&run, conn, "valid", BATCH("{'value': ''}")), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(acks_zero_answers_nothing),
		cmocka_unit_test(only_the_leader_takes_records),
		cmocka_unit_test(of_two_entries_for_one_partition_the_last_counts),
		cmocka_unit_test(producers_are_told_apart),
		cmocka_unit_test(producer_ids_are_judged),
		cmocka_unit_test(max_message_bytes_takes_effect),
		cmocka_unit_test(timestamp_type_takes_effect),
		cmocka_unit_test(compression_type_takes_effect),
		cmocka_unit_test(compression_levels_take_effect),
		cmocka_unit_test(validators_take_effect),
	};

	fb_log_level(KASSAY_ERROR);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
