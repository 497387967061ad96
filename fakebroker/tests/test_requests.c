/* The control API tells what arrived: every request with its answer, in pages, and what became of those without. */
#include "fakebroker/cluster/log_line.h"
#include "fakebroker/control/recorder.h"
#include "fakebroker/tests/control_fixture.h"

static void produced_records_are_readable(void **state)
{
#define PARTITION "0.request.body.topicData.0.partitionData.0."
	struct kc_conn *conn = dial(&run, 1);
	json_t *json;

	(void)state;
	make_topic(&run, "read");
	json_decref(http_json(&run, 200, "DELETE", "/v1/requests", NULL));
	json_decref(talk(&run, conn, "Produce", 9, "{'acks': 1, 'topicData': [{'name': 'read', 'partitionData': "
			 "[{'index': 0, 'records': {'batches': [{'codec': 'gzip', 'baseTimestamp': 5, 'records': "
			 "[{'key': 'k', 'value': 'a', 'headers': [{'key': 'h', 'value': {'hex': 'ff'}}]}, "
			 "{'timestampDelta': 7, 'value': {'size': 1025}}]}]}}]}]}"));
	json_decref(talk(&run, conn, "Metadata", 12, "{'topics': [{'name': 'other'}]}"));
	json = http_json(&run, 200, "GET", "/v1/requests?topic=read", NULL);
	assert_int_equal(json_array_size(json), 1);
	assert_non_null(str_at(json, PARTITION "records"));
	assert_int_equal(num_at(json, PARTITION "batches.0.baseTimestamp"), 5);
	assert_int_equal(num_at(json, PARTITION "batches.0.attributes"), 1);
	assert_int_equal(num_at(json, PARTITION "batches.0.count"), 2);
	assert_string_equal(str_at(json, PARTITION "batches.0.records.0.key"), "k");
	assert_string_equal(str_at(json, PARTITION "batches.0.records.0.value"), "a");
	assert_string_equal(str_at(json, PARTITION "batches.0.records.0.headers.0.key"), "h");
	assert_string_equal(str_at(json, PARTITION "batches.0.records.0.headers.0.value.hex"), "ff");
	assert_true(json_is_null(at(json, PARTITION "batches.0.records.1.key")));
	assert_int_equal(num_at(json, PARTITION "batches.0.records.1.value.size"), 1025);
	assert_int_equal(num_at(json, PARTITION "batches.0.records.1.offsetDelta"), 1);
	assert_int_equal(num_at(json, PARTITION "batches.0.records.1.timestampDelta"), 7);
	assert_null(at(json, PARTITION "batches.0.recordsCut"));
	json_decref(json);
	/* a batch that is cut off, and more records than are shown */
	json_decref(http_json(&run, 200, "DELETE", "/v1/requests", NULL));
	json_decref(talk(&run, conn, "Produce", 9, "{'acks': 1, 'topicData': [{'name': 'read', 'partitionData': "
			 "[{'index': 0, 'records': {'batches': [{'records': [{'value': 'x', 'repeat': 101}]}, {'raw': "
			 "{'hex': '00'}}]}}]}]}"));
	json = http_json(&run, 200, "GET", "/v1/requests?topic=read", NULL);
	assert_int_equal(json_array_size(json), 1);
	assert_int_equal(json_array_size(at(json, PARTITION "batches.0.records")), 100);
	assert_true(json_is_true(at(json, PARTITION "batches.0.recordsCut")));
	assert_non_null(str_at(json, PARTITION "batches.1.error"));
	json_decref(json);
	/* an old message, which is recorded although it is refused */
	json_decref(http_json(&run, 200, "DELETE", "/v1/requests", NULL));
	json_decref(talk(&run, conn, "Produce", 9, "{'acks': 1, 'topicData': [{'name': 'read', 'partitionData': "
			 "[{'index': 0, 'records': {'batches': [{'magic': 1, 'codec': 'lz4', "
			 "'records': [{'timestamp': 3, 'value': 'x'}]}]}}]}]}"));
	json = http_json(&run, 200, "GET", "/v1/requests?topic=read", NULL);
	assert_int_equal(num_at(json, PARTITION "batches.0.magic"), 1);
	assert_int_equal(num_at(json, PARTITION "batches.0.attributes"), 3);
	assert_string_equal(str_at(json, PARTITION "batches.0.records.0.value"), "x");
	assert_int_equal(num_at(json, PARTITION "batches.0.records.0.timestamp"), 3);
	json_decref(json);
	json = http_json(&run, 200, "GET", "/v1/requests?topic=nobody", NULL);
	assert_int_equal(json_array_size(json), 0);
	json_decref(json);
	kc_free(conn);
#undef PARTITION
}

