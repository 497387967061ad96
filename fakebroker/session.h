/* What is kept for a connection, from its first byte to its end: who the client is. */
#ifndef KASSAY_FAKEBROKER_SESSION_H
#define KASSAY_FAKEBROKER_SESSION_H

#include "fakebroker/auth/auth.h"
#include "fakebroker/hooks/kassay_observer.h"
#include "fakebroker/net/server.h"

struct fb_cluster;
struct fb_node;

struct fb_session {
	enum fb_auth_state state;
	/* As observers are shown them. The principal, "User:alice", has a NUL behind, and changes with a login. */
	struct kassay_str listener, address, principal;
	char *user;                  /* the principal of one that has logged in, else NULL */
};

/* fb_server_ops.began and .ended. A connection has its session in fb_conn_session(). */
bool fb_session_began(void *arg, struct fb_conn *conn);
void fb_session_ended(void *arg, struct fb_conn *conn);

/* connections.max.idle.ms of a broker. Takes the cluster's lock. */
int64_t fb_session_max_idle(struct fb_cluster *cluster, struct fb_node *node);

/* The client is known from now on. Returns 0 or KT_ENOMEM. */
int fb_session_log_in(struct fb_session *session, const char *user);

#endif
