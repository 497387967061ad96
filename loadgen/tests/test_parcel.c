#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loadgen/parcel.h"

#define ERROR_MAX 8

static struct lg_plan plan;
static struct lg_phase phase;
static struct lg_load load;
static struct lg_packer packer;
static struct lg_parcel parcel;

static int setup(void **state)
{
	(void)state;
	lg_plan_init(&plan);
	lg_phase_init(&phase);
	phase.name = "p";
	phase.topic = "t";
	phase.engine = LG_WIRE;
	phase.shape.key_mode = LG_KEY_SEQUENCE;
	phase.shape.size_max = 300;
	plan.phases = &phase;
	plan.nphases = 1;
	kw_buf_init(&parcel.batch, 0);
	return lg_load_init(&load, &plan, 0, 9, 2, NULL) || lg_packer_init(&packer, &load, NULL);
}

static int teardown(void **state)
{
	(void)state;
	kw_buf_fini(&parcel.batch);
	lg_packer_fini(&packer);
	lg_load_fini(&load);
	lg_plan_fini(&plan);
	return 0;
}

static void pack(int32_t n, const char *illegal)
{
	kw_buf_clear(&parcel.batch);
	assert_int_equal(lg_pack(&packer, 1, n, illegal ? lg_illegal_find(illegal) : NULL, 1000, &parcel, NULL), 0);
	parcel.sent = 2000;
}

/* ---- encoding ---- */

struct expected {
	int next;
	int32_t nulls[ERROR_MAX];
	int nnulls;
};

static int check_record(void *arg, int32_t index, const struct kw_record *record)
{
	struct expected *expected = arg;
	struct lg_stamp stamp;
	size_t wrong;

	assert_int_equal(record->offsetDelta, index);
	assert_int_equal(lg_payload_read(record->value.p, (size_t)record->value.n, &stamp, &wrong), LG_PAYLOAD_INTACT);
	assert_int_equal(stamp.sequence, parcel.first + index);
	assert_int_equal(stamp.partition, 1);
	assert_int_equal(stamp.topic, lg_topic_id("t"));
	assert_true(stamp.run == 9);
	if (record->key.n < 0)
		expected->nulls[expected->nnulls++] = index;
	expected->next++;
	return 0;
}

static struct expected walk(void)
{
	struct expected expected = {0};
	struct kw_batch batch;
	enum kw_walk why;

	assert_int_equal(kw_batch_parse(parcel.batch.p, parcel.batch.n, &batch, NULL), 0);
	assert_int_equal(batch.crc, kw_batch_crc(parcel.batch.p, parcel.batch.n));
	assert_int_equal(batch.count, parcel.n);
	assert_int_equal(kw_batch_walk(&batch, NULL, check_record, &expected, &why, NULL), 0);
	assert_int_equal(why, KW_WALK_END);
	return expected;
}

static void test_a_legal_batch(void **state)
{
	(void)state;
	pack(10, NULL);
	assert_int_equal(walk().next, 10);
	assert_int_equal(parcel.first, 0);
	assert_int_equal(parcel.nbad, 0);
	assert_in_range(parcel.value_bytes, 2560, 3000);
	pack(10, NULL);
	assert_int_equal(parcel.first, 10);
}

static void test_compressed_batches(void **state)
{
	(void)state;
	for (phase.codec = KW_GZIP; phase.codec <= KW_ZSTD; phase.codec++) {
		pack(10, NULL);
		assert_int_equal(parcel.batch.p[KW_B_ATTRIBUTES + 1], phase.codec);
		assert_int_equal(walk().next, 10);
	}
}

static void test_illegal_records_are_where_the_parcel_says(void **state)
{
	int sizes[LG_BAD_MAX + 1] = {0};

	(void)state;
	for (int i = 0; i < 200; i++) {
		struct expected expected;

		pack(10, "null-key");
		expected = walk();
		assert_in_range(parcel.nbad, 1, LG_BAD_MAX);
		assert_int_equal(expected.nnulls, parcel.nbad);
		assert_memory_equal(expected.nulls, parcel.bad, (size_t)parcel.nbad * sizeof parcel.bad[0]);
		sizes[parcel.nbad]++;
	}
	for (int i = 1; i <= LG_BAD_MAX; i++)
		assert_true(sizes[i] > 20);
}

static void test_a_batch_of_one_illegal_record(void **state)
{
	(void)state;
	pack(1, "null-key");
	assert_int_equal(parcel.nbad, 1);
	assert_int_equal(parcel.bad[0], 0);
}

static void test_a_spoilt_batch_has_no_bad_records(void **state)
{
	(void)state;
	pack(3, "crc");
	assert_int_equal(parcel.nbad, 0);
	assert_true(kw_rd32(parcel.batch.p + KW_B_CRC) != kw_batch_crc(parcel.batch.p, parcel.batch.n));
}

/* ---- judging ---- */

static struct lg_answer judge(int16_t code, const char *message, const int32_t *indices, int n)
{
	struct kw_ProduceResponse_BatchIndexAndErrorMessage errors[ERROR_MAX] = {0};
	struct kw_ProduceResponse_PartitionProduceResponse partition = {
		.index = 1, .errorCode = code, .errorMessage = kw_str(message), .recordErrors = {errors, n},
	};
	struct lg_answer answer;

	for (int i = 0; i < n; i++) {
		errors[i].batchIndex = indices[i];
		errors[i].batchIndexErrorMessage = kw_str("key is null");
	}
	lg_parcel_judge(&parcel, &partition, &answer);
	return answer;
}

static void settle(const struct lg_answer *answer)
{
	lg_parcel_settle(&parcel, &load, answer, 5000);
}

