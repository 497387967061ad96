#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "lib/client/login.h"
#include "lib/client/tests/peer.h"

enum { PATIENCE = 20000, SASL_HANDSHAKE = 17, SASL_AUTHENTICATE = 36 };

/* ApiVersions 5, without size and correlation id: no error; SaslHandshake 0-1 and SaslAuthenticate 0-2; SaslHandshake 0
 * alone. */
#define MODERN "\0\0" "\x03" "\0\x11\0\0\0\1\0" "\0\x24\0\0\0\2\0" "\0\0\0\0" "\0"
#define OLD "\0\0" "\x02" "\0\x11\0\0\0\0\0" "\0\0\0\0" "\0"
#define SHAKEN "\0\0" "\0\0\0\1" "\0\5PLAIN"
#define UNSUPPORTED "\0\x21" "\0\0\0\0"
#define WELCOME "\0" "\0\0" "\1" "\1" "\0\0\0\0\0\0\0\0" "\0"
#define REFUSED "\0" "\0\x3a" "\3" "no" "\1" "\0\0\0\0\0\0\0\0" "\0"

static struct peer peer;
static struct kc_login login;

/* Negotiates and so logs in against a peer that plays the script. */
static int log_in(const struct peer_step *script, struct kt_err *err)
{
	static const struct peer_step *scripts[2];
	struct kc_conn *conn;
	int rc;

	scripts[0] = script;
	peer_listen(&peer);
	peer_start(&peer, scripts);
	*err = (struct kt_err){0};
	assert_int_equal(kc_connect("127.0.0.1", peer.port, "tester", kc_now_ms() + PATIENCE, &conn, NULL), 0);
	kc_use_login(conn, &login);
	rc = kc_negotiate(conn, kc_now_ms() + PATIENCE, err);
	kc_free(conn);
	peer_join(&peer);
	return rc;
}

static int set_login(void **state)
{
	(void)state;
	assert_int_equal(kc_login_set(&login, "security.protocol", "sasl_plaintext", NULL), 1);
	assert_int_equal(kc_login_set(&login, "sasl.username", "alice", NULL), 1);
	assert_int_equal(kc_login_set(&login, "sasl.password", "wonder", NULL), 1);
	return 0;
}

static int clear_login(void **state)
{
	(void)state;
	kc_login_fini(&login);
	return 0;
}

