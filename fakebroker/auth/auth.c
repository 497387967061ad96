#include "fakebroker/auth/auth.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lib/wire/arena.h"

/* ---- configuration ---- */

/* Dynamic values of these are not followed: the listener is what it was at the start. */
static struct kw_str value_of(const struct fb_configs *configs, int32_t node, const char *name, struct kw_arena *arena)
{
	return fb_configs_get(configs, FB_BROKER, KW_NULL_STR, node, name, arena, NULL);
}

/* The listener's own value, `listener.name.NAME.CONFIG`, or that of all. */
static struct kw_str own_value(const struct fb_auth *auth, const struct fb_configs *configs, int32_t node,
			       const char *config, struct kw_arena *arena)
{
	char name[160];
	size_t at = (size_t)snprintf(name, sizeof name, "listener.name.");
	struct kw_str own;

	snprintf(name + at, sizeof name - at, "%s.%s", auth->name, config);
	for (size_t i = at; i < at + strlen(auth->name); i++)
		name[i] = (char)tolower((unsigned char)name[i]);
	own = fb_configs_static(configs, node, kw_str(name));
	return own.n >= 0 ? own : value_of(configs, node, config, arena);
}

/* Moves past the next entry of a comma-separated list, blanks around it dropped. n is -1 at the end. */
static struct kw_str next_entry(struct kw_str *list)
{
	struct kw_str entry = *list;
	const char *comma;

	if (list->n < 0)
		return *list;
	comma = memchr(list->s, ',', (size_t)list->n);
	if (comma) {
		entry.n = (int32_t)(comma - list->s);
		*list = (struct kw_str){comma + 1, list->n - entry.n - 1};
	} else {
		*list = KW_NULL_STR;
	}
	while (entry.n > 0 && entry.s[0] == ' ')
		entry = (struct kw_str){entry.s + 1, entry.n - 1};
	while (entry.n > 0 && entry.s[entry.n - 1] == ' ')
		entry.n--;
	return entry;
}

static bool lists(struct kw_str list, struct kw_str wanted)
{
	struct kw_str entry;

	while ((entry = next_entry(&list)).n >= 0)
		if (entry.n == wanted.n && memcmp(entry.s, wanted.s, (size_t)entry.n) == 0)
			return true;
	return false;
}

static int read_name(struct fb_auth *auth, const struct fb_configs *configs, int32_t node, struct kw_arena *arena,
		     struct kt_err *err)
{
	struct kw_str list = value_of(configs, node, "listeners", arena), entry;
	struct kw_str controllers = value_of(configs, node, "controller.listener.names", arena);

	while ((entry = next_entry(&list)).n >= 0) {
		const char *end = entry.n > 3 ? memmem(entry.s, (size_t)entry.n, "://", 3) : NULL;
		struct kw_str name = {entry.s, end ? (int32_t)(end - entry.s) : 0};

		if (name.n <= 0 || name.n >= (int32_t)sizeof auth->name)
			return kt_fail(err, KT_ERANGE,
				       "listeners: NAME://HOST:PORT is expected, with a name of at most %d bytes",
				       (int)sizeof auth->name - 1);
		if (lists(controllers, name))
			continue;
		snprintf(auth->name, sizeof auth->name, "%.*s", name.n, name.s);
		return 0;
	}
	return kt_fail(err, KT_ERANGE, "listeners: there is none for brokers");
}

static int read_protocol(struct fb_auth *auth, const struct fb_configs *configs, int32_t node, struct kw_arena *arena,
			 struct kt_err *err)
{
	struct kw_str map = value_of(configs, node, "listener.security.protocol.map", arena), entry;
	int32_t n = (int32_t)strlen(auth->name);

	while ((entry = next_entry(&map)).n >= 0) {
		struct kw_str protocol = {entry.s + n + 1, entry.n - n - 1};

		if (protocol.n <= 0 || entry.s[n] != ':' || strncasecmp(entry.s, auth->name, (size_t)n) != 0)
			continue;
		if (kw_str_is(protocol, "PLAINTEXT"))
			auth->protocol = FB_PLAINTEXT;
		else if (kw_str_is(protocol, "SASL_PLAINTEXT"))
			auth->protocol = FB_SASL_PLAINTEXT;
		else
			return kt_fail(err, KT_ERANGE,
				       "listener.security.protocol.map: listener %s has the protocol %.*s; served are "
				       "PLAINTEXT and SASL_PLAINTEXT",
				       auth->name, protocol.n, protocol.s);
		return 0;
	}
	return kt_fail(err, KT_ERANGE, "listener.security.protocol.map: there is no protocol for listener %s",
		       auth->name);
}

