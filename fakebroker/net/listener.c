/* Listeners: accepting connections, and closing and opening one while the others serve. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "fakebroker/net/loop.h"
#include "lib/text/address.h"

enum { REST_MS = 100 };

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
	conn = fb_conn_new(loop, fd, listener, peer);
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

static int port_of(const struct fb_listener *listener)
{
	const struct sockaddr *address = (const struct sockaddr *)&listener->address;

	if (address->sa_family == AF_INET6)
		return ntohs(((const struct sockaddr_in6 *)(const void *)address)->sin6_port);
	return ntohs(((const struct sockaddr_in *)(const void *)address)->sin_port);
}

/* Listens where listener->address says; a thread that is not its loop's may do this while the loop runs. */
static int open_listener(struct fb_listener *listener)
{
	const unsigned flags = LEV_OPT_REUSEABLE | LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_DISABLED;

	listener->evl = evconnlistener_new_bind(listener->server->loops[0].base, on_accept, listener, flags, 1024,
						(struct sockaddr *)&listener->address, (int)listener->naddress);
	if (!listener->evl)
		return KT_ENET;
	evconnlistener_set_error_cb(listener->evl, on_accept_error);
	return 0;
}

static int cannot_listen(const char *host, int port, struct kt_err *err)
{
	char address[KT_ADDRESS_MAX];

	return kt_fail(err, KT_ENET, "cannot listen on %s: %s", kt_address(address, sizeof address, host, port),
		       strerror(errno));
}

int fb_server_listen(struct fb_server *server, const char *host, int port, void *tag, int *bound, struct kt_err *err)
{
	struct fb_listener *listener;
	struct addrinfo *ai;
	int code = resolve(host, port, &ai, err);

	if (code)
		return code;
	listener = calloc(1, sizeof *listener);
	if (listener) {
		listener->server = server;
		listener->tag = tag;
		listener->placeholder = -1;
		memcpy(&listener->address, ai->ai_addr, ai->ai_addrlen);
		listener->naddress = ai->ai_addrlen;
	}
	freeaddrinfo(ai);
	if (!listener)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	if (open_listener(listener) < 0) {
		code = cannot_listen(host, port, err);
		free(listener);
		return code;
	}
	getsockname(evconnlistener_get_fd(listener->evl), (struct sockaddr *)&listener->address, &listener->naddress);
	*bound = port_of(listener);
	listener->resume = evtimer_new(server->loops[0].base, on_resume, listener);
	if (!listener->resume || evconnlistener_enable(listener->evl) < 0) {
		fb_listener_free(listener);
		return kt_fail(err, KT_ENOMEM, "out of memory");
	}
	listener->next = server->listeners;
	server->listeners = listener;
	return 0;
}

void fb_listener_free(struct fb_listener *listener)
{
	if (listener->evl)
		evconnlistener_free(listener->evl);
	if (listener->resume)
		event_free(listener->resume);
	if (listener->placeholder >= 0)
		close(listener->placeholder);
	free(listener);
}

/* ---- closing and opening again ---- */

/* Whether others may bind the port of a socket that does not listen: both sides have to want it. */
static void share(int fd, bool with_others)
{
	int on = with_others;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
}

/* A socket that is bound and does not listen: connections are refused, and nobody else gets the port. -1 with errno. */
static int take_place(const struct fb_listener *listener)
{
	int fd = socket(listener->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1, off = 0, fault;

	if (fd < 0)
		return -1;
	/* With SO_REUSEPORT on both it can be bound while the other still listens, so that the port is never free; then
	 * it is taken back, so that no third one can. Nor can one with SO_REUSEADDR, which servers have and for which
	 * it is enough that nobody listens. */
	setsockopt(evconnlistener_get_fd(listener->evl), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
	share(fd, true);
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) == 0 &&
	    bind(fd, (const struct sockaddr *)&listener->address, listener->naddress) == 0) {
		setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &off, sizeof off);
		share(fd, false);
		return fd;
	}
	fault = errno;
	close(fd);
	errno = fault;
	return -1;
}

