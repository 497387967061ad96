/* Compression of record data, as Kafka's clients write it and its brokers read it. */
#ifndef KASSAY_WIRE_COMPRESS_H
#define KASSAY_WIRE_COMPRESS_H

#include "lib/text/err.h"
#include "lib/wire/buf.h"

/* The low three bits of the attributes. */
enum kw_codec { KW_NONE, KW_GZIP, KW_SNAPPY, KW_LZ4, KW_ZSTD };

/* "none", "gzip", "snappy", "lz4", "zstd"; NULL for other numbers. And back; -1 if unknown. */
const char *kw_codec_name(int codec);
int kw_codec_find(const char *name);

/* Forms that differ from the usual one. Those with a codec's name concern it alone. */
struct kw_deflate_opts {
	int level;                /* as compression.CODEC.level has it; 0 = its default. snappy has none */
	bool lz4_historic;        /* checksum of the lz4 frame header as Kafka counted it before KAFKA-3160: over the
				     frame's magic too. Its own writers still do so for magic 0 */
	bool snappy_raw;          /* one raw block, without the xerial framing: at most UINT32_MAX bytes */
};

/* Appends the compressed form of the n bytes at p to out. snappy is the xerial framing that Kafka's clients write, in
 * blocks of 32 KiB; lz4 is one frame of independent 64 KiB blocks without checksums, and zstd one without content size,
 * as theirs. opts may be NULL. KT_EUNKNOWN for a codec other than enum kw_codec; KT_ELIMIT, of more than
 * INT32_MAX bytes or beyond out's maximum; KT_ENOMEM. */
int kw_compress_as(int codec, const struct kw_deflate_opts *opts, const uint8_t *p, size_t n, struct kw_buf *out,
		   struct kt_err *err);
/* The same with the usual forms. */
int kw_compress(int codec, const uint8_t *p, size_t n, struct kw_buf *out, struct kt_err *err);

/* What a stream may inflate to. Both limits hold while it inflates: a stream is left as soon as it exceeds one.
 *
 * The ratio is one that only zstd can exceed by default. gzip cannot come above 1032:1 (258 bytes for 2 bits), lz4 not
 * above 255:1, snappy not above 22:1, so a long input of theirs is what the absolute limit is for. zstd makes 30000:1
 * of one repeated byte: a batch of 9 KB would fill the 256 MiB. Records of real clients stay far below, since each has
 * its own offset, time and mostly key: JSON log lines came to 90:1. Only records that are nothing but filler come
 * above, which is what test data may be; so below 16 MiB, ten times the largest batch of a default broker, no ratio is
 * judged. */
enum { KW_INFLATE_MAX = 256 << 20, KW_INFLATE_RATIO = 1100, KW_INFLATE_RATIO_FROM = 16 << 20 };

struct kw_inflate_opts {
	size_t max;               /* most inflated bytes; 0 = KW_INFLATE_MAX */
	size_t ratio;             /* most inflated bytes per input byte; 0 = KW_INFLATE_RATIO, SIZE_MAX = any */
	size_t ratio_from;        /* so many inflated bytes are fine at any ratio; 0 = KW_INFLATE_RATIO_FROM */
	bool lz4_any_checksum;    /* do not look at the checksum of an lz4 frame header: so Kafka reads magic 0 */
};

/* Appends the inflated form; snappy takes raw and xerial. opts may be NULL. Accepts and refuses what Kafka accepts and
 * refuses; so gzip and lz4 may have anything behind their stream, and content size and content checksum of lz4 do not
 * count. KT_ECORRUPT, KT_ETRUNC, KT_EUNKNOWN, KT_ENOMEM; KT_ELIMIT as soon as a limit is exceeded. On failure out holds
 * what a Kafka broker would have read before it met the fault. */
int kw_decompress_as(int codec, const struct kw_inflate_opts *opts, const uint8_t *p, size_t n, struct kw_buf *out,
		     struct kt_err *err);
/* The same with an own absolute limit, which may be 0: then only an empty stream fits. */
int kw_decompress(int codec, const uint8_t *p, size_t n, size_t max, struct kw_buf *out, struct kt_err *err);

#endif
