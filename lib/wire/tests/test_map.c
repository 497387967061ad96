/* Places of fields: of messages, request frames, batches and records; also of broken ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "lib/text/base64.h"
#include "lib/wire/batch.h"
#include "lib/wire/legacy.h"
#include "lib/wire/map.h"

static struct kw_arena arena;
static uint8_t bytes[4096];

static struct kw_map fresh(const uint8_t *base)
{
	kw_arena_fini(&arena);
	kw_arena_init(&arena, 0);
	return (struct kw_map){.arena = &arena, .base = base};
}

static size_t hex(const char *text)
{
	long n = kt_hex_decode(text, strlen(text), bytes);

	assert_true(n >= 0);
	return (size_t)n;
}

static void assert_span(const struct kw_map *map, const char *path, size_t start, size_t len_end, size_t end)
{
	const struct kw_span *span = kw_map_find(map, path);

	if (!span)
		fail_msg("no span \"%s\"", path);
	assert_int_equal(span->start, start);
	assert_int_equal(span->len_end, len_end);
	assert_int_equal(span->end, end);
}

static void a_request_with_its_header(void **state)
{
	/* Metadata 1, correlation id 7, client "me", one topic "abc" */
	size_t n = hex("0003 0001 00000007 0002 6d65 00000001 0003 616263"), used;
	struct kw_map map = fresh(bytes);

	(void)state;
	assert_int_equal(kw_map_request(&map, bytes, n, &used, NULL), 0);
	assert_int_equal(used, n);
	assert_span(&map, "header.correlationId", 4, 4, 8);
	assert_span(&map, "header.clientId", 8, 10, 12);
	assert_span(&map, "topics", 12, 16, 21);
	assert_true(kw_map_find(&map, "topics")->array);
	assert_span(&map, "topics[0]", 16, 16, 21);
	assert_span(&map, "topics[0].name", 16, 18, 21);
	assert_null(kw_map_find(&map, "_taggedFields"));
}

static void compact_lengths_and_tagged_fields(void **state)
{
	/* Metadata 12: header with one unknown tag; topics, allowAutoTopicCreation, includeTopicAuthorizedOperations */
	size_t n = hex("0003 000c 00000007 ffff 01 09 01 aa 02 00000000000000000000000000000000 04 616263 00 01 00 00");
	struct kw_map map = fresh(bytes);

	(void)state;
	assert_int_equal(kw_map_request(&map, bytes, n, NULL, NULL), 0);
	assert_span(&map, "header._taggedFields", 10, 11, 14);
	assert_int_equal(kw_map_find(&map, "header._taggedFields")->coding, KW_UVARINT);
	assert_span(&map, "topics[0].name", 31, 32, 35);
	assert_int_equal(kw_map_find(&map, "topics[0].name")->coding, KW_COMPACT);
	assert_span(&map, "topics[0]._taggedFields", 35, 36, 36);
	assert_span(&map, "_taggedFields", n - 1, n, n);
}

static void what_can_be_read_of_a_broken_request(void **state)
{
	size_t n = hex("0003 0001 00000007 0002 6d65 00000001 0030 616263");
	struct kw_map map = fresh(bytes);
	struct kt_err err = {0};

	(void)state;
	assert_int_equal(kw_map_request(&map, bytes, n, NULL, &err), KT_ETRUNC);
	assert_string_equal(err.path, "topics[0].name");
	assert_int_equal(err.offset, 18);
	assert_span(&map, "topics[0].name", 16, 18, 18);
	n = hex("0fff 0001 00000007 ffff");
	map = fresh(bytes);
	assert_int_equal(kw_map_request(&map, bytes, n, NULL, NULL), KT_EVERSION);
	assert_span(&map, "header.clientId", 8, 10, 10);
	map = fresh(bytes);
	assert_int_equal(kw_map_request(&map, bytes, 1, NULL, NULL), KT_ETRUNC);
}

