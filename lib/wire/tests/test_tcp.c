/* Streams from segments in every order: what came is told in a line of text, as "A:abc" (data of the side that opened),
 * "B-3" (three bytes are missing), "A." (it sends no more) and "end 1 closed". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/wire/tcp.h"

static const char *const ends[] = {
#define KW_X(sym, text) [sym] = (text),
	KW_TCP_ENDS(KW_X)
#undef KW_X
};

static struct kw_tcp *tcp;
static char told[4000];
static int tell_kind;            /* of the last thing told: data of a side go on in one word */
static uint64_t packet;

static void tell(int kind, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void tell(int kind, const char *format, ...)
{
	size_t n = strlen(told);
	va_list ap;

	va_start(ap, format);
	vsnprintf(told + n, sizeof told - n, format, ap);
	va_end(ap);
	tell_kind = kind;
}

static void on_data(void *arg, struct kw_tcp_conn *conn, int side, const uint8_t *p, size_t n,
		    const struct kw_tcp_at *at)
{
	(void)arg;
	assert_true(n > 0);
	assert_true(at->packet > 0 && at->packet <= packet);
	assert_true(conn->end == KW_TCP_OPEN);
	if (tell_kind == side)
		tell(side, "%.*s", (int)n, (const char *)p);
	else
		tell(side, " %c:%.*s", 'A' + side, (int)n, (const char *)p);
}

static void on_gap(void *arg, struct kw_tcp_conn *conn, int side, uint64_t n, const struct kw_tcp_at *at)
{
	(void)arg;
	(void)conn;
	(void)at;
	assert_true(n > 0);
	tell(-1, " %c-%d", 'A' + side, (int)n);
}

static void on_finished(void *arg, struct kw_tcp_conn *conn, int side)
{
	(void)arg;
	(void)conn;
	tell(-1, " %c.", 'A' + side);
}

static void on_ended(void *arg, struct kw_tcp_conn *conn)
{
	(void)arg;
	tell(-1, " end %d %s", (int)conn->number, ends[conn->end]);
}

static void begin(void)
{
	static const struct kw_tcp_ops ops = {on_data, on_gap, on_finished, on_ended, NULL};

	tcp = kw_tcp_new(&ops);
	assert_non_null(tcp);
	told[0] = '\0';
	tell_kind = -1;
	packet = 0;
}

/* The capture ends, and this is what was told. */
static void ends_as(const char *wanted)
{
	kw_tcp_finish(tcp);
	assert_string_equal(told, wanted);
	assert_int_equal(kw_tcp_held(tcp), 0);
	kw_tcp_free(tcp);
}

static const struct kw_endpoint client = {.family = 4, .port = 40000, .address = {127, 0, 0, 1}};
static const struct kw_endpoint broker = {.family = 4, .port = 9092, .address = {127, 0, 0, 1}};

static void add_between(const struct kw_endpoint *from, const struct kw_endpoint *to, uint8_t flags, uint32_t seq,
			uint32_t ack, const char *text, size_t lost)
{
	/* In memory of its own, which the sanitizers watch. */
	char *copy = strdup(text);
	struct kw_segment segment = {*from, *to, seq, ack, flags, {(const uint8_t *)copy, strlen(text)}, lost};
	struct kw_tcp_at at = {packet + 1, (int64_t)packet * 1000};

	packet++;
	assert_int_equal(kw_tcp_add(tcp, &segment, &at), 0);
	free(copy);
}

/* Of client or broker; numbers without the first sequence number, 1000 and 2000. */
static void from_client(uint8_t flags, uint32_t seq, uint32_t ack, const char *text)
{
	add_between(&client, &broker, flags, 1000 + seq, flags & KW_TCP_ACK ? 2000 + ack : 0, text, 0);
}

static void from_broker(uint8_t flags, uint32_t seq, uint32_t ack, const char *text)
{
	add_between(&broker, &client, flags, 2000 + seq, flags & KW_TCP_ACK ? 1000 + ack : 0, text, 0);
}

static void handshake(void)
{
	from_client(KW_TCP_SYN, 0, 0, "");
	from_broker(KW_TCP_SYN | KW_TCP_ACK, 0, 1, "");
	from_client(KW_TCP_ACK, 1, 1, "");
}

static void in_order(void **state)
{
	(void)state;
	begin();
	handshake();
	from_client(KW_TCP_ACK, 1, 1, "abc");
	from_broker(KW_TCP_ACK, 1, 4, "xy");
	from_client(KW_TCP_ACK, 4, 3, "de");
	from_client(KW_TCP_ACK | KW_TCP_FIN, 6, 3, "");
	from_broker(KW_TCP_ACK | KW_TCP_FIN, 3, 7, "z");
	from_client(KW_TCP_ACK, 7, 5, "");
	assert_int_equal(kw_tcp_at(tcp, 0)->ended_by, 0);
	assert_true(kw_tcp_at(tcp, 0)->opened);
	assert_int_equal(kw_tcp_at(tcp, 0)->bytes[0], 5);
	assert_int_equal(kw_tcp_at(tcp, 0)->last.packet, 8);
	assert_null(kw_tcp_at(tcp, 1));
	ends_as(" A:abc B:xy A:de A. B:z B. end 1 closed");
}

/* All orders of four segments, the last with the FIN. */
static void in_every_order(void **state)
{
	static const char *const parts[] = {"ab", "cd", "ef", "gh"};

	(void)state;
	for (int order = 0; order < 24; order++) {
		int left[] = {0, 1, 2, 3}, n = 4, code = order;

		begin();
		handshake();
		for (; n > 0; n--) {
			int at = code % n, i = left[at];

			code /= n;
			memmove(left + at, left + at + 1, (size_t)(3 - at) * sizeof *left);
			from_client((uint8_t)(KW_TCP_ACK | (i == 3 ? KW_TCP_FIN : 0)), (uint32_t)(1 + 2 * i), 1,
				    parts[i]);
		}
		ends_as(" A:abcdefgh A. end 1 was open when the capture ended");
	}
}

static void again_and_overlapping(void **state)
{
	(void)state;
	begin();
	handshake();
	from_client(KW_TCP_SYN, 0, 0, "");          /* the SYN once more */
	from_client(KW_TCP_ACK, 1, 1, "abcd");
	from_client(KW_TCP_ACK, 1, 1, "abcd");      /* again */
	from_client(KW_TCP_ACK, 3, 1, "cdef");      /* half of it is new */
	from_client(KW_TCP_ACK, 9, 1, "ij");        /* early */
	from_client(KW_TCP_ACK, 8, 1, "hijk");      /* early, and around it */
	from_client(KW_TCP_ACK, 6, 1, "X");         /* first come, first served: f stays */
	from_client(KW_TCP_ACK, 5, 1, "XXghi");
	from_client(KW_TCP_ACK, 11, 1, "");         /* a probe */
	ends_as(" A:abcdefghijk end 1 was open when the capture ended");
}

static void missing_bytes(void **state)
{
	(void)state;
	begin();
	handshake();
	from_client(KW_TCP_ACK, 1, 1, "ab");
	from_client(KW_TCP_ACK, 6, 1, "fg");
	assert_int_equal(kw_tcp_held(tcp), 2);
	ends_as(" A:ab A-3 A:fg end 1 was open when the capture ended");

	/* They are given up when their receiver has them and time has passed. */
	begin();
	handshake();
	from_client(KW_TCP_ACK, 1, 1, "ab");
	from_client(KW_TCP_ACK, 6, 1, "fg");
	for (int i = 0; i < KW_TCP_PATIENCE; i++)
		from_broker(KW_TCP_ACK, 1, 8, "");
	assert_int_equal(kw_tcp_held(tcp), 2);
	from_broker(KW_TCP_ACK, 1, 8, "");
	assert_int_equal(kw_tcp_held(tcp), 0);
	assert_int_equal(kw_tcp_at(tcp, 0)->missing[0], 3);
	from_client(KW_TCP_ACK, 8, 1, "h");
	ends_as(" A:ab A-3 A:fgh end 1 was open when the capture ended");

	/* Not while the receiver waits for them. */
	begin();
	handshake();
	from_client(KW_TCP_ACK, 6, 1, "fg");
	for (int i = 0; i < 3 * KW_TCP_PATIENCE; i++)
		from_broker(KW_TCP_ACK, 1, 1, "");
	from_client(KW_TCP_ACK, 1, 1, "abcde");
	ends_as(" A:abcdefg end 1 was open when the capture ended");
}

/* What waits is bounded. */
static void many_early_segments(void **state)
{
	(void)state;
	begin();
	handshake();
	for (uint32_t i = 0; i <= KW_TCP_HELD; i++)
		from_client(KW_TCP_ACK, 3 + 2 * i, 1, "x");
	assert_true(kw_tcp_held(tcp) <= KW_TCP_HELD);
	assert_int_equal(strncmp(told, " A-2 A:x", 8), 0);
	kw_tcp_finish(tcp);
	assert_int_equal(kw_tcp_at(tcp, 0)->bytes[0], 3 + 2 * KW_TCP_HELD);
	kw_tcp_free(tcp);
}

/* An answer waits for what it acknowledges, in whatever order the packets were captured. */
static void answers_wait_for_requests(void **state)
{
	(void)state;
	begin();
	handshake();
	from_broker(KW_TCP_ACK, 1, 4, "one");
	from_broker(KW_TCP_ACK, 4, 7, "two");
	from_client(KW_TCP_ACK, 4, 4, "def");
	assert_string_equal(told, "");
	from_client(KW_TCP_ACK, 1, 1, "abc");
	ends_as(" A:abc B:one A:def B:two end 1 was open when the capture ended");

	/* But not for ever. */
	begin();
	handshake();
	from_broker(KW_TCP_ACK, 1, 4, "one");
	for (int i = 0; i < KW_TCP_PATIENCE; i++)
		from_client(KW_TCP_ACK, 4, 4, "");
	assert_string_equal(told, " A-3 B:one");
	from_client(KW_TCP_ACK, 4, 4, "def");
	ends_as(" A-3 B:one A:def end 1 was open when the capture ended");

	/* What acknowledges each other was made by no sender. */
	begin();
	handshake();
	from_broker(KW_TCP_ACK, 1, 4, "one");
	from_client(KW_TCP_ACK, 1, 4, "abc");
	ends_as(" A:abc B:one end 1 was open when the capture ended");
}

static void cut_by_the_capture(void **state)
{
	(void)state;
	begin();
	handshake();
	add_between(&client, &broker, KW_TCP_ACK, 1001, 2001, "ab", 5);
	from_client(KW_TCP_ACK, 8, 1, "hi");
	add_between(&client, &broker, KW_TCP_ACK, 1013, 2001, "m", 1);   /* early, and cut */
	from_client(KW_TCP_ACK, 10, 1, "jkl");
	add_between(&client, &broker, KW_TCP_ACK | KW_TCP_FIN, 1015, 2001, "", 3);
	ends_as(" A:ab A-5 A:hijklm A-1 A-3 A. end 1 was open when the capture ended");
}

/* What the receiver has acknowledged, or the FIN says, was sent. */
static void missing_at_the_end(void **state)
{
	(void)state;
	begin();
	handshake();
	from_client(KW_TCP_ACK, 1, 1, "ab");
	from_broker(KW_TCP_ACK, 1, 9, "");
	ends_as(" A:ab A-6 end 1 was open when the capture ended");

	begin();
	handshake();
	from_client(KW_TCP_ACK, 1, 1, "ab");
	from_client(KW_TCP_ACK | KW_TCP_FIN, 5, 1, "");
	from_broker(KW_TCP_ACK | KW_TCP_RST, 1, 6, "");
	assert_int_equal(kw_tcp_at(tcp, 0)->ended_by, 1);
	ends_as(" A:ab A-2 A. end 1 reset");
}

static void without_its_beginning(void **state)
{
	(void)state;
	begin();
	from_broker(KW_TCP_ACK, 500, 700, "");            /* says nothing yet */
	from_broker(KW_TCP_ACK, 500, 700, "xy");
	from_client(KW_TCP_ACK, 705, 502, "fg");          /* five bytes of it are missing: 700 was acknowledged */
	from_client(KW_TCP_ACK, 700, 502, "abcde");
	assert_false(kw_tcp_at(tcp, 0)->opened);
	assert_int_equal(kw_tcp_at(tcp, 0)->ends[0].port, 9092);
	ends_as(" A:xy B:abcdefg end 1 was open when the capture ended");

	/* With the answer to the SYN alone it is known who opened it. */
	begin();
	from_broker(KW_TCP_SYN | KW_TCP_ACK, 0, 1, "");
	from_client(KW_TCP_ACK, 3, 1, "c");
	assert_true(kw_tcp_at(tcp, 0)->opened);
	assert_int_equal(kw_tcp_at(tcp, 0)->ends[0].port, 40000);
	ends_as(" A-2 A:c end 1 was open when the capture ended");
}

static void ports_used_again(void **state)
{
	(void)state;
	begin();
	handshake();
	from_client(KW_TCP_ACK, 1, 1, "ab");
	from_client(KW_TCP_ACK | KW_TCP_FIN, 3, 1, "");
	from_broker(KW_TCP_ACK | KW_TCP_FIN, 1, 4, "");
	from_client(KW_TCP_ACK | KW_TCP_FIN, 3, 2, "");            /* once more: nothing new */
	from_client(KW_TCP_ACK, 1, 1, "ab");
	add_between(&client, &broker, KW_TCP_SYN, 5000, 0, "", 0); /* with another first number */
	add_between(&client, &broker, KW_TCP_ACK, 5001, 9001, "new", 0);
	add_between(&client, &broker, KW_TCP_SYN, 7000, 0, "", 0); /* and without an end in front */
	add_between(&client, &broker, KW_TCP_ACK, 7001, 9001, "newer", 0);
	ends_as(" A:ab A. B. end 1 closed A:new end 2 gave way to another of the same ports A:newer"
		" end 3 was open when the capture ended");

	/* Behind a reset something may have been under way. */
	begin();
	handshake();
	from_broker(KW_TCP_ACK, 1, 1, "xy");
	from_client(KW_TCP_RST, 1, 0, "");
	from_broker(KW_TCP_ACK, 3, 1, "late");
	ends_as(" B:xy end 1 reset");
}

/* Numbers that cannot be of the connection are let be, until there are several in a row. */
static void far_away(void **state)
{
	(void)state;
	begin();
	handshake();
	from_client(KW_TCP_ACK, 1, 1, "a");
	add_between(&client, &broker, KW_TCP_ACK, 0x90000000, 2001, "stray", 0);
	from_client(KW_TCP_ACK, 2, 1, "b");
	for (uint32_t i = 0; i < 4; i++)
		add_between(&client, &broker, KW_TCP_ACK, 0x90000000 + i, 2001, "x", 0);
	ends_as(" A:ab end 1 gave way to another of the same ports A:xx end 2 was open when the capture ended");
}

static void numbers_wrap(void **state)
{
	(void)state;
	begin();
	add_between(&client, &broker, KW_TCP_SYN, 0xfffffffc, 0, "", 0);
	add_between(&client, &broker, KW_TCP_ACK, 3, 1, "ghi", 0);
	add_between(&client, &broker, KW_TCP_ACK, 0xfffffffd, 1, "abcdef", 0);
	add_between(&client, &broker, KW_TCP_ACK, 0xffffffff, 1, "cdefgh", 0);
	add_between(&client, &broker, KW_TCP_ACK | KW_TCP_FIN, 6, 1, "", 0);
	ends_as(" A:abcdefghi A. end 1 was open when the capture ended");
}

/* More than there are buckets at first, all at once. */
static void many_connections(void **state)
{
	struct kw_endpoint other = client;
	size_t n = 1000, found = 0;

	(void)state;
	begin();
	for (uint32_t round = 0; round < 3; round++)
		for (size_t i = 0; i < n; i++) {
			other.port = (uint16_t)(20000 + i);
			add_between(&other, &broker, round ? KW_TCP_ACK : KW_TCP_SYN, round ? round : 0, 0,
				    round ? "x" : "", 0);
		}
	for (struct kw_tcp_conn *conn; (conn = kw_tcp_at(tcp, found)); found++) {
		assert_int_equal(conn->bytes[0], 2);
		assert_int_equal(conn->number, found + 1);
	}
	assert_int_equal(found, n);
	told[0] = '\0';
	kw_tcp_finish(tcp);
	kw_tcp_free(tcp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order),
		cmocka_unit_test(in_every_order),
		cmocka_unit_test(again_and_overlapping),
		cmocka_unit_test(missing_bytes),
		cmocka_unit_test(many_early_segments),
		cmocka_unit_test(answers_wait_for_requests),
		cmocka_unit_test(cut_by_the_capture),
		cmocka_unit_test(missing_at_the_end),
		cmocka_unit_test(without_its_beginning),
		cmocka_unit_test(ports_used_again),
		cmocka_unit_test(far_away),
		cmocka_unit_test(numbers_wrap),
		cmocka_unit_test(many_connections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