static void by_request(void **state)
{
	static const struct peer_step script[] = {
		{.what = PEER_READ}, {PEER_ANSWER, PEER_BYTES(MODERN)},
		{.what = PEER_READ}, {PEER_ANSWER, PEER_BYTES(SHAKEN)},
		{.what = PEER_READ}, {PEER_ANSWER, PEER_BYTES(WELCOME)},
		{.what = PEER_END},
	};
	static const char token[] = "\0alice\0wonder";
	struct kt_err err;

	(void)state;
	if (log_in(script, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(peer.nframes, 3);
	assert_int_equal(peer.frames[1].p[1], SASL_HANDSHAKE);
	assert_int_equal(peer.frames[1].p[3], 1);
	assert_int_equal(peer.frames[2].p[1], SASL_AUTHENTICATE);
	assert_int_equal(peer.frames[2].p[3], 2);
	assert_non_null(memmem(peer.frames[2].p, peer.frames[2].n, token, sizeof token - 1));
	peer_fini(&peer);
}

static void by_bare_token(void **state)
{
	static const struct peer_step script[] = {
		{.what = PEER_READ}, {PEER_ANSWER, PEER_BYTES(OLD)},
		{.what = PEER_READ}, {PEER_ANSWER, PEER_BYTES(SHAKEN)},
		{.what = PEER_READ}, {PEER_SEND, PEER_BYTES("\0\0\0\0")},
		{.what = PEER_END},
	};
	static const char token[] = "\0alice\0wonder";
	struct kt_err err;

	(void)state;
	if (log_in(script, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(peer.frames[1].p[3], 0);
	assert_int_equal(peer.frames[2].n, sizeof token - 1);
	assert_memory_equal(peer.frames[2].p, token, sizeof token - 1);
	peer_fini(&peer);
}

static void refusals_are_told(void **state)
{
	static const struct peer_step mechanism[] = {
		{.what = PEER_READ}, {PEER_ANSWER, PEER_BYTES(MODERN)}, {.what = PEER_READ},
		{PEER_ANSWER, PEER_BYTES(UNSUPPORTED)}, {.what = PEER_END},
	};
	static const struct peer_step password[] = {
		{.what = PEER_READ}, {PEER_ANSWER, PEER_BYTES(MODERN)},
		{.what = PEER_READ}, {PEER_ANSWER, PEER_BYTES(SHAKEN)},
		{.what = PEER_READ}, {PEER_ANSWER, PEER_BYTES(REFUSED)},
		{.what = PEER_END},
	};
	static const struct peer_step token[] = {
		{.what = PEER_READ}, {PEER_ANSWER, PEER_BYTES(OLD)},
		{.what = PEER_READ}, {PEER_ANSWER, PEER_BYTES(SHAKEN)},
		{.what = PEER_READ}, {.what = PEER_CLOSE},
		{.what = PEER_END},
	};
	static const struct peer_step talkative[] = {
		{.what = PEER_READ}, {PEER_ANSWER, PEER_BYTES(OLD)},
		{.what = PEER_READ}, {PEER_ANSWER, PEER_BYTES(SHAKEN)},
		{.what = PEER_READ}, {PEER_SEND, PEER_BYTES("\0\0\0\3" "bad")},
		{.what = PEER_END},
	};
	struct kt_err err;

	(void)state;
	assert_int_equal(log_in(mechanism, &err), KT_EPEER);
	assert_non_null(strstr(err.text, "answers SaslHandshake with UNSUPPORTED_SASL_MECHANISM (33)"));
	peer_fini(&peer);
	assert_int_equal(log_in(password, &err), KT_EPEER);
	assert_non_null(strstr(err.text, "answers SaslAuthenticate with SASL_AUTHENTICATION_FAILED (58): no"));
	peer_fini(&peer);
	assert_int_equal(log_in(token, &err), KT_ECLOSED);
	peer_fini(&peer);
	assert_int_equal(log_in(talkative, &err), KT_EPEER);
	assert_non_null(strstr(err.text, "answers the token with 3 bytes, but PLAIN has none to say"));
	peer_fini(&peer);
}

static void properties(void **state)
{
	static const struct { const char *name, *value; int code; const char *why;
	} rows[] = {
		{"security.protocol", "SSL", KT_ERANGE,
		 "security.protocol is plaintext or sasl_plaintext, not \"SSL\""},
		{"sasl.mechanisms", "GSSAPI", KT_ERANGE, "the only SASL mechanism here is PLAIN, not \"GSSAPI\""},
		{"sasl.jaas.config", "M required;", KT_ERANGE, "sasl.jaas.config: username and password are expected"},
		{"sasl.jaas.config", "M", KT_ESYNTAX,
		 "sasl.jaas.config: the login module is followed by required, requisite, "
		 "sufficient or optional"},
		{"sasl.jaas.config", "M required username=u password=p;", 1, ""},
		{"linger.ms", "5", 0, ""},
	};
	struct kt_err err;

	(void)state;
	assert_int_equal(kc_login_check(&login, NULL), 0);
	assert_int_equal(kc_login_set(&login, "security.protocol", "SASL_PLAINTEXT", NULL), 1);
	assert_int_equal(kc_login_check(&login, NULL), KT_EUSAGE);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		err = (struct kt_err){0};
		assert_int_equal(kc_login_set(&login, rows[i].name, rows[i].value, &err), rows[i].code);
		assert_string_equal(err.text, rows[i].why);
	}
	assert_int_equal(kc_login_check(&login, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(by_request, set_login, clear_login),
		cmocka_unit_test_setup_teardown(by_bare_token, set_login, clear_login),
		cmocka_unit_test_setup_teardown(refusals_are_told, set_login, clear_login),
		cmocka_unit_test_teardown(properties, clear_login),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
