/* One connection: frames in, answers out. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fakebroker/mutants.h"
#include "fakebroker/net/loop.h"

enum {
	FIRST_CAP = 256 * 1024,     /* address space at first; pages are taken as bytes come */
	QUEUE_MAX = 4 * 1024 * 1024, /* unsent bytes beyond which no further request is taken */
	LARGE_SPILL = 4096,         /* of a large frame, what is read before there is a place for it */
	READS = 16,                 /* reads in a row before other connections get a turn */
	IOVS = 512,
};

static void feed(struct fb_conn *conn, const uint8_t *p, size_t n);

/* ---- end ---- */

void fb_out_free(struct fb_out *out)
{
	for (size_t i = 0; i < out->nframes; i++)
		fb_frame_unref(out->frames[i]);
	kw_buf_fini(&out->buf);
	free(out);
}

static void set_waiting(struct fb_conn *conn, bool waiting)
{
	if (conn->waiting != waiting)
		atomic_fetch_add(&conn->loop->waiting, waiting ? 1 : -1);
	conn->waiting = waiting;
}

static void release(struct fb_conn *conn)
{
	struct fb_server *server = conn->loop->server;

	if (server->ops.ended)
		server->ops.ended(server->ops.arg, conn);
	if (conn->readable)
		event_free(conn->readable);
	if (conn->writable)
		event_free(conn->writable);
	if (conn->timer)
		event_free(conn->timer);
	while (conn->out) {
		struct fb_out *out = conn->out;

		conn->out = out->next;
		fb_out_free(out);
	}
	fb_frame_unref(conn->frame);
	free(conn->backlog);
	close(conn->fd);
	atomic_fetch_sub(&server->connections, 1);
	free(conn);
}

void fb_conn_close(struct fb_conn *conn)
{
	struct fb_server *server = conn->loop->server;

	if (!conn->dead) {
		if (server->opts.capture)
			fb_capture_closed(server->opts.capture, &conn->captured);
		conn->dead = true;
		fb_idle_leave(conn);
		set_waiting(conn, false);
		if (conn->busy && conn->state)
			server->ops.drop(server->ops.arg, conn->state, atomic_load(&server->stopping));
		conn->state = NULL;
		if (conn->prev) {
			*conn->prev = conn->next;
			if (conn->next)
				conn->next->prev = conn->prev;
			conn->prev = NULL;
		}
	}
	if (conn->depth == 0)
		release(conn);
}

/* The socket says that the client has gone without a word. */
static void broken(struct fb_conn *conn)
{
	struct fb_capture *capture = conn->loop->server->opts.capture;

	if (capture)
		fb_capture_client_closed(capture, &conn->captured, true);
	fb_conn_close(conn);
}

/* Pairs of these surround whatever may close the connection while its caller still uses it. */
static void enter(struct fb_conn *conn)
{
	conn->depth++;
}

static void leave(struct fb_conn *conn)
{
	if (--conn->depth == 0 && conn->dead)
		release(conn);
}

/* ---- out ---- */

static size_t gather(const struct fb_conn *conn, struct iovec *iov)
{
	size_t n = 0;

	for (const struct fb_out *out = conn->out; out && n < IOVS; out = out->next)
		for (size_t i = out->at; i < out->niov && n < IOVS; i++)
			iov[n++] = out->iov[i];
	return n;
}

static void written(struct fb_conn *conn, size_t n)
{
	conn->queued -= n;
	while (conn->out) {
		struct fb_out *out = conn->out;

		for (; out->at < out->niov && n >= out->iov[out->at].iov_len; out->at++)
			n -= out->iov[out->at].iov_len;
		if (out->at < out->niov) {
			out->iov[out->at].iov_base = (char *)out->iov[out->at].iov_base + n;
			out->iov[out->at].iov_len -= n;
			return;
		}
		conn->out = out->next;
		if (!conn->out)
			conn->out_tail = &conn->out;
		fb_out_free(out);
	}
}

