/* Transactions: what the conformance cases cannot show, because it takes a state that is given or time that passes. */
#include "fakebroker/cluster/transactions.h"
#include "fakebroker/tests/talk.h"

enum { BROKER = 1, READ_COMMITTED = 1 };

static struct running run;
static struct kc_conn *conn;

static int setup(void **state)
{
	static struct fb_settings settings = {.scenario = "fakebroker/tests/data/transactions.json"};

	(void)state;
	running_start(&run, &settings);
	conn = dial(&run, BROKER);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	kc_free(conn);
	running_stop(&run);
	return 0;
}

static int16_t append(const char *topic, const char *id, int64_t producerId, int epoch, int sequence,
		      int64_t *baseOffset)
{
	json_t *json = talk(&run, conn, "Produce", 12, "{'transactionalId': %s%s%s, 'acks': -1, 'topicData': [{'name': "
			    "'%s', 'partitionData': [{'index': 0, 'records': {'batches': [{'attributes': %d, "
			    "'producerId': %lld, 'producerEpoch': %d, 'baseSequence': %d, 'records': [{'value': 'v', "
			    "'repeat': 2}]}]}}]}]}",
			    id ? "'" : "", id ? id : "null", id ? "'" : "", topic, id ? KW_A_TRANSACTIONAL : 0,
			    (long long)producerId, epoch, sequence);
	int16_t error = (int16_t)num_at(json, "responses.0.partitionResponses.0.errorCode");

	*baseOffset = num_at(json, "responses.0.partitionResponses.0.baseOffset");
	json_decref(json);
	return error;
}

static int64_t stable_offset(const char *topic)
{
	return ask_num(&run, conn, "topics.0.partitions.0.offset", "ListOffsets", 7,
		       "{'replicaId': -1, 'isolationLevel': %d, 'topics': "
		       "[{'name': '%s', 'partitions': [{'partitionIndex': 0, 'timestamp': -1}]}]}",
		       READ_COMMITTED, topic);
}

/* InitProducerId; naming the producer unless its id is -1. */
static int16_t init(const char *id, int64_t *producerId, int *epoch)
{
	json_t *json = talk(&run, conn, "InitProducerId", 4, "{'transactionalId': '%s', 'transactionTimeoutMs': 60000, "
			    "'producerId': %lld, 'producerEpoch': %d}", id, (long long)*producerId, *epoch);
	int16_t error = (int16_t)num_at(json, "errorCode");

	*producerId = num_at(json, "producerId");
	*epoch = (int)num_at(json, "producerEpoch");
	json_decref(json);
	return error;
}

/* EndTxn 5, which tells how to go on. */
static int16_t end(const char *id, int64_t *producerId, int *epoch, bool commit)
{
	json_t *json = talk(&run, conn, "EndTxn", 5, "{'transactionalId': '%s', 'producerId': %lld, 'producerEpoch': "
			    "%d, 'committed': %s}", id, (long long)*producerId, *epoch, commit ? "true" : "false");
	int16_t error = (int16_t)num_at(json, "errorCode");

	*producerId = num_at(json, "producerId");
	*epoch = (int)num_at(json, "producerEpoch");
	json_decref(json);
	return error;
}

static void a_coordinator_has_a_topic(void **state)
{
	json_t *json = talk(&run, conn, "FindCoordinator", 4, "{'keyType': 1, 'coordinatorKeys': ['t', '']}");

	(void)state;
	assert_int_equal(num_at(json, "coordinators.0.errorCode"), 0);
	assert_string_equal(str_at(json, "coordinators.0.errorMessage"), "");
	assert_int_equal(num_at(json, "coordinators.1.nodeId"), BROKER);
	json_decref(json);
	json = talk(&run, conn, "Metadata", 9, "{'topics': [{'name': '__transaction_state'}]}");
	assert_int_equal(num_at(json, "topics.0.errorCode"), 0);
	assert_true(json_is_true(at(json, "topics.0.isInternal")));
	assert_int_equal(json_array_size(at(json, "topics.0.partitions")), 50);
	json_decref(json);
}

