/* A capture's requests sent to a broker that breaks off inside of one: a difference, unless the recorded one did so, too. */
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

static int replay(void)
{
	static const struct peer_step breaks_off[] = {{PEER_READ_SOME, NULL, 100}, {PEER_RESET, NULL, 0}};
	static const struct peer_step *const scripts[] = {breaks_off, NULL};
	struct kw_slice file = {capture.file.p, capture.file.n};
	struct kt_err err = {0};
	struct peer peer;
	char target[40];
	int status;

	assert_false(capture.file.failed);
	peer_listen(&peer);
	peer_start(&peer, scripts);
	snprintf(target, sizeof target, "127.0.0.1:%d", peer.port);
	status = cf_replay_pcap(&file, target, 0, &err);
	peer_join(&peer);
	peer_fini(&peer);
	return status;
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
	};

	return cmocka_run_group_tests(tests, NULL, give_back);
}
