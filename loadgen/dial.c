#include "loadgen/dial.h"

#include <stdio.h>

enum { API_METADATA = 3 };

int lg_dial_host(const char *host, int port, const struct kc_login *login, int64_t deadline, struct kc_conn **out,
		 struct kt_err *err)
{
	int rc = kc_connect(host, port, "kassay-loadgen", deadline, out, err);

	if (rc)
		return rc;
	kc_use_login(*out, login);
	rc = kc_negotiate(*out, deadline, err);
	if (rc) {
		kc_free(*out);
		*out = NULL;
	}
	return rc;
}

/* One address after the other, until one answers. */
int lg_dial(const char *bootstrap, const struct kc_login *login, int64_t deadline, struct kc_conn **out,
	    struct kt_err *err)
{
	struct kt_err last = {0};
	int rc = KT_EUSAGE;

	*out = NULL;
	for (const char *at = bootstrap; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		char host[256];
		int port;

		last = (struct kt_err){0};
		rc = kc_parse_address(at, host, sizeof host, &port, &last);
		if (rc == 0)
			rc = lg_dial_host(host, port, login, deadline, out, &last);
		if (rc == 0)
			return 0;
	}
	if (err && err->code == 0)
		*err = last;
	return rc;
}

int lg_reach(const char *bootstrap, const struct kc_login *login, int64_t deadline, struct kt_err *err)
{
	struct kw_MetadataResponse *metadata;
	struct kw_arena arena;
	struct kc_conn *conn;
	int rc = lg_dial(bootstrap, login, deadline, &conn, err);

	kw_arena_init(&arena, 16 << 20);
	if (rc == 0)
		rc = lg_metadata(conn, NULL, deadline, &arena, &metadata, err);
	kw_arena_fini(&arena);
	kc_free(conn);
	if (rc != KT_EVERSION && rc != KT_ECORRUPT && rc != KT_ETRUNC)
		return rc;
	if (err)
		*err = (struct kt_err){0};
	return 0;
}

int lg_metadata(struct kc_conn *conn, const char *topic, int64_t deadline, struct kw_arena *arena,
		struct kw_MetadataResponse **out, struct kt_err *err)
{
	struct kw_MetadataRequest *request = kw_new(kw_request(API_METADATA), arena);
	struct kw_MetadataRequest_MetadataRequestTopic *wanted;
	int version = kc_version(conn, API_METADATA, 9);
	void *response;
	int rc;

	wanted = kw_new_array(&kw_MetadataRequest_MetadataRequestTopic_struct, 1, arena);
	if (!request || !wanted)
		return kt_fail(err, KT_ENOMEM, "no memory");
	if (version < 4)
		return kt_fail(err, KT_EVERSION, "the broker does not offer Metadata version 4 or later");
	wanted->name = kw_str(topic);
	request->topics.v = wanted;
	request->topics.n = topic ? 1 : 0;
	request->allowAutoTopicCreation = false;
	rc = kc_call(conn, API_METADATA, version, request, deadline, arena, &response, err);
	*out = rc == 0 ? response : NULL;
	return rc;
}

int lg_dial_node(const char *bootstrap, int32_t node, const struct kc_login *login, int64_t deadline,
		 struct kc_conn **out, struct kt_err *err)
{
	struct kw_MetadataResponse *metadata;
	struct kc_conn *conn;
	struct kw_arena arena;
	int rc = lg_dial(bootstrap, login, deadline, &conn, err);

	*out = NULL;
	if (rc)
		return rc;
	kw_arena_init(&arena, 16 << 20);
	rc = lg_metadata(conn, NULL, deadline, &arena, &metadata, err);
	kc_free(conn);
	for (int32_t i = 0; rc == 0 && i < metadata->brokers.n; i++) {
		struct kw_MetadataResponse_MetadataResponseBroker *broker = &metadata->brokers.v[i];
		char host[256];

		if (broker->nodeId != node)
			continue;
		snprintf(host, sizeof host, "%.*s", broker->host.n, broker->host.s);
		rc = lg_dial_host(host, broker->port, login, deadline, out, err);
		break;
	}
	if (rc == 0 && !*out)
		rc = kt_fail(err, KT_ENET, "no broker has the id %d", (int)node);
	kw_arena_fini(&arena);
	return rc;
}
