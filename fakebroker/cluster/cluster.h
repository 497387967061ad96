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

#include "fakebroker/auth/auth.h"
#include "fakebroker/cluster/clock.h"
#include "fakebroker/cluster/metadata_log.h"
#include "fakebroker/config/register.h"
#include "fakebroker/hooks/observer.h"
#include "fakebroker/log/compact.h"
#include "fakebroker/log/epochs.h"
#include "fakebroker/log/txns.h"
#include "fakebroker/log/verdict.h"
#include "fakebroker/net/server.h"

struct fb_rules;
struct fb_transactions;
struct fb_fetch_sessions;
struct fb_recorder;

enum { FB_NO_LEADER = -1, FB_CONTROLLER_ID = 1000, FB_MAX_NODES = 100, FB_MAX_PARTITIONS = 10000 };

/* A node of ours: brokers 1..N and the controller. */
struct fb_node {
	int32_t id;
	bool controller;
	struct fb_auth auth;         /* of the brokers' listener; zeroed for the controller */
	char host[256];              /* advertised */
	int port;
	char *rack;                  /* NULL = null */
	struct kw_uuid incarnationId, logDir;
	atomic_bool imitates;        /* kit.imitate.faults: what Kafka falls over, it falls over */
	/* Guarded by the cluster's lock. */
	bool stopped;                /* the controller stops of a fault only */
	char *whyStopped;            /* why the last start failed, else NULL */
	fb_observer_place observer;  /* brokers only; changes under the cluster's lock */
	atomic_bool watched;         /* the observer is not idle: fb_observer_idle(). Changes with it */
	atomic_bool wants_produce;   /* fb_observer_wants_produce(). Changes with it */
	atomic_uint_fast64_t passed; /* exchanges that an idle one was not bothered with */
	atomic_ullong requests;
	struct fb_kept_long fetch_max_bytes, fetch_session_slots, max_idle;
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
	bool own;                    /* of one of our nodes that runs: always live */
	bool fenced, inControlledShutdown;
	int64_t contact_ns;          /* when the last heartbeat came, by fb_now_ns(); 0: none did */
	const char *rack;
	struct fb_endpoint *listeners;
	size_t nlisteners;
};

struct fb_topic;

struct fb_ids {
	int32_t *v;
	int32_t n;
};

struct fb_partition {
	struct fb_topic *topic;
	int32_t index;
	/* Change under the cluster's lock and the partition's: either is enough to read them. */
	int32_t leader;              /* FB_NO_LEADER while none runs that may lead */
	int32_t leaderEpoch;
	struct fb_ids isr, elr;      /* in sync; eligible leaders besides (KIP-966) */
	int32_t lastKnown;           /* who led last, while the ISR is empty; else FB_NO_LEADER */
	pthread_mutex_t lock;        /* guards what follows */
	struct fb_log log;
	struct fb_producers producers;
	struct fb_txns txns;
	struct fb_epochs epochs;
};

struct fb_topic {
	atomic_uint refs;
	char *name;
	struct kw_uuid id;
	bool internal;
	int32_t npartitions, replicationFactor;
	struct fb_partition *partitions;
	int32_t *replicas;           /* npartitions x replicationFactor node ids, the leader first */
	int32_t *in_sync;            /* room for ISR and ELR of all partitions */
	atomic_llong producers_seen_ms; /* when it was last looked which producers are too old; at first: made */
	/* What the topic's configuration comes to; guarded by the cluster's lock. */
	struct kw_topic_conf conf;
	struct fb_retention retention;
	struct fb_compaction compaction;
	struct fb_chain *chain;      /* NULL: no validators */
	char *chain_key;             /* what the chain was made of: class list and options */
};

