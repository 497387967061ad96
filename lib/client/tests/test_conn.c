#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <netdb.h>
#include <string.h>

#include "lib/client/conn.h"
#include "lib/client/http.h"
#include "lib/client/tests/peer.h"

enum { PATIENCE = 20000 };   /* ms; a test that needs as much has failed */

static struct peer peer;
static struct kc_conn *conn;
static struct kt_err err;

/* Starts a peer with one script and connects to it. */
static void begin(const struct peer_step *script)
{
	static const struct peer_step *scripts[2];

	scripts[0] = script;
	peer_listen(&peer);
	peer_start(&peer, scripts);
	err = (struct kt_err){0};
	assert_int_equal(kc_connect("127.0.0.1", peer.port, "tester", kc_now_ms() + PATIENCE, &conn, &err), 0);
	assert_non_null(conn);
}

static void finish(void)
{
	kc_free(conn);
	conn = NULL;
	peer_join(&peer);
	peer_fini(&peer);
}

static int read_frame(const uint8_t **p, size_t *n)
{
	err = (struct kt_err){0};
	return kc_read_frame(conn, kc_now_ms() + PATIENCE, p, n, &err);
}

static void assert_frame(const char *text)
{
	const uint8_t *p;
	size_t n;

	assert_int_equal(read_frame(&p, &n), 0);
	assert_int_equal(n, strlen(text));
	assert_memory_equal(p, text, n);
}

static void reads_addresses(void **state)
{
	static const struct { const char *text, *host; int port; } good[] = {
		{"localhost:9092", "localhost", 9092}, {"127.0.0.1:1", "127.0.0.1", 1}, {"[::1]:65535", "::1", 65535},
		{"a:1,b:2", "a", 1}, {"[fe80::1%lo]:9", "fe80::1%lo", 9},
	};
	static const char *const bad[] = {
		"", "host", "host:", ":9092", "host:0", "host:65536", "host:12x", "host:-1", "host: 1",
		"host:+1", "host:00000080", "host:99999999999", "::1:9092", "[]:9092", "[::1]", ",a:1",
	};
	char host[32];
	int port;

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		assert_int_equal(kc_parse_address(good[i].text, host, sizeof host, &port, NULL), 0);
		assert_string_equal(host, good[i].host);
		assert_int_equal(port, good[i].port);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(kc_parse_address(bad[i], host, sizeof host, &port, NULL), KT_ESYNTAX);
	err = (struct kt_err){0};
	assert_int_equal(kc_parse_address("localhost:9092", host, 9, &port, &err), KT_ESYNTAX);
	assert_string_equal(err.text, "the host name in \"localhost:9092\" is too long");
	assert_int_equal(kc_parse_address("localhost:9092", host, 10, &port, NULL), 0);
}

static void a_closed_port_refuses(void **state)
{
	char expected[128];

	(void)state;
	peer_bind(&peer);
	err = (struct kt_err){0};
	assert_int_equal(kc_connect("127.0.0.1", peer.port, NULL, kc_now_ms() + PATIENCE, &conn, &err), KT_ENET);
	assert_null(conn);
	snprintf(expected, sizeof expected, "cannot connect to 127.0.0.1:%d: Connection refused", peer.port);
	assert_string_equal(err.text, expected);
	assert_int_equal(kc_connect("::1", peer.port, NULL, kc_now_ms() + PATIENCE, &conn, NULL), KT_ENET);
	peer_fini(&peer);
}

static void a_name_is_tried_with_all_its_addresses(void **state)
{
	static const struct peer_step script[] = {{PEER_READ_END, 0, 0}, {0}};
	static const struct peer_step *const scripts[] = {script, NULL};
	struct addrinfo *found;

	(void)state;
	if (getaddrinfo("localhost", NULL, NULL, &found))
		skip();      /* a bare root without /etc/hosts */
	freeaddrinfo(found);
	peer_listen(&peer);
	peer_start(&peer, scripts);
	err = (struct kt_err){0};
	assert_int_equal(kc_connect("localhost", peer.port, NULL, INT64_MAX, &conn, &err), 0);
	finish();
}

