/* What connections receive and send, as a pcap file: for Wireshark, `conformance inspect` and `conformance replay`.
 *
 * Bytes are written as the sockets took or gave them, so that broken frames and those that are cut by the end of their
 * connection are in it. The packets are made up around them: IP and TCP heads with the real addresses and ports,
 * consistent sequence numbers from 0 on, right checksums; a handshake, and an end by FIN, or RST where the client
 * reset. Acknowledgements stand in the next packet only.
 *
 * Every packet goes to the file by one write under a lock, and none is kept back: whatever ends the process, the file
 * ends with a whole packet. When a write fails, `failed` is told once, what was written of the packet is cut off, and
 * nothing more is written. Any thread.
 */
#ifndef KASSAY_FAKEBROKER_NET_CAPTURE_H
#define KASSAY_FAKEBROKER_NET_CAPTURE_H

#include "lib/text/err.h"
#include "lib/wire/packet.h"

struct fb_capture;

/* A connection in the file; of its loop. */
struct fb_captured {
	struct kw_endpoint client, broker;
	uint32_t received, sent;      /* sequence numbers that client and broker come to next */
	bool open;                    /* its beginning is in the file, its end is not */
	bool client_done;             /* the client's FIN is in the file */
};

/* Makes the file, or empties it. Of a pipe that nobody reads yet waits() is told, and then a reader awaited. failed()
 * comes at most once, when something cannot be written; its text says which file and why. KT_EFILE, KT_ENOMEM. */
int fb_capture_new(const char *file, void (*waits)(const char *file), void (*failed)(const char *text),
		   struct fb_capture **out, struct kt_err *err);
/* NULL is allowed. */
void fb_capture_free(struct fb_capture *capture);

/* A connection begins; fd says who its ends are. */
void fb_capture_opened(struct fb_capture *capture, struct fb_captured *captured, int fd);
/* The first n bytes of the runs were received, or sent. */
void fb_capture_bytes(struct fb_capture *capture, struct fb_captured *captured, bool received, const struct iovec *iov,
		      size_t n);
/* The client sends no more, or has reset the connection. */
void fb_capture_client_closed(struct fb_capture *capture, struct fb_captured *captured, bool reset);
/* The broker closes the connection. */
void fb_capture_closed(struct fb_capture *capture, struct fb_captured *captured);

#endif