/* Others can have the port now, and the broker may not get it back. */
static void lost_port(const struct fb_listener *listener)
{
	const struct fb_server_ops *ops = &listener->server->ops;
	char text[200];

	snprintf(text, sizeof text,
		 "port %d of a broker that is stopped cannot be held: %s", port_of(listener), strerror(errno));
	if (ops->warn)
		ops->warn(ops->arg, text);
}

static void close_listeners(struct fb_server *server)
{
	for (struct fb_listener *listener = server->listeners; listener; listener = listener->next) {
		if (!atomic_load(&listener->closed) || !listener->evl)
			continue;
		event_del(listener->resume);
		listener->placeholder = take_place(listener);
		if (listener->placeholder < 0)
			lost_port(listener);
		evconnlistener_free(listener->evl);
		listener->evl = NULL;
	}
}

static void close_connections(struct fb_loop *loop)
{
	struct fb_conn *next;

	for (struct fb_conn *conn = loop->conns; conn; conn = next) {
		next = conn->next;
		if (atomic_load(&conn->listener->closed))
			fb_conn_close(conn);
	}
}

/* The first loop accepts, so it goes first: what it has handed over is with its loop by then, and nothing follows. */
void fb_loop_sweep(struct fb_loop *loop)
{
	struct fb_server *server = loop->server;
	bool first = loop == &server->loops[0], due;
	unsigned upto;

	pthread_mutex_lock(&server->lock);
	upto = first ? server->closings : server->loops[0].swept;
	due = loop->swept != upto;
	pthread_mutex_unlock(&server->lock);
	if (!due)
		return;
	if (first)
		close_listeners(server);
	else
		fb_loop_adopt(loop);
	close_connections(loop);
	pthread_mutex_lock(&server->lock);
	loop->swept = upto;
	pthread_cond_broadcast(&server->done);
	pthread_mutex_unlock(&server->lock);
	for (int i = 1; first && i < server->opts.threads; i++)
		event_active(server->loops[i].wake, 0, 0);
}

/* Under the server's lock. */
static bool all_swept(const struct fb_server *server)
{
	for (int i = 0; i < server->opts.threads; i++)
		if (server->loops[i].swept != server->closings)
			return false;
	return true;
}

static struct fb_listener *listener_of(struct fb_server *server, const void *tag)
{
	struct fb_listener *listener = server->listeners;

	while (listener && listener->tag != tag)
		listener = listener->next;
	return listener;
}

static int held_up(struct kt_err *err)
{
	return kt_fail(err, KT_ETIMEOUT, "a request holds up a thread; its connections close when it is over");
}

void fb_server_close_soon(struct fb_server *server, const void *tag)
{
	atomic_store(&listener_of(server, tag)->closed, true);
	pthread_mutex_lock(&server->lock);
	server->closings++;
	event_active(server->loops[0].wake, 0, 0);
	pthread_mutex_unlock(&server->lock);
}

int fb_server_close(struct fb_server *server, const void *tag, int64_t ms, struct kt_err *err)
{
	struct timespec until;
	int code = 0;

	fb_server_close_soon(server, tag);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += ms % 1000 * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	pthread_mutex_lock(&server->lock);
	while (!all_swept(server) && !code)
		code = pthread_cond_timedwait(&server->done, &server->lock, &until);
	pthread_mutex_unlock(&server->lock);
	return code ? held_up(err) : 0;
}

int fb_server_reopen(struct fb_server *server, const void *tag, struct kt_err *err)
{
	struct fb_listener *listener = listener_of(server, tag);
	bool ready;

	pthread_mutex_lock(&server->lock);
	ready = all_swept(server);
	pthread_mutex_unlock(&server->lock);
	if (!ready)
		return held_up(err);
	if (listener->placeholder >= 0)
		share(listener->placeholder, true);
	if (open_listener(listener) < 0) {
		kt_fail(err, KT_ENET, "cannot listen on port %d again: %s", port_of(listener), strerror(errno));
		if (listener->placeholder >= 0)
			share(listener->placeholder, false);
		return KT_ENET;
	}
	if (listener->placeholder >= 0)
		close(listener->placeholder);
	listener->placeholder = -1;
	atomic_store(&listener->closed, false);
	return evconnlistener_enable(listener->evl) < 0 ? kt_fail(err, KT_ENOMEM, "out of memory") : 0;
}
