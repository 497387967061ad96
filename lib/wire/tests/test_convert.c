/* Outcomes are held against Kafka's in test_golden_records.c; here is what those rows cannot show. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/wire/convert.h"

static struct kw_buf in, out;
static struct kt_err err;

static int free_bufs(void **state)
{
	(void)state;
	kw_buf_fini(&in);
	kw_buf_fini(&out);
	return 0;
}

/* Appends a batch or a message set of one or two records. */
static void put(int magic, int codec, int n)
{
	static const struct kw_record records[] = {
		{.key = {NULL, -1}, .value = {(const uint8_t *)"v", 1}},
		{.offsetDelta = 1, .key = {NULL, -1}, .value = {(const uint8_t *)"v", 1}},
	};
	struct kw_legacy messages[] = {{.value = {(const uint8_t *)"v", 1}}, {.offset = 1, .key = {NULL, -1}}};
	struct kw_legacy_spec legacy = {.magic = (int8_t)magic, .codec = (int8_t)codec};
	struct kw_batch_spec batch = kw_batch_spec_default;

	batch.attributes = (int16_t)codec;
	if (magic == 2)
		assert_int_equal(kw_batch_build(&batch, records, n, &in, NULL), 0);
	else
		assert_int_equal(kw_legacy_build(&legacy, messages, n, &in, NULL), 0);
}

static int down(int magic)
{
	err = (struct kt_err){0};
	kw_buf_clear(&out);
	kw_put(&out, "head", 4);
	return kw_convert_down(in.p, in.n, magic, 0, NULL, &out, &err);
}

static int up(const struct kw_convert_up *to)
{
	err = (struct kt_err){0};
	kw_buf_clear(&out);
	kw_put(&out, "head", 4);
	return kw_convert_up(in.p, in.n, to, NULL, &out, &err);
}

/* Old consumers count the checksum of lz4 frames in magic 0 over the magic, too. */
static void lz4_has_the_checksum_of_its_magic(void **state)
{
	(void)state;
	kw_buf_clear(&in);
	put(2, KW_LZ4, 2);
	assert_int_equal(down(0), 0);
	assert_memory_equal(out.p + 4 + 26, "\x04\x22\x4d\x18\x60\x40\x1a", 7);
	assert_int_equal(down(1), 0);
	assert_memory_equal(out.p + 4 + 34, "\x04\x22\x4d\x18\x60\x40\x82", 7);
}

static void failures_name_the_entry(void **state)
{
	size_t first;

	(void)state;
	kw_buf_clear(&in);
	put(2, KW_NONE, 2);
	first = in.n;
	put(2, KW_ZSTD, 1);
	assert_int_equal(down(1), KT_EUNKNOWN);
	assert_int_equal(err.offset, first);
	assert_int_equal(out.n, 4);
	in.p[first + KW_E_MAGIC] = 9;
	assert_int_equal(down(2), KT_ECORRUPT);
	assert_int_equal(err.offset, first + KW_E_MAGIC);
	assert_int_equal(out.n, 4);
	/* A batch that has no room for its header. */
	in.n = first;
	kw_put(&in, "\0\0\0\0\0\0\0\7\0\0\0\x0e" "aaaa\2aaaaaaaaa", 26);
	assert_int_equal(down(1), KT_ECORRUPT);
	assert_string_equal(err.text,
			    "Record batch is corrupt (the size 26 is smaller than the minimum allowed overhead 61)");
	assert_int_equal(err.offset, first);
	assert_int_equal(down(2), 0);
	assert_int_equal(out.n, 4 + in.n);
	assert_int_equal(down(3), KT_ERANGE);
	assert_int_equal(down(-1), KT_ERANGE);
}

static void output_maximum_is_an_error(void **state)
{
	struct kw_convert_up to = {.magic = 2, .codec = -1};

	(void)state;
	for (int magic = 0; magic <= 2; magic++) {
		kw_buf_clear(&in);
		kw_buf_fini(&out);
		out.max = 40;
		put(magic == 2 ? 2 : 1, KW_NONE, 2);
		assert_int_equal(magic == 0 ? up(&to) : down(magic), KT_ELIMIT);
		assert_int_equal(out.n, 4);
		kw_buf_fini(&out);
		out.max = 0;
	}
}

