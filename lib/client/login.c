#include "lib/client/login.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "lib/client/conn.h"
#include "lib/text/jaas.h"
#include "lib/wire/errors.h"
#include "kw_messages.h"

enum { SASL_HANDSHAKE = 17, SASL_AUTHENTICATE = 36 };

/* ---- properties ---- */

static int keep(char **at, const char *value, struct kt_err *err)
{
	char *copy = strdup(value);

	if (!copy)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	free(*at);
	*at = copy;
	return 1;
}

static int set_protocol(struct kc_login *login, const char *value, struct kt_err *err)
{
	login->sasl = strcasecmp(value, "sasl_plaintext") == 0;
	if (!login->sasl && strcasecmp(value, "plaintext") != 0)
		return kt_fail(err, KT_ERANGE, "security.protocol is plaintext or sasl_plaintext, not \"%s\"", value);
	return 1;
}

static int set_mechanism(struct kc_login *login, const char *value, struct kt_err *err)
{
	(void)login;   /* one is all there is */
	if (strcmp(value, "PLAIN") != 0)
		return kt_fail(err, KT_ERANGE, "the only SASL mechanism here is PLAIN, not \"%s\"", value);
	return 1;
}

static int set_user(struct kc_login *login, const char *value, struct kt_err *err)
{
	return keep(&login->user, value, err);
}

static int set_password(struct kc_login *login, const char *value, struct kt_err *err)
{
	return keep(&login->password, value, err);
}

static int set_jaas(struct kc_login *login, const char *value, struct kt_err *err)
{
	struct kt_jaas jaas;
	struct kt_err why = {0};
	const char *user, *password;
	int rc = kt_jaas_parse(&jaas, value, strlen(value), &why);

	if (rc == 0) {
		user = kt_jaas_find(&jaas, "username");
		password = kt_jaas_find(&jaas, "password");
		if (!user || !password)
			rc = kt_fail(&why, KT_ERANGE, "username and password are expected");
		else if ((rc = set_user(login, user, &why)) > 0)
			rc = set_password(login, password, &why);
	}
	kt_jaas_fini(&jaas);
	return rc < 0 ? kt_fail(err, rc, "sasl.jaas.config: %s", why.text) : rc;
}

int kc_login_set(struct kc_login *login, const char *name, const char *value, struct kt_err *err)
{
	static const struct {
		const char *name;
		int (*set)(struct kc_login *login, const char *value, struct kt_err *err);
	} properties[] = {
		{"security.protocol", set_protocol}, {"sasl.mechanism", set_mechanism},
		{"sasl.mechanisms", set_mechanism},  {"sasl.username", set_user},
		{"sasl.password", set_password},     {"sasl.jaas.config", set_jaas},
	};

	for (size_t i = 0; i < sizeof properties / sizeof *properties; i++)
		if (strcmp(properties[i].name, name) == 0)
			return properties[i].set(login, value, err);
	return 0;
}

int kc_login_check(const struct kc_login *login, struct kt_err *err)
{
	if (login->sasl && (!login->user || !login->password))
		return kt_fail(err, KT_EUSAGE, "security.protocol=sasl_plaintext needs a user name and a password");
	return 0;
}

void kc_login_fini(struct kc_login *login)
{
	free(login->user);
	free(login->password);
	memset(login, 0, sizeof *login);
}

/* ---- logging in ---- */

static int shake(struct kc_conn *conn, int version, int64_t deadline, struct kw_arena *arena, struct kt_err *err)
{
	struct kw_SaslHandshakeRequest request = {.mechanism = kw_str("PLAIN")};
	struct kw_SaslHandshakeResponse *response;
	void *decoded;
	int rc = kc_call(conn, SASL_HANDSHAKE, version, &request, deadline, arena, &decoded, err);

	if (rc < 0)
		return rc;
	response = decoded;
	if (response->errorCode != 0)
		return kt_fail(err, KT_EPEER, "%s answers SaslHandshake with %s (%d)", conn->peer,
			       kw_error_name(response->errorCode), response->errorCode);
	return 0;
}

