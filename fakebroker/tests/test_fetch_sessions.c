/* Which fetch session has to go for another one: as Apache Kafka 4.4.0 was seen to do it with 16 slots, two a shard. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fakebroker/cluster/fetch_sessions.h"
#include "lib/wire/errors.h"

enum { SLOTS = 16, SHARDS = 8, SHARD_IDS = INT32_MAX / SHARDS, TWO_MINUTES = 120000 };

static struct fb_fetch_sessions *sessions;
static struct kw_arena arena;
static struct kw_str topic = {"y", 1};

static int set_up(void **state)
{
	(void)state;
	sessions = fb_fetch_sessions_new();
	kw_arena_init(&arena, 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fb_fetch_sessions_free(sessions);
	kw_arena_fini(&arena);
	return 0;
}

static int16_t begin(int32_t sessionId, int32_t sessionEpoch, int32_t partitions, bool replica, int64_t now,
		     struct fb_fetch_context *context)
{
	const struct fb_fetcher fetcher = {.replica = replica};
	struct kw_FetchRequest *body = kw_new(&kw_msg_FetchRequest, &arena);

	body->sessionId = sessionId;
	body->sessionEpoch = sessionEpoch;
	body->topics.n = partitions > 0;
	body->topics.v = kw_new_array(&kw_FetchRequest_FetchTopic_struct, 1, &arena);
	body->topics.v[0].topic = topic;
	body->topics.v[0].partitions.n = partitions;
	body->topics.v[0].partitions.v = kw_new_array(&kw_FetchRequest_FetchPartition_struct, 8, &arena);
	for (int32_t i = 0; i < partitions; i++)
		body->topics.v[0].partitions.v[i].partition = i;
	return fb_fetch_begin(sessions, body, &fetcher, now, &arena, context);
}

/* A new session's id, or 0. */
static int32_t open_session(int32_t partitions, bool replica, int64_t slots, int64_t now)
{
	struct fb_fetch_context context;

	assert_int_equal(begin(0, 0, partitions, replica, now, &context), 0);
	return fb_fetch_end(sessions, &context, slots, now);
}

static int16_t use(int32_t id, int32_t epoch, int64_t now)
{
	struct fb_fetch_context context;
	int16_t error = begin(id, epoch, 0, false, now, &context);

	if (!error)
		fb_fetch_end(sessions, &context, SLOTS, now);
	return error;
}

static void shards_are_filled_in_turn(void **state)
{
	(void)state;
	for (int i = 0; i < SLOTS; i++)
		assert_int_equal(open_session(2, false, SLOTS, 0) / SHARD_IDS, i % SHARDS);
	for (int i = 0; i < SHARDS; i++)
		assert_int_equal(open_session(2, false, SLOTS, 0), 0);
}

/* An eighth of less than eight is none. */
static void few_slots_are_none(void **state)
{
	(void)state;
	for (int i = 0; i < SHARDS; i++)
		assert_int_equal(open_session(2, true, SHARDS - 1, 0), 0);
	assert_true(open_session(2, false, SHARDS, 0) > 0);
}

