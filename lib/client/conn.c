#include "lib/client/conn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "lib/text/number.h"

enum {
	SIZE_FIELD = 4,
	LARGEST_FRAME = 128 << 20,
	FIRST_READ = 16 << 10,
};

int64_t kc_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- addresses ---- */

int kc_parse_address(const char *address, char *host, size_t size, int *port, struct kt_err *err)
{
	size_t n = strcspn(address, ",");
	const char *colon = memrchr(address, ':', n), *from = address, *to = colon;
	bool bracketed = colon && colon - address >= 2 && address[0] == '[' && colon[-1] == ']';
	char digits[8];
	size_t ndigits;
	int64_t number;

	if (bracketed) {
		from++;
		to--;
	}
	if (!colon || from == to || (!bracketed && memchr(from, ':', (size_t)(to - from))))
		return kt_fail(err, KT_ESYNTAX, "\"%.*s\" is no address; write host:port or [::1]:port", (int)n,
			       address);
	if ((size_t)(to - from) >= size)
		return kt_fail(err, KT_ESYNTAX, "the host name in \"%.*s\" is too long", (int)n, address);
	ndigits = (size_t)(address + n - colon - 1);
	snprintf(digits, sizeof digits, "%.*s", (int)ndigits, colon + 1);
	if (ndigits >= sizeof digits || !strchr("0123456789", *digits) ||
	    kt_parse_int(digits, 1, 65535, &number, NULL) < 0)
		return kt_fail(err, KT_ESYNTAX, "\"%.*s\" has no port from 1 to 65535", (int)n, address);
	memcpy(host, from, (size_t)(to - from));
	host[to - from] = '\0';
	*port = (int)number;
	return 0;
}

/* ---- waiting ---- */

/* Milliseconds until a deadline, as poll() takes them. */
static int poll_time(int64_t deadline)
{
	int64_t left = deadline - kc_now_ms();

	if (left < 0)
		return 0;
	return left > INT_MAX ? INT_MAX : (int)left;
}

/* What of events (poll's) became possible, 0 when the deadline has passed. */
static int wait_for(int fd, int events, int64_t deadline)
{
	struct pollfd pfd = {.fd = fd, .events = (short)events};

	for (;;) {
		int n = poll(&pfd, 1, poll_time(deadline));

		if (n > 0)
			return pfd.revents;
		if (n == 0 && kc_now_ms() >= deadline)
			return 0;
	}
}

/* ---- connecting ---- */

/* One address. Returns the socket, or a negative errno. */
static int connect_to(const struct addrinfo *address, int64_t deadline)
{
	int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), one = 1, fault = 0;
	socklen_t size = sizeof fault;

	if (fd < 0)
		return -errno;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	if (connect(fd, address->ai_addr, address->ai_addrlen) == 0)
		return fd;
	fault = errno;
	if (fault == EINPROGRESS || fault == EINTR) {
		if (wait_for(fd, POLLOUT, deadline) == 0)
			fault = ETIMEDOUT;
		else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &fault, &size) < 0)
			fault = errno;
	}
	if (fault == 0)
		return fd;
	close(fd);
	return -fault;
}

/* The addresses one after the other, each with its share of the time. */
static int connect_any(const struct addrinfo *list, int64_t deadline)
{
	int64_t left = deadline - kc_now_ms(), n = 0, i = 0;
	int fd = -ENOENT;

	for (const struct addrinfo *address = list; address; address = address->ai_next)
		n++;
	for (; list && fd < 0; list = list->ai_next)
		fd = connect_to(list, deadline == INT64_MAX ? deadline : deadline - left / n * (n - ++i));
	return fd;
}

static struct kc_conn *new_conn(const char *host, int port, const char *client_id)
{
	struct kc_conn *conn = calloc(1, sizeof *conn);

	if (!conn)
		return NULL;
	conn->fd = -1;
	kt_address(conn->peer, sizeof conn->peer, host, port);
	kw_buf_init(&conn->out, 0);
	kw_arena_init(&conn->arena, 0);
	if (client_id && !(conn->client_id = strdup(client_id))) {
		kc_free(conn);
		return NULL;
	}
	return conn;
}

