/* Connections: frames in pieces, in bunches, too large; answers in order; waits. The handler here echoes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fakebroker/net/loop.h"

enum { MAX_FRAME = 1 << 20, DEADLINE_MS = 10000 };

static struct {
	struct fb_server *server;
	int port;
	atomic_int begun, ended, drops, handled;
	atomic_bool refuse;        /* connections that begin */
	atomic_bool open;          /* lets a 'w' frame through */
	atomic_size_t scratch;     /* bytes of it that an 'm' frame found */
} fix;

static enum fb_outcome echo(struct fb_conn *conn, struct fb_frame *frame)
{
	struct kw_buf buf;

	kw_buf_init(&buf, 0);
	buf.by_ref = true;
	kw_put_u32(&buf, (uint32_t)frame->n);
	kw_put_ref(&buf, frame->p, frame->n);
	fb_conn_send_take(conn, &buf, &frame, 1);
	return FB_REPLY;
}

/* First byte: e echo, s silent, c close, w wait until open, t wait for the timer, b block the loop until open, g use
 * much scratch memory, m look how much there is. */
static enum fb_outcome handle(void *arg, struct fb_conn *conn, struct fb_frame *frame, void **state)
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
	default: return echo(conn, frame);
	}
}

static enum fb_outcome again(void *arg, struct fb_conn *conn, void *state, bool expired)
{
	(void)arg;
	if (!expired && !atomic_load(&fix.open))
		return FB_WAIT;
	return echo(conn, state);
}

static void drop(void *arg, void *state)
{
	(void)arg;
	fb_frame_unref(state);
	atomic_fetch_add(&fix.drops, 1);
}

/* Looks at the listener, as everybody may. */
static bool began(void *arg, struct fb_conn *conn)
{
	(void)arg;
	assert_null(fb_conn_tag(conn));
	atomic_fetch_add(&fix.begun, 1);
	return !atomic_load(&fix.refuse);
}

static void ended(void *arg, struct fb_conn *conn)
{
	(void)arg;
	(void)conn;
	atomic_fetch_add(&fix.ended, 1);
}

static int set_up(void **state)
{
	static const struct fb_server_ops ops = {.handle = handle, .again = again, .drop = drop, .began = began,
						.ended = ended};
	struct fb_server_opts opts = {.threads = 2, .max_frame = MAX_FRAME, .max_connections = 64};

	(void)state;
	atomic_store(&fix.begun, 0);
	atomic_store(&fix.ended, 0);
	atomic_store(&fix.refuse, false);
	atomic_store(&fix.drops, 0);
	atomic_store(&fix.handled, 0);
	atomic_store(&fix.open, false);
	assert_int_equal(fb_server_new(&opts, &ops, &fix.server, NULL), 0);
	assert_int_equal(fb_server_listen(fix.server, "127.0.0.1", 0, NULL, &fix.port, NULL), 0);
	assert_int_equal(fb_server_start(fix.server, NULL), 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fb_server_free(fix.server);
	return 0;
}

static void connect_to(int fd)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)fix.port)};
	struct timeval tv = {DEADLINE_MS / 1000, 0};

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
	assert_int_equal(connect(fd, (struct sockaddr *)&in, sizeof in), 0);
}

static int dial(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	connect_to(fd);
	return fd;
}

static void put(int fd, const void *p, size_t n)
{
	assert_int_equal(send(fd, p, n, MSG_NOSIGNAL), (ssize_t)n);
}

static void put_frame(int fd, const char *text)
{
	uint8_t size[4];

	kw_wr32(size, (uint32_t)strlen(text));
	put(fd, size, 4);
	put(fd, text, strlen(text));
}

static void get_frame(int fd, const char *text)
{
	uint8_t buf[256];
	size_t n = strlen(text) + 4;

	assert_int_equal(recv(fd, buf, n, MSG_WAITALL), (ssize_t)n);
	assert_int_equal(kw_rd32(buf), strlen(text));
	assert_memory_equal(buf + 4, text, n - 4);
}

/* The peer closes, in whatever way, before the deadline. */
static void assert_closed(int fd)
{
	uint8_t b;

	assert_true(recv(fd, &b, 1, 0) == 0 || errno == ECONNRESET);
	close(fd);
}

static void wait_handled(int n)
{
	for (int i = 0; i < DEADLINE_MS && atomic_load(&fix.handled) < n; i++)
		poll(NULL, 0, 1);
	assert_int_equal(atomic_load(&fix.handled), n);
}

