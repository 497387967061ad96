/* The control HTTP API: JSON over HTTP in a thread of its own, so that no blocked hook or held response stops it.
 *
 * GET /v1/status, GET|PUT|DELETE /v1/rules[/NAME], GET /v1/requests, POST /v1/wait, GET /v1/partitions/TOPIC/N,
 * POST /v1/partitions/TOPIC/N/append, POST /v1/nodes/ID/{stop,start}, GET|PUT /v1/observer, GET /v1/validators,
 * GET /metrics; see docs/fakebroker.md.
 */
#ifndef KASSAY_FAKEBROKER_CONTROL_CONTROL_H
#define KASSAY_FAKEBROKER_CONTROL_CONTROL_H

#include "fakebroker/cluster/cluster.h"

struct fb_control;

/* Listens on host and port (0 = any); *bound gets the port. KT_ENET names address and reason. Nobody is answered yet:
 * who connects waits. */
int fb_control_new(struct fb_cluster *cluster, const char *host, int port, struct fb_control **out, int *bound,
		   struct kt_err *err);
/* Starts to answer, in a thread of its own, once the cluster is what it should be. */
int fb_control_serve(struct fb_control *control, struct kt_err *err);
/* Ends the thread; NULL is allowed. */
void fb_control_stop(struct fb_control *control);

#endif