static json_t *recorded(const char *fmt, ...)
{
	char path[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(path, sizeof path, fmt, ap);
	va_end(ap);
	return http_json(&run, 200, "GET", path, NULL);
}

static void requests_read_back_as_they_were_sent(void **state)
{
	static const char sent[] = "{'topics': [{'topicId': 'AAAAAAAAAAAAAAAAAAAAAA', 'name': 'nope'}], "
				   "'allowAutoTopicCreation': false, 'includeTopicAuthorizedOperations': false}";
	long long after = http_last_request(&run);
	struct kc_conn *conn = dial(&run, 2);
	json_t *answer, *list, *wanted;
	struct kw_buf buf;
	char hex[3];

	(void)state;
	answer = talk(&run, conn, "Metadata", 12, "%s", sent);
	list = recorded("/v1/requests?after=%lld&api=Metadata&bytes=1", after);
	assert_int_equal(json_array_size(list), 1);
	assert_string_equal(str_at(list, "0.api"), "Metadata");
	assert_int_equal(num_at(list, "0.version"), 12);
	assert_int_equal(num_at(list, "0.node"), 2);
	assert_string_equal(str_at(list, "0.address"), "127.0.0.1");
	assert_string_equal(str_at(list, "0.fate"), "replied");
	assert_string_equal(str_at(list, "0.request.header.clientId"), "test");
	assert_int_equal(num_at(list, "0.request.header.requestApiKey"), 3);
	wanted = quoted(sent);
	assert_true(json_equal(at(list, "0.request.body"), wanted));
	assert_true(json_equal(at(list, "0.response.body"), answer));
	/* the bytes are those of the same request, encoded again: only the correlation id is another */
	kw_buf_init(&buf, 0);
	assert_int_equal(kc_encode(conn, 3, 12, body_of(&run, 3, 12, sent), &buf, NULL, NULL), 0);
	assert_int_equal(strlen(str_at(list, "0.requestBytes")), 2 * (buf.n - 4));
	for (size_t i = 4; i < buf.n; i++) {
		snprintf(hex, sizeof hex, "%02x", buf.p[i]);
		if (i < 8 || i >= 12)
			assert_memory_equal(str_at(list, "0.requestBytes") + 2 * (i - 4), hex, 2);
	}
	kw_buf_fini(&buf);
	json_decref(wanted);
	json_decref(list);
	json_decref(answer);
	kc_free(conn);
}

static void paging_gives_each_once(void **state)
{
	long long after = http_last_request(&run), first = after;
	struct kc_conn *conn = dial(&run, 1);   /* one ApiVersions */
	int n = 0;

	(void)state;
	for (int i = 0; i < 7; i++)
		json_decref(talk(&run, conn, i % 2 ? "DescribeCluster" : "DescribeQuorum", 0, "{}"));
	for (;;) {
		json_t *page = recorded("/v1/requests?after=%lld&limit=3&node=1", after);
		size_t k = json_array_size(page);

		for (size_t i = 0; i < k; i++, n++) {
			after = json_integer_value(json_object_get(json_array_get(page, i), "id"));
			assert_int_equal(after, first + 1 + n);
			assert_null(json_object_get(json_array_get(page, i), "requestBytes"));
		}
		json_decref(page);
		if (k < 3)
			break;
	}
	assert_int_equal(n, 8);
	json_decref(http_json(&run, 200, "GET", "/v1/requests?after=9223372036854775807", NULL));
	kc_free(conn);
}

static void without_after_the_last_ones_are_given(void **state)
{
	struct kc_conn *conn = dial(&run, 1);
	json_t *list;

	(void)state;
	for (int i = 0; i < 5; i++)
		json_decref(talk(&run, conn, i % 2 ? "DescribeCluster" : "DescribeQuorum", 0, "{}"));
	list = http_json(&run, 200, "GET", "/v1/requests?limit=2&api=DescribeQuorum", NULL);
	assert_int_equal(json_array_size(list), 2);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(list, 1), "id")), http_last_request(&run));
	assert_int_equal(json_integer_value(json_object_get(json_array_get(list, 0), "id")),
			 http_last_request(&run) - 2);
	json_decref(list);
	kc_free(conn);
}

