/* Sockets of the broker: event loops, listeners, connections.
 *
 * A connection belongs to one loop for its life. Its requests are handled one at a time and answered in order, as
 * Kafka does by muting the channel: while one waits (a fetch, a delay) the next stays unread, and so does the end of
 * what the client sends: one that has said that it sends no more gets all its answers. What a frame means is not known
 * here: the server hands whole frames to its handler.
 *
 * Memory follows what arrives, never what is announced: a frame's buffer starts small and doubles as bytes come.
 */
#ifndef KASSAY_FAKEBROKER_NET_SERVER_H
#define KASSAY_FAKEBROKER_NET_SERVER_H

#include "fakebroker/log/frame.h"
#include "fakebroker/net/capture.h"
#include "lib/text/err.h"
#include "lib/wire/buf.h"

struct fb_server;
struct fb_conn;

/* What the handler says about a frame. */
enum fb_outcome {
	FB_REPLY,        /* the answer was given by fb_conn_send() */
	FB_SILENT,       /* no answer (acks=0) */
	FB_CLOSE,        /* close the connection, without an answer */
	FB_WAIT,         /* try again by `again` at the latest after fb_conn_wait()'s time, or when poked */
};

struct fb_server_ops {
	/* A whole frame, without its size field; frame->n bytes. The handler owns the reference. *state starts as NULL
	 * and is the handler's; with FB_WAIT it is passed to again() later. */
	enum fb_outcome (*handle)(void *arg, struct fb_conn *conn, struct fb_frame *frame, void **state);
	/* A waiting request once more; expired: its time is over, FB_WAIT is not allowed unless a new time is set. */
	enum fb_outcome (*again)(void *arg, struct fb_conn *conn, void *state, bool expired);
	/* The connection ends while a request waits. ending: because the server does. */
	void (*drop)(void *arg, void *state, bool ending);
	/* A connection begins and ends: where what is kept for it (fb_conn_set_session) is made and freed. ended()
	 * comes after drop(). A connection of which began() returns false is closed at once; ended() comes then, too.
	 * Either may be NULL. */
	bool (*began)(void *arg, struct fb_conn *conn);
	void (*ended)(void *arg, struct fb_conn *conn);
	/* Called every tick_ms on the first loop, for what happens without a request; or NULL. */
	void (*tick)(void *arg);
	/* Something that nobody waits to be told of, in a sentence; or NULL. */
	void (*warn)(void *arg, const char *text);
	void *arg;
};

struct fb_server_opts {
	int threads;               /* loops, 1..64 */
	int32_t max_frame;         /* socket.request.max.bytes: larger ones close the connection, as in Kafka */
	struct fb_capture *capture; /* gets all bytes; NULL = none. It outlives the server */
	int tick_ms;               /* more than 0 if there is a tick() */
	int max_connections;       /* further ones are closed at once; 0 = 10000; never more than there are
				      descriptors */
};

int fb_server_new(const struct fb_server_opts *opts, const struct fb_server_ops *ops, struct fb_server **out,
		  struct kt_err *err);
/* Opens a listener on host and port (0 = any); *bound gets the port. tag is kept for the connections: fb_conn_tag().
 * KT_ENET names address and reason. Only before fb_server_start. */
int fb_server_listen(struct fb_server *server, const char *host, int port, void *tag, int *bound, struct kt_err *err);
int fb_server_start(struct fb_server *server, struct kt_err *err);
/* While it serves: closes the listener of this tag and all connections that came through it. Its port stays taken, so
 * that fb_server_reopen() gets it again; if the system does not let that be, warn() is told. Waits at most ms
 * for the loops to do it: KT_ETIMEOUT when one is held up by a request, and does it as soon as that is over. Not from a
 * loop. */
int fb_server_close(struct fb_server *server, const void *tag, int64_t ms, struct kt_err *err);
/* The same without waiting, so that a loop may ask for it. */
void fb_server_close_soon(struct fb_server *server, const void *tag);
/* Listens again where it did before. KT_ETIMEOUT while a fb_server_close() is not through, KT_ENET. Not from a loop. */
int fb_server_reopen(struct fb_server *server, const void *tag, struct kt_err *err);
/* Stops accepting, closes all connections, joins the threads. */
void fb_server_stop(struct fb_server *server);
void fb_server_free(struct fb_server *server);
/* Something changed that a waiting request may wait for. From any thread; cheap when nothing waits. */
void fb_server_poke(struct fb_server *server);
/* Connections open now. */
int fb_server_connections(const struct fb_server *server);

/* ---- for the handler, on the connection's loop ---- */

void *fb_conn_tag(const struct fb_conn *conn);
/* What the handler keeps for the connection; NULL until it is set. */
void *fb_conn_session(const struct fb_conn *conn);
void fb_conn_set_session(struct fb_conn *conn, void *session);
/* From the next frame on, larger ones close the connection. Never more than fb_server_opts.max_frame. */
void fb_conn_set_max_frame(struct fb_conn *conn, int32_t max_frame);
/* From now on, the connection is closed when nothing was read from it or written to it for ms, also while a request
 * waits (fb_conn_wait), but not while one sleeps (fb_conn_sleep) whose client is still there. Negative: never, as it is
 * at first. */
void fb_conn_set_max_idle(struct fb_conn *conn, int64_t ms);
/* Counts from 1; unique in the process. */
uint64_t fb_conn_id(const struct fb_conn *conn);
/* The client's address without port, and its port. */
const char *fb_conn_address(const struct fb_conn *conn);
int fb_conn_port(const struct fb_conn *conn);
/* When the last byte of the frame at hand was read, or, of a frame that lay behind a request that waited, when that was
 * over; by fb_now_ns(). One reading for all frames of a read. */
int64_t fb_conn_received_ns(const struct fb_conn *conn);
/* When the loop turned to the frame at hand: the reading of before if nothing else happened since, else a new one. To
 * be called once a frame, when its handling starts. */
int64_t fb_conn_turned_ns(struct fb_conn *conn);
/* The handler is done but for sending the answer, at `now`; 0 if it does not know: the next frame's turn begins. */
void fb_conn_turn(struct fb_conn *conn, int64_t now);
/* Takes the content of buf (a whole frame, size field included) and one reference of each frame that its runs lie
 * in. */
void fb_conn_send_take(struct fb_conn *conn, struct kw_buf *buf, struct fb_frame **frames, size_t nframes);
/* Memory for the time of a call of handle() or again(), shared by all connections of the loop: what it grew to is kept,
 * if that is not more than FB_SCRATCH_KEPT bytes. */
enum { FB_SCRATCH_KEPT = 2 << 20 };
struct kw_buf *fb_conn_scratch(struct fb_conn *conn);
/* How long the request at hand may wait: ms from now. */
void fb_conn_wait(struct fb_conn *conn, int64_t ms);
/* The wait is a plain delay: pokes do not wake it. */
void fb_conn_sleep(struct fb_conn *conn, int64_t ms);

/* Monotonic nanoseconds. */
int64_t fb_now_ns(void);

#endif