static void bad_at(int32_t a, int32_t b)
{
	pack(10, "null-key");
	parcel.nbad = 2;
	parcel.bad[0] = a;
	parcel.bad[1] = b;
}

static void test_success_of_a_legal_batch(void **state)
{
	struct lg_answer answer;

	(void)state;
	pack(10, NULL);
	answer = judge(0, NULL, NULL, 0);
	assert_true(answer.expected);
	settle(&answer);
	assert_int_equal(load.counters.acked, 10);
	assert_int_equal(load.outcomes.n, 0);
	assert_int_equal(load.meter.total[LG_SERVICE].total, 1);
	assert_int_equal(kh_max(&load.meter.total[LG_SERVICE]), 3000);
	assert_int_equal(kh_max(&load.meter.total[LG_RESPONSE]), 4000);
}

static void test_the_due_refusal(void **state)
{
	struct lg_answer answer;
	struct lg_tally tally;

	(void)state;
	bad_at(2, 7);
	answer = judge(87, "two are bad", (int32_t[]){2, 7}, 2);
	assert_true(answer.expected);
	assert_string_equal(answer.text, "record_errors [2, 7] \"key is null\", message \"two are bad\"");
	settle(&answer);
	assert_int_equal(load.counters.refused, 2);
	assert_int_equal(load.counters.refused_with_batch, 8);
	assert_int_equal(load.outcomes.unexpected, 0);
	assert_int_equal(load.meter.total[LG_SERVICE].total, 0);
	lg_ledger_tally(load.ledger, 1, true, &tally);
	assert_int_equal(tally.fates[LG_REFUSED], 2);
	assert_int_equal(tally.fates[LG_REFUSED_WITH_BATCH], 8);
}

static void test_wrong_indices(void **state)
{
	static const struct { int32_t indices[3]; int n; } wrong[] = {
		{{2}, 1}, {{2, 8}, 2}, {{2, 7, 9}, 3}, {{7, 2}, 2}, {{0}, 0},
	};

	(void)state;
	bad_at(2, 7);
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		struct lg_answer answer = judge(87, NULL, wrong[i].indices, wrong[i].n);

		assert_false(answer.expected);
		assert_non_null(strstr(answer.text, "; expected INVALID_RECORD (87) and record_errors [2, 7]"));
	}
}

static void test_a_batch_rule_lists_no_records(void **state)
{
	(void)state;
	pack(3, "count");
	assert_true(judge(87, NULL, NULL, 0).expected);
	assert_false(judge(87, NULL, (int32_t[]){0}, 1).expected);
	assert_false(judge(2, NULL, NULL, 0).expected);
}

static void test_an_illegal_batch_that_is_accepted(void **state)
{
	struct lg_answer answer;

	(void)state;
	bad_at(2, 7);
	answer = judge(0, NULL, NULL, 0);
	assert_false(answer.expected);
	assert_string_equal(answer.text, "accepted; expected INVALID_RECORD (87) and record_errors [2, 7]");
	settle(&answer);
	assert_int_equal(load.counters.acked, 10);
	assert_int_equal(load.outcomes.unexpected, 1);
}

static void test_a_legal_batch_that_is_refused(void **state)
{
	struct lg_answer answer;

	(void)state;
	pack(4, NULL);
	answer = judge(6, NULL, NULL, 0);
	assert_false(answer.expected);
	assert_string_equal(answer.text, "record_errors [], no message; expected NONE (0)");
	settle(&answer);
	assert_int_equal(load.counters.failed, 4);
	pack(4, NULL);
	answer = judge(87, NULL, NULL, 0);
	assert_false(answer.expected);
	settle(&answer);
	assert_int_equal(load.counters.refused, 4);
	assert_int_equal(load.counters.failed, 4);
	pack(4, NULL);
	answer = judge(7, "took too long", NULL, 0);
	settle(&answer);
	assert_int_equal(load.counters.unknown, 4);
	assert_int_equal(load.outcomes.unexpected, 3);
}

static void test_text_of_a_broker_is_cut_and_cleaned(void **state)
{
	char message[2000];
	struct lg_answer answer;

	(void)state;
	memset(message, '\n', sizeof message - 1);
	message[sizeof message - 1] = '\0';
	bad_at(0, 1);
	answer = judge(87, message, (int32_t[]){0, 1}, 2);
	assert_true(answer.expected);
	assert_null(strchr(answer.text, '\n'));
	assert_non_null(strstr(answer.text, "record_errors [0, 1]"));
}

static void test_giving_up(void **state)
{
	(void)state;
	pack(2, NULL);
	lg_parcel_give_up(&parcel, &load, false, "connection closed");
	assert_int_equal(load.counters.unknown, 2);
	pack(2, NULL);
	parcel.sent = 0;
	lg_parcel_give_up(&parcel, &load, true, "stopped");
	assert_int_equal(load.counters.unknown, 2);
	assert_int_equal(load.outcomes.unexpected, 1);
	assert_int_equal(load.outcomes.n, 2);
	assert_string_equal(lg_code_name(load.outcomes.v[0].code), "_TRANSPORT");
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_a_legal_batch),
		CASE(test_compressed_batches),
		CASE(test_illegal_records_are_where_the_parcel_says),
		CASE(test_a_batch_of_one_illegal_record),
		CASE(test_a_spoilt_batch_has_no_bad_records),
		CASE(test_success_of_a_legal_batch),
		CASE(test_the_due_refusal),
		CASE(test_wrong_indices),
		CASE(test_a_batch_rule_lists_no_records),
		CASE(test_an_illegal_batch_that_is_accepted),
		CASE(test_a_legal_batch_that_is_refused),
		CASE(test_text_of_a_broker_is_cut_and_cleaned),
		CASE(test_giving_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