/* A producer that is at its last epoch gets an id of its own, and naming itself once more, the same one. */
static void exhausted_epochs_give_a_new_id(void **state)
{
	int64_t producerId = 70, again = 70;
	int epoch = INT16_MAX - 1, epoch_again = INT16_MAX - 1;

	(void)state;
	assert_int_equal(init("worn", &producerId, &epoch), 0);
	assert_true(producerId > 71);
	assert_int_equal(epoch, 0);
	assert_int_equal(init("worn", &again, &epoch_again), 0);
	assert_int_equal(again, producerId);
	assert_int_equal(epoch_again, 0);
}

/* EndTxn 5 writes its marker with the greatest epoch, and the producer goes on with another id. */
static void the_last_epoch_ends_in_a_marker(void **state)
{
	int64_t producerId = 71, offset, next;
	int epoch = INT16_MAX - 1, next_epoch = INT16_MAX - 1;
	json_t *json;

	(void)state;
	assert_int_equal(append("t", "worn-too", producerId, epoch, 0, &offset), 0);
	next = producerId;
	assert_int_equal(end("worn-too", &next, &next_epoch, true), 0);
	assert_true(next > 71);
	assert_int_equal(next_epoch, 0);
	json = talk(&run, conn, "DescribeProducers", 0, "{'topics': [{'name': 't', 'partitionIndexes': [0]}]}");
	assert_int_equal(num_at(json, "topics.0.partitions.0.activeProducers.0.producerId"), 71);
	assert_int_equal(num_at(json, "topics.0.partitions.0.activeProducers.0.producerEpoch"), INT16_MAX);
	json_decref(json);
	/* Once more, as the answer was lost. */
	assert_int_equal(end("worn-too", &producerId, &epoch, true), 0);
	assert_int_equal(producerId, next);
	assert_int_equal(append("t", "worn-too", next, 0, 0, &offset), 0);
	assert_int_equal(end("worn-too", &next, &next_epoch, false), 0);
	assert_int_equal(next_epoch, 1);
}

/* Measured: what has no partitions is not answered. */
static void markers_for_nothing_are_left_out(void **state)
{
	json_t *json = talk(&run, conn, "WriteTxnMarkers", 1, "{'markers': [{'producerId': 7, 'topics': []}, "
			    "{'producerId': 8, 'topics': [{'name': 't', 'partitionIndexes': []}]}]}");

	(void)state;
	assert_int_equal(json_array_size(at(json, "markers")), 0);
	json_decref(json);
	json = talk(&run, conn, "WriteTxnMarkers", 1, "{'markers': [{'producerId': 7, 'topics': []}, {'producerId': 8, "
		    "'topics': [{'name': 't', 'partitionIndexes': []}, {'name': 'none', 'partitionIndexes': [0]}]}]}");
	assert_int_equal(json_array_size(at(json, "markers")), 1);
	assert_int_equal(num_at(json, "markers.0.producerId"), 8);
	assert_int_equal(json_array_size(at(json, "markers.0.topics")), 1);
	assert_string_equal(str_at(json, "markers.0.topics.0.name"), "none");
	assert_int_equal(num_at(json, "markers.0.topics.0.partitions.0.errorCode"), 3);
	json_decref(json);
}

static size_t partitions_of(const char *id)
{
	json_t *json = talk(&run, conn, "DescribeTransactions", 0, "{'transactionalIds': ['%s']}", id);
	size_t i, n = 0;
	json_t *topic;

	json_array_foreach(at(json, "transactionStates.0.topics"), i, topic)
		n += json_array_size(json_object_get(topic, "partitions"));
	json_decref(json);
	return n;
}

