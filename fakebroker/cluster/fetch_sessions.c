#include "fakebroker/cluster/fetch_sessions.h"

#include <pthread.h>
#include <stdlib.h>

#include "fakebroker/config/twins.h"
#include "fakebroker/mutants.h"
#include "lib/wire/errors.h"

enum {
	INITIAL_EPOCH = 0, FINAL_EPOCH = -1,
	EVICTION_MS = 120000,      /* Kafka's MIN_INCREMENTAL_FETCH_SESSION_EVICTION_MS */
	SHARDS = 8,                /* Kafka's NumFetchSessionCacheShards */
	SHARD_IDS = INT32_MAX / SHARDS, /* ids of a shard: the n-th has those from n times as many on */
	MOST_PARTITIONS = 1 << 18, /* of all sessions together */
	LONGEST_NAME = 249,        /* of a topic: a longer one is none's, and not kept */
};

struct session {
	int32_t id, epoch;         /* epoch: that of the next request */
	bool by_id;
	bool privileged;           /* a replica's */
	int64_t made_ms, used_ms;
	struct fb_fetch_want *wants; /* topics are owned */
	size_t n;
};

struct fb_fetch_sessions {
	pthread_mutex_t lock;
	struct session **v;        /* by id, so that each shard is a run */
	size_t n, cap;
	unsigned turn;             /* the shard of the next session, round and round */
	size_t partitions;         /* of all */
};

/* ---- the set ---- */

struct fb_fetch_sessions *fb_fetch_sessions_new(void)
{
	struct fb_fetch_sessions *sessions = calloc(1, sizeof *sessions);

	if (sessions)
		pthread_mutex_init(&sessions->lock, NULL);
	return sessions;
}

static void free_topics(struct fb_fetch_want *wants, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free((char *)(uintptr_t)wants[i].topic.s);
}

static void session_free(struct session *session)
{
	free_topics(session->wants, session->n);
	free(session->wants);
	free(session);
}

void fb_fetch_sessions_clear(struct fb_fetch_sessions *sessions)
{
	pthread_mutex_lock(&sessions->lock);
	while (sessions->n)
		session_free(sessions->v[--sessions->n]);
	sessions->partitions = 0;
	pthread_mutex_unlock(&sessions->lock);
}

void fb_fetch_sessions_free(struct fb_fetch_sessions *sessions)
{
	if (!sessions)
		return;
	fb_fetch_sessions_clear(sessions);
	free(sessions->v);
	pthread_mutex_destroy(&sessions->lock);
	free(sessions);
}