static void frames_may_come_in_any_pieces(void **state)
{
	static const struct peer_step script[] = {
		{PEER_SEND_BYTEWISE, PEER_BYTES("\0\0\0\3one\0\0\0\0\0\0\0\5th")},
		{PEER_AWAIT, 0, 0},
		{PEER_SEND, PEER_BYTES("ree\0\0\0\4four\0\0\0\4five\0\0\0\3si")},
		{PEER_AWAIT, 0, 0},
		{PEER_SEND, PEER_BYTES("x")},
		{0},
	};
	const uint8_t *p;
	size_t n;

	(void)state;
	begin(script);
	assert_false(kc_has_frame(conn));
	assert_frame("one");
	assert_frame("");
	assert_false(kc_has_frame(conn));
	err = (struct kt_err){0};
	assert_int_equal(kc_read_frame(conn, kc_now_ms(), &p, &n, &err), KT_ETIMEOUT);
	sem_post(&peer.go);
	assert_frame("three");
	assert_frame("four");
	assert_frame("five");
	sem_post(&peer.go);
	assert_frame("six");
	assert_int_equal(read_frame(&p, &n), KT_ECLOSED);
	assert_int_equal(kc_fate(conn), KC_CLOSED);
	finish();
}

static void frames_before_the_end_stay_readable(void **state)
{
	static const struct peer_step script[] = {
		{PEER_SEND, PEER_BYTES("\0\0\0\3one\0\0\0\3two")}, {PEER_CLOSE, 0, 0}, {0},
	};
	char expected[128];
	const uint8_t *p;
	size_t n;

	(void)state;
	begin(script);
	assert_int_equal(kc_wait_close(conn, kc_now_ms() + PATIENCE), KC_CLOSED);
	assert_true(kc_has_frame(conn));
	assert_frame("one");
	assert_frame("two");
	assert_false(kc_has_frame(conn));
	assert_int_equal(read_frame(&p, &n), KT_ECLOSED);
	snprintf(expected, sizeof expected, "127.0.0.1:%d closed the connection", peer.port);
	assert_string_equal(err.text, expected);
	finish();
}

static void an_end_within_a_frame_is_told(void **state)
{
	static const struct peer_step script[] = {{PEER_SEND, PEER_BYTES("\0\0\0\3one\0\0\0\3tw")}, {0}};
	const uint8_t *p;
	size_t n;

	(void)state;
	begin(script);
	assert_frame("one");
	assert_int_equal(read_frame(&p, &n), KT_ECLOSED);
	assert_non_null(strstr(err.text, "closed the connection in the middle of a frame"));
	assert_int_equal(read_frame(&p, &n), KT_ECLOSED);
	finish();
}

static void a_reset_is_no_close(void **state)
{
	static const struct peer_step script[] = {
		{PEER_SEND, PEER_BYTES("\0\0\0\3one")}, {PEER_AWAIT, 0, 0}, {PEER_RESET, 0, 0}, {0},
	};
	const uint8_t *p;
	size_t n;

	(void)state;
	begin(script);
	assert_frame("one");
	assert_int_equal(kc_wait_close(conn, kc_now_ms()), KC_OPEN);
	sem_post(&peer.go);
	assert_int_equal(kc_wait_close(conn, kc_now_ms() + PATIENCE), KC_RESET);
	assert_int_equal(kc_fate(conn), KC_RESET);
	assert_int_equal(read_frame(&p, &n), KT_ENET);
	assert_non_null(strstr(err.text, "Connection reset by peer"));
	finish();
}