/* Each has its own answer, wherever one that does not exist stands. */
static void unknown_partitions_are_told_in_place(void **state)
{
	int64_t producerId = -1;
	int epoch = -1;
	json_t *json, *results, *result;
	size_t i;

	(void)state;
	assert_int_equal(ask_num(&run, conn, "topics.0.errorCode", "CreateTopics", 7,
				 "{'topics': [{'name': 'three', 'numPartitions': 3, 'replicationFactor': 1}], "
				 "'timeoutMs': 9000}"), 0);
	assert_int_equal(init("places", &producerId, &epoch), 0);
	json = talk(&run, conn, "AddPartitionsToTxn", 3,
		    "{'v3AndBelowTransactionalId': 'places', 'v3AndBelowProducerId': %lld, "
		    "'v3AndBelowProducerEpoch': %d, 'v3AndBelowTopics': [{'name': 'three', 'partitions': [99, 1, 2]}]}",
		    (long long)producerId, epoch);
	results = at(json, "resultsByTopicV3AndBelow.0.resultsByPartition");
	assert_int_equal(json_array_size(results), 3);
	json_array_foreach(results, i, result) {
		json_int_t index = num_at(result, "partitionIndex");

		assert_true(index == 1 || index == 2 || index == 99);
		assert_int_equal(num_at(result, "partitionErrorCode"), index == 99 ? 3 : 55);
	}
	json_decref(json);
	assert_int_equal(partitions_of("places"), 0);
}

static json_int_t init_bytes(const char *hex, const char *member)
{
	return ask_num(&run, conn, member, "InitProducerId", 4, "{'transactionalId': {'hex': '%s'}, "
		       "'transactionTimeoutMs': 60000, 'producerId': -1, 'producerEpoch': -1}", hex);
}

/* An id may have any bytes; two that begin alike are two. */
static void ids_with_a_nul(void **state)
{
	json_int_t a, b;

	(void)state;
	a = init_bytes("6e0061", "producerId");
	b = init_bytes("6e0062", "producerId");
	assert_true(a >= 0 && b >= 0 && a != b);
	assert_int_equal(init_bytes("6e0061", "producerId"), a);
	assert_int_equal(init_bytes("6e0061", "producerEpoch"), 2);
}

/* Partitions are sorted before any lock is taken, and kept once: where each was looked for among all, this took ten
 * seconds. */
static void repeats_are_added_once(void **state)
{
	enum { PARTITIONS = 9000, REPEATS = 1000000 };   /* as many records as a CreateTopics may have */
	struct fb_cluster *cluster = run.process.cluster;
	struct fb_txn_partition *partitions = calloc(REPEATS, sizeof *partitions);
	struct fb_txn_producer producer = {.transactionalId = kw_str("many")};
	const char *topics[] = {"wide", "wider"};
	int64_t producerId = -1;
	int epoch = -1;

	(void)state;
	for (int t = 0; t < 2; t++)
		assert_int_equal(ask_num(&run, conn, "topics.0.errorCode", "CreateTopics", 7,
					 "{'topics': [{'name': '%s', 'numPartitions': %d, 'replicationFactor': 1}], "
					 "'timeoutMs': 9000}", topics[t], PARTITIONS), 0);
	assert_int_equal(init("many", &producerId, &epoch), 0);
	producer.producerId = producerId;
	for (int32_t i = 0; i < REPEATS; i++)
		partitions[i] = (struct fb_txn_partition){
			fb_topic_find(cluster, kw_str("wide")), i < PARTITIONS / 2 ? 2 * i : PARTITIONS - 2,
		};
	assert_int_equal(fb_txn_add(cluster, &producer, partitions, REPEATS), 0);
	assert_int_equal(partitions_of("many"), PARTITIONS / 2);
	for (int32_t i = 0; i < REPEATS; i++)
		partitions[i] = (struct fb_txn_partition){
			fb_topic_find(cluster, kw_str(topics[i % 2])), (int32_t)((int64_t)i * 7919 % PARTITIONS),
		};
	assert_int_equal(fb_txn_add(cluster, &producer, partitions, REPEATS), 0);
	assert_int_equal(partitions_of("many"), PARTITIONS);
	free(partitions);
	assert_int_equal(end("many", &producerId, &epoch, false), 0);
	assert_int_equal(partitions_of("many"), 0);
}

