/* What both sides of captured TCP connections sent, put together from their segments.
 *
 * Segments may come out of order, again, overlapping or not at all. Bytes are handed on once and in order; of several
 * segments that have the same bytes the one counts that could be handed on first. Missing bytes are told as a gap once
 * it is clear that they will not come: their receiver has acknowledged them and KW_TCP_PATIENCE further packets of the
 * connection have passed, more than KW_TCP_HELD segments or KW_TCP_HELD_BYTES wait behind them, or the connection or
 * the capture ends.
 *
 * Bytes of one side are told after those of the other that their segment acknowledges, so that an answer never comes
 * before its request, in whatever order a capture has the two.
 *
 * A connection begins with a SYN, or, when that was not captured, with its first bytes. An address and port pair may be
 * used again after its end, by a new SYN at any time, or by bytes a gigabyte away from those that can be.
 *
 * Memory: what waits, at most KW_TCP_HELD_BYTES for each side, and a fixed amount for each connection.
 */
#ifndef KASSAY_WIRE_TCP_H
#define KASSAY_WIRE_TCP_H

#include "lib/wire/packet.h"

enum { KW_TCP_PATIENCE = 64, KW_TCP_HELD = 1024, KW_TCP_HELD_BYTES = 4 << 20 };

/* Which packet something stood in. */
struct kw_tcp_at {
	uint64_t packet;         /* counts from 1 */
	int64_t time_us;         /* since 1970 */
};

/* X(symbol, text) */
#define KW_TCP_ENDS(X)                                              \
	X(KW_TCP_OPEN, "is open")                                   \
	X(KW_TCP_CLOSED, "closed")                                  \
	X(KW_TCP_RESET, "reset")                                    \
	X(KW_TCP_REUSED, "gave way to another of the same ports")   \
	X(KW_TCP_CUT, "was open when the capture ended")

enum kw_tcp_end {
#define KW_X(sym, text) sym,
	KW_TCP_ENDS(KW_X)
#undef KW_X
};

struct kw_tcp_conn {
	uint64_t number;                 /* counts from 1 in the order of their first packets */
	struct kw_endpoint ends[2];      /* [0] sent the SYN, or else the first bytes */
	bool opened;                     /* the SYN of [0], or the answer to it, was captured */
	enum kw_tcp_end end;
	int ended_by;                    /* side that reset it, or that closed it first; -1 = neither */
	struct kw_tcp_at first, last;
	uint64_t bytes[2];               /* handed on, gaps included; what is just told counts */
	uint64_t missing[2];
	void *user;                      /* of whoever uses it; NULL at first */
};

/* side is an index of ends[]: the one that sent. `at` is the packet in which the bytes stood; of a gap the one that
 * came behind it. */
struct kw_tcp_ops {
	/* n bytes follow; gaps in front of them have been told. They are of one packet. */
	void (*data)(void *arg, struct kw_tcp_conn *conn, int side, const uint8_t *p, size_t n,
		     const struct kw_tcp_at *at);
	/* n bytes are missing. */
	void (*gap)(void *arg, struct kw_tcp_conn *conn, int side, uint64_t n, const struct kw_tcp_at *at);
	/* One side will send no more. */
	void (*finished)(void *arg, struct kw_tcp_conn *conn, int side);
	/* conn->end says why; the last call for conn, which lives until kw_tcp_free(). */
	void (*ended)(void *arg, struct kw_tcp_conn *conn);
	void *arg;
};

struct kw_tcp;

/* NULL when memory is exhausted. */
struct kw_tcp *kw_tcp_new(const struct kw_tcp_ops *ops);
/* The next packet's segment. KT_ENOMEM. */
int kw_tcp_add(struct kw_tcp *tcp, const struct kw_segment *segment, const struct kw_tcp_at *at);
/* The capture ends: hands on what waits, ends all connections. */
void kw_tcp_finish(struct kw_tcp *tcp);
void kw_tcp_free(struct kw_tcp *tcp);
/* Connections in the order of their numbers; NULL past the end. */
struct kw_tcp_conn *kw_tcp_at(const struct kw_tcp *tcp, size_t i);
/* Bytes that wait behind gaps now. */
size_t kw_tcp_held(const struct kw_tcp *tcp);

#endif
