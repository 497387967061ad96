#include "conformance/link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/client/login.h"
#include "lib/wire/base64.h"
#include "lib/wire/edit.h"

#define CLIENT_ID "kassay-conformance"

enum { API_VERSIONS = 18, PIECE_GAP_MS = 5 };

int cf_link_open(struct cf_link *link, struct kt_err *err)
{
	int64_t deadline = kc_now_ms() + link->timeout;

	if (link->conn && kc_fate(link->conn) == KC_OPEN)
		return 0;
	cf_link_close(link);
	if (kc_connect(link->host, link->port, CLIENT_ID, deadline, &link->conn, err))
		return err->code;
	kc_use_login(link->conn, link->login);
	if (kc_negotiate(link->conn, deadline, err))
		cf_link_close(link);
	return err->code;
}

void cf_link_close(struct cf_link *link)
{
	kc_free(link->conn);
	link->conn = NULL;
}

int cf_link_version(struct cf_link *link, int api, int version, int max, struct kt_err *err)
{
	int low, high;

	if (version == CF_LATEST) {
		version = kc_version(link->conn, api, max);
		if (version < 0)
			kt_fail(err, KT_EVERSION,
				"the target lists no version of %s that the kit knows", kw_api_name(api));
		return version;
	}
	if (!kc_advertised(link->conn, api, &low, &high))
		return kt_fail(err, KT_EVERSION, "the target does not list %s", kw_api_name(api));
	if (version < low || version > high)
		return kt_fail(err, KT_EVERSION,
			       "the target lists %s %d to %d, not %d", kw_api_name(api), low, high, version);
	return version;
}

/* ---- evidence ---- */

static json_t *hex(const uint8_t *p, size_t n)
{
	char *s = malloc(n * 2 + 1);
	json_t *out;

	if (!s)
		return json_null();
	kw_hex_encode(p, n, s);
	out = json_stringn(s, n * 2);
	free(s);
	return out;
}

/* Frames that went the same way in one step are noted one behind the other. */
static void note_bytes(json_t *evidence, const char *way, const uint8_t *p, size_t n)
{
	json_t *list = json_object_get(evidence, way);

	if (!list) {
		list = json_array();
		json_object_set_new(evidence, way, list);
	}
	json_array_append_new(list, hex(p, n));
}

/* ---- requests ---- */

int cf_link_send(struct cf_link *link, const void *p, size_t n, json_t *evidence, struct kt_err *err)
{
	note_bytes(evidence, "requestHex", p, n);
	return kc_write(link->conn, p, n, kc_now_ms() + link->timeout, err);
}

/* Pieces go out one by one, with a little time between them so that they arrive as such. */
static int send_pieces(struct cf_link *link, const struct kw_buf *frame, const struct kw_editing *how,
		       struct kt_err *err)
{
	size_t at = 0;

	for (size_t i = 0; i <= how->ncuts; i++) {
		size_t end = i < how->ncuts ? how->cuts[i] : frame->n;

		if (i > 0)
			kc_wait_close(link->conn, kc_now_ms() + PIECE_GAP_MS);
		if (kc_write(link->conn, frame->p + at, end - at, kc_now_ms() + link->timeout, err))
			return err->code;
		at = end;
	}
	if (how->half_close)
		kc_shutdown_write(link->conn);
	return 0;
}

int cf_link_send_edited(struct cf_link *link, struct kw_buf *frame, json_t *edits, json_t *evidence, bool *bad_edits,
			struct kt_err *err)
{
	struct kw_editing how = {0};

	*bad_edits = edits && kw_edit_frame(edits, frame, &how, err) != 0;
	if (*bad_edits)
		return err->code;
	note_bytes(evidence, "requestHex", frame->p, frame->n);
	return send_pieces(link, frame, &how, err);
}

static int read_tags(json_t *json, struct kw_tags *tags, struct kw_arena *arena, struct kt_err *err)
{
	json_t *entry;
	size_t i;

	tags->v = kw_alloc(arena, json_array_size(json) * sizeof *tags->v);
	if (!tags->v)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	json_array_foreach(json, i, entry) {
		const char *s = json_string_value(json_object_get(entry, "hex"));
		size_t n = s ? strlen(s) : 0;
		uint8_t *p = kw_alloc(arena, n / 2 + 1);
		long size = p && s ? kw_hex_decode(s, n, p) : -1;

		if (size < 0 || !json_is_integer(json_object_get(entry, "tag")))
			return kt_fail(err, KT_ETYPE, "tags: each needs \"tag\", a number, and \"hex\"");
		tags->v[i].tag = (uint32_t)json_integer_value(json_object_get(entry, "tag"));
		tags->v[i].data = (struct kw_bytes){p, (int32_t)size};
		tags->n++;
	}
	return 0;
}

