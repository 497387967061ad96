/* The table of rules: what is asked, in which order, and the words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <sys/mman.h>

#include "lib/wire/index_file.h"
#include "lib/wire/rules.h"

/* A batch of one record, changed by the test; its CRC is redone. */
static struct kw_batch batch;
static uint8_t *bytes;

static void begin(void)
{
	struct kw_record record = {.key.n = -1, .value.n = -1};
	struct kw_buf buf = {0};

	assert_int_equal(kw_batch_build(&kw_batch_spec_default, &record, 1, &buf, NULL), 0);
	free(bytes);
	bytes = buf.p;
	assert_int_equal(kw_batch_parse(bytes, buf.n, &batch, NULL), 0);
}

static void seal(void)
{
	kw_wr32(bytes + KW_B_CRC, kw_batch_crc(bytes, batch.size));
	kw_batch_parse(bytes, batch.size, &batch, NULL);
}

/* The largest that there can be is above any limit that fits into the config. Without a config it is asked for the
 * rest. */
static void without_a_config_no_size_is_too_large(void **state)
{
	size_t size = (size_t)INT32_MAX + KW_B_LOG_OVERHEAD;
	uint8_t *zeros = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct kw_batch largest = {.p = zeros, .size = size, .crc = 1, .producerId = -1};

	(void)state;
	assert_ptr_not_equal(zeros, MAP_FAILED);
	assert_int_equal(kw_rule_broken(KW_PRODUCED, &largest, NULL, 0), KW_R_CRC);
	munmap(zeros, size);
}

static void the_first_broken_rule_wins(void **state)
{
	static const struct kw_topic_conf small = {.maxMessageBytes = 10};

	(void)state;
	begin();
	assert_int_equal(kw_rule_broken(KW_PRODUCED, &batch, NULL, 0), KW_RULES);
	assert_int_equal(kw_rule_broken(KW_STORED, &batch, NULL, 0), KW_RULES);
	assert_int_equal(kw_rule_broken(KW_PRODUCED, &batch, &small, 0), KW_R_TOO_LARGE);
	assert_int_equal(kw_rule_broken(KW_STORED, &batch, &small, 0), KW_RULES);
	/* All at once: base offset, CRC, codec, count, control bit. */
	bytes[KW_B_BASE_OFFSET + 7] = 3;
	kw_wr16(bytes + KW_B_ATTRIBUTES, KW_A_CONTROL | 7);
	kw_wr32(bytes + KW_B_COUNT, 2);
	kw_batch_parse(bytes, batch.size, &batch, NULL);
	assert_int_equal(kw_rule_broken(KW_PRODUCED, &batch, NULL, 0), KW_R_BASE_OFFSET);
	assert_int_equal(kw_rule_broken(KW_PRODUCED, &batch, NULL, KW_R_BASE_OFFSET + 1), KW_R_CRC);
	assert_int_equal(kw_rule_broken(KW_PRODUCED, &batch, NULL, KW_R_CRC + 1), KW_R_CODEC);
	assert_int_equal(kw_rule_broken(KW_PRODUCED, &batch, NULL, KW_R_CODEC + 1), KW_R_COUNT_OF_RANGE);
	assert_int_equal(kw_rule_broken(KW_PRODUCED, &batch, NULL, KW_R_COUNT_OF_RANGE + 1), KW_R_CONTROL);
	assert_int_equal(kw_rule_broken(KW_PRODUCED, &batch, NULL, KW_R_CONTROL + 1), KW_RULES);
	seal();
	assert_int_equal(kw_rule_broken(KW_STORED, &batch, NULL, 0), KW_R_CODEC);
	assert_int_equal(kw_rule_broken(KW_STORED, &batch, NULL, KW_R_CODEC + 1), KW_R_STORED_COUNT);
}

