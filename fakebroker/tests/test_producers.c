#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fakebroker/log/producers.h"

struct bench {
	struct fb_producers producers;
	struct kw_arena arena;
	int64_t end;
	const char *reason;                         /* of the last check */
	const struct fb_producer_batch *duplicate;  /* of the last check */
};

static int setup(void **state)
{
	struct bench *bench = calloc(1, sizeof *bench);

	fb_producers_init(&bench->producers);
	kw_arena_init(&bench->arena, 0);
	*state = bench;
	return 0;
}

static int teardown(void **state)
{
	struct bench *bench = *state;

	fb_producers_fini(&bench->producers);
	kw_arena_fini(&bench->arena);
	free(bench);
	return 0;
}

/* Checks a batch of n records and, if it is good and new, appends it. Returns the error code. */
static int16_t send(struct bench *bench, int64_t id, int16_t epoch, int32_t sequence, int32_t n)
{
	struct kw_batch batch = {
		.producerId = id, .producerEpoch = epoch, .baseSequence = sequence,
		.lastOffsetDelta = n - 1, .count = n,
	};
	int16_t code;

	bench->reason = NULL;
	code = fb_producers_check(&bench->producers, &batch, "t-idem", 0, bench->end, &bench->arena,
				  &bench->reason, &bench->duplicate);
	assert_true(code == 0 ? bench->reason == NULL : bench->reason != NULL && bench->duplicate == NULL);
	if (code == 0 && !bench->duplicate) {
		assert_int_equal(fb_producers_add(&bench->producers, &batch, bench->end, 500 + bench->end), 0);
		bench->end += n;
	}
	return code;
}

/* A fresh batch: appended. */
static void good(struct bench *bench, int64_t id, int16_t epoch, int32_t sequence, int32_t n)
{
	assert_int_equal(send(bench, id, epoch, sequence, n), 0);
	assert_null(bench->duplicate);
}

static void repeated(struct bench *bench, int64_t id, int16_t epoch, int32_t sequence, int32_t n, int64_t baseOffset)
{
	assert_int_equal(send(bench, id, epoch, sequence, n), 0);
	assert_non_null(bench->duplicate);
	assert_int_equal(bench->duplicate->baseOffset, baseOffset);
	assert_int_equal(bench->duplicate->timestamp, 500 + baseOffset);
}

static void refused(struct bench *bench, int64_t id, int16_t epoch, int32_t sequence, int32_t n, int16_t code,
		    const char *reason)
{
	assert_int_equal(send(bench, id, epoch, sequence, n), code);
	assert_string_equal(bench->reason, reason);
}

static void out_of_order(struct bench *bench, int32_t sequence, int32_t n, int32_t last)
{
	char reason[200];

	snprintf(reason, sizeof reason, "Out of order sequence number for producer 0 at offset %d in partition "
		 "t-idem-0: %d (incoming seq. number), %d (current end sequence number)",
		 (int)bench->end, sequence, last);
	refused(bench, 0, 0, sequence, n, 45, reason);
}

/* The course of one producer as it was measured on Kafka 4.4.0. */
static void test_course(void **state)
{
	struct bench *bench = *state;

	good(bench, 0, 0, 0, 3);
	good(bench, 0, 0, 3, 1);
	repeated(bench, 0, 0, 3, 1, 3);
	repeated(bench, 0, 0, 0, 3, 0);
	out_of_order(bench, 0, 2, 3);
	out_of_order(bench, 10, 1, 3);
	for (int32_t sequence = 4; sequence < 10; sequence++)
		good(bench, 0, 0, sequence, 1);
	out_of_order(bench, 0, 3, 9);
	out_of_order(bench, 3, 1, 9);
	repeated(bench, 0, 0, 5, 1, 5);
	good(bench, 0, 1, 0, 1);
	refused(bench, 0, 0, 10, 1, 47,
		"Epoch of producer 0 at offset 11 in t-idem-0 is 0, which is < the last seen epoch 1 (TV-1)");
	refused(bench, 0, 2, 7, 1, 45, "Invalid sequence number for new epoch of producer 0 at offset 11 in partition "
		"t-idem-0: 2 (request epoch), 7 (seq. number), 1 (current producer epoch)");
	refused(bench, 0, -1, 1, 1, 47,
		"Epoch of producer 0 at offset 11 in t-idem-0 is -1, which is < the last seen epoch 1 (TV-1)");
}

