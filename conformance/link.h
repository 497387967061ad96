/* A connection to one address of the target that is opened when it is needed, and opened again after it broke. */
#ifndef KASSAY_CONFORMANCE_LINK_H
#define KASSAY_CONFORMANCE_LINK_H

#include "conformance/verb.h"
#include "lib/client/client.h"

enum { CF_LATEST = -1 };

struct cf_link {
	char host[256];
	int port;
	int timeout;             /* ms that one answer may take */
	const struct kc_login *login;   /* or NULL */
	struct kc_conn *conn;    /* NULL while there is none */
};

/* Connects and asks ApiVersions unless the link is open. */
int cf_link_open(struct cf_link *link, struct kt_err *err);
void cf_link_close(struct cf_link *link);

/* The version that is used for a request: `version`, or with CF_LATEST the highest that both sides know, but not above
 * max (-1 = no bound). KT_EVERSION when the target does not list it. */
int cf_link_version(struct cf_link *link, int api, int version, int max, struct kt_err *err);

/* Sends bytes as they are and notes them in evidence, an object. */
int cf_link_send(struct cf_link *link, const void *p, size_t n, json_t *evidence, struct kt_err *err);
/* Edits a whole frame (lib/wire/edit.h; edits NULL = none) and sends it, in pieces and with the sending side closed
 * behind it if they say so. *bad_edits tells a failure of the edits from one of the connection. */
int cf_link_send_edited(struct cf_link *link, struct kw_buf *frame, json_t *edits, json_t *evidence, bool *bad_edits,
			struct kt_err *err);
/* The whole frame of a request whose body is JSON; tags, if not NULL, is an array of {"tag", "hex"} to append to the
 * body. The caller finishes frame. */
int cf_link_encode(struct cf_link *link, int api, int version, json_t *body, json_t *tags, struct kw_buf *frame,
		   int32_t *correlation, struct kt_err *err);
/* Reads one frame and notes it in evidence. It is decoded as the response of api, or left alone with api -1; *body is
 * then NULL. KT_ECLOSED, KT_ENET or KT_ETIMEOUT when none comes, KT_ECORRUPT or KT_ETRUNC when it cannot be read as
 * that. */
int cf_link_receive(struct cf_link *link, int api, int version, json_t *evidence, int32_t *correlation, json_t **body,
		    struct kt_err *err);

/* Sends a request by name and returns the answer as JSON; body is taken. For the kit's own questions. */
int cf_link_ask(struct cf_link *link, const char *api, int version, json_t *body, json_t **answer, struct kt_err *err);
/* errorCode of an answer or a part of it; 0 if it has none. */
int cf_error_code(json_t *answer);
/* The same for people, with errorMessage: "INVALID_CONFIG (40): words" (kw_error_text). Returns buf. */
const char *cf_error_text(json_t *answer, char *buf, size_t size);

/* What became of the connection: asks ApiVersions on it and waits for the answer. Closes the link unless it is kept. */
enum cf_fate cf_link_fate(struct cf_link *link);

#endif
