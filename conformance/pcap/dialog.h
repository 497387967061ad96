/* One connection of a capture: who is the broker, and which answer belongs to which request. */
#ifndef KASSAY_CONFORMANCE_PCAP_DIALOG_H
#define KASSAY_CONFORMANCE_PCAP_DIALOG_H

#include "conformance/pcap/pcap.h"

struct cf_request;

/* What all connections of a capture share. */
struct cf_dialogs {
	const struct cf_pcap_ops *ops;
	uint64_t exchanges;              /* told so far */
	struct kw_endpoint *brokers;     /* that were found by content */
	size_t nbrokers;
	bool failed;                     /* out of memory */
};

struct cf_dialog_side {
	struct cf_dialog *dialog;
	int side;
};

struct cf_dialog {
	struct cf_dialogs *all;
	const struct kw_tcp_conn *conn;
	enum cf_talk talk;
	int client;
	uint64_t passed[2];              /* bytes that went by while it was not known who is the client */
	struct kw_buf early[2];          /* those of them that are still of use */
	struct cf_frames frames[2];      /* by side, as in conn->ends */
	struct cf_dialog_side sides[2];
	struct cf_request *first, **last;   /* requests without an answer so far */
	size_t nwaiting;                 /* of them */
	bool gave_up;                    /* on one of them, since there were too many */
	bool tokens;                     /* SaslHandshake v0 was answered: what has no header is a token */
	uint64_t exchanges;
};

/* NULL without memory. */
struct cf_dialog *cf_dialog_new(struct cf_dialogs *all, const struct kw_tcp_conn *conn);
void cf_dialog_free(struct cf_dialog *dialog);
/* As in kw_tcp_ops. */
void cf_dialog_data(struct cf_dialog *dialog, int side, const uint8_t *p, size_t n, const struct kw_tcp_at *at);
void cf_dialog_gap(struct cf_dialog *dialog, int side, uint64_t n, const struct kw_tcp_at *at);
void cf_dialog_finished(struct cf_dialog *dialog, int side);
/* Tells what is left of it. */
void cf_dialog_ended(struct cf_dialog *dialog);

#endif
