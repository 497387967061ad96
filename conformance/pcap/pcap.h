/* Captures of a network (pcap, pcapng): the requests in them, each with its answer.
 *
 * Which side of a connection is the broker is known by content: the other one sends what begins like a request of
 * Kafka. Memory: the frames that are being read and the requests that wait for their answers, besides a fixed amount
 * for each connection; a frame never takes more than the capture has of it.
 */
#ifndef KASSAY_CONFORMANCE_PCAP_PCAP_H
#define KASSAY_CONFORMANCE_PCAP_PCAP_H

#include "conformance/pcap/frames.h"

/* A request with its answer, or one of them alone. Valid during the call. */
struct cf_exchange {
	uint64_t number;                 /* counts from 1 in the order in which they are told */
	const struct kw_tcp_conn *conn;
	int client;                      /* the side that is no broker */
	const struct cf_frame *request, *response;   /* NULL = none */
	bool token;                      /* of SASL, without a header: what follows SaslHandshake v0 */
	int api, version;                /* of the request, -1 = unknown */
	int32_t correlation;             /* of the header, if there is one */
	int response_version;            /* in which the answer is written: 0 when ApiVersions was not known
					    to the broker */
	const char *fault;               /* what is wrong with how they go together, or NULL */
	const char *remark;              /* what is only worth saying, or NULL */
};

/* X(symbol, text) */
#define CF_TALKS(X)                                                          \
	X(CF_TALK_UNKNOWN, "too little to know what it is")                  \
	X(CF_TALK_KAFKA, "Kafka")                                            \
	X(CF_TALK_TLS, "TLS, which cannot be looked into")                   \
	X(CF_TALK_OTHER, "does not begin as Kafka does")

enum cf_talk {
#define CF_X(sym, text) sym,
	CF_TALKS(CF_X)
#undef CF_X
};

const char *cf_talk_text(enum cf_talk talk);

/* What is known of a connection at its end. */
struct cf_talked {
	struct kw_tcp_conn conn;
	enum cf_talk talk;
	int client;
	uint64_t exchanges;
	uint64_t skipped[2];             /* bytes of each side in which no frame was found */
};

/* What was in the file. */
struct cf_pcap_totals {
	uint64_t packets, segments;      /* all; those of TCP */
	uint64_t unread;                 /* packets that should be of TCP and could not be read */
	char unread_text[240];           /* why the first one could not */
	uint64_t connections, kafka;     /* of TCP; those of them that speak Kafka */
	uint64_t missing;                /* bytes that the capture does not have, of those */
	bool truncated;                  /* the file ends inside of a packet */
	char truncated_text[160];        /* where */
};

struct cf_pcap_ops {
	void (*exchange)(void *arg, const struct cf_exchange *exchange);
	/* The last call for a connection. */
	void (*ended)(void *arg, const struct cf_talked *talked);
	/* Now and then, with the bytes that are done; may be NULL. */
	void (*progress)(void *arg, size_t done, size_t all);
	void *arg;
	int port;                        /* of the broker; 0 = to be found by content */
};

/* Do the bytes begin as a capture does? */
bool cf_is_pcap(const struct kw_slice *file);
/* Reads all of a file. Where it cannot be read on the error names packet and byte; a file that only ends inside of a
 * packet is no error, see totals. KT_ESYNTAX, KT_ETYPE (packets of an unknown link), KT_ENOMEM. */
int cf_pcap_read(const struct kw_slice *file, const struct cf_pcap_ops *ops, struct cf_pcap_totals *totals,
		 struct kt_err *err);

#endif
