/* A capture's requests sent to a broker that breaks off inside of one: a difference, unless the recorded one did so,
 * too. */
#include "conformance/tests/captures.h"

#include <stdio.h>

#include "conformance/replay_pcap.h"
#include "lib/client/tests/peer.h"
#include "lib/text/opt.h"

/* A Produce request of more than what the sockets of both sides hold, so that its writer notices. */
enum { FRAME = 24 << 20, IN_A_PACKET = 60000 };

static struct capture capture;

static void capture_request(bool acks)
{
	uint8_t *frame = calloc(1, FRAME);
	char head[200];

	assert_non_null(frame);
	snprintf(head, sizeof head, "%08x 0000 0003 00000001 00026d65 ffff %s 00000001 00000000", FRAME - 4,
		 acks ? "0001" : "0000");
	capture_hex(head, frame);
	capture_begin(&capture);
	capture_connect(&capture, 40000, true);
	for (size_t at = 0, n; at < FRAME; at += n) {
		n = FRAME - at < IN_A_PACKET ? FRAME - at : IN_A_PACKET;
		capture_packet(&capture, true, KW_TCP_ACK, frame + at, n);
	}
	free(frame);
}

static struct kt_err err;

static int replay_to(const struct peer_step *const *scripts, int timeout_ms)
{
	struct kw_slice file = {capture.file.p, capture.file.n};
	struct peer peer;
	char target[40];
	int status;

	assert_false(capture.file.failed);
	peer_listen(&peer);
	peer_start(&peer, scripts);
	snprintf(target, sizeof target, "127.0.0.1:%d", peer.port);
	err = (struct kt_err){0};
	status = cf_replay_pcap(&file, target, 0, timeout_ms, &err);
	peer_join(&peer);
	peer_fini(&peer);
	return status;
}

static int replay(void)
{
	static const struct peer_step breaks_off[] = {{PEER_READ_SOME, NULL, 100}, {PEER_RESET, NULL, 0}};
	static const struct peer_step *const scripts[] = {breaks_off, NULL};

	return replay_to(scripts, 30000);
}

/* acks=0: nothing was answered, and the connection went on. */
static void a_connection_that_stayed_open(void **state)
{
	(void)state;
	capture_request(false);
	capture_say(&capture, true, "00000010 0003 0001 00000002 00026d65 00000000");
	capture_say(&capture, false, "00000010 00000002 00000000 ffffffff 00000000");
	assert_int_equal(replay(), KT_EXIT_VERDICT);
	capture_request(false);
	assert_int_equal(replay(), KT_EXIT_VERDICT);
}

static void a_connection_that_the_broker_reset(void **state)
{
	(void)state;
	capture_request(true);
	capture_packet(&capture, false, KW_TCP_RST | KW_TCP_ACK, "", 0);
	assert_int_equal(replay(), KT_EXIT_OK);
}

/* The client gave up: that the broker would have answered is not known, but it had taken the request. */
static void a_connection_that_the_client_closed(void **state)
{
	(void)state;
	capture_request(true);
	capture_packet(&capture, true, KW_TCP_RST | KW_TCP_ACK, "", 0);
	assert_int_equal(replay(), KT_EXIT_VERDICT);
}

/* Two requests and their answers on each of some connections. */
static void capture_connections(int n)
{
	capture_begin(&capture);
	for (int i = 0; i < n; i++) {
		capture_connect(&capture, 40000 + i, true);
		for (int k = 0; k < 2; k++) {
			capture_say(&capture, true, "00000010 0003 0001 00000002 00026d65 00000000");
			capture_say(&capture, false, "00000010 00000002 00000000 ffffffff 00000000");
		}
		capture_close(&capture, true);
	}
}

/* One request on each of three connections, whatever else was recorded. */
static void a_target_that_answers_nothing(void **state)
{
	static const struct peer_step stalls[] = {{PEER_READ, NULL, 0}, {PEER_READ_END, NULL, 0}, {PEER_END, NULL, 0}};
	static const struct peer_step *const scripts[] = {stalls, stalls, stalls, NULL};

	(void)state;
	capture_connections(20);
	assert_int_equal(replay_to(scripts, 300), KT_EXIT_ENGINE);
	assert_int_equal(err.code, KT_ETIMEOUT);
	assert_int_equal(strncmp(err.text, "3 requests were sent on as many connections, none was answered: ", 63), 0);
}

