/* Requests and answers as JSON, so that a test reads like a conversation. */
#ifndef KASSAY_FAKEBROKER_TESTS_TALK_H
#define KASSAY_FAKEBROKER_TESTS_TALK_H

#include <ctype.h>
#include <stdio.h>

#include "fakebroker/tests/running.h"

/* A value deep inside: "topics.0.partitions.1.leaderId". NULL if it is not there. */
static inline json_t *at(json_t *json, const char *path)
{
	char step[64];

	while (json && *path) {
		size_t n = strcspn(path, ".");

		snprintf(step, sizeof step, "%.*s", (int)n, path);
		json = isdigit((unsigned char)step[0]) ? json_array_get(json, strtoul(step, NULL, 10))
						       : json_object_get(json, step);
		path += n + (path[n] == '.');
	}
	return json;
}

static inline int64_t num_at(json_t *json, const char *path)
{
	json_t *v = at(json, path);

	if (!json_is_integer(v) && !json_is_boolean(v))
		fail_msg("no number at %s of %s", path, json_dumps(json, JSON_COMPACT));
	return json_is_integer(v) ? json_integer_value(v) : json_is_true(v);
}

/* NULL for JSON's null. */
static inline const char *str_at(json_t *json, const char *path)
{
	json_t *v = at(json, path);

	if (!json_is_string(v) && !json_is_null(v))
		fail_msg("no string at %s of %s", path, json_dumps(json, JSON_COMPACT));
	return json_string_value(v);
}

/* ' for ", which is easier on the eye. A new reference. */
static inline json_t *quoted(const char *given)
{
	char *text = strdup(given);
	json_error_t why;
	json_t *json;

	for (char *p = text; *p; p++)
		if (*p == '\'')
			*p = '"';
	json = json_loads(text, 0, &why);
	if (!json)
		fail_msg("%s: %s", why.text, text);
	free(text);
	return json;
}

static inline void *body_of(struct running *r, int api, int version, const char *text)
{
	json_t *json = quoted(text);
	struct kt_err err = {0};
	void *body;

	if (kw_from_json(kw_request(api), version, json, &r->arena, &body, &err) < 0)
		fail_msg("%s: %s: %s", err.path, err.text, text);
	json_decref(json);
	return body;
}

/* The request is JSON with printf's directives, and ' for ". */
static inline void *body_from(struct running *r, int api, int version, const char *fmt, va_list ap)
{
	char text[8192];

	vsnprintf(text, sizeof text, fmt, ap);
	return body_of(r, api, version, text);
}

static inline json_t *vtalk(struct running *r, struct kc_conn *conn, const char *api, int version, const char *fmt,
			    va_list ap)
{
	int key = kw_api_key(api);
	struct kt_err err = {0};
	json_t *json;

	json = kw_to_json(kw_response(key), version, call(r, conn, key, version, body_from(r, key, version, fmt, ap)),
			  &err);
	if (!json)
		fail_msg("%s: %s", err.path, err.text);
	return json;
}

/* The answer; a new reference. */
__attribute__((format(printf, 5, 6))) static inline json_t *talk(struct running *r, struct kc_conn *conn,
								 const char *api, int version, const char *fmt, ...)
{
	json_t *json;
	va_list ap;

	va_start(ap, fmt);
	json = vtalk(r, conn, api, version, fmt, ap);
	va_end(ap);
	return json;
}

/* The number at path in the answer, when nothing else of it is wanted. */
__attribute__((format(printf, 6, 7))) static inline int64_t ask_num(struct running *r, struct kc_conn *conn,
								    const char *path, const char *api, int version,
								    const char *fmt, ...)
{
	json_t *json;
	va_list ap;
	int64_t num;

	va_start(ap, fmt);
	json = vtalk(r, conn, api, version, fmt, ap);
	va_end(ap);
	num = num_at(json, path);
	json_decref(json);
	return num;
}

/* Sends, and waits for nothing. */
__attribute__((format(printf, 5, 6))) static inline void tell(struct running *r, struct kc_conn *conn, const char *api,
							      int version, const char *fmt, ...)
{
	int key = kw_api_key(api);
	struct kw_buf buf;
	void *body;
	va_list ap;

	va_start(ap, fmt);
	body = body_from(r, key, version, fmt, ap);
	va_end(ap);
	kw_buf_init(&buf, 0);
	assert_int_equal(kc_encode(conn, key, version, body, &buf, NULL, NULL), 0);
	assert_int_equal(kc_write(conn, buf.p, buf.n, soon(), NULL), 0);
	kw_buf_fini(&buf);
}

/* The answer to what was told, in the order of telling. */
static inline json_t *hear(struct running *r, struct kc_conn *conn, const char *api, int version)
{
	int key = kw_api_key(api);
	struct kt_err err = {0};
	const uint8_t *p;
	json_t *json;
	void *response;
	size_t n;

	if (kc_read_frame(conn, soon(), &p, &n, &err) < 0 ||
	    kc_decode(key, version, p, n, &r->arena, NULL, &response, &err) < 0)
		fail_msg("%s v%d: %s", api, version, err.text);
	json = kw_to_json(kw_response(key), version, response, &err);
	if (!json)
		fail_msg("%s: %s", err.path, err.text);
	return json;
}

/* ---- records ---- */

/* One batch, for a records field. */
#define BATCH(records) "{'batches': [{'records': [" records "]}]}"

/* To partition 0, with acks=all. Base offset, or minus the error code. */
static inline int64_t produce(struct running *r, struct kc_conn *conn, const char *topic, const char *records)
{
	json_t *json = talk(r, conn, "Produce", 9, "{'acks': -1, 'topicData': [{'name': '%s', 'partitionData': "
			    "[{'index': 0, 'records': %s}]}]}", topic, records);
	int64_t error = num_at(json, "responses.0.partitionResponses.0.errorCode");
	int64_t base = num_at(json, "responses.0.partitionResponses.0.baseOffset");

	json_decref(json);
	return error ? -error : base;
}

static inline int64_t end_of(struct running *r, const char *topic)
{
	return fb_topic_find(r->process.cluster, kw_str(topic))->partitions[0].log.logEndOffset;
}

#endif
