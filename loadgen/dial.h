/* Connections of our own client to the brokers of the target. */
#ifndef KASSAY_LOADGEN_DIAL_H
#define KASSAY_LOADGEN_DIAL_H

#include "kw_messages.h"
#include "lib/client/login.h"

/* Connects to the first address of "host:port,host:port" that answers, negotiates versions and logs in. login outlives
 * *out. deadline is in ms of kc_now_ms(). *out is NULL on failure. */
int lg_dial(const char *bootstrap, const struct kc_login *login, int64_t deadline, struct kc_conn **out,
	    struct kt_err *err);
/* Only that: whether somebody answers at one of the addresses, to whom the login is good. What our own client
 * cannot read in its answers is not asked here. */
int lg_reach(const char *bootstrap, const struct kc_login *login, int64_t deadline, struct kt_err *err);
int lg_dial_host(const char *host, int port, const struct kc_login *login, int64_t deadline, struct kc_conn **out,
		 struct kt_err *err);
/* Metadata of one topic, or of none if topic is NULL; in the arena. */
int lg_metadata(struct kc_conn *conn, const char *topic, int64_t deadline, struct kw_arena *arena,
		struct kw_MetadataResponse **out, struct kt_err *err);
/* Connects to the broker of this node id. */
int lg_dial_node(const char *bootstrap, int32_t node, const struct kc_login *login, int64_t deadline,
		 struct kc_conn **out, struct kt_err *err);

#endif
