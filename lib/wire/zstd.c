/* zstd as zstd-jni's input stream reads it: frames one after another, with or without content size; skippable frames
 * are skipped. An empty input is an empty output. */
#include <zstd.h>
#include <zstd_errors.h>

#include "lib/wire/codec.h"

enum { EMPTY_BLOCK = 3 };

/* As zstd-jni's output stream, which is flushed before it is closed: the length is not known before the end, so there
 * is no content size and the window is not cut to it, and the last block is an empty one. */
int kw_zstd_deflate(const uint8_t *p, size_t n, int level, struct kw_buf *out, struct kt_err *err)
{
	size_t bound = ZSTD_compressBound(n) + EMPTY_BLOCK, left = 0;
	uint8_t *room = kw_buf_room(out, bound);
	ZSTD_outBuffer to = {room, bound, 0};
	ZSTD_inBuffer from = {p, n, 0}, nothing = {0};
	ZSTD_CCtx *ctx;

	if (!room)
		return kw_buf_fail(out, err, "zstd: no room for %zu bytes", bound);
	ctx = ZSTD_createCCtx();
	if (!ctx)
		return kt_fail(err, KT_ENOMEM, "zstd: out of memory");
	if (level)
		ZSTD_CCtx_setParameter(ctx, ZSTD_c_compressionLevel, level);
	while (from.pos < from.size && !ZSTD_isError(left))
		left = ZSTD_compressStream2(ctx, &to, &from, ZSTD_e_continue);
	if (!ZSTD_isError(left))
		left = ZSTD_compressStream2(ctx, &to, &nothing, ZSTD_e_flush);
	if (left == 0)
		left = ZSTD_compressStream2(ctx, &to, &nothing, ZSTD_e_end);
	ZSTD_freeCCtx(ctx);
	if (left)
		return kt_fail(err, KT_ENOMEM, "zstd: %s", ZSTD_isError(left) ? ZSTD_getErrorName(left) : "no room");
	out->n += to.pos;
	return 0;
}

struct stream {
	ZSTD_DCtx *ctx;
	ZSTD_inBuffer in;   /* what was handed to zstd so far */
	size_t n;           /* bytes of the whole input */
	bool whole;         /* a frame ended, and no more input was handed out since */
};

/* One step of output, or less at the end of a frame or of the input. */
static int inflate_step(struct stream *stream, struct kw_sink *sink)
{
	ZSTD_outBuffer step = {kw_sink_room(sink, KW_SINK_STEP), KW_SINK_STEP, 0};
	size_t hint = 1;

	if (!step.dst)
		return sink->out->failed;
	while (hint != 0 && step.pos < step.size) {
		size_t before = step.pos, left = stream->n - stream->in.size, piece = ZSTD_DStreamInSize();

		if (stream->in.pos == stream->in.size && left > 0) {
			stream->in.size += left < piece ? left : piece;
			stream->whole = false;
		}
		hint = ZSTD_decompressStream(stream->ctx, &step, &stream->in);
		if (ZSTD_isError(hint))
			return kt_fail(sink->err,
				       ZSTD_getErrorCode(hint) == ZSTD_error_memory_allocation ? KT_ENOMEM
											       : KT_ECORRUPT,
				       "zstd: %s", ZSTD_getErrorName(hint));
		if (hint == 0)
			stream->whole = true;
		else if (step.pos == before && stream->in.pos == stream->n)
			break;
	}
	return kw_sink_add(sink, step.pos);
}

int kw_zstd_inflate(const uint8_t *p, size_t n, struct kw_sink *sink)
{
	struct stream stream = {.ctx = ZSTD_createDCtx(), .in = {.src = p}, .n = n, .whole = true};
	bool more = n > 0;
	int code = 0;

	if (!stream.ctx)
		return kt_fail(sink->err, KT_ENOMEM, "zstd: out of memory");
	while (code == 0 && more) {
		size_t before = kw_sink_len(sink);

		code = inflate_step(&stream, sink);
		more = stream.in.pos < n || kw_sink_len(sink) - before == KW_SINK_STEP;
	}
	/* Kafka takes a cut frame for the end of the stream if its input came in one piece with the end of another. */
	if (code == 0 && !stream.whole)
		code = kt_fail(sink->err, KT_ETRUNC, "zstd: Truncated source");
	ZSTD_freeDCtx(stream.ctx);
	return code;
}