static size_t build_batch(int16_t attributes)
{
	static const struct kw_header header = {{"h", 1}, {NULL, -1}};
	static const struct kw_record records[] = {
		{.key = {(const uint8_t *)"k", 1}, .value = {(const uint8_t *)"vv", 2}},
		{.offsetDelta = 1, .key = {NULL, -1}, .value = {(const uint8_t *)"w", 1}, .nheaders = 1,
		 .headers = &header},
	};
	struct kw_batch_spec spec = kw_batch_spec_default;
	struct kw_buf buf = {0};
	size_t n;

	spec.attributes = attributes;
	assert_int_equal(kw_batch_build(&spec, records, 2, &buf, NULL), 0);
	n = buf.n;
	memcpy(bytes, buf.p, n);
	kw_buf_fini(&buf);
	return n;
}

static void batches_and_their_records(void **state)
{
	size_t n = build_batch(0);
	struct kw_map map = fresh(bytes);

	(void)state;
	memcpy(bytes + n, bytes, n);
	assert_true(kw_map_set(&map, "records", bytes, 2 * n));
	assert_span(&map, "records[0]", 0, 12, n);
	assert_span(&map, "records[0].lastOffsetDelta", 23, 23, 27);
	assert_span(&map, "records[0].records", 61, 61, n);
	/* length 9: attributes, time, offset, key, value, headers */
	assert_span(&map, "records[0].records[0]", 61, 62, 71);
	assert_span(&map, "records[0].records[0].key", 65, 66, 67);
	assert_span(&map, "records[0].records[0].value", 67, 68, 70);
	assert_span(&map, "records[0].records[1].offsetDelta", 74, 74, 75);
	assert_span(&map, "records[0].records[1].key", 75, 76, 76);
	assert_span(&map, "records[0].records[1].headers[0].key", 79, 80, 81);
	assert_span(&map, "records[0].records[1].headers[0].value", 81, 82, 82);
	assert_span(&map, "records[1].count", n + 57, n + 57, n + 61);
}

static void messages_of_magic_0_and_1(void **state)
{
	struct kw_legacy message = {.magic = 1, .offset = 7, .timestamp = 5, .key = {NULL, -1},
				    .value = {(const uint8_t *)"v", 1}};
	struct kw_buf buf = {0};
	struct kw_map map;

	(void)state;
	kw_legacy_put(&buf, &message);
	message.magic = 0;
	kw_legacy_put(&buf, &message);
	map = fresh(buf.p);
	assert_true(kw_map_set(&map, "messages", buf.p, buf.n));
	assert_span(&map, "messages[0]", 0, 12, 35);
	assert_span(&map, "messages[0].timestamp", 18, 18, 26);
	assert_span(&map, "messages[0].key", 26, 30, 30);
	assert_span(&map, "messages[0].value", 30, 34, 35);
	assert_span(&map, "messages[1].key", 35 + 18, 35 + 22, 35 + 22);
	assert_null(kw_map_find(&map, "messages[1].timestamp"));
	kw_buf_fini(&buf);
}

static void a_compressed_batch_has_no_records(void **state)
{
	size_t n = build_batch(KW_GZIP);
	struct kw_map map = fresh(bytes);

	(void)state;
	assert_true(kw_map_batch(&map, "", bytes, n));
	assert_span(&map, "records", 61, 61, n);
	assert_null(kw_map_find(&map, "records[0]"));
}

/* Cut anywhere, nothing but what is there is read (the sanitizers look), and the header fields that are whole are
 * there. */
static void batches_cut_anywhere(void **state)
{
	size_t n = build_batch(0);

	(void)state;
	for (size_t cut = 0; cut <= n; cut++) {
		uint8_t *exact = malloc(cut ? cut : 1);
		struct kw_map map = fresh(exact);

		memcpy(exact, bytes, cut);
		assert_true(kw_map_batch(&map, "", exact, cut));
		assert_int_equal(kw_map_find(&map, "count") != NULL, cut >= 61);
		assert_true(kw_map_set(&map, "r", exact, cut));
		assert_int_equal(kw_map_find(&map, "r[0]") != NULL, cut > 16);
		free(exact);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_with_its_header),
		cmocka_unit_test(compact_lengths_and_tagged_fields),
		cmocka_unit_test(what_can_be_read_of_a_broken_request),
		cmocka_unit_test(batches_and_their_records),
		cmocka_unit_test(messages_of_magic_0_and_1),
		cmocka_unit_test(a_compressed_batch_has_no_records),
		cmocka_unit_test(batches_cut_anywhere),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	kw_arena_fini(&arena);
	return failed;
}
