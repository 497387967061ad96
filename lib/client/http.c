#include "lib/client/http.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/client/conn.h"

#define SCHEME "http://"

enum { ANSWER_MAX = 16 << 20 };

int kc_http_server(const char *given, char *url, size_t size, struct kt_err *err)
{
	bool has_scheme = strncmp(given, SCHEME, strlen(SCHEME)) == 0;
	const char *address = has_scheme ? given + strlen(SCHEME) : given;
	size_t n = strlen(address);
	char host[256], text[300];
	int port;

	if (n > 0 && address[n - 1] == '/')
		n--;
	snprintf(text, sizeof text, "%.*s", (int)n, address);
	if (n >= sizeof text || strpbrk(text, "/,") || kc_parse_address(text, host, sizeof host, &port, NULL) < 0)
		return kt_fail(err, KT_EUSAGE, "\"%.200s\" is not an address as " SCHEME "host:port", given);
	if (!has_scheme)
		return kt_fail(err, KT_EUSAGE, "\"%.200s\" is not an address as " SCHEME "host:port; did you mean \""
			       SCHEME "%s\"?", given, text);
	if ((size_t)snprintf(url, size, SCHEME "%s", text) >= size)
		return kt_fail(err, KT_EUSAGE, "\"%.200s\" is too long", given);
	return 0;
}

int kc_http_answer(const char *text, int *status, char **answer, struct kt_err *err)
{
	const char *end = strstr(text, "\r\n\r\n");

	if (!end || sscanf(text, "HTTP/1.%*1d %3d", status) != 1 || *status < 100)
		return kt_fail(err, KT_ESYNTAX, "the answer is not HTTP");
	if (strcasestr(text, "\r\ntransfer-encoding: chunked") &&
	    strcasestr(text, "\r\ntransfer-encoding: chunked") < end)
		return kt_fail(err, KT_ESYNTAX, "the answer comes in chunks, which are not read here");
	*answer = strdup(end + 4);
	return *answer ? 0 : kt_fail(err, KT_ENOMEM, "out of memory");
}

/* Sends the request and takes what comes until the server closes behind its answer. */
static int exchange(struct kc_conn *conn, const char *request, size_t size, int64_t deadline, int *status,
		    char **answer, struct kt_err *err)
{
	const uint8_t *p;
	char *text;
	size_t n;

	if (kc_write(conn, request, size, deadline, err) < 0 ||
	    kc_read_all(conn, ANSWER_MAX, deadline, &p, &n, err) < 0)
		return err->code;
	text = malloc(n + 1);
	if (!text)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	memcpy(text, p, n);
	text[n] = '\0';
	kc_http_answer(text, status, answer, err);
	free(text);
	return err->code;
}

int kc_http(const char *method, const char *url, const char *body, int timeout, int *status, char **answer,
	    struct kt_err *err)
{
	const char *rest = strncmp(url, "http://", 7) == 0 ? url + 7 : NULL, *path = rest ? strchr(rest, '/') : NULL;
	int64_t deadline = kc_now_ms() + timeout;
	char address[300], host[256], *request;
	struct kc_conn *conn;
	int port, n;

	*answer = NULL;
	if (!path || (size_t)(path - rest) >= sizeof address)
		return kt_fail(err, KT_EUSAGE, "\"%s\" is not an address as http://host:port/path", url);
	snprintf(address, sizeof address, "%.*s", (int)(path - rest), rest);
	if (kc_parse_address(address, host, sizeof host, &port, err) < 0 ||
	    kc_connect(host, port, NULL, deadline, &conn, err) < 0)
		return err->code;
	n = asprintf(&request, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nContent-Type: application/json\r\n"
		     "Content-Length: %zu\r\n\r\n%s", method, path, address, body ? strlen(body) : 0, body ? body : "");
	if (n < 0) {
		kt_fail(err, KT_ENOMEM, "out of memory");
	} else {
		exchange(conn, request, (size_t)n, deadline, status, answer, err);
		free(request);
	}
	kc_free(conn);
	return err->code;
}
