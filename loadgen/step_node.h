/* Stopping and starting a broker of a fakebroker while the load runs. */
#ifndef KASSAY_LOADGEN_STEP_NODE_H
#define KASSAY_LOADGEN_STEP_NODE_H

#include "lib/client/client.h"
#include "loadgen/steps.h"

/* Where the control API is that this broker, the peer of conn, belongs to: its configuration kit.control.url. *url
 * lives in arena. KT_EVERSION when it has none. deadline is in ms of kc_now_ms(). */
int lg_control_url(struct kc_conn *conn, int32_t node, int64_t deadline, struct kw_arena *arena, const char **url,
		   struct kt_err *err);
/* POST /v1/nodes/ID/stop or start. timeout in ms. KT_ENET, KT_ETIMEOUT, or as below. */
int lg_step_node(const struct lg_step *step, const char *control, int timeout, struct lg_step_result *result,
		 struct kt_err *err);
/* What the answer means. 200 is NONE, and 409 with the code "refused", the reason being the message,
 * INVALID_REGISTRATION: both are outcomes. Any other answer, as to a broker that is stopped already, is KT_EPEER. */
int lg_step_node_answer(int status, const char *answer, struct lg_step_result *result, struct kt_err *err);

#endif
