/* From a frame to its answer: header, version, body, rule, handler, response. */
#include <stdlib.h>

#include "fakebroker/cluster/log_line.h"
#include "fakebroker/control/recorder.h"
#include "fakebroker/control/rules.h"
#include "fakebroker/mutant_frames.h"
#include "fakebroker/mutants.h"
#include "fakebroker/request.h"
#include "fakebroker/sasl.h"

enum { ARENA_LIMIT = 1 << 28, SLOW_NS = 15000000 };

static const struct fb_api apis[] = {
#define X(key, name, min, max, adv, listeners, by, handler) {key, min, max, adv, listeners, by, handler},
#include "fakebroker/apis.def"
#undef X
};

enum { NAPIS = sizeof apis / sizeof apis[0] };

enum {
#define X(key, name, min, max, adv, listeners, by, handler) KEY_##name = (key),
#include "fakebroker/apis.def"
#undef X
};

const struct fb_api *fb_api_at(size_t index)
{
	return index < NAPIS ? &apis[index] : NULL;
}

const struct fb_api *fb_api_find(int api_key)
{
	for (size_t i = 0; i < NAPIS; i++)
		if (apis[i].key == api_key)
			return &apis[i];
	return NULL;
}

struct fb_api_versions fb_api_versions_in(const struct fb_release *release, const struct fb_api *api)
{
	static const struct {
		const char *release;
		int key;
		struct fb_api_versions versions;
	} earlier[] = {
#define X(release, name, min, max) {release, KEY_##name, {min, max, min}},
#include "fakebroker/apis_earlier.def"
#undef X
	};

	for (size_t i = 0; i < sizeof earlier / sizeof *earlier; i++)
		if (earlier[i].key == api->key && strcmp(earlier[i].release, release->name) == 0)
			return earlier[i].versions;
	return (struct fb_api_versions){api->min, api->max, api->advertised_min};
}

struct fb_api_versions fb_api_versions_of(const struct fb_cluster *cluster, const struct fb_api *api)
{
	struct fb_api_versions versions = fb_api_versions_in(cluster->release, api);

	if (api->key == KEY_BrokerRegistration && cluster->registrationVersion < versions.max)
		versions.max = (int16_t)cluster->registrationVersion;
	return versions;
}

/* ---- the request's life ---- */

static void request_free(struct fb_request *req)
{
	for (size_t i = 0; i < req->nframes; i++)
		fb_frame_unref(req->frames[i]);
	free(req->frames);
	fb_frame_unref(req->frame);
	kw_arena_fini(&req->arena);
	free(req);
}

int fb_request_keep_take(struct fb_request *req, struct fb_frame **frames, size_t n)
{
	if (req->nframes + n > req->capframes) {
		size_t cap = req->nframes + n + 16;
		struct fb_frame **v = realloc(req->frames, cap * sizeof *v);

		if (!v) {
			for (size_t i = 0; i < n; i++)
				fb_frame_unref(frames[i]);
			return KT_ENOMEM;
		}
		req->frames = v;
		req->capframes = cap;
	}
	if (n)
		memcpy(req->frames + req->nframes, frames, n * sizeof *frames);
	req->nframes += n;
	return 0;
}

/* ---- parsing ---- */

/* What a mutant does in place of closing the connection: it goes on as if nothing had come. */
static enum fb_outcome ignored(enum fb_mutant mutant, enum fb_outcome outcome)
{
	return fb_mutant(mutant) ? FB_SILENT : outcome;
}

static void log_closing(const struct fb_request *req, const char *reason)
{
	fb_log_line(KASSAY_INFO, "node %d: closing connection %llu of %s: %s", req->node->id,
		    (unsigned long long)fb_conn_id(req->conn), fb_conn_address(req->conn), reason);
}

/* Puts the reason into the log and the recorder. */
static enum fb_outcome unparsed(struct fb_request *req, const char *fmt, ...)
{
	char reason[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(reason, sizeof reason, fmt, ap);
	va_end(ap);
	log_closing(req, reason);
	if (req->cluster->recorder)
		fb_recorder_add_unparsed(req->cluster->recorder, req->node, req->conn, req->frame, reason);
	return FB_CLOSE;
}

/* Kafka reads the header of a version beyond the newest as that of the newest. */
static int header_version(int key, int version)
{
	int newest = kw_request(key)->versions.max;

	if (version > newest && !fb_mutant(FB_M_API_VERSIONS_ANY_HEADER))
		version = newest;
	return kw_request_header_version(key, version);
}

/* Reads the header: FB_REPLY when it is good. */
static enum fb_outcome parse_header(struct fb_request *req, size_t *used)
{
	const struct fb_frame *frame = req->frame;
	struct kt_err err;
	char line[600];
	void *header;
	int key, version;

