#include "fakebroker/log/frame.h"

#include <stdlib.h>

#include "lib/text/err.h"

struct fb_frame *fb_frame_new(size_t cap)
{
	struct fb_frame *frame = malloc(sizeof *frame);

	if (!frame)
		return NULL;
	*frame = (struct fb_frame){.cap = cap};
	frame->p = malloc(cap ? cap : 1);
	if (!frame->p) {
		free(frame);
		return NULL;
	}
	atomic_init(&frame->refs, 1);
	return frame;
}

int fb_frame_grow(struct fb_frame *frame, size_t cap)
{
	uint8_t *p;

	if (cap <= frame->cap)
		return 0;
	p = realloc(frame->p, cap);
	if (!p)
		return KT_ENOMEM;
	frame->p = p;
	frame->cap = cap;
	return 0;
}

struct fb_frame *fb_frame_ref(struct fb_frame *frame)
{
	atomic_fetch_add_explicit(&frame->refs, 1, memory_order_relaxed);
	return frame;
}

void fb_frame_unref(struct fb_frame *frame)
{
	if (frame && atomic_fetch_sub_explicit(&frame->refs, 1, memory_order_acq_rel) == 1) {
		free(frame->p);
		free(frame);
	}
}
