/* A broker for tests that answers every request of the kit with defaults, and those of one API wrongly: a thread with
 * all its connections. */
#ifndef KASSAY_CONFORMANCE_TESTS_FAULTY_H
#define KASSAY_CONFORMANCE_TESTS_FAULTY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kw_messages.h"

enum faulty_fault {
	FAULTY_SOUND,
	FAULTY_TWICE,
	FAULTY_ALWAYS,      /* also to acks=0 */
	FAULTY_OTHER_ID,    /* the correlation id and 7 */
	FAULTY_CUT,         /* without the last byte */
	FAULTY_LONG,        /* with two bytes more */
	FAULTY_LATE,        /* in front of the next answer */
	FAULTY_CLOSE,
};

enum { FAULTY_APIS = 128, FAULTY_CONNECTIONS = 16, FAULTY_PRODUCE = 0, FAULTY_API_VERSIONS = 18 };

struct faulty {
	/* Set by the test before it starts: */
	int api;
	enum faulty_fault fault;         /* of the answers to requests of that API */
	json_t *(*answer)(int api, const void *request, int nth);   /* a body, NULL for the default; nth of its API */

	int port, stop[2];
	pthread_t thread;
	struct pollfd fds[2 + FAULTY_CONNECTIONS];   /* who says that it ends, the listener, connections */
	nfds_t nfds;
	struct kw_buf late;
	int asked[FAULTY_APIS];
};

static json_t *faulty_versions(void)
{
	json_t *rows = json_array();

	for (int key = 0; key < FAULTY_APIS; key++)
		if (kw_request(key))
			json_array_append_new(rows, json_pack("{s:i, s:i, s:i}", "apiKey", key, "minVersion",
							      kw_request(key)->versions.min, "maxVersion",
							      kw_request(key)->versions.max));
	return json_pack("{s:o}", "apiKeys", rows);
}

/* Appends the whole frame of the answer. */
static void faulty_encode(const struct faulty *faulty, const struct kw_RequestHeader *header, json_t *body,
			  struct kw_buf *out)
{
	int api = header->requestApiKey, version = header->requestApiVersion;
	bool wrong = api == faulty->api;
	struct kw_ResponseHeader head = {
		.correlationId = header->correlationId + (wrong && faulty->fault == FAULTY_OTHER_ID ? 7 : 0)};
	struct kt_err err = {0};
	struct kw_arena arena;
	size_t at = out->n;
	void *response;

	kw_arena_init(&arena, 0);
	kw_put_u32(out, 0);
	assert_int_equal(kw_from_json(kw_response(api), version, body, &arena, &response, &err), 0);
	assert_int_equal(kw_encode(&kw_msg_ResponseHeader, kw_response_header_version(api, version), &head, out, &err),
			 0);
	assert_int_equal(kw_encode(kw_response(api), version, response, out, &err), 0);
	if (wrong && faulty->fault == FAULTY_CUT)
		out->n--;
	if (wrong && faulty->fault == FAULTY_LONG)
		kw_put_u16(out, 0);
	kw_wr32(out->p + at, (uint32_t)(out->n - at - 4));
	kw_arena_fini(&arena);
}

