/* A request while it is handled, and the table of the APIs that are served. */
#ifndef KASSAY_FAKEBROKER_REQUEST_H
#define KASSAY_FAKEBROKER_REQUEST_H

#include "fakebroker/cluster/cluster.h"
#include "fakebroker/session.h"

struct fb_request;
typedef enum fb_outcome fb_handler(struct fb_request *req);

#define X(key, name, min, max, adv, listeners, by, handler) fb_handler handler;
#include "fakebroker/apis.def"
#undef X

enum { FB_ON_BROKER = 1, FB_ON_CONTROLLER = 2 };

/* Who has the answer. A broker forwards what is not answered by the node that it came to (KIP-590). */
enum fb_answered_by {
	FB_BY_NODE,
	FB_BY_CONTROLLER,            /* which has another one while it does not lead */
	FB_BY_LEADER,                /* a controller that does not lead says NOT_CONTROLLER */
};

/* A row of apis.def. */
struct fb_api {
	int16_t key;
	int16_t min, max;            /* versions served */
	int16_t advertised_min;      /* what ApiVersions says; lower than min only for Produce, as in Kafka */
	uint8_t listeners;           /* FB_ON_BROKER | FB_ON_CONTROLLER */
	enum fb_answered_by answered_by;
	fb_handler *handler;
};

/* NULL if it is not served. */
const struct fb_api *fb_api_find(int api_key);
/* index counts from 0; NULL past the end. */
const struct fb_api *fb_api_at(size_t index);
/* The versions that a release serves, and the least that it advertises: those of the table, unless apis_earlier.def has
 * others; and those of a cluster, which kit.registration.version may cut. */
struct fb_api_versions {
	int16_t min, max, advertised_min;
};
struct fb_api_versions fb_api_versions_in(const struct fb_release *release, const struct fb_api *api);
struct fb_api_versions fb_api_versions_of(const struct fb_cluster *cluster, const struct fb_api *api);

enum { FB_FEW_PARTITIONS = 4 };

struct fb_request {
	struct fb_cluster *cluster;
	struct fb_conn *conn;
	struct fb_session *session;  /* the connection's */
	struct fb_node *node;        /* whose listener it came to */
	struct fb_frame *frame;
	const struct fb_api *api;
	int version;
	const struct kw_RequestHeader *header;
	const void *body;            /* struct kw_<Api>Request */
	void *response;              /* struct kw_<Api>Response, at its defaults until the handler fills it */
	void *kept;                  /* what a handler that waits wants to find again, in the arena; NULL at first */
	struct kw_arena arena;
	bool expired;                /* the time of fb_conn_wait() is over */
	int16_t forced;              /* a rule wants this error code: answer with it everywhere and change nothing */
	const char *why;             /* what goes with it where the response has a message, or NULL */
	int64_t started_ns;
	/* Frames that the response refers to; one reference each goes to the connection. */
	struct fb_frame **frames;
	size_t nframes, capframes;
	/* What observers are told per partition; filled by Produce and Fetch if it is watched. */
	struct kassay_partition *partitions;
	int32_t npartitions;
	uint64_t id;                 /* counts the node's requests */
	int16_t header_version_override; /* -1, or the version to answer in (ApiVersions for a version it
					    does not know) */
	bool watched;                /* the node has observers that look at requests, as of the handler's (last) call */
	bool waited;                 /* the handler has asked to wait */
	bool delayed;                /* a rule's delay is over */
	bool muted;                  /* it is never answered: fb_request_mute() */
	bool twice;                  /* a mutant sends the answer once more */
	bool last;                   /* the connection ends once it is answered */
	struct kassay_partition few[]; /* FB_FEW_PARTITIONS, not initialised: where partitions are if they fit */
};

/* Remembers frames until the response is sent; takes the references. 0 or KT_ENOMEM (references dropped). */
int fb_request_keep_take(struct fb_request *req, struct fb_frame **frames, size_t n);

/* ---- what a node with kit.imitate.faults does (imitate.c) ---- */

static inline bool fb_request_imitates(const struct fb_request *req)
{
	return atomic_load_explicit(&req->node->imitates, memory_order_relaxed);
}
/* What a handler returns for a request that Kafka never answers: nothing follows, on its connection, until that has
 * been idle for connections.max.idle.ms. */
enum fb_outcome fb_request_mute(struct fb_request *req, enum fb_fault fault);
/* The controller falls over. Under no lock. */
void fb_request_topple(struct fb_request *req, enum fb_fault fault);
/* Before the handler: holds what is to be forwarded to a controller that does not lead now (FB_WAIT), or sets
 * req->forced where it would say so itself. */
enum fb_outcome fb_request_lead(struct fb_request *req);

/* ---- what observers are shown (observe.c) ---- */

/* Of a function that is called for observers alone: it stays one, so that bench_observer can tell what it takes. None
 * of them calls another. */
#define FB_OBSERVING __attribute__((noinline))

/* Room for n partitions to show to observers, in place of those before; whoever fills them counts them in
 * req->npartitions. NULL when memory is exhausted. Only for requests that are watched. */
static inline struct kassay_partition *fb_request_partitions(struct fb_request *req, int32_t n)
{
	req->npartitions = 0;
	req->partitions = n <= FB_FEW_PARTITIONS ? req->few
						 : kw_alloc(&req->arena, (size_t)n * sizeof *req->partitions);
	return req->partitions;
}
/* Adds the records of messages of magic 0 and 1 to partition->records, and sets its codec: they have no header that
 * counts them, so each is looked at, and compressed ones are inflated, which is flagged. Returns where the last one
 * ends that is whole. */
size_t fb_partition_count_messages(const struct kw_records *records, struct kassay_partition *partition);
/* Does anybody want to be shown the request before the append (LinkedIn's second callback)? */
static inline bool fb_request_wants_produce(const struct fb_request *req)
{
	return req->watched && atomic_load_explicit(&req->node->wants_produce, memory_order_acquire);
}
FB_OBSERVING void fb_request_observe_produce(struct fb_request *req);
/* Shows the request with its response, or without one if it is not replied to. */
FB_OBSERVING void fb_request_observe(struct fb_request *req, bool replied, size_t response_bytes);

/* What a client may do that asks which operations are allowed (KIP-430): all that there are for a topic and for the
 * cluster, as bits by AclOperation's numbers, since there is no authorizer. */
enum { FB_TOPIC_OPERATIONS = 0xdf8, FB_CLUSTER_OPERATIONS = 0x1fa0 };
/* n elements of an array in the response, at their defaults. */
#define FB_RESPONSE_ARRAY(req, array, st, count) \
	((array).v = kw_new_array(&(st), (count), &(req)->arena), (array).n = (array).v ? (count) : 0, \
	 (array).v != NULL)

/* fb_server_ops.handle and friends. */
enum fb_outcome fb_dispatch(void *arg, struct fb_conn *conn, struct fb_frame *frame, void **state);
enum fb_outcome fb_dispatch_again(void *arg, struct fb_conn *conn, void *state, bool expired);
void fb_dispatch_drop(void *arg, void *state, bool ending);

#endif
