/* A connection to one address of the target that is opened when it is needed, and opened again after it broke. */
#ifndef KASSAY_CONFORMANCE_LINK_H
#define KASSAY_CONFORMANCE_LINK_H

#include "conformance/due.h"
#include "conformance/verb.h"
#include "lib/client/client.h"

enum { CF_LATEST = -1 };

struct cf_link {
	char host[256];
	int port;
	int timeout;             /* ms that one answer may take */
	const struct kc_login *login;   /* or NULL */
	json_t *evidence;        /* object of somebody else, or NULL: gets the last exchange of cf_link_ask() of
				    which the answer cannot be read */
	struct kc_conn *conn;    /* NULL while there is none */
	struct cf_due due;       /* what is still to come on it */
	bool unasked;            /* a frame came on it that answers nothing that was sent */
};

/* Errors: KT_ENET, KT_ECLOSED, KT_ETIMEOUT, KT_ENOMEM as in lib/client; KT_EPEER when the peer refuses ApiVersions or
 * the login. KT_ECORRUPT is always the target's fault: an answer is there and cannot be read, has the correlation id of
 * another request, or more bytes than it should. Its text names the API. */

/* Connects and asks ApiVersions unless the link is open. */
int cf_link_open(struct cf_link *link, struct kt_err *err);
void cf_link_close(struct cf_link *link);

/* The version that is used for a request: `version`, or with CF_LATEST the highest that both sides know, but not above
 * max (-1 = no bound). KT_EABSENT when the target does not list it. */
int cf_link_version(struct cf_link *link, int api, int version, int max, struct kt_err *err);

/* Sends bytes as they are and notes them in evidence, an object. */
int cf_link_send(struct cf_link *link, const void *p, size_t n, json_t *evidence, struct kt_err *err);
/* Edits a whole frame (lib/wire/edit.h; edits NULL = none) and sends it, in pieces and with the sending side closed
 * behind it if they say so. *bad_edits tells a failure of the edits from one of the connection. */
int cf_link_send_edited(struct cf_link *link, struct kw_buf *frame, json_t *edits, json_t *evidence, bool *bad_edits,
			struct kt_err *err);
/* The whole frame of a request whose body is JSON; tags, if not NULL, is an array of {"tag", "hex"} to append to the
 * body. The caller finishes frame. KT_ENOMEM; KT_EUSAGE, whatever is wrong with the body. */
int cf_link_encode(struct cf_link *link, int api, int version, json_t *body, json_t *tags, struct kw_buf *frame,
		   struct kt_err *err);
/* Reads one frame, notes it in evidence, and decodes it as the answer to the oldest request that has none. */
int cf_link_receive(struct cf_link *link, int api, int version, json_t *evidence, json_t **body, struct kt_err *err);
/* The same of any answer, of which only the correlation id is looked at. */
int cf_link_receive_any(struct cf_link *link, json_t *evidence, int32_t *correlation, struct kt_err *err);

/* Sends a request by name and returns the answer as JSON; body is taken. For the kit's own questions. Closes the link
 * on failure. */
int cf_link_ask(struct cf_link *link, const char *api, int version, json_t *body, json_t **answer, struct kt_err *err);
/* errorCode of an answer or a part of it; 0 if it has none. */
int cf_error_code(json_t *answer);
/* The same for people, with errorMessage: "INVALID_CONFIG (40): words" (kw_error_text). Returns buf. */
const char *cf_error_text(json_t *answer, char *buf, size_t size);

/* What became of the connection: asks ApiVersions on it and waits for the answer. Frames that come before it, late
 * answers and those that nobody asked for, are noted in evidence, which may be NULL. Closes the link unless it is
 * kept. */
enum cf_fate cf_link_fate(struct cf_link *link, json_t *evidence);

#endif
