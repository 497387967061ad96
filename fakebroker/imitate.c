/* Kafka's faults, as clients see them: a request without an answer, a controller that does not lead. */
#include "fakebroker/cluster/log_line.h"
#include "fakebroker/control/recorder.h"
#include "fakebroker/request.h"
#include "lib/wire/errors.h"

enum { MS = 1000000, FORWARDING_MS = 60000 };   /* how long a broker tries to forward a request: BrokerServer */

enum fb_outcome fb_request_mute(struct fb_request *req, enum fb_fault fault)
{
	int64_t idle = fb_session_max_idle(req->cluster, req->node);

	fb_log_line(KASSAY_WARN, "node %d imitates %s: connection %llu is not answered any more", req->node->id,
		    fb_faults[fault].name, (unsigned long long)fb_conn_id(req->conn));
	if (req->cluster->recorder)
		fb_recorder_add(req->cluster->recorder, req, NULL, "muted");
	fb_conn_sleep(req->conn, idle < 0 ? INT32_MAX : idle);
	req->muted = true;
	return FB_WAIT;
}

void fb_request_topple(struct fb_request *req, enum fb_fault fault)
{
	fb_log_line(KASSAY_WARN, "node %d imitates %s: %s", req->node->id, fb_faults[fault].name,
		    fb_faults[fault].source);
	if (fb_faults[fault].fate == FB_RESIGN)
		fb_controller_resign(req->cluster);
	else
		fb_controller_end(req->cluster);
}

static enum fb_outcome hold(struct fb_request *req, int64_t away)
{
	int64_t left = req->started_ns + (int64_t)FORWARDING_MS * MS - fb_now_ns();

	if (left <= 0) {
		req->forced = KW_ERR_REQUEST_TIMED_OUT;
		return FB_REPLY;
	}
	fb_conn_wait(req->conn, (away < left ? away : left) / MS + 1);
	/* A controller that was started just before woke nobody. */
	return fb_controller_away(req->cluster) ? FB_WAIT : FB_REPLY;
}

enum fb_outcome fb_request_lead(struct fb_request *req)
{
	int64_t away = fb_controller_away(req->cluster);

	if (away == 0 || req->forced)
		return FB_REPLY;
	if (!req->node->controller)
		return req->api->answered_by == FB_BY_NODE ? FB_REPLY : hold(req, away);
	if (req->api->answered_by == FB_BY_LEADER) {
		req->forced = KW_ERR_NOT_CONTROLLER;
		req->why = kw_sprintf(&req->arena, "The active controller appears to be node %d.", req->node->id);
	}
	return FB_REPLY;
}
