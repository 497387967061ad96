/* --lax: whatever is produced is stored and can be fetched, whether it is batches or not. */
#include "fakebroker/tests/http.h"
#include "fakebroker/tests/talk.h"
#include "lib/text/base64.h"

static struct running run;
static struct kc_conn *conn;

static int set_up(void **state)
{
	struct fb_settings settings = {.nodes = 1, .lax = true};

	(void)state;
	running_start(&run, &settings);
	make_topic(&run, "t");
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

/* A batch of one record "v" with a wrong CRC; offset and epoch as they are sent, and as they are stored. */
#define HEAD(offset, epoch) offset "00000039" epoch "02" "deadbeef" "0000"
#define TAIL "0000000000000001" "0000000000000002" "ffffffffffffffff" "ffff" "ffffffff" "00000001"
#define RECORD "0e" "00" "00" "00" "01" "02" "76" "00"

static int64_t put(const char *hex)
{
	char records[2000];

	snprintf(records, sizeof records, "{'hex': '%s'}", hex);
	return produce(&run, conn, "t", records);
}

static json_t *fetch(int64_t offset)
{
	return talk(&run, conn, "Fetch", 11, "{'replicaId': -1, 'maxWaitMs': 0, 'minBytes': 0, 'maxBytes': 1000000, "
		    "'isolationLevel': 1, 'topics': [{'topic': 't', 'partitions': [{'partition': 0, 'fetchOffset': "
		    "%lld, 'partitionMaxBytes': 1000000}]}]}", (long long)offset);
}

static void fetches(int64_t offset, const char *want)
{
	json_t *json = fetch(offset);
	const char *base64 = str_at(json, "responses.0.partitions.0.records");
	uint8_t *p = malloc(strlen(base64) + 3);
	long n = kt_base64_decode(base64, strlen(base64), p);
	char *hex = calloc(1, (size_t)n * 2 + 1);

	assert_int_equal(num_at(json, "responses.0.partitions.0.errorCode"), 0);
	kt_hex_encode(p, (size_t)n, hex);
	assert_string_equal(hex, want);
	free(hex);
	free(p);
	json_decref(json);
}

static int64_t offset_of(int64_t timestamp)
{
	return ask_num(&run, conn, "topics.0.partitions.0.offset", "ListOffsets", 7,
		       "{'topics': [{'name': 't', 'partitions': [{'partitionIndex': 0, 'timestamp': %lld}]}]}",
		       (long long)timestamp);
}

#define SENT HEAD("0000000000000063", "00000009") "00000004" TAIL RECORD
#define MESSAGE "0000000000000063" "00000016" "deadbeef" "01" "00" "0000000000000003" "ffffffff" "ffffffff"

static void a_batch_keeps_all_but_the_leader_s_fields(void **state)
{
	(void)state;
	assert_int_equal(put(SENT), 0);
	assert_int_equal(end_of(&run, "t"), 5);
	assert_int_equal(put(SENT SENT), 5);
	assert_int_equal(end_of(&run, "t"), 15);
	fetches(7, HEAD("0000000000000005", "00000000") "00000004" TAIL RECORD
		HEAD("000000000000000a", "00000000") "00000004" TAIL RECORD);
	assert_int_equal(offset_of(1), 0);
	assert_int_equal(offset_of(-1), 15);
}

static void what_is_no_batch_takes_one_offset(void **state)
{
	(void)state;
	assert_int_equal(put("00"), 15);
	assert_int_equal(put(MESSAGE MESSAGE), 16);
	assert_int_equal(put(SENT "ffff" SENT), 17);
	assert_int_equal(end_of(&run, "t"), 23);
	fetches(15, "00" MESSAGE MESSAGE HEAD("0000000000000011", "00000000") "00000004" TAIL RECORD "ffff" SENT);
	fetches(22, "ffff" SENT);
}

static void a_last_delta_below_zero_takes_one_offset(void **state)
{
	(void)state;
	assert_int_equal(put(HEAD("0000000000000000", "ffffffff") "80000000" TAIL RECORD), 23);
	assert_int_equal(end_of(&run, "t"), 24);
}

static void nothing_is_kept_of_nothing(void **state)
{
	(void)state;
	assert_int_equal(put(""), 24);
	assert_int_equal(produce(&run, conn, "t", "null"), 24);
	assert_int_equal(end_of(&run, "t"), 24);
}

static void sequences_and_transactions_are_not_followed(void **state)
{
	static const char set[] = "{'batches': [{'attributes': 16, 'producerId': 5, 'producerEpoch': 1, "
				  "'baseSequence': 9, 'records': [{'value': 'x'}]}]}";
	json_t *json;

	(void)state;
	assert_int_equal(produce(&run, conn, "t", set), 24);
	assert_int_equal(produce(&run, conn, "t", set), 25);
	json = fetch(26);
	assert_int_equal(num_at(json, "responses.0.partitions.0.lastStableOffset"), 26);
	json_decref(json);
	json = talk(&run, conn, "DescribeProducers", 0, "{'topics': [{'name': 't', 'partitionIndexes': [0]}]}");
	assert_int_equal(json_array_size(at(json, "topics.0.partitions.0.activeProducers")), 0);
	json_decref(json);
}

static void what_is_about_the_request_is_still_judged(void **state)
{
	(void)state;
	assert_int_equal(produce(&run, conn, "nowhere", "{'hex': '00'}"), -3);
	assert_int_equal(ask_num(&run, conn, "responses.0.partitionResponses.0.errorCode", "Produce", 9, "{'acks': 7, "
				 "'topicData': [{'name': 't', 'partitionData': [{'index': 0, 'records': "
				 "{'hex': '00'}}]}]}"), 21);
	assert_int_equal(end_of(&run, "t"), 26);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_batch_keeps_all_but_the_leader_s_fields),
		cmocka_unit_test(what_is_no_batch_takes_one_offset),
		cmocka_unit_test(a_last_delta_below_zero_takes_one_offset),
		cmocka_unit_test(nothing_is_kept_of_nothing),
		cmocka_unit_test(sequences_and_transactions_are_not_followed),
		cmocka_unit_test(what_is_about_the_request_is_still_judged),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
