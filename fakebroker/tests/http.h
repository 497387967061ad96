/* HTTP as a test needs it: one request a connection, the answer whole. */
#ifndef KASSAY_FAKEBROKER_TESTS_HTTP_H
#define KASSAY_FAKEBROKER_TESTS_HTTP_H

#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fakebroker/tests/running.h"

struct http {
	int status;                /* 0: no answer */
	char *text;                /* head and body */
	const char *body;
	json_t *json;              /* of the body, or NULL */
};

static inline int http_dial(int port)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	struct timeval tv = {30, 0};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
	assert_int_equal(connect(fd, (struct sockaddr *)&in, sizeof in), 0);
	return fd;
}

/* The peer may close before it has read all: then the answer tells. */
static inline void http_write(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t k = send(fd, p, n, MSG_NOSIGNAL);

		if (k <= 0)
			return;
		p += k;
		n -= (size_t)k;
	}
}

/* body NULL: none. */
static inline void http_send(int fd, const char *method, const char *path, const char *body)
{
	char head[4096];

	if (body)
		snprintf(head, sizeof head,
			 "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n", method, path,
			 strlen(body));
	else
		snprintf(head, sizeof head, "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", method, path);
	http_write(fd, head, strlen(head));
	if (body)
		http_write(fd, body, strlen(body));
}

/* Reads to the end and closes. */
static inline struct http http_read(int fd)
{
	struct http http = {0};
	size_t n = 0;
	ssize_t k;

	do {
		http.text = realloc(http.text, n + 65536);
		k = recv(fd, http.text + n, 65535, 0);
		n += k > 0 ? (size_t)k : 0;
	} while (k > 0);
	close(fd);
	http.text[n] = '\0';
	http.body = strstr(http.text, "\r\n\r\n");
	http.body = http.body ? http.body + 4 : "";
	sscanf(http.text, "HTTP/1.%*d %d", &http.status);
	http.json = json_loads(http.body, JSON_DECODE_ANY, NULL);
	return http;
}

static inline void http_free(struct http *http)
{
	json_decref(http->json);
	free(http->text);
}

static inline struct http http_ask(struct running *r, const char *method, const char *path, const char *body)
{
	int fd = http_dial(r->process.control_port);

	http_send(fd, method, path, body);
	return http_read(fd);
}

/* The answer's JSON, a new reference; the test fails with any other status than `status`. */
static inline json_t *http_json(struct running *r, int status, const char *method, const char *path, const char *body)
{
	struct http http = http_ask(r, method, path, body);
	json_t *json = json_incref(http.json);

	if (http.status != status)
		fail_msg("%s %s: %d, not %d: %s", method, path, http.status, status, http.body);
	if (!json)
		fail_msg("%s %s: no JSON: %s", method, path, http.body);
	http_free(&http);
	return json;
}

/* The id of the last request that was recorded; 0 if none was. */
static inline int64_t http_last_request(struct running *r)
{
	int64_t last = 0;
	size_t n;

	do {
		char path[80];
		json_t *json;

		snprintf(path, sizeof path, "/v1/requests?limit=10000&after=%lld", (long long)last);
		json = http_json(r, 200, "GET", path, NULL);
		n = json_array_size(json);
		if (n)
			last = json_integer_value(json_object_get(json_array_get(json, n - 1), "id"));
		json_decref(json);
	} while (n);
	return last;
}

/* http_json() for an error, whose text is "error"'s. */
static inline void http_error(struct running *r, int status, const char *method, const char *path, const char *body,
			      const char *error)
{
	json_t *json = http_json(r, status, method, path, body);

	assert_string_equal(json_string_value(json_object_get(json, "error")), error);
	json_decref(json);
}

#endif
