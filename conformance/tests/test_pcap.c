/* What is found in the connections of captures: frames, who is who, holes. */
#include "conformance/tests/told_captures.h"

/* ---- frames ---- */

static void requests_and_answers(void **state)
{
	(void)state;
	begin();
	client(METADATA("00000007"));
	broker(METADATA_ANSWER("00000007"));
	client(METADATA("00000008") METADATA("00000009"));       /* two in a packet, answered in one and a half */
	client("00000010 0003");                                 /* one in three */
	client("0001 0000000a 0002 6d");
	client("65 00000000");
	broker(METADATA_ANSWER("00000008") METADATA_ANSWER("00000009") "0000");
	broker("0010 0000000a 00000000 ffffffff 00000000");
	capture_close(&capture, true);
	is_read("1 Metadata 1 c7 20@0/20@0\n"
		"1 Metadata 1 c8 20@20/20@20\n"
		"1 Metadata 1 c9 20@40/20@40\n"
		"1 Metadata 1 c10 20@60/20@60\n");
	assert_int_equal(totals.packets, 13);
	assert_int_equal(totals.segments, 13);
	assert_int_equal(totals.kafka, 1);
	assert_int_equal(totals.missing, 0);
	assert_false(totals.truncated);
}

static void acks_of_zero(void **state)
{
	(void)state;
	begin();
	client("0000001a 0000 0003 00000001" ME "ffff 0000 00000001 00000000" "0000");
	client(METADATA("00000002"));
	broker(METADATA_ANSWER("00000002"));
	is_read("1 Produce 3 c1 30@0/- acks=0: no answer is due\n"
		"1 Metadata 1 c2 20@30/20@0\n");
}

static void answers_that_do_not_fit(void **state)
{
	(void)state;
	begin();
	client(METADATA("00000001") METADATA("00000002"));
	broker(METADATA_ANSWER("00000002") METADATA_ANSWER("00000063") METADATA_ANSWER("00000001"));
	is_read("1 Metadata 1 c2 20@20/20@0 WRONG: answered before an older request\n"
		"1 ? -1 c99 -/20@20 WRONG: answers no request: none with its correlation id waits\n"
		"1 Metadata 1 c1 20@0/20@40\n");
}

static void no_answers(void **state)
{
	(void)state;
	begin();
	client(METADATA("00000001"));
	is_read("1 Metadata 1 c1 20@0/- no answer yet when the capture ended\n");
	capture_close(&capture, false);
	is_read("1 Metadata 1 c1 20@0/- no answer: the connection was closed\n");
	begin();
	client(METADATA("00000001"));
	capture_packet(&capture, false, KW_TCP_RST | KW_TCP_ACK, "", 0);
	is_read("1 Metadata 1 c1 20@0/- no answer: the connection was reset\n");
}

/* The oldest of too many is told before the capture ends. */
static void answers_that_were_not_captured(void **state)
{
	enum { REQUESTS = 1002 };

	(void)state;
	begin();
	for (int i = 0; i < REQUESTS; i++) {
		char request[80];

		snprintf(request, sizeof request, METADATA("%08x"), i);
		client(request);
	}
	capture_close(&capture, false);
	is_read_first("1 Metadata 1 c0 20@0/- no answer in what was captured\n"
		      "1 Metadata 1 c1 20@20/- no answer in what was captured\n"
		      "1 Metadata 1 c2 20@40/- no answer: the connection was closed\n");
}

static void sizes_that_are_wrong(void **state)
{
	(void)state;
	begin();
	client(METADATA("00000001"));
	broker("ffffffff 00000001");
	client(METADATA("00000002"));
	broker(METADATA_ANSWER("00000002"));                     /* where a packet begins it goes on */
	is_read("1 Metadata 1 c1 20@0/4@0 WRONG: the size field says what cannot be; where the next frame begins is "
		"not known\n"
		"1 Metadata 1 c2 20@20/20@8\n");
	begin();
	client(METADATA("00000001"));
	broker("00000010 00000001 0000");
	capture_close(&capture, false);
	is_read("1 Metadata 1 c1 20@0/20@0 WRONG: the connection ends inside of the frame\n");
	begin();
	client("00000010 0003 0001 00000001 0002 6d");
	is_read("1 Metadata 1 c1 20@0/- the capture ends inside of the frame\n");
	begin();
	client("00000010 0003 0001 00000001 0002 6d");
	capture_close(&capture, true);
	is_read("1 Metadata 1 c1 20@0/- WRONG: the connection ends inside of the frame\n");
}

/* ---- who is who ---- */

static void sasl_tokens(void **state)
{
	(void)state;
	begin();
	client("00000013 0011 0000 00000001" ME "0005 504c41494e");
	broker("0000000a 00000001 0000 00000000");
	client("0000000a 00 757365720070617373");
	broker("00000000");
	client(METADATA("00000002"));
	broker(METADATA_ANSWER("00000002"));
	is_read("1 SaslHandshake 0 c1 23@0/14@0\n"
		"1 token -1 c0 14@23/4@14\n"
		"1 Metadata 1 c2 20@37/20@18\n");
	/* A mechanism that is refused is followed by no token. */
	begin();
	client("00000013 0011 0000 00000001" ME "0005 504c41494e");
	broker("0000000a 00000001 0021 00000000");
	client("00000013 0011 0000 00000002" ME "0005 504c41494e");
	is_read("1 SaslHandshake 0 c1 23@0/14@0\n"
		"1 SaslHandshake 0 c2 23@23/- no answer yet when the capture ended\n");
}

