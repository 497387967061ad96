/* The right column is what `new String(bytes, UTF_8).getBytes(UTF_8)` gives on OpenJDK 17. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kw_messages.h"
#include "lib/wire/java_utf8.h"

#define R "\xef\xbf\xbd"

struct pair {
	const char *in, *out;   /* out NULL: the same */
};

static const struct pair pairs[] = {
	{"", NULL},
	{"key", NULL},
	{"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", NULL},
	{"\xf4\x8f\xbf\xbf", NULL},
	{"\xff\xfe", R R},
	{"\x80\x80", R R},
	{"\xc0\xaf", R R},                     /* over-long */
	{"\xe0\x80\xaf", R R R},
	{"\xf0\x8f\xbf\xbf", R R R R},
	{"\xf4\x90\x80\x80", R R R R},         /* beyond U+10FFFF */
	{"\xf5\x80\x80\x80", R R R R},
	{"\xed\xa0\x80", R},                   /* a surrogate */
	{"\xed\xa0\x80\xed\xb0\x80", R R},
	{"a\xc3", "a" R},                      /* cut */
	{"\xe2\x82", R},
	{"\xf0\x9f\x98", R},
	{"\xc3z", R "z"},
	{"\xe2\x82z", R "z"},
	{"\xe2z\x82", R "z" R},
	{"\xf0\x9fz", R "z"},
	{"\xf0\x9f\x98z", R "z"},
	{"\xf0\x9f\xe2\x82\xac", R "\xe2\x82\xac"},
};

static void test_pairs(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
		const char *want = pairs[i].out ? pairs[i].out : pairs[i].in;
		const uint8_t *in = (const uint8_t *)pairs[i].in;
		struct kw_buf out = {0};

		kw_java_utf8_put(&out, in, strlen(pairs[i].in));
		kw_put(&out, "", 1);
		assert_string_equal((const char *)out.p, want);
		assert_int_equal(kw_java_utf8_good(in, strlen(pairs[i].in)), pairs[i].out == NULL);
		kw_buf_fini(&out);
	}
}

/* Strings at every depth, null and empty ones, and one that a nullable struct holds. */
static void test_messages(void **state)
{
	struct kw_arena arena;
	struct kw_ProduceRequest *produce;
	struct kw_ProduceRequest_TopicProduceData topics[2];
	struct kw_DescribeClusterResponse *cluster;

	(void)state;
	kw_arena_init(&arena, 1 << 20);
	produce = kw_new(&kw_msg_ProduceRequest, &arena);
	for (int i = 0; i < 2; i++)
		kw_set_defaults(&kw_ProduceRequest_TopicProduceData_struct, &topics[i]);
	topics[0].name = kw_str("good");
	topics[1].name = kw_str("b\xff\xe2\x82");
	produce->topicData.v = topics;
	produce->topicData.n = 2;
	assert_int_equal(kw_recode_strings(&kw_msg_ProduceRequest, produce, &arena), 0);
	assert_int_equal(produce->transactionalId.n, -1);
	assert_true(kw_str_is(topics[0].name, "good"));
	assert_true(kw_str_is(topics[1].name, "b" R R));
	produce->transactionalId = kw_str("\xc0");
	assert_int_equal(kw_recode_strings(&kw_msg_ProduceRequest, produce, &arena), 0);
	assert_true(kw_str_is(produce->transactionalId, R));
	cluster = kw_new(&kw_msg_DescribeClusterResponse, &arena);
	cluster->clusterId = kw_str("\x80");
	assert_int_equal(kw_recode_strings(&kw_msg_DescribeClusterResponse, cluster, &arena), 0);
	assert_true(kw_str_is(cluster->clusterId, R));
	assert_int_equal(kw_msg_HeartbeatResponse.root->ntexts, 0);
	kw_arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_pairs), cmocka_unit_test(test_messages)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