	kt_err_init(&err);
	if (frame->n < 8)
		return ignored(FB_M_SHORT_FRAME_IGNORED,
			       unparsed(req, "the frame of %zu bytes is too short for a request header", frame->n));
	key = (int16_t)kw_rd16(frame->p);
	version = (int16_t)kw_rd16(frame->p + 2);
	req->api = fb_api_find(key);
	req->version = version;
	if (!req->api)
		return ignored(FB_M_UNKNOWN_KEY_IGNORED, unparsed(req, "API key %d (%s) is not served", key,
								  kw_api_name(key) ? kw_api_name(key) : "unknown"));
	if (!(req->api->listeners & (req->node->controller ? FB_ON_CONTROLLER : FB_ON_BROKER)))
		return ignored(FB_M_LISTENER_IGNORED, unparsed(req, "%s is not for this listener", kw_api_name(key)));
	if (kw_decode(&kw_msg_RequestHeader, header_version(key, version), frame->p, frame->n, &req->arena, &header,
		      used, &err) < 0)
		return ignored(FB_M_BAD_HEADER_IGNORED, unparsed(req, "request header of %s: %s", kw_api_name(key),
								 kt_err_line(&err, line, sizeof line)));
	req->header = header;
	return fb_mutant_refuses_request_header(req, *used) ? unparsed(req, "a mutant refuses the header") : FB_REPLY;
}

/* An ApiVersions version that we do not have is answered in version 0, with the versions that we have; Kafka reads the
 * header of a version beyond its newest as a flexible one, so parse_header() has read it already or failed. */
static enum fb_outcome parse_body(struct fb_request *req, size_t at)
{
	const struct fb_api *api = req->api;
	struct fb_api_versions versions = fb_api_versions_of(req->cluster, api);
	struct kt_err err;
	char line[600];
	void *body;

	kt_err_init(&err);
	if (req->version < versions.min || req->version > versions.max) {
		if (api->key != KEY_ApiVersions)
			return ignored(FB_M_VERSION_IGNORED, unparsed(req, "%s has no version %d here",
								      kw_api_name(api->key), req->version));
		if (fb_mutant(FB_M_API_VERSIONS_CLOSES))
			return unparsed(req, "a mutant closes");
		req->header_version_override = 0;
		return FB_REPLY;
	}
	if (kw_decode(kw_request(api->key), req->version, req->frame->p + at, req->frame->n - at, &req->arena, &body,
		      NULL, &err) < 0 && !fb_mutant_misses_body_fault(&err))
		return ignored(FB_M_BAD_BODY_IGNORED, unparsed(req, "%s v%d: %s", kw_api_name(api->key), req->version,
							       kt_err_line(&err, line, sizeof line)));
	if (!fb_mutant(FB_M_NAMES_AS_SENT) && kw_recode_strings(kw_request(api->key), body, &req->arena))
		return unparsed(req, "out of memory");
	req->body = body;
	return fb_mutant_refuses_request_body(req, at) ? unparsed(req, "a mutant refuses the body") : FB_REPLY;
}

static enum fb_outcome parse(struct fb_request *req)
{
	const char *why = "";
	size_t at = 0;
	enum fb_outcome outcome = parse_header(req, &at);

	if (outcome == FB_REPLY)
		outcome = parse_body(req, at);
	if (outcome == FB_REPLY && fb_sasl_gate(req, &why) != FB_REPLY)
		outcome = unparsed(req, "%s v%d: %s", kw_api_name(req->api->key), req->version, why);
	return outcome;
}

/* ---- answering ---- */

static int encode(struct fb_request *req, struct kw_buf *buf, struct kt_err *err)
{
	struct kw_ResponseHeader header = {.correlationId = req->header->correlationId};
	int version = req->header_version_override >= 0 ? req->header_version_override : req->version;
	int code;

	if (fb_mutant(FB_M_CORRELATION_UNSIGNED))
		header.correlationId &= INT32_MAX;
	kw_put_u32(buf, 0);
	code = kw_encode(&kw_msg_ResponseHeader, kw_response_header_version(req->api->key, version), &header, buf, err);
	if (!code)
		code = kw_encode(kw_response(req->api->key), version, req->response, buf, err);
	if (!code)
		kw_wr32(buf->p, (uint32_t)(kw_buf_len(buf) - 4));
	return code;
}

static void unanswered(struct fb_request *req, const char *fate)
{
	fb_request_observe(req, false, 0);
	if (req->cluster->recorder)
		fb_recorder_add(req->cluster->recorder, req, NULL, fate);
}

static enum fb_outcome reply(struct fb_request *req)
{
	struct kt_err err;
	struct kw_buf buf;
	int64_t started;
	char line[600];

