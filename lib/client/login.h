/* Who a program says it is: SASL/PLAIN, by the properties that librdkafka and Kafka's own clients have for it. */
#ifndef KASSAY_CLIENT_LOGIN_H
#define KASSAY_CLIENT_LOGIN_H

#include "lib/client/client.h"

/* All zero is nobody: plaintext. */
struct kc_login {
	bool sasl;
	char *user, *password;       /* owned; NULL until they are set */
	const char *how;             /* how a user of the program gives a login, for the text of errors; may be NULL */
};

/* Takes a property:
 *
 *	security.protocol               plaintext (default), or sasl_plaintext, in any case
 *	sasl.mechanism, sasl.mechanisms PLAIN
 *	sasl.username, sasl.password    as librdkafka has them
 *	sasl.jaas.config                as Kafka has it, with username and password
 *
 * Returns 1 if name is one of them, 0 if it is not, or KT_ERANGE, KT_ESYNTAX, KT_ENOMEM. */
int kc_login_set(struct kc_login *login, const char *name, const char *value, struct kt_err *err);
/* Is the login, as far as it is set, complete? KT_EUSAGE names what lacks. */
int kc_login_check(const struct kc_login *login, struct kt_err *err);
/* Forgets it all. */
void kc_login_fini(struct kc_login *login);

/* Who kc_negotiate() logs in as; login, which may be NULL, outlives conn and does not change. */
void kc_use_login(struct kc_conn *conn, const struct kc_login *login);
/* What kc_negotiate() does at its end: says who the program is, once for a connection, if the protocol asks for it.
 * SaslHandshake 1 and SaslAuthenticate, or where the peer does not list the latter SaslHandshake 0 and a bare token.
 * KT_EPEER with the peer's code and message when it refuses. */
int kc_log_in(struct kc_conn *conn, int64_t deadline, struct kt_err *err);
/* The same as someone in particular; user and password have no NUL byte. */
int kc_log_in_as(struct kc_conn *conn, const char *user, const char *password, int64_t deadline, struct kt_err *err);

/* After a request of which nothing was amiss failed with err: appends to its text that the listener may want a login,
 * where that is what it looks like. Nobody logged in, the peer answered ApiVersions with SaslHandshake in it, and
 * closed at the first request after that. kc_call() does this by itself. */
void kc_explain_close(const struct kc_conn *conn, struct kt_err *err);

#endif