static void other_protocols(void **state)
{
	(void)state;
	begin();
	client("16030102000100");
	capture_connect(&capture, 40001, true);
	client("474554202f20485454502f312e310d0a");
	capture_connect(&capture, 40002, true);
	client("0000");
	capture_connect(&capture, 40003, true);
	is_read("1 TLS, which cannot be looked into\n"
		"2 does not begin as Kafka does\n"
		"3 too little to know what it is\n"
		"4 too little to know what it is\n");
	assert_int_equal(totals.kafka, 0);
	assert_int_equal(totals.connections, 4);
}

/* A request that no Kafka has is known as one by its port, or by its broker. */
static void the_broker_is_known(void **state)
{
	(void)state;
	begin();
	client("0000000c 03e7 0000 00000001" ME);
	is_read("1 does not begin as Kafka does\n");
	is_read_as(9092, "1 ? 0 c1 16@0/- no answer yet when the capture ended\n");
	is_read_as(40000, "1 ? -1 c65470464 -/16@0 WRONG: answers no request: none with its correlation id waits\n");
	is_read_as(1, "1 does not begin as Kafka does\n");
	begin();
	client(METADATA("00000001"));
	broker(METADATA_ANSWER("00000001"));
	capture_connect(&capture, 40001, true);
	client("0000000c 03e7 0000 00000001" ME);
	is_read("1 Metadata 1 c1 20@0/20@0\n"
		"2 ? 0 c1 16@0/- no answer yet when the capture ended\n");
}

/* ---- holes ---- */

static void beginning_not_captured(void **state)
{
	(void)state;
	capture_begin(&capture);
	capture_connect(&capture, 40000, false);
	broker("0102030405");                                    /* the end of an answer */
	client("aabb");                                          /* the end of a request */
	broker(METADATA_ANSWER("00000001"));
	client(METADATA("00000002"));
	broker(METADATA_ANSWER("00000002"));
	is_read("1 Metadata 1 c2 20@2/20@25\n");
	/* What comes first may be an answer to a request before. */
	capture_begin(&capture);
	capture_connect(&capture, 40000, false);
	client(METADATA("00000002"));
	broker(METADATA_ANSWER("00000001"));
	broker(METADATA_ANSWER("00000002"));
	is_read("1 Metadata 1 c2 20@0/20@20\n");
}

static void holes_in_frames(void **state)
{
	(void)state;
	/* Inside of a frame: its end is known all the same. */
	begin();
	client(METADATA("00000001"));
	broker("00000010 00000001");
	capture_miss(&capture, false, 5);
	broker("ffffff 00000000");
	client(METADATA("00000002"));
	broker(METADATA_ANSWER("00000002"));
	is_read("1 Metadata 1 c1 20@0/20@0-5\n"
		"1 Metadata 1 c2 20@20/20@20\n");
	assert_int_equal(totals.missing, 5);
	/* Over the beginning of the next. */
	begin();
	client(METADATA("00000001") METADATA("00000002") METADATA("00000003"));
	broker("00000010 00000001");
	capture_miss(&capture, false, 20);
	broker("ffffffff 00000000");
	broker(METADATA_ANSWER("00000003"));
	is_read("1 Metadata 1 c1 20@0/20@0-12\n"
		"1 Metadata 1 c2 20@20/- no answer in what was captured\n"
		"1 Metadata 1 c3 20@40/20@36\n");
	/* Of whole requests: their answers come all the same. */
	begin();
	client(METADATA("00000001"));
	broker(METADATA_ANSWER("00000001"));
	capture_miss(&capture, true, 20);
	broker(METADATA_ANSWER("00000002"));
	client(METADATA("00000003"));
	broker(METADATA_ANSWER("00000003"));
	capture_close(&capture, true);
	is_read("1 Metadata 1 c1 20@0/20@0\n"
		"1 ? -1 c2 -/20@20 its request was not captured\n"
		"1 Metadata 1 c3 20@40/20@40\n");
}

/* A capture of so few bytes of each packet that the client id is not in it, nor in a request the correlation id. */
static void packets_cut_short(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < 2; i++) {
		client("00000010 0003 0001 00");
		capture_miss(&capture, true, 11);
		broker("00000010 0000000100");
		capture_miss(&capture, false, 11);
	}
	capture_close(&capture, true);
	is_read("1 Metadata 1 c0 20@0-11/20@0-11\n"
		"1 Metadata 1 c0 20@20-11/20@20-11\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_and_answers),
		cmocka_unit_test(acks_of_zero),
		cmocka_unit_test(answers_that_do_not_fit),
		cmocka_unit_test(no_answers),
		cmocka_unit_test(answers_that_were_not_captured),
		cmocka_unit_test(sizes_that_are_wrong),
		cmocka_unit_test(sasl_tokens),
		cmocka_unit_test(other_protocols),
		cmocka_unit_test(the_broker_is_known),
		cmocka_unit_test(beginning_not_captured),
		cmocka_unit_test(holes_in_frames),
		cmocka_unit_test(packets_cut_short),
	};

	return cmocka_run_group_tests(tests, NULL, give_capture_back);
}