/* For want of memory, say: nothing is read from it, let alone handled. */
static void one_that_may_not_live(void **state)
{
	int fd;

	(void)state;
	atomic_store(&fix.refuse, true);
	fd = dial();
	assert_closed(fd);
	assert_int_equal(atomic_load(&fix.begun), 1);
	assert_int_equal(atomic_load(&fix.ended), 1);
	atomic_store(&fix.refuse, false);
	fd = dial();
	put_frame(fd, "ex");
	get_frame(fd, "ex");
	close(fd);
}

static void one_byte_at_a_time(void **state)
{
	static const uint8_t bytes[] = {0, 0, 0, 3, 'e', 'a', 'b', 0, 0, 0, 2, 'e', 'c'};
	int fd = dial();

	(void)state;
	for (size_t i = 0; i < sizeof bytes; i++)
		put(fd, bytes + i, 1);
	get_frame(fd, "eab");
	get_frame(fd, "ec");
	close(fd);
}

static void many_in_one_write_are_answered_in_order(void **state)
{
	enum { N = 5000 };
	uint8_t *out = malloc(N * 8), *in = malloc(N * 8);
	int fd = dial();

	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		kw_wr32(out + i * 8, 4);
		kw_wr32(out + i * 8 + 4, i | 'e' << 24);
	}
	put(fd, out, N * 8);
	assert_int_equal(recv(fd, in, N * 8, MSG_WAITALL), N * 8);
	assert_memory_equal(in, out, N * 8);
	free(in);
	free(out);
	close(fd);
}

static void *send_all(void *arg)
{
	const struct { int fd; uint8_t *p; size_t n; } *job = arg;

	put(job->fd, job->p, job->n);
	return NULL;
}

static void large_frames(void **state)
{
	struct { int fd; uint8_t *p; size_t n; } job = {dial(), NULL, MAX_FRAME + 4};
	uint8_t *in = malloc(job.n);
	pthread_t thread;

	(void)state;
	job.p = malloc(job.n);
	kw_wr32(job.p, MAX_FRAME);
	for (size_t i = 4; i < job.n; i++)
		job.p[i] = (uint8_t)(i * 7);
	job.p[4] = 'e';
	pthread_create(&thread, NULL, send_all, &job);
	assert_int_equal(recv(job.fd, in, job.n, MSG_WAITALL), (ssize_t)job.n);
	assert_memory_equal(in, job.p, job.n);
	pthread_join(thread, NULL);
	close(job.fd);
	free(job.p);
	free(in);
}

/* More answers than a connection keeps unsent, to a client that reads late: nothing gets lost or stuck. */
static void answers_beyond_the_queue(void **state)
{
	enum { FRAME = 60000, N = 400 };
	struct { int fd; uint8_t *p; size_t n; } job = {dial(), calloc(N, FRAME + 4), (size_t)N * (FRAME + 4)};
	uint8_t *in = malloc(FRAME + 4);
	pthread_t thread;

	(void)state;
	for (size_t i = 0; i < N; i++) {
		kw_wr32(job.p + i * (FRAME + 4), FRAME);
		job.p[i * (FRAME + 4) + 4] = 'e';
		kw_wr32(job.p + i * (FRAME + 4) + 5, (uint32_t)i);
	}
	pthread_create(&thread, NULL, send_all, &job);
	for (size_t i = 0; i < N; i++) {
		assert_int_equal(recv(job.fd, in, FRAME + 4, MSG_WAITALL), FRAME + 4);
		assert_memory_equal(in, job.p + i * (FRAME + 4), 16);
	}
	pthread_join(thread, NULL);
	close(job.fd);
	free(job.p);
	free(in);
}

static void sizes_that_close(void **state)
{
	static const uint32_t sizes[] = {0xffffffff, 0x80000000, MAX_FRAME + 1, 0x7fffffff, 0x47455420};

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		uint8_t size[4];
		int fd = dial();

		kw_wr32(size, sizes[i]);
		put(fd, size, 4);
		assert_closed(fd);
	}
}

static void earlier_answers_come_before_a_close(void **state)
{
	int fd = dial();

	(void)state;
	put(fd, "\0\0\0\2e1\0\0\0\2e2\0\0\0\1c\0\0\0\2e3", 23);
	get_frame(fd, "e1");
	get_frame(fd, "e2");
	assert_closed(fd);
}

