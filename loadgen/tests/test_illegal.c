#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/wire/message.h"
#include "loadgen/illegal.h"

static const struct lg_shape shape = {.size_min = 64, .size_max = 64, .key_mode = LG_KEY_SEQUENCE, .nheaders = 1,
				      .headers = {{"trace-id", "1"}}};
static const struct lg_stamp stamp = {.run = 1, .sequence = 5, .intended = INT64_C(1700000000000000000)};

/* ---- the table ---- */

static void test_every_kind_is_complete(void **state)
{
	(void)state;
	for (size_t i = 0; i < lg_illegal_count(); i++) {
		const struct lg_illegal *illegal = lg_illegal_at(i);

		assert_true(!illegal->spoil_record != !illegal->spoil_batch);
		assert_ptr_equal(lg_illegal_find(illegal->name), illegal);
		assert_string_not_equal(kw_error_name(illegal->code), "UNKNOWN_ERROR_CODE");
		assert_true(illegal->code != 0);
	}
}

static void test_unknown_kinds_have_a_nearest_name(void **state)
{
	(void)state;
	assert_null(lg_illegal_find("null_key"));
	assert_string_equal(lg_illegal_nearest("null_key"), "null-key");
	assert_string_equal(lg_illegal_nearest("empty-valu"), "empty-value");
	assert_null(lg_illegal_nearest("zzzzzzzz"));
}

/* ---- records ---- */

static struct lg_draft spoilt(const char *name)
{
	static uint8_t value[64];
	struct lg_draft draft;

	lg_draft_make(&draft, &shape, &stamp, 1, value);
	lg_illegal_find(name)->spoil_record(&draft);
	return draft;
}

static void test_spoilt_values_keep_their_stamp(void **state)
{
	static const struct { const char *name; int32_t n; } kinds[] = {{"empty-value", 0}, {"null-value", -1}};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct lg_draft draft = spoilt(kinds[i].name);
		struct lg_stamp got;
		size_t wrong;

		assert_int_equal(draft.value.n, kinds[i].n);
		assert_int_equal(!draft.value.p, kinds[i].n < 0);
		assert_int_equal(draft.nheaders, 2);
		assert_true(kw_str_is(draft.headers[1].key, LG_STAMP_HEADER));
		assert_int_equal(lg_payload_read(draft.stamp_bytes, LG_STAMP_SIZE, &got, &wrong), LG_PAYLOAD_INTACT);
		assert_int_equal(got.sequence, 5);
	}
}

static void test_other_spoilt_records(void **state)
{
	struct lg_draft draft = spoilt("missing-header");

	(void)state;
	assert_int_equal(draft.nheaders, 0);
	assert_int_equal(draft.value.n, 64);
	draft = spoilt("null-key");
	assert_int_equal(draft.key.n, -1);
	assert_int_equal(draft.nheaders, 1);
	draft = spoilt("bad-timestamp");
	assert_int_equal(draft.timestamp, INT64_C(1700000000000) + 25 * 3600 * 1000);
}

/* ---- batches ---- */

static void build(struct kw_buf *out)
{
	struct kw_record records[2] = {
		{.key = {NULL, -1}, .value = {(const uint8_t *)"a", 1}},
		{.key = {NULL, -1}, .value = {(const uint8_t *)"b", 1}, .offsetDelta = 1},
	};

	kw_buf_init(out, 0);
	assert_int_equal(kw_batch_build(&kw_batch_spec_default, records, 2, out, NULL), 0);
}

static bool crc_fits(const struct kw_buf *batch)
{
	return kw_rd32(batch->p + KW_B_CRC) == kw_batch_crc(batch->p, batch->n);
}

static void test_batches_are_spoilt_in_one_way_each(void **state)
{
	static const struct { const char *name; bool crc; int8_t magic; int64_t base; int32_t last, count; } kinds[] = {
		{"crc", false, 2, 0, 1, 2},
		{"magic", true, 3, 0, 1, 2},
		{"base-offset", true, 2, 1, 1, 2},
		{"last-offset-delta", true, 2, 0, 2, 2},
		{"count", true, 2, 0, 2, 3},
		{"control-flag", true, 2, 0, 1, 2},
		{"no-sequence", true, 2, 0, 1, 2},
		{"codec-id", true, 2, 0, 1, 2},
	};
	size_t batches = 0;

	(void)state;
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		struct kw_batch batch;
		struct kw_buf buf;

		build(&buf);
		lg_illegal_find(kinds[i].name)->spoil_batch(buf.p, buf.n);
		assert_int_equal(kw_batch_parse(buf.p, buf.n, &batch, NULL), 0);
		assert_int_equal(crc_fits(&buf), kinds[i].crc);
		assert_int_equal(batch.magic, kinds[i].magic);
		assert_int_equal(batch.baseOffset, kinds[i].base);
		assert_int_equal(batch.lastOffsetDelta, kinds[i].last);
		assert_int_equal(batch.count, kinds[i].count);
		kw_buf_fini(&buf);
	}
	for (size_t i = 0; i < lg_illegal_count(); i++)
		batches += lg_illegal_at(i)->spoil_batch != NULL;
	assert_int_equal(batches, sizeof kinds / sizeof kinds[0]);
}

