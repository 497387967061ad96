#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "lib/client/client.h"
#include "lib/client/tests/peer.h"
#include "lib/wire/arena.h"
#include "lib/wire/buf.h"
#include "kw_messages.h"

enum {
	PATIENCE = 20000,
	PRODUCE = 0, METADATA = 3, FIND_COORDINATOR = 10, API_VERSIONS = 18, REGISTRATION = 62,
};

/* ---- answers, without size and correlation id ---- */

/* ApiVersions 5: no error; Metadata 0-12, ApiVersions 0-5, BrokerRegistration 0-4. */
#define VERSIONS_5                                                                      \
	"\0\0" "\x04" "\0\x03\0\0\0\x0c\0" "\0\x12\0\0\0\x05\0" "\0\x3e\0\0\0\x04\0"    \
	"\0\0\0\0" "\0"
/* The same in version 0, with ApiVersions 0-0. */
#define VERSIONS_0 "\0\0" "\0\0\0\1" "\0\x12\0\0\0\0"
/* UNSUPPORTED_VERSION: ApiVersions 0-3; and as brokers before 2.4 say it, without a list. */
#define REFUSED_FOR_3 "\0\x23" "\0\0\0\1" "\0\x12\0\0\0\3"
#define REFUSED "\0\x23" "\0\0\0\0"
/* ApiVersions 3 and 5: INVALID_REQUEST. */
#define INVALID "\0\x2a" "\1" "\0\0\0\0" "\0"
#define VERSIONS_3 "\0\0" "\x02" "\0\x12\0\0\0\3\0" "\0\0\0\0" "\0"
/* FindCoordinator 0: no error, node 7 at h:9. */
#define COORDINATOR "\0\0" "\0\0\0\7" "\0\1h" "\0\0\0\x09"

static struct peer peer;
static struct kc_conn *conn;
static struct kt_err err;
static struct kw_arena arena;

static void begin(const struct peer_step *script)
{
	static const struct peer_step *scripts[2];

	scripts[0] = script;
	peer_listen(&peer);
	peer_start(&peer, scripts);
	err = (struct kt_err){0};
	kw_arena_init(&arena, 0);
	assert_int_equal(kc_connect("127.0.0.1", peer.port, "tester", kc_now_ms() + PATIENCE, &conn, &err), 0);
}

/* Closes, and leaves the peer's frames to look at. */
static void end(void)
{
	kc_free(conn);
	kw_arena_fini(&arena);
	peer_join(&peer);
}

static int negotiate(void)
{
	err = (struct kt_err){0};
	return kc_negotiate(conn, kc_now_ms() + PATIENCE, &err);
}

/* Version in the header of the i-th request, which must be ApiVersions. */
static int asked_version(size_t i)
{
	assert_true(i < peer.nframes);
	assert_int_equal(kw_rd16(peer.frames[i].p), API_VERSIONS);
	return kw_rd16(peer.frames[i].p + 2);
}

static int call_coordinator(struct kw_FindCoordinatorResponse **response)
{
	struct kw_FindCoordinatorRequest *request = kw_new(&kw_msg_FindCoordinatorRequest, &arena);
	void *decoded = NULL;
	int rc;

	err = (struct kt_err){0};
	request->key = kw_str("g");
	rc = kc_call(conn, FIND_COORDINATOR, 0, request, kc_now_ms() + PATIENCE, &arena, &decoded, &err);
	*response = decoded;
	return rc;
}

/* ---- versions ---- */

static void negotiates_at_once(void **state)
{
	static const struct peer_step script[] = {{PEER_READ, 0, 0}, {PEER_ANSWER, PEER_BYTES(VERSIONS_5)}, {0}};
	const struct kw_ApiVersionsResponse *versions;
	int min = 99, max = 99;

	(void)state;
	begin(script);
	assert_null(kc_api_versions(conn));
	assert_false(kc_advertised(conn, METADATA, &min, &max));
	assert_int_equal(kc_version(conn, METADATA, -1), -1);
	assert_int_equal(negotiate(), 0);
	versions = kc_api_versions(conn);
	assert_int_equal(versions->apiKeys.n, 3);
	assert_true(kc_advertised(conn, METADATA, &min, &max));
	assert_int_equal(min, 0);
	assert_int_equal(max, 12);
	assert_int_equal(kc_version(conn, METADATA, -1), 12);
	assert_int_equal(kc_version(conn, METADATA, 4), 4);
	assert_int_equal(kc_version(conn, METADATA, 13), 12);
	assert_int_equal(kc_version(conn, REGISTRATION, -1), 4);
	assert_int_equal(kc_version(conn, PRODUCE, -1), -1);
	assert_false(kc_advertised(conn, PRODUCE, &min, &max));
	end();
	assert_int_equal(asked_version(0), 5);
	peer_fini(&peer);
}

