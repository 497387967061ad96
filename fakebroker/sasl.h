/* What of SASL goes on before a request is handled. */
#ifndef KASSAY_FAKEBROKER_SASL_H
#define KASSAY_FAKEBROKER_SASL_H

#include "fakebroker/request.h"

/* Is the frame at hand a bare token? Then fb_sasl_token() answers it. */
bool fb_sasl_wants_token(const struct fb_request *req);
/* Judges the frame as a token: an empty frame answers a good one, the connection ends after a bad one. */
enum fb_outcome fb_sasl_token(struct fb_request *req);
/* NULL when the token is good: the client is known from now on. Otherwise Kafka's message. Only while a token is
 * expected. */
const char *fb_sasl_log_in(struct fb_request *req, const uint8_t *token, size_t n);

/* May this parsed request be handled now? FB_REPLY: yes, unless req->response is set: that is the answer then.
 * FB_CLOSE: the connection ends without an answer, for the reason in *why. */
enum fb_outcome fb_sasl_gate(struct fb_request *req, const char **why);

#endif
