/* A fakebroker inside the test, and connections to it. */
#ifndef KASSAY_FAKEBROKER_TESTS_RUNNING_H
#define KASSAY_FAKEBROKER_TESTS_RUNNING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fakebroker/start.h"
#include "kw_messages.h"
#include "lib/client/client.h"

struct running {
	struct fb_broker_process process;
	struct kw_arena arena;     /* emptied by running_stop() */
};

static inline int64_t soon(void)
{
	return kc_now_ms() + 120000;   /* sanitizers on a busy machine are slow */
}

static inline void running_start(struct running *r, const struct fb_settings *wanted)
{
	struct fb_settings settings = *wanted;
	struct kt_err err = {0};
	char line[1200];

	settings.host = settings.advertise = "127.0.0.1";
	if (!settings.threads)
		settings.threads = 1;
	kw_arena_init(&r->arena, 0);
	if (fb_start(&r->process, &settings, &err) < 0 || fb_serve(&r->process, &err) < 0)
		fail_msg("%s", kt_err_line(&err, line, sizeof line));
}

static inline void running_stop(struct running *r)
{
	fb_stop(&r->process);
	kw_arena_fini(&r->arena);
}

/* To a broker by id, or the controller. */
static inline struct kc_conn *dial(struct running *r, int32_t id)
{
	const struct fb_node *node = fb_cluster_node(r->process.cluster, id);
	struct kt_err err = {0};
	struct kc_conn *conn;

	if (kc_connect("127.0.0.1", node->port, "test", soon(), &conn, &err) < 0 ||
	    kc_negotiate(conn, soon(), &err) < 0)
		fail_msg("%s", err.text);
	return conn;
}

/* The same under a client id, or with NULL without, and without ApiVersions. */
static inline struct kc_conn *dial_named(struct running *r, const char *client_id, int32_t id)
{
	struct kc_conn *conn;

	assert_int_equal(kc_connect("127.0.0.1", fb_cluster_node(r->process.cluster, id)->port, client_id, soon(),
				    &conn, NULL), 0);
	return conn;
}

/* The answer, or a failed test. */
static inline void *call(struct running *r, struct kc_conn *conn, int api, int version, const void *request)
{
	struct kt_err err = {0};
	char line[1200];
	void *response;

	if (kc_call(conn, api, version, request, soon(), &r->arena, &response, &err) < 0)
		fail_msg("%s v%d: %s", kw_api_name(api), version, kt_err_line(&err, line, sizeof line));
	return response;
}

/* A topic with one partition, led by broker 1. */
static inline void make_topic(struct running *r, const char *name)
{
	struct fb_cluster *cluster = r->process.cluster;
	static const int32_t replicas[] = {1};
	struct fb_topic *topic;

	pthread_rwlock_wrlock(&cluster->lock);
	assert_int_equal(fb_topic_create(cluster, kw_str(name), 1, 1, replicas, &topic, NULL), 0);
	pthread_rwlock_unlock(&cluster->lock);
}

#endif
