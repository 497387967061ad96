/* Fetch sessions (KIP-227): what a client has asked a broker for and need not say again.
 *
 * One set for each broker, with a lock of its own under which nothing else is taken. A session is known by its id and
 * counts its requests by an epoch; whoever names both goes on with it, on whatever connection.
 *
 * Source: Kafka 4.4.0's FetchManager, FetchSession, FetchSessionCacheShard, FetchMetadata.
 */
#ifndef KASSAY_FAKEBROKER_CLUSTER_FETCH_SESSIONS_H
#define KASSAY_FAKEBROKER_CLUSTER_FETCH_SESSIONS_H

#include "kw_messages.h"
#include "lib/wire/arena.h"

struct fb_fetch_sessions;

/* A partition that is fetched. */
struct fb_fetch_want {
	struct kw_str topic;           /* null where topics are named by id */
	struct kw_uuid topicId;
	struct kw_FetchRequest_FetchPartition data;
	/* What the session's client was last told of it; -1: nothing, or an error. The handler writes what it tells
	 * now. */
	int64_t toldHighWatermark, toldLogStartOffset;
	bool got;                      /* set by the handler: it is sent records now */
};

/* Who fetches. */
struct fb_fetcher {
	bool by_id;                    /* topics are named by id */
	bool replica;                  /* its session is worth more than a client's */
};

/* A request in its session. */
struct fb_fetch_context {
	bool incremental;              /* only what changed is answered */
	bool lasting;                  /* the answer tells a session: a new one, or that of the request */
	bool by_id, privileged;        /* as its fetcher says */
	int32_t sessionId, epoch;
	struct fb_fetch_want *wants;   /* in the order of the session; each partition once, but see fb_fetch_list() */
	size_t n;
	size_t *order;                 /* set by the handler: wants in the order of the answer */
};

/* NULL without memory. */
struct fb_fetch_sessions *fb_fetch_sessions_new(void);
void fb_fetch_sessions_free(struct fb_fetch_sessions *sessions);
/* Forgets all of them: the broker stops. */
void fb_fetch_sessions_clear(struct fb_fetch_sessions *sessions);

/* Begins a request: finds its session, or ends the one that it gives up, and lists what is wanted. The context lies in
 * arena. now: any clock, ms. Returns 0, FETCH_SESSION_ID_NOT_FOUND, INVALID_FETCH_SESSION_EPOCH,
 * FETCH_SESSION_TOPIC_ID_ERROR, or UNKNOWN_SERVER_ERROR without memory and for an id that Kafka has no shard for. */
int16_t fb_fetch_begin(struct fb_fetch_sessions *sessions, const struct kw_FetchRequest *body,
		       const struct fb_fetcher *fetcher, int64_t now, struct kw_arena *arena,
		       struct fb_fetch_context *out);
/* What a request that names topics by name lists, entry by entry, in no session. False without memory. */
bool fb_fetch_list(const struct kw_FetchRequest *body, struct kw_arena *arena, struct fb_fetch_context *out);
/* Ends a request that is answered: keeps what was told, or makes the session that was asked for. Its turn is that of
 * one of eight shards, each with an eighth of the `slots`. If that is full, one that was not used for two minutes goes,
 * or else the least worthy that is older than that, if the new one has more partitions; if there is none, there is no
 * new session. Nor is there one when all of them have too many partitions (2^18), or a topic's name is none: that is
 * the kit's. Returns the session id to answer, 0 for none. */
int32_t fb_fetch_end(struct fb_fetch_sessions *sessions, const struct fb_fetch_context *context, int64_t slots,
		     int64_t now);

#endif
