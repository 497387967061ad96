/* Packets of every link type, whole, cut at every byte, and wrong; and those that are written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "lib/text/base64.h"
#include "lib/wire/buf.h"
#include "lib/wire/packet.h"

enum { RECORD = 16 };

static const char payload[] = "0123456789";

static struct kw_segment segment_of(int family)
{
	struct kw_segment segment = {.seq = 0xfffffff0, .ack = 7, .flags = KW_TCP_ACK | KW_TCP_PSH};

	segment.from = (struct kw_endpoint){.family = (uint8_t)family, .port = 40000, .address = {10, 0, 0, 1}};
	segment.to = (struct kw_endpoint){.family = (uint8_t)family, .port = 9092, .address = {10, 0, 0, 2}};
	return segment;
}

/* Appends the IP packet of n bytes of payload. */
static void put_ip(struct kw_buf *buf, int family, size_t n)
{
	struct kw_segment segment = segment_of(family);
	struct iovec iov[2] = {{(void *)(uintptr_t)payload, n / 2}, {(char *)(uintptr_t)payload + n / 2, n - n / 2}};
	uint8_t head[KW_PCAP_PACKET_HEAD];
	size_t size = kw_pcap_packet_head(head, &segment, iov, 2, 1234567);

	kw_put(buf, head + RECORD, size - RECORD);
	kw_put(buf, payload, n);
}

static void put_hex(struct kw_buf *buf, const char *hex)
{
	uint8_t bytes[64];
	long n = kt_hex_decode(hex, strlen(hex), bytes);

	assert_true(n >= 0);
	kw_put(buf, bytes, (size_t)n);
}

static void assert_is_ours(const struct kw_segment *segment, int family, size_t n)
{
	struct kw_segment wanted = segment_of(family);

	assert_true(kw_endpoint_eq(&segment->from, &wanted.from));
	assert_true(kw_endpoint_eq(&segment->to, &wanted.to));
	assert_int_equal(segment->seq, 0xfffffff0);
	assert_int_equal(segment->ack, 7);
	assert_int_equal(segment->flags, KW_TCP_ACK | KW_TCP_PSH);
	assert_int_equal(segment->data.n + segment->lost, n);
	assert_memory_equal(segment->data.p, payload, segment->data.n);
}

/* Whole, with padding behind it, and cut at every byte in memory of its own. */
static void check(int link, const struct kw_buf *buf, int family, size_t n)
{
	struct kw_segment segment;
	struct kt_err err = {0};

	assert_int_equal(kw_packet_read(link, buf->p, buf->n, buf->n, &segment, &err), 1);
	assert_is_ours(&segment, family, n);
	assert_int_equal(segment.lost, 0);
	for (size_t cut = 0; cut < buf->n; cut++) {
		uint8_t *copy = malloc(cut ? cut : 1);
		int got;

		memcpy(copy, buf->p, cut);
		err = (struct kt_err){0};
		got = kw_packet_read(link, copy, cut, buf->n, &segment, &err);
		if (cut >= buf->n - n) {
			assert_int_equal(got, 1);
			assert_int_equal(segment.data.n, cut - (buf->n - n));
			assert_is_ours(&segment, family, n);
		} else {
			assert_true(got <= 0);
			assert_true(got == 0 || err.offset <= cut);
		}
		free(copy);
	}
}

