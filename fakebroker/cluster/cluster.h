/* The state of the pretended cluster: nodes, registered brokers, topics, features, configuration.
 *
 * Locks. `lock` guards everything here but what a partition's own lock guards (its log and producer state) and what is
 * atomic. Handlers that change the cluster take it for writing; all others for reading, for as long as they look at
 * topics, nodes or configuration. A partition's lock is taken with or after the cluster's, never before it.
 */
#ifndef KASSAY_FAKEBROKER_CLUSTER_CLUSTER_H
#define KASSAY_FAKEBROKER_CLUSTER_CLUSTER_H

#include <pthread.h>
#include <stdatomic.h>

#include "fakebroker/cluster/clock.h"
#include "fakebroker/cluster/metadata_log.h"
#include "fakebroker/config/register.h"
#include "fakebroker/hooks/observer.h"
#include "fakebroker/log/txns.h"
#include "fakebroker/log/verdict.h"
#include "fakebroker/net/server.h"

struct fb_rules;
struct fb_transactions;
struct fb_fetch_sessions;
struct fb_recorder;

enum { FB_CONTROLLER_ID = 1000, FB_MAX_NODES = 100, FB_MAX_PARTITIONS = 10000 };

/* A node of ours: brokers 1..N and the controller. */
struct fb_node {
	int32_t id;
	bool controller;
	char host[256];              /* advertised */
	int port;
	char *rack;                  /* NULL = null */
	struct kw_uuid incarnationId, logDir;
	struct fb_observer *observer; /* brokers only; guarded by the cluster's lock, used by reference */
	atomic_ullong requests;
	struct fb_fetch_sessions *fetch_sessions; /* NULL for the controller; have a lock of their own */
};

/* A registration at the controller: of our own brokers, or of one that came over the wire. */
struct fb_endpoint {
	char *name, *host;
	uint16_t port;
	int16_t securityProtocol;
};

struct fb_broker {
	struct fb_broker_view view;  /* all it points to belongs to arena */
	struct kw_arena arena;
	int64_t epoch;
	bool own;                    /* one of our nodes: always live */
	bool fenced, inControlledShutdown;
	int64_t heartbeat_ms;        /* when the last one came, by fb_cluster_now() */
	const char *rack;
	struct fb_endpoint *listeners;
	size_t nlisteners;
};

struct fb_topic;

struct fb_partition {
	struct fb_topic *topic;
	int32_t index, leader, leaderEpoch;
	pthread_mutex_t lock;        /* guards what follows */
	struct fb_log log;
	struct fb_producers producers;
	struct fb_txns txns;
};

struct fb_topic {
	atomic_uint refs;
	char *name;
	struct kw_uuid id;
	bool internal;
	int32_t npartitions, replicationFactor;
	struct fb_partition *partitions;
	int32_t *replicas;           /* npartitions x replicationFactor node ids, the leader first */
	/* What the topic's configuration comes to; guarded by the cluster's lock. */
	struct fb_append_conf conf;
	struct fb_retention retention;
	struct fb_chain *chain;      /* NULL: no validators */
	char *chain_key;             /* what the chain was made of: class list and options */
};

struct fb_cluster {
	pthread_rwlock_t lock;
	char id[23];
	struct fb_clock *clock;      /* has a lock of its own */
	int64_t txns_due, retention_due; /* fb_cluster_tick()'s */
	const struct fb_release *release;
	struct fb_node *nodes;       /* brokers by id, then the controller */
	size_t nnodes;
	struct fb_broker **brokers;  /* registered, by id */
	size_t nbrokers;
	struct fb_topic **topics;    /* by name */
	struct fb_topic **topics_by_id;
	size_t ntopics;
	struct fb_configdefs *defs;
	struct fb_configs *configs;
	struct fb_levels levels;
	int64_t features_epoch;      /* metadata offset of the last change of features */
	struct fb_metadata_log metadata;
	atomic_llong next_producer_id;
	struct fb_transactions *transactions; /* has a lock of its own: transactions.h */
	pthread_mutex_t meters_lock;
	struct fb_meters meters;
	struct fb_server *server;    /* poked when something changed */
	struct fb_rules *rules;      /* or NULL */
	struct fb_recorder *recorder; /* or NULL */
	const char *const *plugins;  /* --plugin files, NULL-terminated, or NULL */
	char *control_url;           /* or NULL */
};

/* ---- life ---- */

/* nbrokers brokers with ids 1..nbrokers and the controller. The release must outlive the cluster. */
int fb_cluster_new(const struct fb_release *release, int16_t level, int nbrokers, struct fb_cluster **out,
		   struct kt_err *err);
void fb_cluster_free(struct fb_cluster *cluster);
/* Sets and writes what a cluster of its features begins with; static values are set before. 0 or KT_ENOMEM. */
int fb_cluster_format(struct fb_cluster *cluster, struct kt_err *err);
/* Registers our own brokers, or once more, as they do when a level is reached that knows more of them. Fails when a
 * static value is illegal at the current level, with node, configuration, value (unless it is sensitive) and level in
 * err. */