/* Behind the exact time by some ms, for a tenth of what that costs. */
static int64_t roughly_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Writes what the socket takes; asks to be called again for the rest. */
static void flush(struct fb_conn *conn)
{
	struct fb_capture *capture = conn->loop->server->opts.capture;
	struct iovec iov[IOVS];

	while (conn->out && !conn->dead) {
		ssize_t n = writev(conn->fd, iov, (int)gather(conn, iov));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
			event_add(conn->writable, NULL);
			return;
		}
		if (n < 0) {
			broken(conn);
			return;
		}
		if (capture)
			fb_capture_bytes(capture, &conn->captured, false, iov, (size_t)n);
		written(conn, (size_t)n);
		fb_idle_touch(conn, roughly_now_ns());
	}
	if (conn->closing && !conn->dead)
		fb_conn_close(conn);
}

static struct fb_out *out_new_take(struct kw_buf *buf, struct fb_frame **frames, size_t nframes)
{
	size_t niov = kw_buf_iov(buf, NULL, 0);
	struct fb_out *out = malloc(sizeof *out + niov * sizeof *out->iov + nframes * sizeof *frames);

	if (!out)
		return NULL;
	*out = (struct fb_out){.buf = *buf, .frames = (struct fb_frame **)(out->iov + niov), .nframes = nframes,
			       .niov = niov};
	kw_buf_iov(&out->buf, out->iov, niov);
	if (nframes)
		memcpy(out->frames, frames, nframes * sizeof *frames);
	kw_buf_init(buf, buf->max);
	return out;
}

void fb_conn_send_take(struct fb_conn *conn, struct kw_buf *buf, struct fb_frame **frames, size_t nframes)
{
	struct fb_out *out = out_new_take(buf, frames, nframes);

	if (!out) {
		for (size_t i = 0; i < nframes; i++)
			fb_frame_unref(frames[i]);
		kw_buf_fini(buf);
		conn->closing = true;
		return;
	}
	conn->queued += kw_buf_len(&out->buf);
	*conn->out_tail = out;
	conn->out_tail = &out->next;
}

/* ---- requests ---- */

static bool paused(const struct fb_conn *conn)
{
	return conn->dead || conn->closing || conn->busy || conn->queued > QUEUE_MAX;
}

static void apply(struct fb_conn *conn, enum fb_outcome outcome)
{
	if (conn->dead)
		return;
	conn->busy = outcome == FB_WAIT;
	if (!conn->busy) {
		conn->state = NULL;
		conn->sleeping = false;
		set_waiting(conn, false);
		event_del(conn->timer);
	}
	if (outcome == FB_CLOSE)
		conn->closing = true;
}

static void deliver(struct fb_conn *conn)
{
	struct fb_server *server = conn->loop->server;
	struct fb_frame *frame = conn->frame;

	conn->frame = NULL;
	conn->nsize = 0;
	apply(conn, server->ops.handle(server->ops.arg, conn, frame, &conn->state));
}

/* Goes on with what was read before the connection paused. */
static void feed_backlog(struct fb_conn *conn)
{
	uint8_t *backlog = conn->backlog;
	size_t n = conn->nbacklog;

	conn->backlog = NULL;
	conn->nbacklog = 0;
	conn->received_ns = conn->turned_ns = fb_now_ns();
	feed(conn, backlog, n);
	free(backlog);
}

/* Writes what there is to write, and takes on requests, until one of the two has to wait. */
static void pump(struct fb_conn *conn)
{
	flush(conn);
	while (!paused(conn) && conn->backlog) {
		feed_backlog(conn);
		flush(conn);
	}
	if (conn->loop->scratch.cap > FB_SCRATCH_KEPT)
		kw_buf_fini(&conn->loop->scratch);
	if (conn->dead)
		return;
	if (paused(conn))
		event_del(conn->readable);
	else
		event_add(conn->readable, NULL);
}

bool fb_conn_may_send(const struct fb_conn *conn)
{
	struct pollfd poller = {.fd = conn->fd, .events = POLLRDHUP};

	return poll(&poller, 1, 0) == 0;
}

void fb_conn_retry(struct fb_conn *conn, bool expired)
{
	struct fb_server *server = conn->loop->server;

	if (!conn->busy || (conn->sleeping && !expired))
		return;
	if (fb_mutant(FB_M_HALF_CLOSED_DROPPED) && !fb_conn_may_send(conn)) {
		fb_conn_close(conn);
		return;
	}
	enter(conn);
	apply(conn, server->ops.again(server->ops.arg, conn, conn->state, expired));
	pump(conn);
	leave(conn);
}

