#include "conformance/link.h"

#include <stdio.h>
#include <string.h>

#include "lib/client/login.h"
#include "lib/text/base64.h"
#include "lib/wire/edit.h"

#define CLIENT_ID "kassay-conformance"

enum { API_VERSIONS = 18, PIECE_GAP_MS = 5, CORRELATION_AT = 8 /* in a frame with its size */ };

/* ---- whose fault ---- */

/* What is wrong with an answer is the target's fault, whatever it is; the words say which answer it was. version -1:
 * that is not known. */
static int blame(int api, int version, struct kt_err *err)
{
	char line[800], number[16] = "";

	switch (err->code) {
	case KT_OK:
	case KT_ENOMEM:
	case KT_ENET:
	case KT_ECLOSED:
	case KT_ETIMEOUT:
	case KT_EPEER:
		return err->code;
	}
	if (version >= 0)
		snprintf(number, sizeof number, " %d", version);
	kt_err_line(err, line, sizeof line);
	kt_err_init(err);
	return kt_fail(err, KT_ECORRUPT, "the answer to %s%s cannot be read: %s", kw_api_name(api), number, line);
}

/* ---- opening ---- */

int cf_link_open(struct cf_link *link, struct kt_err *err)
{
	int64_t deadline = kc_now_ms() + link->timeout;

	if (link->conn && kc_fate(link->conn) == KC_OPEN)
		return 0;
	cf_link_close(link);
	if (kc_connect(link->host, link->port, CLIENT_ID, deadline, &link->conn, err))
		return err->code;
	kc_use_login(link->conn, link->login);
	if (kc_negotiate(link->conn, deadline, err)) {
		blame(API_VERSIONS, -1, err);
		cf_link_close(link);
	}
	return err->code;
}

void cf_link_close(struct cf_link *link)
{
	kc_free(link->conn);
	link->conn = NULL;
	cf_due_fini(&link->due);
	link->unasked = false;
}

int cf_link_version(struct cf_link *link, int api, int version, int max, struct kt_err *err)
{
	int low, high;

	if (version == CF_LATEST) {
		version = kc_version(link->conn, api, max);
		if (version < 0)
			kt_fail(err, KT_EABSENT,
				"the target lists no version of %s that the kit knows", kw_api_name(api));
		return version;
	}
	if (!kc_advertised(link->conn, api, &low, &high))
		return kt_fail(err, KT_EABSENT, "the target does not list %s", kw_api_name(api));
	if (version < low || version > high)
		return kt_fail(err, KT_EABSENT,
			       "the target lists %s %d to %d, not %d", kw_api_name(api), low, high, version);
	return version;
}

/* ---- evidence ---- */

/* Frames that went the same way in one step are noted one behind the other. evidence may be NULL. */
static void note_bytes(json_t *evidence, const char *way, const uint8_t *p, size_t n)
{
	json_t *list = json_object_get(evidence, way);

	if (!evidence)
		return;
	if (!list) {
		list = json_array();
		json_object_set_new(evidence, way, list);
	}
	json_array_append_new(list, kt_hex_json(p, n));
}

/* ---- requests ---- */

static int put(struct cf_link *link, const void *p, size_t n, struct kt_err *err)
{
	return cf_due_sent(&link->due, p, n, err)
		? err->code : kc_write(link->conn, p, n, kc_now_ms() + link->timeout, err);
}

int cf_link_send(struct cf_link *link, const void *p, size_t n, json_t *evidence, struct kt_err *err)
{
	note_bytes(evidence, "requestHex", p, n);
	return put(link, p, n, err);
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
		if (put(link, frame->p + at, end - at, err))
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
		long size = p && s ? kt_hex_decode(s, n, p) : -1;

		if (size < 0 || !json_is_integer(json_object_get(entry, "tag")))
			return kt_fail(err, KT_ETYPE, "tags: each needs \"tag\", a number, and \"hex\"");
		tags->v[i].tag = (uint32_t)json_integer_value(json_object_get(entry, "tag"));
		tags->v[i].data = (struct kw_bytes){p, (int32_t)size};
		tags->n++;
	}
	return 0;
}

int cf_link_encode(struct cf_link *link, int api, int version, json_t *body, json_t *tags, struct kw_buf *frame,
		   struct kt_err *err)
{
	const struct kw_msg *msg = kw_request(api);
	struct kw_arena arena;
	void *request;

	kw_arena_init(&arena, 0);
	if (kw_from_json(msg, version, body, &arena, &request, err))
		goto out;
	if (tags && read_tags(tags, (struct kw_tags *)(void *)((char *)request + msg->root->tags_offset), &arena, err))
		goto out;
	kc_encode(link->conn, api, version, request, frame, NULL, err);
out:
	kw_arena_fini(&arena);
	/* Whatever is wrong with the body is wrong with the case. */
	if (err->code && err->code != KT_ENOMEM)
		err->code = KT_EUSAGE;
	return err->code;
}

/* ---- answers ---- */

/* The next frame, which is noted, and its correlation id. */
static int read_frame(struct cf_link *link, json_t *evidence, struct kw_slice *frame, int32_t *got, struct kt_err *err)
{
	if (kc_read_frame(link->conn, kc_now_ms() + link->timeout, &frame->p, &frame->n, err))
		return err->code;
	note_bytes(evidence, "responseHex", frame->p, frame->n);
	if (frame->n < sizeof *got) {
		link->unasked = true;
		return kt_fail(err, KT_ECORRUPT, "%zu bytes are too few for a correlation id", frame->n);
	}
	*got = (int32_t)kw_rd32(frame->p);
	return 0;
}

