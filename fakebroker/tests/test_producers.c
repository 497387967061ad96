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
	struct fb_producer_check check = {.batch = &batch, .topic = "t-idem", .end_offset = bench->end};
	int16_t code;

	bench->reason = NULL;
	code = fb_producers_check(&bench->producers, &check, &bench->arena, &bench->reason, &bench->duplicate);
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

/* ---- verification ---- */

static struct kw_batch batch_of(int64_t id, int16_t epoch, int32_t sequence, int16_t attributes)
{
	return (struct kw_batch){
		.producerId = id, .producerEpoch = epoch, .baseSequence = sequence, .attributes = attributes,
		.count = 1,
	};
}

/* Asks about a transactional batch. Its guard. */
static uint64_t verified(struct bench *bench, int64_t id, int16_t epoch, int32_t sequence, bool bumps)
{
	struct kw_batch batch = batch_of(id, epoch, sequence, KW_A_TRANSACTIONAL);
	uint64_t guard;

	assert_int_equal(fb_producers_verify(&bench->producers, &batch, bumps, 1000, &guard), 0);
	return guard;
}

/* Checks a transactional batch that has the guard, and appends it if it is good. */
static int16_t send_guarded(struct bench *bench, int64_t id, int16_t epoch, int32_t sequence, uint64_t guard)
{
	struct kw_batch batch = batch_of(id, epoch, sequence, KW_A_TRANSACTIONAL);
	struct fb_producer_check check = {
		.batch = &batch, .topic = "t", .end_offset = bench->end, .guarded = true, .guard = guard,
	};
	int16_t code;

	bench->reason = NULL;
	code = fb_producers_check(&bench->producers, &check, &bench->arena, &bench->reason, &bench->duplicate);
	if (code == 0 && !bench->duplicate)
		assert_int_equal(fb_producers_add(&bench->producers, &batch, bench->end++, 500), 0);
	return code;
}

static void end_txn(struct bench *bench, int64_t id, int16_t epoch, int64_t began)
{
	const struct fb_marker marker = {.producerId = id, .producerEpoch = epoch, .timestamp = 500};
	int64_t firstOffset;

	assert_int_equal(fb_producers_check_marker(&bench->producers, &marker), 0);
	assert_int_equal(fb_producers_reserve(&bench->producers), 0);
	fb_producers_end_txn(&bench->producers, &marker, &firstOffset);
	assert_int_equal(firstOffset, began);
}

static void test_a_guard_is_for_one_transaction(void **state)
{
	struct bench *bench = *state;
	uint64_t first = verified(bench, 1, 0, 0, false), second;

	assert_true(first != FB_NO_GUARD);
	assert_int_equal(verified(bench, 1, 0, 0, false), first);
	end_txn(bench, 1, 0, FB_NO_TXN);
	assert_int_equal(send_guarded(bench, 1, 0, 0, first), 48);
	assert_string_equal(bench->reason, "Record was not part of an ongoing transaction");
	second = verified(bench, 1, 0, 0, false);
	assert_true(second != first && second != FB_NO_GUARD);
	assert_int_equal(send_guarded(bench, 1, 0, 0, first), 48);
	assert_int_equal(send_guarded(bench, 1, 0, 0, second), 0);
	assert_int_equal(fb_producers_first_unstable(&bench->producers), 0);
	/* It is open now: nobody need ask. */
	assert_int_equal(verified(bench, 1, 0, 1, false), FB_NO_GUARD);
	assert_int_equal(send_guarded(bench, 1, 0, 1, FB_NO_GUARD), 0);
	end_txn(bench, 1, 0, 0);
	assert_int_equal(send_guarded(bench, 1, 0, 2, FB_NO_GUARD), 48);
	/* The same batch once more is a duplicate, whatever became of its transaction. */
	assert_int_equal(send_guarded(bench, 1, 0, 1, FB_NO_GUARD), 0);
	assert_non_null(bench->duplicate);
}

/* A transaction of version 12 that begins while the marker of the one before is on its way. */
static void test_a_marker_leaves_what_was_begun_in_its_epoch(void **state)
{
	struct bench *bench = *state;
	uint64_t guard = verified(bench, 1, 4, 0, true), other = verified(bench, 2, 4, 0, false);

	end_txn(bench, 1, 4, FB_NO_TXN);
	end_txn(bench, 2, 4, FB_NO_TXN);
	assert_int_equal(send_guarded(bench, 1, 4, 0, guard), 0);
	assert_int_equal(send_guarded(bench, 2, 4, 0, other), 48);
	guard = verified(bench, 3, 4, 0, true);
	end_txn(bench, 3, 3, FB_NO_TXN);
	assert_int_equal(send_guarded(bench, 3, 4, 0, guard), 48);
}

static void test_what_was_tried_holds_sequences(void **state)
{
	struct bench *bench = *state;

	verified(bench, 0, 0, 7, false);
	verified(bench, 0, 0, 9, false);
	bench->end = 5;
	refused(bench, 0, 0, 8, 1, 45, "Out of order sequence number for producer 0 at offset 5 in partition "
		"t-idem-0: 8 (incoming seq. number), 7 (earliest seen sequence)");
	verified(bench, 0, 0, 6, false);
	assert_int_equal(send(bench, 0, 0, 7, 1), 45);
	verified(bench, 0, 1, 20, false);
	verified(bench, 0, 0, 3, false);
	good(bench, 0, 0, 20, 1);
	refused(bench, 0, 0, 21, 1, 45, "Out of order sequence number for producer 0 at offset 6 in partition "
		"t-idem-0: 21 (incoming seq. number), 20 (earliest seen sequence)");
	fb_producers_expire(&bench->producers, 1499, 500);
	assert_int_equal(send(bench, 0, 0, 21, 1), 45);
	fb_producers_expire(&bench->producers, 1500, 500000);
	assert_int_equal(send(bench, 0, 0, 21, 1), 45);
	fb_producers_expire(&bench->producers, 1500, 500);
	good(bench, 0, 0, 21, 1);
}

