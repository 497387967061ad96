#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "lib/wire/set.h"

static struct kw_buf bytes;
static struct kt_err err;

/* A set of all magics: entries at 0, 26 (magic 0), 60 (magic 1) and, in a wrapper, more; the last is of magic 2. */
static int build_set(void **state)
{
	struct kw_legacy null = {.key = {NULL, -1}, .value = {NULL, -1}};
	struct kw_legacy_spec spec = {.magic = 1, .codec = KW_GZIP};
	struct kw_batch_spec batch = kw_batch_spec_default;
	struct kw_record record = {.timestampDelta = 4, .offsetDelta = 1, .key = {NULL, -1}, .value = {NULL, -1}};

	(void)state;
	kw_buf_init(&bytes, 0);
	null.offset = 5;
	kw_legacy_put(&bytes, &null);
	null.magic = 1;
	null.timestamp = 1000;
	kw_legacy_put(&bytes, &null);
	assert_int_equal(kw_legacy_build(&spec, &null, 1, &bytes, NULL), 0);
	batch.baseOffset = 50;
	batch.baseTimestamp = 2000;
	assert_int_equal(kw_batch_build(&batch, &record, 1, &bytes, NULL), 0);
	return 0;
}

static int free_set(void **state)
{
	(void)state;
	kw_buf_fini(&bytes);
	return 0;
}

static void entries_follow_each_other(void **state)
{
	static const int8_t magics[] = {0, 1, 1, 2};
	static const int codecs[] = {KW_NONE, KW_NONE, KW_GZIP, KW_NONE};
	struct kw_set set = {.p = bytes.p, .n = bytes.n};
	struct kw_entry entry;
	size_t at = 0;

	(void)state;
	for (int i = 0; i < 4; i++) {
		assert_int_equal(kw_set_next(&set, &entry, NULL), 1);
		assert_int_equal(entry.at, at);
		assert_ptr_equal(entry.p, bytes.p + at);
		assert_int_equal(entry.magic, magics[i]);
		assert_int_equal(entry.offset, i < 3 ? 5 : 50);
		assert_int_equal(entry.size, entry.length + 12);
		assert_int_equal(kw_entry_codec(&entry), codecs[i]);
		assert_int_equal(kw_entry_check(&entry, NULL), 0);
		at += entry.size;
		assert_int_equal(set.at, at);
	}
	assert_int_equal(at, bytes.n);
	for (int i = 0; i < 2; i++)
		assert_int_equal(kw_set_next(&set, &entry, NULL), 0);
	assert_int_equal(entry.at, bytes.n);
	assert_int_equal(entry.size, 0);
	set = (struct kw_set){0};
	assert_int_equal(kw_set_next(&set, &entry, NULL), 0);
}

/* Every cut, exactly allocated: whole entries, then KT_ETRUNC where the cut one begins. */
static void cut_sets_end_with_what_is_left(void **state)
{
	struct kw_entry entry;

	(void)state;
	for (size_t cut = 0; cut < bytes.n; cut++) {
		uint8_t *copy = malloc(cut ? cut : 1);
		struct kw_set set = {.p = copy, .n = cut};
		size_t at = 0;
		int code;

		assert_non_null(copy);
		memcpy(copy, bytes.p, cut);
		err = (struct kt_err){0};
		while ((code = kw_set_next(&set, &entry, &err)) > 0)
			at += entry.size;
		assert_int_equal(code, cut == at ? 0 : KT_ETRUNC);
		assert_int_equal(set.at, at);
		assert_int_equal(entry.at, at);
		assert_int_equal(err.offset, code ? at : 0);
		assert_int_equal(entry.magic, cut - at > 16 ? (int8_t)copy[at + 16] : -1);
		assert_true(cut - at < 12 ? entry.size == 0 : entry.size > cut - at);
		free(copy);
	}
}