struct fb_cluster {
	pthread_rwlock_t lock;
	char id[23];
	struct fb_clock *clock;      /* needs no lock */
	pthread_mutex_t tick_lock;   /* alone; guards what follows */
	int64_t txns_due, retention_due; /* ms by the clock */
	const struct fb_release *release;
	bool lax;                    /* what is produced is stored unjudged; set before anything is served */
	struct fb_node *nodes;       /* brokers by id, then the controller */
	size_t nnodes;
	struct fb_broker **brokers;  /* registered, by id */
	size_t nbrokers;
	struct fb_topic **topics;    /* by name */
	struct fb_topic **topics_by_id;
	struct fb_topic **topics_alike; /* by name, as if '.' were '_' */
	size_t ntopics;
	struct fb_configdefs *defs;
	struct fb_configs *configs;
	struct fb_levels levels;
	int registrationVersion;     /* the newest BrokerRegistration that the controller knows:
					kit.registration.version */
	int32_t controllerEpoch;     /* of the controller's leadership, from 1; two more with each election */
	atomic_llong controller_back; /* when a controller that resigned leads again, by fb_now_ns(); 0: it leads */
	int64_t features_epoch;      /* metadata offset of the last change of features */
	struct fb_metadata_log metadata;
	atomic_llong next_producer_id;
	struct fb_transactions *transactions; /* has a lock of its own: transactions.h */
	pthread_mutex_t meters_lock;
	struct kw_meters meters;
	struct fb_server *server;    /* poked when something changed */
	struct fb_rules *rules;      /* or NULL */
	struct fb_recorder *recorder; /* or NULL */
	struct fb_refused *refused;  /* records that validators refused; or NULL */
	const char *const *plugins;  /* --plugin files, NULL-terminated, or NULL */
	char *control_url;           /* or NULL */
};

/* ---- life ---- */

/* nbrokers brokers with ids 1..nbrokers and the controller. The release must outlive the cluster. */
int fb_cluster_new(const struct fb_release *release, int16_t level, int nbrokers, struct fb_cluster **out,
		   struct kt_err *err);
void fb_cluster_free(struct fb_cluster *cluster);
/* Sets and writes what a cluster of its features and static values, which are set before, begins with. 0 or
 * KT_ENOMEM. */
int fb_cluster_format(struct fb_cluster *cluster, struct kt_err *err);
/* Registers our own brokers, or once more, as they do when a level is reached that knows more of them. Fails when a
 * static value is illegal at the current level, with node, configuration, value (unless it is sensitive) and level in
 * err. */
int fb_cluster_join(struct fb_cluster *cluster, struct kt_err *err);
/* The static or default value of one of our brokers that is illegal at the current level, *node being its id: the
 * first, or the only one of a cluster that could not join. Lives in arena. NULL if there is none or no memory. */
const struct fb_violation *fb_cluster_violation(struct fb_cluster *cluster, int32_t *node, struct kw_arena *arena);
/* Could the static value be set? 0, KT_ERANGE, KT_EUNKNOWN or KT_ENOMEM. */
int fb_cluster_check_static(const struct fb_cluster *cluster, struct kw_str name, struct kw_str value,
			    struct kt_err *err);
/* Does a broker that starts again read the value? KT_ERANGE if only the process does. */
int fb_static_check_restart(struct kw_str name, struct kt_err *err);
/* Sets a static value as fb_configs_set_static() does; a name that nobody knows is kept, as in Kafka, with a line in
 * the log, which begins with where it was set ("server.properties:4", "--set a=b"), unless that is NULL. */
int fb_cluster_set_static(struct fb_cluster *cluster, int32_t node, struct kw_str name, struct kw_str value,
			  const char *where, struct kt_err *err);
/* Gives every broker the observer that `classes` names, or with NULL its own observer.class.name, in the mode that
 * `mode` names ("inline", "queued"), or with NULL in its own observer.mode, and closes those that they had within
 * observer.shutdown.timeout; a broker that has it already keeps it, unless there are options: texts by NAME.OPTION,
 * which go before those that are configured, or NULL. A class that cannot be had becomes NoOpObserver with an error in
 * the log, as in the implementations of KIP-388; with `strict` it is an error and nothing is exchanged. Under no lock:
 * create() and close() of a plugin may take their time. */
int fb_cluster_observe(struct fb_cluster *cluster, const char *classes, const char *mode, const json_t *options,
		       bool strict, struct kt_err *err);