int fb_cluster_join(struct fb_cluster *cluster, struct kt_err *err);
/* The static or default value of one of our brokers that is illegal at the current level, *node being its id: the first,
 * or the only one of a cluster that could not join. Lives in arena. NULL if there is none or no memory. */
const struct fb_violation *fb_cluster_violation(struct fb_cluster *cluster, int32_t *node, struct kw_arena *arena);
/* Sets a static value as fb_configs_set_static() does; a name that nobody knows is kept, as in Kafka, with a line in the
 * log. */
int fb_cluster_set_static(struct fb_cluster *cluster, int32_t node, struct kw_str name, struct kw_str value,
			  struct kt_err *err);
/* Gives every broker the observer that `classes` names, or with NULL its own observer.class.name, and closes those that
 * they had within observer.shutdown.timeout; a broker that has it already keeps it. A class that cannot be had becomes
 * NoOpObserver with an error in the log, as in the implementations of KIP-388; with `strict` it is an error and nothing is
 * exchanged. Under no lock: create() and close() of a plugin may take their time. */
int fb_cluster_observe(struct fb_cluster *cluster, const char *classes, bool strict, struct kt_err *err);
/* Can the classes be had, or with NULL those that each broker is configured with? If not, *node is the broker. Under no
 * lock. */
int fb_cluster_observe_check(struct fb_cluster *cluster, const char *classes, int32_t *node, struct kt_err *err);
void fb_cluster_close_observers(struct fb_cluster *cluster);
/* A reference to the node's observer; NULL for the controller. Under no lock. */
struct fb_observer *fb_node_observer(struct fb_cluster *cluster, struct fb_node *node);

/* Milliseconds since the epoch by the broker's clock. */
int64_t fb_cluster_now(const struct fb_cluster *cluster);
/* Does what is due by the broker's clock: aborts transactions that take too long, removes old segments. From any thread,
 * now and then, and when the clock was moved. */
void fb_cluster_tick(struct fb_cluster *cluster);

/* ---- under the lock ---- */

struct fb_node *fb_cluster_node(const struct fb_cluster *cluster, int32_t id);
struct fb_broker *fb_cluster_broker(struct fb_cluster *cluster, int32_t id);
/* Is it out of service: did it never ask to be unfenced, or has it sent no heartbeat for broker.session.timeout.ms? */
bool fb_broker_fenced(const struct fb_cluster *cluster, const struct fb_broker *broker);
/* What the checks of config/ see. Arrays live in arena. NULL when memory is exhausted. */
struct fb_cluster_view *fb_cluster_view(struct fb_cluster *cluster, struct kw_arena *arena);
struct fb_config_facts fb_cluster_facts(struct fb_cluster *cluster, const struct fb_node *self);
/* Registers a broker (checked before) and writes it. Takes everything it needs by copy. */
int fb_cluster_register(struct fb_cluster *cluster, const struct fb_register_view *request, bool keep_statics,
			bool amends, int64_t *epoch);
void fb_cluster_unregister(struct fb_cluster *cluster, int32_t id);

/* Topics. find: NULL if there is none; no reference is taken. */
struct fb_topic *fb_topic_find(struct fb_cluster *cluster, struct kw_str name);
struct fb_topic *fb_topic_find_id(struct fb_cluster *cluster, struct kw_uuid id);
struct fb_topic *fb_topic_ref(struct fb_topic *topic);
void fb_topic_unref(struct fb_topic *topic);
/* The partition, or NULL. */
struct fb_partition *fb_topic_partition(struct fb_topic *topic, int32_t index);
/* The leader epoch that a client believes in: 0 for the right one, and for -1, none; FENCED_LEADER_EPOCH,
 * UNKNOWN_LEADER_EPOCH. */
int16_t fb_partition_judge_epoch(const struct fb_partition *partition, int32_t currentLeaderEpoch);
/* replicas: npartitions x rf node ids, or NULL to assign them round robin. */
int fb_topic_create(struct fb_cluster *cluster, struct kw_str name, int32_t npartitions, int32_t rf,
		    const int32_t *replicas, struct fb_topic **out, struct kt_err *err);
void fb_topic_delete(struct fb_cluster *cluster, struct fb_topic *topic);
/* Kafka's Topic.isInternal. */
bool fb_topic_is_internal(struct kw_str name);

/* Applies changes of configuration and all that follows: topics' values and chains, observers; and writes them (see
 * metadata_records.h). On an error (a validator that cannot be made) nothing is changed. */
int fb_cluster_configure(struct fb_cluster *cluster, const struct fb_change *changes, size_t n, struct kt_err *err);
/* Would fb_cluster_configure() fail? For validateOnly. */
int fb_cluster_configure_check(struct fb_cluster *cluster, const struct fb_change *changes, size_t n,
			       struct kt_err *err);
/* Reads a topic's configuration anew. */
int fb_topic_configure(struct fb_cluster *cluster, struct fb_topic *topic, struct kt_err *err);
/* Can the validators be had that a topic without any of its own gets? If not, *node is the broker that names them. */
int fb_cluster_validators_check(struct fb_cluster *cluster, int32_t *node, struct kt_err *err);

#endif
