#include "fakebroker/control/recorder_json.h"

#include <stdlib.h>

#include "fakebroker/control/batches_json.h"
#include "lib/text/base64.h"

/* Header and body of one frame under the names "header" and "body"; what cannot be decoded is told under "error". */
static json_t *decode(const struct kw_msg *header, int header_version, const struct kw_msg *msg, int version,
		      const uint8_t *p, size_t n)
{
	json_t *json = json_object();
	struct kw_arena arena;
	struct kt_err err = {0};
	size_t used = 0;
	char line[600];
	void *out;

	kw_arena_init(&arena, 0);
	if (kw_decode(header, header_version, p, n, &arena, &out, &used, &err) == 0)
		json_object_set_new(json, "header", kw_to_json(header, header_version, out, &err));
	if (!err.code && kw_decode(msg, version, p + used, n - used, &arena, &out, NULL, &err) == 0) {
		json_object_set_new(json, "body", kw_to_json(msg, version, out, &err));
		if (msg == &kw_msg_ProduceRequest)
			fb_add_batches(json_object_get(json, "body"), out);
	}
	if (err.code)
		json_object_set_new(json, "error", json_string(kt_err_line(&err, line, sizeof line)));
	kw_arena_fini(&arena);
	return json;
}

bool fb_recorded_mentions(const struct fb_recorded *r, const struct fb_wanted_topic *want)
{
	const struct kw_msg *msg = r->api < 0 ? NULL : kw_request(r->api);
	struct kw_arena arena;
	size_t used = 0;
	bool found = false;
	void *out;

	kw_arena_init(&arena, 0);
	if (msg &&
	    kw_decode(&kw_msg_RequestHeader, kw_request_header_version(r->api, r->version), r->frame->p, r->frame->n,
		      &arena, &out, &used, NULL) == 0 &&
	    kw_decode(msg, r->version, r->frame->p + used, r->frame->n - used, &arena, &out, NULL, NULL) == 0)
		found = fb_mentions(msg->root, out, want);
	kw_arena_fini(&arena);
	return found;
}

json_t *fb_recorded_json(const struct fb_recorded *r, bool bytes)
{
	json_t *json = json_pack("{s:I, s:I, s:i, s:I, s:s, s:i, s:s}", "id", (json_int_t)r->id, "time",
				 (json_int_t)r->time_ms, "node", r->node, "connection", (json_int_t)r->connection,
				 "address", r->address, "port", r->port, "fate", r->fate);

	if (r->reason)
		json_object_set_new(json, "reason", json_string(r->reason));
	if (r->api >= 0) {
		json_object_set_new(json, "api", json_string(kw_api_name(r->api)));
		json_object_set_new(json, "version", json_integer(r->version));
	}
	if (r->api >= 0)
		json_object_set_new(json, "request",
				    decode(&kw_msg_RequestHeader, kw_request_header_version(r->api, r->version),
					   kw_request(r->api), r->version, r->frame->p, r->frame->n));
	if (r->response_cut)
		json_object_set_new(json, "responseCut", json_true());
	else if (r->response_n > 4)
		json_object_set_new(json, "response",
				    decode(&kw_msg_ResponseHeader,
					   kw_response_header_version(r->api, r->response_version), kw_response(r->api),
					   r->response_version, r->response + 4, r->response_n - 4));
	if (bytes)
		json_object_set_new(json, "requestBytes", kt_hex_json(r->frame->p, r->frame->n));
	if (bytes && r->response_n)
		json_object_set_new(json, "responseBytes", kt_hex_json(r->response, r->response_n));
	return json;
}