static void test_version_12_begins_at_0(void **state)
{
	struct bench *bench = *state;

	assert_int_equal(send_guarded(bench, 7, 0, 5, verified(bench, 7, 0, 5, true)), 45);
	assert_string_equal(bench->reason, "Invalid sequence number for producer 7 at offset 0 in partition t-0: 5 "
			    "(incoming seq. number). Expected sequence 0 for transactions v2 idempotent producer with "
			    "no existing state.");
	assert_int_equal(send_guarded(bench, 7, 0, 0, verified(bench, 7, 0, 0, true)), 0);
	/* An earlier version may begin anywhere. */
	assert_int_equal(send_guarded(bench, 8, 0, 5, verified(bench, 8, 0, 5, false)), 0);
}

static void test_old_epochs_are_refused_at_once(void **state)
{
	struct kw_batch batch = batch_of(1, 4, 0, KW_A_TRANSACTIONAL);
	struct bench *bench = *state;
	uint64_t guard;

	good(bench, 1, 5, 0, 1);
	assert_int_equal(fb_producers_verify(&bench->producers, &batch, true, 1000, &guard), 47);
	assert_int_equal(guard, FB_NO_GUARD);
	assert_int_equal(bench->producers.verifications.n, 0);
	assert_int_equal(send_guarded(bench, 1, 4, 0, FB_NO_GUARD), 47);
	assert_string_equal(bench->reason, "Epoch of producer 1 is 4, which is smaller than the last seen epoch 5");
}

/* ---- many ---- */

/* Where every producer moved all others, and every end looked at all, these would take hours. */
static void test_others_cost_nothing(void **state)
{
	enum { MANY = 200000 };
	struct bench *bench = *state;
	struct fb_producers *producers = &bench->producers;

	for (int64_t i = 0; i < MANY; i++) {
		struct kw_batch batch = batch_of(MANY - i, 0, 0, KW_A_TRANSACTIONAL);

		assert_int_equal(fb_producers_add(producers, &batch, i, 500), 0);
	}
	assert_int_equal(producers->n, MANY);
	/* Every second one ends, then the rest: the earliest that is open tells how far readers get. */
	for (int64_t i = 1; i < MANY; i += 2)
		end_txn(bench, MANY - i, 0, i);
	assert_int_equal(fb_producers_first_unstable(producers), 0);
	for (int64_t i = 0; i < MANY; i += 2) {
		assert_int_equal(fb_producers_first_unstable(producers), i);
		end_txn(bench, MANY - i, 0, i);
	}
	assert_int_equal(fb_producers_first_unstable(producers), FB_NO_TXN);
	/* Room is found again in what has ended. */
	for (int64_t i = 0; i < MANY; i++) {
		struct kw_batch batch = batch_of(MANY, 0, (int32_t)i + 1, KW_A_TRANSACTIONAL);

		assert_int_equal(fb_producers_add(producers, &batch, MANY + i, 500), 0);
		end_txn(bench, MANY, 0, MANY + i);
	}
	assert_true(producers->open.cap <= 2 * MANY);
}

static void test_ids_come_and_go(void **state)
{
	enum { IDS = 512, STEPS = 20000 };
	struct fb_producer_ids ids = {0};
	size_t places[IDS] = {0}, place, n = 0;
	uint32_t seed = 1;

	(void)state;
	assert_false(fb_producer_ids_find(&ids, 0, &place));
	fb_producer_ids_remove(&ids, 0);
	for (size_t step = 1; step <= STEPS; step++) {
		size_t i = (seed = seed * 1664525u + 1013904223u) >> 8 & (IDS - 1);
		int64_t id = (int64_t)i * INT64_C(0x100000001) - 70000;

		assert_int_equal(fb_producer_ids_find(&ids, id, &place), places[i] > 0);
		if (places[i] && step % 2) {
			assert_int_equal(place, places[i]);
			fb_producer_ids_remove(&ids, id);
			places[i] = 0;
			n--;
		} else {
			assert_int_equal(fb_producer_ids_reserve(&ids), 0);
			fb_producer_ids_put(&ids, id, step);
			n += !places[i];
			places[i] = step;
		}
		assert_int_equal(ids.n, n);
	}
	for (size_t i = 0; i < IDS; i++)
		assert_int_equal(fb_producer_ids_find(&ids, (int64_t)i * INT64_C(0x100000001) - 70000, &place),
				 places[i] > 0);
	fb_producer_ids_clear(&ids);
	assert_false(fb_producer_ids_find(&ids, -70000, &place));
	fb_producer_ids_fini(&ids);
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
		T(test_a_guard_is_for_one_transaction),
		T(test_a_marker_leaves_what_was_begun_in_its_epoch),
		T(test_what_was_tried_holds_sequences),
		T(test_version_12_begins_at_0),
		T(test_old_epochs_are_refused_at_once),
		T(test_others_cost_nothing),
		cmocka_unit_test(test_ids_come_and_go),
		cmocka_unit_test(test_sequence_add),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
