/* Messages by name and key; error codes; which header goes with which version. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "lib/wire/plan.h"

static const struct {
	const char *name;
	int code;
} errors[] = {
#define X(name, code) {#name, code},
#include "lib/wire/errors.def"
#undef X
};

enum { MAX_KEY = 127 };

const struct kw_msg *kw_msg_at(size_t i)
{
	return i < kw_all_messages_n ? kw_all_messages[i] : NULL;
}

size_t kw_msg_count(void)
{
	return kw_all_messages_n;
}

const struct kw_msg *kw_msg_find(const char *name)
{
	for (size_t i = 0; i < kw_all_messages_n; i++) {
		const struct kw_msg *msg = kw_all_messages[i];

		if (strcmp(msg->name, name) == 0 || (msg->alias && strcmp(msg->alias, name) == 0))
			return msg;
	}
	return NULL;
}

static pthread_once_t index_once = PTHREAD_ONCE_INIT;
static const struct kw_msg *by_key[2][MAX_KEY + 1];   /* KW_REQUEST, KW_RESPONSE */
static char api_names[MAX_KEY + 1][64];

static void make_index(void)
{
	for (size_t i = 0; i < kw_all_messages_n; i++) {
		const struct kw_msg *msg = kw_all_messages[i];

		if (msg->kind > KW_RESPONSE || msg->key < 0 || msg->key > MAX_KEY)
			continue;
		by_key[msg->kind][msg->key] = msg;
		if (msg->kind == KW_REQUEST)
			snprintf(api_names[msg->key], sizeof api_names[0], "%.*s",
				 (int)(strlen(msg->name) - strlen("Request")), msg->name);
	}
}

static const struct kw_msg *find_key(enum kw_kind kind, int key)
{
	pthread_once(&index_once, make_index);
	return key < 0 || key > MAX_KEY ? NULL : by_key[kind][key];
}

const struct kw_msg *kw_request(int api_key)
{
	return find_key(KW_REQUEST, api_key);
}

const struct kw_msg *kw_response(int api_key)
{
	return find_key(KW_RESPONSE, api_key);
}

int kw_api_key(const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < kw_all_messages_n; i++) {
		const struct kw_msg *msg = kw_all_messages[i];

		if (msg->kind != KW_REQUEST)
			continue;
		if (strncmp(msg->name, name, n) == 0 && strcmp(msg->name + n, "Request") == 0)
			return msg->key;
		if (msg->alias && strncmp(msg->alias, name, n) == 0 && strcmp(msg->alias + n, "Request") == 0)
			return msg->key;
	}
	return -1;
}

const char *kw_api_name(int api_key)
{
	return kw_request(api_key) ? api_names[api_key] : NULL;
}

const char *kw_error_name(int code)
{
	for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
		if (errors[i].code == code)
			return errors[i].name;
	return "UNKNOWN_ERROR_CODE";
}

int kw_error_code(const char *name, int *code)
{
	for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
		if (strcmp(errors[i].name, name) == 0) {
			*code = errors[i].code;
			return 0;
		}
	}
	return KT_EUNKNOWN;
}

const char *kw_error_text(int code, struct kw_str message, char *buf, size_t size)
{
	snprintf(buf, size, "%s (%d)%s%.*s", kw_error_name(code), code, message.n > 0 ? ": " : "",
		 message.n > 0 ? (int)message.n : 0, message.n > 0 ? message.s : "");
	kt_clean(buf);
	return buf;
}

int kw_request_header_version(int api_key, int api_version)
{
	const struct kw_msg *msg = kw_request(api_key);

	if (api_key == 7 && api_version == 0)
		return 0;   /* ControlledShutdown v0 came without a client id */
	return msg && kw_in(msg->flexible, api_version) ? 2 : 1;
}

int kw_response_header_version(int api_key, int api_version)
{
	const struct kw_msg *msg = kw_response(api_key);

	if (api_key == 18)
		return 0;   /* KIP-511: a client must be able to read the answer before it knows the version */
	return msg && kw_in(msg->flexible, api_version) ? 1 : 0;
}
