/* One Kafka connection, as a tester needs it: versions negotiated, requests pipelined, every wait with a deadline, and
 * any bytes sent as they are.
 *
 * Blocking calls on a non-blocking socket; one thread per connection at a time. Deadlines are absolute, in milliseconds
 * of kc_now_ms(); INT64_MAX waits forever. Errors: KT_ENET (cannot connect, reset), KT_ECLOSED (closed by the peer),
 * KT_ETIMEOUT, KT_EPEER (a Kafka error code in the answer), KT_ENOMEM, and those of the codec. Texts name the peer.
 */
#ifndef KASSAY_CLIENT_CLIENT_H
#define KASSAY_CLIENT_CLIENT_H

#include "lib/text/err.h"
#include "lib/wire/message.h"

struct kc_conn;

/* Monotonic milliseconds. */
int64_t kc_now_ms(void);

/* "host:port", "[::1]:9092"; the first of a comma-separated list if several. KT_ESYNTAX when it is none or the host
 * does not fit into size bytes. */
int kc_parse_address(const char *address, char *host, size_t size, int *port, struct kt_err *err);

/* Connects to one of the addresses that the name resolves to, the time left shared among them (looking up the name
 * itself knows no deadline). client_id NULL is Kafka's null. *out is NULL on failure. */
int kc_connect(const char *host, int port, const char *client_id, int64_t deadline, struct kc_conn **out,
	       struct kt_err *err);
void kc_free(struct kc_conn *conn);

/* What became of the connection as far as reading and writing have shown. */
enum kc_fate { KC_OPEN, KC_CLOSED, KC_RESET };
enum kc_fate kc_fate(const struct kc_conn *conn);
/* Waits until the peer closes or the deadline passes; frames that arrive stay readable. Stops early with KC_OPEN once
 * more than a greatest frame has arrived unread. With a deadline that has passed it takes a look and returns. */
enum kc_fate kc_wait_close(struct kc_conn *conn, int64_t deadline);

/* Asks ApiVersions and keeps the answer: our highest version first, on UNSUPPORTED_VERSION the highest that the answer
 * offers, then 0 (KIP-511). A second call asks again. At its end the first call logs in, if the connection has a
 * login (login.h). */
int kc_negotiate(struct kc_conn *conn, int64_t deadline, struct kt_err *err);
/* The answer, struct kw_ApiVersionsResponse, valid until the next kc_negotiate; NULL before the first that
 * succeeded. */
const void *kc_api_versions(const struct kc_conn *conn);
/* What the peer advertises for an API; false if it does not list it or was not asked. */
bool kc_advertised(const struct kc_conn *conn, int api_key, int *min, int *max);
/* Highest version that both sides know, at most max (-1 = no bound); -1 if none. So BrokerRegistration 5, which only
 * the kit knows, is chosen only when the peer lists it. */
int kc_version(const struct kc_conn *conn, int api_key, int max);

/* Appends header and body to out as a whole frame, size first. The correlation id is the conn's next; *correlation, if
 * not NULL, gets it. After a failure out holds part of a frame. */
int kc_encode(struct kc_conn *conn, int api_key, int version, const void *request, struct kw_buf *out,
	      int32_t *correlation, struct kt_err *err);
/* Writes bytes as they are. Meanwhile it takes in what arrives, so that a peer that answers before it reads on cannot
 * block both sides. */
int kc_write(struct kc_conn *conn, const void *p, size_t n, int64_t deadline, struct kt_err *err);
/* Half-closes the sending side; nothing can be written after it. */
void kc_shutdown_write(struct kc_conn *conn);
/* The next whole frame without its size field; *p is valid until the next call on conn. A size above 128 MiB is
 * KT_ELIMIT, a negative one KT_ECORRUPT; both stay, because what follows cannot be told apart. Frames that arrived
 * before the peer closed can still be read. */
int kc_read_frame(struct kc_conn *conn, int64_t deadline, const uint8_t **p, size_t *n, struct kt_err *err);
/* True when a whole frame is already buffered. */
bool kc_has_frame(const struct kc_conn *conn);
int kc_fd(const struct kc_conn *conn);

/* Decodes a response frame: header and body, both in the arena (the frame is copied there first). Bytes behind the body
 * are KT_ECORRUPT. err->offset counts from the start of the frame, without its size field. */
int kc_decode(int api_key, int version, const uint8_t *p, size_t n, struct kw_arena *arena, int32_t *correlation,
	      void **response, struct kt_err *err);

/* Encodes, writes, reads the answer with the same correlation id (any other is KT_ECORRUPT), decodes. *response is
 * struct kw_<Api>Response in the arena. After KT_ETIMEOUT the late answer may still come: the connection is of no more
 * use for calls. For Produce with acks=0 use kc_encode and kc_write. */
int kc_call(struct kc_conn *conn, int api_key, int version, const void *request, int64_t deadline,
	    struct kw_arena *arena, void **response, struct kt_err *err);

#endif