static void a_target_that_closes_or_sends_garbage(void **state)
{
	static const struct peer_step closes[] = {{PEER_READ, NULL, 0}, {PEER_CLOSE, NULL, 0}, {PEER_END, NULL, 0}};
	static const struct peer_step babbles[] = {{PEER_READ, NULL, 0},
						   {PEER_SEND, PEER_BYTES("HTTP/1.1 400 Bad Request")},
						   {PEER_END, NULL, 0}};
	static const struct peer_step *const scripts[] = {closes, babbles, NULL};

	(void)state;
	capture_connections(2);
	assert_int_equal(replay_to(scripts, 30000), KT_EXIT_ENGINE);
	assert_int_equal(strncmp(err.text, "the target answered nothing: ", 29), 0);
}

/* One that has answered is worth waiting for, a little. */
static void a_target_that_falls_silent(void **state)
{
	static const struct peer_step stalls[] = {{PEER_READ, NULL, 0}, {PEER_READ_END, NULL, 0}, {PEER_END, NULL, 0}};
	static const struct peer_step answers[] = {
		{PEER_READ, NULL, 0},
		{PEER_ANSWER, PEER_BYTES("\0\0\0\0\xff\xff\xff\xff\0\0\0\0")},
		{PEER_READ, NULL, 0},
		{PEER_READ_END, NULL, 0},
		{PEER_END, NULL, 0},
	};
	static const struct peer_step *const scripts[] = {answers, stalls, stalls, NULL};

	(void)state;
	capture_connections(3);
	assert_int_equal(replay_to(scripts, 600), KT_EXIT_VERDICT);
	assert_int_equal(err.code, 0);
}

/* Metadata 1 with correlation id 2 is asked, and answered without anything in it. */
static void capture_exchange(void)
{
	capture_say(&capture, true, "00000010 0003 0001 00000002 00026d65 00000000");
	capture_say(&capture, false, "00000010 00000002 00000000 ffffffff 00000000");
}

#define EMPTY "\0\0\0\0\xff\xff\xff\xff\0\0\0\0"

/* The bytes behind the correlation id are the recorded ones. */
static void the_correlation_id_of_another_request(void **state)
{
	static const struct peer_step answers[] = {
		{PEER_READ, NULL, 0}, {PEER_SEND, PEER_BYTES("\0\0\0\x10\0\0\0\x09" EMPTY)}, {PEER_END, NULL, 0}};
	static const struct peer_step *const scripts[] = {answers, NULL};

	(void)state;
	capture_begin(&capture);
	capture_connect(&capture, 40000, true);
	capture_exchange();
	assert_int_equal(replay_to(scripts, 30000), KT_EXIT_VERDICT);
	assert_int_equal(err.code, 0);
}

/* Produce with acks=0 is answered: the next answer is not that of the next request. */
static void an_answer_that_nobody_asked_for(void **state)
{
	static const struct peer_step answers[] = {
		{PEER_READ, NULL, 0}, {PEER_SEND, PEER_BYTES("\0\0\0\x08\0\0\0\1\0\0\0\0")},
		{PEER_READ, NULL, 0}, {PEER_ANSWER, PEER_BYTES(EMPTY)}, {PEER_END, NULL, 0}};
	static const struct peer_step *const scripts[] = {answers, NULL};

	(void)state;
	capture_begin(&capture);
	capture_connect(&capture, 40000, true);
	capture_say(&capture, true, "00000016 0000 0003 00000001 ffff ffff 0000 00001000 00000000");
	capture_exchange();
	assert_int_equal(replay_to(scripts, 30000), KT_EXIT_VERDICT);
	assert_int_equal(err.code, 0);
}

static void no_packets(void **state)
{
	struct kw_slice file;

	(void)state;
	capture_begin(&capture);
	file = (struct kw_slice){capture.file.p, capture.file.n};
	err = (struct kt_err){0};
	assert_int_equal(cf_replay_pcap(&file, "127.0.0.1:1", 0, 60, &err), KT_EXIT_USAGE);
	assert_string_equal(err.text, "holds no packets");
}

static int give_back(void **state)
{
	(void)state;
	kw_buf_fini(&capture.file);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_connection_that_stayed_open),
		cmocka_unit_test(a_connection_that_the_broker_reset),
		cmocka_unit_test(a_connection_that_the_client_closed),
		cmocka_unit_test(a_target_that_answers_nothing),
		cmocka_unit_test(a_target_that_closes_or_sends_garbage),
		cmocka_unit_test(a_target_that_falls_silent),
		cmocka_unit_test(the_correlation_id_of_another_request),
		cmocka_unit_test(an_answer_that_nobody_asked_for),
		cmocka_unit_test(no_packets),
	};

	return cmocka_run_group_tests(tests, NULL, give_back);
}