static void limits_hold(void **state)
{
	struct kw_walk_opts opts = {.inflate_max = 3};

	(void)state;
	kw_buf_clear(&in);
	put(2, KW_GZIP, 2);
	err = (struct kt_err){0};
	kw_buf_clear(&out);
	assert_int_equal(kw_convert_down(in.p, in.n, 1, 0, &opts, &out, &err), KT_ELIMIT);
	kw_buf_clear(&in);
	put(1, KW_GZIP, 2);
	assert_int_equal(kw_convert_up(in.p, in.n, &(struct kw_convert_up){.magic = 2}, &opts, &out, &err), KT_ELIMIT);
	assert_int_equal(out.n, 0);
}

static void codec_of_the_set_unless_given(void **state)
{
	struct kw_convert_up to = {.magic = 2, .codec = -1};
	struct kw_batch batch;

	(void)state;
	for (int codec = KW_NONE; codec <= KW_LZ4; codec++) {
		kw_buf_clear(&in);
		put(1, codec, 2);
		to.codec = -1;
		assert_int_equal(up(&to), 0);
		assert_int_equal(kw_batch_parse(out.p + 4, out.n - 4, &batch, NULL), 0);
		assert_int_equal(batch.attributes, codec);
		assert_int_equal(batch.count, 2);
		to.codec = KW_ZSTD;
		assert_int_equal(up(&to), 0);
		assert_int_equal(kw_batch_parse(out.p + 4, out.n - 4, &batch, NULL), 0);
		assert_int_equal(batch.attributes, KW_ZSTD);
	}
	to.magic = 1;
	kw_buf_clear(&in);
	put(0, KW_NONE, 2);
	assert_int_equal(up(&to), KT_EUNKNOWN);
	assert_string_equal(err.text, "ZStandard compression is not supported for magic 1");
	assert_int_equal(out.n, 4);
}

static void what_is_not_converted_up(void **state)
{
	struct kw_convert_up to = {.magic = 1, .codec = -1};

	(void)state;
	kw_buf_clear(&in);
	put(1, KW_NONE, 1);
	assert_int_equal(up(&to), KT_ERANGE);
	to.magic = 2;
	assert_int_equal(up(&to), 0);
	put(2, KW_NONE, 1);
	assert_int_equal(up(&to), KT_ERANGE);
	assert_int_equal(out.n, 4);
	to.magic = 3;
	assert_int_equal(up(&to), KT_ERANGE);
}

static void inner_messages_must_be_of_their_wrappers_magic(void **state)
{
	struct kw_convert_up to = {.magic = 2, .codec = -1};
	struct kw_legacy wrapper = {.magic = 1, .attributes = KW_GZIP, .key = {NULL, -1}}, inner = {.key = {NULL, -1}};
	struct kw_buf set = {0}, packed = {0};

	(void)state;
	kw_legacy_put(&set, &inner);
	assert_int_equal(kw_compress(KW_GZIP, set.p, set.n, &packed, NULL), 0);
	wrapper.value = (struct kw_bytes){packed.p, (int32_t)packed.n};
	kw_buf_clear(&in);
	kw_legacy_put(&in, &wrapper);
	assert_int_equal(up(&to), KT_ECORRUPT);
	assert_string_equal(err.text, "Compressed message magic 0 does not match wrapper magic 1");
	assert_int_equal(down(0), 0);
	kw_buf_fini(&set);
	kw_buf_fini(&packed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lz4_has_the_checksum_of_its_magic),
		cmocka_unit_test(failures_name_the_entry),
		cmocka_unit_test(output_maximum_is_an_error),
		cmocka_unit_test(limits_hold),
		cmocka_unit_test(codec_of_the_set_unless_given),
		cmocka_unit_test(what_is_not_converted_up),
		cmocka_unit_test(inner_messages_must_be_of_their_wrappers_magic),
	};

	return cmocka_run_group_tests(tests, NULL, free_bufs);
}
