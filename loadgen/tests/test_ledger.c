#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loadgen/ledger.h"

static struct lg_ledger *ledger;

static int setup(void **state)
{
	(void)state;
	return lg_ledger_new(2, &ledger, NULL);
}

static int teardown(void **state)
{
	(void)state;
	lg_ledger_free(ledger);
	return 0;
}

static struct lg_tally tally_of(int32_t partition)
{
	struct lg_tally tally;

	lg_ledger_tally(ledger, partition, true, &tally);
	return tally;
}

static void send(int n, enum lg_fate fate)
{
	for (int i = 0; i < n; i++)
		lg_ledger_settle(ledger, 0, lg_ledger_open(ledger, 0), fate);
}

static void test_sequences_count_per_partition(void **state)
{
	(void)state;
	assert_int_equal(lg_ledger_open(ledger, 0), 0);
	assert_int_equal(lg_ledger_open(ledger, 0), 1);
	assert_int_equal(lg_ledger_open(ledger, 1), 0);
	assert_int_equal(tally_of(0).fates[LG_IN_FLIGHT], 2);
	assert_int_equal(tally_of(1).fates[LG_IN_FLIGHT], 1);
}

static void test_what_is_read_once_in_order_is_fine(void **state)
{
	struct lg_tally tally;

	(void)state;
	send(10000, LG_ACKED);
	for (int64_t i = 0; i < 10000; i++)
		lg_ledger_see(ledger, 0, i);
	tally = tally_of(0);
	assert_int_equal(tally.fates[LG_ACKED], 10000);
	assert_int_equal(tally.seen, 10000);
	assert_int_equal(lg_tally_violations(&tally, &(struct lg_guarantee){true, true, true}), 0);
}

static void test_lost(void **state)
{
	struct lg_tally tally;

	(void)state;
	send(5, LG_ACKED);
	lg_ledger_see(ledger, 0, 0);
	lg_ledger_see(ledger, 0, 4);
	tally = tally_of(0);
	assert_int_equal(tally.lost, 3);
	assert_int_equal(tally.seen, 2);
	assert_int_equal(tally.reordered, 0);
	assert_int_equal(lg_tally_violations(&tally, &(struct lg_guarantee){.kept = true}), 3);
	assert_int_equal(lg_tally_violations(&tally, &(struct lg_guarantee){.kept = false}), 0);
}

static void test_nothing_is_lost_while_nothing_was_read(void **state)
{
	struct lg_tally tally;

	(void)state;
	send(5, LG_ACKED);
	lg_ledger_tally(ledger, 0, false, &tally);
	assert_int_equal(tally.fates[LG_ACKED], 5);
	assert_int_equal(tally.lost, 0);
}

static void test_duplicated_is_not_reordered(void **state)
{
	struct lg_tally tally;

	(void)state;
	send(3, LG_ACKED);
	for (int64_t i = 0; i < 3; i++)
		lg_ledger_see(ledger, 0, i);
	lg_ledger_see(ledger, 0, 0);
	lg_ledger_see(ledger, 0, 1);
	lg_ledger_see(ledger, 0, 1);
	tally = tally_of(0);
	assert_int_equal(tally.duplicated, 3);
	assert_int_equal(tally.reordered, 0);
	assert_int_equal(lg_tally_violations(&tally, &(struct lg_guarantee){.kept = true, .once = true}), 3);
	assert_int_equal(lg_tally_violations(&tally, &(struct lg_guarantee){.kept = true}), 0);
}

static void test_many_readings_do_not_overflow(void **state)
{
	(void)state;
	send(1, LG_ACKED);
	for (int i = 0; i < 1000; i++)
		lg_ledger_see(ledger, 0, 0);
	assert_int_equal(tally_of(0).seen, 1);
	assert_int_equal(tally_of(0).duplicated, 30);
	assert_int_equal(tally_of(0).fates[LG_ACKED], 1);
}

static void test_reordered(void **state)
{
	static const int64_t order[] = {0, 3, 1, 2, 4};
	struct lg_tally tally;

	(void)state;
	send(5, LG_ACKED);
	for (size_t i = 0; i < 5; i++)
		lg_ledger_see(ledger, 0, order[i]);
	tally = tally_of(0);
	assert_int_equal(tally.reordered, 2);
	assert_int_equal(tally.lost + tally.duplicated, 0);
	assert_int_equal(lg_tally_violations(&tally, &(struct lg_guarantee){.ordered = true}), 2);
	assert_int_equal(lg_tally_violations(&tally, &(struct lg_guarantee){.once = true}), 0);
}