/* Can the classes be had, or with NULL those that each broker is configured with? If not, *node is the broker. Under no
 * lock. */
int fb_cluster_observe_check(struct fb_cluster *cluster, const char *classes, int32_t *node, struct kt_err *err);
void fb_cluster_close_observers(struct fb_cluster *cluster);
/* The same for one broker: gives it the observer that it is configured with; takes it away and closes it. */
int fb_node_observe(struct fb_cluster *cluster, struct fb_node *node, struct kt_err *err);
void fb_node_close_observer(struct fb_cluster *cluster, struct fb_node *node);
/* A reference to the node's observer; NULL for the controller. Under no lock. */
struct fb_observer *fb_node_observer(struct fb_cluster *cluster, struct fb_node *node);
static inline bool fb_node_watched(struct fb_node *node)
{
	return atomic_load_explicit(&node->watched, memory_order_acquire);
}

/* ---- stopping and starting a broker while the others serve; one at a time, under no lock, on no loop ---- */

struct fb_static_change {
	struct kw_str name, value;   /* value null: the node has no value of its own any more */
};

/* A controlled shutdown: the broker is fenced and its partitions get other leaders, then its connections, its listener
 * and its observer are closed. *held says that a request holds up a thread, which closes its connections later.
 * KT_EUSAGE if it is stopped already. */
int fb_node_stop(struct fb_cluster *cluster, struct fb_node *node, bool *held, struct kt_err *err);
/* Changes the node's static values, which are kept whatever comes, unless one has not its type or is no legal value
 * or takes effect only at the start of the process (KT_ERANGE, nothing is changed then); registers the broker as a new
 * incarnation and opens the port that it had. KT_EPEER: the controller refuses it, so it stays stopped. KT_EPLUGIN: its
 * validators or observers cannot be had. KT_EUSAGE if it runs, KT_ENET, KT_ETIMEOUT. */
int fb_node_start(struct fb_cluster *cluster, struct fb_node *node, const struct fb_static_change *changes, size_t n,
		  struct kt_err *err);

/* ---- a controller that falls over (controller.c) ---- */

/* FB_RESIGN: nobody leads until the controller is elected again, a time after controller.quorum.election.timeout.ms. */
void fb_controller_resign(struct fb_cluster *cluster);
/* FB_END: the controller's listener and its connections close, until it is started. From any thread, a loop too. */
void fb_controller_end(struct fb_cluster *cluster);
/* Starts it after that. KT_EUSAGE if it runs, KT_ENET, KT_ETIMEOUT. On no loop. */
int fb_controller_start(struct fb_cluster *cluster, struct kt_err *err);
/* How long it does not lead yet: nanoseconds, INT64_MAX if it has ended, 0 if it leads. From any thread; cheap. */
int64_t fb_controller_away(const struct fb_cluster *cluster);

/* Milliseconds since the epoch by the broker's clock. */
int64_t fb_cluster_now(const struct fb_cluster *cluster);
/* Does what is due: aborts transactions that take too long, removes old segments and forgets old producers, by the
 * broker's clock; fences brokers that fell silent, by real time. From any thread, now and then; at_once, whatever the
 * configured intervals, when the clock was moved. */
void fb_cluster_tick(struct fb_cluster *cluster, bool at_once);
/* Fences brokers whose session is over. */
void fb_sessions_expire(struct fb_cluster *cluster);

/* ---- under the lock ---- */

struct fb_node *fb_cluster_node(const struct fb_cluster *cluster, int32_t id);
struct fb_node *fb_cluster_controller(const struct fb_cluster *cluster);
struct fb_broker *fb_cluster_broker(struct fb_cluster *cluster, int32_t id);
/* One of our brokers that runs, from this place in the list of nodes on, round and round; NULL if none does. */
const struct fb_node *fb_cluster_running(const struct fb_cluster *cluster, size_t from);
/* The broker that the others name as the controller, as those of KRaft clusters do: one that runs, or -1. */
int32_t fb_cluster_any(const struct fb_cluster *cluster);
/* Is id one of our brokers, and does it run? */
bool fb_node_runs(const struct fb_cluster *cluster, int32_t id);
/* Registers one of our brokers, as fb_cluster_join() does all of them. */
int fb_node_join(struct fb_cluster *cluster, struct fb_node *node, struct kt_err *err);
/* ---- leaders (leaders.c) ---- */

