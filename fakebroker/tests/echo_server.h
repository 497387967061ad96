/* A server whose handler echoes, and connections to it, bytes as they are. */
#ifndef KASSAY_FAKEBROKER_TESTS_ECHO_SERVER_H
#define KASSAY_FAKEBROKER_TESTS_ECHO_SERVER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fakebroker/net/loop.h"

enum { MAX_FRAME = 1 << 20, DEADLINE_MS = 10000, TICK_MS = 200 };

static struct {
	struct fb_server *server;
	int port;
	atomic_int begun, ended, drops, drops_at_end, handled;
	atomic_bool refuse;        /* connections that begin */
	atomic_bool open;          /* lets a 'w' frame through */
	atomic_size_t scratch;     /* bytes of it that an 'm' frame found */
	int max_idle;              /* ms, of connections that begin; 0 = for ever */
} fix;

static inline enum fb_outcome echo(struct fb_conn *conn, struct fb_frame *frame)
{
	struct kw_buf buf;

	kw_buf_init(&buf, 0);
	buf.by_ref = true;
	kw_put_u32(&buf, (uint32_t)frame->n);
	kw_put_ref(&buf, frame->p, frame->n);
	fb_conn_send_take(conn, &buf, &frame, 1);
	return FB_REPLY;
}

/* First byte: e echo, s silent, c close, w wait until open, t wait for the timer, l for a longer one, b block the loop
 * until open, g use much scratch memory, m look how much there is. */
static inline enum fb_outcome handle(void *arg, struct fb_conn *conn, struct fb_frame *frame, void **state)
{
	(void)arg;
	atomic_fetch_add(&fix.handled, 1);
	switch (frame->n ? frame->p[0] : 'e') {
	case 's': fb_frame_unref(frame); return FB_SILENT;
	case 'c': fb_frame_unref(frame); return FB_CLOSE;
	case 'b':
		while (!atomic_load(&fix.open))
			poll(NULL, 0, 1);
		return echo(conn, frame);
	case 'w':
		*state = frame;
		fb_conn_wait(conn, DEADLINE_MS);
		return FB_WAIT;
	case 'g':
		assert_non_null(kw_buf_room(fb_conn_scratch(conn), FB_SCRATCH_KEPT + 1));
		return echo(conn, frame);
	case 'm':
		atomic_store(&fix.scratch, fb_conn_scratch(conn)->cap);
		return echo(conn, frame);
	case 't':
		*state = frame;
		fb_conn_sleep(conn, 1);
		return FB_WAIT;
	case 'l':
		*state = frame;
		fb_conn_sleep(conn, 5 * TICK_MS);
		return FB_WAIT;
	default: return echo(conn, frame);
	}
}

static inline enum fb_outcome again(void *arg, struct fb_conn *conn, void *state, bool expired)
{
	(void)arg;
	if (!expired && !atomic_load(&fix.open))
		return FB_WAIT;
	return echo(conn, state);
}

static inline void drop(void *arg, void *state, bool ending)
{
	(void)arg;
	fb_frame_unref(state);
	atomic_fetch_add(&fix.drops, 1);
	atomic_fetch_add(&fix.drops_at_end, ending);
}

/* Looks at the listener, as everybody may. */
static inline bool began(void *arg, struct fb_conn *conn)
{
	(void)arg;
	assert_null(fb_conn_tag(conn));
	atomic_fetch_add(&fix.begun, 1);
	fb_conn_set_max_idle(conn, fix.max_idle ? fix.max_idle : -1);
	return !atomic_load(&fix.refuse);
}

static inline void ended(void *arg, struct fb_conn *conn)
{
	(void)arg;
	(void)conn;
	atomic_fetch_add(&fix.ended, 1);
}

static inline int set_up(void **state)
{
	static const struct fb_server_ops ops = {.handle = handle, .again = again, .drop = drop, .began = began,
						.ended = ended};
	struct fb_server_opts opts = {.threads = 2, .max_frame = MAX_FRAME, .max_connections = 64};

	(void)state;
	atomic_store(&fix.begun, 0);
	atomic_store(&fix.ended, 0);
	atomic_store(&fix.refuse, false);
	atomic_store(&fix.drops, 0);
	atomic_store(&fix.drops_at_end, 0);
	atomic_store(&fix.handled, 0);
	atomic_store(&fix.open, false);
	assert_int_equal(fb_server_new(&opts, &ops, &fix.server, NULL), 0);
	assert_int_equal(fb_server_listen(fix.server, "127.0.0.1", 0, NULL, &fix.port, NULL), 0);
	assert_int_equal(fb_server_start(fix.server, NULL), 0);
	return 0;
}

static inline int tear_down(void **state)
{
	(void)state;
	fb_server_free(fix.server);
	return 0;
}

static inline void connect_to(int fd)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)fix.port)};
	struct timeval tv = {DEADLINE_MS / 1000, 0};

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
	assert_int_equal(connect(fd, (struct sockaddr *)&in, sizeof in), 0);
}

static inline int dial(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	connect_to(fd);
	return fd;
}

static inline void put(int fd, const void *p, size_t n)
{
	assert_int_equal(send(fd, p, n, MSG_NOSIGNAL), (ssize_t)n);
}

static inline void put_frame(int fd, const char *text)
{
	uint8_t size[4];

	kw_wr32(size, (uint32_t)strlen(text));
	put(fd, size, 4);
	put(fd, text, strlen(text));
}

static inline void get_frame(int fd, const char *text)
{
	uint8_t buf[256];
	size_t n = strlen(text) + 4;

	assert_int_equal(recv(fd, buf, n, MSG_WAITALL), (ssize_t)n);
	assert_int_equal(kw_rd32(buf), strlen(text));
	assert_memory_equal(buf + 4, text, n - 4);
}

/* The peer closes, in whatever way, before the deadline. */
static inline void assert_closed(int fd)
{
	uint8_t b;

	assert_true(recv(fd, &b, 1, 0) == 0 || errno == ECONNRESET);
	close(fd);
}

static inline void wait_handled(int n)
{
	for (int i = 0; i < DEADLINE_MS && atomic_load(&fix.handled) < n; i++)
		poll(NULL, 0, 1);
	assert_int_equal(atomic_load(&fix.handled), n);
}

#endif