int cf_link_receive_any(struct cf_link *link, json_t *evidence, int32_t *correlation, struct kt_err *err)
{
	struct kw_slice frame;

	if (read_frame(link, evidence, &frame, correlation, err) == 0 && !cf_due_settle(&link->due, *correlation))
		link->unasked = true;
	return err->code;
}

/* Is it the answer that is due next? */
static int check_correlation(struct cf_link *link, int32_t got, struct kt_err *err)
{
	bool due = link->due.n > 0;
	int32_t sent = due ? link->due.ids[0] : 0;

	if (!cf_due_settle(&link->due, got))
		link->unasked = true;
	if (!due)
		return kt_fail(err, KT_ECORRUPT, "correlation id %d, and no request awaits an answer", (int)got);
	if (got != sent)
		return kt_fail(err, KT_ECORRUPT, "correlation id %d, sent was %d", (int)got, (int)sent);
	return 0;
}

int cf_link_receive(struct cf_link *link, int api, int version, json_t *evidence, json_t **body, struct kt_err *err)
{
	struct kw_arena arena;
	struct kw_slice frame;
	int32_t got;
	void *response;

	*body = NULL;
	kw_arena_init(&arena, 0);
	if (read_frame(link, evidence, &frame, &got, err) == 0 && check_correlation(link, got, err) == 0 &&
	    kc_decode(api, version, frame.p, frame.n, &arena, NULL, &response, err) == 0)
		*body = kw_to_json(kw_response(api), version, response, err);
	kw_arena_fini(&arena);
	return blame(api, version, err);
}

/* ---- questions of the kit's own ---- */

/* What was asked and came back is kept where the answer cannot be read. */
static void keep_evidence(const struct cf_link *link, json_t *evidence, const char *api, int version, json_t *body,
			  const struct kt_err *err)
{
	if (!link->evidence || err->code != KT_ECORRUPT)
		return;
	json_object_clear(link->evidence);
	json_object_update_new(link->evidence, json_pack("{s:s, s:i, s:O, s:s}", "api", api, "version", version,
							 "request", body, "unreadable", err->text));
	json_object_update(link->evidence, evidence);
}

int cf_link_ask(struct cf_link *link, const char *api, int version, json_t *body, json_t **answer, struct kt_err *err)
{
	json_t *evidence = json_object();
	int key = kw_api_key(api), use;
	struct kw_buf frame;

	kw_buf_init(&frame, 0);
	*answer = NULL;
	if (cf_link_open(link, err))
		goto out;
	use = cf_link_version(link, key, version, -1, err);
	if (err->code || cf_link_encode(link, key, use, body, NULL, &frame, err) ||
	    cf_link_send(link, frame.p, frame.n, evidence, err) ||
	    cf_link_receive(link, key, use, evidence, answer, err)) {
		kc_explain_close(link->conn, err);
		keep_evidence(link, evidence, api, use, body, err);
		cf_link_close(link);
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

/* Asks ApiVersions, with a correlation id that no other request has. False if that cannot be sent. */
static bool send_probe(struct cf_link *link, int32_t *correlation)
{
	json_t *body = json_object();
	struct kt_err err = {0};
	struct kw_buf frame;
	bool sent = false;

	kw_buf_init(&frame, 0);
	if (cf_link_encode(link, API_VERSIONS, 0, body, NULL, &frame, &err) == 0) {
		*correlation = (int32_t)kw_rd32(frame.p + CORRELATION_AT);
		while (cf_due_has(&link->due, *correlation))
			*correlation = (int32_t)((uint32_t)*correlation + 1);
		kw_wr32(frame.p + CORRELATION_AT, (uint32_t)*correlation);
		sent = put(link, frame.p, frame.n, &err) == 0;
	}
	kw_buf_fini(&frame);
	json_decref(body);
	return sent;
}

/* Reads up to the answer to the probe, or with NULL what there is. Answers that are due may still come before it; every
 * other frame is one too many, and one behind it as well. */
static enum cf_fate await(struct cf_link *link, const int32_t *probe, json_t *evidence)
{
	int64_t deadline = kc_now_ms() + link->timeout;
	struct kt_err err = {0};
	bool answered = false;
	const uint8_t *p;
	size_t n;

	while (kc_read_frame(link->conn, deadline, &p, &n, &err) == 0) {
		int32_t got = n < sizeof got ? 0 : (int32_t)kw_rd32(p);

		if (probe && !answered && n >= sizeof got && got == *probe) {
			if (!kc_has_frame(link->conn))
				return CF_KEPT;
			answered = true;
			continue;
		}
		note_bytes(evidence, "responseHex", p, n);
		if (answered || n < sizeof got || !cf_due_settle(&link->due, got))
			return CF_UNASKED;
	}
	return kc_fate(link->conn) == KC_OPEN ? CF_SILENT : CF_CLOSED;
}

static enum cf_fate find_fate(struct cf_link *link, json_t *evidence)
{
	int32_t probe;

	if (link->unasked)
		return CF_UNASKED;
	if (!link->conn)
		return CF_CLOSED;
	/* What came before the end can no longer be read once the peer has refused the probe. */
	if (kc_wait_close(link->conn, kc_now_ms()) == KC_OPEN && send_probe(link, &probe))
		return await(link, &probe, evidence);
	return await(link, NULL, evidence) == CF_UNASKED ? CF_UNASKED : CF_CLOSED;
}

enum cf_fate cf_link_fate(struct cf_link *link, json_t *evidence)
{
	enum cf_fate fate = find_fate(link, evidence);

	if (fate == CF_KEPT)
		cf_due_fini(&link->due);
	else
		cf_link_close(link);
	return fate;
}
