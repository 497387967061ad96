#include "fakebroker/net/loop.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/thread.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { MAX_CONNECTIONS = 10000, SPARE_DESCRIPTORS = 64, REST_MS = 100 };

int64_t fb_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* ---- wake-ups ---- */

static void adopt_all(struct fb_loop *loop)
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
	adopt_all(loop);
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

/* ---- listeners ---- */

static void on_accept(struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *peer, int n, void *arg)
{
	struct fb_listener *listener = arg;
	struct fb_server *server = listener->server;
	unsigned i = atomic_fetch_add(&server->next_loop, 1) % (unsigned)server->opts.threads;
	struct fb_loop *loop = &server->loops[i];
	struct fb_conn *conn;

	(void)l;
	(void)n;
	if (atomic_load(&server->connections) >= server->opts.max_connections) {
		close(fd);
		return;
	}
	conn = fb_conn_new(loop, fd, listener->tag, peer);
	if (!conn)
		return;
	if (i == 0) {
		fb_conn_adopt(conn);
		return;
	}
	pthread_mutex_lock(&loop->lock);
	conn->next = loop->accepted;
	loop->accepted = conn;
	pthread_mutex_unlock(&loop->lock);
	event_active(loop->wake, 0, 0);
}

/* accept() fails when no descriptor is left: the listener rests instead of trying without end. */
static void on_accept_error(struct evconnlistener *evl, void *arg)
{
	struct fb_listener *listener = arg;
	struct timeval tv = {0, REST_MS * 1000};

	evconnlistener_disable(evl);
	event_add(listener->resume, &tv);
}

static void on_resume(evutil_socket_t fd, short what, void *arg)
{
	struct fb_listener *listener = arg;

	(void)fd;
	(void)what;
	evconnlistener_enable(listener->evl);
}

static int resolve(const char *host, int port, struct addrinfo **out, struct kt_err *err)
{
	struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
	char service[16];
	int code;

	snprintf(service, sizeof service, "%d", port);
	code = getaddrinfo(host[0] ? host : NULL, service, &hints, out);
	if (code)
		return kt_fail(err, KT_ENET, "%s: %s", host, gai_strerror(code));
	return 0;
}

static int bound_port(struct evconnlistener *l)
{
	struct sockaddr_storage ss;
	socklen_t n = sizeof ss;

	if (getsockname(evconnlistener_get_fd(l), (struct sockaddr *)&ss, &n) < 0)
		return 0;
	if (ss.ss_family == AF_INET6)
		return ntohs(((struct sockaddr_in6 *)(void *)&ss)->sin6_port);
	return ntohs(((struct sockaddr_in *)(void *)&ss)->sin_port);
}

int fb_server_listen(struct fb_server *server, const char *host, int port, void *tag, int *bound, struct kt_err *err)
{
	const unsigned flags = LEV_OPT_REUSEABLE | LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC;
	struct fb_listener *listener;
	struct addrinfo *ai;
	int code = resolve(host, port, &ai, err);

	if (code)
		return code;
	listener = calloc(1, sizeof *listener);
	if (listener) {
		listener->server = server;
		listener->tag = tag;
		listener->evl = evconnlistener_new_bind(server->loops[0].base, on_accept, listener, flags, 1024, ai->ai_addr,
							(int)ai->ai_addrlen);
	}
	freeaddrinfo(ai);
	if (listener && listener->evl) {
		listener->resume = evtimer_new(server->loops[0].base, on_resume, listener);
		evconnlistener_set_error_cb(listener->evl, on_accept_error);
	}
	if (!listener || !listener->evl || !listener->resume) {
		if (listener && listener->evl)
			evconnlistener_free(listener->evl);
		free(listener);
		return kt_fail(err, KT_ENET, strchr(host, ':') ? "cannot listen on [%s]:%d: %s" : "cannot listen on %s:%d: %s",
			       host, port, strerror(errno));
	}
	listener->next = server->listeners;
	server->listeners = listener;
	*bound = bound_port(listener->evl);
	return 0;
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
	return loop->wake ? 0 : KT_ENOMEM;
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
		free(server);
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
		int code = pthread_create(&server->loops[i].thread, NULL, run, &server->loops[i]);

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

static void loop_fini(struct fb_loop *loop)
{
	if (!loop->server)
		return;
	adopt_all(loop);
	while (loop->conns)
		fb_conn_close(loop->conns);
	if (loop->wake)
		event_free(loop->wake);
	if (loop->base)
		event_base_free(loop->base);
	pthread_mutex_destroy(&loop->lock);
}

void fb_server_free(struct fb_server *server)
{
	if (!server)
		return;
	fb_server_stop(server);
	while (server->listeners) {
		struct fb_listener *listener = server->listeners;

		server->listeners = listener->next;
		evconnlistener_free(listener->evl);
		event_free(listener->resume);
		free(listener);
	}
	if (server->tick)
		event_free(server->tick);
	for (int i = 0; server->loops && i < server->opts.threads; i++)
		loop_fini(&server->loops[i]);
	free(server->loops);
	free(server);
}

int fb_server_connections(const struct fb_server *server)
{
	return atomic_load(&server->connections);
}