static void sequences_wrap(void **state)
{
	int64_t offset;

	(void)state;
	assert_int_equal(append("wrap", NULL, 80, 3, INT32_MAX, &offset), 0);   /* 2^31-1 and 0 */
	assert_int_equal(offset, 0);
	assert_int_equal(append("wrap", NULL, 80, 3, 1, &offset), 0);
	assert_int_equal(offset, 2);
	assert_int_equal(append("wrap", NULL, 80, 3, INT32_MAX, &offset), 0);   /* a duplicate */
	assert_int_equal(offset, 0);
	assert_int_equal(append("wrap", NULL, 80, 3, 2, &offset), 45);
	assert_int_equal(append("wrap", NULL, 80, 2, 0, &offset), 47);
}

/* The coordinator aborts what takes longer than it said, and nobody can go on with it. */
static void a_transaction_times_out(void **state)
{
	int64_t producerId = -1, offset, deadline = soon();
	int epoch = -1;

	(void)state;
	json_decref(talk(&run, conn, "InitProducerId", 4, "{'transactionalId': 'late', 'transactionTimeoutMs': 1, "
			 "'producerId': -1, 'producerEpoch': -1}"));
	producerId = ask_num(&run, conn, "transactionStates.0.producerId", "DescribeTransactions", 0,
			     "{'transactionalIds': ['late']}");
	assert_int_equal(append("late", "late", producerId, 0, 0, &offset), 0);
	while (stable_offset("late") == 0 && kc_now_ms() < deadline)
		;
	assert_int_equal(stable_offset("late"), 3);
	assert_int_equal(append("late", "late", producerId, 0, 2, &offset), 47);
	assert_int_equal(end("late", &producerId, &epoch, true), 90);
}

/* Markers for what is not there any more reach nobody. */
static void a_topic_goes_in_a_transaction(void **state)
{
	int64_t producerId = -1, offset;
	int epoch = -1;

	(void)state;
	assert_int_equal(init("goes", &producerId, &epoch), 0);
	assert_int_equal(append("goes", "goes", producerId, epoch, 0, &offset), 0);
	assert_int_equal(ask_num(&run, conn, "responses.0.errorCode", "DeleteTopics", 5,
				 "{'topicNames': ['goes'], 'timeoutMs': 1000}"), 0);
	assert_int_equal(end("goes", &producerId, &epoch, true), 0);
	assert_int_equal(epoch, 1);
}

/* Somebody else's marker told the partition of a later coordinator; ours ends its transaction all the same. */
static void a_later_coordinator_keeps_nothing_open(void **state)
{
	int64_t producerId = -1, offset;
	int epoch = -1;

	(void)state;
	assert_int_equal(init("later", &producerId, &epoch), 0);
	assert_int_equal(ask_num(&run, conn, "markers.0.topics.0.partitions.0.errorCode", "WriteTxnMarkers", 1,
				 "{'markers': "
				 "[{'producerId': %lld, 'producerEpoch': 0, 'transactionResult': true, "
				 "'coordinatorEpoch': 5, 'topics': [{'name': 'wrap', 'partitionIndexes': [0]}]}]}",
				 (long long)producerId), 0);
	assert_int_equal(append("wrap", "later", producerId, epoch, 0, &offset), 0);
	assert_int_equal(stable_offset("wrap"), offset);
	assert_int_equal(end("later", &producerId, &epoch, true), 0);
	assert_int_equal(stable_offset("wrap"), offset + 3);
}

/* Kafka 4.4.0: a producer whose transaction another one aborted goes on when it names itself before that one asks
 * again. */
