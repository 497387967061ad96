/* lz4 frames as Kafka reads them (its own Lz4BlockInputStream): one frame, of independent blocks only; content size and
 * content checksum are skipped, header and block checksums are verified, what follows the frame is ignored. liblz4's
 * frame reader judges each of these differently, so only its block reader is used. */
#include <lz4.h>
#include <lz4frame.h>
#include <lz4hc.h>

#include "lib/wire/codec.h"

enum { MAGIC = 0x184d2204, SMALLEST_HEADER = 7, RAW_BLOCK = INT32_MIN, BLOCK = 64 << 10 };
/* Bits of the two descriptor bytes. */
enum { F_RESERVED = 3, F_CONTENT_CHECKSUM = 4, F_CONTENT_SIZE = 8, F_BLOCK_CHECKSUM = 16, F_INDEPENDENT = 32 };
enum { B_RESERVED = 0x8f };

static uint32_t rotl(uint32_t v, int by)
{
	return v << by | v >> (32 - by);
}

/* XXH32 with seed 0. */
static uint32_t xxh32(const uint8_t *p, size_t n)
{
	const uint32_t prime1 = 2654435761u, prime2 = 2246822519u, prime3 = 3266489917u, prime4 = 668265263u,
		       prime5 = 374761393u;
	uint32_t lane[4] = {prime1 + prime2, prime2, 0, 0 - prime1}, hash = prime5;
	size_t left = n;

	for (; left >= 16; left -= 16, p += 16)
		for (int i = 0; i < 4; i++)
			lane[i] = rotl(lane[i] + kw_little32(p + 4 * i) * prime2, 13) * prime1;
	if (n >= 16)
		hash = rotl(lane[0], 1) + rotl(lane[1], 7) + rotl(lane[2], 12) + rotl(lane[3], 18);
	hash += (uint32_t)n;
	for (; left >= 4; left -= 4, p += 4)
		hash = rotl(hash + kw_little32(p) * prime3, 17) * prime4;
	for (; left > 0; left--, p++)
		hash = rotl(hash + *p * prime5, 11) * prime1;
	hash = (hash ^ hash >> 15) * prime2;
	hash = (hash ^ hash >> 13) * prime3;
	return hash ^ hash >> 16;
}

/* Without content size, so that the header has its smallest size. */
static int deflate_fast(const uint8_t *p, size_t n, struct kw_buf *out, struct kt_err *err)
{
	LZ4F_preferences_t prefs = {.frameInfo = {.blockSizeID = LZ4F_max64KB, .blockMode = LZ4F_blockIndependent}};
	size_t bound = LZ4F_compressFrameBound(n, &prefs), size;
	uint8_t *room = kw_buf_room(out, bound);

	if (!room)
		return kw_buf_fail(out, err, "lz4: no room for %zu bytes", bound);
	size = LZ4F_compressFrame(room, bound, p, n, &prefs);
	if (LZ4F_isError(size))
		return kt_fail(err, KT_ENOMEM, "lz4: %s", LZ4F_getErrorName(size));
	out->n += size;
	return 0;
}

static void put_little32(struct kw_buf *out, uint32_t v)
{
	const uint8_t bytes[] = {(uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16), (uint8_t)(v >> 24)};

	kw_put(out, bytes, sizeof bytes);
}

/* A block that does not shrink is stored raw. */
static void put_block(const uint8_t *p, int n, int level, struct kw_buf *out)
{
	uint8_t packed[LZ4_COMPRESSBOUND(BLOCK)];
	int size = LZ4_compress_HC((const char *)p, (char *)packed, n, sizeof packed, level);
	bool raw = size <= 0 || size >= n;

	put_little32(out, raw ? (uint32_t)(n | RAW_BLOCK) : (uint32_t)size);
	kw_put(out, raw ? p : packed, (size_t)(raw ? n : size));
}

/* Any level but the default has the slow compressor do it, one and two included, for which liblz4's frame writer would
 * take the fast one. */
static int deflate_slow(const uint8_t *p, size_t n, int level, struct kw_buf *out, struct kt_err *err)
{
	uint8_t head[SMALLEST_HEADER] = {0x04, 0x22, 0x4d, 0x18, 1 << 6 | F_INDEPENDENT, 4 << 4};

	head[SMALLEST_HEADER - 1] = (uint8_t)(xxh32(head + 4, 2) >> 8);
	kw_put(out, head, sizeof head);
	for (; n > 0; p += n < BLOCK ? n : BLOCK, n -= n < BLOCK ? n : BLOCK)
		put_block(p, n < BLOCK ? (int)n : BLOCK, level, out);
	put_little32(out, 0);
	return out->failed ? kw_buf_fail(out, err, "lz4: no room") : 0;
}

