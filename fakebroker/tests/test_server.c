/* Connections: frames in pieces, in bunches, too large; answers in order; waits. The handler here echoes. */
#include <sys/resource.h>

#include "fakebroker/tests/echo_server.h"

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
	assert_int_equal(atomic_load(&fix.drops_at_end), 1);
	assert_int_equal(fb_server_connections(fix.server), 0);
	close(fd);
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
		cmocka_unit_test_setup_teardown(no_descriptor_left, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_listener_closes_and_opens_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_blocked_loop_closes_later, set_up, tear_down),
		cmocka_unit_test_setup_teardown(handed_over_too_late, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_busy_port_is_one_clear_line, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
