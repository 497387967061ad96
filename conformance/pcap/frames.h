/* What one side of a connection sent, cut into frames by their size fields. */
#ifndef KASSAY_CONFORMANCE_PCAP_FRAMES_H
#define KASSAY_CONFORMANCE_PCAP_FRAMES_H

#include "lib/wire/buf.h"
#include "lib/wire/tcp.h"

enum { CF_FRAME_MAX = 128 << 20 };   /* a size field above it, or below 0, is wrong */

struct cf_frame {
	struct kw_slice bytes;   /* from the size field on, up to the first that the capture does not have */
	uint64_t at;             /* where it begins in what its side sent */
	uint64_t size;           /* of the whole, as the size field says; if that is wrong or cut, what there is */
	uint64_t missing;        /* bytes of it that the capture does not have */
	bool cut;                /* the side ended inside of it */
	bool bad_size;           /* where it ends cannot be known */
	struct kw_tcp_at begin, end;
};

struct cf_frames_ops {
	/* A frame; its bytes are in frames->buf, which the callee may take. */
	void (*frame)(void *arg, const struct cf_frame *frame);
	/* Asked where it is not known how the bytes go on, at the beginning of a packet: does a frame begin here? */
	bool (*begins)(void *arg, const uint8_t *p, size_t n);
	void *arg;
};

struct cf_frames {
	struct cf_frames_ops ops;
	struct kw_buf buf;       /* of the frame that is being read, up to a gap in it */
	struct cf_frame frame;   /* all but its bytes */
	uint64_t offset;         /* bytes of the side so far */
	uint64_t have;           /* bytes of the frame so far, missing ones included */
	uint64_t skipped;        /* bytes in which no frame was found */
	bool lost;               /* where the next frame begins is not known */
};

void cf_frames_fini(struct cf_frames *frames);
/* lost: the side's beginning is not there. Out of memory shows as frames->buf.failed. */
void cf_frames_init(struct cf_frames *frames, const struct cf_frames_ops *ops, bool lost);
/* n bytes of one packet. */
void cf_frames_data(struct cf_frames *frames, const uint8_t *p, size_t n, const struct kw_tcp_at *at);
/* n bytes that are missing. */
void cf_frames_gap(struct cf_frames *frames, uint64_t n, const struct kw_tcp_at *at);
/* No more comes. A frame that is not whole is handed over as it is. */
void cf_frames_end(struct cf_frames *frames, const struct kw_tcp_at *at);

#endif
