/* A pcap file of packets that never were on a wire. */
#include "lib/wire/buf.h"
#include "lib/wire/packet.h"

enum { RECORD = 16, IPV4_HEAD = 20, IPV6_HEAD = 40, TCP_HEAD = 20, HOPS = 64, TCP = 6, MICROSECONDS = 1000000,
       WINDOW = 65535 };

void kw_pcap_head(uint8_t out[KW_PCAP_HEAD])
{
	memset(out, 0, KW_PCAP_HEAD);
	kw_wr32(out, 0xa1b2c3d4);
	kw_wr16(out + 4, 2);
	kw_wr16(out + 6, 4);
	kw_wr32(out + 16, 262144);
	kw_wr32(out + 20, KW_LINK_RAW);
}

/* The sum of RFC 1071 in the machine's order of bytes. `odd`: how many bytes came before, which may be an odd
 * number. */
static uint64_t add_sum(uint64_t sum, const uint8_t *p, size_t n, size_t *odd)
{
	uint16_t pair;

	if (n && *odd % 2) {
		pair = htobe16(*p);
		sum += pair;
		p++;
		n--;
		++*odd;
	}
	*odd += n;
	for (; n >= 2; p += 2, n -= 2) {
		memcpy(&pair, p, 2);
		sum += pair;
	}
	if (n) {
		pair = htobe16((uint16_t)(*p << 8));
		sum += pair;
	}
	return sum;
}

/* The complement, ready to be stored by memcpy. */
static uint16_t end_sum(uint64_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static void put_ipv4(uint8_t *p, const struct kw_segment *segment, size_t size)
{
	size_t odd = 0;
	uint16_t sum;

	p[0] = 0x45;
	kw_wr16(p + 2, (uint16_t)(IPV4_HEAD + size));
	kw_wr16(p + 6, 0x4000);
	p[8] = HOPS;
	p[9] = TCP;
	memcpy(p + 12, segment->from.address, 4);
	memcpy(p + 16, segment->to.address, 4);
	sum = end_sum(add_sum(0, p, IPV4_HEAD, &odd));
	memcpy(p + 10, &sum, sizeof sum);
}

static void put_ipv6(uint8_t *p, const struct kw_segment *segment, size_t size)
{
	p[0] = 0x60;
	kw_wr16(p + 4, (uint16_t)size);
	p[6] = TCP;
	p[7] = HOPS;
	memcpy(p + 8, segment->from.address, 16);
	memcpy(p + 24, segment->to.address, 16);
}

static void put_tcp(uint8_t *p, const struct kw_segment *segment, const struct iovec *iov, int niov, size_t size)
{
	size_t odd = 0, width = segment->from.family == 6 ? 16 : 4;
	uint8_t pseudo[4] = {0, TCP};
	uint64_t sum;
	uint16_t end;

	kw_wr16(p, segment->from.port);
	kw_wr16(p + 2, segment->to.port);
	kw_wr32(p + 4, segment->seq);
	kw_wr32(p + 8, segment->ack);
	p[12] = TCP_HEAD / 4 << 4;
	p[13] = segment->flags;
	kw_wr16(p + 14, WINDOW);
	kw_wr16(pseudo + 2, (uint16_t)size);
	sum = add_sum(0, pseudo, sizeof pseudo, &odd);
	sum = add_sum(sum, segment->from.address, width, &odd);
	sum = add_sum(sum, segment->to.address, width, &odd);
	sum = add_sum(sum, p, TCP_HEAD, &odd);
	for (int i = 0; i < niov; i++)
		sum = add_sum(sum, iov[i].iov_base, iov[i].iov_len, &odd);
	end = end_sum(sum);
	memcpy(p + 16, &end, sizeof end);
}

size_t kw_pcap_packet_head(uint8_t out[KW_PCAP_PACKET_HEAD], const struct kw_segment *segment, const struct iovec *iov,
			   int niov, int64_t time_us)
{
	size_t head = segment->from.family == 6 ? IPV6_HEAD : IPV4_HEAD, size = TCP_HEAD;

	for (int i = 0; i < niov; i++)
		size += iov[i].iov_len;
	memset(out, 0, RECORD + head + TCP_HEAD);
	kw_wr32(out, (uint32_t)(time_us / MICROSECONDS));
	kw_wr32(out + 4, (uint32_t)(time_us % MICROSECONDS));
	kw_wr32(out + 8, (uint32_t)(head + size));
	kw_wr32(out + 12, (uint32_t)(head + size));
	if (segment->from.family == 6)
		put_ipv6(out + RECORD, segment, size);
	else
		put_ipv4(out + RECORD, segment, size);
	put_tcp(out + RECORD + head, segment, iov, niov, size);
	return RECORD + head + TCP_HEAD;
}
