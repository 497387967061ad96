/* Bytes put into a log as they are: what a client then fetches, and at which offsets. */
#include "fakebroker/tests/http.h"
#include "fakebroker/tests/talk.h"
#include "lib/text/base64.h"

static struct running run;
static struct kc_conn *conn;

/* Each test has a topic of its own. */
static int set_up(void **state)
{
	struct fb_settings settings = {.nodes = 1};

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

static const char path[] = "/v1/partitions/t/0/append";

/* Appends the records of a JSON text with ' for "; gives the answer's numbers. */
static void append(const char *body, int64_t first, int64_t end, int64_t batches)
{
	json_t *json = quoted(body);
	char *text = json_dumps(json, 0);
	json_t *answer = http_json(&run, 200, "POST", path, text);

	assert_int_equal(num_at(answer, "firstOffset"), first);
	assert_int_equal(num_at(answer, "logEndOffset"), end);
	assert_int_equal(num_at(answer, "batches"), batches);
	json_decref(answer);
	json_decref(json);
	free(text);
}

static void refused(const char *body, const char *error)
{
	json_t *json = quoted(body);
	char *text = json_dumps(json, 0);

	http_error(&run, 400, "POST", path, text, error);
	json_decref(json);
	free(text);
}

/* The records field of a fetch, in hex. For free(). */
static char *fetched(int64_t offset, int max_bytes)
{
	json_t *answer = talk(&run, conn, "Fetch", 4,
			      "{'replicaId': -1, 'maxWaitMs': 0, 'minBytes': 0, 'maxBytes': 1000000, 'isolationLevel': "
			      "0, 'topics': [{'topic': 't', 'partitions': [{'partition': 0, 'fetchOffset': %lld, "
			      "'partitionMaxBytes': %d}]}]}", (long long)offset, max_bytes);
	const char *base64 = str_at(answer, "responses.0.partitions.0.records");
	uint8_t *p = malloc(strlen(base64) + 3);
	long n = kt_base64_decode(base64, strlen(base64), p);
	char *hex = malloc((size_t)n * 2 + 1);

	assert_int_equal(num_at(answer, "responses.0.partitions.0.errorCode"), 0);
	kt_hex_encode(p, (size_t)n, hex);
	free(p);
	json_decref(answer);
	return hex;
}

static void fetches(int64_t offset, const char *want)
{
	char *hex = fetched(offset, 1000000);

	assert_string_equal(hex, want);
	free(hex);
}

/* A batch without records, 61 bytes; with `delta` (8 digits) it spans that many offsets and one more. */
#define EMPTY(offset, epoch, delta)                                                                              \
	offset "00000031" epoch "02" "deadbeef" "0000" delta "0000000000000001" "0000000000000002" "ffffffffffffffff" \
	"ffff" "ffffffff" "00000000"
/* A message of magic 1 without key and value, 34 bytes. */
#define MESSAGE(offset) offset "00000016" "deadbeef" "01" "00" "0000000000000003" "ffffffff" "ffffffff"

static void a_leader_s_fields_are_put_right(void **state)
{
	(void)state;
	append("{'records': {'hex': '" EMPTY("0000000000000063", "ffffffff", "00000004")
	       EMPTY("0000000000000000", "ffffffff", "00000000") "'}}", 0, 6, 2);
	fetches(0, EMPTY("0000000000000000", "00000000", "00000004") EMPTY("0000000000000005", "00000000", "00000000"));
	fetches(4, EMPTY("0000000000000000", "00000000", "00000004") EMPTY("0000000000000005", "00000000", "00000000"));
	fetches(5, EMPTY("0000000000000005", "00000000", "00000000"));
}

/* Times that are more than 32 bits apart, and one that goes back: varlongs of up to six bytes, which come back as they
 * went. */
static void times_may_be_far_apart(void **state)
{
	(void)state;
	append("{'records': {'batches': [{'baseTimestamp': 0, 'records': [{'value': 'a', 'timestampDelta': "
	       "2147483648}, {'value': 'b', 'timestampDelta': 1787086231121}, {'value': 'c', 'timestampDelta': "
	       "-1099511627776}]}]}}", 0, 3, 1);
	fetches(0, "0000000000000000" "00000057" "00000000" "02" "38496ca9"
		"0000" "00000002" "0000000000000000" "000001a016a3d651" "ffffffffffffffff"
		"ffff" "ffffffff" "00000003"
		"16" "00" "8080808010" "00" "01" "02" "61" "00"
		"18" "00" "a2d99eea8268" "02" "01" "02" "62" "00"
		"18" "00" "ffffffffff3f" "04" "01" "02" "63" "00");
}

static void all_bytes_stay_if_offsets_do(void **state)
{
	(void)state;
	append("{'keepOffsets': true, 'records': {'hex': '" EMPTY("0000000000000007", "00000009", "00000001")
	       MESSAGE("000000000000000a") "'}}", 0, 11, 2);
	fetches(0, EMPTY("0000000000000007", "00000009", "00000001") MESSAGE("000000000000000a"));
	fetches(9, MESSAGE("000000000000000a"));
	fetches(11, "");
	refused("{'keepOffsets': true, 'records': {'hex': '" EMPTY("000000000000000b", "00000000", "00000000")
		EMPTY("000000000000000b", "00000000", "00000000") "'}}",
		"offset 11 is not in 12..4611686018427387903: the log ends there, and offsets rise (at byte 61)");
	refused("{'keepOffsets': true, 'records': {'hex': '" EMPTY("7fffffffffffffff", "00000000", "00000000") "'}}",
		"offset 9223372036854775807 is not in 11..4611686018427387903: the log ends there, and offsets "
		"rise (at byte 0)");
	fetches(11, "");
}

static void what_is_no_batch_is_served_too(void **state)
{
	(void)state;
	append("{'records': {'hex': '00'}}", 0, 1, 1);
	append("{'records': 'AQI='}", 1, 2, 1);
	append("{'records': {'hex': '" EMPTY("0000000000000000", "ffffffff", "00000002")
	       "00000000000000000000ffff02'}}", 2, 6, 2);
	append("{'records': {'hex': '" EMPTY("0000000000000000", "ffffffff", "fffffff6") "'}}", 6, 7, 1);
	append("{'records': {'hex': ''}}", 7, 7, 0);
	fetches(0, "00" "0102" EMPTY("0000000000000002", "00000000", "00000002") "00000000000000000000ffff02"
		EMPTY("0000000000000006", "00000000", "fffffff6"));
	fetches(5, "00000000000000000000ffff02" EMPTY("0000000000000006", "00000000", "fffffff6"));
	refused("{'records': {'hex': '" MESSAGE("0000000000000000") "'}}",
		"messages of magic 1 need \"keepOffsets\" (at byte 0)");
}

static void a_fetch_cuts_short_entries_as_well(void **state)
{
	(void)state;
	append("{'keepOffsets': true, 'records': {'hex': '" MESSAGE("0000000000000000") MESSAGE("0000000000000001")
	       "'}}", 0, 2, 2);
	for (int max = 34; max < 68; max++) {
		char *hex = fetched(0, max);

		assert_int_equal(strlen(hex), 2 * max);
		assert_int_equal(strncmp(hex, MESSAGE("0000000000000000") MESSAGE("0000000000000001"), strlen(hex)), 0);
		free(hex);
	}
}

static int64_t offset_of_time(int64_t timestamp)
{
	return ask_num(&run, conn, "topics.0.partitions.0.offset", "ListOffsets", 7,
		       "{'replicaId': -1, 'topics': [{'name': 't', 'partitions': [{'partitionIndex': 0, "
		       "'timestamp': %lld}]}]}",
		       (long long)timestamp);
}

static void times_are_those_of_whole_batches(void **state)
{
	(void)state;
	append("{'keepOffsets': true, 'records': {'hex': '" MESSAGE("0000000000000000")
	       "0000000000000000 7fffffff 00000000 02 00000000 0000 00000000 7fffffffffffffff 7fffffffffffffff'}}",
	       0, 2, 2);
	assert_int_equal(offset_of_time(-3), -1);
	append("{'records': {'batches': [{'baseTimestamp': 1000, 'records': [{}, {'timestampDelta': 500}, {}]}]}}",
	       2, 5, 1);
	assert_int_equal(offset_of_time(-3), 3);
	assert_int_equal(offset_of_time(1), 2);
	assert_int_equal(offset_of_time(1001), 3);
	assert_int_equal(offset_of_time(1501), -1);
}

static void producers_know_nothing_of_it(void **state)
{
	(void)state;
	append("{'records': {'batches': [{'producerId': 5, 'producerEpoch': 0, 'baseSequence': 40, 'records': [{}]}]}}",
	       0, 1, 1);
	append("{'records': {'batches': [{'producerId': 5, 'producerEpoch': 0, 'baseSequence': 7, 'crc': 1, 'count': 9,"
	       " 'records': [{}]}]}}", 1, 2, 1);
}

static void input_is_checked(void **state)
{
	static const char form[] = "base64 is expected, or an object with one of \"hex\", \"base64\" and \"batches\"";
	char error[200];

	(void)state;
	snprintf(error, sizeof error, "body:1: $.records: %s", form);
	refused("{'records': 7}", error);
	refused("{'records': null}", error);
	refused("{'records': {}}", error);
	refused("{'records': {'hex': '', 'base64': ''}}", error);
	refused("{'records': {'hexx': ''}}", error);
	refused("{'records': {'hex': 7}}", error);
	refused("{'records': {'hex': '012'}}", "body:1: $.records: not pairs of hex digits");
	refused("{'records': {'base64': '='}}", "body:1: $.records: not valid base64");
	refused("{'records': {'batches': [{'recrods': []}]}}",
		"body:1: $.records.batches[0].recrods: unknown member \"recrods\"; did you mean \"records\"?");
	refused("{}", "body:1: $: missing member \"records\"");
	refused("{'records': '', 'offsets': 1}", "body:1: $.offsets: unknown member \"offsets\"");
	http_error(&run, 400, "POST", path, NULL, "POST /v1/partitions/t/0/append needs a body: a JSON object");
	http_error(&run, 404, "POST", "/v1/partitions/t/1/append", "{\"records\": \"\"}",
		   "there is no partition t/1; /v1/partitions/TOPIC/N is expected");
	http_error(&run, 404, "POST", "/v1/partitions/append", "{}", "there is no path /v1/partitions/append");
	http_error(&run, 404, "POST", "/v1/partitions//append", "{}",
		   "there is no partition ; /v1/partitions/TOPIC/N is expected");
}

/* An append wakes a fetch that waits. */
static void a_waiting_fetch_is_answered(void **state)
{
	json_t *json;

	(void)state;
	tell(&run, conn, "Fetch", 4,
	     "{'replicaId': -1, 'maxWaitMs': 60000, 'minBytes': 1, 'maxBytes': 1000000, 'topics': [{'topic': 't', "
	     "'partitions': [{'partition': 0, 'fetchOffset': 0, 'partitionMaxBytes': 9}]}]}");
	append("{'records': {'hex': 'abcd'}}", 0, 1, 1);
	json = hear(&run, conn, "Fetch", 4);
	assert_string_equal(str_at(json, "responses.0.partitions.0.records"), "q80=");
	json_decref(json);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* ListOffsets 0: the offsets where segments begin that were last written by then; the last of them may be asked for. */
static size_t offsets_before(struct running *r, struct kc_conn *c, int64_t ms, int64_t *last)
{
	json_t *json = talk(r, c, "ListOffsets", 0, "{'replicaId': -1, 'topics': [{'name': 't', 'partitions': [{"
			    "'partitionIndex': 0, 'timestamp': %lld, 'maxNumOffsets': 9}]}]}", (long long)ms);
	json_t *offsets = at(json, "topics.0.partitions.0.oldStyleOffsets");
	size_t n = json_array_size(offsets);

	if (last)
		*last = json_integer_value(json_array_get(offsets, n - 1));
	json_decref(json);
	return n;
}

/* However the bytes got into the log. */
static void the_time_of_writing_is_known(void **state)
{
	struct fb_settings settings = {.nodes = 1, .release = "3.9", .lax = true};
	struct running old;
	struct kc_conn *c;

	(void)state;
	running_start(&old, &settings);
	make_topic(&old, "t");
	c = dial(&old, 1);
	json_decref(http_json(&old, 200, "POST", path,
			      "{\"records\": {\"batches\": [{\"records\": [{\"value\": \"a\"}]}]}}"));
	assert_int_equal(offsets_before(&old, c, 1, NULL), 0);
	assert_int_equal(offsets_before(&old, c, INT64_MAX, NULL), 2);
	fb_topic_find(old.process.cluster, kw_str("t"))->partitions->log.now = 0;
	assert_int_equal(produce(&old, c, "t", BATCH("{'value': 'b'}")), 1);
	assert_int_equal(offsets_before(&old, c, 1, NULL), 0);
	kc_free(c);
	running_stop(&old);
}

/* Offsets that compaction emptied are still of their segment. */
static void a_compacted_segment_begins_where_it_did(void **state)
{
	static const char *set[] = {"log.cleanup.policy=compact"};
	struct fb_settings settings = {.nodes = 1, .release = "3.9", .set = {set, 1}};
	struct running old;
	struct kc_conn *c;
	int64_t first;

	(void)state;
	running_start(&old, &settings);
	make_topic(&old, "t");
	c = dial(&old, 1);
	assert_int_equal(produce(&old, c, "t", BATCH("{'key': 'k'}")), 0);
	assert_int_equal(produce(&old, c, "t", BATCH("{'key': 'k'}")), 1);
	json_decref(http_json(&old, 200, "POST", "/v1/partitions/t/0/compact", "{\"roll\": true}"));
	assert_int_equal(offsets_before(&old, c, -1, &first), 2);
	assert_int_equal(first, 0);
	kc_free(c);
	running_stop(&old);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(times_may_be_far_apart),
		T(a_leader_s_fields_are_put_right),
		T(all_bytes_stay_if_offsets_do),
		T(what_is_no_batch_is_served_too),
		T(a_fetch_cuts_short_entries_as_well),
		T(times_are_those_of_whole_batches),
		T(producers_know_nothing_of_it),
		T(input_is_checked),
		T(a_waiting_fetch_is_answered),
		cmocka_unit_test(the_time_of_writing_is_known),
		cmocka_unit_test(a_compacted_segment_begins_where_it_did),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
