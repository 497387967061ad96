/* Every message in every version: random struct -> bytes -> struct -> bytes, -> JSON -> bytes; truncations fail. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kw_messages.h"
#include "lib/wire/map.h"
#include "lib/wire/tests/random_message.h"

static struct random_source source = {.state = 88172645463325252u};

static void encode(const struct kw_msg *msg, int version, const void *in, struct kw_buf *buf)
{
	struct kt_err err = {0};
	char line[600];

	kw_buf_init(buf, 0);
	if (kw_encode(msg, version, in, buf, &err) < 0)
		fail_msg("%s v%d: %s", msg->name, version, kt_err_line(&err, line, sizeof line));
}

static void assert_same(const struct kw_msg *msg, int version, const struct kw_buf *a, const struct kw_buf *b)
{
	if (a->n != b->n || (a->n && memcmp(a->p, b->p, a->n) != 0))
		fail_msg("%s v%d: bytes differ after a round trip", msg->name, version);
}

static void round_trip(const struct kw_msg *msg, int version)
{
	struct kw_arena arena;
	struct kw_buf first, again, from_json;
	struct kt_err err = {0};
	void *in, *out;
	json_t *json;
	size_t used;

	kw_arena_init(&arena, 0);
	in = random_message(&source, msg, version, &arena);
	encode(msg, version, in, &first);
	assert_int_equal(kw_decode(msg, version, first.p, first.n, &arena, &out, &used, &err), 0);
	assert_int_equal(used, first.n);
	encode(msg, version, out, &again);
	assert_same(msg, version, &first, &again);

	json = kw_to_json(msg, version, in, &err);
	assert_non_null(json);
	if (kw_from_json(msg, version, json, &arena, &out, &err) < 0)
		fail_msg("%s v%d from JSON: %s: %s", msg->name, version, err.path, err.text);
	encode(msg, version, out, &from_json);
	if (!source.unknown_tags)
		assert_same(msg, version, &first, &from_json);

	for (size_t n = 0; n < first.n; n++) {
		uint8_t *cut = malloc(n + 1);   /* its own allocation, so that a sanitizer sees an over-read */
		int code;

		memcpy(cut, first.p, n);
		err = (struct kt_err){0};
		code = kw_decode(msg, version, cut, n, &arena, &out, &used, &err);
		if (code == 0)
			fail_msg("%s v%d decodes from %zu of %zu bytes", msg->name, version, n, first.n);
		assert_true(err.has_offset && err.offset <= n);
		free(cut);
	}
	json_decref(json);
	kw_buf_fini(&first);
	kw_buf_fini(&again);
	kw_buf_fini(&from_json);
	kw_arena_fini(&arena);
}

static void all_messages_round_trip(void **state)
{
	size_t versions = 0;

	(void)state;
	for (size_t i = 0; i < kw_msg_count(); i++) {
		const struct kw_msg *msg = kw_msg_at(i);

		for (int v = msg->versions.min; v <= msg->versions.max; v++, versions++)
			for (int k = 0; k < 4; k++) {
				source.unknown_tags = k % 2;
				round_trip(msg, v);
			}
	}
	assert_true(versions > 800);
}

/* ---- bytes that are fixed by Kafka ---- */

static void decode_error_names_the_field(void **state)
{
	/* MetadataRequest v1: array of 1, a string of 500 bytes that is not there */
	static const uint8_t bytes[] = {0, 0, 0, 1, 0x01, 0xf4, 'a'};
	struct kw_arena arena;
	struct kt_err err = {0};
	void *out;

	(void)state;
	kw_arena_init(&arena, 0);
	assert_int_equal(kw_decode(&kw_msg_MetadataRequest, 1, bytes, sizeof bytes, &arena, &out, NULL, &err),
			 KT_ETRUNC);
	assert_string_equal(err.path, "topics[0].name");
	assert_int_equal(err.offset, 6);
	kw_arena_fini(&arena);
}

static void odd_values_are_read_as_kafka_reads_them(void **state)
{
	static const uint8_t minus_two[] = {0xff, 0xff, 0xff, 0xfe};                /* array length -2 is null */
	static const uint8_t overlong[] = {0x81, 0x80, 0x00, 7, 1, 0};              /* 81 80 00 is 1: empty; bool 7 */
	static const uint8_t twice[] = {0x01, 1, 0, 2, 5, 1, 9, 5, 1, 8};           /* tag 5 twice */
	const struct kw_MetadataRequest *req;
	struct kw_arena arena;
	void *out;

	(void)state;
	kw_arena_init(&arena, 0);
	assert_int_equal(kw_decode(&kw_msg_MetadataRequest, 1, minus_two, 4, &arena, &out, NULL, NULL), 0);
	req = out;
	assert_int_equal(req->topics.n, -1);
	assert_int_equal(kw_decode(&kw_msg_MetadataRequest, 12, overlong, sizeof overlong, &arena, &out, NULL, NULL),
			 0);
	req = out;
	assert_int_equal(req->topics.n, 0);
	assert_true(req->allowAutoTopicCreation);
	assert_int_equal(kw_decode(&kw_msg_MetadataRequest, 12, twice, sizeof twice, &arena, &out, NULL, NULL), 0);
	req = out;
	assert_int_equal(req->unknownTags.n, 2);
	kw_arena_fini(&arena);
}

