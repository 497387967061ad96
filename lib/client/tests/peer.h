/* A peer for tests: a thread that listens on a loopback port, accepts one connection after the other, and plays one
 * list of steps to each. What it read can be looked at once peer_join() has returned. */
#ifndef KASSAY_CLIENT_TESTS_PEER_H
#define KASSAY_CLIENT_TESTS_PEER_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum peer_do {
	PEER_END,           /* close, if not closed before */
	PEER_READ,          /* one frame */
	PEER_READ_SOME,     /* n bytes, which are forgotten */
	PEER_SEND,          /* n bytes at p */
	PEER_SEND_BYTEWISE, /* the same, each byte by itself */
	PEER_SEND_ZEROS,    /* n zero bytes */
	PEER_ANSWER,        /* a frame: size, the correlation id of the frame read last, and the n bytes at p */
	PEER_AWAIT,         /* until the test posts peer.go */
	PEER_READ_END,      /* until the client has closed or half-closed */
	PEER_CLOSE,
	PEER_RESET,
};

struct peer_step {
	enum peer_do what;
	const void *p;
	size_t n;
};

/* A literal as the p and n of a step. */
#define PEER_BYTES(literal) (literal), sizeof(literal) - 1

struct peer_frame {
	unsigned char *p;   /* without the size field */
	size_t n;
};

struct peer {
	int fd, port;
	pthread_t thread;
	sem_t go;
	const struct peer_step *const *scripts;   /* one for each connection, NULL at the end */
	struct peer_frame frames[16];
	size_t nframes;
};

static bool peer_read(int fd, void *to, size_t n)
{
	unsigned char *p = to;

	while (n > 0) {
		ssize_t got = recv(fd, p, n, 0);

		if (got <= 0)
			return false;
		p += got;
		n -= (size_t)got;
	}
	return true;
}

static void peer_send(int fd, const void *from, size_t n)
{
	const unsigned char *p = from;

	while (n > 0) {
		ssize_t sent = send(fd, p, n, MSG_NOSIGNAL);

		if (sent <= 0)
			return;
		p += sent;
		n -= (size_t)sent;
	}
}

static void peer_read_frame(struct peer *peer, int fd)
{
	unsigned char size[4];
	struct peer_frame *frame = &peer->frames[peer->nframes];

	if (!peer_read(fd, size, 4))
		return;
	frame->n = (size_t)size[0] << 24 | (size_t)size[1] << 16 | (size_t)size[2] << 8 | size[3];
	frame->p = malloc(frame->n + 1);
	if (peer_read(fd, frame->p, frame->n))
		peer->nframes++;
	else
		free(frame->p);
}

static void peer_answer(const struct peer *peer, int fd, const struct peer_step *step)
{
	size_t n = step->n + 4;
	unsigned char head[8] = {(unsigned char)(n >> 24), (unsigned char)(n >> 16), (unsigned char)(n >> 8),
				 (unsigned char)n};

	memcpy(head + 4, peer->frames[peer->nframes - 1].p + 4, 4);
	peer_send(fd, head, 8);
	peer_send(fd, step->p, step->n);
}

static void peer_play(struct peer *peer, int fd, const struct peer_step *step)
{
	static const unsigned char zeros[4096];
	const struct linger at_once = {.l_onoff = 1};
	unsigned char junk[4096];

	for (; step->what != PEER_END; step++) {
		switch (step->what) {
		case PEER_READ:
			peer_read_frame(peer, fd);
			break;
		case PEER_READ_SOME:
			for (size_t left = step->n, n; left > 0; left -= n) {
				n = left < sizeof junk ? left : sizeof junk;
				if (!peer_read(fd, junk, n))
					break;
			}
			break;
		case PEER_SEND:
			peer_send(fd, step->p, step->n);
			break;
		case PEER_SEND_BYTEWISE:
			for (size_t i = 0; i < step->n; i++)
				peer_send(fd, (const unsigned char *)step->p + i, 1);
			break;
		case PEER_SEND_ZEROS:
			for (size_t i = 0; i < step->n; i += sizeof zeros)
				peer_send(fd, zeros, step->n - i < sizeof zeros ? step->n - i : sizeof zeros);
			break;
		case PEER_ANSWER:
			peer_answer(peer, fd, step);
			break;
		case PEER_AWAIT:
			sem_wait(&peer->go);
			break;
		case PEER_READ_END:
			while (recv(fd, junk, sizeof junk, 0) > 0)
				;
			break;
		case PEER_RESET:
			setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
			close(fd);
			return;
		case PEER_CLOSE:
		case PEER_END:
			close(fd);
			return;
		}
	}
	close(fd);
}

static void *peer_run(void *arg)
{
	struct peer *peer = arg;
	int one = 1;

	for (size_t i = 0; peer->scripts[i]; i++) {
		int fd = accept(peer->fd, NULL, NULL);

		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
		peer_play(peer, fd, peer->scripts[i]);
	}
	return NULL;
}

/* Takes a port where nobody listens: it refuses, and no one else can get it until peer_fini(). */
static void peer_bind(struct peer *peer)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof address;

	*peer = (struct peer){0};
	sem_init(&peer->go, 0, 0);
	peer->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(peer->fd, (struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(getsockname(peer->fd, (struct sockaddr *)&address, &size), 0);
	peer->port = ntohs(address.sin_port);
}

/* Opens a port. */
static void peer_listen(struct peer *peer)
{
	peer_bind(peer);
	assert_int_equal(listen(peer->fd, 8), 0);
}

/* Serves the port that peer_listen() opened. */
static void peer_start(struct peer *peer, const struct peer_step *const *scripts)
{
	peer->scripts = scripts;
	assert_int_equal(pthread_create(&peer->thread, NULL, peer_run, peer), 0);
}

static void peer_join(struct peer *peer)
{
	pthread_join(peer->thread, NULL);
}

static void peer_fini(struct peer *peer)
{
	for (size_t i = 0; i < peer->nframes; i++)
		free(peer->frames[i].p);
	close(peer->fd);
	sem_destroy(&peer->go);
}

#endif