int kw_lz4_deflate(const uint8_t *p, size_t n, int level, struct kw_buf *out, struct kt_err *err)
{
	return level ? deflate_slow(p, n, level, out, err) : deflate_fast(p, n, out, err);
}

void kw_lz4_set_historic(uint8_t *frame)
{
	frame[SMALLEST_HEADER - 1] = (uint8_t)(xxh32(frame, SMALLEST_HEADER - 1) >> 8);
}

struct frame {
	const uint8_t *p;
	size_t n;
	int flags;            /* F_ */
	int32_t block_max;    /* bytes, as stored and inflated */
	struct kw_sink *sink;
};

static int cut(struct frame *frame)
{
	return kt_fail(frame->sink->err, KT_ETRUNC, "lz4: Stream ended prematurely");
}

static int read_header(struct frame *frame)
{
	const uint8_t *p = frame->p;
	struct kt_err *err = frame->sink->err;
	size_t size = SMALLEST_HEADER;

	if (frame->n < SMALLEST_HEADER)
		return cut(frame);
	if (kw_little32(p) != MAGIC)
		return kt_fail(err, KT_ECORRUPT, "lz4: Stream unsupported (invalid magic bytes)");
	frame->flags = p[4];
	if (frame->flags >> 6 != 1)
		return kt_fail(err, KT_ECORRUPT, "lz4: Version %d is unsupported", frame->flags >> 6);
	if (frame->flags & F_RESERVED || p[5] & B_RESERVED)
		return kt_fail(err, KT_ECORRUPT, "lz4: Reserved bits must be 0");
	if (!(frame->flags & F_INDEPENDENT))
		return kt_fail(err, KT_ECORRUPT, "lz4: Dependent block stream is unsupported");
	if (p[5] >> 4 < 4)
		return kt_fail(err, KT_ECORRUPT, "lz4: Block size value must be between 4 and 7");
	frame->block_max = 1 << (2 * (p[5] >> 4) + 8);
	if (frame->flags & F_CONTENT_SIZE)
		size += 8;
	if (frame->n < size)
		return cut(frame);
	if (!frame->sink->lz4_any_checksum && p[size - 1] != (xxh32(p + 4, size - 5) >> 8 & 0xff))
		return kt_fail(err, KT_ECORRUPT, "lz4: Stream frame descriptor corrupted");
	frame->p += size;
	frame->n -= size;
	return 0;
}

/* The data of one block, `size` bytes at frame->p. */
static int inflate_block(struct frame *frame, int32_t size, bool raw)
{
	/* The densest code of lz4 is 255 bytes for one. */
	int64_t most = (int64_t)size * 255;
	int32_t want = raw ? size : most < frame->block_max ? (int32_t)most : frame->block_max;
	uint8_t *room = kw_sink_room(frame->sink, (size_t)want);
	int len = size;

	if (!room)
		return frame->sink->out->failed;
	if (raw)
		memcpy(room, frame->p, (size_t)size);
	else
		len = LZ4_decompress_safe((const char *)frame->p, (char *)room, size, want);
	if (len < 0)
		return kt_fail(frame->sink->err, KT_ECORRUPT, "lz4: Malformed input");
	if (frame->flags & F_BLOCK_CHECKSUM && xxh32(frame->p, (size_t)size) != kw_little32(frame->p + size))
		return kt_fail(frame->sink->err, KT_ECORRUPT, "lz4: Block checksum mismatch");
	return kw_sink_add(frame->sink, (size_t)len);
}

/* Reads the next block or end mark; *end says which. */
static int read_block(struct frame *frame, bool *end)
{
	size_t checksum = frame->flags & F_BLOCK_CHECKSUM ? 4 : 0;
	int32_t word, size;
	int code;

	if (frame->n < 4)
		return cut(frame);
	word = (int32_t)kw_little32(frame->p);
	size = word & INT32_MAX;
	frame->p += 4;
	frame->n -= 4;
	*end = size == 0;
	if (*end)
		return frame->flags & F_CONTENT_CHECKSUM && frame->n < 4 ? cut(frame) : 0;
	if (size > frame->block_max)
		return kt_fail(frame->sink->err, KT_ECORRUPT, "lz4: Block size %d exceeded max: %d", size,
			       frame->block_max);
	if (frame->n < (size_t)size + checksum)
		return cut(frame);
	code = inflate_block(frame, size, word & RAW_BLOCK);
	frame->p += (size_t)size + checksum;
	frame->n -= (size_t)size + checksum;
	return code;
}

int kw_lz4_inflate(const uint8_t *p, size_t n, struct kw_sink *sink)
{
	struct frame frame = {.p = p, .n = n, .sink = sink};
	bool end = false;
	int code = read_header(&frame);

	while (code == 0 && !end)
		code = read_block(&frame, &end);
	return code;
}
