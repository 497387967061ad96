#include "loadgen/routes.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lib/wire/errors.h"
#include "loadgen/clock.h"
#include "loadgen/dial.h"

#define DIAL_MS 10000
#define BACKOFF (100 * LG_MS)

static struct lg_lane *lane_of(struct lg_routes *routes,
			       const struct kw_MetadataResponse_MetadataResponseBroker *broker)
{
	struct lg_lane *lane = NULL;

	for (int i = 0; i < routes->nlanes; i++)
		if (routes->lanes[i].node == broker->nodeId)
			lane = &routes->lanes[i];
	if (!lane) {
		if (routes->nlanes == LG_LANES_MAX)
			return NULL;
		lane = &routes->lanes[routes->nlanes++];
		lane->node = broker->nodeId;
	}
	snprintf(lane->host, sizeof lane->host, "%.*s", broker->host.n, broker->host.s);
	lane->port = broker->port;
	return lane;
}

static void take_leaders(struct lg_routes *routes, const struct kw_MetadataResponse *metadata)
{
	const struct kw_MetadataResponse_MetadataResponseTopic *topic = metadata->topics.v;

	for (int32_t p = 0; p < routes->npartitions; p++)
		routes->leaders[p] = -1;
	for (int32_t b = 0; b < metadata->brokers.n; b++) {
		struct lg_lane *lane = lane_of(routes, &metadata->brokers.v[b]);

		for (int32_t p = 0; lane && p < topic->partitions.n; p++) {
			int32_t index = topic->partitions.v[p].partitionIndex;

			if (topic->partitions.v[p].leaderId == lane->node && index >= 0 && index < routes->npartitions)
				routes->leaders[index] = (int32_t)(lane - routes->lanes);
		}
	}
}

static int refresh(struct lg_routes *routes, struct kt_err *err)
{
	int64_t deadline = kc_now_ms() + DIAL_MS;
	struct kw_MetadataResponse *metadata;
	struct kc_conn *conn;
	int rc = lg_dial(routes->bootstrap, routes->login, deadline, &conn, err);

	routes->stale = true;
	if (rc)
		return rc;
	kw_arena_reset(&routes->arena);
	rc = lg_metadata(conn, routes->topic, deadline, &routes->arena, &metadata, err);
	kc_free(conn);
	if (rc)
		return rc;
	if (metadata->topics.n != 1 || metadata->topics.v[0].errorCode)
		return kt_fail(err, KT_EUNKNOWN, "no metadata of topic %s: %s", routes->topic,
			       metadata->topics.n == 1 ? kw_error_name(metadata->topics.v[0].errorCode) :
			       "it is not in the answer");
	take_leaders(routes, metadata);
	routes->stale = false;
	return 0;
}

static int open_lane(const struct lg_routes *routes, struct lg_lane *lane, struct kt_err *err)
{
	int rc = lg_dial_host(lane->host, lane->port, routes->login, kc_now_ms() + DIAL_MS, &lane->conn, err);

	if (rc)
		return rc;
	lane->version = kc_version(lane->conn, routes->api_key, routes->version_max);
	if (lane->version < routes->version_min) {
		kc_free(lane->conn);
		lane->conn = NULL;
		return kt_fail(err, KT_EVERSION, "broker %d does not offer %s version %d or later", (int)lane->node,
			       kw_api_name(routes->api_key), routes->version_min);
	}
	return 0;
}

int lg_routes_open(struct lg_routes *routes, const char *bootstrap, const struct kc_login *login, const char *topic,
		   int32_t npartitions, int api_key, int version_min, int version_max, struct kt_err *err)
{
	int rc;

	*routes = (struct lg_routes){
		.bootstrap = bootstrap, .login = login, .topic = topic, .api_key = api_key, .version_min = version_min,
		.version_max = version_max, .npartitions = npartitions,
	};
	kw_arena_init(&routes->arena, 64 << 20);
	routes->leaders = calloc((size_t)npartitions, sizeof *routes->leaders);
	if (!routes->leaders)
		return kt_fail(err, KT_ENOMEM, "no memory for %d partitions", (int)npartitions);
	rc = refresh(routes, err);
	for (int32_t p = 0; p < npartitions && rc == 0; p++) {
		struct lg_lane *lane = routes->leaders[p] < 0 ? NULL : &routes->lanes[routes->leaders[p]];

		if (lane && !lane->conn)
			rc = open_lane(routes, lane, err);
	}
	return rc;
}

void lg_routes_fini(struct lg_routes *routes)
{
	for (int i = 0; i < routes->nlanes; i++)
		kc_free(routes->lanes[i].conn);
	free(routes->leaders);
	kw_arena_fini(&routes->arena);
}

struct lg_lane *lg_routes_lane(struct lg_routes *routes, int32_t partition, struct kt_err *err)
{
	int64_t now = lg_now();
	struct lg_lane *lane;

	if (routes->stale && now >= routes->refresh_at) {
		routes->refresh_at = now + BACKOFF;
		if (refresh(routes, err))
			return NULL;
	}
	if (routes->leaders[partition] < 0) {
		routes->stale = true;
		return NULL;
	}
	lane = &routes->lanes[routes->leaders[partition]];
	if (!lane->conn && now >= lane->retry_at && open_lane(routes, lane, err))
		lg_lane_close(routes, lane);
	return lane->conn ? lane : NULL;
}

void lg_routes_poll(struct lg_routes *routes, int64_t until, lg_lane_fn *readable, void *arg)
{
	struct pollfd fds[LG_LANES_MAX];
	struct lg_lane *lanes[LG_LANES_MAX];
	nfds_t n = 0;
	int64_t wait = until - lg_now();
	struct timespec ts;

	for (int i = 0; i < routes->nlanes; i++) {
		struct lg_lane *lane = &routes->lanes[i];

		if (!lane->conn)
			continue;
		lanes[n] = lane;
		fds[n++] = (struct pollfd){.fd = kc_fd(lane->conn), .events = POLLIN};
	}
	if (wait < 0)
		wait = 0;
	ts = (struct timespec){.tv_sec = wait / LG_SECOND, .tv_nsec = wait % LG_SECOND};
	if (ppoll(fds, n, &ts, NULL) <= 0)
		return;
	for (nfds_t i = 0; i < n; i++)
		if (fds[i].revents)
			readable(arg, lanes[i]);
}

int lg_lane_read(struct lg_lane *lane, lg_answer_fn *take, void *arg, struct kt_err *err)
{
	const uint8_t *p;
	size_t n;
	int rc;

	do {
		rc = kc_read_frame(lane->conn, kc_now_ms(), &p, &n, err);
		if (rc == KT_ETIMEOUT)
			return 0;
		if (rc == 0)
			rc = take(arg, lane, p, n, err);
	} while (rc == 0 && kc_has_frame(lane->conn));
	return rc;
}

void lg_lane_close(struct lg_routes *routes, struct lg_lane *lane)
{
	kc_free(lane->conn);
	lane->conn = NULL;
	lane->retry_at = lg_now() + BACKOFF;
	routes->stale = true;
}

void lg_routes_heed(struct lg_routes *routes, int error_code)
{
	if (error_code == KW_ERR_UNKNOWN_TOPIC_OR_PARTITION || error_code == KW_ERR_LEADER_NOT_AVAILABLE ||
	    error_code == KW_ERR_NOT_LEADER_OR_FOLLOWER)
		routes->stale = true;
}
