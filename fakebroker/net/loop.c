#include "fakebroker/net/loop.h"

#include <event2/thread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "fakebroker/thread.h"

enum { MAX_CONNECTIONS = 10000, SPARE_DESCRIPTORS = 64 };

int64_t fb_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* ---- wake-ups ---- */

void fb_loop_adopt(struct fb_loop *loop)
{
	struct fb_conn *conn;

	pthread_mutex_lock(&loop->lock);
	conn = loop->accepted;
	loop->accepted = NULL;
	pthread_mutex_unlock(&loop->lock);
	while (conn) {
		struct fb_conn *next = conn->next;

		fb_conn_adopt(conn);
		conn = next;
	}
}

static void on_wake(evutil_socket_t fd, short what, void *arg)
{
	struct fb_loop *loop = arg;
	struct fb_conn *conn, *next;

	(void)fd;
	(void)what;
	fb_loop_adopt(loop);
	fb_loop_sweep(loop);
	if (atomic_load(&loop->server->stopping)) {
		event_base_loopbreak(loop->base);
		return;
	}
	if (!atomic_exchange(&loop->poked, false))
		return;
	for (conn = loop->conns; conn; conn = next) {
		next = conn->next;
		if (conn->waiting)
			fb_conn_retry(conn, false);
	}
}

void fb_server_poke(struct fb_server *server)
{
	for (int i = 0; i < server->opts.threads; i++) {
		struct fb_loop *loop = &server->loops[i];

		if (atomic_load(&loop->waiting) > 0 && !atomic_exchange(&loop->poked, true))
			event_active(loop->wake, 0, 0);
	}
}

static void *run(void *arg)
{
	struct fb_loop *loop = arg;

	event_base_loop(loop->base, EVLOOP_NO_EXIT_ON_EMPTY);
	while (loop->conns)
		fb_conn_close(loop->conns);
	return NULL;
}

/* ---- life ---- */

static int loop_init(struct fb_server *server, struct fb_loop *loop)
{
	loop->server = server;
	pthread_mutex_init(&loop->lock, NULL);
	loop->base = event_base_new();
	if (!loop->base)
		return KT_ENOMEM;
	loop->wake = event_new(loop->base, -1, EV_PERSIST, on_wake, loop);
	return loop->wake && fb_idle_init(loop) == 0 ? 0 : KT_ENOMEM;
}

/* As many as were asked for, and as there are descriptors for; the limit of those is raised as far as it goes. */
static void limit_connections(struct fb_server *server)
{
	struct rlimit files;
	rlim_t most;

	if (server->opts.max_connections == 0)
		server->opts.max_connections = MAX_CONNECTIONS;
	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur == RLIM_INFINITY)
		return;
	most = files.rlim_cur > SPARE_DESCRIPTORS * 2 ? files.rlim_cur - SPARE_DESCRIPTORS : SPARE_DESCRIPTORS / 2;
	if ((rlim_t)server->opts.max_connections > most)
		server->opts.max_connections = (int)most;
}

/* Waits on it are by the monotonic clock. */
static void init_done(pthread_cond_t *done)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(done, &attr);
	pthread_condattr_destroy(&attr);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct fb_server *server = arg;

	(void)fd;
	(void)what;
	server->ops.tick(server->ops.arg);
}

static int start_ticking(struct fb_server *server)
{
	struct timeval every = {server->opts.tick_ms / 1000, server->opts.tick_ms % 1000 * 1000};

	if (!server->ops.tick)
		return 0;
	server->tick = event_new(server->loops[0].base, -1, EV_PERSIST, on_tick, server);
	return server->tick && event_add(server->tick, &every) == 0 ? 0 : KT_ENOMEM;
}

int fb_server_new(const struct fb_server_opts *opts, const struct fb_server_ops *ops, struct fb_server **out,
		  struct kt_err *err)
{
	struct fb_server *server = calloc(1, sizeof *server);

	*out = NULL;
	if (!server)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	evthread_use_pthreads();
	pthread_mutex_init(&server->lock, NULL);
	init_done(&server->done);
	server->opts = *opts;
	server->ops = *ops;
	limit_connections(server);
	server->loops = calloc((size_t)opts->threads, sizeof *server->loops);
	for (int i = 0; server->loops && i < opts->threads; i++) {
		if (loop_init(server, &server->loops[i]) < 0) {
			fb_server_free(server);
			return kt_fail(err, KT_ENOMEM, "no memory for event loop %d", i);
		}
	}
	if (!server->loops) {
		fb_server_free(server);
		return kt_fail(err, KT_ENOMEM, "out of memory");
	}
	if (start_ticking(server) < 0) {
		fb_server_free(server);
		return kt_fail(err, KT_ENOMEM, "out of memory");
	}
	*out = server;
	return 0;
}

int fb_server_start(struct fb_server *server, struct kt_err *err)
{
	for (int i = 0; i < server->opts.threads; i++) {
		int code = fb_thread_start(&server->loops[i].thread, NULL, run, &server->loops[i]);

		if (code)
			return kt_fail(err, KT_ESYS, "cannot start a thread: %s", strerror(code));
		server->loops[i].running = true;
	}
	return 0;
}

void fb_server_stop(struct fb_server *server)
{
	atomic_store(&server->stopping, true);
	for (int i = 0; i < server->opts.threads; i++) {
		struct fb_loop *loop = &server->loops[i];

		if (!loop->running)
			continue;
		event_active(loop->wake, 0, 0);
		pthread_join(loop->thread, NULL);
		loop->running = false;
	}
}

/* Those included that were handed over when the loop had ended. */
static void end_connections(struct fb_loop *loop)
{
	if (!loop->server)
		return;
	fb_loop_adopt(loop);
	while (loop->conns)
		fb_conn_close(loop->conns);
}

static void loop_fini(struct fb_loop *loop)
{
	if (!loop->server)
		return;
	if (loop->wake)
		event_free(loop->wake);
	fb_idle_fini(loop);
	if (loop->base)
		event_base_free(loop->base);
	kw_buf_fini(&loop->scratch);
	pthread_mutex_destroy(&loop->lock);
}

void fb_server_free(struct fb_server *server)
{
	if (!server)
		return;
	fb_server_stop(server);
	for (int i = 0; server->loops && i < server->opts.threads; i++)
		end_connections(&server->loops[i]);
	while (server->listeners) {
		struct fb_listener *listener = server->listeners;

		server->listeners = listener->next;
		fb_listener_free(listener);
	}
	if (server->tick)
		event_free(server->tick);
	for (int i = 0; server->loops && i < server->opts.threads; i++)
		loop_fini(&server->loops[i]);
	free(server->loops);
	pthread_cond_destroy(&server->done);
	pthread_mutex_destroy(&server->lock);
	free(server);
}

struct kw_buf *fb_conn_scratch(struct fb_conn *conn)
{
	return &conn->loop->scratch;
}

int fb_server_connections(const struct fb_server *server)
{
	return atomic_load(&server->connections);
}