static void silence_then_an_answer(void **state)
{
	int fd = dial();

	(void)state;
	put_frame(fd, "s");
	put_frame(fd, "e");
	get_frame(fd, "e");
	close(fd);
}

static void a_waiting_request_holds_back_those_behind_it(void **state)
{
	int fd = dial();
	struct pollfd poller = {.fd = fd, .events = POLLIN};

	(void)state;
	put(fd, "\0\0\0\2w1\0\0\0\2e2", 12);
	wait_handled(1);   /* both have come: the second is not taken on */
	assert_int_equal(poll(&poller, 1, 20), 0);
	assert_int_equal(atomic_load(&fix.handled), 1);
	atomic_store(&fix.open, true);
	/* a poke before the loop has seen the frame is no loss: keep poking */
	for (int i = 0; i < DEADLINE_MS && poll(&poller, 1, 1) == 0; i++)
		fb_server_poke(fix.server);
	get_frame(fd, "w1");
	get_frame(fd, "e2");
	close(fd);
}

static void a_timer_ends_a_sleep(void **state)
{
	int fd = dial();

	(void)state;
	put_frame(fd, "t1");
	put_frame(fd, "e2");
	get_frame(fd, "t1");
	get_frame(fd, "e2");
	close(fd);
}

/* Also by a request that had to wait behind another: nothing has to happen on the connection afterwards. */
static void much_scratch_memory_is_given_back(void **state)
{
	int fd = dial();

	(void)state;
	put(fd, "\0\0\0\2g0\0\0\0\2t1\0\0\0\2g2", 18);
	get_frame(fd, "g0");
	get_frame(fd, "t1");
	get_frame(fd, "g2");
	atomic_store(&fix.scratch, SIZE_MAX);
	put(fd, "\0\0\0\1m", 5);   /* in one piece: the size alone would be an event before */
	get_frame(fd, "m");
	assert_int_equal(atomic_load(&fix.scratch), 0);
	close(fd);
}

static void what_waits_is_dropped_at_the_end(void **state)
{
	int fd = dial();

	(void)state;
	put_frame(fd, "w");
	wait_handled(1);
	fb_server_stop(fix.server);
	assert_int_equal(atomic_load(&fix.drops), 1);
	assert_int_equal(fb_server_connections(fix.server), 0);
	close(fd);
}

static void what_waits_is_dropped_when_the_client_goes(void **state)
{
	int fd = dial();

	(void)state;
	put_frame(fd, "w");
	wait_handled(1);
	close(fd);
	for (int i = 0; i < DEADLINE_MS && fb_server_connections(fix.server) > 0; i++)
		poll(NULL, 0, 1);
	assert_int_equal(fb_server_connections(fix.server), 0);
	assert_int_equal(atomic_load(&fix.drops), 1);
}

/* Without descriptors the listener rests; once there are some, it goes on. */
static void no_descriptor_left(void **state)
{
	struct rlimit had, few;
	int fds[2], spare;

	(void)state;
	fds[0] = dial();
	put_frame(fds[0], "e");
	get_frame(fds[0], "e");
	fds[1] = socket(AF_INET, SOCK_STREAM, 0);
	spare = dup(0);
	getrlimit(RLIMIT_NOFILE, &had);
	few = had;
	few.rlim_cur = (rlim_t)spare + 1;
	setrlimit(RLIMIT_NOFILE, &few);
	connect_to(fds[1]);   /* by the kernel; nobody can accept it */
	put_frame(fds[1], "e1");
	put_frame(fds[0], "e2");
	get_frame(fds[0], "e2");
	setrlimit(RLIMIT_NOFILE, &had);
	get_frame(fds[1], "e1");
	close(spare);
	close(fds[0]);
	close(fds[1]);
}

static void a_busy_port_is_one_clear_line(void **state)
{
	struct fb_server_opts opts = {.threads = 1, .max_frame = 1};
	static const struct fb_server_ops ops = {.handle = handle, .again = again, .drop = drop};
	struct fb_server *server;
	struct kt_err err = {0};
	int port;

	(void)state;
	assert_int_equal(fb_server_new(&opts, &ops, &server, NULL), 0);
	assert_int_equal(fb_server_listen(server, "127.0.0.1", fix.port, NULL, &port, &err), KT_ENET);
	assert_non_null(strstr(err.text, "in use"));
	fb_server_free(server);
}

