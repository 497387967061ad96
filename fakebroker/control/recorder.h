/* What arrived: the last requests with their answers, for GET /v1/requests and POST /v1/wait. */
#ifndef KASSAY_FAKEBROKER_CONTROL_RECORDER_H
#define KASSAY_FAKEBROKER_CONTROL_RECORDER_H

#include <jansson.h>

#include "fakebroker/request.h"

struct fb_recorder;

enum { FB_RECORDED_REQUESTS = 10000 };   /* that a broker keeps */

/* Keeps at most max_requests and max_bytes of frames. */
struct fb_recorder *fb_recorder_new(size_t max_requests, size_t max_bytes);
void fb_recorder_free(struct fb_recorder *recorder);

/* Remembers a request and what became of it. response (whole frame, may be in runs) is NULL when there is none; fate is
 * "replied", "silent", "closed" or "muted". Cheap: the request's frame is referenced, the response's beginning is
 * copied, JSON is made when somebody asks. Any thread. */
void fb_recorder_add(struct fb_recorder *recorder, const struct fb_request *req, const struct kw_buf *response,
		     const char *fate);
/* A frame that could not be parsed: reason in Kafka's manner, shortly. */
void fb_recorder_add_unparsed(struct fb_recorder *recorder, const struct fb_node *node, const struct fb_conn *conn,
			      struct fb_frame *frame, const char *reason);

#endif
