/* One Kafka connection, as a tester needs it: versions negotiated, requests pipelined, every wait with a deadline, and
 * any bytes sent as they are.
 *
 * Blocking calls on a non-blocking socket; one thread per connection. Deadlines are absolute, in milliseconds of
 * kc_now_ms(). Errors: KT_ENET (cannot connect, reset), KT_ECLOSED (peer closed), KT_ETIMEOUT, and those of the codec.
 */
#ifndef KASSAY_CLIENT_CLIENT_H
#define KASSAY_CLIENT_CLIENT_H

#include "lib/text/err.h"
#include "lib/wire/message.h"

struct kc_conn;

/* Monotonic milliseconds. */
int64_t kc_now_ms(void);

/* "host:port", "[::1]:9092"; the first of a comma-separated list if several. host gets at most size-1 bytes. */
int kc_parse_address(const char *address, char *host, size_t size, int *port, struct kt_err *err);

/* Connects (any address the name resolves to). *out is NULL on failure. */
int kc_connect(const char *host, int port, const char *client_id, int64_t deadline, struct kc_conn **out,
	       struct kt_err *err);
void kc_free(struct kc_conn *conn);

/* What became of the connection as far as known. */
enum kc_fate { KC_OPEN, KC_CLOSED, KC_RESET };
enum kc_fate kc_fate(const struct kc_conn *conn);
/* Waits until the peer closes or the deadline passes; frames that arrive stay readable. */
enum kc_fate kc_wait_close(struct kc_conn *conn, int64_t deadline);

/* Asks ApiVersions (highest version first, falling back to what the peer offers, then 0) and keeps the answer: struct
 * kw_ApiVersionsResponse, valid until the next kc_negotiate. */
int kc_negotiate(struct kc_conn *conn, int64_t deadline, struct kt_err *err);
const void *kc_api_versions(const struct kc_conn *conn);
/* What the peer advertises for an API; false if it does not list it. */
bool kc_advertised(const struct kc_conn *conn, int api_key, int *min, int *max);
/* Highest version that both sides know, at most max (-1 = no bound); -1 if none. The registration version that only the
 * kit knows (BrokerRegistration 5) is chosen only when the peer lists it. */
int kc_version(const struct kc_conn *conn, int api_key, int max);

/* Encodes header and body into out as a whole frame, size first. The correlation id is the conn's next; *correlation
 * gets it. */
int kc_encode(struct kc_conn *conn, int api_key, int version, const void *request, struct kw_buf *out,
	      int32_t *correlation, struct kt_err *err);
/* Writes bytes as they are. */
int kc_write(struct kc_conn *conn, const void *p, size_t n, int64_t deadline, struct kt_err *err);
/* Half-closes the sending side. */
void kc_shutdown_write(struct kc_conn *conn);
/* The next whole frame without its size field; *p is valid until the next call on conn. Frames above 128 MiB are
 * KT_ELIMIT. */
int kc_read_frame(struct kc_conn *conn, int64_t deadline, const uint8_t **p, size_t *n, struct kt_err *err);
/* True when a whole frame is already buffered. */
bool kc_has_frame(const struct kc_conn *conn);
int kc_fd(const struct kc_conn *conn);

/* Decodes a response frame: header and body, both in the arena (the frame is copied there first). */
int kc_decode(int api_key, int version, const uint8_t *p, size_t n, struct kw_arena *arena, int32_t *correlation,
	      void **response, struct kt_err *err);

/* Encode, write, read the answer with the same correlation id (any other is KT_ECORRUPT), decode. *response is struct
 * kw_<Api>Response in the arena. For Produce with acks=0 use kc_encode and kc_write. */
int kc_call(struct kc_conn *conn, int api_key, int version, const void *request, int64_t deadline,
	    struct kw_arena *arena, void **response, struct kt_err *err);

#endif
