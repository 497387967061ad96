/* A Kafka cluster: finds the node that a request is for, and keeps one connection to each.
 *
 * One thread per cluster at a time. Connections that a cluster hands out are negotiated and stay its own. Ask again
 * rather than keep one over a further call on the cluster: what is closed or of no more use is replaced then. Deadlines
 * and errors as in client.h.
 */
#ifndef KASSAY_CLIENT_CLUSTER_H
#define KASSAY_CLIENT_CLUSTER_H

#include "lib/client/client.h"

struct kc_cluster;

struct kc_node {
	int32_t id;
	int port;
	char host[256];
};

struct kc_login;

/* Connects to the first of the comma-separated addresses that answers and asks it for the brokers. login (login.h) is
 * of all connections and may be NULL; it outlives the cluster. *out is NULL on failure. */
int kc_cluster_open(const char *bootstrap, const char *client_id, const struct kc_login *login, int64_t deadline,
		    struct kc_cluster **out, struct kt_err *err);
void kc_cluster_free(struct kc_cluster *cluster);

/* Asks for the brokers again. */
int kc_cluster_refresh(struct kc_cluster *cluster, int64_t deadline, struct kt_err *err);
/* The brokers as last heard of, valid until the next call on cluster. */
size_t kc_cluster_nodes(const struct kc_cluster *cluster, const struct kc_node **nodes);

/* Any broker; one with an open connection if there is one. */
int kc_cluster_any(struct kc_cluster *cluster, int64_t deadline, struct kc_conn **conn, struct kt_err *err);
/* A broker by its id. KT_EUNKNOWN if the cluster has none, even after asking again. */
int kc_cluster_node(struct kc_cluster *cluster, int32_t id, int64_t deadline, struct kc_conn **conn,
		    struct kt_err *err);
/* The leader of a partition as of now. Waits until `appears` for a topic to appear and for a leader to be elected; each
 * answer may take until the deadline. */
int kc_cluster_leader(struct kc_cluster *cluster, const char *topic, int32_t partition, int64_t appears,
		      int64_t deadline, struct kc_conn **conn, struct kt_err *err);
/* The active controller, at the first of the listeners that DescribeQuorum names for it (version 2, KIP-853).
 * KT_EVERSION if the brokers do not serve that. */
int kc_cluster_controller(struct kc_cluster *cluster, int64_t deadline, struct kc_conn **conn, struct kt_err *err);

/* Closes a connection that is of no more use, for example after KT_ETIMEOUT. */
void kc_cluster_drop(struct kc_cluster *cluster, struct kc_conn *conn);

#endif