static int read_users(struct fb_auth *auth, const struct fb_configs *configs, int32_t node, struct kw_arena *arena,
		      struct kt_err *err)
{
	static const char plain[] = "org.apache.kafka.common.security.plain.PlainLoginModule";
	struct kw_str mechanisms = own_value(auth, configs, node, "sasl.enabled.mechanisms", arena);
	struct kw_str jaas = own_value(auth, configs, node, "plain.sasl.jaas.config", arena);
	struct kt_err why = {0};

	if (!kw_str_is(mechanisms, "PLAIN"))
		return kt_fail(err, KT_ERANGE,
			       "sasl.enabled.mechanisms of listener %s is \"%.*s\"; PLAIN alone is served", auth->name,
			       mechanisms.n < 0 ? 0 : mechanisms.n, mechanisms.s);
	if (jaas.n < 0)
		return kt_fail(err, KT_ERANGE,
			       "listener %s needs listener.name.NAME.plain.sasl.jaas.config (NAME in lower case)",
			       auth->name);
	if (kt_jaas_parse(&auth->users, jaas.s, (size_t)jaas.n, &why) < 0)
		return kt_fail(err, why.code, "plain.sasl.jaas.config of listener %s: %s", auth->name, why.text);
	if (strcmp(auth->users.module, plain) != 0)
		return kt_fail(err, KT_ERANGE, "plain.sasl.jaas.config of listener %s: the login module must be %s",
			       auth->name, plain);
	return 0;
}

int fb_auth_init(struct fb_auth *auth, const struct fb_configs *configs, int32_t node, struct kt_err *err)
{
	struct kw_arena arena;
	int code;

	*auth = (struct fb_auth){0};
	kw_arena_init(&arena, 0);
	code = read_name(auth, configs, node, &arena, err);
	if (!code)
		code = read_protocol(auth, configs, node, &arena, err);
	if (!code && auth->protocol == FB_SASL_PLAINTEXT) {
		auth->max_token = (int32_t)fb_configs_long(configs, FB_BROKER, KW_NULL_STR, node,
							   "sasl.server.max.receive.size", 524288);
		code = read_users(auth, configs, node, &arena, err);
	}
	kw_arena_fini(&arena);
	return code;
}

void fb_auth_fini(struct fb_auth *auth)
{
	kt_jaas_fini(&auth->users);
}

/* ---- PLAIN (PlainSaslServer, PlainServerCallbackHandler) ---- */

enum { TOKENS = 3 };

/* Parts of a token, each NUL-terminated: a copy of n bytes has a NUL behind it. Kafka stops to count at four. */
static int split(char *copy, size_t n, const char *parts[TOKENS + 1])
{
	char *end = copy + n;
	int count = 0;

	while (count <= TOKENS) {
		char *nul = memchr(copy, '\0', (size_t)(end - copy));

		parts[count++] = copy;
		if (!nul)
			break;
		copy = nul + 1;
	}
	return count;
}

static bool is_password(const struct fb_auth *auth, const char *user, const char *password, struct kw_arena *arena)
{
	const char *name = kw_sprintf(arena, "user_%s", user);
	const char *right = name ? kt_jaas_find(&auth->users, name) : NULL;

	return right && strcmp(right, password) == 0;
}

const char *fb_auth_plain(const struct fb_auth *auth, const uint8_t *token, size_t n, struct kw_arena *arena,
			  const char **user)
{
	const char *parts[TOKENS + 1];
	char *copy = kw_alloc(arena, n + 1);
	int count;

	if (!copy)
		return "out of memory";
	if (n)
		memcpy(copy, token, n);
	copy[n] = '\0';
	count = split(copy, n, parts);
	if (count != TOKENS)
		return kw_sprintf(arena, "Invalid SASL/PLAIN response: expected 3 tokens, got %d", count);
	if (!*parts[1])
		return "Authentication failed: username not specified";
	if (!*parts[2])
		return "Authentication failed: password not specified";
	if (!is_password(auth, parts[1], parts[2], arena))
		return "Authentication failed: Invalid username or password";
	if (*parts[0] && strcmp(parts[0], parts[1]) != 0)
		return "Authentication failed: Client requested an authorization id that is different from username";
	*user = parts[1];
	return NULL;
}