static void silence_ends_at_the_deadline(void **state)
{
	static const struct peer_step script[] = {{PEER_READ_END, 0, 0}, {0}};
	char expected[128];
	int64_t before;
	const uint8_t *p;
	size_t n;

	(void)state;
	begin(script);
	before = kc_now_ms();
	assert_int_equal(kc_read_frame(conn, before + 30, &p, &n, &err), KT_ETIMEOUT);
	assert_true(kc_now_ms() >= before + 30);
	snprintf(expected, sizeof expected, "no answer from 127.0.0.1:%d in time", peer.port);
	assert_string_equal(err.text, expected);
	assert_int_equal(kc_wait_close(conn, kc_now_ms() + 5), KC_OPEN);
	finish();
}

static void impossible_sizes_are_refused_and_stay(void **state)
{
	static const struct peer_step negative[] = {{PEER_SEND, PEER_BYTES("\xff\xff\xff\xff")}, {0}};
	static const struct peer_step large[] = {{PEER_SEND, PEER_BYTES("\x08\0\0\1")}, {0}};
	const uint8_t *p;
	size_t n;

	(void)state;
	begin(negative);
	assert_int_equal(read_frame(&p, &n), KT_ECORRUPT);
	assert_non_null(strstr(err.text, "sent a frame size of -1"));
	assert_int_equal(read_frame(&p, &n), KT_ECORRUPT);
	assert_false(kc_has_frame(conn));
	finish();
	begin(large);
	assert_int_equal(read_frame(&p, &n), KT_ELIMIT);
	assert_non_null(strstr(err.text, "announced a frame of 134217729 bytes"));
	finish();
}

static void memory_follows_what_arrives(void **state)
{
	static const struct peer_step script[] = {{PEER_SEND, PEER_BYTES("\x07\xff\xff\xff" "a few bytes")}, {0}};
	const uint8_t *p;
	size_t n;

	(void)state;
	begin(script);
	assert_int_equal(read_frame(&p, &n), KT_ECLOSED);
	assert_true(conn->incap <= 65536);
	finish();
}

static void large_frames_arrive_whole(void **state)
{
	static const struct peer_step script[] = {
		{PEER_SEND, PEER_BYTES("\0\0\0\1a\0\x50\0\0")}, {PEER_SEND_ZEROS, 0, 0x500000},
		{PEER_SEND, PEER_BYTES("\0\0\0\1b")}, {0},
	};
	const uint8_t *p;
	size_t n;

	(void)state;
	begin(script);
	assert_frame("a");
	assert_int_equal(read_frame(&p, &n), 0);
	assert_int_equal(n, 0x500000);
	assert_int_equal(p[0] | p[n - 1], 0);
	assert_frame("b");
	finish();
}

/* Both sides write more than the sockets hold before either reads on. */
static void a_peer_that_answers_first_blocks_nobody(void **state)
{
	static const struct peer_step script[] = {
		{PEER_SEND, PEER_BYTES("\1\0\0\0")}, {PEER_SEND_ZEROS, 0, 0x1000000}, {PEER_READ_SOME, 0, 0x1000000},
		{PEER_SEND, PEER_BYTES("\0\0\0\4done")}, {0},
	};
	static uint8_t much[0x1000000];
	const uint8_t *p;
	size_t n;

	(void)state;
	begin(script);
	assert_int_equal(kc_write(conn, much, sizeof much, kc_now_ms() + PATIENCE, &err), 0);
	assert_int_equal(read_frame(&p, &n), 0);
	assert_int_equal(n, 0x1000000);
	assert_frame("done");
	finish();
}

static void a_peer_that_does_not_read_ends_at_the_deadline(void **state)
{
	static const struct peer_step script[] = {{PEER_AWAIT, 0, 0}, {PEER_READ_END, 0, 0}, {0}};
	static uint8_t much[0x4000000];

	(void)state;
	begin(script);
	assert_int_equal(kc_write(conn, much, sizeof much, kc_now_ms() + 30, &err), KT_ETIMEOUT);
	assert_non_null(strstr(err.text, "did not take all bytes in time"));
	assert_int_equal(kc_fate(conn), KC_OPEN);
	sem_post(&peer.go);
	finish();
}

