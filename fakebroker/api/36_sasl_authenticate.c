/* SaslAuthenticate (36): the client says who it is. */
#include "fakebroker/sasl.h"
#include "lib/wire/errors.h"

/* NULL on success, for which Kafka answers with an empty message. */
static const char *authenticate(struct fb_request *req, int16_t *code)
{
	const struct kw_SaslAuthenticateRequest *body = req->body;
	const struct fb_session *session = req->session;
	const char *message;

	/* Whoever fails before the login is done is gone. */
	req->last = session->state != FB_AUTH_DONE;
	*code = req->forced;
	if (req->forced)
		return kw_error_name(req->forced);
	*code = KW_ERR_ILLEGAL_SASL_STATE;
	if (session->state == FB_AUTH_DONE)
		return "SaslAuthenticate request received after successful authentication";
	message = fb_sasl_log_in(req, body->authBytes.p, (size_t)body->authBytes.n);
	*code = message ? KW_ERR_SASL_AUTHENTICATION_FAILED : 0;
	req->last = message != NULL;
	return message;
}

enum fb_outcome fb_sasl_authenticate(struct fb_request *req)
{
	struct kw_SaslAuthenticateResponse *response = req->response;
	const char *message = authenticate(req, &response->errorCode);

	response->errorMessage = kw_str(message ? message : "");
	return FB_REPLY;
}
