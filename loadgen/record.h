/* One record about to be sent, in the form that both engines take. */
#ifndef KASSAY_LOADGEN_RECORD_H
#define KASSAY_LOADGEN_RECORD_H

#include "lib/wire/batch.h"
#include "loadgen/payload.h"

enum lg_key_mode {
	LG_KEY_NONE,        /* null */
	LG_KEY_SEQUENCE,    /* every record its own */
	LG_KEY_COUNT,       /* one of `keys` keys, each always in the same partition */
};

enum { LG_HEADERS_MAX = 16, LG_RECORD_MAX = 64 << 20 };

struct lg_header_spec {
	const char *name, *value;
};

/* What the legal records of a phase look like. */
struct lg_shape {
	int32_t size_min, size_max;           /* bytes of the value, LG_STAMP_SIZE..LG_RECORD_MAX; drawn evenly */
	enum lg_key_mode key_mode;
	int64_t keys;                         /* LG_KEY_COUNT: how many, at least 1 */
	int32_t nheaders;
	struct lg_header_spec headers[LG_HEADERS_MAX];
};

struct lg_draft {
	struct kw_bytes key, value;           /* point to key_text and to the caller's memory */
	int32_t nheaders;
	struct kw_header headers[LG_HEADERS_MAX + 1];
	int64_t timestamp;                    /* ms since 1970 */
	struct lg_stamp stamp;
	char key_text[48];
	uint8_t stamp_bytes[LG_STAMP_SIZE];
};

/* How many of npartitions partitions get records: fewer than all when there are fewer keys. */
int32_t lg_spread(const struct lg_shape *shape, int32_t npartitions);
/* The value size that a record of this seed has. */
int32_t lg_shape_size(const struct lg_shape *shape, uint64_t seed);
/* Fills draft with a legal record. stamp->seed decides size and key; value must have room for size_max bytes and live
 * as long as draft, like shape. npartitions is what the key is to be spread over. */
void lg_draft_make(struct lg_draft *draft, const struct lg_shape *shape, const struct lg_stamp *stamp,
		   int32_t npartitions, uint8_t *value);
/* Moves the stamp from the value to a header, for a record whose value is about to be taken away. */
void lg_draft_stamp_header(struct lg_draft *draft);

#endif