static void test_refused_must_not_be_there(void **state)
{
	struct lg_tally tally;

	(void)state;
	send(1, LG_REFUSED);
	send(1, LG_REFUSED_WITH_BATCH);
	send(1, LG_FAILED);
	tally = tally_of(0);
	assert_int_equal(tally.lost + tally.refused_present, 0);
	for (int64_t i = 0; i < 3; i++)
		lg_ledger_see(ledger, 0, i);
	tally = tally_of(0);
	assert_int_equal(tally.refused_present, 3);
	assert_int_equal(lg_tally_violations(&tally, &(struct lg_guarantee){0}), 3);
}

static void test_unknown_may_be_there_or_not(void **state)
{
	struct lg_tally tally;

	(void)state;
	send(2, LG_UNKNOWN);
	lg_ledger_open(ledger, 0);
	lg_ledger_see(ledger, 0, 1);
	lg_ledger_see(ledger, 0, 2);
	tally = tally_of(0);
	assert_int_equal(tally.unacked_present, 2);
	assert_int_equal(tally.lost, 0);
	assert_int_equal(lg_tally_violations(&tally, &(struct lg_guarantee){true, true, true}), 0);
}

static void test_a_reading_before_its_fate_counts(void **state)
{
	int64_t sequence = lg_ledger_open(ledger, 0);
	struct lg_tally tally;

	(void)state;
	lg_ledger_see(ledger, 0, sequence);
	lg_ledger_settle(ledger, 0, sequence, LG_ACKED);
	tally = tally_of(0);
	assert_int_equal(tally.seen, 1);
	assert_int_equal(tally.lost + tally.unacked_present, 0);
}

static void test_what_nobody_sent(void **state)
{
	struct lg_tally tally;

	(void)state;
	send(1, LG_ACKED);
	lg_ledger_see(ledger, 0, 1);
	lg_ledger_see(ledger, 0, -1);
	lg_ledger_see(ledger, 0, INT64_MAX);
	lg_ledger_see(ledger, 2, 0);
	lg_ledger_see(ledger, -1, 0);
	lg_ledger_see_corrupt(ledger, 0);
	lg_ledger_see_corrupt(ledger, 7);
	tally = tally_of(0);
	assert_int_equal(tally.unsent_present, 3);
	assert_int_equal(tally.corrupt, 1);
	assert_int_equal(tally.lost, 1);
	assert_int_equal(lg_tally_violations(&tally, &(struct lg_guarantee){0}), 4);
}

static void test_tallies_add_up(void **state)
{
	struct lg_tally sum = {0}, part;

	(void)state;
	send(2, LG_ACKED);
	lg_ledger_settle(ledger, 1, lg_ledger_open(ledger, 1), LG_ACKED);
	for (int32_t p = 0; p < lg_ledger_partitions(ledger); p++) {
		lg_ledger_tally(ledger, p, true, &part);
		lg_tally_add(&sum, &part);
	}
	assert_int_equal(sum.fates[LG_ACKED], 3);
	assert_int_equal(sum.lost, 3);
}

static void test_words(void **state)
{
	(void)state;
	assert_string_equal(lg_fate_name(LG_REFUSED_WITH_BATCH), "refused with batch");
	assert_string_equal(lg_guarantee_text(&(struct lg_guarantee){true, true, true}),
			    "every acknowledged record once and in order");
	assert_string_equal(lg_guarantee_text(&(struct lg_guarantee){true, false, false}),
			    "every acknowledged record at least once, in any order");
	assert_string_equal(lg_guarantee_text(&(struct lg_guarantee){false, true, true}),
			    "none (acks=0): a lost record is no violation");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_sequences_count_per_partition, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_is_read_once_in_order_is_fine, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lost, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nothing_is_lost_while_nothing_was_read, setup, teardown),
		cmocka_unit_test_setup_teardown(test_duplicated_is_not_reordered, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_readings_do_not_overflow, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reordered, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused_must_not_be_there, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unknown_may_be_there_or_not, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_reading_before_its_fate_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_nobody_sent, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tallies_add_up, setup, teardown),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