/* What is sent for one request; false closes the connection. */
static bool faulty_serve(struct faulty *faulty, const uint8_t *p, size_t n, struct kw_buf *out)
{
	const struct kw_RequestHeader *header;
	void *head, *request = NULL;
	struct kt_err err = {0};
	struct kw_arena arena;
	bool wrong, silent;
	int api = kw_rd16(p), version = kw_rd16(p + 2);
	size_t used;
	json_t *body;

	if (api >= FAULTY_APIS || !kw_request(api))
		return false;
	kw_arena_init(&arena, 0);
	assert_int_equal(kw_decode(&kw_msg_RequestHeader, kw_request_header_version(api, version), p, n, &arena, &head,
				   &used, &err), 0);
	assert_int_equal(kw_decode(kw_request(api), version, p + used, n - used, &arena, &request, NULL, &err), 0);
	header = head;
	wrong = api == faulty->api;
	body = faulty->answer ? faulty->answer(api, request, faulty->asked[api]) : NULL;
	faulty->asked[api]++;
	if (!body)
		body = api == FAULTY_API_VERSIONS ? faulty_versions() : json_object();
	silent = api == FAULTY_PRODUCE && ((const struct kw_ProduceRequest *)request)->acks == 0 &&
		 !(wrong && faulty->fault == FAULTY_ALWAYS);
	kw_put(out, faulty->late.p, faulty->late.n);
	faulty->late.n = 0;
	for (int i = 0; !silent && i <= (wrong && faulty->fault == FAULTY_TWICE); i++)
		faulty_encode(faulty, header, body, wrong && faulty->fault == FAULTY_LATE ? &faulty->late : out);
	json_decref(body);
	kw_arena_fini(&arena);
	return !(wrong && faulty->fault == FAULTY_CLOSE);
}

static bool faulty_read(int fd, uint8_t *p, size_t n)
{
	for (ssize_t got; n > 0; p += got, n -= (size_t)got) {
		got = recv(fd, p, n, 0);
		if (got <= 0)
			return false;
	}
	return true;
}

/* One frame of a connection; false when it has ended. */
static bool faulty_turn(struct faulty *faulty, int fd)
{
	struct kw_buf in = {0}, out = {0};
	uint8_t size[4], *p;
	bool ok = faulty_read(fd, size, sizeof size);
	size_t n = ok ? kw_rd32(size) : 0;

	p = kw_buf_room(&in, n + 1);
	ok = ok && faulty_read(fd, p, n) && faulty_serve(faulty, p, n, &out);
	for (size_t at = 0; ok && at < out.n;) {
		ssize_t sent = send(fd, out.p + at, out.n - at, MSG_NOSIGNAL);

		ok = sent > 0;
		at += ok ? (size_t)sent : 0;
	}
	kw_buf_fini(&in);
	kw_buf_fini(&out);
	return ok;
}

static void *faulty_run(void *arg)
{
	struct faulty *faulty = arg;

	while (poll(faulty->fds, faulty->nfds, -1) > 0 && !faulty->fds[0].revents) {
		if (faulty->fds[1].revents && faulty->nfds < 2 + FAULTY_CONNECTIONS)
			faulty->fds[faulty->nfds++] =
				(struct pollfd){.fd = accept(faulty->fds[1].fd, NULL, NULL), .events = POLLIN};
		for (nfds_t i = 2; i < faulty->nfds; i++) {
			if (!faulty->fds[i].revents || faulty_turn(faulty, faulty->fds[i].fd))
				continue;
			close(faulty->fds[i].fd);
			faulty->fds[i--] = faulty->fds[--faulty->nfds];
		}
	}
	return NULL;
}

static void faulty_start(struct faulty *faulty)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof address;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(listen(fd, FAULTY_CONNECTIONS), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	assert_int_equal(pipe(faulty->stop), 0);
	faulty->port = ntohs(address.sin_port);
	faulty->fds[0] = (struct pollfd){.fd = faulty->stop[0], .events = POLLIN};
	faulty->fds[1] = (struct pollfd){.fd = fd, .events = POLLIN};
	faulty->nfds = 2;
	assert_int_equal(pthread_create(&faulty->thread, NULL, faulty_run, faulty), 0);
}

static void faulty_stop(struct faulty *faulty)
{
	assert_int_equal(write(faulty->stop[1], "", 1), 1);
	pthread_join(faulty->thread, NULL);
	for (nfds_t i = 0; i < faulty->nfds; i++)
		close(faulty->fds[i].fd);
	close(faulty->stop[1]);
	kw_buf_fini(&faulty->late);
}

#endif