/* ---- in ---- */

static void bad_size(struct fb_conn *conn)
{
	conn->closing = true;
}

static bool is_too_large(const struct fb_conn *conn)
{
	if (fb_mutant(FB_M_FRAME_LIMIT_UNCHECKED))
		return false;
	return conn->want > conn->max_frame + fb_mutant(FB_M_FRAME_LIMIT_INCLUSIVE);
}

/* Takes size bytes and body bytes out of [p, p+n); returns how many it took. */
static size_t take(struct fb_conn *conn, const uint8_t *p, size_t n)
{
	size_t k;

	if (!conn->frame) {
		k = n < 4 - conn->nsize ? n : 4 - conn->nsize;
		if (fb_mutant(FB_M_SIZE_IN_ONE_PIECE) && k < 4)
			bad_size(conn);
		memcpy(conn->size + conn->nsize, p, k);
		conn->nsize += (unsigned)k;
		if (conn->nsize < 4)
			return k;
		conn->want = (int32_t)kw_rd32(conn->size);
		if (conn->want < 0 && fb_mutant(FB_M_SIZE_SIGN_UNCHECKED)) {
			conn->nsize = 0;
			return k;
		}
		if (conn->want < 0 || is_too_large(conn)) {
			bad_size(conn);
			return n;
		}
		conn->frame = fb_frame_new(conn->want < FIRST_CAP ? (size_t)conn->want : FIRST_CAP);
		if (!conn->frame)
			bad_size(conn);
		return conn->frame ? k : n;
	}
	k = (size_t)conn->want - conn->frame->n;
	k = n < k ? n : k;
	if (conn->frame->n + k > conn->frame->cap &&
	    fb_frame_grow(conn->frame, conn->frame->n + k) < 0) {
		bad_size(conn);
		return n;
	}
	memcpy(conn->frame->p + conn->frame->n, p, k);
	conn->frame->n += k;
	return k;
}

static bool complete(const struct fb_conn *conn)
{
	return conn->frame && conn->frame->n == (size_t)conn->want;
}

static void feed(struct fb_conn *conn, const uint8_t *p, size_t n)
{
	while (!paused(conn)) {
		if (complete(conn)) {
			deliver(conn);
			if (fb_mutant(FB_M_ONE_FRAME_PER_READ) && n > 4 && n - 4 > kw_rd32(p))
				return;
			continue;
		}
		if (n == 0)
			return;
		size_t k = take(conn, p, n);
		p += k;
		n -= k;
	}
	if (n == 0 || conn->dead || conn->closing)
		return;
	conn->backlog = malloc(n);
	if (!conn->backlog) {
		conn->closing = true;
		return;
	}
	memcpy(conn->backlog, p, n);
	conn->nbacklog = n;
}

/* Room at the end of the frame being read; grows it to double while it is incomplete. */
static size_t room(struct fb_conn *conn, struct iovec *iov)
{
	struct fb_frame *frame = conn->frame;
	size_t want = (size_t)conn->want, cap;

	if (!frame || frame->n == want)
		return 0;
	if (frame->n == frame->cap) {
		cap = frame->cap * 2 < want ? frame->cap * 2 : want;
		if (fb_frame_grow(frame, cap) < 0)
			return 0;
	}
	*iov = (struct iovec){frame->p + frame->n, (frame->cap < want ? frame->cap : want) - frame->n};
	return iov->iov_len;
}

/* What comes after the frame being read, or of a frame before its size is known, is copied: of many small ones as much
 * as there is, of large ones as little as can be. */
static size_t spill(const struct fb_conn *conn)
{
	return conn->want < FB_LARGE ? FB_SPILL : LARGE_SPILL;
}

