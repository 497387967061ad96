#include "fakebroker/log/down_convert.h"

#include "lib/wire/convert.h"

/* LazyDownConversionRecordsSend: so many bytes of batches are converted at a time, and so much is the least that it
 * sends when nothing is left of them. */
enum { CHUNK = 128 << 10, LEAST = KW_E_BODY, MOST_INFLATED = 64 << 20 };

struct down {
	struct kw_set set;         /* what is not converted yet */
	int magic;
	int64_t firstOffset;
	struct kw_buf out;
	struct kt_err *err;
};

/* Moves behind the next batches that have together at most `max` bytes; behind one in any case. Returns as
 * kw_set_next. */
static int take_batches(struct kw_set *set, size_t max, struct kt_err *err)
{
	size_t start = set->at;
	struct kw_entry entry;
	int code = kw_set_next(set, &entry, err);

	while (code > 0) {
		struct kw_set ahead = *set;
		int next = kw_set_next(&ahead, &entry, err);

		if (next == KT_ECORRUPT)
			return next;
		if (next <= 0 || ahead.at - start > max)
			break;
		*set = ahead;
	}
	return code;
}

/* Appends what the next batches come to, unless that is nothing. Returns 1, 0 at the end, or how kw_convert_down
 * fails. */
static int convert_chunk(struct down *down, size_t max)
{
	const struct kw_walk_opts opts = {.record_max = -1, .inflate_max = MOST_INFLATED};
	size_t before = down->out.n;

	while (down->out.n == before) {
		struct kt_err cut = {0};
		size_t at = down->set.at;
		int code = take_batches(&down->set, max, &cut);

		if (code == KT_ECORRUPT)
			return kt_fail(down->err, code, "%s", cut.text);
		if (code <= 0)
			return 0;
		code = kw_convert_down(down->set.p + at, down->set.at - at, down->magic, down->firstOffset, &opts,
				       &down->out, down->err);
		if (code)
			return code;
	}
	return 1;
}

/* The first batch that leaves something is converted at once, so that one is there whatever its size. What was dropped
 * before it is not forgotten, though: but for the first batch all are looked at again, and so that one is sent
 * twice. */
static int convert_first(struct down *down)
{
	struct kw_set second = down->set;
	int code = convert_chunk(down, 0);

	if (code > 0 && take_batches(&second, 0, NULL) > 0)
		down->set = second;
	return code;
}

/* The beginning of a batch that does not fit into what is left. */
static void put_overflow(struct kw_buf *out, size_t left)
{
	static const uint8_t zeros[CHUNK];
	size_t size = left + 1 < CHUNK ? left + 1 : CHUNK;

	if (size < LEAST)
		size = LEAST;
	kw_put_u64(out, UINT64_MAX);
	kw_put_u32(out, (uint32_t)(left + 1 > KW_B_RECORDS ? left + 1 : KW_B_RECORDS));
	kw_put(out, zeros, size - LEAST);
}

static int fill(struct down *down, size_t size)
{
	while (down->out.n < size && !down->out.failed) {
		int code = convert_chunk(down, CHUNK);

		if (code == 0 || (code == KT_EUNKNOWN && size - down->out.n <= CHUNK))
			put_overflow(&down->out, size - down->out.n);
		else if (code < 0)   /* zstd, too, when Kafka asks its broken iterator for another chunk */
			return code == KT_ENOMEM ? code : KT_ECLOSED;
	}
	down->out.n = down->out.n < size ? down->out.n : size;
	return down->out.failed;
}

static bool has_batch(const struct down *down)
{
	struct kw_set set = {.p = down->set.p, .n = down->set.n};
	struct kw_entry entry;

	return kw_set_next(&set, &entry, NULL) > 0;
}

static int convert(struct down *down)
{
	int code = convert_first(down);
	size_t size = down->set.n;

	if (code < 0)
		return code;
	if (code == 0)
		size = has_batch(down) ? LEAST : 0;
	else if (down->out.n > size)
		size = down->out.n;
	return fill(down, size);
}

/* In one piece. */
static int gather(const struct kw_records *records, struct kw_buf *flat)
{
	kw_buf_init(flat, 0);
	if (records->nv == 0 && records->n > 0)
		kw_put(flat, records->p, (size_t)records->n);
	for (int32_t i = 0; i < records->nv; i++)
		kw_put(flat, records->v[i].p, records->v[i].n);
	return flat->failed;
}

int fb_down_convert(const struct kw_records *records, int magic, int64_t firstOffset, struct fb_frame **out,
		    struct kt_err *err)
{
	struct down down = {.magic = magic, .firstOffset = firstOffset, .err = err};
	struct kw_buf flat;
	int code = gather(records, &flat);

	*out = NULL;
	kw_buf_init(&down.out, (size_t)records->n + MOST_INFLATED);
	if (!code) {
		down.set = (struct kw_set){.p = flat.p, .n = flat.n};
		code = convert(&down);
	}
	if (!code) {
		*out = fb_frame_new(down.out.n);
		code = *out ? 0 : KT_ENOMEM;
	}
	if (!code && down.out.n)
		memcpy((*out)->p, down.out.p, down.out.n);
	if (!code)
		(*out)->n = down.out.n;
	kw_buf_fini(&down.out);
	kw_buf_fini(&flat);
	return code;
}
