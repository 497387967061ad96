#include "fakebroker/mutant_frames.h"

#include "fakebroker/mutants.h"

/* Would the encoder have made these bytes of it? */
static bool is_canonical(const struct kw_msg *msg, int version, const void *in, const uint8_t *p, size_t n)
{
	struct kw_buf out = {0};
	bool same = kw_encode(msg, version, in, &out, NULL) == 0 && out.n == n && memcmp(out.p, p, n) == 0;

	kw_buf_fini(&out);
	return same;
}

static const struct kw_tags *tags_of(const struct kw_msg *msg, const void *in)
{
	return (const struct kw_tags *)(const void *)((const char *)in + msg->root->tags_offset);
}

bool fb_mutant_refuses_request_header(const struct fb_request *req, size_t used)
{
	int version = kw_request_header_version(req->api->key, req->version);

	return (fb_mutant(FB_M_HEADER_TAGS_CLOSE) && tags_of(&kw_msg_RequestHeader, req->header)->n > 0) ||
	       (fb_mutant(FB_M_CLIENT_ID_NEEDED) && req->header->clientId.n < 0) ||
	       (fb_mutant(FB_M_HEADER_ONLY_CANONICAL) &&
		!is_canonical(&kw_msg_RequestHeader, version, req->header, req->frame->p, used));
}

bool fb_mutant_refuses_request_body(const struct fb_request *req, size_t at)
{
	const struct kw_msg *msg = kw_request(req->api->key);

	return (fb_mutant(FB_M_BODY_TAGS_CLOSE) && tags_of(msg, req->body)->n > 0) ||
	       (fb_mutant(FB_M_BODY_ONLY_CANONICAL) &&
		!is_canonical(msg, req->version, req->body, req->frame->p + at, req->frame->n - at));
}

bool fb_mutant_misses_body_fault(const struct kt_err *err)
{
	static const struct {
		enum fb_mutant mutant;
		const char *path, *text;      /* what both must hold */
	} rows[] = {
		{FB_M_BODY_END_UNSEEN, "", "bytes are needed"},
		{FB_M_RECORDS_END_UNSEEN, "records", "bytes are needed"},
		{FB_M_NULL_UNSEEN, "", "cannot be null"},
		{FB_M_ARRAY_COUNT_UNSEEN, "", "elements cannot lie"},
		{FB_M_TAG_COUNT_UNSEEN, "", "more tagged fields"},
		{FB_M_LONG_STRING_UNSEEN, "", "longer than 32767 bytes"},
		{FB_M_LONG_LENGTH_UNSEEN, "", "varint is too long"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (fb_mutant(rows[i].mutant) && strstr(err->path, rows[i].path) && strstr(err->text, rows[i].text))
			return true;
	return false;
}