	kt_err_init(&err);
	kw_buf_init(&buf, 0);
	buf.by_ref = true;
	if (encode(req, &buf, &err) < 0) {
		fb_log_repeated(KASSAY_ERROR, "node %d: the answer to %s v%d cannot be encoded: %s", req->node->id,
				kw_api_name(req->api->key), req->version, kt_err_line(&err, line, sizeof line));
		kw_buf_fini(&buf);
		unanswered(req, "closed");
		return FB_CLOSE;
	}
	started = fb_mutant(FB_M_SLOW_CLOSES) ? fb_now_ns() : 0;
	fb_request_observe(req, true, kw_buf_len(&buf));
	if (fb_mutant(FB_M_SLOW_CLOSES) && fb_now_ns() - started > SLOW_NS) {
		kw_buf_fini(&buf);
		return FB_CLOSE;
	}
	if (req->cluster->recorder)
		fb_recorder_add(req->cluster->recorder, req, &buf, "replied");
	fb_conn_send_take(req->conn, &buf, req->frames, req->nframes);
	req->nframes = 0;
	return FB_REPLY;
}

/* What a mutant sends in front of the answer: the same bytes, which nobody is shown. */
static void reply_once_more(struct fb_request *req)
{
	struct kw_buf buf;

	kw_buf_init(&buf, 0);
	if (encode(req, &buf, NULL) == 0)
		fb_conn_send_take(req->conn, &buf, NULL, 0);
	else
		kw_buf_fini(&buf);
}

/* Does what follows from the handler's outcome. The request is gone afterwards, unless it waits. */
static enum fb_outcome finish(struct fb_request *req, enum fb_outcome outcome)
{
	switch (outcome) {
	case FB_WAIT:
		return FB_WAIT;
	case FB_REPLY:
		if (req->twice)
			reply_once_more(req);
		outcome = reply(req);
		if (req->last)
			outcome = FB_CLOSE;   /* when what is queued is written */
		break;
	case FB_SILENT:
	case FB_CLOSE:
		if (!req->muted)   /* else nobody came to the answer: nobody is shown it */
			unanswered(req, outcome == FB_SILENT ? "silent" : "closed");
		break;
	}
	request_free(req);
	return outcome;
}

static enum fb_outcome call(struct fb_request *req)
{
	if (!req->response)
		req->response = kw_new(kw_response(req->api->key), &req->arena);
	if (!req->response) {
		log_closing(req, "out of memory");
		return FB_CLOSE;
	}
	if (req->muted)
		return FB_CLOSE;
	return fb_request_lead(req) == FB_WAIT ? FB_WAIT : req->api->handler(req);
}

/* Rules come before the handler. */
static enum fb_outcome apply_rule(struct fb_request *req)
{
	struct fb_action action = {.kind = FB_ACT_NONE};

	if (req->cluster->rules)
		action = fb_rules_match(req->cluster->rules, req);
	switch (action.kind) {
	case FB_ACT_ERROR:
		req->forced = action.error;
		break;
	case FB_ACT_DELAY:
		fb_conn_sleep(req->conn, action.delay_ms);
		return FB_WAIT;
	case FB_ACT_CLOSE:
		return FB_CLOSE;
	case FB_ACT_NONE:
		break;
	}
	req->delayed = true;
	return call(req);
}

enum fb_outcome fb_dispatch(void *arg, struct fb_conn *conn, struct fb_frame *frame, void **state)
{
	struct fb_request *req = malloc(sizeof *req + FB_FEW_PARTITIONS * sizeof *req->few);
	enum fb_outcome outcome;

	if (!req) {
		fb_frame_unref(frame);
		return FB_CLOSE;
	}
	*req = (struct fb_request){
		.cluster = arg, .conn = conn, .session = fb_conn_session(conn), .node = fb_conn_tag(conn),
		.frame = frame, .header_version_override = -1, .started_ns = fb_conn_turned_ns(conn),
	};
	kw_arena_init(&req->arena, ARENA_LIMIT);
	if (fb_sasl_wants_token(req)) {
		outcome = fb_sasl_token(req);
		request_free(req);
		return outcome;
	}
	req->watched = fb_node_watched(req->node);
	outcome = parse(req);
	if (outcome != FB_REPLY && req->header && fb_mutant(FB_M_UNREADABLE_OBSERVED))
		fb_request_observe(req, false, 0);
	if (outcome != FB_REPLY) {
		request_free(req);
		return outcome;
	}
	req->id = atomic_fetch_add(&req->node->requests, 1) + 1;
	if (!req->response)
		outcome = apply_rule(req);
	*state = req;
	return finish(req, outcome);
}

enum fb_outcome fb_dispatch_again(void *arg, struct fb_conn *conn, void *state, bool expired)
{
	struct fb_request *req = state;
	bool first = !req->delayed;

	(void)arg;
	(void)conn;
	req->delayed = true;
	req->watched = fb_node_watched(req->node);
	req->expired = expired && !first;
	return finish(req, call(req));
}

/* It waited, and the connection is gone. At the end of the broker nobody is shown what it no longer does. */
void fb_dispatch_drop(void *arg, void *state, bool ending)
{
	struct fb_request *req = state;

	(void)arg;
	if (ending) {
		request_free(req);
		return;
	}
	req->watched = fb_node_watched(req->node);
	finish(req, FB_CLOSE);
}