static void a_refusal_says_which_version_to_ask(void **state)
{
	static const struct peer_step script[] = {
		{PEER_READ, 0, 0}, {PEER_ANSWER, PEER_BYTES(REFUSED_FOR_3)},
		{PEER_READ, 0, 0}, {PEER_ANSWER, PEER_BYTES(VERSIONS_3)}, {0},
	};

	(void)state;
	begin(script);
	assert_int_equal(negotiate(), 0);
	assert_int_equal(kc_version(conn, API_VERSIONS, -1), 3);
	end();
	assert_int_equal(peer.nframes, 2);
	assert_int_equal(asked_version(1), 3);
	peer_fini(&peer);
}

static void a_refusal_without_a_list_leads_to_version_0(void **state)
{
	static const struct peer_step script[] = {
		{PEER_READ, 0, 0}, {PEER_ANSWER, PEER_BYTES(REFUSED)},
		{PEER_READ, 0, 0}, {PEER_ANSWER, PEER_BYTES(VERSIONS_0)}, {0},
	};

	(void)state;
	begin(script);
	assert_int_equal(negotiate(), 0);
	assert_int_equal(kc_version(conn, API_VERSIONS, -1), 0);
	end();
	assert_int_equal(asked_version(1), 0);
	assert_memory_equal(peer.frames[1].p, "\0\x12\0\0\0\0\0\1\0\6tester", peer.frames[1].n);
	peer_fini(&peer);
}

static void endless_refusal_is_an_error(void **state)
{
	static const struct peer_step script[] = {
		{PEER_READ, 0, 0}, {PEER_ANSWER, PEER_BYTES(REFUSED_FOR_3)},
		{PEER_READ, 0, 0}, {PEER_ANSWER, PEER_BYTES(REFUSED_FOR_3)},
		{PEER_READ, 0, 0}, {PEER_ANSWER, PEER_BYTES(REFUSED_FOR_3)},
		{PEER_READ, 0, 0}, {PEER_ANSWER, PEER_BYTES(REFUSED_FOR_3)},
		{PEER_READ, 0, 0}, {PEER_ANSWER, PEER_BYTES(REFUSED_FOR_3)}, {0},
	};

	(void)state;
	begin(script);
	assert_int_equal(negotiate(), KT_EPEER);
	assert_non_null(strstr(err.text, "answers ApiVersions 0 with UNSUPPORTED_VERSION (35)"));
	assert_null(kc_api_versions(conn));
	end();
	assert_int_equal(peer.nframes, 5);   /* 5, 3, 2, 1, 0 */
	peer_fini(&peer);
}

static void other_errors_are_named(void **state)
{
	static const struct peer_step script[] = {
		{PEER_READ, 0, 0}, {PEER_ANSWER, PEER_BYTES(INVALID)},
		{PEER_READ, 0, 0}, {PEER_ANSWER, PEER_BYTES(VERSIONS_5)}, {0},
	};

	(void)state;
	begin(script);
	assert_int_equal(negotiate(), KT_EPEER);
	assert_non_null(strstr(err.text, "answers ApiVersions 5 with INVALID_REQUEST (42)"));
	assert_int_equal(negotiate(), 0);
	end();
	peer_fini(&peer);
}

/* ---- calls ---- */

static void encodes_whole_frames(void **state)
{
	static const struct peer_step script[] = {{0}};
	struct kw_FindCoordinatorRequest *request;
	int32_t correlation = -1;
	struct kw_buf out;

	(void)state;
	begin(script);
	kw_buf_init(&out, 0);
	request = kw_new(&kw_msg_FindCoordinatorRequest, &arena);
	request->key = kw_str("g");
	assert_int_equal(kc_encode(conn, FIND_COORDINATOR, 0, request, &out, NULL, &err), 0);
	assert_int_equal(kc_encode(conn, FIND_COORDINATOR, 3, request, &out, &correlation, &err), 0);
	assert_int_equal(correlation, 1);
	assert_int_equal(out.n, 23 + 25);
	assert_memory_equal(out.p, "\0\0\0\x13" "\0\x0a\0\0\0\0\0\0\0\6tester" "\0\1g", 23);
	assert_memory_equal(out.p + 23, "\0\0\0\x15" "\0\x0a\0\3\0\0\0\1\0\6tester\0" "\2g\0\0", 25);
	assert_int_equal(kc_encode(conn, 9999, 0, request, &out, NULL, &err), KT_EVERSION);
	assert_string_equal(err.text, "there is no API 9999");
	assert_int_equal(kc_encode(conn, FIND_COORDINATOR, 99, request, &out, NULL, NULL), KT_EVERSION);
	kw_buf_fini(&out);
	end();
	peer_fini(&peer);
}

