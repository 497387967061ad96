/* gzip (RFC 1952) as java.util.zip.GZIPInputStream reads it: members one after another; what follows a member and is
 * not the header of another is ignored. zlib's own gzip mode is not used because it reports a wrong trailer together
 * with the last data, and Kafka hands those out before it looks at the trailer. */
#include <zlib.h>

#include "lib/wire/codec.h"

enum { RAW = -MAX_WBITS, GZIP = MAX_WBITS + 16, HEADER = 10, TRAILER = 8, XFL = 8, SMALLEST_MEMBER_LOOKED_FOR = 19 };
enum { UNKNOWN_OS = 255 };   /* as java.util.zip.GZIPOutputStream says since Java 16 */
enum { FHCRC = 2, FEXTRA = 4, FNAME = 8, FCOMMENT = 16 };

int kw_gzip_deflate(const uint8_t *p, size_t n, int level, struct kw_buf *out, struct kt_err *err)
{
	gz_header header = {.os = UNKNOWN_OS};
	z_stream z = {0};
	uint8_t *room;
	size_t bound;
	int code = 0;

	if (deflateInit2(&z, level ? level : Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return kt_fail(err, KT_ENOMEM, "gzip: out of memory");
	deflateSetHeader(&z, &header);
	bound = deflateBound(&z, n);
	room = kw_buf_room(out, bound);   /* of at most INT32_MAX bytes: below UINT_MAX */
	if (room) {
		z.next_in = (Bytef *)(uintptr_t)p;
		z.avail_in = (uInt)n;
		z.next_out = room;
		z.avail_out = (uInt)bound;
		deflate(&z, Z_FINISH);
		room[XFL] = 0;   /* Java tells of no level */
		out->n += z.total_out;
	} else {
		code = kw_buf_fail(out, err, "gzip: no room for %zu bytes", bound);
	}
	deflateEnd(&z);
	return code;
}

/* Bytes up to and including the NUL that ends a header text, or 0. */
static size_t text_size(const uint8_t *p, size_t n)
{
	const uint8_t *nul = n ? memchr(p, 0, n) : NULL;

	return nul ? (size_t)(nul - p) + 1 : 0;
}

/* Size of the member header at p, or 0 with what is wrong. */
static size_t header_size(const uint8_t *p, size_t n, const char **wrong)
{
	size_t at = HEADER;

	*wrong = "header cut";
	if (n < HEADER)
		return 0;
	*wrong = "Not in GZIP format";
	if (p[0] != 0x1f || p[1] != 0x8b)
		return 0;
	*wrong = "Unsupported compression method";
	if (p[2] != Z_DEFLATED)
		return 0;
	*wrong = "header cut";
	if (p[3] & FEXTRA) {
		if (n - at < 2)
			return 0;
		at += 2 + (size_t)(p[at] | p[at + 1] << 8);
	}
	for (int flag = FNAME; flag <= FCOMMENT; flag *= 2) {
		if (!(p[3] & flag))
			continue;
		size_t size = at < n ? text_size(p + at, n - at) : 0;
		if (size == 0)
			return 0;
		at += size;
	}
	if (at > n || ((p[3] & FHCRC) && n - at < 2))
		return 0;
	if (p[3] & FHCRC) {
		*wrong = "Corrupt GZIP header";
		if ((crc32(0, p, (uInt)at) & 0xffff) != (uLong)(p[at] | p[at + 1] << 8))
			return 0;
		at += 2;
	}
	return at;
}

/* Inflates one member's data, which start at z->next_in; *crc gets their CRC-32. */
static int inflate_member(z_stream *z, uLong *crc, struct kw_sink *sink)
{
	*crc = crc32(0, NULL, 0);
	for (;;) {
		uint8_t *room = kw_sink_room(sink, KW_SINK_STEP);
		size_t n;
		int end, code;

		if (!room)
			return sink->out->failed;
		z->next_out = room;
		z->avail_out = KW_SINK_STEP;
		end = inflate(z, Z_NO_FLUSH);
		n = KW_SINK_STEP - z->avail_out;
		if (end != Z_OK && end != Z_STREAM_END && end != Z_BUF_ERROR)
			return kt_fail(sink->err, end == Z_MEM_ERROR ? KT_ENOMEM : KT_ECORRUPT, "gzip: %s",
				       z->msg ? z->msg : zError(end));
		*crc = crc32(*crc, room, (uInt)n);
		code = kw_sink_add(sink, n);
		if (code)
			return code;
		if (end == Z_STREAM_END)
			return 0;
		if (z->avail_in == 0 && n < KW_SINK_STEP)
			return kt_fail(sink->err, KT_ETRUNC, "gzip: Unexpected end of ZLIB input stream");
	}
}

static int inflate_members(z_stream *z, const uint8_t *p, size_t n, struct kw_sink *sink)
{
	const char *wrong;
	size_t size = header_size(p, n, &wrong);

	if (size == 0)
		return kt_fail(sink->err, n < HEADER ? KT_ETRUNC : KT_ECORRUPT, "gzip: %s", wrong);
	while (size > 0) {
		uLong crc;
		int code;

		z->next_in = (Bytef *)(uintptr_t)(p + size);
		z->avail_in = (uInt)(n - size);
		code = inflate_member(z, &crc, sink);
		if (code)
			return code;
		p = z->next_in;
		n = z->avail_in;
		if (n < TRAILER)
			return kt_fail(sink->err, KT_ETRUNC, "gzip: trailer cut");
		if (kw_little32(p) != crc || kw_little32(p + 4) != (uint32_t)z->total_out)
			return kt_fail(sink->err, KT_ECORRUPT, "gzip: Corrupt GZIP trailer");
		p += TRAILER;
		n -= TRAILER;
		size = n >= SMALLEST_MEMBER_LOOKED_FOR ? header_size(p, n, &wrong) : 0;
		inflateReset(z);
	}
	return 0;
}

int kw_gzip_inflate(const uint8_t *p, size_t n, struct kw_sink *sink)
{
	z_stream z = {0};
	int code;

	if (inflateInit2(&z, RAW) != Z_OK)
		return kt_fail(sink->err, KT_ENOMEM, "gzip: out of memory");
	code = inflate_members(&z, p, n, sink);
	inflateEnd(&z);
	return code;
}