static void test_batches_without_id_leave_no_trace(void **state)
{
	struct bench *bench = *state;

	good(bench, -1, 0, 0, 1);
	good(bench, -1, -1, -1, 1);
	good(bench, -2, 0, 0, 1);
	good(bench, -2, 0, 0, 1);
	good(bench, INT64_MIN, 3, 9, 1);
	assert_int_equal(bench->producers.n, 0);
}

static void test_first_contact_takes_any_sequence(void **state)
{
	struct bench *bench = *state;

	good(bench, 1, 0, 9, 1);
	good(bench, 1, 0, 10, 1);
	good(bench, 2, 32767, 5, 1);
	good(bench, 3, -1, 5, 1);
	assert_int_equal(bench->producers.n, 3);
}

/* An epoch below -1 is below what Kafka has for a producer that it does not know. */
static void test_first_contact_with_negative_epoch(void **state)
{
	refused(*state, 1, -2, 0, 1, 47,
		"Epoch of producer 1 at offset 0 in t-idem-0 is -2, which is < the last seen epoch -1 (TV-1)");
}

static void test_wrap(void **state)
{
	struct bench *bench = *state;

	good(bench, 1, 0, INT32_MAX, 2);               /* INT32_MAX, 0 */
	good(bench, 1, 0, 1, 1);
	repeated(bench, 1, 0, INT32_MAX, 2, 0);
	good(bench, 2, 0, INT32_MAX - 1, 2);
	good(bench, 2, 0, 0, 1);
	assert_int_equal(fb_producers_find(&bench->producers, 1)->batches[0].lastSeq, 0);
}

static void test_sequence_add(void **state)
{
	(void)state;
	assert_int_equal(fb_sequence_add(0, 0), 0);
	assert_int_equal(fb_sequence_add(5, 7), 12);
	assert_int_equal(fb_sequence_add(INT32_MAX, 0), INT32_MAX);
	assert_int_equal(fb_sequence_add(INT32_MAX, 1), 0);
	assert_int_equal(fb_sequence_add(INT32_MAX - 2, 5), 2);
	assert_int_equal(fb_sequence_add(INT32_MAX, INT32_MAX), INT32_MAX - 1);
}

static void test_new_epoch_forgets_the_old_batches(void **state)
{
	struct bench *bench = *state;

	good(bench, 4, 0, 0, 1);
	good(bench, 4, 0, 1, 1);
	good(bench, 4, 1, 0, 1);
	assert_int_equal(fb_producers_find(&bench->producers, 4)->n, 1);
	repeated(bench, 4, 1, 0, 1, 2);
	good(bench, 4, 1, 1, 1);
}

static void test_many_producers_stay_apart(void **state)
{
	struct bench *bench = *state;

	for (int64_t i = 0; i < 200; i++)
		good(bench, (i * 77) % 200, 0, (int32_t)i, 1);
	assert_int_equal(bench->producers.n, 200);
	for (int64_t i = 0; i < 200; i++) {
		const struct fb_producer *producer = fb_producers_find(&bench->producers, (i * 77) % 200);

		assert_int_equal(producer->producerId, (i * 77) % 200);
		assert_int_equal(producer->batches[0].baseOffset, i);
		assert_int_equal(producer->batches[0].lastOffset, i);
	}
	assert_null(fb_producers_find(&bench->producers, 200));
}

/* Those with an open transaction, and those of the future, stay. */
static void test_old_producers_are_forgotten(void **state)
{
	struct kw_batch open = {.producerId = 4, .attributes = KW_A_TRANSACTIONAL, .count = 1};
	struct bench *bench = *state;

	good(bench, 1, 0, 0, 1);   /* at 500 */
	good(bench, 2, 0, 0, 1);   /* at 501 */
	assert_int_equal(fb_producers_set(&bench->producers, 3, 0, 7, 2, 9000), 0);
	assert_int_equal(fb_producers_add(&bench->producers, &open, 2, 500), 0);
	fb_producers_expire(&bench->producers, 1500, 1000);
	assert_null(fb_producers_find(&bench->producers, 1));
	assert_non_null(fb_producers_find(&bench->producers, 2));
	assert_non_null(fb_producers_find(&bench->producers, 3));
	assert_non_null(fb_producers_find(&bench->producers, 4));
	fb_producers_expire(&bench->producers, 1501, 1000);
	assert_null(fb_producers_find(&bench->producers, 2));
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_course),
		T(test_batches_without_id_leave_no_trace),
		T(test_first_contact_takes_any_sequence),
		T(test_first_contact_with_negative_epoch),
		T(test_wrap),
		T(test_new_epoch_forgets_the_old_batches),
		T(test_many_producers_stay_apart),
		T(test_old_producers_are_forgotten),
		cmocka_unit_test(test_sequence_add),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
