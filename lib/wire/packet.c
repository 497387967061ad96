#include "lib/wire/packet.h"

#include <arpa/inet.h>
#include <stdio.h>

#include "lib/wire/buf.h"

enum {
	IPV4 = 0x0800, IPV6 = 0x86dd,                      /* EtherType */
	VLAN = 0x8100, PROVIDER_VLAN = 0x88a8, OLD_VLAN = 0x9100,
	TCP = 6,                                           /* protocols of IP */
	HOP_BY_HOP = 0, ROUTING = 43, FRAGMENT = 44, AUTHENTICATION = 51, DESTINATION = 60,
	IPV4_HEAD = 20, IPV6_HEAD = 40, TCP_HEAD = 20, MORE_FRAGMENTS = 0x2000, FRAGMENT_OFFSET = 0x1fff,
};

/* A packet while it is read. */
struct packet {
	const uint8_t *p;
	size_t n, wire_n;        /* captured, and on the wire */
	size_t at;               /* what is in front of it has been read */
	struct kw_segment *segment;
	struct kt_err *err;
};

static int bad(const struct packet *packet, int code, const char *text)
{
	if (packet->err && !packet->err->code) {
		packet->err->offset = packet->at;
		packet->err->has_offset = 1;
	}
	return kt_fail(packet->err, code, "%s", text);
}

/* n bytes from `at` on, or NULL. */
static const uint8_t *look(const struct packet *packet, size_t n)
{
	return packet->n - packet->at < n ? NULL : packet->p + packet->at;
}

/* ---- TCP ---- */

static int read_tcp(struct packet *packet)
{
	const uint8_t *p = look(packet, TCP_HEAD);
	struct kw_segment *segment = packet->segment;
	size_t head, there, all;

	if (!p)
		return bad(packet, KT_ETRUNC, "the TCP head is cut off");
	head = (size_t)(p[12] >> 4) * 4;
	if (head < TCP_HEAD || head > packet->wire_n - packet->at)
		return bad(packet, KT_ECORRUPT, "the TCP head has a size that cannot be");
	segment->from.port = kw_rd16(p);
	segment->to.port = kw_rd16(p + 2);
	segment->seq = kw_rd32(p + 4);
	segment->ack = kw_rd32(p + 8);
	segment->flags = p[13];
	all = packet->wire_n - packet->at - head;
	there = packet->n - packet->at;
	there = there > head ? there - head : 0;
	segment->data = (struct kw_slice){p + (there ? head : 0), there};
	segment->lost = all - there;
	return 1;
}

/* The packet ends where IP says; what is behind it is padding. A length of 0 comes from cards that cut packets into
 * smaller ones themselves: the packet is as long as it is. */
static int end_at(struct packet *packet, size_t at, size_t size, size_t least)
{
	if (size == 0)
		return 0;
	if (size < least || size > packet->wire_n - at)
		return bad(packet, KT_ECORRUPT, "the IP packet has a length that cannot be");
	packet->wire_n = at + size;
	if (packet->n > packet->wire_n)
		packet->n = packet->wire_n;
	return 0;
}

/* ---- IP ---- */

static int read_ipv4(struct packet *packet)
{
	const uint8_t *p = look(packet, IPV4_HEAD);
	size_t head;

	if (!p)
		return bad(packet, KT_ETRUNC, "the IPv4 head is cut off");
	head = (size_t)(p[0] & 15) * 4;
	if (p[0] >> 4 != 4 || head < IPV4_HEAD)
		return bad(packet, KT_ECORRUPT, "no IPv4 head, where one should be");
	if (p[9] != TCP)
		return 0;
	if (kw_rd16(p + 6) & (MORE_FRAGMENTS | FRAGMENT_OFFSET))
		return bad(packet, KT_EVERSION, "a fragment of an IPv4 packet, which is not put together");
	if (end_at(packet, packet->at, kw_rd16(p + 2), head))
		return KT_ECORRUPT;
	packet->segment->from.family = packet->segment->to.family = 4;
	memcpy(packet->segment->from.address, p + 12, 4);
	memcpy(packet->segment->to.address, p + 16, 4);
	if (!look(packet, head))
		return bad(packet, KT_ETRUNC, "the options of the IPv4 head are cut off");
	packet->at += head;
	return read_tcp(packet);
}

/* Bytes of an extension head, and what follows it; 0 when it is none. */
static size_t extension_size(int protocol, const uint8_t *p)
{
	switch (protocol) {
	case HOP_BY_HOP: case ROUTING: case DESTINATION:
		return 8 * ((size_t)p[1] + 1);
	case FRAGMENT:
		return 8;
	case AUTHENTICATION:
		return 4 * ((size_t)p[1] + 2);
	default:
		return 0;
	}
}

