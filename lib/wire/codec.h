/* The compression formats behind compress.h; private to them.
 *
 * Each format is a pair: NAME_deflate appends to out, NAME_inflate appends to a kw_sink, which bounds what a stream
 * can make of itself and, after a fault, keeps what Kafka would have read before it (see compress.h).
 */
#ifndef KASSAY_WIRE_CODEC_H
#define KASSAY_WIRE_CODEC_H

#include "lib/wire/compress.h"

/* Kafka reads an inflating stream through a buffer (ChunkedBytesStream) of this size; a fault loses what the buffer had
 * got so far. snappy has a smaller one. lz4 reads no further than the block at hand and so loses nothing. */
enum { KW_SINK_STEP = 16 << 10, KW_SINK_STEP_SNAPPY = 2 << 10 };

struct kw_sink {
	struct kw_buf *out;
	size_t start;        /* out->n before the first byte */
	size_t max;          /* most inflated bytes, of both limits the smaller */
	size_t ratio;        /* that made it the smaller, or 0 */
	bool lz4_any_checksum;
	struct kt_err *err;
};

/* Room for `want` bytes at the end of out; else NULL, err is set and out->failed is its code. */
uint8_t *kw_sink_room(struct kw_sink *sink, size_t want);
/* Takes n bytes that were written there; KT_ELIMIT (and only what fits is taken) when that exceeds the maximum. */
int kw_sink_add(struct kw_sink *sink, size_t n);
/* Says which limit is exceeded. Returns KT_ELIMIT. */
int kw_sink_full(struct kw_sink *sink);
static inline size_t kw_sink_len(const struct kw_sink *sink) { return sink->out->n - sink->start; }

static inline uint32_t kw_little32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* n is at most INT32_MAX in all of these. level: struct kw_deflate_opts. */
int kw_gzip_deflate(const uint8_t *p, size_t n, int level, struct kw_buf *out, struct kt_err *err);
int kw_gzip_inflate(const uint8_t *p, size_t n, struct kw_sink *sink);
int kw_snappy_deflate(const uint8_t *p, size_t n, int level, struct kw_buf *out, struct kt_err *err);
int kw_snappy_deflate_raw(const uint8_t *p, size_t n, struct kw_buf *out, struct kt_err *err);
int kw_snappy_inflate(const uint8_t *p, size_t n, struct kw_sink *sink);
int kw_lz4_deflate(const uint8_t *p, size_t n, int level, struct kw_buf *out, struct kt_err *err);
/* Turns the header checksum of a frame that kw_lz4_deflate made into the historic one. */
void kw_lz4_set_historic(uint8_t *frame);
int kw_lz4_inflate(const uint8_t *p, size_t n, struct kw_sink *sink);
int kw_zstd_deflate(const uint8_t *p, size_t n, int level, struct kw_buf *out, struct kt_err *err);
int kw_zstd_inflate(const uint8_t *p, size_t n, struct kw_sink *sink);

#endif
