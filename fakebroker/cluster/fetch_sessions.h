/* Fetch sessions (KIP-227): what a client has asked a broker for and need not say again.
 *
 * One set for each broker, with a lock of its own under which nothing else is taken. A session is known by its id and
 * counts its requests by an epoch; whoever names both goes on with it, on whatever connection.
 *
 * Source: Kafka 4.4.0's FetchSession.scala, FetchMetadata.
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

/* A request in its session. */
struct fb_fetch_context {
	bool incremental;              /* only what changed is answered */
	bool lasting;                  /* the answer tells a session: a new one, or that of the request */
	bool by_id;
	int32_t sessionId, epoch;
	struct fb_fetch_want *wants;   /* in the order of the answer; each partition once */
	size_t n;
};

/* NULL without memory. */
struct fb_fetch_sessions *fb_fetch_sessions_new(void);
void fb_fetch_sessions_free(struct fb_fetch_sessions *sessions);
/* Forgets all of them: the broker stops. */
void fb_fetch_sessions_clear(struct fb_fetch_sessions *sessions);

/* Begins a request: finds its session, or ends the one that it gives up, and lists what is wanted. The context lies in
 * arena. now: any clock, ms. Returns 0, FETCH_SESSION_ID_NOT_FOUND, INVALID_FETCH_SESSION_EPOCH,
 * FETCH_SESSION_TOPIC_ID_ERROR, or UNKNOWN_SERVER_ERROR without memory. */
int16_t fb_fetch_begin(struct fb_fetch_sessions *sessions, const struct kw_FetchRequest *body, bool by_id, int64_t now,
		       struct kw_arena *arena, struct fb_fetch_context *out);
/* What the request itself names, in no session. False without memory. */
bool fb_fetch_list(const struct kw_FetchRequest *body, bool by_id, struct kw_arena *arena,
		   struct fb_fetch_context *out);
/* Ends a request that is answered: keeps what was told, or makes the session that was asked for; not when there are
 * `slots` of them and none was idle for two minutes, nor when all of them have too many partitions (2^18) or a topic's
 * name is none. Returns the session id to answer, 0 for none. */
int32_t fb_fetch_end(struct fb_fetch_sessions *sessions, const struct fb_fetch_context *context, int64_t slots,
		     int64_t now);

#endif
