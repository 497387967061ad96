/* Which broker leads which partition of a topic, and one connection to each such broker: for the engines that speak the
 * protocol themselves. One thread. */
#ifndef KASSAY_LOADGEN_ROUTES_H
#define KASSAY_LOADGEN_ROUTES_H

#include "lib/client/login.h"

enum { LG_LANES_MAX = 64 };

/* The connection to one broker. */
struct lg_lane {
	int32_t node;
	char host[256];
	int port;
	struct kc_conn *conn;    /* NULL: closed */
	int version;             /* of the API, while open */
	int64_t retry_at;        /* ns of lg_now(): not opened again before */
};

struct lg_routes {
	const char *bootstrap, *topic;
	const struct kc_login *login;
	int api_key, version_min, version_max;   /* the versions that the engine can use */
	int32_t npartitions;
	int32_t *leaders;        /* index of the lane of each partition, -1 = none */
	struct lg_lane lanes[LG_LANES_MAX];
	int nlanes;              /* lanes never move or vanish */
	bool stale;              /* the leaders must be asked for again */
	int64_t refresh_at;      /* ns of lg_now(): not asked again before */
	struct kw_arena arena;
};

/* Asks for the leaders and opens a connection to each. lg_routes_fini() may be called whatever the outcome. Errors:
 * KT_ENET, KT_ETIMEOUT, KT_EUNKNOWN (no such topic), KT_EVERSION. */
int lg_routes_open(struct lg_routes *routes, const char *bootstrap, const struct kc_login *login, const char *topic,
		   int32_t npartitions, int api_key, int version_min, int version_max, struct kt_err *err);
void lg_routes_fini(struct lg_routes *routes);

/* The open lane of the partition's leader. NULL if there is none now: try again later. Asks for the leaders and opens
 * connections as needed, at most every 100 ms; err tells what failed, code 0 if nothing was tried. */
struct lg_lane *lg_routes_lane(struct lg_routes *routes, int32_t partition, struct kt_err *err);
/* Waits until an open lane can be read, or until the time (ns of lg_now()), and calls readable for each such lane,
 * which may close it. */
typedef void lg_lane_fn(void *arg, struct lg_lane *lane);
void lg_routes_poll(struct lg_routes *routes, int64_t until, lg_lane_fn *readable, void *arg);
/* Hands each answer that has arrived on an open lane to take(), until that fails. 0 when there is none left; else what
 * took fails with, or why the connection can be read no more. */
typedef int lg_answer_fn(void *arg, struct lg_lane *lane, const uint8_t *p, size_t n, struct kt_err *err);
int lg_lane_read(struct lg_lane *lane, lg_answer_fn *take, void *arg, struct kt_err *err);
/* Closes the connection; it is opened again when it is needed. */
void lg_lane_close(struct lg_routes *routes, struct lg_lane *lane);
/* Does an answer with this code mean that another broker leads now? Then the routes become stale. */
void lg_routes_heed(struct lg_routes *routes, int error_code);

#endif