int cf_link_encode(struct cf_link *link, int api, int version, json_t *body, json_t *tags, struct kw_buf *frame,
		   int32_t *correlation, struct kt_err *err)
{
	const struct kw_msg *msg = kw_request(api);
	struct kw_arena arena;
	void *request;

	kw_arena_init(&arena, 0);
	if (kw_from_json(msg, version, body, &arena, &request, err))
		goto out;
	if (tags && read_tags(tags, (struct kw_tags *)(void *)((char *)request + msg->root->tags_offset), &arena, err))
		goto out;
	kc_encode(link->conn, api, version, request, frame, correlation, err);
out:
	kw_arena_fini(&arena);
	return err->code;
}

int cf_link_receive(struct cf_link *link, int api, int version, json_t *evidence, int32_t *correlation, json_t **body,
		    struct kt_err *err)
{
	struct kw_arena arena;
	const uint8_t *p;
	size_t n;
	void *response;

	*body = NULL;
	if (kc_read_frame(link->conn, kc_now_ms() + link->timeout, &p, &n, err))
		return err->code;
	note_bytes(evidence, "responseHex", p, n);
	if (api < 0) {
		*correlation = n >= 4 ? (int32_t)kw_rd32(p) : 0;
		return 0;
	}
	kw_arena_init(&arena, 0);
	if (kc_decode(api, version, p, n, &arena, correlation, &response, err) == 0)
		*body = kw_to_json(kw_response(api), version, response, err);
	kw_arena_fini(&arena);
	return err->code;
}

int cf_link_ask(struct cf_link *link, const char *api, int version, json_t *body, json_t **answer, struct kt_err *err)
{
	json_t *evidence = json_object();
	int key = kw_api_key(api), use;
	int32_t sent, got = 0;
	struct kw_buf frame;

	kw_buf_init(&frame, 0);
	*answer = NULL;
	if (cf_link_open(link, err))
		goto out;
	use = cf_link_version(link, key, version, -1, err);
	if (err->code || cf_link_encode(link, key, use, body, NULL, &frame, &sent, err) ||
	    cf_link_send(link, frame.p, frame.n, evidence, err) ||
	    cf_link_receive(link, key, use, evidence, &got, answer, err)) {
		kc_explain_close(link->conn, err);
		cf_link_close(link);
		goto out;
	}
	if (got != sent) {
		json_decref(*answer);
		*answer = NULL;
		kt_fail(err, KT_ECORRUPT, "%s was answered with correlation id %d, not %d", api, got, sent);
	}
out:
	kw_buf_fini(&frame);
	json_decref(evidence);
	json_decref(body);
	return err->code;
}

int cf_error_code(json_t *answer)
{
	return (int)json_integer_value(json_object_get(answer, "errorCode"));
}

const char *cf_error_text(json_t *answer, char *buf, size_t size)
{
	return kw_error_text(cf_error_code(answer), kw_str(json_string_value(json_object_get(answer, "errorMessage"))),
			     buf, size);
}

/* ---- fate ---- */

/* Frames of other requests may still come before the answer that is waited for. */
static bool await(struct cf_link *link, int32_t correlation)
{
	int64_t deadline = kc_now_ms() + link->timeout;
	struct kt_err err = {0};
	const uint8_t *p;
	size_t n;

	while (kc_read_frame(link->conn, deadline, &p, &n, &err) == 0)
		if (n >= 4 && (int32_t)kw_rd32(p) == correlation)
			return true;
	return false;
}

enum cf_fate cf_link_fate(struct cf_link *link)
{
	json_t *body = json_object();
	struct kt_err err = {0};
	int32_t correlation = 0;
	enum cf_fate fate = CF_KEPT;
	struct kw_buf frame;

	kw_buf_init(&frame, 0);
	if (!link->conn || kc_fate(link->conn) != KC_OPEN ||
	    cf_link_encode(link, API_VERSIONS, 0, body, NULL, &frame, &correlation, &err) ||
	    kc_write(link->conn, frame.p, frame.n, kc_now_ms() + link->timeout, &err))
		fate = CF_CLOSED;
	else if (!await(link, correlation))
		fate = kc_fate(link->conn) == KC_OPEN ? CF_SILENT : CF_CLOSED;
	kw_buf_fini(&frame);
	json_decref(body);
	if (fate != CF_KEPT)
		cf_link_close(link);
	return fate;
}
