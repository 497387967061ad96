/* SaslHandshake (17): the mechanism by which the client will say who it is. */
#include "fakebroker/sasl.h"
#include "lib/wire/errors.h"

static int16_t shake(struct fb_request *req, struct kw_SaslHandshakeResponse *response)
{
	const struct kw_SaslHandshakeRequest *body = req->body;
	struct fb_session *session = req->session;

	/* Whoever fails before the login is done is gone. */
	req->last = session->state != FB_AUTH_DONE;
	if (req->forced)
		return req->forced;
	if (session->state == FB_AUTH_DONE)
		return KW_ERR_ILLEGAL_SASL_STATE;
	response->mechanisms.v = kw_alloc(&req->arena, sizeof *response->mechanisms.v);
	if (!response->mechanisms.v)
		return KW_ERR_UNKNOWN_SERVER_ERROR;
	response->mechanisms.v[0] = kw_str(FB_MECHANISM);
	response->mechanisms.n = 1;
	if (!kw_str_is(body->mechanism, FB_MECHANISM))
		return KW_ERR_UNSUPPORTED_SASL_MECHANISM;
	req->last = false;
	session->state = req->version == 0 ? FB_AUTH_TOKEN : FB_AUTH_REQUEST;
	return 0;
}

enum fb_outcome fb_sasl_handshake(struct fb_request *req)
{
	struct kw_SaslHandshakeResponse *response = req->response;

	response->errorCode = shake(req, response);
	return FB_REPLY;
}
