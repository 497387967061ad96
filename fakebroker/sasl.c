#include "fakebroker/sasl.h"

#include "fakebroker/cluster/log_line.h"
#include "lib/wire/errors.h"

enum { SASL_HANDSHAKE = 17, API_VERSIONS = 18, SASL_AUTHENTICATE = 36 };

/* ---- tokens ---- */

const char *fb_sasl_log_in(struct fb_request *req, const uint8_t *token, size_t n)
{
	const char *user = NULL, *message = fb_auth_plain(&req->node->auth, token, n, &req->arena, &user);

	if (!message && fb_session_log_in(req->session, user) < 0)
		message = "out of memory";
	if (message) {
		fb_log_line(KASSAY_INFO, "node %d: connection %llu of %s: %s", req->node->id,
			    (unsigned long long)fb_conn_id(req->conn), fb_conn_address(req->conn), message);
		return message;
	}
	fb_conn_set_max_frame(req->conn, INT32_MAX);
	return NULL;
}

bool fb_sasl_wants_token(const struct fb_request *req)
{
	return req->session->state == FB_AUTH_TOKEN;
}

enum fb_outcome fb_sasl_token(struct fb_request *req)
{
	struct kw_buf buf;

	if (fb_sasl_log_in(req, req->frame->p, req->frame->n))
		return FB_CLOSE;
	kw_buf_init(&buf, 0);
	kw_put_u32(&buf, 0);
	fb_conn_send_take(req->conn, &buf, NULL, 0);
	return FB_REPLY;
}

/* ---- order ---- */

/* Kafka answers with the error at the top of an otherwise empty response, and closes. */
static enum fb_outcome refuse(struct fb_request *req)
{
	const struct kw_struct *root = kw_response(req->api->key)->root;

	req->response = kw_new(kw_response(req->api->key), &req->arena);
	if (!req->response)
		return FB_CLOSE;
	for (uint32_t i = 0; i < root->nfields; i++)
		if (strcmp(root->fields[i].name, "errorCode") == 0)
			*(int16_t *)(void *)((char *)req->response + root->fields[i].offset) =
				KW_ERR_ILLEGAL_SASL_STATE;
	req->last = true;
	return FB_REPLY;
}

enum fb_outcome fb_sasl_gate(struct fb_request *req, const char **why)
{
	enum fb_auth_state state = req->session->state;
	int key = req->api->key;

	if (state == FB_AUTH_DONE)
		return FB_REPLY;
	if (state == FB_AUTH_REQUEST)
		return key == SASL_AUTHENTICATE ? FB_REPLY : refuse(req);
	if (key == SASL_HANDSHAKE || (key == API_VERSIONS && state == FB_AUTH_FIRST))
		return FB_REPLY;
	*why = "it came before the client had authenticated";
	return FB_CLOSE;
}