/* FetchResponse v13 with the tags 1, 0, 1 in its partition: the second currentLeader replaces the first, with what that
 * had of unknown tags. */
static void a_known_tag_again_after_a_lower_one(void **state)
{
	static const uint8_t tags[] = {3, 1, 11, 0, 0, 0, 1, 0, 0, 0, 2, 1, 5, 0,
				       0, 13, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 4, 0,
				       1, 11, 0, 0, 0, 7, 0, 0, 0, 8, 1, 6, 0, 0, 0};
	enum { BEFORE = 10 + 1 + 16 + 1 + 30 + 1 + 4 + 1 };
	uint8_t frame[BEFORE + sizeof tags] = {[10] = 2, [27] = 2};
	const struct kw_FetchResponse_PartitionData *partition;
	struct kw_FetchResponse *resp;
	struct kw_arena arena;
	void *out;

	(void)state;
	memcpy(frame + BEFORE, tags, sizeof tags);
	kw_arena_init(&arena, 0);
	assert_int_equal(kw_decode(&kw_msg_FetchResponse, 13, frame, sizeof frame, &arena, &out, NULL, NULL), 0);
	resp = out;
	partition = resp->responses.v->partitions.v;
	assert_int_equal(partition->currentLeader.leaderId, 7);
	assert_int_equal(partition->currentLeader.leaderEpoch, 8);
	assert_int_equal(partition->currentLeader.unknownTags.n, 1);
	assert_int_equal(partition->currentLeader.unknownTags.v->tag, 6);
	assert_int_equal(partition->divergingEpoch.endOffset, 4);
	kw_arena_fini(&arena);
}

static void tags_that_kafka_refuses(void **state)
{
	static const uint8_t minus_one[] = {0x01, 1, 0, 0xff, 0xff, 0xff, 0xff, 0x0f};   /* tag count -1 */
	/* PartitionRecord v0 with tag 1, which has eligibleLeaderReplicas from version 2 on */
	static const uint8_t early[] = {0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1,
					0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1};
	struct kw_arena arena;
	struct kt_err err = {0};
	void *out;

	(void)state;
	kw_arena_init(&arena, 0);
	assert_int_equal(kw_decode(&kw_msg_MetadataRequest, 12, minus_one, sizeof minus_one, &arena, &out, NULL, &err),
			 KT_ECORRUPT);
	assert_int_equal(err.offset, sizeof minus_one);
	err = (struct kt_err){0};
	assert_int_equal(kw_decode(&kw_msg_PartitionRecord, 0, early, sizeof early, &arena, &out, NULL, &err),
			 KT_ECORRUPT);
	assert_string_equal(err.text, "a tagged field of another version");
	kw_arena_fini(&arena);
}

static void a_struct_of_unknown_tags_is_not_left_out(void **state)
{
	struct kw_ProduceResponse_PartitionProduceResponse partition;
	struct kw_ProduceResponse_TopicProduceResponse topic;
	struct kw_ProduceResponse *resp;
	struct kw_tag tag = {50, {(const uint8_t *)"x", 1}};
	struct kw_arena arena;
	struct kt_err err = {0};
	struct kw_buf buf;

	(void)state;
	kw_arena_init(&arena, 0);
	kw_buf_init(&buf, 0);
	resp = kw_new(&kw_msg_ProduceResponse, &arena);
	kw_set_defaults(&kw_ProduceResponse_TopicProduceResponse_struct, &topic);
	kw_set_defaults(&kw_ProduceResponse_PartitionProduceResponse_struct, &partition);
	resp->responses.v = &topic;
	topic.partitionResponses.v = &partition;
	resp->responses.n = topic.partitionResponses.n = 1;
	partition.currentLeader.unknownTags = (struct kw_tags){&tag, 1};
	assert_int_equal(kw_encode(&kw_msg_ProduceResponse, 10, resp, &buf, &err), 0);
	/* the partition's tags: tag 0, 12 bytes: leader -1, epoch -1, tag 50; then two tag counts and throttle time */
	assert_memory_equal(buf.p + buf.n - 21,
			    "\x01\x00\x0c\xff\xff\xff\xff\xff\xff\xff\xff\x01\x32\x01x\x00\x00\x00\x00\x00\x00", 21);
	kw_buf_fini(&buf);
	kw_arena_fini(&arena);
}