/* Where the id is or belongs. */
static size_t place(const struct fb_fetch_sessions *sessions, int32_t id)
{
	size_t low = 0, high = sessions->n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (sessions->v[mid]->id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct session *find(const struct fb_fetch_sessions *sessions, int32_t id)
{
	size_t at = place(sessions, id);

	return at < sessions->n && sessions->v[at]->id == id ? sessions->v[at] : NULL;
}

static void drop(struct fb_fetch_sessions *sessions, struct session *session)
{
	size_t at = place(sessions, session->id);

	sessions->n--;
	sessions->partitions -= session->n;
	memmove(sessions->v + at, sessions->v + at + 1, (sessions->n - at) * sizeof *sessions->v);
	session_free(session);
}

/* ---- who has to go for whom ---- */

struct shard {
	int32_t first_id;          /* ids from here on, SHARD_IDS of them; but 0 is none */
	size_t first, end;         /* its run */
};

static struct shard shard_of(const struct fb_fetch_sessions *sessions, unsigned number)
{
	int32_t first_id = (int32_t)(number * SHARD_IDS);

	return (struct shard){first_id, place(sessions, first_id), place(sessions, first_id + SHARD_IDS)};
}

/* Kafka's EvictableKey: a replica's session is worth more than a client's, then one of more partitions. Less than,
 * equal to or greater than 0, as a is worth less than b, as much, or more. */
static int compare_worth(bool a_privileged, size_t a_size, bool b_privileged, size_t b_size)
{
	if (a_privileged != b_privileged)
		return a_privileged ? 1 : -1;
	return (a_size > b_size) - (a_size < b_size);
}

static int compare_sessions(const struct session *a, const struct session *b)
{
	return compare_worth(a->privileged, a->n, b->privileged, b->n);
}

/* May it go for one that is worth more? A client's always for a replica's; else one that was still used when it was
 * no longer new. */
static bool is_evictable(const struct session *session, bool privileged)
{
	return (privileged && !session->privileged) || session->used_ms - session->made_ms > EVICTION_MS;
}

/* FetchSessionCacheShard.tryEvict: the one that was used the longest ago, if that is long enough ago; else the least
 * worthy, if the new one is worth more. NULL: none goes. */
static struct session *choose_victim(const struct fb_fetch_sessions *sessions, const struct shard *shard,
				     const struct fb_fetch_context *context, int64_t now)
{
	struct session *oldest = NULL, *least = NULL;

	for (size_t i = shard->first; i < shard->end; i++) {
		struct session *session = sessions->v[i];

		if (!oldest || session->used_ms < oldest->used_ms)
			oldest = session;
		if (is_evictable(session, context->privileged) && (!least || compare_sessions(session, least) < 0))
			least = session;
	}
	if (oldest && now - oldest->used_ms > EVICTION_MS)
		return oldest;
	if (least && compare_worth(context->privileged, context->n, least->privileged, least->n) > 0)
		return least;
	return NULL;
}

/* Room for one more in the shard. */
static bool make_room(struct fb_fetch_sessions *sessions, const struct shard *shard,
		      const struct fb_fetch_context *context, int64_t slots, int64_t now)
{
	struct session *victim, **v;

	if (context->n > MOST_PARTITIONS - sessions->partitions)
		return false;
	if ((int64_t)(shard->end - shard->first) >= slots / SHARDS) {
		victim = choose_victim(sessions, shard, context, now);
		if (!victim)
			return false;
		drop(sessions, victim);
	}
	if (sessions->n < sessions->cap)
		return true;
	v = realloc(sessions->v, (sessions->cap + 64) * sizeof *v);
	if (!v)
		return false;
	sessions->v = v;
	sessions->cap += 64;
	return true;
}

static int32_t new_id(const struct fb_fetch_sessions *sessions, const struct shard *shard)
{
	struct kw_uuid random;
	int32_t id;

	do {
		kw_uuid_random(&random);
		id = shard->first_id + (int32_t)(kw_rd32(random.b) % SHARD_IDS);
	} while (id == 0 || find(sessions, id));
	return id;
}

/* Gives the first n wants topics of their own. */
static bool own_topics(struct fb_fetch_want *wants, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct kw_str *topic = &wants[i].topic;
		char *copy;

		if (topic->n < 0)
			continue;
		copy = malloc((size_t)topic->n + 1);
		if (!copy) {
			free_topics(wants, i);
			return false;
		}
		memcpy(copy, topic->s, (size_t)topic->n);
		topic->s = copy;
	}
	return true;
}

static bool can_be_kept(const struct fb_fetch_context *context)
{
	for (size_t i = 0; i < context->n; i++)
		if (context->wants[i].topic.n > LONGEST_NAME)
			return false;
	return true;
}

static struct session *session_new(const struct fb_fetch_context *context, int64_t now)
{
	struct session *session = calloc(1, sizeof *session);

	if (!session)
		return NULL;
	session->wants = malloc((context->n ? context->n : 1) * sizeof *session->wants);
	if (session->wants)
		memcpy(session->wants, context->wants, context->n * sizeof *session->wants);
	if (!session->wants || !own_topics(session->wants, context->n)) {
		free(session->wants);
		free(session);
		return NULL;
	}
	session->n = context->n;
	session->by_id = context->by_id;
	session->privileged = context->privileged;
	session->epoch = INITIAL_EPOCH + 1;
	session->made_ms = session->used_ms = now;
	return session;
}

/* ---- lists ---- */

static struct kw_str key_of(bool by_id, struct kw_str topic, const struct kw_uuid *topicId)
{
	return by_id ? (struct kw_str){(const char *)topicId->b, sizeof topicId->b} : topic;
}

static size_t asked_for(const struct kw_FetchRequest *body)
{
	size_t n = 0;

	for (int32_t t = 0; t < body->topics.n; t++)
		n += (size_t)body->topics.v[t].partitions.n;
	return n;
}

static size_t forgotten(const struct kw_FetchRequest *body)
{
	size_t n = 0;

	for (int32_t t = 0; t < body->forgottenTopicsData.n; t++)
		n += (size_t)body->forgottenTopicsData.v[t].partitions.n;
	return n;
}

/* What a list is made of: `had` of the session, then what is asked for, then what is to be forgotten. */
struct lists {
	struct fb_fetch_want *wants;   /* without what is to be forgotten */
	struct fb_named *names;
	size_t had, asked, all;
};

static void list_asked(struct lists *lists, const struct kw_FetchRequest *body, bool by_id)
{
	size_t i = lists->had;

	for (int32_t t = 0; t < body->topics.n; t++) {
		const struct kw_FetchRequest_FetchTopic *topic = &body->topics.v[t];

		for (int32_t p = 0; p < topic->partitions.n; p++, i++) {
			lists->wants[i] = (struct fb_fetch_want){
				.topic = by_id ? KW_NULL_STR : topic->topic, .topicId = topic->topicId,
				.data = topic->partitions.v[p], .toldHighWatermark = -1, .toldLogStartOffset = -1,
			};
			lists->wants[i].data.unknownTags = (struct kw_tags){0};
			lists->names[i] = (struct fb_named){topic->partitions.v[p].partition,
							    key_of(by_id, topic->topic, &topic->topicId)};
		}
	}
}

static void list_forgotten(struct lists *lists, const struct kw_FetchRequest *body, bool by_id)
{
	size_t i = lists->had + lists->asked;

	for (int32_t t = 0; t < body->forgottenTopicsData.n && i < lists->all; t++) {
		const struct kw_FetchRequest_ForgottenTopic *topic = &body->forgottenTopicsData.v[t];

		for (int32_t p = 0; p < topic->partitions.n; p++, i++)
			lists->names[i] = (struct fb_named){topic->partitions.v[p],
							    key_of(by_id, topic->topic, &topic->topicId)};
	}
}

/* Each partition once, in the place of its first entry, as the last one asks for it; those to be forgotten are left
 * out. Source: FetchRequest.fetchData and FetchSession.update, which keep partitions in a LinkedHashMap. */
static bool merge(const struct session *session, const struct kw_FetchRequest *body, struct kw_arena *arena,
		  struct fb_fetch_context *out)
{
	struct lists lists = {.had = session ? session->n : 0, .asked = asked_for(body)};
	struct fb_twins *twins;
	size_t listed = lists.had + lists.asked;

	lists.all = listed + (session && !fb_mutant(FB_M_SESSION_FORGETS_NOTHING) ? forgotten(body) : 0);
	lists.wants = kw_alloc(arena, (listed ? listed : 1) * sizeof *lists.wants);
	lists.names = kw_alloc(arena, (lists.all ? lists.all : 1) * sizeof *lists.names);
	if (!lists.wants || !lists.names)
		return false;
	for (size_t i = 0; i < lists.had; i++) {
		lists.wants[i] = session->wants[i];
		lists.names[i] = (struct fb_named){session->wants[i].data.partition,
						   key_of(out->by_id, session->wants[i].topic,
							  &session->wants[i].topicId)};
	}
	list_asked(&lists, body, out->by_id);
	list_forgotten(&lists, body, out->by_id);
	twins = fb_find_twins(lists.names, lists.all, arena);
	out->wants = kw_alloc(arena, (listed ? listed : 1) * sizeof *out->wants);
	if (!twins || !out->wants)
		return false;
	for (size_t i = 0; i < listed; i++) {
		if (twins[i].first != i || twins[i].last >= listed)
			continue;
		out->wants[out->n] = lists.wants[i];
		out->wants[out->n++].data = lists.wants[fb_mutant(FB_M_SESSION_KEEPS_OFFSET) ? i : twins[i].last].data;
	}
	return true;
}

bool fb_fetch_list(const struct kw_FetchRequest *body, struct kw_arena *arena, struct fb_fetch_context *out)
{
	struct lists lists = {.asked = asked_for(body)};

	lists.wants = kw_alloc(arena, lists.asked * sizeof *lists.wants);
	lists.names = kw_alloc(arena, lists.asked * sizeof *lists.names);
	if (!lists.wants || !lists.names)
		return false;
	list_asked(&lists, body, false);
	*out = (struct fb_fetch_context){.wants = lists.wants, .n = lists.asked};
	return true;
}

/* Gives wants topics that outlive the session. */
static bool lend_topics(struct fb_fetch_want *wants, size_t n, struct kw_arena *arena)
{
	for (size_t i = 0; i < n; i++) {
		if (wants[i].topic.n < 0)
			continue;
		wants[i].topic.s = kw_strndup(arena, wants[i].topic.s, (size_t)wants[i].topic.n);
		if (!wants[i].topic.s)
			return false;
	}
	return true;
}

/* Puts the merged list into the session, which owns its topics, and gives the context topics that outlive it. */
static bool keep(struct fb_fetch_sessions *sessions, struct session *session, struct fb_fetch_context *context,
		 struct kw_arena *arena)
{
	struct fb_fetch_want *wants = malloc((context->n ? context->n : 1) * sizeof *wants);

	if (!wants)
		return false;
	memcpy(wants, context->wants, context->n * sizeof *wants);
	if (!own_topics(wants, context->n)) {
		free(wants);
		return false;
	}
	if (!lend_topics(context->wants, context->n, arena)) {
		free_topics(wants, context->n);
		free(wants);
		return false;
	}
	sessions->partitions += context->n - session->n;
	free_topics(session->wants, session->n);
	free(session->wants);
	session->wants = wants;
	session->n = context->n;
	return true;
}

/* ---- begin ---- */

static int16_t begin_full(struct fb_fetch_sessions *sessions, const struct kw_FetchRequest *body,
			  struct kw_arena *arena, struct fb_fetch_context *out)
{
	struct session *given_up = body->sessionId ? find(sessions, body->sessionId) : NULL;

	if (given_up && !fb_mutant(FB_M_SESSION_NEVER_ENDED))
		drop(sessions, given_up);
	out->lasting = body->sessionEpoch == INITIAL_EPOCH || fb_mutant(FB_M_SESSION_ALWAYS);
	return merge(NULL, body, arena, out) ? 0 : KW_ERR_UNKNOWN_SERVER_ERROR;
}

static int32_t next_epoch(int32_t epoch)
{
	return epoch == INT32_MAX ? 1 : epoch + 1;
}

/* Most requests change nothing. */
static int16_t go_on(const struct session *session, struct kw_arena *arena, struct fb_fetch_context *out)
{
	out->wants = kw_alloc(arena, session->n * sizeof *out->wants);
	if (!out->wants)
		return KW_ERR_UNKNOWN_SERVER_ERROR;
	memcpy(out->wants, session->wants, session->n * sizeof *out->wants);
	out->n = session->n;
	return lend_topics(out->wants, out->n, arena) ? 0 : KW_ERR_UNKNOWN_SERVER_ERROR;
}

/* The session ends when nothing is wanted any more, and what the request names is answered without one; and when there
 * is no room for what is wanted: then the client has to begin anew. *session is NULL then. */
static int16_t change(struct fb_fetch_sessions *sessions, struct session **session, const struct kw_FetchRequest *body,
		      struct kw_arena *arena, struct fb_fetch_context *out)
{
	bool room;

	if (!merge(*session, body, arena, out))
		return KW_ERR_UNKNOWN_SERVER_ERROR;
	room = can_be_kept(out) && sessions->partitions - (*session)->n + out->n <= MOST_PARTITIONS;
	if (out->n > 0 && room)
		return keep(sessions, *session, out, arena) ? 0 : KW_ERR_UNKNOWN_SERVER_ERROR;
	drop(sessions, *session);
	*session = NULL;
	if (out->n > 0)
		return KW_ERR_FETCH_SESSION_ID_NOT_FOUND;
	return merge(NULL, body, arena, out) ? 0 : KW_ERR_UNKNOWN_SERVER_ERROR;
}

static int16_t begin_incremental(struct fb_fetch_sessions *sessions, const struct kw_FetchRequest *body, int64_t now,
				 struct kw_arena *arena, struct fb_fetch_context *out)
{
	struct session *session = find(sessions, body->sessionId);
	int16_t error;

	if (!session)
		return fb_mutant(FB_M_SESSION_UNKNOWN_CODE) ? KW_ERR_INVALID_FETCH_SESSION_EPOCH
							    : KW_ERR_FETCH_SESSION_ID_NOT_FOUND;
	if (session->epoch != body->sessionEpoch && !fb_mutant(FB_M_SESSION_EPOCH_UNCHECKED))
		return KW_ERR_INVALID_FETCH_SESSION_EPOCH;
	if (session->by_id != out->by_id && !fb_mutant(FB_M_SESSION_IDS_UNCHECKED))
		return KW_ERR_FETCH_SESSION_TOPIC_ID_ERROR;
	error = asked_for(body) || forgotten(body) ? change(sessions, &session, body, arena, out)
						   : go_on(session, arena, out);
	if (error || !session)
		return error;
	session->epoch = next_epoch(session->epoch);
	session->used_ms = now;
	out->incremental = out->lasting = true;
	out->sessionId = session->id;
	out->epoch = session->epoch;
	return 0;
}

int16_t fb_fetch_begin(struct fb_fetch_sessions *sessions, const struct kw_FetchRequest *body,
		       const struct fb_fetcher *fetcher, int64_t now, struct kw_arena *arena,
		       struct fb_fetch_context *out)
{
	int16_t error;

	*out = (struct fb_fetch_context){.by_id = fetcher->by_id, .privileged = fetcher->replica};
	if (body->sessionId / SHARD_IDS < 0 || body->sessionId / SHARD_IDS >= SHARDS)
		return KW_ERR_UNKNOWN_SERVER_ERROR;
	pthread_mutex_lock(&sessions->lock);
	if (body->sessionEpoch == INITIAL_EPOCH || body->sessionEpoch == FINAL_EPOCH)
		error = begin_full(sessions, body, arena, out);
	else
		error = begin_incremental(sessions, body, now, arena, out);
	pthread_mutex_unlock(&sessions->lock);
	return error;
}

/* ---- end ---- */

/* What was told is kept; partitions with records go last, so that none of them keeps others from their turn. */
static void remember(struct session *session, const struct fb_fetch_context *context)
{
	struct fb_fetch_want *sorted = malloc((session->n ? session->n : 1) * sizeof *sorted);
	size_t n = 0;

	for (size_t i = 0; i < session->n; i++) {
		session->wants[i].toldHighWatermark = context->wants[i].toldHighWatermark;
		session->wants[i].toldLogStartOffset = context->wants[i].toldLogStartOffset;
	}
	if (!sorted)
		return;
	for (int got = 0; got < 2; got++)
		for (size_t i = 0; i < session->n; i++)
			if (context->wants[i].got == (got == 1))
				sorted[n++] = session->wants[i];
	free(session->wants);
	session->wants = sorted;
}

static int32_t begin_session(struct fb_fetch_sessions *sessions, const struct fb_fetch_context *context, int64_t slots,
			     int64_t now)
{
	struct shard shard = shard_of(sessions, sessions->turn++ % SHARDS);
	struct session *session;
	size_t at;

	if (!can_be_kept(context) || !make_room(sessions, &shard, context, slots, now))
		return 0;
	session = session_new(context, now);
	if (!session)
		return 0;
	session->id = new_id(sessions, &shard);
	at = place(sessions, session->id);
	memmove(sessions->v + at + 1, sessions->v + at, (sessions->n - at) * sizeof *sessions->v);
	sessions->v[at] = session;
	sessions->n++;
	sessions->partitions += session->n;
	return session->id;
}

int32_t fb_fetch_end(struct fb_fetch_sessions *sessions, const struct fb_fetch_context *context, int64_t slots,
		     int64_t now)
{
	int32_t id = context->sessionId;
	struct session *session;

	if (!context->lasting)
		return 0;
	pthread_mutex_lock(&sessions->lock);
	if (!context->incremental) {
		id = begin_session(sessions, context, slots, now);
	} else {
		session = find(sessions, id);
		/* Meanwhile another connection may have gone on with it. */
		if (session && session->epoch == context->epoch)
			remember(session, context);
	}
	pthread_mutex_unlock(&sessions->lock);
	return id;
}