static void every_link(void **state)
{
	static const struct {
		int link, family;
		const char *head;
	} links[] = {
		{KW_LINK_RAW, 4, ""}, {KW_LINK_RAW, 6, ""}, {KW_LINK_DLT_RAW, 4, ""}, {KW_LINK_BSD_RAW, 6, ""},
		{KW_LINK_IPV4, 4, ""}, {KW_LINK_IPV6, 6, ""},
		{KW_LINK_NULL, 4, "02000000"}, {KW_LINK_NULL, 6, "0000001e"}, {KW_LINK_LOOP, 4, "00000002"},
		{KW_LINK_ETHERNET, 4, "0102030405060708090a0b0c0800"},
		{KW_LINK_ETHERNET, 6, "0102030405060708090a0b0c86dd"},
		{KW_LINK_ETHERNET, 4, "0102030405060708090a0b0c8100 0064 0800"},
		{KW_LINK_ETHERNET, 6, "0102030405060708090a0b0c88a800c881000064 86dd"},
		{KW_LINK_COOKED, 4, "00000304000600000000000000000800"},
		{KW_LINK_COOKED, 6, "000003040006000000000000000086dd"},
		{KW_LINK_COOKED2, 4, "0800000000000001030400060000000000000000"},
		{KW_LINK_COOKED2, 6, "86dd000000000001030400060000000000000000"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
		struct kw_buf buf = {0};

		put_hex(&buf, links[i].head);
		put_ip(&buf, links[i].family, 10);
		check(links[i].link, &buf, links[i].family, 10);
		kw_buf_fini(&buf);
		assert_non_null(kw_link_name(links[i].link));
	}
	assert_null(kw_link_name(147));
}

static void padding_is_no_payload(void **state)
{
	struct kw_buf buf = {0};
	struct kw_segment segment;

	(void)state;
	put_hex(&buf, "0102030405060708090a0b0c0800");
	put_ip(&buf, 4, 0);
	put_hex(&buf, "000000000000");
	assert_int_equal(kw_packet_read(KW_LINK_ETHERNET, buf.p, buf.n, buf.n, &segment, NULL), 1);
	assert_int_equal(segment.data.n, 0);
	assert_int_equal(segment.lost, 0);
	kw_buf_fini(&buf);
}

/* A card that cuts packets itself gets them with a length of 0. */
static void a_length_of_zero_is_that_of_the_packet(void **state)
{
	struct kw_buf buf = {0};
	struct kw_segment segment;

	(void)state;
	put_ip(&buf, 4, 10);
	kw_wr16(buf.p + 2, 0);
	assert_int_equal(kw_packet_read(KW_LINK_RAW, buf.p, buf.n, buf.n, &segment, NULL), 1);
	assert_is_ours(&segment, 4, 10);
	kw_buf_fini(&buf);
}

static void extensions_of_ipv6(void **state)
{
	struct kw_buf plain = {0}, buf = {0};
	struct kw_segment segment;

	(void)state;
	put_ip(&plain, 6, 10);
	kw_put(&buf, plain.p, 40);
	put_hex(&buf, "3c00000000000000");                       /* hop by hop, then destination options */
	put_hex(&buf, "2c010000000000000000000000000000");       /* then a fragment that is the whole */
	put_hex(&buf, "0600000000000001");
	kw_put(&buf, plain.p + 40, plain.n - 40);
	buf.p[6] = 0;
	kw_wr16(buf.p + 4, (uint16_t)(buf.n - 40));
	check(KW_LINK_RAW, &buf, 6, 10);
	/* A fragment that is not. */
	buf.p[40 + 8 + 16 + 3] = 1;
	assert_int_equal(kw_packet_read(KW_LINK_RAW, buf.p, buf.n, buf.n, &segment, NULL), KT_EVERSION);
	kw_buf_fini(&plain);
	kw_buf_fini(&buf);
}

static void what_is_wrong_is_told(void **state)
{
	static const struct {
		size_t at;
		uint8_t value;
		int wanted;
		size_t offset;
		const char *text;
	} faults[] = {
		{0, 0x55, KT_ECORRUPT, 0, "no IPv4 head, where one should be"},
		{0, 0x44, KT_ECORRUPT, 0, "no IPv4 head, where one should be"},
		{2, 0xff, KT_ECORRUPT, 0, "the IP packet has a length that cannot be"},
		{6, 0x20, KT_EVERSION, 0, "a fragment of an IPv4 packet, which is not put together"},
		{9, 17, 0, 0, ""},
		{32, 0x40, KT_ECORRUPT, 20, "the TCP head has a size that cannot be"},
		{32, 0xf0, KT_ECORRUPT, 20, "the TCP head has a size that cannot be"},
	};
	struct kw_segment segment;

	(void)state;
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
		struct kw_buf buf = {0};
		struct kt_err err = {0};

		put_ip(&buf, 4, 10);
		buf.p[faults[i].at] = faults[i].value;
		assert_int_equal(kw_packet_read(KW_LINK_RAW, buf.p, buf.n, buf.n, &segment, &err), faults[i].wanted);
		assert_string_equal(err.text, faults[i].text);
		assert_int_equal(err.offset, faults[i].offset);
		kw_buf_fini(&buf);
	}
}

/* ---- writing ---- */

static unsigned sum_of(const uint8_t *p, size_t n, unsigned sum)
{
	for (size_t i = 0; i < n; i++)
		sum += i % 2 ? p[i] : (unsigned)p[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* With a right checksum inside, all adds up to ones. */
static void checksums_are_right(void **state)
{
	(void)state;
	for (size_t n = 0; n <= 10; n++) {
		struct kw_buf v4 = {0}, v6 = {0};

		put_ip(&v4, 4, n);
		put_ip(&v6, 6, n);
		assert_int_equal(sum_of(v4.p, 20, 0), 0xffff);
		assert_int_equal(sum_of(v4.p + 12, v4.n - 12, 6 + (unsigned)(20 + n)), 0xffff);
		assert_int_equal(sum_of(v6.p + 8, v6.n - 8, 6 + (unsigned)(20 + n)), 0xffff);
		kw_buf_fini(&v4);
		kw_buf_fini(&v6);
	}
}

static void records_have_time_and_size(void **state)
{
	struct kw_segment segment = segment_of(6);
	struct iovec iov = {(void *)(uintptr_t)payload, 10};
	uint8_t head[KW_PCAP_PACKET_HEAD], file[KW_PCAP_HEAD];

	(void)state;
	assert_int_equal(kw_pcap_packet_head(head, &segment, &iov, 1, 1234567), 16 + 40 + 20);
	assert_int_equal(kw_rd32(head), 1);
	assert_int_equal(kw_rd32(head + 4), 234567);
	assert_int_equal(kw_rd32(head + 8), 70);
	assert_int_equal(kw_rd32(head + 12), 70);
	kw_pcap_head(file);
	assert_int_equal(kw_rd32(file), 0xa1b2c3d4);
	assert_int_equal(kw_rd32(file + 20), 101);
}

static void endpoints_have_text(void **state)
{
	struct kw_endpoint v4 = {.family = 4, .port = 9092, .address = {127, 0, 0, 1}};
	struct kw_endpoint v6 = {.family = 6, .port = 1, .address = {[15] = 1}};
	char text[56];

	(void)state;
	kw_endpoint_text(&v4, text);
	assert_string_equal(text, "127.0.0.1:9092");
	kw_endpoint_text(&v6, text);
	assert_string_equal(text, "[::1]:1");
	assert_false(kw_endpoint_eq(&v4, &v6));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_link),
		cmocka_unit_test(padding_is_no_payload),
		cmocka_unit_test(a_length_of_zero_is_that_of_the_packet),
		cmocka_unit_test(extensions_of_ipv6),
		cmocka_unit_test(what_is_wrong_is_told),
		cmocka_unit_test(checksums_are_right),
		cmocka_unit_test(records_have_time_and_size),
		cmocka_unit_test(endpoints_have_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
