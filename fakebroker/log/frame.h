/* A received frame: one counted buffer that whoever still needs its bytes keeps alive.
 *
 * The connection fills it; after that it is never written to. The log keeps a reference for each batch that lies in it,
 * and so does a response that sends such a batch.
 */
#ifndef KASSAY_FAKEBROKER_LOG_FRAME_H
#define KASSAY_FAKEBROKER_LOG_FRAME_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct fb_frame {
	atomic_uint refs;
	size_t n;                  /* bytes filled */
	size_t cap;                /* bytes there is room for */
	uint8_t *p;                /* cap bytes */
};

/* One reference, room for cap bytes. NULL when memory is exhausted. */
struct fb_frame *fb_frame_new(size_t cap);
/* Room for at least cap bytes; only while the caller is the only owner. 0 or KT_ENOMEM (the frame stays as it was). */
int fb_frame_grow(struct fb_frame *frame, size_t cap);
struct fb_frame *fb_frame_ref(struct fb_frame *frame);
/* NULL is allowed. */
void fb_frame_unref(struct fb_frame *frame);

#endif
