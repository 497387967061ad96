/* Our codec makes the bytes that Kafka's makes: the rows of golden.def, encoded, and decoded again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kw_messages.h"
#include "lib/text/base64.h"

struct golden {
	const char *what;
	bool header;
	const struct kw_msg *msg;
	int version, json_version;
	const char *json, *bytes;
};

static const struct golden rows[] = {
#define X(release, what, header, msg, version, json_version, json, bytes) \
	{what, header, &kw_msg_##msg, version, json_version, json, bytes},
#include "lib/wire/tests/golden.def"
#undef X
};

static const struct kw_msg *header_of(const struct golden *row, int *version)
{
	if (row->msg->kind == KW_REQUEST) {
		*version = kw_request_header_version(row->msg->key, row->version);
		return &kw_msg_RequestHeader;
	}
	*version = kw_response_header_version(row->msg->key, row->version);
	return &kw_msg_ResponseHeader;
}

static void put_header(const struct golden *row, struct kw_arena *arena, struct kw_buf *buf)
{
	struct kt_err err = {0};
	int version;
	const struct kw_msg *msg = header_of(row, &version);
	void *in = kw_new(msg, arena);

	assert_non_null(in);
	if (msg == &kw_msg_RequestHeader)
		*(struct kw_RequestHeader *)in = (struct kw_RequestHeader){
			.requestApiKey = row->msg->key, .requestApiVersion = (int16_t)row->version, .correlationId = 7,
			.clientId = version == 0 ? kw_str("") : kw_str("kit"),
		};
	else
		((struct kw_ResponseHeader *)in)->correlationId = 7;
	if (kw_encode(msg, version, in, buf, &err) < 0)
		fail_msg("%s: header: %s: %s", row->what, err.path, err.text);
}

static void *read_json(const struct golden *row, struct kw_arena *arena)
{
	struct kt_err err = {0};
	json_t *json = json_loads(row->json, JSON_REJECT_DUPLICATES, NULL);
	void *in;

	assert_non_null(json);
	if (kw_from_json(row->msg, row->json_version, json, arena, &in, &err) < 0)
		fail_msg("%s: JSON: %s: %s", row->what, err.path, err.text);
	json_decref(json);
	return in;
}

static void encode_like_kafka(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct golden *row = &rows[i];
		size_t n = row->bytes ? strlen(row->bytes) / 2 : 0;
		uint8_t *bytes = malloc(n + 1);
		struct kt_err err = {0};
		struct kw_arena arena;
		struct kw_buf buf;
		int code;

		kw_arena_init(&arena, 0);
		kw_buf_init(&buf, 0);
		if (row->header)
			put_header(row, &arena, &buf);
		code = kw_encode(row->msg, row->version, read_json(row, &arena), &buf, &err);
		if (!row->bytes) {
			if (code != KT_EVERSION && code != KT_ETYPE)
				fail_msg("%s: is encoded", row->what);
		} else {
			assert_int_equal(kt_hex_decode(row->bytes, 2 * n, bytes), n);
			if (code < 0)
				fail_msg("%s: %s: %s", row->what, err.path, err.text);
			if (buf.n != n || (n && memcmp(buf.p, bytes, n) != 0))
				fail_msg("%s: other bytes", row->what);
		}
		kw_buf_fini(&buf);
		kw_arena_fini(&arena);
		free(bytes);
	}
}

/* Decoded and encoded again they stay what they are. */
static void decode_like_kafka(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct golden *row = &rows[i];
		size_t n = row->bytes ? strlen(row->bytes) / 2 : 0, head = 0, used;
		uint8_t *bytes = malloc(n + 1);
		struct kt_err err = {0};
		struct kw_arena arena;
		struct kw_buf buf;
		int version;
		void *out;

		kw_arena_init(&arena, 0);
		kw_buf_init(&buf, 0);
		if (row->bytes) {
			kt_hex_decode(row->bytes, 2 * n, bytes);
			if (row->header) {
				const struct kw_msg *header = header_of(row, &version);

				assert_int_equal(kw_decode(header, version, bytes, n, &arena, &out, &head, &err), 0);
				assert_int_equal(kw_encode(header, version, out, &buf, &err), 0);
			}
			assert_int_equal(kw_decode(row->msg, row->version, bytes + head, n - head, &arena, &out, &used,
						   &err), 0);
			assert_int_equal(head + used, n);
			assert_int_equal(kw_encode(row->msg, row->version, out, &buf, &err), 0);
			assert_int_equal(buf.n, n);
			assert_memory_equal(buf.p, bytes, n);
		}
		kw_buf_fini(&buf);
		kw_arena_fini(&arena);
		free(bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(encode_like_kafka),
		cmocka_unit_test(decode_like_kafka),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