static void a_fenced_producer_that_names_itself_goes_on(void **state)
{
	int64_t a = -1, b = -1, offset;
	int epoch_a = -1, epoch_b = -1;

	(void)state;
	assert_int_equal(init("two", &a, &epoch_a), 0);
	assert_int_equal(append("t", "two", a, epoch_a, 0, &offset), 0);
	assert_int_equal(init("two", &b, &epoch_b), 51);
	assert_int_equal(append("t", "two", a, 0, 2, &offset), 47);
	assert_int_equal(init("two", &a, &epoch_a), 0);
	assert_int_equal(epoch_a, 1);
	b = epoch_b = -1;
	assert_int_equal(init("two", &b, &epoch_b), 0);
	assert_int_equal(epoch_b, 2);
	assert_int_equal(init("two", &a, &epoch_a), 90);
}

static int16_t list_error(const char *pattern)
{
	return (int16_t)ask_num(&run, conn, "errorCode", "ListTransactions", 2,
				"{'stateFilters': [], 'producerIdFilters': [], 'transactionalIdPattern': '%s'}",
				pattern);
}

/* Kafka's are RE2's. What it refuses and PCRE2 would take as well as what would go on for too long. */
static void expressions_are_bounded(void **state)
{
	char deep[2001];

	(void)state;
	memset(deep, '(', 1000);
	memset(deep + 1000, ')', 1000);
	deep[2000] = '\0';
	assert_int_equal(list_error(deep), 128);
	assert_int_equal(list_error("((a{1,255}){1,255}){1,255}"), 128);
	assert_int_equal(list_error("a++++++++++++++++++++++++++++++++++++++++"), 128);
	assert_int_equal(list_error("(a)\\\\1"), 128);
	assert_int_equal(list_error("(?=a).*"), 128);
	assert_int_equal(list_error("a)(b"), 128);
	assert_int_equal(list_error("(till|desk)-[0-9]{1,3}"), 0);
}

/* How many transactional ids of those that begin with "expr" fit. */
static size_t listed(const char *pattern)
{
	json_t *json = talk(&run, conn, "ListTransactions", 2,
			    "{'stateFilters': [], 'producerIdFilters': [], 'transactionalIdPattern': '%s'}", pattern);
	json_t *states = json_object_get(json, "transactionStates");
	size_t n = json_array_size(states);

	assert_true(json_is_array(states));
	json_decref(json);
	return n;
}

static void expressions_are_those_of_re2(void **state)
{
	int64_t producerId;
	int epoch;

	(void)state;
	producerId = epoch = -1;
	assert_int_equal(init("expr-17", &producerId, &epoch), 0);
	producerId = epoch = -1;
	assert_int_equal(init("expr-x", &producerId, &epoch), 0);
	assert_int_equal(listed("expr-.*"), 2);
	assert_int_equal(listed("expr-\\\\d+"), 1);
	assert_int_equal(listed("(?i)EXPR-(?:1.*?|\\\\pL)"), 2);
	assert_int_equal(listed("expr-\\\\d"), 0);
	assert_int_equal(listed("expr-x|z"), 1);
	assert_int_equal(listed("expr(?:.?){4}"), 2);
	assert_int_equal(listed("expr(?:.?){400}"), 0);   /* they would fit, in too many ways */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_coordinator_has_a_topic),
		cmocka_unit_test(exhausted_epochs_give_a_new_id),
		cmocka_unit_test(the_last_epoch_ends_in_a_marker),
		cmocka_unit_test(markers_for_nothing_are_left_out),
		cmocka_unit_test(repeats_are_added_once),
		cmocka_unit_test(unknown_partitions_are_told_in_place),
		cmocka_unit_test(ids_with_a_nul),
		cmocka_unit_test(sequences_wrap),
		cmocka_unit_test(a_transaction_times_out),
		cmocka_unit_test(a_topic_goes_in_a_transaction),
		cmocka_unit_test(a_later_coordinator_keeps_nothing_open),
		cmocka_unit_test(a_fenced_producer_that_names_itself_goes_on),
		cmocka_unit_test(expressions_are_bounded),
		cmocka_unit_test(expressions_are_those_of_re2),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
