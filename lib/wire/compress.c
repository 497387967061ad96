#include "lib/wire/codec.h"

uint8_t *kw_sink_room(struct kw_sink *sink, size_t want)
{
	uint8_t *room = kw_buf_room(sink->out, want);

	if (!room)
		kw_buf_fail(sink->out, sink->err, "no room for %zu inflated bytes more", want);
	return room;
}

int kw_sink_add(struct kw_sink *sink, size_t n)
{
	size_t left = sink->max - kw_sink_len(sink);

	if (n > left) {
		sink->out->n += left;
		return kw_sink_full(sink);
	}
	sink->out->n += n;
	return 0;
}

int kw_sink_full(struct kw_sink *sink)
{
	if (sink->ratio)
		return kt_fail(sink->err, KT_ELIMIT, "more than %zu inflated bytes: %zu for each compressed one",
			       sink->max, sink->ratio);
	return kt_fail(sink->err, KT_ELIMIT, "more than %zu inflated bytes", sink->max);
}

static int none_deflate(const uint8_t *p, size_t n, int level, struct kw_buf *out, struct kt_err *err)
{
	(void)level;
	kw_put(out, p, n);
	return out->failed ? kw_buf_fail(out, err, "no room for %zu bytes more", n) : 0;
}

static int none_inflate(const uint8_t *p, size_t n, struct kw_sink *sink)
{
	size_t left = sink->max - kw_sink_len(sink);
	int code = none_deflate(p, n < left ? n : left, 0, sink->out, sink->err);

	return code || n <= left ? code : kw_sink_full(sink);
}

static const struct {
	const char *name;
	int (*deflate)(const uint8_t *p, size_t n, int level, struct kw_buf *out, struct kt_err *err);
	int (*inflate)(const uint8_t *p, size_t n, struct kw_sink *sink);
} codecs[] = {
	[KW_NONE] = {"none", none_deflate, none_inflate},
	[KW_GZIP] = {"gzip", kw_gzip_deflate, kw_gzip_inflate},
	[KW_SNAPPY] = {"snappy", kw_snappy_deflate, kw_snappy_inflate},
	[KW_LZ4] = {"lz4", kw_lz4_deflate, kw_lz4_inflate},
	[KW_ZSTD] = {"zstd", kw_zstd_deflate, kw_zstd_inflate},
};

enum { NCODECS = sizeof codecs / sizeof codecs[0] };

const char *kw_codec_name(int codec)
{
	return codec >= 0 && codec < NCODECS ? codecs[codec].name : NULL;
}

int kw_codec_find(const char *name)
{
	for (int codec = 0; codec < NCODECS; codec++)
		if (strcmp(codecs[codec].name, name) == 0)
			return codec;
	return -1;
}

/* What both directions refuse. A batch's length field bounds all input. */
static int check(int codec, size_t n, struct kt_err *err)
{
	if (!kw_codec_name(codec))
		return kt_fail(err, KT_EUNKNOWN, "Unknown compression type id: %d", codec);
	if (n > INT32_MAX)
		return kt_fail(err, KT_ELIMIT, "%zu bytes are more than a batch can hold", n);
	return 0;
}

int kw_compress_as(int codec, const struct kw_deflate_opts *opts, const uint8_t *p, size_t n, struct kw_buf *out,
		   struct kt_err *err)
{
	size_t start = out->n;
	int code = check(codec, n, err);

	if (code)
		return code;
	if (codec == KW_SNAPPY && opts && opts->snappy_raw)
		return kw_snappy_deflate_raw(p, n, out, err);
	code = codecs[codec].deflate(p, n, opts ? opts->level : 0, out, err);
	if (code == 0 && codec == KW_LZ4 && opts && opts->lz4_historic)
		kw_lz4_set_historic(out->p + start);
	return code;
}

int kw_compress(int codec, const uint8_t *p, size_t n, struct kw_buf *out, struct kt_err *err)
{
	return kw_compress_as(codec, NULL, p, n, out, err);
}

/* The smaller of both limits. The input's size is known, so the ratio makes another absolute one. */
static void set_limit(struct kw_sink *sink, const struct kw_inflate_opts *opts, size_t n)
{
	size_t ratio = opts->ratio ? opts->ratio : KW_INFLATE_RATIO;
	size_t from = opts->ratio_from ? opts->ratio_from : KW_INFLATE_RATIO_FROM;
	size_t most = n > SIZE_MAX / ratio ? SIZE_MAX : n * ratio;

	sink->max = opts->max;
	if (most < from)
		most = from;
	if (most < sink->max) {
		sink->max = most;
		sink->ratio = ratio;
	}
}

static int decompress(int codec, const struct kw_inflate_opts *opts, const uint8_t *p, size_t n, struct kw_buf *out,
		      struct kt_err *err)
{
	struct kw_sink sink = {.out = out, .start = out->n, .lz4_any_checksum = opts->lz4_any_checksum, .err = err};
	int code = check(codec, n, err);

	if (code)
		return code;
	set_limit(&sink, opts, n);
	return codecs[codec].inflate(p, n, &sink);
}

int kw_decompress_as(int codec, const struct kw_inflate_opts *opts, const uint8_t *p, size_t n, struct kw_buf *out,
		     struct kt_err *err)
{
	struct kw_inflate_opts own = opts ? *opts : (struct kw_inflate_opts){0};

	if (own.max == 0)
		own.max = KW_INFLATE_MAX;
	return decompress(codec, &own, p, n, out, err);
}

int kw_decompress(int codec, const uint8_t *p, size_t n, size_t max, struct kw_buf *out, struct kt_err *err)
{
	return decompress(codec, &(struct kw_inflate_opts){.max = max}, p, n, out, err);
}