int kc_connect(const char *host, int port, const char *client_id, int64_t deadline, struct kc_conn **out,
	       struct kt_err *err)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV}, *list = NULL;
	struct kc_conn *conn = new_conn(host, port, client_id);
	char service[16];
	int rc;

	*out = NULL;
	if (!conn)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	snprintf(service, sizeof service, "%d", port);
	rc = getaddrinfo(host, service, &hints, &list);
	if (rc != 0) {
		rc = kt_fail(err, KT_ENET, "cannot look up %s: %s", host, gai_strerror(rc));
		goto out;
	}
	conn->fd = connect_any(list, deadline);
	if (conn->fd < 0)
		rc = kt_fail(err, conn->fd == -ETIMEDOUT ? KT_ETIMEOUT : KT_ENET, "cannot connect to %s: %s",
			     conn->peer, strerror(-conn->fd));
	freeaddrinfo(list);
out:
	if (rc < 0)
		kc_free(conn);
	else
		*out = conn;
	return rc;
}

void kc_free(struct kc_conn *conn)
{
	if (!conn)
		return;
	if (conn->fd >= 0)
		close(conn->fd);
	kw_buf_fini(&conn->out);
	kw_arena_fini(&conn->arena);
	free(conn->client_id);
	free(conn->in);
	free(conn);
}

int kc_fd(const struct kc_conn *conn)
{
	return conn->fd;
}

/* ---- fate ---- */

enum kc_fate kc_fate(const struct kc_conn *conn)
{
	return conn->fate;
}

static void end(struct kc_conn *conn, enum kc_fate fate, int fault)
{
	if (conn->fate == KC_OPEN) {
		conn->fate = fate;
		conn->fate_errno = fault;
	}
}

static size_t unread(const struct kc_conn *conn)
{
	return conn->arrived - conn->taken;
}

static int fail_memory(const struct kc_conn *conn, struct kt_err *err)
{
	return kt_fail(err, KT_ENOMEM, "out of memory with %zu bytes of %s unread", unread(conn), conn->peer);
}

static int fail_ended(const struct kc_conn *conn, const char *when, struct kt_err *err)
{
	if (conn->fate == KC_CLOSED)
		return kt_fail(err, KT_ECLOSED, "%s closed the connection%s", conn->peer, when);
	return kt_fail(err, KT_ENET, "connection to %s failed%s: %s", conn->peer, when, strerror(conn->fate_errno));
}

/* ---- receiving ---- */

static bool is_full(const struct kc_conn *conn)
{
	return unread(conn) > LARGEST_FRAME + SIZE_FIELD;
}

/* Makes room behind what has arrived: the buffer doubles when it is full, whatever sizes the peer announces. */
static bool make_room(struct kc_conn *conn)
{
	size_t cap = conn->incap ? conn->incap * 2 : FIRST_READ;
	uint8_t *grown;

	if (conn->taken > 0) {
		memmove(conn->in, conn->in + conn->taken, unread(conn));
		conn->arrived = unread(conn);
		conn->taken = 0;
	}
	if (conn->arrived < conn->incap)
		return true;
	grown = realloc(conn->in, cap);
	if (!grown)
		return false;
	conn->in = grown;
	conn->incap = cap;
	return true;
}

/* Takes what has arrived, without waiting. Returns 1 if there was something (bytes, or the end), 0, or KT_ENOMEM. */
static int receive(struct kc_conn *conn)
{
	ssize_t n;

	if (!make_room(conn))
		return KT_ENOMEM;
	do
		n = recv(conn->fd, conn->in + conn->arrived, conn->incap - conn->arrived, 0);
	while (n < 0 && errno == EINTR);
	if (n > 0)
		conn->arrived += (size_t)n;
	else if (n == 0)
		end(conn, KC_CLOSED, 0);
	else if (errno != EAGAIN)
		end(conn, KC_RESET, errno);
	return n >= 0 || errno != EAGAIN;
}

