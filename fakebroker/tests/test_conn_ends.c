/* How connections end: by clients that send no more, or are gone, while a request waits; or idle for too long. */
#include <time.h>

#include "fakebroker/tests/echo_server.h"

static void wait_connections(int n)
{
	for (int i = 0; i < DEADLINE_MS && fb_server_connections(fix.server) != n; i++)
		poll(NULL, 0, 1);
	assert_int_equal(fb_server_connections(fix.server), n);
}

static void poke_until_answered(int fd)
{
	struct pollfd poller = {.fd = fd, .events = POLLIN};

	atomic_store(&fix.open, true);
	for (int i = 0; i < DEADLINE_MS && poll(&poller, 1, 1) == 0; i++)
		fb_server_poke(fix.server);
}

/* ---- clients ---- */

/* Everything that it sent before is answered, also what had not been read yet. */
static void one_that_sends_no_more_is_answered(void **state)
{
	int fd = dial();

	(void)state;
	put(fd, "\0\0\0\2w1\0\0\0\2e2\0\0\0\2w3\0\0\0\2e", 23);   /* the last one is cut */
	shutdown(fd, SHUT_WR);
	wait_handled(1);
	poke_until_answered(fd);
	get_frame(fd, "w1");
	get_frame(fd, "e2");
	poke_until_answered(fd);
	get_frame(fd, "w3");
	assert_closed(fd);
	wait_connections(0);
	assert_int_equal(atomic_load(&fix.drops), 0);
}

