#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/hist/hist.h"
#include "lib/hist/layout.h"

static void latency(struct kh_hist *hist)
{
	assert_int_equal(kh_init_latency(hist, NULL), 0);
}

static void test_shape_is_that_of_hdrhistogram(void **state)
{
	struct kh_hist hist;

	(void)state;
	latency(&hist);
	assert_int_equal(hist.ncounts, 33 * 1024);
	assert_int_equal(hist.half_shift, 10);
	kh_fini(&hist);
	assert_int_equal(kh_init(&hist, 1000, 60000000, 2, NULL), 0);
	assert_int_equal(hist.unit_shift, 9);
	assert_int_equal(hist.half_shift, 7);
	kh_fini(&hist);
}

static void test_every_index_holds_its_own_range(void **state)
{
	struct kh_hist hist;
	int64_t next = 0;

	(void)state;
	latency(&hist);
	for (int32_t i = 0; i < hist.ncounts; i++) {
		assert_int_equal(kh_value_at(&hist, i), next);
		next += kh_width_at(&hist, i);
		if (next > hist.highest)
			break;
		assert_int_equal(kh_index_of(&hist, kh_value_at(&hist, i)), i);
		assert_int_equal(kh_index_of(&hist, next - 1), i);
		/* three digits: no range is wider than a thousandth of its values */
		if (i > 0)
			assert_true(kh_width_at(&hist, i) <= 1 + kh_value_at(&hist, i) / 1000);
	}
	assert_true(next > hist.highest);
	kh_fini(&hist);
}

static void test_bad_shapes_are_refused(void **state)
{
	static const struct { int64_t lowest, highest; int digits; } bad[] = {
		{0, 100, 3}, {-1, 100, 3}, {10, 19, 3}, {1, 100, 0}, {1, 100, 6}, {INT64_C(1) << 61, INT64_MAX, 5},
	};
	struct kh_hist hist;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct kt_err err = {0};

		assert_int_equal(kh_init(&hist, bad[i].lowest, bad[i].highest, bad[i].digits, &err), KT_ERANGE);
		assert_int_equal(err.code, KT_ERANGE);
		kh_fini(&hist);
	}
}

static void test_empty(void **state)
{
	struct kh_hist hist;

	(void)state;
	latency(&hist);
	assert_int_equal(kh_percentile(&hist, 50), 0);
	assert_int_equal(kh_min(&hist), 0);
	assert_int_equal(kh_max(&hist), 0);
	assert_true(kh_mean(&hist) == 0);
	kh_fini(&hist);
}

/* Expected numbers from HdrHistogram 2.1.11 (Java). */
static void test_small_values(void **state)
{
	static const struct { int64_t value, n; } in[] = {
		{0, 1}, {1, 2}, {2, 1}, {1000, 5}, {2047, 1}, {2048, 1}, {2049, 2},
	};
	struct kh_hist hist;

	(void)state;
	latency(&hist);
	for (size_t i = 0; i < sizeof in / sizeof in[0]; i++)
		kh_record_n(&hist, in[i].value, in[i].n);
	assert_int_equal(hist.total, 13);
	assert_int_equal(kh_min(&hist), 0);
	assert_int_equal(kh_max(&hist), 2049);
	assert_true(kh_mean(&hist) > 1015.2307 && kh_mean(&hist) < 1015.2308);
	assert_int_equal(kh_percentile(&hist, 0), 0);
	assert_int_equal(kh_percentile(&hist, 50), 1000);
	assert_int_equal(kh_percentile(&hist, 90), 2049);
	assert_int_equal(kh_percentile(&hist, 100), 2049);
	kh_fini(&hist);
}

static void record_pseudo_random(struct kh_hist *hist)
{
	uint64_t x = 12345;

	for (int i = 0; i < 10000; i++) {
		x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		kh_record(hist, 100000 + (int64_t)((x >> 40) % 5000000));
	}
}

