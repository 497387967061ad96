#include "loadgen/payload.h"

#include <string.h>
#include <zlib.h>

#include "lib/wire/buf.h"
#include "loadgen/schedule.h"

enum {
	P_MAGIC = 0, P_VERSION = 4, P_RUN = 8, P_PRODUCER = 16, P_TOPIC = 20, P_PARTITION = 24, P_SEQUENCE = 32,
	P_INTENDED = 40, P_SEED = 48, P_LENGTH = 56, P_CRC = 60,
};

#define MAGIC 0x6b734c47u
#define VERSION 1

uint32_t lg_topic_id(const char *name)
{
	return (uint32_t)crc32(0, (const Bytef *)name, (uInt)strlen(name));
}

static uint32_t checksum(const uint8_t *p, size_t n)
{
	uLong crc = crc32(0, p, P_CRC);

	return (uint32_t)crc32(crc, p + LG_STAMP_SIZE, (uInt)(n - LG_STAMP_SIZE));
}

/* Sixteen symbols from one random number, a nibble each. */
static void body_block(uint64_t *state, uint8_t out[16])
{
	static const char symbols[] = "0123456789 aeinr";
	uint64_t random = lg_random(state);

	for (int i = 0; i < 16; i++, random >>= 4)
		out[i] = (uint8_t)symbols[random & 15];
}

static void write_body(uint8_t *p, size_t n, uint64_t seed)
{
	uint8_t block[16];

	for (; n >= sizeof block; p += sizeof block, n -= sizeof block)
		body_block(&seed, p);
	if (n > 0) {
		body_block(&seed, block);
		memcpy(p, block, n);
	}
}

void lg_payload_write(uint8_t *p, size_t n, const struct lg_stamp *stamp)
{
	memset(p, 0, LG_STAMP_SIZE);
	kw_wr32(p + P_MAGIC, MAGIC);
	p[P_VERSION] = VERSION;
	kw_wr64(p + P_RUN, stamp->run);
	kw_wr32(p + P_PRODUCER, stamp->producer);
	kw_wr32(p + P_TOPIC, stamp->topic);
	kw_wr32(p + P_PARTITION, (uint32_t)stamp->partition);
	kw_wr64(p + P_SEQUENCE, (uint64_t)stamp->sequence);
	kw_wr64(p + P_INTENDED, (uint64_t)stamp->intended);
	kw_wr64(p + P_SEED, stamp->seed);
	kw_wr32(p + P_LENGTH, (uint32_t)n);
	write_body(p + LG_STAMP_SIZE, n - LG_STAMP_SIZE, stamp->seed);
	kw_wr32(p + P_CRC, checksum(p, n));
}

/* Where the body differs from what its seed yields; n if nowhere. */
static size_t first_wrong(const uint8_t *p, size_t n, uint64_t seed)
{
	uint8_t block[16];

	for (size_t at = LG_STAMP_SIZE; at < n; at += sizeof block) {
		body_block(&seed, block);
		for (size_t i = 0; i < sizeof block && at + i < n; i++)
			if (p[at + i] != block[i])
				return at + i;
	}
	return n;
}

enum lg_payload_state lg_payload_read(const uint8_t *p, size_t n, struct lg_stamp *stamp, size_t *wrong)
{
	if (n < P_VERSION + 1 || kw_rd32(p + P_MAGIC) != MAGIC || p[P_VERSION] != VERSION)
		return LG_PAYLOAD_FOREIGN;
	*wrong = n;
	memset(stamp, 0, sizeof *stamp);
	if (n < LG_STAMP_SIZE)
		return LG_PAYLOAD_CORRUPT;
	stamp->run = kw_rd64(p + P_RUN);
	stamp->producer = kw_rd32(p + P_PRODUCER);
	stamp->topic = kw_rd32(p + P_TOPIC);
	stamp->partition = (int32_t)kw_rd32(p + P_PARTITION);
	stamp->sequence = (int64_t)kw_rd64(p + P_SEQUENCE);
	stamp->intended = (int64_t)kw_rd64(p + P_INTENDED);
	stamp->seed = kw_rd64(p + P_SEED);
	if (kw_rd32(p + P_LENGTH) == n && kw_rd32(p + P_CRC) == checksum(p, n))
		return LG_PAYLOAD_INTACT;
	*wrong = first_wrong(p, n, stamp->seed);
	if (*wrong == n && kw_rd32(p + P_LENGTH) == n)
		*wrong = P_VERSION + 1;        /* the body fits its seed: it is the stamp */
	return LG_PAYLOAD_CORRUPT;
}
