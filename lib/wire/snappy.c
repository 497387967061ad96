/* Snappy as Kafka reads it (snappy-java's SnappyInputStream): one raw block, or the xerial framing, which is a header
 * of magic (8 bytes), version and compatible version (int32 each), then chunks of an int32 length and a raw block. Only
 * the whole magic makes it framed: a raw block begins with its length, which may well be 0x82. */
#include <snappy-c.h>

#include "lib/wire/codec.h"

static const uint8_t magic[8] = {0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0};

enum { HEADER = 16, VERSION = 1, BLOCK = 32 << 10, MAX_CHUNK = 512 << 20 };

int kw_snappy_deflate(const uint8_t *p, size_t n, int level, struct kw_buf *out, struct kt_err *err)
{
	(void)level;
	kw_put(out, magic, sizeof magic);
	kw_put_u32(out, VERSION);
	kw_put_u32(out, VERSION);
	for (size_t at = 0; at < n; at += BLOCK) {
		size_t left = n - at, block = left < BLOCK ? left : BLOCK, size = snappy_max_compressed_length(block);
		uint8_t *room = kw_buf_room(out, 4 + size);

		if (!room)
			break;
		snappy_compress((const char *)p + at, block, (char *)room + 4, &size);
		kw_wr32(room, (uint32_t)size);
		out->n += 4 + size;
	}
	return out->failed ? kw_buf_fail(out, err, "snappy: no room for the output") : 0;
}

int kw_snappy_deflate_raw(const uint8_t *p, size_t n, struct kw_buf *out, struct kt_err *err)
{
	size_t size = snappy_max_compressed_length(n);
	uint8_t *room = kw_buf_room(out, size);

	if (!room)
		return kw_buf_fail(out, err, "snappy: no room for %zu bytes", size);
	snappy_compress((const char *)p, n, (char *)room, &size);
	out->n += size;
	return 0;
}

static int inflate_block(const uint8_t *p, size_t n, struct kw_sink *sink)
{
	size_t len, left = sink->max - kw_sink_len(sink);
	uint8_t *room;

	if (snappy_uncompressed_length((const char *)p, n, &len) != SNAPPY_OK)
		return kt_fail(sink->err, KT_ECORRUPT, "snappy: PARSING_ERROR(2)");
	/* The densest code is 3 bytes for a copy of 64: a claim beyond that is a lie, and not worth an allocation. */
	if (len / 64 > n / 3)
		return kt_fail(sink->err, KT_ECORRUPT, "snappy: %zu bytes cannot inflate to %zu", n, len);
	if (len > left)
		return kw_sink_full(sink);
	room = kw_sink_room(sink, len);
	if (!room)
		return sink->out->failed;
	if (snappy_uncompress((const char *)p, n, (char *)room, &len) != SNAPPY_OK)
		return kt_fail(sink->err, KT_ECORRUPT, "snappy: FAILED_TO_UNCOMPRESS(5)");
	return kw_sink_add(sink, len);
}

/* Passes a header that stands where a chunk could: framed streams may be concatenated. Kafka takes one that goes on
 * wrongly for the end of the data. */
static int pass_header(struct kw_slice *in, bool *end, struct kt_err *err)
{
	if (in->n < HEADER)
		return kt_fail(err, KT_ETRUNC, "snappy: Insufficient header size in a concatenated block");
	*end = memcmp(in->p, magic, sizeof magic) != 0;
	if (!*end && (int32_t)kw_rd32(in->p + 8) < VERSION)
		return kt_fail(err, KT_ECORRUPT, "snappy: Compressed with an incompatible codec version %d. "
			       "At least version %d is required", (int32_t)kw_rd32(in->p + 8), VERSION);
	in->p += HEADER;
	in->n -= HEADER;
	return 0;
}

static int inflate_chunk(struct kw_slice *in, struct kw_sink *sink)
{
	int32_t size = (int32_t)kw_rd32(in->p);
	const uint8_t *block = in->p + 4;

	if (size < 0 || size > MAX_CHUNK)
		return kt_fail(sink->err, KT_ECORRUPT, "snappy: chunkSize is too big or negative : %d", size);
	if ((size_t)size > in->n - 4)
		return kt_fail(sink->err, KT_ETRUNC, "snappy: failed to read chunk");
	in->p += 4 + size;
	in->n -= 4 + (size_t)size;
	return inflate_block(block, (size_t)size, sink);
}

/* Reads chunks until less than a length is left. The first bytes of a header are no length that a chunk could have. */
static int inflate_chunks(struct kw_slice in, struct kw_sink *sink)
{
	bool end = false;
	int code = 0;

	while (code == 0 && in.n >= 4 && !end)
		code = memcmp(in.p, magic, 4) == 0 ? pass_header(&in, &end, sink->err) : inflate_chunk(&in, sink);
	return code;
}

int kw_snappy_inflate(const uint8_t *p, size_t n, struct kw_sink *sink)
{
	int code;

	if (n == 0)
		return kt_fail(sink->err, KT_ETRUNC, "snappy: [EMPTY_INPUT] Cannot decompress empty stream");
	if (n < HEADER || memcmp(p, magic, sizeof magic) != 0)
		return inflate_block(p, n, sink);
	code = inflate_chunks((struct kw_slice){p + HEADER, n - HEADER}, sink);
	if (code && code != KT_ELIMIT)
		sink->out->n -= kw_sink_len(sink) % KW_SINK_STEP_SNAPPY;
	return code;
}