/* All but the first are used on; the new ones come one after another, to one shard after the other. */
static void the_idle_go_then_the_smaller(void **state)
{
	int32_t ids[SLOTS], epochs[SLOTS], gone = 0;

	(void)state;
	for (int i = 0; i < SLOTS; i++) {
		ids[i] = open_session(2, false, SLOTS, 0);
		epochs[i] = 1;
	}
	for (int i = 1; i < SLOTS; i++)
		assert_int_equal(use(ids[i], epochs[i]++, TWO_MINUTES), 0);
	/* the first was not used for two minutes, and no more than that */
	assert_int_equal(open_session(3, false, SLOTS, TWO_MINUTES), 0);
	for (int i = 1; i < SHARDS; i++)
		assert_int_equal(open_session(3, false, SLOTS, TWO_MINUTES), 0);
	assert_int_equal(open_session(1, false, SLOTS, TWO_MINUTES + 1) / SHARD_IDS, 0);
	assert_int_equal(use(ids[0], 1, TWO_MINUTES + 1), KW_ERR_FETCH_SESSION_ID_NOT_FOUND);
	for (int i = 1; i < SLOTS; i++)
		assert_int_equal(use(ids[i], epochs[i]++, TWO_MINUTES + 1), 0);
	/* an older one does not go for one of as many partitions, but for one of more */
	for (int i = 1; i < SHARDS; i++)
		assert_int_equal(open_session(2, false, SLOTS, TWO_MINUTES + 1), 0);
	assert_int_equal(open_session(2, false, SLOTS, TWO_MINUTES + 1), 0);
	for (int i = 1; i < SHARDS; i++)
		assert_int_equal(open_session(3, false, SLOTS, TWO_MINUTES + 1) / SHARD_IDS, i);
	/* the least id of those that are as small */
	for (int i = 1; i < SHARDS; i++) {
		int32_t least = ids[i] < ids[i + SHARDS] ? i : i + SHARDS;

		assert_int_equal(use(ids[least], epochs[least], TWO_MINUTES + 1), KW_ERR_FETCH_SESSION_ID_NOT_FOUND);
		assert_int_equal(use(ids[2 * i + SHARDS - least], epochs[2 * i + SHARDS - least], TWO_MINUTES + 1), 0);
		gone++;
	}
	assert_int_equal(gone, SHARDS - 1);
}

/* A replica's goes before any client's, however new, and for another replica's only when it is old and smaller. */
static void replicas_come_first(void **state)
{
	(void)state;
	for (int i = 0; i < SLOTS; i++)
		assert_true(open_session(5, false, SLOTS, 0) > 0);
	for (int i = 0; i < SLOTS; i++)
		assert_int_equal(open_session(1, true, SLOTS, 0) / SHARD_IDS, i % SHARDS);
	for (int i = 0; i < SHARDS; i++)
		assert_int_equal(open_session(5, true, SLOTS, 0), 0);
	assert_int_equal(open_session(5, false, SLOTS, TWO_MINUTES), 0);
}

/* Kafka looks for the shard of an id in a list of eight. */
static void ids_that_no_shard_has(void **state)
{
	static const struct { int32_t id; int16_t error; } rows[] = {
		{INT32_MAX, KW_ERR_UNKNOWN_SERVER_ERROR}, {2147483640, KW_ERR_UNKNOWN_SERVER_ERROR},
		{2147483639, KW_ERR_FETCH_SESSION_ID_NOT_FOUND}, {-1, KW_ERR_FETCH_SESSION_ID_NOT_FOUND},
		{-268435454, KW_ERR_FETCH_SESSION_ID_NOT_FOUND}, {-268435455, KW_ERR_UNKNOWN_SERVER_ERROR},
		{INT32_MIN, KW_ERR_UNKNOWN_SERVER_ERROR},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_int_equal(use(rows[i].id, 1, 0), rows[i].error);
}

/* A session keeps all bytes of a name, a NUL among them. */
static void names_with_a_nul(void **state)
{
	static const char name[] = "ab\0cdefgh";
	struct fb_fetch_context context;
	int32_t id;

	(void)state;
	topic = (struct kw_str){name, sizeof name - 1};
	id = open_session(1, false, SLOTS, 0);
	assert_int_equal(begin(id, 1, 0, false, 0, &context), 0);
	assert_int_equal(context.n, 1);
	assert_int_equal(context.wants[0].topic.n, sizeof name - 1);
	assert_memory_equal(context.wants[0].topic.s, name, sizeof name - 1);
	topic = kw_str("y");
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(shards_are_filled_in_turn),
		T(few_slots_are_none),
		T(the_idle_go_then_the_smaller),
		T(replicas_come_first),
		T(ids_that_no_shard_has),
		T(names_with_a_nul),
	};

	return cmocka_run_group_tests_name("fetch sessions", tests, NULL, NULL);
}