static void a_nullable_struct_has_a_span(void **state)
{
	struct kw_DescribeTopicPartitionsRequest_Cursor cursor = {.topicName = {"t", 1}};
	struct kw_DescribeTopicPartitionsRequest *req;
	struct kw_arena arena;
	struct kt_err err = {0};

	(void)state;
	kw_arena_init(&arena, 0);
	req = kw_new(&kw_msg_DescribeTopicPartitionsRequest, &arena);
	for (int present = 0; present < 2; present++) {
		struct kw_map map = {.arena = &arena};
		struct kw_buf buf = {0};
		void *out;

		req->cursor = present ? &cursor : NULL;
		assert_int_equal(kw_encode(&kw_msg_DescribeTopicPartitionsRequest, 0, req, &buf, &err), 0);
		map.base = buf.p;
		assert_int_equal(kw_decode_map(&kw_msg_DescribeTopicPartitionsRequest, 0, buf.p, buf.n, &arena, &out,
					       NULL, &map, &err), 0);
		assert_int_equal(map.n, present ? 7 : 4);
		assert_string_equal(map.v[2].path, "cursor");
		assert_int_equal(map.v[2].start, 5);
		assert_int_equal(map.v[2].len_end, 6);
		assert_int_equal(map.v[2].end, present ? 13 : 6);
		kw_buf_fini(&buf);
	}
	kw_arena_fini(&arena);
}

static void numbers_that_json_lacks_are_strings(void **state)
{
	static const char *const names[] = {"NaN", "Infinity", "-Infinity"};
	static const double values[] = {NAN, INFINITY, -INFINITY};
	struct kw_ClientQuotaRecord *record;
	struct kw_arena arena;
	struct kt_err err = {0};

	(void)state;
	kw_arena_init(&arena, 0);
	record = kw_new(&kw_msg_ClientQuotaRecord, &arena);
	for (int i = 0; i < 3; i++) {
		json_t *json;
		void *out;

		record->value = values[i];
		json = kw_to_json(&kw_msg_ClientQuotaRecord, 0, record, &err);
		assert_string_equal(json_string_value(json_object_get(json, "value")), names[i]);
		assert_int_equal(kw_from_json(&kw_msg_ClientQuotaRecord, 0, json, &arena, &out, &err), 0);
		assert_memory_equal(&((struct kw_ClientQuotaRecord *)out)->value, &values[i], sizeof values[i]);
		json_object_set_new(json, "value", json_string("nan"));
		assert_int_equal(kw_from_json(&kw_msg_ClientQuotaRecord, 0, json, &arena, &out, NULL), KT_ETYPE);
		json_decref(json);
	}
	kw_arena_fini(&arena);
}

static void lengths_do_not_allocate_what_is_not_there(void **state)
{
	static const uint8_t huge[] = {0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0};
	struct kw_arena arena;
	struct kt_err err = {0};
	void *out;

	(void)state;
	kw_arena_init(&arena, 0);
	assert_int_equal(kw_decode(&kw_msg_MetadataRequest, 1, huge, sizeof huge, &arena, &out, NULL, &err),
			 KT_ECORRUPT);
	assert_string_equal(err.path, "topics");
	assert_true(arena.used < 4096);
	kw_arena_fini(&arena);
}

static void a_field_that_a_version_lacks_is_an_error(void **state)
{
	struct kw_arena arena;
	struct kw_buf buf;
	struct kt_err err = {0};
	struct kw_ProduceRequest *req;

	(void)state;
	kw_arena_init(&arena, 0);
	kw_buf_init(&buf, 0);
	req = kw_new(&kw_msg_ProduceRequest, &arena);
	assert_int_equal(req->transactionalId.n, -1);
	req->topicData.v = kw_new_array(&kw_ProduceRequest_TopicProduceData_struct, 1, &arena);
	req->topicData.n = 1;
	req->topicData.v[0].partitionData.v = kw_new_array(&kw_ProduceRequest_PartitionProduceData_struct, 1, &arena);
	req->topicData.v[0].partitionData.n = 1;
	req->transactionalId = kw_str("t");
	assert_int_equal(kw_encode(&kw_msg_ProduceRequest, 2, req, &buf, &err), KT_EVERSION);
	assert_string_equal(err.path, "transactionalId");
	kw_buf_fini(&buf);
	kw_arena_fini(&arena);
}

