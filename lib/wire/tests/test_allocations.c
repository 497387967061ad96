/* What is taken from the heap, and when: the linker puts a counter before malloc() and its kin (see the Makefile), for
 * all calls from lib/. The compressors' own libraries are not counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kw_messages.h"
#include "lib/wire/batch.h"
#include "lib/wire/plan.h"

static unsigned long allocations;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

void *__wrap_malloc(size_t n)
{
	allocations++;
	return __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	allocations++;
	return __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
	allocations++;
	return __real_realloc(p, n);
}

/* ---- plans ---- */

static void decode_metadata(struct kw_arena *arena, int version)
{
	static const uint8_t none[] = {1, 0, 0, 0};   /* no topics, two bools, no tags */
	void *out;

	assert_int_equal(kw_decode(&kw_msg_MetadataRequest, version, none, sizeof none, arena, &out, NULL, NULL), 0);
}

/* The first test of the program: nothing was decoded before. */
static void plans_are_made_on_first_use(void **state)
{
	struct kw_arena arena = {0};
	unsigned long before;

	(void)state;
	assert_int_equal(kw_plan_count(), 0);
	decode_metadata(&arena, 12);
	assert_int_equal(kw_plan_count(), 1);
	before = allocations;
	kw_arena_reset(&arena);
	decode_metadata(&arena, 12);
	assert_int_equal(kw_plan_count(), 1);
	assert_int_equal(allocations - before, 0);
	decode_metadata(&arena, 11);
	assert_int_equal(kw_plan_count(), 2);
	kw_arena_fini(&arena);
}

/* ---- messages ---- */

static void *produce_request(int32_t npartitions, struct kw_arena *arena)
{
	struct kw_ProduceRequest *request = kw_new(&kw_msg_ProduceRequest, arena);
	struct kw_ProduceRequest_TopicProduceData *topic =
		kw_new_array(&kw_ProduceRequest_TopicProduceData_struct, 1, arena);

	topic->name = kw_str("orders");
	topic->partitionData.n = npartitions;
	topic->partitionData.v = kw_new_array(&kw_ProduceRequest_PartitionProduceData_struct, npartitions, arena);
	request->topicData.n = 1;
	request->topicData.v = topic;
	return request;
}

/* An arena and a buffer that were used before take nothing more for a message of 100 partitions. */
static void messages_take_nothing_once_warm(void **state)
{
	struct kw_arena samples = {0}, arena = {0};
	void *in = produce_request(100, &samples), *out;
	unsigned long before = 0;
	struct kw_buf buf = {0};

	(void)state;
	for (int round = 0; round < 3; round++) {
		if (round == 1)
			before = allocations;
		kw_buf_clear(&buf);
		assert_int_equal(kw_encode(&kw_msg_ProduceRequest, 9, in, &buf, NULL), 0);
		kw_arena_reset(&arena);
		assert_int_equal(kw_decode(&kw_msg_ProduceRequest, 9, buf.p, buf.n, &arena, &out, NULL, NULL), 0);
	}
	assert_int_equal(allocations - before, 0);
	kw_buf_fini(&buf);
	kw_arena_fini(&arena);
	kw_arena_fini(&samples);
}

/* ---- records ---- */

enum { FEW = 10, MANY = 10000 };

static void build(int codec, int32_t nheaders, int32_t n, struct kw_buf *out)
{
	static struct kw_header headers[20];
	struct kw_record *records = calloc((size_t)n, sizeof *records);
	struct kw_batch_spec spec = kw_batch_spec_default;

	for (int32_t i = 0; i < nheaders; i++)
		headers[i] = (struct kw_header){kw_str("k"), {(const uint8_t *)"v", 1}};
	for (int32_t i = 0; i < n; i++)
		records[i] = (struct kw_record){.offsetDelta = i, .key = {(const uint8_t *)"key", 3},
						.value = {(const uint8_t *)"0123456789abcdef", 16},
						.nheaders = nheaders, .headers = headers};
	spec.attributes = (int16_t)codec;
	assert_int_equal(kw_batch_build(&spec, records, n, out, NULL), 0);
	free(records);
}

static int count(void *arg, int32_t index, const struct kw_record *record)
{
	(void)index;
	*(int32_t *)arg += record->value.n == 16;
	return 0;
}

/* Allocations of one walk over n records. */
static unsigned long of_walk(int codec, int32_t nheaders, int32_t n, bool skip)
{
	struct kw_walk_opts opts = {.skip_bodies = skip};
	struct kw_buf buf = {0};
	struct kw_batch batch;
	unsigned long before;
	enum kw_walk why;
	int32_t seen = 0;

	build(codec, nheaders, n, &buf);
	assert_int_equal(kw_batch_parse(buf.p, buf.n, &batch, NULL), 0);
	before = allocations;
	assert_int_equal(kw_batch_walk(&batch, &opts, count, &seen, &why, NULL), 0);
	before = allocations - before;
	assert_int_equal(seen, n);
	kw_buf_fini(&buf);
	return before;
}

static void records_take_nothing(void **state)
{
	(void)state;
	assert_int_equal(of_walk(KW_NONE, 0, MANY, false), 0);
	assert_int_equal(of_walk(KW_NONE, 3, MANY, false), 0);
}

/* More headers than usual take memory once in a batch, not once in a record. */
static void many_headers_take_it_once(void **state)
{
	(void)state;
	assert_int_equal(of_walk(KW_NONE, 20, FEW, false), 1);
	assert_int_equal(of_walk(KW_NONE, 20, MANY, false), 1);
}

/* A compressed batch takes the buffer that it is inflated into, which doubles: a thousand times the records, ten
 * times. */
static void compressed_records_take_their_buffer(void **state)
{
	(void)state;
	for (int codec = KW_GZIP; codec <= KW_ZSTD; codec++)
		for (int skip = 0; skip < 2; skip++)
			assert_in_range(of_walk(codec, 2, MANY, skip) - of_walk(codec, 2, FEW, skip), 0, 16);
}

static void building_takes_nothing_per_record(void **state)
{
	struct kw_buf buf = {0};
	unsigned long before, few;

	(void)state;
	build(KW_NONE, 2, MANY, &buf);   /* the buffer is large enough from now on */
	kw_buf_clear(&buf);
	before = allocations;
	build(KW_NONE, 2, FEW, &buf);
	few = allocations - before;
	kw_buf_clear(&buf);
	before = allocations;
	build(KW_NONE, 2, MANY, &buf);
	assert_int_equal(allocations - before, few);   /* the array of records that this test itself allocates */
	kw_buf_fini(&buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plans_are_made_on_first_use),
		cmocka_unit_test(messages_take_nothing_once_warm),
		cmocka_unit_test(records_take_nothing),
		cmocka_unit_test(many_headers_take_it_once),
		cmocka_unit_test(compressed_records_take_their_buffer),
		cmocka_unit_test(building_takes_nothing_per_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