static void what_is_no_entry(void **state)
{
	static const struct {
		size_t at;
		uint8_t byte;
		const char *text;
		size_t fault;
	} rows[] = {
		{26 + 11, 13, "Record size 13 is less than the minimum record overhead (14)", 26 + 8},
		{26 + 8, 0xff, "Record size -16777194 is less than the minimum record overhead (14)", 26 + 8},
		{26 + 16, 3, "Invalid magic found in record: 3", 26 + 16},
		{26 + 16, 0xff, "Invalid magic found in record: -1", 26 + 16},
	};
	struct kw_entry entry;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct kw_set set = {.p = bytes.p, .n = bytes.n};
		uint8_t was = bytes.p[rows[i].at];

		bytes.p[rows[i].at] = rows[i].byte;
		err = (struct kt_err){0};
		assert_int_equal(kw_set_next(&set, &entry, &err), 1);
		for (int again = 0; again < 2; again++)
			assert_int_equal(kw_set_next(&set, &entry, &err), KT_ECORRUPT);
		assert_string_equal(err.text, rows[i].text);
		assert_int_equal(err.offset, rows[i].fault);
		assert_int_equal(set.at, 26);
		/* A bad magic counts even where its entry is cut off. */
		if (rows[i].fault == 26 + 16) {
			set = (struct kw_set){.p = bytes.p, .n = 26 + 17, .at = 26};
			assert_int_equal(kw_set_next(&set, &entry, NULL), KT_ECORRUPT);
		}
		bytes.p[rows[i].at] = was;
	}
}

static void checks_name_the_place(void **state)
{
	struct kw_set set = {.p = bytes.p, .n = bytes.n};
	struct kw_entry entry;
	size_t place;

	(void)state;
	while (kw_set_next(&set, &entry, NULL) > 0) {
		place = entry.at + (entry.magic == 2 ? 17 : 12);
		for (size_t i = 0; i < entry.size; i++) {
			bool counts = i >= (entry.magic == 2 ? 17 : 12) && !(entry.magic == 2 && i < 17);

			bytes.p[entry.at + i] ^= 1;
			err = (struct kt_err){0};
			assert_int_equal(kw_entry_check(&entry, &err), counts ? KT_ECORRUPT : 0);
			if (counts)
				assert_int_equal(err.offset, place);
			bytes.p[entry.at + i] ^= 1;
		}
	}
	entry = (struct kw_entry){.p = bytes.p, .at = 7, .size = 60, .magic = 2};
	err = (struct kt_err){0};
	assert_int_equal(kw_entry_check(&entry, &err), KT_ECORRUPT);
	assert_string_equal(err.text,
			    "Record batch is corrupt (the size 60 is smaller than the minimum allowed overhead 61)");
	assert_int_equal(err.offset, 7 + 8);
}

static int sum(void *arg, int32_t index, const struct kw_item *item)
{
	int64_t *sums = arg;

	assert_int_equal(index, 0);
	assert_int_equal(item->key.n, -1);
	assert_int_equal(item->value.n, -1);
	assert_int_equal(item->nheaders, 0);
	sums[0] += item->offset;
	sums[1] += item->timestamp;
	sums[2] += (int64_t)item->size;
	return item->magic == 2 ? 17 : 0;
}

static void records_of_all_magics(void **state)
{
	struct kw_set set = {.p = bytes.p, .n = bytes.n};
	int64_t sums[3] = {0};
	struct kw_entry entry;
	enum kw_walk why;

	(void)state;
	while (kw_set_next(&set, &entry, NULL) > 0) {
		assert_int_equal(kw_entry_walk(&entry, NULL, sum, sums, &why, NULL), entry.magic == 2 ? 17 : 0);
		assert_int_equal(why, entry.magic == 2 ? KW_WALK_STOPPED : KW_WALK_END);
		assert_int_equal(kw_entry_walk(&entry, NULL, NULL, NULL, &why, NULL), 0);
	}
	assert_int_equal(sums[0], 5 + 5 + 5 + 51);
	assert_int_equal(sums[1], -1 + 1000 + 1000 + 2004);
	assert_int_equal(sums[2], 26 + 34 + 34 + 7);
}

static void too_small_for_its_fields(void **state)
{
	uint8_t small[60] = {[11] = 48, [16] = 2};
	struct kw_entry entry;
	enum kw_walk why;

	(void)state;
	for (int magic = 1; magic <= 2; magic++) {
		small[11] = magic == 2 ? 48 : 14;
		small[16] = (uint8_t)magic;
		assert_int_equal(kw_entry_parse(small, sizeof small, &entry, NULL), 0);
		assert_int_equal(kw_entry_walk(&entry, NULL, NULL, NULL, &why, NULL), KT_ECORRUPT);
		assert_int_equal(why, KW_WALK_BEYOND);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_follow_each_other),
		cmocka_unit_test(cut_sets_end_with_what_is_left),
		cmocka_unit_test(what_is_no_entry),
		cmocka_unit_test(checks_name_the_place),
		cmocka_unit_test(records_of_all_magics),
		cmocka_unit_test(too_small_for_its_fields),
	};

	return cmocka_run_group_tests(tests, build_set, free_set);
}
