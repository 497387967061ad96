/* Packets of a captured network: from the link layer to the TCP segment in them, and back to a pcap file.
 *
 * Link types have the numbers of tcpdump.org's list (LINKTYPE_...), which libpcap's DLT_... mostly share.
 */
#ifndef KASSAY_WIRE_PACKET_H
#define KASSAY_WIRE_PACKET_H

#include <sys/uio.h>

#include "lib/text/err.h"
#include "lib/wire/types.h"

/* X(symbol, number, reader of packet.c, name): what a capture's packets begin with. */
#define KW_LINKS(X)                                                     \
	X(KW_LINK_NULL, 0, link_null, "BSD loopback")                   \
	X(KW_LINK_ETHERNET, 1, link_ethernet, "Ethernet")               \
	X(KW_LINK_DLT_RAW, 12, link_raw, "raw IP")                      \
	X(KW_LINK_BSD_RAW, 14, link_raw, "raw IP")                      \
	X(KW_LINK_RAW, 101, link_raw, "raw IP")                         \
	X(KW_LINK_LOOP, 108, link_null, "OpenBSD loopback")             \
	X(KW_LINK_COOKED, 113, link_cooked, "Linux cooked")             \
	X(KW_LINK_IPV4, 228, link_raw, "raw IPv4")                      \
	X(KW_LINK_IPV6, 229, link_raw, "raw IPv6")                      \
	X(KW_LINK_COOKED2, 276, link_cooked2, "Linux cooked v2")

enum kw_link {
#define KW_X(sym, number, reader, name) sym = (number),
	KW_LINKS(KW_X)
#undef KW_X
};

enum { KW_TCP_FIN = 1, KW_TCP_SYN = 2, KW_TCP_RST = 4, KW_TCP_PSH = 8, KW_TCP_ACK = 16 };

struct kw_endpoint {
	uint8_t address[16];     /* the first 4 of IPv4, the rest zero */
	uint8_t family;          /* 4 or 6 */
	uint16_t port;
};

struct kw_segment {
	struct kw_endpoint from, to;
	uint32_t seq, ack;
	uint8_t flags;           /* KW_TCP_... */
	struct kw_slice data;    /* as far as it was captured */
	size_t lost;             /* bytes behind data that the capture cut off */
};

/* "Ethernet", or NULL: then no packet of that link type can be read. */
const char *kw_link_name(int link);

/* Reads a packet of n captured bytes that had wire_n on the wire (a smaller wire_n counts as n). Returns 1 when it is a
 * whole TCP head (segment->data points into p), 0 when it is something else (ARP, UDP), or KT_ETRUNC, KT_ECORRUPT or
 * KT_EVERSION (a fragment, an unknown link) with the offset in the packet. Checksums are not looked at: on the machine
 * that sent a packet they are often left to its network card. */
int kw_packet_read(int link, const uint8_t *p, size_t n, size_t wire_n, struct kw_segment *segment, struct kt_err *err);

/* "127.0.0.1:9092", "[::1]:9092" */
void kw_endpoint_text(const struct kw_endpoint *endpoint, char out[56]);
bool kw_endpoint_eq(const struct kw_endpoint *a, const struct kw_endpoint *b);

/* ---- writing ---- */

enum {
	KW_PCAP_HEAD = 24,
	KW_PCAP_PACKET_HEAD = 16 + 40 + 20,   /* most bytes in front of a payload */
	KW_PCAP_PAYLOAD_MAX = 65535 - 40,     /* most bytes of it, of IPv4 and IPv6 */
};

/* The head of a classic pcap file of raw IP packets with microseconds, big-endian. */
void kw_pcap_head(uint8_t out[KW_PCAP_HEAD]);
/* What stands in front of the payload of a segment, of niov runs that make at most KW_PCAP_PAYLOAD_MAX bytes: the
 * packet's record, IP and TCP head, with right checksums. data and lost of the segment do not count. Returns its
 * bytes. */
size_t kw_pcap_packet_head(uint8_t out[KW_PCAP_PACKET_HEAD], const struct kw_segment *segment, const struct iovec *iov,
			   int niov, int64_t time_us);

#endif