static void static_configs_travel_under_tag_0(void **state)
{
	struct kw_arena arena;
	struct kw_buf v4, v5;
	struct kw_BrokerRegistrationRequest *req;
	struct kt_err err = {0};
	void *out;

	(void)state;
	kw_arena_init(&arena, 0);
	kw_buf_init(&v4, 0);
	kw_buf_init(&v5, 0);
	req = kw_new(&kw_msg_BrokerRegistrationRequest, &arena);
	req->rack = KW_NULL_STR;
	assert_int_equal(kw_encode(&kw_msg_BrokerRegistrationRequest, 4, req, &v4, &err), 0);
	req->staticConfigs.v = kw_new_array(&kw_BrokerRegistrationRequest_BrokerStaticConfig_struct, 1, &arena);
	req->staticConfigs.n = 1;
	req->staticConfigs.v[0].name = kw_str("a");
	req->staticConfigs.v[0].value = KW_NULL_STR;
	req->staticConfigs.v[0].isSensitive = true;
	assert_int_equal(kw_encode(&kw_msg_BrokerRegistrationRequest, 5, req, &v5, &err), 0);
	/* the same bytes, then one tagged field: tag 0, size 6: array of 1 {"a", null, true, no tags} */
	assert_int_equal(v5.n, v4.n + 8);
	assert_memory_equal(v5.p, v4.p, v4.n - 1);
	assert_memory_equal(v5.p + v4.n - 1, "\x01\x00\x06\x02\x02" "a" "\x00\x01\x00", 9);
	assert_int_equal(kw_decode(&kw_msg_BrokerRegistrationRequest, 5, v5.p, v5.n, &arena, &out, NULL, &err), 0);
	assert_int_equal(((struct kw_BrokerRegistrationRequest *)out)->staticConfigs.v[0].value.n, -1);
	err = (struct kt_err){0};
	assert_int_equal(kw_encode(&kw_msg_BrokerRegistrationRequest, 4, req, &v4, &err), KT_EVERSION);
	kw_buf_fini(&v4);
	kw_buf_fini(&v5);
	kw_arena_fini(&arena);
}

static void headers(void **state)
{
	(void)state;
	assert_int_equal(kw_request_header_version(0, 8), 1);
	assert_int_equal(kw_request_header_version(0, 9), 2);
	assert_int_equal(kw_response_header_version(0, 9), 1);
	assert_int_equal(kw_response_header_version(18, 4), 0);
	assert_int_equal(kw_request_header_version(18, 3), 2);
	assert_int_equal(kw_request_header_version(7, 0), 0);
	assert_int_equal(kw_api_key("Produce"), 0);
	assert_string_equal(kw_api_name(74), "ListConfigResources");
	assert_int_equal(kw_api_key("ListClientMetricsResources"), 74);
	assert_string_equal(kw_error_name(87), "INVALID_RECORD");
}

static void refusals_are_told_with_their_words(void **state)
{
	char text[48];

	(void)state;
	assert_string_equal(kw_error_text(40, kw_str("no\nway"), text, sizeof text), "INVALID_CONFIG (40): no?way");
	assert_string_equal(kw_error_text(40, kw_str(""), text, sizeof text), "INVALID_CONFIG (40)");
	assert_string_equal(kw_error_text(40, KW_NULL_STR, text, sizeof text), "INVALID_CONFIG (40)");
	assert_string_equal(kw_error_text(9999, KW_NULL_STR, text, sizeof text), "UNKNOWN_ERROR_CODE (9999)");
	assert_string_equal(kw_error_text(40, kw_str("as much as fits, \xe2\x82\xac"), text, 40),
			    "INVALID_CONFIG (40): as much as fits, ");
}

static void strings_have_an_order(void **state)
{
	static const struct kw_str ascending[] = {{NULL, -1}, {NULL, 0}, {"a", 1}, {"a\0", 2}, {"ab", 2}, {"b", 1},
						  {"\xff", 1}};

	(void)state;
	for (int i = 0; i < 7; i++)
		for (int k = 0; k < 7; k++) {
			int order = kw_str_cmp(ascending[i], ascending[k]);

			assert_int_equal((order > 0) - (order < 0), (i > k) - (i < k));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_messages_round_trip),
		cmocka_unit_test(decode_error_names_the_field),
		cmocka_unit_test(odd_values_are_read_as_kafka_reads_them),
		cmocka_unit_test(a_known_tag_again_after_a_lower_one),
		cmocka_unit_test(tags_that_kafka_refuses),
		cmocka_unit_test(a_struct_of_unknown_tags_is_not_left_out),
		cmocka_unit_test(a_nullable_struct_has_a_span),
		cmocka_unit_test(numbers_that_json_lacks_are_strings),
		cmocka_unit_test(lengths_do_not_allocate_what_is_not_there),
		cmocka_unit_test(a_field_that_a_version_lacks_is_an_error),
		cmocka_unit_test(static_configs_travel_under_tag_0),
		cmocka_unit_test(headers),
		cmocka_unit_test(refusals_are_told_with_their_words),
		cmocka_unit_test(strings_have_an_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