static void writing_to_one_who_left_fails(void **state)
{
	static const struct peer_step script[] = {{PEER_CLOSE, 0, 0}, {0}};
	int64_t deadline = kc_now_ms() + PATIENCE;
	int rc = 0;

	(void)state;
	begin(script);
	peer_join(&peer);
	while (rc == 0 && kc_now_ms() < deadline)
		rc = kc_write(conn, "x", 1, deadline, &err);
	assert_int_equal(rc, KT_ECLOSED);
	assert_int_equal(kc_fate(conn), KC_CLOSED);
	kc_free(conn);
	conn = NULL;
	peer_fini(&peer);
}

static void one_side_may_close_alone(void **state)
{
	static const struct peer_step script[] = {
		{PEER_READ, 0, 0}, {PEER_READ_END, 0, 0}, {PEER_SEND, PEER_BYTES("\0\0\0\4late")}, {0},
	};

	(void)state;
	begin(script);
	assert_int_equal(kc_write(conn, "\0\0\0\2hi", 6, kc_now_ms() + PATIENCE, &err), 0);
	kc_shutdown_write(conn);
	assert_frame("late");
	assert_int_equal(kc_wait_close(conn, INT64_MAX), KC_CLOSED);
	finish();
}

/* What a user gives as a server, and what is made of it. */
static void servers_of_http(void **state)
{
	static const struct {
		const char *given, *url, *error;
	} rows[] = {
		{"http://127.0.0.1:8080", "http://127.0.0.1:8080", NULL},
		{"http://127.0.0.1:8080/", "http://127.0.0.1:8080", NULL},
		{"http://[::1]:80", "http://[::1]:80", NULL},
		{"127.0.0.1:8080", NULL, "\"127.0.0.1:8080\" is not an address as http://host:port; did you mean "
		 "\"http://127.0.0.1:8080\"?"},
		{"https://host:1", NULL, "\"https://host:1\" is not an address as http://host:port"},
		{"http://host:1/v1", NULL, "\"http://host:1/v1\" is not an address as http://host:port"},
		{"http://host/x:1", NULL, "\"http://host/x:1\" is not an address as http://host:port"},
		{"http://host:1,other:1", NULL, "\"http://host:1,other:1\" is not an address as http://host:port"},
		{"http://host", NULL, "\"http://host\" is not an address as http://host:port"},
		{"", NULL, "\"\" is not an address as http://host:port"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char url[64] = "";
		int rc;

		kt_err_init(&err);
		rc = kc_http_server(rows[i].given, url, sizeof url, &err);
		assert_int_equal(rc, rows[i].url ? 0 : KT_EUSAGE);
		assert_string_equal(rows[i].url ? url : err.text, rows[i].url ? rows[i].url : rows[i].error);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_addresses),
		cmocka_unit_test(a_closed_port_refuses),
		cmocka_unit_test(a_name_is_tried_with_all_its_addresses),
		cmocka_unit_test(frames_may_come_in_any_pieces),
		cmocka_unit_test(frames_before_the_end_stay_readable),
		cmocka_unit_test(an_end_within_a_frame_is_told),
		cmocka_unit_test(a_reset_is_no_close),
		cmocka_unit_test(silence_ends_at_the_deadline),
		cmocka_unit_test(impossible_sizes_are_refused_and_stay),
		cmocka_unit_test(memory_follows_what_arrives),
		cmocka_unit_test(large_frames_arrive_whole),
		cmocka_unit_test(a_peer_that_answers_first_blocks_nobody),
		cmocka_unit_test(a_peer_that_does_not_read_ends_at_the_deadline),
		cmocka_unit_test(writing_to_one_who_left_fails),
		cmocka_unit_test(one_side_may_close_alone),
		cmocka_unit_test(servers_of_http),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
