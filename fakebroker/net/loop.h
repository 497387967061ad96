/* Inside net/: an event loop and its connections. */
#ifndef KASSAY_FAKEBROKER_NET_LOOP_H
#define KASSAY_FAKEBROKER_NET_LOOP_H

#include <event2/event.h>
#include <event2/listener.h>
#include <pthread.h>
#include <stdatomic.h>

#include "fakebroker/net/server.h"

enum {
	FB_SPILL = 64 * 1024,
	FB_LARGE = 32 * 1024,       /* a frame that is worth a read of its own */
};

/* An answer on its way out. */
struct fb_out {
	struct fb_out *next;
	struct kw_buf buf;
	struct fb_frame **frames;  /* behind iov */
	size_t nframes, at, niov;
	struct iovec iov[];        /* the content; [at, niov) is not written yet */
};

struct fb_loop {
	struct fb_server *server;
	struct event_base *base;
	struct event *wake;        /* activated from other threads */
	pthread_t thread;
	bool running;
	pthread_mutex_t lock;      /* guards accepted */
	struct fb_conn *accepted;  /* handed over by the accepting loop */
	struct fb_conn *conns;
	atomic_int waiting;        /* connections whose request waits for a poke */
	atomic_bool poked;
	struct fb_idle *idle;      /* connections by how long they may be idle, and when */
	struct event *idle_timer;
	int64_t idle_due;          /* when it comes, by fb_now_ns(); INT64_MAX: not */
	unsigned swept;            /* closings that it has carried out; guarded by the server's lock */
	struct kw_buf scratch;     /* fb_conn_scratch() */
	uint8_t spill[FB_SPILL];   /* what comes after the frame being read */
};

struct fb_conn {
	struct fb_conn *next, **prev;
	struct fb_loop *loop;
	struct fb_listener *listener; /* through which it came */
	void *session;
	uint64_t id;
	int fd;
	int32_t max_frame;
	char address[64];
	int port;
	struct fb_captured captured;   /* if there is a capture */
	struct event *readable, *writable, *timer;

	uint8_t size[4];
	unsigned nsize;            /* bytes of the size field that are there */
	int32_t want;              /* bytes of the frame being read, or of the one before */
	struct fb_frame *frame;    /* being read, or NULL */
	uint8_t *backlog;          /* read while a request waits */
	size_t nbacklog;
	int64_t received_ns;
	int64_t turned_ns;         /* the loop has just turned to what it does next, or 0: nobody took the time */

	struct fb_idle *idle;      /* its list, or NULL: it may be idle for ever */
	struct fb_conn *newer, *older; /* in that list */
	int64_t active_ns;         /* when something last happened on it */

	bool busy;                 /* a request waits: nothing is read, not even that the client is gone */
	bool sleeping;             /* ... for its time only */
	bool waiting;              /* counted in loop->waiting */
	bool closing;              /* when what is queued is written */
	bool dead;                 /* to be freed when the stack has unwound */
	int depth;                 /* calls on the stack that still use it */
	void *state;

	struct fb_out *out, **out_tail;
	size_t queued;             /* bytes not written yet */
};

struct fb_listener {
	struct fb_listener *next;
	struct fb_server *server;
	struct evconnlistener *evl; /* NULL while it is closed */
	struct event *resume;      /* when no descriptor was left */
	void *tag;
	struct sockaddr_storage address;
	socklen_t naddress;
	atomic_bool closed;        /* its connections are to be closed, or were */
	int placeholder;           /* keeps the port from others while it is closed; -1 = none */
};

struct fb_server {
	struct fb_server_opts opts;
	struct fb_server_ops ops;
	struct fb_loop *loops;
	struct fb_listener *listeners;
	struct event *tick;        /* or NULL */
	atomic_uint next_loop;
	atomic_ullong next_id;
	atomic_int connections;
	atomic_bool stopping;
	pthread_mutex_t lock;      /* guards closings and what the loops have done of them */
	pthread_cond_t done;
	unsigned closings;         /* calls of fb_server_close() */
};

/* Takes the socket. NULL: it was closed. The loop that it names adopts it by fb_conn_adopt(). */
struct fb_conn *fb_conn_new(struct fb_loop *loop, int fd, struct fb_listener *listener, const struct sockaddr *peer);
/* With its references of frames. */
void fb_out_free(struct fb_out *out);
/* On the conn's own loop: starts to read. */
void fb_conn_adopt(struct fb_conn *conn);
void fb_conn_close(struct fb_conn *conn);
/* Has the client neither closed its side nor gone? */
bool fb_conn_may_send(const struct fb_conn *conn);
/* The waiting request is tried again. */
void fb_conn_retry(struct fb_conn *conn, bool expired);

/* idle.c, on the loop. */
int fb_idle_init(struct fb_loop *loop);
void fb_idle_fini(struct fb_loop *loop);
/* Something was read or written at `now`, by fb_now_ns(). */
void fb_idle_touch(struct fb_conn *conn, int64_t now);
/* The connection ends. */
void fb_idle_leave(struct fb_conn *conn);
/* Closes those that are due. Returns when the next one is; INT64_MAX if none will be. */
int64_t fb_idle_expire(struct fb_loop *loop, int64_t now);

/* On a loop: adopts what was handed over to it. */
void fb_loop_adopt(struct fb_loop *loop);
/* listener.c. On a loop: carries out what fb_server_close() asks for. */
void fb_loop_sweep(struct fb_loop *loop);
void fb_listener_free(struct fb_listener *listener);

#endif