static void calls_and_decodes(void **state)
{
	static const struct peer_step script[] = {
		{PEER_READ, 0, 0}, {PEER_ANSWER, PEER_BYTES(COORDINATOR)}, {PEER_READ, 0, 0}, {0},
	};
	struct kw_FindCoordinatorResponse *response;

	(void)state;
	begin(script);
	assert_int_equal(call_coordinator(&response), 0);
	assert_int_equal(response->nodeId, 7);
	assert_true(kw_str_is(response->host, "h"));
	assert_int_equal(response->port, 9);
	assert_int_equal(call_coordinator(&response), KT_ECLOSED);
	end();
	peer_fini(&peer);
}

static void pipelines(void **state)
{
	static const struct peer_step script[] = {
		{PEER_READ, 0, 0}, {PEER_ANSWER, PEER_BYTES(COORDINATOR)},
		{PEER_READ, 0, 0}, {PEER_ANSWER, PEER_BYTES(COORDINATOR)}, {0},
	};
	struct kw_FindCoordinatorRequest *request;
	int64_t deadline = kc_now_ms() + PATIENCE;
	int32_t sent[2], answered;
	struct kw_buf out;
	const uint8_t *p;
	void *response;
	size_t n;

	(void)state;
	begin(script);
	kw_buf_init(&out, 0);
	request = kw_new(&kw_msg_FindCoordinatorRequest, &arena);
	for (int i = 0; i < 2; i++)
		assert_int_equal(kc_encode(conn, FIND_COORDINATOR, 0, request, &out, &sent[i], &err), 0);
	assert_int_equal(kc_write(conn, out.p, out.n, deadline, &err), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(kc_read_frame(conn, deadline, &p, &n, &err), 0);
		assert_int_equal(kc_decode(FIND_COORDINATOR, 0, p, n, &arena, &answered, &response, &err), 0);
		assert_int_equal(answered, sent[i]);
	}
	kw_buf_fini(&out);
	end();
	peer_fini(&peer);
}

static void a_foreign_correlation_id_is_refused(void **state)
{
	static const struct peer_step script[] = {
		{PEER_READ, 0, 0}, {PEER_SEND, PEER_BYTES("\0\0\0\x11" "\xff\xff\xff\xfe" COORDINATOR)},
		{PEER_READ, 0, 0}, {PEER_SEND, PEER_BYTES("\0\0\0\3" "\0\0\0")}, {0},
	};
	struct kw_FindCoordinatorResponse *response;

	(void)state;
	begin(script);
	assert_int_equal(call_coordinator(&response), KT_ECORRUPT);
	assert_non_null(strstr(err.text, "answered with correlation id -2 instead of 0"));
	assert_int_equal(call_coordinator(&response), KT_ETRUNC);
	assert_non_null(strstr(err.text, "answered with 3 bytes, too few for a header"));
	end();
	peer_fini(&peer);
}

static void bad_bodies_say_where(void **state)
{
	static const struct peer_step script[] = {
		{PEER_READ, 0, 0}, {PEER_ANSWER, PEER_BYTES("\0\0" "\0\0\0\7" "\0\5h")},
		{PEER_READ, 0, 0}, {PEER_ANSWER, PEER_BYTES(COORDINATOR "xy")}, {0},
	};
	struct kw_FindCoordinatorResponse *response;

	(void)state;
	begin(script);
	assert_int_equal(call_coordinator(&response), KT_ETRUNC);
	assert_string_equal(err.path, "host");
	assert_true(err.has_offset);
	assert_in_range(err.offset, 10, 12);
	assert_int_equal(call_coordinator(&response), KT_ECORRUPT);
	assert_string_equal(err.text, "2 bytes follow the body of FindCoordinatorResponse");
	end();
	peer_fini(&peer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(negotiates_at_once),
		cmocka_unit_test(a_refusal_says_which_version_to_ask),
		cmocka_unit_test(a_refusal_without_a_list_leads_to_version_0),
		cmocka_unit_test(endless_refusal_is_an_error),
		cmocka_unit_test(other_errors_are_named),
		cmocka_unit_test(encodes_whole_frames),
		cmocka_unit_test(calls_and_decodes),
		cmocka_unit_test(pipelines),
		cmocka_unit_test(a_foreign_correlation_id_is_refused),
		cmocka_unit_test(bad_bodies_say_where),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
