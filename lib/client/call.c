#include "lib/client/conn.h"
#include "lib/client/login.h"
#include "lib/wire/errors.h"
#include "lib/wire/message.h"
#include "kw_messages.h"

enum { API_VERSIONS = 18 };

/* ---- frames ---- */

int kc_encode(struct kc_conn *conn, int api_key, int version, const void *request, struct kw_buf *out,
	      int32_t *correlation, struct kt_err *err)
{
	const struct kw_msg *msg = kw_request(api_key);
	struct kw_RequestHeader header = {.requestApiKey = (int16_t)api_key, .requestApiVersion = (int16_t)version,
					  .correlationId = conn->correlation++, .clientId = kw_str(conn->client_id)};
	size_t at = out->n, before = kw_buf_len(out);
	int rc;

	if (!msg)
		return kt_fail(err, KT_EVERSION, "there is no API %d", api_key);
	if (correlation)
		*correlation = header.correlationId;
	kw_put_u32(out, 0);
	rc = kw_encode(&kw_msg_RequestHeader, kw_request_header_version(api_key, version), &header, out, err);
	if (rc == 0)
		rc = kw_encode(msg, version, request, out, err);
	if (rc == 0)
		kw_wr32(out->p + at, (uint32_t)(kw_buf_len(out) - before - 4));
	return rc;
}

int kc_decode(int api_key, int version, const uint8_t *p, size_t n, struct kw_arena *arena, int32_t *correlation,
	      void **response, struct kt_err *err)
{
	const struct kw_msg *msg = kw_response(api_key);
	uint8_t *frame = kw_alloc(arena, n);
	size_t head, body;
	void *header;
	int rc;

	if (!msg)
		return kt_fail(err, KT_EVERSION, "there is no API %d", api_key);
	if (!frame)
		return kt_fail(err, KT_ENOMEM, "out of memory for an answer of %zu bytes", n);
	if (n > 0)
		memcpy(frame, p, n);
	rc = kw_decode(&kw_msg_ResponseHeader, kw_response_header_version(api_key, version), frame, n, arena, &header,
		       &head, err);
	if (rc < 0)
		return rc;
	if (correlation)
		*correlation = ((struct kw_ResponseHeader *)header)->correlationId;
	rc = kw_decode(msg, version, frame + head, n - head, arena, response, &body, err);
	if (rc < 0) {
		if (err && err->has_offset)
			err->offset += head;
		return rc;
	}
	if (head + body < n)
		return kt_fail(err, KT_ECORRUPT, "%zu bytes follow the body of %s", n - head - body, msg->name);
	return 0;
}

/* ---- calls ---- */

/* Sends a request and reads the frame that answers it. */
static int exchange(struct kc_conn *conn, int api_key, int version, const void *request, int64_t deadline,
		    const uint8_t **p, size_t *n, struct kt_err *err)
{
	int32_t correlation, answered;
	int rc;

	kw_buf_clear(&conn->out);
	rc = kc_encode(conn, api_key, version, request, &conn->out, &correlation, err);
	if (rc == 0)
		rc = kc_write(conn, conn->out.p, conn->out.n, deadline, err);
	if (rc == 0)
		rc = kc_read_frame(conn, deadline, p, n, err);
	if (rc < 0)
		return rc;
	if (*n < 4)
		return kt_fail(err, KT_ETRUNC, "%s answered with %zu bytes, too few for a header", conn->peer, *n);
	answered = (int32_t)kw_rd32(*p);
	if (answered != correlation)
		return kt_fail(err, KT_ECORRUPT, "%s answered with correlation id %d instead of %d", conn->peer,
			       (int)answered, (int)correlation);
	return 0;
}

int kc_call(struct kc_conn *conn, int api_key, int version, const void *request, int64_t deadline,
	    struct kw_arena *arena, void **response, struct kt_err *err)
{
	const uint8_t *p;
	size_t n;
	int rc = exchange(conn, api_key, version, request, deadline, &p, &n, err);