static int read_ipv6(struct packet *packet)
{
	const uint8_t *p = look(packet, IPV6_HEAD);
	int protocol;
	size_t size;

	if (!p)
		return bad(packet, KT_ETRUNC, "the IPv6 head is cut off");
	if (p[0] >> 4 != 6)
		return bad(packet, KT_ECORRUPT, "no IPv6 head, where one should be");
	size = kw_rd16(p + 4);
	if (end_at(packet, packet->at + IPV6_HEAD, size, 0))
		return KT_ECORRUPT;
	packet->segment->from.family = packet->segment->to.family = 6;
	memcpy(packet->segment->from.address, p + 8, 16);
	memcpy(packet->segment->to.address, p + 24, 16);
	protocol = p[6];
	packet->at += IPV6_HEAD;
	while (protocol != TCP) {
		p = look(packet, 8);
		size = p ? extension_size(protocol, p) : 0;
		if (!p || !size)
			return 0;
		if (protocol == FRAGMENT && (kw_rd16(p + 2) & 0xfff9) != 0)
			return bad(packet, KT_EVERSION, "a fragment of an IPv6 packet, which is not put together");
		if (!look(packet, size))
			return bad(packet, KT_ETRUNC, "an extension of the IPv6 head is cut off");
		protocol = p[0];
		packet->at += size;
	}
	return read_tcp(packet);
}

/* ---- links ---- */

static int read_network(struct packet *packet, unsigned type)
{
	return type == IPV4 ? read_ipv4(packet) : type == IPV6 ? read_ipv6(packet) : 0;
}

static int link_raw(struct packet *packet)
{
	const uint8_t *p = look(packet, 1);

	if (!p)
		return bad(packet, KT_ETRUNC, "an empty packet");
	return p[0] >> 4 == 6 ? read_ipv6(packet) : read_ipv4(packet);
}

/* An address family as the machine that captured numbers and writes it: 2 is IPv4 everywhere, IPv6 has a number on
 * every system. The IP version says the same. */
static int link_null(struct packet *packet)
{
	const uint8_t *p = look(packet, 5);

	if (!p)
		return bad(packet, KT_ETRUNC, "the packet ends in its loopback head");
	packet->at += 4;
	return p[4] >> 4 == 4 || p[4] >> 4 == 6 ? link_raw(packet) : 0;
}

static int link_ethernet(struct packet *packet)
{
	const uint8_t *p = look(packet, 14);
	unsigned type;

	if (!p)
		return bad(packet, KT_ETRUNC, "the Ethernet head is cut off");
	type = kw_rd16(p + 12);
	packet->at += 14;
	while (type == VLAN || type == PROVIDER_VLAN || type == OLD_VLAN) {
		p = look(packet, 4);
		if (!p)
			return bad(packet, KT_ETRUNC, "the VLAN tag is cut off");
		type = kw_rd16(p + 2);
		packet->at += 4;
	}
	return read_network(packet, type);
}

static int cooked(struct packet *packet, size_t head, size_t type_at)
{
	const uint8_t *p = look(packet, head);

	if (!p)
		return bad(packet, KT_ETRUNC, "the cooked head is cut off");
	packet->at += head;
	return read_network(packet, kw_rd16(p + type_at));
}

static int link_cooked(struct packet *packet)
{
	return cooked(packet, 16, 14);
}

static int link_cooked2(struct packet *packet)
{
	return cooked(packet, 20, 0);
}

static const struct {
	int number;
	int (*read)(struct packet *packet);
	const char *name;
} links[] = {
#define KW_X(sym, number, reader, name) {number, reader, name},
	KW_LINKS(KW_X)
#undef KW_X
};

static int find_link(int link)
{
	for (size_t i = 0; i < sizeof links / sizeof *links; i++)
		if (links[i].number == link)
			return (int)i;
	return -1;
}

const char *kw_link_name(int link)
{
	int i = find_link(link);

	return i < 0 ? NULL : links[i].name;
}

int kw_packet_read(int link, const uint8_t *p, size_t n, size_t wire_n, struct kw_segment *segment, struct kt_err *err)
{
	struct packet packet = {.p = p, .n = n, .wire_n = wire_n < n ? n : wire_n, .segment = segment, .err = err};
	int i = find_link(link);

	*segment = (struct kw_segment){0};
	return i < 0 ? bad(&packet, KT_EVERSION, "a link type that is not known") : links[i].read(&packet);
}

/* ---- endpoints ---- */

void kw_endpoint_text(const struct kw_endpoint *endpoint, char out[56])
{
	char address[INET6_ADDRSTRLEN];

	inet_ntop(endpoint->family == 6 ? AF_INET6 : AF_INET, endpoint->address, address, sizeof address);
	snprintf(out, 56, endpoint->family == 6 ? "[%s]:%u" : "%s:%u", address, endpoint->port);
}

bool kw_endpoint_eq(const struct kw_endpoint *a, const struct kw_endpoint *b)
{
	return a->port == b->port && a->family == b->family && memcmp(a->address, b->address, sizeof a->address) == 0;
}
