/* Who a program says it is: SASL/PLAIN, by the properties that librdkafka and Kafka's own clients have for it. */
#ifndef KASSAY_CLIENT_LOGIN_H
#define KASSAY_CLIENT_LOGIN_H

#include "lib/client/client.h"

/* Takes a property of the program's login:
 *
 *	security.protocol               plaintext (default), or sasl_plaintext, in any case
 *	sasl.mechanism, sasl.mechanisms PLAIN
 *	sasl.username, sasl.password    as librdkafka has them
 *	sasl.jaas.config                as Kafka has it, with username and password
 *
 * Returns 1 if name is one of them, 0 if it is not, or KT_ERANGE, KT_ESYNTAX, KT_ENOMEM. The login holds for all
 * connections that are negotiated from then on, so it is complete before there are any; only one thread may call. */
int kc_login_set(const char *name, const char *value, struct kt_err *err);
/* Is the login, as far as it is set, complete? KT_EUSAGE names what lacks. */
int kc_login_check(struct kt_err *err);
/* Forgets it. */
void kc_login_clear(void);

/* What kc_negotiate() does at its end: says who the program is, once for a connection, if the protocol asks for it.
 * SaslHandshake 1 and SaslAuthenticate, or where the peer does not list the latter SaslHandshake 0 and a bare token.
 * KT_EPEER with the peer's code and message when it refuses. */
int kc_log_in(struct kc_conn *conn, int64_t deadline, struct kt_err *err);
/* The same as someone in particular; user and password have no NUL byte. */
int kc_log_in_as(struct kc_conn *conn, const char *user, const char *password, int64_t deadline, struct kt_err *err);

#endif
