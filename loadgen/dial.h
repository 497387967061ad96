/* Connections of our own client to the brokers of the target. */
#ifndef KASSAY_LOADGEN_DIAL_H
#define KASSAY_LOADGEN_DIAL_H

#include "kw_messages.h"
#include "lib/client/client.h"

/* Connects to the first address of "host:port,host:port" that answers, and negotiates versions. deadline is in ms of
 * kc_now_ms(). *out is NULL on failure. */
int lg_dial(const char *bootstrap, int64_t deadline, struct kc_conn **out, struct kt_err *err);
/* Only that: whether anybody listens at one of the addresses. */
int lg_reach(const char *bootstrap, int64_t deadline, struct kt_err *err);
int lg_dial_host(const char *host, int port, int64_t deadline, struct kc_conn **out, struct kt_err *err);
/* Metadata of one topic, or of none if topic is NULL; in the arena. */
int lg_metadata(struct kc_conn *conn, const char *topic, int64_t deadline, struct kw_arena *arena,
		struct kw_MetadataResponse **out, struct kt_err *err);
/* Connects to the broker of this node id. */
int lg_dial_node(const char *bootstrap, int32_t node, int64_t deadline, struct kc_conn **out, struct kt_err *err);

#endif
