/* Captures made by hand: packets of one client and one broker, or of several, in memory. */
#ifndef KASSAY_CONFORMANCE_TESTS_CAPTURES_H
#define KASSAY_CONFORMANCE_TESTS_CAPTURES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/text/base64.h"
#include "lib/wire/buf.h"
#include "lib/wire/packet.h"

enum { CAPTURE_MILLISECOND = 1000 };

struct capture {
	struct kw_buf file;
	int64_t time_us;
	int client_port, broker_port;
	uint32_t seq[2];         /* of client and broker: what comes next */
};

static inline void capture_packet(struct capture *capture, bool client, uint8_t flags, const void *p, size_t n)
{
	struct kw_endpoint ends[2] = {
		{.family = 4, .port = (uint16_t)capture->client_port, .address = {10, 0, 0, 1}},
		{.family = 4, .port = (uint16_t)capture->broker_port, .address = {10, 0, 0, 2}},
	};
	struct kw_segment segment = {.from = ends[!client], .to = ends[client], .seq = capture->seq[!client],
				     .ack = capture->seq[client], .flags = flags};
	struct iovec iov = {(void *)(uintptr_t)p, n};
	uint8_t head[KW_PCAP_PACKET_HEAD];

	capture->time_us += CAPTURE_MILLISECOND;
	kw_put(&capture->file, head, kw_pcap_packet_head(head, &segment, &iov, 1, capture->time_us));
	kw_put(&capture->file, p, n);
	capture->seq[!client] += (uint32_t)n + (flags & (KW_TCP_SYN | KW_TCP_FIN) ? 1 : 0);
}

/* A connection begins; with opened its handshake is captured. */
static inline void capture_connect(struct capture *capture, int client_port, bool opened)
{
	capture->client_port = client_port;
	capture->seq[0] = 1000;
	capture->seq[1] = 0xffffff00;   /* to wrap before long */
	if (!opened)
		return;
	capture_packet(capture, true, KW_TCP_SYN, "", 0);
	capture_packet(capture, false, KW_TCP_SYN | KW_TCP_ACK, "", 0);
	capture_packet(capture, true, KW_TCP_ACK, "", 0);
}

static inline void capture_begin(struct capture *capture)
{
	uint8_t head[KW_PCAP_HEAD];

	kw_buf_fini(&capture->file);
	*capture = (struct capture){.time_us = 1700000000000000, .broker_port = 9092};
	kw_pcap_head(head);
	kw_put(&capture->file, head, sizeof head);
}

static inline size_t capture_hex(const char *hex, uint8_t *out)
{
	long n = kt_hex_decode(hex, strlen(hex), out);

	assert_true(n >= 0);
	return (size_t)n;
}

/* Bytes in hex, in one packet. */
static inline void capture_say(struct capture *capture, bool client, const char *hex)
{
	uint8_t bytes[2000];
	size_t n = capture_hex(hex, bytes);

	capture_packet(capture, client, KW_TCP_ACK | KW_TCP_PSH, bytes, n);
}

/* Bytes that the capture has not got. */
static inline void capture_miss(struct capture *capture, bool client, size_t n)
{
	capture->seq[!client] += (uint32_t)n;
}

static inline void capture_close(struct capture *capture, bool client)
{
	capture_packet(capture, client, KW_TCP_FIN | KW_TCP_ACK, "", 0);
	capture_packet(capture, !client, KW_TCP_FIN | KW_TCP_ACK, "", 0);
}

#endif