	if (rc < 0)
		kc_explain_close(conn, err);
	return rc < 0 ? rc : kc_decode(api_key, version, p, n, arena, NULL, response, err);
}

/* ---- versions ---- */

static const struct kw_ApiVersionsResponse_ApiVersion *
find_api(const struct kw_ApiVersionsResponse *versions, int api_key)
{
	for (int32_t i = 0; versions && i < versions->apiKeys.n; i++) {
		if (versions->apiKeys.v[i].apiKey == api_key)
			return &versions->apiKeys.v[i];
	}
	return NULL;
}

/* Highest version of an API that is in both ranges and at most max, -1 if none. */
static int common(const struct kw_ApiVersionsResponse *versions, int api_key, int max)
{
	const struct kw_ApiVersionsResponse_ApiVersion *theirs = find_api(versions, api_key);
	const struct kw_msg *ours = kw_request(api_key);
	int best;

	if (!theirs || !ours)
		return -1;
	best = theirs->maxVersion < ours->versions.max ? theirs->maxVersion : ours->versions.max;
	if (max >= 0 && best > max)
		best = max;
	return best >= theirs->minVersion && best >= ours->versions.min ? best : -1;
}

/* Asks ApiVersions once. A refusal comes in the shape of version 0, whatever was asked (KIP-511). */
static int ask_versions(struct kc_conn *conn, int version, int64_t deadline, struct kw_ApiVersionsResponse **response,
			struct kt_err *err)
{
	struct kw_ApiVersionsRequest *request = kw_new(&kw_msg_ApiVersionsRequest, &conn->arena);
	const uint8_t *p;
	void *decoded;
	size_t n;
	int rc;

	if (!request)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	request->clientSoftwareName = kw_str("kassay");
	request->clientSoftwareVersion = kw_str(KASSAY_VERSION);
	rc = exchange(conn, API_VERSIONS, version, request, deadline, &p, &n, err);
	if (rc < 0)
		return rc;
	if (n >= 6 && kw_rd16(p + 4) == KW_ERR_UNSUPPORTED_VERSION)
		version = 0;
	rc = kc_decode(API_VERSIONS, version, p, n, &conn->arena, NULL, &decoded, err);
	if (rc == 0)
		*response = decoded;
	return rc;
}

int kc_negotiate(struct kc_conn *conn, int64_t deadline, struct kt_err *err)
{
	struct kw_ApiVersionsResponse *response = NULL;
	int version = kw_request(API_VERSIONS)->versions.max, next, rc;

	conn->versions = NULL;
	kw_arena_fini(&conn->arena);
	for (;;) {
		rc = ask_versions(conn, version, deadline, &response, err);
		if (rc < 0)
			return rc;
		if (response->errorCode != KW_ERR_UNSUPPORTED_VERSION || version == 0)
			break;
		next = common(response, API_VERSIONS, version - 1);
		version = next > 0 ? next : 0;
	}
	if (response->errorCode != 0)
		return kt_fail(err, KT_EPEER, "%s answers ApiVersions %d with %s (%d)", conn->peer, version,
			       kw_error_name(response->errorCode), response->errorCode);
	conn->versions = response;
	conn->answered = false;
	return kc_log_in(conn, deadline, err);
}

const void *kc_api_versions(const struct kc_conn *conn)
{
	return conn->versions;
}

bool kc_advertised(const struct kc_conn *conn, int api_key, int *min, int *max)
{
	const struct kw_ApiVersionsResponse_ApiVersion *theirs = find_api(conn->versions, api_key);

	if (!theirs)
		return false;
	*min = theirs->minVersion;
	*max = theirs->maxVersion;
	return true;
}

int kc_version(const struct kc_conn *conn, int api_key, int max)
{
	return common(conn->versions, api_key, max);
}