static int authenticate(struct kc_conn *conn, int version, struct kw_bytes token, int64_t deadline,
			struct kw_arena *arena, struct kt_err *err)
{
	struct kw_SaslAuthenticateRequest request = {.authBytes = token};
	struct kw_SaslAuthenticateResponse *response;
	char why[400];
	void *decoded;
	int rc = kc_call(conn, SASL_AUTHENTICATE, version, &request, deadline, arena, &decoded, err);

	if (rc < 0)
		return rc;
	response = decoded;
	if (response->errorCode != 0)
		return kt_fail(err, KT_EPEER, "%s answers SaslAuthenticate with %s", conn->peer,
			       kw_error_text(response->errorCode, response->errorMessage, why, sizeof why));
	return 0;
}

/* After SaslHandshake 0 tokens are frames of their own, and a refusal is the end of the connection. The server's token
 * of PLAIN is empty (PlainSaslServer.evaluateResponse). */
static int send_token(struct kc_conn *conn, struct kw_bytes token, int64_t deadline, struct kt_err *err)
{
	const uint8_t *p;
	uint8_t size[4];
	size_t n;
	int rc;

	kw_wr32(size, (uint32_t)token.n);
	rc = kc_write(conn, size, sizeof size, deadline, err);
	if (rc == 0)
		rc = kc_write(conn, token.p, (size_t)token.n, deadline, err);
	if (rc == 0)
		rc = kc_read_frame(conn, deadline, &p, &n, err);
	if (rc == 0 && n > 0)
		rc = kt_fail(err, KT_EPEER,
			     "%s answers the token with %zu bytes, but PLAIN has none to say", conn->peer, n);
	return rc;
}

int kc_log_in_as(struct kc_conn *conn, const char *user, const char *password, int64_t deadline, struct kt_err *err)
{
	size_t nuser = strlen(user), npassword = strlen(password), n = nuser + npassword + 2;
	int version = kc_version(conn, SASL_AUTHENTICATE, -1), rc;
	struct kw_arena arena;
	uint8_t *token;

	if (n > INT32_MAX)
		return kt_fail(err, KT_ELIMIT, "a token of %zu bytes is too long", n);
	kw_arena_init(&arena, 0);
	token = kw_alloc(&arena, n);
	rc = token ? shake(conn, version < 0 ? 0 : 1, deadline, &arena, err) : kt_fail(err, KT_ENOMEM, "out of memory");
	if (rc == 0) {
		struct kw_bytes bytes = {token, (int32_t)n};

		token[0] = '\0';
		memcpy(token + 1, user, nuser + 1);
		memcpy(token + nuser + 2, password, npassword);
		rc = version < 0 ? send_token(conn, bytes, deadline, err)
				 : authenticate(conn, version, bytes, deadline, &arena, err);
	}
	kw_arena_fini(&arena);
	if (rc == 0)
		conn->logged_in = true;
	return rc;
}

void kc_use_login(struct kc_conn *conn, const struct kc_login *login)
{
	conn->login = login;
}

int kc_log_in(struct kc_conn *conn, int64_t deadline, struct kt_err *err)
{
	const struct kc_login *login = conn->login;

	if (!login || !login->sasl || conn->logged_in)
		return 0;
	if (kc_login_check(login, err) < 0)
		return KT_EUSAGE;
	return kc_log_in_as(conn, login->user, login->password, deadline, err);
}

void kc_explain_close(const struct kc_conn *conn, struct kt_err *err)
{
	const char *how = conn->login ? conn->login->how : NULL;
	int min, max;
	size_t n;

	if (!err || err->code == KT_OK || conn->fate == KC_OPEN || conn->logged_in || conn->answered ||
	    !kc_advertised(conn, SASL_HANDSHAKE, &min, &max))
		return;
	n = strlen(err->text);
	snprintf(err->text + n, sizeof err->text - n,
		 " at the first request after ApiVersions, as a listener does that wants a SASL login%s%s",
		 how ? "; " : "", how ? how : "");
}