/* Five frames of 5 MiB: three are in an answer, at whichever end it begins. */
static void an_answer_has_its_bounds(void **state)
{
	enum { N = 5, SIZE = 5 << 20 };
	uint8_t *frame = calloc(1, 4 + SIZE);   /* Produce 0, on which the connection is closed */
	long long after = http_last_request(&run), id = after;
	json_t *list;

	(void)state;
	kw_wr32(frame, SIZE);
	for (int i = 0; i < N; i++) {
		struct kc_conn *conn = dial_named(&run, NULL, 1);

		assert_int_equal(kc_write(conn, frame, 4 + SIZE, soon(), NULL), 0);
		assert_int_equal(kc_wait_close(conn, soon()), KC_CLOSED);
		kc_free(conn);
	}
	free(frame);
	for (size_t wanted = 3; ; wanted = wanted == 3 ? 2 : 0) {
		list = recorded("/v1/requests?limit=10000&bytes=1&after=%lld", id);
		assert_int_equal(json_array_size(list), wanted);
		for (size_t i = 0; i < wanted; i++)
			assert_int_equal(json_integer_value(json_object_get(json_array_get(list, i), "id")), ++id);
		json_decref(list);
		if (wanted == 0)
			break;
	}
	list = http_json(&run, 200, "GET", "/v1/requests?limit=10000", NULL);
	assert_int_equal(json_array_size(list), 3);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(list, 0), "id")), after + 3);
	json_decref(list);
}

static void fates_are_told(void **state)
{
	static const uint8_t unknown[] = {0, 0, 0, 10, 0x03, 0xe7, 0, 0, 0, 0, 0, 1, 0xff, 0xff};
	long long after = http_last_request(&run);
	struct kc_conn *conn = dial_named(&run, NULL, 1);
	json_t *list;

	(void)state;
	tell(&run, conn, "Produce", 9, "{'acks': 0, 'topicData': [{'name': 't', 'partitionData': [{'index': 0, "
	     "'records': {'batches': [{'records': [{'value': 'a'}]}]}}]}]}");
	assert_int_equal(kc_write(conn, unknown, sizeof unknown, soon(), NULL), 0);
	assert_int_equal(kc_wait_close(conn, soon()), KC_CLOSED);
	list = recorded("/v1/requests?after=%lld", after);
	assert_int_equal(json_array_size(list), 2);
	assert_string_equal(str_at(list, "0.fate"), "silent");
	assert_null(str_at(list, "0.request.header.clientId"));
	assert_null(at(list, "0.response"));
	assert_string_equal(str_at(list, "1.fate"), "closed");
	assert_string_equal(str_at(list, "1.reason"), "API key 999 (unknown) is not served");
	assert_null(at(list, "1.api"));
	json_decref(list);
	kc_free(conn);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(produced_records_are_readable),
		cmocka_unit_test(requests_read_back_as_they_were_sent),
		cmocka_unit_test(paging_gives_each_once),
		cmocka_unit_test(without_after_the_last_ones_are_given),
		cmocka_unit_test(fates_are_told),
		cmocka_unit_test(an_answer_has_its_bounds),
	};

	fb_log_level(KASSAY_ERROR);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