static void one_that_is_gone_is_noticed_by_the_answer(void **state)
{
	struct linger at_once = {.l_onoff = 1};
	int gone = dial(), reset = dial();

	(void)state;
	put_frame(gone, "w");
	put_frame(reset, "w");
	wait_handled(2);
	close(gone);
	setsockopt(reset, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
	close(reset);
	atomic_store(&fix.open, true);
	for (int i = 0; i < DEADLINE_MS && fb_server_connections(fix.server) > 0; i++) {
		fb_server_poke(fix.server);
		poll(NULL, 0, 1);
	}
	wait_connections(0);
}

static int64_t cpu_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* What is not read does not keep the loop busy. */
static void one_that_was_reset_costs_nothing(void **state)
{
	struct linger at_once = {.l_onoff = 1};
	int fd = dial();
	int64_t used;

	(void)state;
	put_frame(fd, "w");
	wait_handled(1);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
	close(fd);
	used = cpu_ms();
	poll(NULL, 0, 100);
	assert_true(cpu_ms() - used < 50);
	assert_int_equal(fb_server_connections(fix.server), 1);
}

/* ---- idle ---- */

enum { IDLE_MS = 3 * TICK_MS };   /* long enough for what a test does before it */

static int set_up_idle(void **state)
{
	fix.max_idle = IDLE_MS;
	return set_up(state);
}

static int tear_down_idle(void **state)
{
	fix.max_idle = 0;
	return tear_down(state);
}

static void one_on_which_nothing_happens_is_closed(void **state)
{
	int silent = dial(), part = dial(), answered = dial();

	(void)state;
	put(part, "\0\0\0\5e", 5);
	put_frame(answered, "e");
	get_frame(answered, "e");
	assert_closed(silent);
	assert_closed(part);
	assert_closed(answered);
	wait_connections(0);
	assert_int_equal(atomic_load(&fix.ended), 3);
}

/* Kafka closes it as well: nothing was read or written. */
static void one_whose_request_waits_is_closed(void **state)
{
	int fd = dial();

	(void)state;
	put_frame(fd, "w");
	assert_closed(fd);
	assert_int_equal(atomic_load(&fix.handled), 1);
	assert_int_equal(atomic_load(&fix.drops), 1);
}

/* As long as its client is there, also if that sends no more. */
static void one_whose_request_sleeps_is_not(void **state)
{
	int fd = dial(), half = dial();

	(void)state;
	put_frame(fd, "l1");
	put_frame(half, "l2");
	get_frame(fd, "l1");
	get_frame(half, "l2");
	assert_closed(fd);
	assert_closed(half);
	assert_int_equal(atomic_load(&fix.drops), 0);
}

static void one_whose_client_went_while_it_slept_is_closed(void **state)
{
	int fd = dial();

	(void)state;
	put_frame(fd, "l");
	wait_handled(1);
	close(fd);
	wait_connections(0);
	assert_int_equal(atomic_load(&fix.drops), 1);
	assert_int_equal(atomic_load(&fix.drops_at_end), 0);
}

/* ---- the order in which they are closed ---- */

enum { N = 4 };

/* A connection of a loop that does not run; *end is the client's. */
static struct fb_conn *conn_of(struct fb_loop *loop, int *end)
{
	struct sockaddr_in peer = {.sin_family = AF_INET};
	struct fb_conn *conn;
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	conn = fb_conn_new(loop, ends[0], fix.server->listeners, (struct sockaddr *)&peer);
	assert_non_null(conn);
	fb_conn_adopt(conn);
	*end = ends[1];
	return conn;
}

static bool is_open(int end)
{
	uint8_t b;

	return recv(end, &b, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

static void assert_open(const int *ends, const char *open)
{
	for (int i = 0; i < N; i++)
		assert_int_equal(is_open(ends[i]), open[i] == '+');
}

/* Times of the test's own, later than any reading of the clock here. */
static void the_least_recently_used_come_first(void **state)
{
	struct fb_loop *loop = &fix.server->loops[0];
	int64_t t = fb_now_ns() + (int64_t)3600 * 1000000000, ms = 1000000;
	struct fb_conn *conns[N];
	int ends[N];

	(void)state;
	fb_server_stop(fix.server);
	for (int i = 0; i < N; i++)
		conns[i] = conn_of(loop, &ends[i]);
	fb_conn_set_max_idle(conns[3], 5 * IDLE_MS);
	for (int i = 0; i < N; i++)
		fb_idle_touch(conns[i], t + i * ms);
	fb_idle_touch(conns[0], t + 5 * ms);
	assert_true(fb_idle_expire(loop, t + (IDLE_MS + 1) * ms - 1) == t + (IDLE_MS + 1) * ms);
	assert_open(ends, "++++");
	assert_true(fb_idle_expire(loop, t + (IDLE_MS + 1) * ms) == t + (IDLE_MS + 2) * ms);
	assert_open(ends, "+-++");
	fb_idle_touch(conns[2], t + 6 * ms);
	assert_true(fb_idle_expire(loop, t + (IDLE_MS + 5) * ms) == t + (IDLE_MS + 6) * ms);
	assert_open(ends, "--++");
	fb_conn_set_max_idle(conns[2], -1);
	fb_conn_set_max_idle(conns[3], INT64_MAX);
	assert_true(fb_idle_expire(loop, INT64_MAX) == INT64_MAX);
	assert_open(ends, "--++");
	for (int i = 0; i < N; i++)
		close(ends[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_that_sends_no_more_is_answered, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_that_is_gone_is_noticed_by_the_answer, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_that_was_reset_costs_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_on_which_nothing_happens_is_closed, set_up_idle, tear_down_idle),
		cmocka_unit_test_setup_teardown(one_whose_request_waits_is_closed, set_up_idle, tear_down_idle),
		cmocka_unit_test_setup_teardown(one_whose_request_sleeps_is_not, set_up_idle, tear_down_idle),
		cmocka_unit_test_setup_teardown(one_whose_client_went_while_it_slept_is_closed, set_up_idle,
						tear_down_idle),
		cmocka_unit_test_setup_teardown(the_least_recently_used_come_first, set_up_idle, tear_down_idle),
	};

	return cmocka_run_group_tests_name("ends of connections", tests, NULL, NULL);
}