static void assert_refused(void)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)fix.port)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(connect(fd, (struct sockaddr *)&in, sizeof in), -1);
	assert_int_equal(errno, ECONNREFUSED);
	close(fd);
}

/* Of two listeners one closes, with all its connections on both loops, and what waits on them; the other serves on. */
static void a_listener_closes_and_opens_again(void **state)
{
	enum { N = 6 };
	struct fb_server_opts opts = {.threads = 2, .max_frame = MAX_FRAME};
	static const struct fb_server_ops ops = {.handle = handle, .again = again, .drop = drop};
	char tags[2];
	int ports[2], fds[N], other;

	(void)state;
	fb_server_free(fix.server);
	assert_int_equal(fb_server_new(&opts, &ops, &fix.server, NULL), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(fb_server_listen(fix.server, "127.0.0.1", 0, &tags[i], &ports[i], NULL), 0);
	assert_int_equal(fb_server_start(fix.server, NULL), 0);
	fix.port = ports[1];
	other = dial();
	fix.port = ports[0];
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < N; i++) {
			fds[i] = dial();
			put_frame(fds[i], i < 2 ? "w" : "e");
			if (i >= 2)
				get_frame(fds[i], "e");
		}
		wait_handled(N * (round + 1));
		assert_int_equal(fb_server_close(fix.server, &tags[0], DEADLINE_MS, NULL), 0);
		for (int i = 0; i < N; i++)
			assert_closed(fds[i]);
		assert_int_equal(atomic_load(&fix.drops), 2 * (round + 1));
		assert_int_equal(fb_server_connections(fix.server), 1);
		assert_refused();
		assert_int_equal(fb_server_reopen(fix.server, &tags[0], NULL), 0);
	}
	put_frame(other, "s");
	put_frame(other, "e");
	get_frame(other, "e");
	close(other);
}

static void a_blocked_loop_closes_later(void **state)
{
	int64_t until = fb_now_ns() + (int64_t)DEADLINE_MS * 1000000;
	int fd = dial();

	(void)state;
	put_frame(fd, "b");
	wait_handled(1);
	assert_int_equal(fb_server_close(fix.server, NULL, 20, NULL), KT_ETIMEOUT);
	assert_int_equal(fb_server_reopen(fix.server, NULL, NULL), KT_ETIMEOUT);
	atomic_store(&fix.open, true);
	while (fb_server_reopen(fix.server, NULL, NULL) < 0 && fb_now_ns() < until)
		poll(NULL, 0, 1);
	get_frame(fd, "b");
	assert_closed(fd);
	fd = dial();
	put_frame(fd, "e");
	get_frame(fd, "e");
	close(fd);
}

/* The first loop may still hand over a connection when another one has ended. */
static void handed_over_too_late(void **state)
{
	struct sockaddr_in peer = {.sin_family = AF_INET};
	struct fb_loop *loop = &fix.server->loops[1];
	int ends[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	fb_server_stop(fix.server);
	loop->accepted = fb_conn_new(loop, ends[0], fix.server->listeners, (struct sockaddr *)&peer);
	fb_server_free(fix.server);
	fix.server = NULL;
	assert_int_equal(fix.begun, 1);
	assert_closed(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_that_may_not_live, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_byte_at_a_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(many_in_one_write_are_answered_in_order, set_up, tear_down),
		cmocka_unit_test_setup_teardown(large_frames, set_up, tear_down),
		cmocka_unit_test_setup_teardown(answers_beyond_the_queue, set_up, tear_down),
		cmocka_unit_test_setup_teardown(sizes_that_close, set_up, tear_down),
		cmocka_unit_test_setup_teardown(earlier_answers_come_before_a_close, set_up, tear_down),
		cmocka_unit_test_setup_teardown(silence_then_an_answer, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_waiting_request_holds_back_those_behind_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_timer_ends_a_sleep, set_up, tear_down),
		cmocka_unit_test_setup_teardown(much_scratch_memory_is_given_back, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_waits_is_dropped_at_the_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_waits_is_dropped_when_the_client_goes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_descriptor_left, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_listener_closes_and_opens_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_blocked_loop_closes_later, set_up, tear_down),
		cmocka_unit_test_setup_teardown(handed_over_too_late, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_busy_port_is_one_clear_line, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
