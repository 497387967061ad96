/* Who a client is: SASL/PLAIN on the brokers' listener, as Kafka's SaslServerAuthenticator has it.
 *
 * A listener whose security protocol is SASL_PLAINTEXT takes ApiVersions and SaslHandshake first, then the client's
 * token: in a SaslAuthenticate request after SaslHandshake 1, as a bare frame after SaslHandshake 0. Everything else
 * before that ends the connection. Other listeners know everybody as User:ANONYMOUS.
 */
#ifndef KASSAY_FAKEBROKER_AUTH_AUTH_H
#define KASSAY_FAKEBROKER_AUTH_AUTH_H

#include "fakebroker/config/values.h"
#include "lib/text/jaas.h"

#define FB_ANONYMOUS "User:ANONYMOUS"
#define FB_MECHANISM "PLAIN"

/* SecurityProtocol's ids, as brokers register them. */
enum fb_protocol { FB_PLAINTEXT = 0, FB_SASL_PLAINTEXT = 2 };

/* A broker's listener; read at the start and never changed. */
struct fb_auth {
	char name[64];               /* of the listener */
	enum fb_protocol protocol;
	int32_t max_token;           /* sasl.server.max.receive.size */
	struct kt_jaas users;        /* option user_NAME is NAME's password; FB_SASL_PLAINTEXT only */
};

/* Reads `listeners` (name of the first that is no controller's), `listener.security.protocol.map`,
 * `sasl.enabled.mechanisms` and `listener.name.NAME.plain.sasl.jaas.config` of a broker. KT_ERANGE or KT_ESYNTAX names
 * the configuration; fb_auth_fini() may be called whatever the outcome. */
int fb_auth_init(struct fb_auth *auth, const struct fb_configs *configs, int32_t node, struct kt_err *err);
void fb_auth_fini(struct fb_auth *auth);

/* Judges a PLAIN token. NULL and *user, in arena, when it is good; otherwise Kafka's message, in arena or constant. */
const char *fb_auth_plain(const struct fb_auth *auth, const uint8_t *token, size_t n, struct kw_arena *arena,
			  const char **user);

/* ---- a connection ---- */

enum fb_auth_state {
	FB_AUTH_FIRST,               /* ApiVersions or SaslHandshake is expected */
	FB_AUTH_HANDSHAKE,           /* SaslHandshake is */
	FB_AUTH_TOKEN,               /* a bare token is, after SaslHandshake 0 */
	FB_AUTH_REQUEST,             /* SaslAuthenticate is, after SaslHandshake 1 */
	FB_AUTH_DONE,
};

#endif
