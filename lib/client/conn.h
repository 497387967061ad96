/* A connection from inside: conn.c moves its bytes, call.c knows what they mean. */
#ifndef KASSAY_CLIENT_CONN_H
#define KASSAY_CLIENT_CONN_H

#include "lib/client/client.h"
#include "lib/text/address.h"
#include "lib/wire/arena.h"
#include "lib/wire/buf.h"

struct kw_ApiVersionsResponse;
struct kc_login;

struct kc_conn {
	int fd;
	enum kc_fate fate;
	int fate_errno;              /* of KC_RESET */
	char peer[KT_ADDRESS_MAX];   /* "host:port" */
	char *client_id;             /* or NULL */
	const struct kc_login *login;   /* or NULL */
	bool logged_in;
	bool answered;               /* since ApiVersions, anything */
	int32_t correlation;         /* of the next request */

	uint8_t *in;                 /* what has arrived; [taken, arrived) is still to be read */
	size_t incap, taken, arrived;
	struct kw_buf out;           /* of kc_call, kept for its memory */

	struct kw_arena arena;       /* of versions */
	const struct kw_ApiVersionsResponse *versions;
};

/* All that comes until the peer closes; *p is valid until the next call on conn. KT_ELIMIT above max bytes,
 * KT_ETIMEOUT. */
int kc_read_all(struct kc_conn *conn, size_t max, int64_t deadline, const uint8_t **p, size_t *n, struct kt_err *err);

#endif