static void test_flags_and_ids_of_spoilt_batches(void **state)
{
	struct kw_batch batch;
	struct kw_buf buf;

	(void)state;
	build(&buf);
	lg_illegal_find("control-flag")->spoil_batch(buf.p, buf.n);
	assert_int_equal(kw_batch_parse(buf.p, buf.n, &batch, NULL), 0);
	assert_int_equal(batch.attributes, KW_A_CONTROL);
	kw_buf_fini(&buf);
	build(&buf);
	lg_illegal_find("codec-id")->spoil_batch(buf.p, buf.n);
	assert_int_equal(kw_batch_parse(buf.p, buf.n, &batch, NULL), 0);
	assert_int_equal(batch.attributes, 7);
	kw_buf_fini(&buf);
	build(&buf);
	lg_illegal_find("no-sequence")->spoil_batch(buf.p, buf.n);
	assert_int_equal(kw_batch_parse(buf.p, buf.n, &batch, NULL), 0);
	assert_int_equal(batch.producerId, 1);
	assert_int_equal(batch.producerEpoch, 0);
	assert_int_equal(batch.baseSequence, -1);
	kw_buf_fini(&buf);
}

/* ---- mixes ---- */

static void test_a_mix_picks_by_share(void **state)
{
	struct lg_illegal_mix mix = {0};

	(void)state;
	assert_int_equal(lg_illegal_mix_add(&mix, "crc", 0.25, NULL), 0);
	assert_int_equal(lg_illegal_mix_add(&mix, "null-key", 0.5, NULL), 0);
	assert_string_equal(lg_illegal_pick(&mix, 0)->name, "crc");
	assert_string_equal(lg_illegal_pick(&mix, 0.2499)->name, "crc");
	assert_string_equal(lg_illegal_pick(&mix, 0.25)->name, "null-key");
	assert_string_equal(lg_illegal_pick(&mix, 0.7499)->name, "null-key");
	assert_null(lg_illegal_pick(&mix, 0.75));
	assert_true(lg_illegal_mix_has_code(&mix, 2));
	assert_true(lg_illegal_mix_has_code(&mix, 87));
	assert_false(lg_illegal_mix_has_code(&mix, 32));
}

static void test_bad_shares_are_refused(void **state)
{
	static const double bad[] = {0, -0.1, 1.1, 0.6};
	struct lg_illegal_mix mix = {0};
	struct kt_err err = {0};

	(void)state;
	assert_int_equal(lg_illegal_mix_add(&mix, "crc", 0.5, NULL), 0);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_int_equal(lg_illegal_mix_add(&mix, "magic", bad[i], NULL), KT_ERANGE);
	assert_int_equal(lg_illegal_mix_add(&mix, "magick", 0.1, &err), KT_EUNKNOWN);
	assert_string_equal(err.text, "no illegal record is called \"magick\"; did you mean \"magic\"?");
	assert_int_equal(mix.n, 1);
}

static void test_ten_tenths_are_one(void **state)
{
	struct lg_illegal_mix mix = {0};

	(void)state;
	for (int i = 0; i < 10; i++)
		assert_int_equal(lg_illegal_mix_add(&mix, "crc", 0.1, NULL), 0);
	assert_int_equal(lg_illegal_mix_add(&mix, "crc", 0.1, NULL), KT_ERANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_kind_is_complete),
		cmocka_unit_test(test_unknown_kinds_have_a_nearest_name),
		cmocka_unit_test(test_spoilt_values_keep_their_stamp),
		cmocka_unit_test(test_other_spoilt_records),
		cmocka_unit_test(test_batches_are_spoilt_in_one_way_each),
		cmocka_unit_test(test_flags_and_ids_of_spoilt_batches),
		cmocka_unit_test(test_a_mix_picks_by_share),
		cmocka_unit_test(test_bad_shares_are_refused),
		cmocka_unit_test(test_ten_tenths_are_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