/* Waits for something to arrive and takes it. Returns 0, KT_ETIMEOUT or KT_ENOMEM. */
static int await(struct kc_conn *conn, int64_t deadline)
{
	int rc;

	while ((rc = receive(conn)) == 0) {
		if (wait_for(conn->fd, POLLIN, deadline) == 0)
			return KT_ETIMEOUT;
	}
	return rc < 0 ? rc : 0;
}

enum kc_fate kc_wait_close(struct kc_conn *conn, int64_t deadline)
{
	while (conn->fate == KC_OPEN && !is_full(conn) && await(conn, deadline) == 0)
		;
	return conn->fate;
}

/* The size field of the next frame, which must be here. */
static int32_t announced(const struct kc_conn *conn)
{
	return (int32_t)kw_rd32(conn->in + conn->taken);
}

bool kc_has_frame(const struct kc_conn *conn)
{
	size_t n = unread(conn);

	return n >= SIZE_FIELD && announced(conn) >= 0 && n - SIZE_FIELD >= (size_t)announced(conn);
}

int kc_read_frame(struct kc_conn *conn, int64_t deadline, const uint8_t **p, size_t *n, struct kt_err *err)
{
	int rc;

	while (!kc_has_frame(conn)) {
		int32_t size = unread(conn) >= SIZE_FIELD ? announced(conn) : 0;

		if (size < 0)
			return kt_fail(err, KT_ECORRUPT, "%s sent a frame size of %d", conn->peer, (int)size);
		if (size > LARGEST_FRAME)
			return kt_fail(err, KT_ELIMIT, "%s announced a frame of %d bytes", conn->peer, (int)size);
		if (conn->fate != KC_OPEN)
			return fail_ended(conn, unread(conn) ? " in the middle of a frame" : "", err);
		rc = await(conn, deadline);
		if (rc == KT_ETIMEOUT)
			return kt_fail(err, rc, "no answer from %s in time", conn->peer);
		if (rc < 0)
			return fail_memory(conn, err);
	}
	*n = (size_t)announced(conn);
	*p = conn->in + conn->taken + SIZE_FIELD;
	conn->taken += SIZE_FIELD + *n;
	conn->answered = true;
	return 0;
}

int kc_read_all(struct kc_conn *conn, size_t max, int64_t deadline, const uint8_t **p, size_t *n, struct kt_err *err)
{
	while (conn->fate == KC_OPEN && unread(conn) <= max) {
		int rc = await(conn, deadline);

		if (rc == KT_ETIMEOUT)
			return kt_fail(err, rc, "no answer from %s in time", conn->peer);
		if (rc < 0)
			return fail_memory(conn, err);
	}
	if (unread(conn) > max)
		return kt_fail(err, KT_ELIMIT, "%s sends more than %zu bytes", conn->peer, max);
	if (conn->fate == KC_RESET)
		return fail_ended(conn, "", err);
	*p = conn->in + conn->taken;
	*n = unread(conn);
	conn->taken = conn->arrived;
	return 0;
}

/* ---- sending ---- */

int kc_write(struct kc_conn *conn, const void *p, size_t n, int64_t deadline, struct kt_err *err)
{
	const uint8_t *from = p;

	while (n > 0) {
		bool listening = conn->fate == KC_OPEN && !is_full(conn);
		ssize_t sent = send(conn->fd, from, n, MSG_NOSIGNAL);
		int ready;

		if (sent >= 0) {
			from += sent;
			n -= (size_t)sent;
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN) {
			/* EPIPE: the peer had closed in order before it refused these bytes. */
			end(conn, errno == EPIPE ? KC_CLOSED : KC_RESET, errno);
			return fail_ended(conn, " before it had read all", err);
		}
		ready = wait_for(conn->fd, listening ? POLLIN | POLLOUT : POLLOUT, deadline);
		if (ready == 0)
			return kt_fail(err, KT_ETIMEOUT, "%s did not take all bytes in time", conn->peer);
		if ((ready & POLLIN) && receive(conn) < 0)
			return fail_memory(conn, err);
	}
	return 0;
}

void kc_shutdown_write(struct kc_conn *conn)
{
	shutdown(conn->fd, SHUT_WR);
}