/* A new partition: the replicas that run are in sync, the first of them leads. */
void fb_partition_begin(const struct fb_cluster *cluster, struct fb_partition *partition);
bool fb_broker_leads(const struct fb_cluster *cluster, int32_t id);
/* Is the broker one of the partition's replicas, in sync or not? */
bool fb_partition_is_at(const struct fb_partition *partition, int32_t id);
/* Takes one of our brokers, which runs no more, out of all ISRs, and elects other leaders. Written, but the batch is
 * left open, as by the next function. */
void fb_broker_leaves(struct fb_cluster *cluster, int32_t id);
/* Elects leaders where there is none, and one can be. */
void fb_leaderless_elect(struct fb_cluster *cluster);
/* All replicas that run come to be in sync. Writes whole batches. */
void fb_replicas_catch_up(struct fb_cluster *cluster);

/* ---- sessions (heartbeats.c) ---- */

/* Did a heartbeat come within broker.session.timeout.ms? Always, for our own brokers that run. By a clock that nobody
 * can move: it waits for a client. */
bool fb_broker_in_session(const struct fb_cluster *cluster, const struct fb_broker *broker);
struct kw_BrokerHeartbeatRequest;
struct kw_BrokerHeartbeatResponse;
/* A heartbeat of this epoch. */
void fb_broker_beat(struct fb_cluster *cluster, struct fb_broker *broker, const struct kw_BrokerHeartbeatRequest *beat,
		    struct kw_BrokerHeartbeatResponse *answer);

/* What the checks of config/ see. Arrays live in arena. NULL when memory is exhausted. */
struct fb_cluster_view *fb_cluster_view(struct fb_cluster *cluster, struct kw_arena *arena);
struct fb_config_facts fb_cluster_facts(struct fb_cluster *cluster, const struct fb_node *self);
/* Registers a broker (checked before) and writes it. Takes everything it needs by copy. 0; KT_ELIMIT if the record is
 * larger than the controller writes, KT_ENOMEM: nothing is changed then. */
int fb_cluster_register(struct fb_cluster *cluster, const struct fb_register_view *request, bool keep_statics,
			bool amends, int64_t *epoch);
void fb_cluster_unregister(struct fb_cluster *cluster, int32_t id);

/* Topics. find: NULL if there is none; no reference is taken. */
struct fb_topic *fb_topic_find(const struct fb_cluster *cluster, struct kw_str name);
struct fb_topic *fb_topic_find_id(const struct fb_cluster *cluster, struct kw_uuid id);
/* One whose name differs in nothing but '.' and '_', if in that: the first, for there can be several. */
struct fb_topic *fb_topic_find_alike(const struct fb_cluster *cluster, struct kw_str name);
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

/* Applies changes of configuration and all that follows: topics' values and chains, observers; and writes them (see
 * metadata_records.h). On an error (a validator that cannot be made) nothing is changed. */
int fb_cluster_configure(struct fb_cluster *cluster, const struct fb_change *changes, size_t n, struct kt_err *err);
/* Would fb_cluster_configure() fail? For validateOnly. */
int fb_cluster_configure_check(struct fb_cluster *cluster, const struct fb_change *changes, size_t n,
			       struct kt_err *err);
/* Reads a topic's configuration anew. */
int fb_topic_configure(struct fb_cluster *cluster, struct fb_topic *topic, struct kt_err *err);
/* Reads all topics' configuration anew, after static values changed; with `validators` their chains are made anew, too.
 * On an error nothing is changed. */
int fb_topics_reconfigure(struct fb_cluster *cluster, bool validators, struct kt_err *err);
/* Can the validators be had that a topic without any of its own gets? If not, *node is the broker that names them. */
int fb_cluster_validators_check(struct fb_cluster *cluster, int32_t *node, struct kt_err *err);

#endif