static void test_percentiles_of_many_values(void **state)
{
	struct kh_hist hist;

	(void)state;
	latency(&hist);
	record_pseudo_random(&hist);
	assert_int_equal(kh_percentile(&hist, 50), 2344959);
	assert_int_equal(kh_percentile(&hist, 90), 4550655);
	assert_int_equal(kh_percentile(&hist, 99), 5054463);
	assert_true(kh_mean(&hist) > 2438292.92 && kh_mean(&hist) < 2438292.93);
	/* the range of the last count ends at 5099519: the exact maximum is the better answer */
	assert_true(kh_max(&hist) < 5099519);
	assert_int_equal(kh_percentile(&hist, 100), kh_max(&hist));
	kh_fini(&hist);
}

static void test_a_percentile_asks_for_no_value_too_many(void **state)
{
	struct kh_hist hist;

	(void)state;
	latency(&hist);
	kh_record_n(&hist, 1, 999);
	kh_record(&hist, 1000);
	assert_int_equal(kh_percentile(&hist, 99.9), 1);
	assert_int_equal(kh_percentile(&hist, 99.91), 1000);
	assert_int_equal(kh_percentile(&hist, 250), 1000);
	assert_int_equal(kh_percentile(&hist, -1), 1);
	kh_fini(&hist);
}

static void test_values_out_of_range_are_kept_at_the_edge(void **state)
{
	struct kh_hist hist;

	(void)state;
	latency(&hist);
	kh_record(&hist, -5);
	kh_record(&hist, INT64_MAX);
	assert_int_equal(hist.total, 2);
	assert_int_equal(hist.clamped, 1);
	assert_int_equal(kh_min(&hist), 0);
	assert_int_equal(kh_max(&hist), KH_LATENCY_HIGHEST);
	kh_fini(&hist);
}

static void test_adding_equals_recording_in_one(void **state)
{
	struct kh_hist one, sum, part;

	(void)state;
	latency(&one);
	latency(&sum);
	latency(&part);
	record_pseudo_random(&one);
	kh_record_n(&one, 7, 3);
	record_pseudo_random(&sum);
	kh_record_n(&part, 7, 3);
	assert_int_equal(kh_add(&sum, &part, NULL), 0);
	assert_int_equal(sum.total, one.total);
	assert_int_equal(kh_min(&sum), 7);
	assert_memory_equal(sum.counts, one.counts, (size_t)one.ncounts * sizeof one.counts[0]);
	kh_reset(&part);
	assert_int_equal(kh_add(&sum, &part, NULL), 0);
	assert_int_equal(sum.total, one.total);
	kh_fini(&one);
	kh_fini(&sum);
	kh_fini(&part);
}

static void test_adding_another_shape_is_refused(void **state)
{
	struct kh_hist hist, other;
	struct kt_err err = {0};

	(void)state;
	latency(&hist);
	assert_int_equal(kh_init(&other, 1, 1000000, 3, NULL), 0);
	kh_record(&other, 5);
	assert_int_equal(kh_add(&hist, &other, &err), KT_ERANGE);
	assert_int_equal(hist.total, 0);
	kh_fini(&hist);
	kh_fini(&other);
}

static void test_reset(void **state)
{
	struct kh_hist hist;

	(void)state;
	latency(&hist);
	record_pseudo_random(&hist);
	kh_reset(&hist);
	assert_int_equal(hist.total, 0);
	assert_int_equal(kh_percentile(&hist, 99), 0);
	for (int32_t i = 0; i < hist.ncounts; i++)
		assert_int_equal(hist.counts[i], 0);
	kh_fini(&hist);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shape_is_that_of_hdrhistogram),
		cmocka_unit_test(test_every_index_holds_its_own_range),
		cmocka_unit_test(test_bad_shapes_are_refused),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_small_values),
		cmocka_unit_test(test_percentiles_of_many_values),
		cmocka_unit_test(test_a_percentile_asks_for_no_value_too_many),
		cmocka_unit_test(test_values_out_of_range_are_kept_at_the_edge),
		cmocka_unit_test(test_adding_equals_recording_in_one),
		cmocka_unit_test(test_adding_another_shape_is_refused),
		cmocka_unit_test(test_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