/* False when there is nothing more to read now. */
static bool read_some(struct fb_conn *conn)
{
	struct fb_capture *capture = conn->loop->server->opts.capture;
	struct iovec iov[2];
	size_t direct = room(conn, &iov[0]), most = direct;
	int niov = direct ? 1 : 0;
	ssize_t n;

	/* Bytes beyond a part of a frame would have to be copied behind it; beyond a whole one they belong to the
	 * next. */
	if (!direct || conn->frame->n + direct == (size_t)conn->want)
		iov[niov++] = (struct iovec){conn->loop->spill, spill(conn)};
	most += niov > (direct ? 1 : 0) ? iov[niov - 1].iov_len : 0;
	n = readv(conn->fd, iov, niov);
	if (n < 0)
		return errno == EINTR || (errno != EAGAIN && errno != EWOULDBLOCK && (broken(conn), false));
	if (n == 0) {
		if (conn->frame && fb_mutant(FB_M_CUT_FRAME_DELIVERED))
			deliver(conn);
		if (capture)
			fb_capture_client_closed(capture, &conn->captured, false);
		conn->closing = true;
		return false;
	}
	if (capture)
		fb_capture_bytes(capture, &conn->captured, true, iov, (size_t)n);
	conn->received_ns = conn->turned_ns = fb_now_ns();
	fb_idle_touch(conn, conn->received_ns);
	if (direct) {
		size_t k = (size_t)n < direct ? (size_t)n : direct;

		conn->frame->n += k;
		feed(conn, conn->loop->spill, (size_t)n - k);
	} else {
		feed(conn, conn->loop->spill, (size_t)n);
	}
	return (size_t)n == most;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct fb_conn *conn = arg;

	(void)fd;
	(void)what;
	enter(conn);
	for (int i = 0; i < READS && !paused(conn); i++)
		if (!read_some(conn))
			break;
	pump(conn);
	leave(conn);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct fb_conn *conn = arg;

	(void)fd;
	(void)what;
	enter(conn);
	pump(conn);
	leave(conn);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	fb_conn_retry(arg, true);
}

static void set_timer(struct fb_conn *conn, int64_t ms)
{
	struct timeval tv = {(time_t)(ms / 1000), (suseconds_t)(ms % 1000 * 1000)};

	event_add(conn->timer, &tv);
}

void fb_conn_wait(struct fb_conn *conn, int64_t ms)
{
	conn->sleeping = false;
	set_waiting(conn, true);
	set_timer(conn, ms);
}

void fb_conn_sleep(struct fb_conn *conn, int64_t ms)
{
	conn->sleeping = true;
	set_waiting(conn, false);
	set_timer(conn, ms);
}

/* ---- life ---- */

static void set_peer(struct fb_conn *conn, const struct sockaddr *peer)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)peer;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)peer;

	if (peer->sa_family == AF_INET) {
		inet_ntop(AF_INET, &v4->sin_addr, conn->address, sizeof conn->address);
		conn->port = ntohs(v4->sin_port);
	} else if (peer->sa_family == AF_INET6) {
		inet_ntop(AF_INET6, &v6->sin6_addr, conn->address, sizeof conn->address);
		conn->port = ntohs(v6->sin6_port);
	}
}

struct fb_conn *fb_conn_new(struct fb_loop *loop, int fd, struct fb_listener *listener, const struct sockaddr *peer)
{
	struct fb_conn *conn = calloc(1, sizeof *conn);
	int on = 1;

	if (!conn) {
		close(fd);
		return NULL;
	}
	conn->loop = loop;
	conn->listener = listener;
	conn->fd = fd;
	conn->id = atomic_fetch_add(&loop->server->next_id, 1) + 1;
	conn->out_tail = &conn->out;
	conn->max_frame = loop->server->opts.max_frame;
	set_peer(conn, peer);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	atomic_fetch_add(&loop->server->connections, 1);
	return conn;
}

void fb_conn_adopt(struct fb_conn *conn)
{
	struct fb_loop *loop = conn->loop;
	const struct fb_server_ops *ops = &loop->server->ops;

	if (loop->server->opts.capture)
		fb_capture_opened(loop->server->opts.capture, &conn->captured, conn->fd);
	conn->readable = event_new(loop->base, conn->fd, EV_READ | EV_PERSIST, on_readable, conn);
	conn->writable = event_new(loop->base, conn->fd, EV_WRITE, on_writable, conn);
	conn->timer = evtimer_new(loop->base, on_timer, conn);
	conn->next = loop->conns;
	conn->prev = &loop->conns;
	if (conn->next)
		conn->next->prev = &conn->next;
	loop->conns = conn;
	if ((ops->began && !ops->began(ops->arg, conn)) || !conn->readable || !conn->writable || !conn->timer)
		fb_conn_close(conn);
	else
		event_add(conn->readable, NULL);
}
