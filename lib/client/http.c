#include "lib/client/http.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "lib/client/client.h"
#include "lib/wire/buf.h"

enum { ANSWER_MAX = 16 << 20 };

static int dial(const char *host, int port, int timeout, int *out, struct kt_err *err)
{
	struct timeval tv = {.tv_sec = timeout / 1000, .tv_usec = timeout % 1000 * 1000};
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
	char service[16];
	int fd = -1, rc;

	snprintf(service, sizeof service, "%d", port);
	rc = getaddrinfo(host, service, &hints, &list);
	if (rc)
		return kt_fail(err, KT_ENET, "%s: %s", host, gai_strerror(rc));
	for (struct addrinfo *ai = list; ai && fd < 0; ai = ai->ai_next) {
		fd = socket(ai->ai_family, ai->ai_socktype | SOCK_CLOEXEC, ai->ai_protocol);
		if (fd < 0)
			continue;
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof tv);
		if (connect(fd, ai->ai_addr, ai->ai_addrlen)) {
			rc = errno;
			close(fd);
			fd = -1;
		}
	}
	freeaddrinfo(list);
	*out = fd;
	return fd < 0 ? kt_fail(err, KT_ENET, "%s:%d: %s", host, port, strerror(rc)) : 0;
}

static int failed(const char *what, struct kt_err *err)
{
	if (errno == EAGAIN || errno == EWOULDBLOCK)
		return kt_fail(err, KT_ETIMEOUT, "%s: no answer in time", what);
	return kt_fail(err, KT_ENET, "%s: %s", what, strerror(errno));
}

static int write_all(int fd, const char *p, size_t n, struct kt_err *err)
{
	while (n > 0) {
		ssize_t done = send(fd, p, n, MSG_NOSIGNAL);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return failed("the control API", err);
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

/* The server closes behind its answer. */
static int read_all(int fd, struct kw_buf *buf, struct kt_err *err)
{
	char part[16384];

	for (;;) {
		ssize_t n = recv(fd, part, sizeof part, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return failed("the control API", err);
		if (n == 0)
			break;
		kw_put(buf, part, (size_t)n);
		if (buf->failed)
			return kt_fail(err, KT_ELIMIT, "the control API's answer is above 16 MiB");
	}
	kw_put_u8(buf, 0);
	return buf->failed ? kt_fail(err, KT_ENOMEM, "out of memory") : 0;
}

int kc_http_answer(const char *text, int *status, char **answer, struct kt_err *err)
{
	const char *end = strstr(text, "\r\n\r\n");

	if (!end || sscanf(text, "HTTP/1.%*1d %3d", status) != 1 || *status < 100)
		return kt_fail(err, KT_ESYNTAX, "the control API's answer is not HTTP");
	if (strcasestr(text, "\r\ntransfer-encoding: chunked") && strcasestr(text, "\r\ntransfer-encoding: chunked") < end)
		return kt_fail(err, KT_ESYNTAX, "the control API answers in chunks");
	*answer = strdup(end + 4);
	return *answer ? 0 : kt_fail(err, KT_ENOMEM, "out of memory");
}

int kc_http(const char *method, const char *url, const char *body, int timeout, int *status, char **answer,
	    struct kt_err *err)
{
	const char *rest = strncmp(url, "http://", 7) == 0 ? url + 7 : NULL, *path = rest ? strchr(rest, '/') : NULL;
	char address[300], host[256], *request = NULL;
	struct kw_buf buf;
	int port, fd = -1, n;

	*answer = NULL;
	if (!path || (size_t)(path - rest) >= sizeof address)
		return kt_fail(err, KT_EUSAGE, "\"%s\" is not the address of a control API", url);
	snprintf(address, sizeof address, "%.*s", (int)(path - rest), rest);
	kw_buf_init(&buf, ANSWER_MAX);
	if (kc_parse_address(address, host, sizeof host, &port, err) || dial(host, port, timeout, &fd, err))
		goto out;
	n = asprintf(&request, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nContent-Type: application/json\r\n"
		     "Content-Length: %zu\r\n\r\n%s", method, path, address, body ? strlen(body) : 0, body ? body : "");
	if (n < 0) {
		request = NULL;
		kt_fail(err, KT_ENOMEM, "out of memory");
	} else if (write_all(fd, request, (size_t)n, err) == 0 && read_all(fd, &buf, err) == 0) {
		kc_http_answer((const char *)buf.p, status, answer, err);
	}
out:
	free(request);
	kw_buf_fini(&buf);
	if (fd >= 0)
		close(fd);
	return err->code;
}
