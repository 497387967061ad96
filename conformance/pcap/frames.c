#include "conformance/pcap/frames.h"

enum { SIZE_FIELD = 4 };

void cf_frames_init(struct cf_frames *frames, const struct cf_frames_ops *ops, bool lost)
{
	*frames = (struct cf_frames){.ops = *ops, .lost = lost};
}

void cf_frames_fini(struct cf_frames *frames)
{
	kw_buf_fini(&frames->buf);
}

static void hand_over(struct cf_frames *frames, const struct kw_tcp_at *at)
{
	frames->frame.bytes = (struct kw_slice){frames->buf.p, frames->buf.n};
	frames->frame.end = *at;
	frames->ops.frame(frames->ops.arg, &frames->frame);
	kw_buf_clear(&frames->buf);
	frames->frame = (struct cf_frame){0};
	frames->have = 0;
}

static void begin(struct cf_frames *frames, const struct kw_tcp_at *at)
{
	frames->frame.at = frames->offset;
	frames->frame.begin = *at;
}

/* The size field is whole. */
static void read_size(struct cf_frames *frames, const struct kw_tcp_at *at)
{
	uint32_t size = kw_rd32(frames->buf.p);

	frames->frame.size = (uint64_t)size + SIZE_FIELD;
	if (size <= CF_FRAME_MAX)
		return;
	frames->frame.size = SIZE_FIELD;
	frames->frame.bad_size = true;
	frames->lost = true;
	hand_over(frames, at);
}

/* Bytes of the frame at hand; returns how many it took. */
static size_t take(struct cf_frames *frames, const uint8_t *p, size_t n, const struct kw_tcp_at *at)
{
	uint64_t want = frames->have < SIZE_FIELD ? SIZE_FIELD : frames->frame.size;
	size_t k = n < want - frames->have ? n : (size_t)(want - frames->have);

	if (frames->have == 0)
		begin(frames, at);
	if (frames->frame.missing == 0)
		kw_put(&frames->buf, p, k);
	frames->have += k;
	frames->offset += k;
	if (frames->have == SIZE_FIELD && want == SIZE_FIELD && !frames->buf.failed)
		read_size(frames, at);
	if (frames->have >= SIZE_FIELD && frames->have == frames->frame.size)
		hand_over(frames, at);
	return k;
}

static void skip(struct cf_frames *frames, uint64_t n)
{
	frames->offset += n;
	frames->skipped += n;
}

void cf_frames_data(struct cf_frames *frames, const uint8_t *p, size_t n, const struct kw_tcp_at *at)
{
	if (frames->lost && frames->ops.begins(frames->ops.arg, p, n))
		frames->lost = false;
	while (n > 0 && !frames->buf.failed) {
		size_t k = n;

		if (frames->lost)
			skip(frames, n);
		else
			k = take(frames, p, n, at);
		p += k;
		n -= k;
	}
}

void cf_frames_gap(struct cf_frames *frames, uint64_t n, const struct kw_tcp_at *at)
{
	uint64_t left = frames->have < SIZE_FIELD ? 0 : frames->frame.size - frames->have;

	if (frames->lost) {
		skip(frames, n);
		return;
	}
	frames->offset += n;
	if (n <= left) {
		frames->have += n;
		frames->frame.missing += n;
		if (n == left)
			hand_over(frames, at);
		return;
	}
	frames->lost = true;
	frames->frame.missing += left;
	if (frames->have > 0) {
		if (frames->have < SIZE_FIELD)
			frames->frame.size = frames->have;
		hand_over(frames, at);
	}
}

void cf_frames_end(struct cf_frames *frames, const struct kw_tcp_at *at)
{
	if (frames->have == 0)
		return;
	frames->frame.cut = true;
	if (frames->have < SIZE_FIELD)
		frames->frame.size = frames->have;
	hand_over(frames, at);
	frames->lost = true;
}