static void ranges_at_their_ends(void **state)
{
	static const struct {
		uint32_t last, count;
		enum kw_rule produced, stored;
	} rows[] = {
		{0x7fffffff, 0x7fffffff, KW_R_COUNT_OF_RANGE, KW_RULES},
		{0x80000000, 0, KW_R_OFFSET_RANGE, KW_R_STORED_RANGE},
		{0xffffffff, 0, KW_R_OFFSET_RANGE, KW_R_STORED_RANGE},
		{0, 0, KW_R_COUNT, KW_RULES},
		{0, 0x80000000, KW_R_COUNT, KW_RULES},
		{0, 1, KW_RULES, KW_RULES},
		{0x7ffffffe, 0x7fffffff, KW_RULES, KW_RULES},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		begin();
		kw_wr32(bytes + KW_B_LAST_OFFSET_DELTA, rows[i].last);
		kw_wr32(bytes + KW_B_COUNT, rows[i].count);
		seal();
		assert_int_equal(kw_rule_broken(KW_PRODUCED, &batch, NULL, 0), rows[i].produced);
		assert_int_equal(kw_rule_broken(KW_STORED, &batch, NULL, 0), rows[i].stored);
	}
}

static void words_have_numbers(void **state)
{
	const struct kw_topic_conf conf = {.maxMessageBytes = 1000};
	struct kw_rule_facts facts = {.batch = &batch, .conf = &conf, .topic = "orders", .partition = 3, .version = 9};
	char text[200], tiny[12];
	size_t at, size;

	(void)state;
	begin();
	assert_string_equal(
		kw_rule_words(KW_R_TOO_LARGE, false, &facts, text, sizeof text),
		"The record batch size in the append to orders-3 is 68 bytes which exceeds the maximum configured "
		"value of 1000).");
	assert_string_equal(kw_rule_words(KW_R_TOO_LARGE, true, &facts, text, sizeof text),
			    "the batch has 68 bytes, max.message.bytes is 1000");
	assert_string_equal(
		kw_rule_words(KW_R_OLD_MAGIC, false, &facts, text, sizeof text),
		"Produce requests with version 9 are only allowed to contain record batches with magic version 2");
	assert_string_equal(kw_rule_words(KW_R_OLD_MAGIC, true, &facts, text, sizeof text),
			    "magic is 2, Produce 3 and later take 2 only");
	assert_string_equal(kw_rule_words(KW_R_RECORDS, true, &facts, text, sizeof text), "");
	assert_string_equal(kw_rule_words(KW_R_TOO_LARGE, true, &facts, tiny, sizeof tiny), "the batch h");
	assert_true(kw_rule_place(KW_R_NO_SEQUENCE, &at, &size) && at == KW_B_BASE_SEQUENCE && size == 4);
	assert_false(kw_rule_place(KW_R_SECOND, &at, &size));
	assert_string_equal(kw_meter_name(kw_rule_meter(KW_R_CRC)), "InvalidMessageCrcRecordsPerSec");
	assert_null(kw_meter_name(kw_rule_meter(KW_R_CODEC)));
}

static void an_index_ends_in_front_of_its_zeros(void **state)
{
	static const uint8_t zeros[48], one[24] = {[7] = 9}, odd[10] = {[9] = 1};
	struct kw_index_entry entry;

	(void)state;
	assert_int_equal(kw_index_count(KW_INDEX_OFFSET, zeros, sizeof zeros), 0);
	assert_int_equal(kw_index_count(KW_INDEX_OFFSET, one, sizeof one), 1);
	assert_int_equal(kw_index_count(KW_INDEX_TIME, one, sizeof one), 1);
	assert_int_equal(kw_index_count(KW_INDEX_OFFSET, odd, sizeof odd), 0);
	assert_int_equal(kw_index_count(KW_INDEX_TXN, zeros, 34), 1);
	kw_index_read(KW_INDEX_OFFSET, 100, (const uint8_t[]){0, 0, 0, 5, 0, 0, 1, 0}, &entry);
	assert_int_equal(entry.offset, 105);
	assert_int_equal(entry.position, 256);
	kw_index_read(KW_INDEX_OFFSET, 100, (const uint8_t[]){255, 255, 255, 255, 128, 0, 0, 0}, &entry);
	assert_int_equal(entry.offset, 99);
	assert_int_equal(entry.position, INT32_MIN);
}

static int tear_down(void **state)
{
	(void)state;
	free(bytes);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_broken_rule_wins),
		cmocka_unit_test(without_a_config_no_size_is_too_large),
		cmocka_unit_test(ranges_at_their_ends),
		cmocka_unit_test(words_have_numbers),
		cmocka_unit_test(an_index_ends_in_front_of_its_zeros),
	};

	return cmocka_run_group_tests(tests, NULL, tear_down);
}
