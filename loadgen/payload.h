/* What a record of the load generator carries, so that whoever reads it can tell whose it is, where it belongs and
 * whether a byte changed.
 *
 * Layout, big-endian:
 *
 *	 0  magic "ksLG"           4        32  sequence              8
 *	 4  version, 1             1        40  intended time         8   ns since 1970
 *	 5  zero                   3        48  seed of the body      8
 *	 8  run id                 8        56  length of all         4
 *	16  producer               4        60  CRC-32 (zlib) of [0, 60) and of the body
 *	20  CRC-32 of topic name   4        64  body
 *	24  partition              4
 *	28  zero                   4
 *
 * The body is text of sixteen symbols, drawn by splitmix64 from the seed: it compresses to a little more than half, as
 * real data does rather than as zeros or random bytes do.
 */
#ifndef KASSAY_LOADGEN_PAYLOAD_H
#define KASSAY_LOADGEN_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

#define LG_STAMP_SIZE 64
/* Record header that carries a stamp (64 bytes, no body) when the value cannot. */
#define LG_STAMP_HEADER "kassay"

struct lg_stamp {
	uint64_t run;
	uint32_t producer;      /* number of the phase within the run */
	uint32_t topic;         /* lg_topic_id() */
	int32_t partition;
	int64_t sequence;       /* per producer and partition, from 0 without gaps */
	int64_t intended;       /* ns since 1970 */
	uint64_t seed;
};

uint32_t lg_topic_id(const char *name);

/* Writes stamp and body over exactly n bytes, at least LG_STAMP_SIZE. */
void lg_payload_write(uint8_t *p, size_t n, const struct lg_stamp *stamp);

enum lg_payload_state {
	LG_PAYLOAD_INTACT,
	LG_PAYLOAD_FOREIGN,     /* not the load generator's; stamp is not set */
	LG_PAYLOAD_CORRUPT,     /* the load generator's, but changed; stamp is as read and not to be trusted */
};

/* Judges n bytes at p, which may be NULL with n = 0. If corrupt, *wrong gets the offset of the first wrong byte as far
 * as can be told: of the body, else of the part that does not fit. */
enum lg_payload_state lg_payload_read(const uint8_t *p, size_t n, struct lg_stamp *stamp, size_t *wrong);

#endif
