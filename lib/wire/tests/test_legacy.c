/* Messages of magic 0 and 1. What Kafka makes of them is in golden_records.def; here are the places of faults, and what
 * Kafka has no words for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "lib/text/base64.h"
#include "lib/wire/batch.h"
#include "lib/wire/legacy.h"

static uint8_t bytes[512];
static struct kt_err err;
static enum kw_walk why;

static size_t unhex(const char *hex)
{
	long n = kt_hex_decode(hex, strlen(hex), bytes);

	assert_true(n > 0);
	return (size_t)n;
}

/* ---- parse ---- */

static void parses_every_field(void **state)
{
	struct kw_legacy message;
	size_t n = unhex("0000000000000008 0000001c 42610ad5 01 08 0000018bcfe56be8 ffffffff 00000006 7365636f6e64");

	(void)state;
	assert_int_equal(kw_legacy_parse(bytes, n, &message, NULL), 0);
	assert_ptr_equal(message.p, bytes);
	assert_int_equal(message.size, 40);
	assert_int_equal(message.offset, 8);
	assert_int_equal(message.length, 28);
	assert_int_equal(message.crc, 0x42610ad5);
	assert_int_equal(message.crc, kw_legacy_crc(bytes, n));
	assert_int_equal(message.magic, 1);
	assert_int_equal(message.attributes, 8);
	assert_int_equal(message.timestampType, KW_LOG_APPEND_TIME);
	assert_int_equal(message.timestamp, 0x18bcfe56be8);
	assert_int_equal(message.key.n, -1);
	assert_null(message.key.p);
	assert_int_equal(message.value.n, 6);
	assert_ptr_equal(message.value.p, bytes + 34);

	n = unhex("0000000000000007 00000014 00ace3eb 00 00 00000001 6b 00000005 6669727374");
	assert_int_equal(kw_legacy_parse(bytes, n, &message, NULL), 0);
	assert_int_equal(message.magic, 0);
	assert_int_equal(message.timestampType, KW_NO_TIMESTAMP_TYPE);
	assert_int_equal(message.timestamp, KW_NO_TIMESTAMP);
	assert_int_equal(message.key.n, 1);
	assert_memory_equal(message.value.p, "first", 5);
}

/* Every cut of the input is exactly allocated, so that AddressSanitizer sees a read beyond it. */
static void cut_input_is_told_apart(void **state)
{
	size_t n = unhex("0000000000000008 0000001c 42610ad5 01 08 0000018bcfe56be8 ffffffff 00000006 7365636f6e64");
	struct kw_legacy message;

	(void)state;
	for (size_t cut = 0; cut < n; cut++) {
		uint8_t *copy = malloc(cut ? cut : 1);

		assert_non_null(copy);
		memcpy(copy, bytes, cut);
		assert_int_equal(kw_legacy_parse(copy, cut, &message, NULL), KT_ETRUNC);
		assert_int_equal(message.size, cut < 12 ? 0 : n);
		assert_int_equal(message.key.n, -1);
		free(copy);
	}
}

static void places_of_faults(void **state)
{
	static const struct {
		const char *hex;
		size_t at;
		const char *text;
	} rows[] = {
		{"0000000000000001 0000000d 00000000 00 00 ffffffff ffffffff", 8,
		 "Record size 13 is less than the minimum record overhead (14)"},
		{"0000000000000001 0000000e 00000000 00 00 00000001 ffffffff", 23,
		 "3 bytes do not hold the length of the value"},
		{"0000000000000001 0000000e 00000000 00 00 00000005 ffffffff", 18,
		 "key of 5 bytes in a message that has 4 bytes left"},
		{"0000000000000001 0000000f 00000000 00 00 ffffffff 00000002 61", 22,
		 "value of 2 bytes in a message that has 1 bytes left"},
		{"0000000000000001 0000000e 00000000 01 00 0000000000000000", 26,
		 "0 bytes do not hold the length of the key"},
		{"0000000000000001 00000016 00000000 01 00 0000000000000000 ffffffff 7fffffff", 30,
		 "value of 2147483647 bytes in a message that has 0 bytes left"},
	};
	struct kw_legacy message;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		err = (struct kt_err){0};
		assert_int_equal(kw_legacy_parse(bytes, unhex(rows[i].hex), &message, &err), KT_ECORRUPT);
		assert_string_equal(err.text, rows[i].text);
		assert_true(err.has_offset);
		assert_int_equal(err.offset, rows[i].at);
	}
}

/* ---- wrappers ---- */

static const struct kw_legacy three[] = {
	{.offset = 100, .timestamp = 5, .key = {(const uint8_t *)"k", 1}, .value = {(const uint8_t *)"v", 1}},
	{.offset = 101, .timestamp = 9, .key = {NULL, -1}, .value = {(const uint8_t *)"w", 1}},
	{.offset = 104, .timestamp = 7, .key = {NULL, -1}, .value = {NULL, -1}},
};

/* A wrapper whose inflated set is the bytes of hex. */
static struct kw_legacy wrap(int8_t magic, int codec, int64_t offset, const char *hex, struct kw_buf *out)
{
	struct kw_legacy wrapper = {.magic = magic, .attributes = (int8_t)codec, .offset = offset, .timestamp = 50,
				    .key = {NULL, -1}};
	struct kw_deflate_opts opts = {.lz4_historic = magic == 0};
	struct kw_buf packed;
	size_t n = unhex(hex);

	kw_buf_init(&packed, 0);
	kw_buf_init(out, 0);
	assert_int_equal(kw_compress_as(codec, &opts, bytes, n, &packed, NULL), 0);
	wrapper.value = (struct kw_bytes){packed.p, (int32_t)packed.n};
	kw_legacy_put(out, &wrapper);
	kw_buf_fini(&packed);
	assert_int_equal(kw_legacy_parse(out->p, out->n, &wrapper, NULL), 0);
	return wrapper;
}

#define GOOD "0000000000000000 0000000f 51df3a32 00 00 ffffffff 00000001 61"
#define GOOD_V1 "0000000000000000 00000017 d56ed990 01 00 0000000000000007 ffffffff 00000001 61"
#define WITH(length, crc, magic, attributes, rest) \
	"0000000000000001" #length #crc #magic #attributes rest

static int count(void *arg, int32_t index, const struct kw_legacy *message)
{
	int *seen = arg;

	(void)message;
	assert_int_equal(index, *seen);
	(*seen)++;
	return 0;
}

static void places_of_inner_faults(void **state)
{
	static const struct {
		int8_t magic;
		const char *hex;
		enum kw_walk why;
		size_t at;
		int seen;
	} rows[] = {
		{0, GOOD GOOD, KW_WALK_END, 0, 2},
		{0, GOOD WITH(0000000d, 00000000, 00, 00, "ffffffff ffffffff"), KW_WALK_INNER_SIZE, 27 + 8, 0},
		{0, GOOD WITH(7ffffff8, 00000000, 00, 00, "ffffffff ffffffff"), KW_WALK_BAD_RECORD, 27 + 8, 0},
		{0, GOOD WITH(7ffffff7, 00000000, 00, 00, "ffffffff ffffffff"), KW_WALK_END, 0, 1},
		{0, GOOD WITH(0000000e, 00000000, 00, 00, "ffffffff ffffffff"), KW_WALK_INNER_CRC, 27 + 12, 1},
		{0, GOOD WITH(0000000e, a7ec6803, 00, 00, "ffffffff ffffffff"), KW_WALK_END, 0, 2},
		{0, GOOD WITH(0000000e, 00000000, 00, 01, "ffffffff ffffffff"), KW_WALK_INNER_CODEC, 27 + 17, 1},
		{0, GOOD WITH(0000000e, 00000000, 00, 05, "ffffffff ffffffff"), KW_WALK_BAD_CODEC, 27 + 17, 1},
		{0, GOOD WITH(0000000e, 00000000, 01, 00, "ffffffff ffffffff"), KW_WALK_INNER_MAGIC, 27 + 16, 0},
		{0, GOOD WITH(0000000e, 30212ae4, 00, 00, "00000009 ffffffff"), KW_WALK_BEYOND, 27 + 18, 1},
		{0, "00", KW_WALK_WRAPPER_EMPTY, 22, 0},
		{1, "00", KW_WALK_WRAPPER_EMPTY, 30, 0},
		{1, GOOD_V1 GOOD_V1, KW_WALK_END, 0, 2},
		{1, GOOD_V1 WITH(0000000e, 00000000, 01, 00, "ffffffff ffffffff"), KW_WALK_WRAPPER_OFFSET, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		for (int codec = KW_GZIP; codec <= KW_LZ4; codec++) {
			struct kw_walk_opts opts = {.inner_magic = true, .inner_crc = true};
			struct kw_buf out;
			int64_t offset = rows[i].why == KW_WALK_WRAPPER_OFFSET ? -1 : 9;
			struct kw_legacy wrapper = wrap(rows[i].magic, codec, offset, rows[i].hex, &out);
			int seen = 0, code;

			err = (struct kt_err){0};
			code = kw_legacy_walk(&wrapper, &opts, count, &seen, &why, &err);
			if (why != rows[i].why)
				fail_msg("row %zu: %s: %s", i, kw_walk_name(why), err.text);
			assert_int_equal(code, why == KW_WALK_END ? 0 : KT_ECORRUPT);
			assert_int_equal(err.offset, rows[i].at);
			assert_int_equal(err.has_offset, why != KW_WALK_END);
			assert_int_equal(seen, rows[i].seen);
			kw_buf_fini(&out);
		}
}

static void what_is_judged_only_on_request(void **state)
{
	struct kw_buf out;
	struct kw_legacy wrapper = wrap(0, KW_GZIP, 1, GOOD WITH(00000017, 00000000, 01, 00,
					"0000000000000007 ffffffff 00000001 61"), &out);
	int seen = 0;

	(void)state;
	assert_int_equal(kw_legacy_walk(&wrapper, NULL, count, &seen, &why, NULL), 0);
	assert_int_equal(seen, 2);
	/* Of another magic than the wrapper's, its CRC is not looked at. */
	assert_int_equal(kw_legacy_walk(&wrapper, &(struct kw_walk_opts){.inner_crc = true}, NULL, NULL, &why, NULL),
			 0);
	assert_int_equal(kw_legacy_walk(&wrapper, &(struct kw_walk_opts){.inner_magic = true}, NULL, NULL, &why, NULL),
			 KT_ECORRUPT);
	assert_int_equal(why, KW_WALK_INNER_MAGIC);
	assert_int_equal(kw_legacy_walk(&wrapper, &(struct kw_walk_opts){.record_max = 22}, NULL, NULL, &why, NULL),
			 KT_ECORRUPT);
	assert_int_equal(why, KW_WALK_BAD_RECORD);
	assert_int_equal(kw_legacy_walk(&wrapper, &(struct kw_walk_opts){.record_max = 23}, NULL, NULL, &why, NULL), 0);
	assert_int_equal(kw_legacy_walk(&wrapper, &(struct kw_walk_opts){.record_max = -1, .inflate_max = 80}, NULL,
					NULL, &why, NULL), 0);
	kw_buf_fini(&out);
}

/* Before Kafka 4.4 the memory for a message was taken before it was read. */
static void what_a_cut_off_message_states(void **state)
{
	struct kw_walk_opts before_44 = {.record_max = -1};
	struct kw_buf out;
	struct kw_legacy wrapper = wrap(0, KW_GZIP, 1, GOOD "0000000000000001 7fffffff 00", &out);
	int seen = 0;

	(void)state;
	err = (struct kt_err){0};
	assert_int_equal(kw_legacy_walk(&wrapper, &before_44, count, &seen, &why, &err), KT_ELIMIT);
	assert_int_equal(why, KW_WALK_LIMIT);
	assert_string_equal(err.text, "no memory for a message of 2147483647 bytes");
	before_44.inflate_max = INT32_MAX;
	assert_int_equal(kw_legacy_walk(&wrapper, &before_44, count, &seen, &why, NULL), 0);
	assert_int_equal(kw_legacy_walk(&wrapper, NULL, count, &seen, &why, NULL), KT_ECORRUPT);
	assert_int_equal(why, KW_WALK_BAD_RECORD);
	kw_buf_fini(&out);
}

static int keep(void *arg, int32_t index, const struct kw_legacy *message)
{
	struct kw_legacy *kept = arg;

	kept[index] = *message;
	return 0;
}

/* A value, a key, and the length of a key that go beyond their messages. */
static void fields_that_may_be_cut(void **state)
{
	static const struct {
		const char *rest;
		enum kw_fields least;    /* with which it is read */
		int32_t key;
	} rows[] = {
		{"ffffffff ffffffff", KW_FIELDS_ALL, -1},
		{"ffffffff 00000009", KW_FIELDS_KEY_LENGTH, -1},
		{"00000000 00000009", KW_FIELDS_KEY_LENGTH, 0},
		{"00000009 ffffffff", KW_FIELDS_KEY_LENGTH, 9},
	};
	struct kw_legacy message, kept[2];
	struct kw_buf out;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (int fields = KW_FIELDS_ALL; fields <= KW_FIELDS_TIMESTAMP; fields++) {
			struct kw_walk_opts opts = {.fields = (enum kw_fields)fields};
			char hex[100];

			snprintf(hex, sizeof hex, "0000000000000001 0000000e 00000000 00 00 %s", rows[i].rest);
			message = wrap(0, KW_GZIP, 1, hex, &out);
			if (fields < (int)rows[i].least) {
				assert_int_equal(kw_legacy_walk(&message, &opts, keep, kept, &why, NULL), KT_ECORRUPT);
				assert_int_equal(why, KW_WALK_BEYOND);
			} else {
				assert_int_equal(kw_legacy_walk(&message, &opts, keep, kept, &why, NULL), 0);
				assert_int_equal(kept[0].key.n, rows[i].key);
				assert_int_equal(kept[0].cut, rows[i].least != KW_FIELDS_ALL);
				if (kept[0].cut)
					assert_int_equal(kept[0].value.n, -1);
			}
			kw_buf_fini(&out);
		}
	/* The smallest message has no room for a key's length in magic 1. */
	message = wrap(1, KW_GZIP, 1, "0000000000000000 0000000e 00000000 01 00 0000000000000007", &out);
	assert_int_equal(kw_legacy_walk(&message, &(struct kw_walk_opts){.fields = KW_FIELDS_KEY_LENGTH}, keep, kept,
					&why, NULL),
			 KT_ECORRUPT);
	assert_int_equal(kw_legacy_walk(&message, &(struct kw_walk_opts){.fields = KW_FIELDS_TIMESTAMP}, keep, kept,
					&why, NULL),
			 0);
	assert_int_equal(kept[0].timestamp, 7);
	assert_int_equal(kept[0].key.n, -1);
	assert_true(kept[0].cut);
	kw_buf_fini(&out);
}

static void wrapper_of_another_magic(void **state)
{
	struct kw_legacy message = {.magic = 3, .attributes = KW_GZIP, .value = {NULL, -1}};

	(void)state;
	err = (struct kt_err){0};
	assert_int_equal(kw_legacy_walk(&message, NULL, NULL, NULL, &why, &err), KT_ECORRUPT);
	assert_int_equal(why, KW_WALK_WRAPPER_MAGIC);
	assert_string_equal(err.text, "Invalid wrapper magic found in legacy deep record iterator 3");
}

static int stop_at_second(void *arg, int32_t index, const struct kw_legacy *message)
{
	(void)arg;
	(void)message;
	return index == 1 ? 42 : 0;
}

static void callback_stops_the_walk(void **state)
{
	struct kw_buf out;
	struct kw_legacy wrapper = wrap(0, KW_SNAPPY, 1, GOOD GOOD GOOD, &out);

	(void)state;
	assert_int_equal(kw_legacy_walk(&wrapper, NULL, stop_at_second, NULL, &why, NULL), 42);
	assert_int_equal(why, KW_WALK_STOPPED);
	kw_buf_fini(&out);
}

static void inflation_is_bounded(void **state)
{
	static const size_t limits[][3] = {{26, 0, 0}, {0, 1, 26}};   /* inflate_max, _ratio, _ratio_from */
	char hex[20 * sizeof GOOD] = "";
	struct kw_legacy wrapper;
	struct kw_buf out;

	(void)state;
	for (int i = 0; i < 15; i++)
		memcpy(hex + (size_t)i * (sizeof GOOD - 1), GOOD, sizeof GOOD);
	wrapper = wrap(0, KW_GZIP, 1, hex, &out);
	for (int i = 0; i < 2; i++) {
		struct kw_walk_opts opts = {.inflate_max = limits[i][0], .inflate_ratio = limits[i][1],
					    .inflate_ratio_from = limits[i][2]};

		assert_int_equal(kw_legacy_walk(&wrapper, &opts, NULL, NULL, &why, NULL), KT_ELIMIT);
		assert_int_equal(why, KW_WALK_LIMIT);
		assert_int_equal(kw_walk_code(why), -1);
	}
	kw_buf_fini(&out);
}

/* ---- building ---- */

/* Rows of golden_records.def: Kafka's own bytes. */
static void builds_what_kafka_builds(void **state)
{
	static const struct kw_legacy messages[] = {
		{.offset = 7, .timestamp = 1700000000005, .key = {(const uint8_t *)"k", 1},
		 .value = {(const uint8_t *)"first", 5}},
		{.offset = 8, .timestamp = 1700000000009, .key = {NULL, -1}, .value = {(const uint8_t *)"second", 6}},
	};
	static const struct {
		struct kw_legacy_spec spec;
		const char *hex;
	} rows[] = {
		{{.magic = 0},
		 "0000000000000007 00000014 00ace3eb 00 00 00000001 6b 00000005 6669727374"
		 "0000000000000008 00000014 a6f2489d 00 00 ffffffff 00000006 7365636f6e64"},
		{{.magic = 1},
		 "0000000000000007 0000001c 3df99123 01 00 0000018bcfe56805 00000001 6b 00000005 6669727374"
		 "0000000000000008 0000001c de5293b1 01 00 0000018bcfe56809 ffffffff 00000006 7365636f6e64"},
		{{.magic = 1, .timestampType = KW_LOG_APPEND_TIME, .logAppendTime = 1700000001000},
		 "0000000000000007 0000001c e43fa1a3 01 08 0000018bcfe56be8 00000001 6b 00000005 6669727374"
		 "0000000000000008 0000001c 42610ad5 01 08 0000018bcfe56be8 ffffffff 00000006 7365636f6e64"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		size_t n = unhex(rows[i].hex);
		struct kw_buf out;

		kw_buf_init(&out, 0);
		assert_int_equal(kw_legacy_build(&rows[i].spec, messages, 2, &out, NULL), 0);
		assert_int_equal(out.n, n);
		assert_memory_equal(out.p, bytes, n);
		kw_buf_fini(&out);
	}
}

static int compare(void *arg, int32_t index, const struct kw_legacy *message)
{
	const struct kw_legacy_spec *spec = arg;
	int64_t timestamp = spec->magic == 0 ? -1 : spec->timestampType ? spec->logAppendTime : three[index].timestamp;

	assert_int_equal(message->offset, three[index].offset);
	assert_int_equal(message->timestamp, timestamp);
	assert_int_equal(message->key.n, three[index].key.n);
	assert_int_equal(message->value.n, three[index].value.n);
	assert_int_equal(message->attributes, spec->magic && spec->timestampType ? KW_A_LOG_APPEND_TIME : 0);
	return 0;
}

static void wrapped_sets_come_back(void **state)
{
	(void)state;
	for (int8_t magic = 0; magic <= 1; magic++)
		for (int8_t codec = KW_GZIP; codec <= KW_LZ4; codec++)
			for (int8_t type = KW_CREATE_TIME; type <= KW_LOG_APPEND_TIME; type++) {
				struct kw_legacy_spec spec = {
					magic, codec, type, 77,
					{.lz4_historic = codec == KW_LZ4 && magic == 0,
					 .snappy_raw = codec == KW_SNAPPY && magic == 0},
				};
				struct kw_legacy wrapper;
				struct kw_buf out;

				kw_buf_init(&out, 0);
				assert_int_equal(kw_legacy_build(&spec, three, 3, &out, NULL), 0);
				assert_int_equal(kw_legacy_parse(out.p, out.n, &wrapper, NULL), 0);
				assert_int_equal(wrapper.size, out.n);
				assert_int_equal(wrapper.crc, kw_legacy_crc(out.p, out.n));
				assert_int_equal(wrapper.offset, 104);
				assert_int_equal(wrapper.timestamp, magic == 0 ? -1 : type ? 77 : 9);
				assert_int_equal(wrapper.attributes,
						 codec | (magic && type ? KW_A_LOG_APPEND_TIME : 0));
				assert_int_equal(kw_legacy_walk(&wrapper, &(struct kw_walk_opts){.inner_crc = true},
								compare, &spec, &why, NULL), 0);
				kw_buf_fini(&out);
			}
}

static void what_kafka_does_not_build(void **state)
{
	static const struct {
		struct kw_legacy_spec spec;
		struct kw_legacy second;
		int code;
		const char *text;
	} rows[] = {
		{{.magic = 1}, {.offset = 100}, KT_ERANGE,
		 "Illegal offset 100 following previous offset 100 (Offsets must increase monotonically)."},
		{{.magic = 1}, {.offset = 101, .timestamp = -2}, KT_ERANGE, "Invalid negative timestamp -2"},
		{{.magic = 0}, {.offset = 100 + INT64_C(0x80000000)}, KT_ERANGE,
		 "Maximum offset delta exceeded, base offset: 100, last offset: 2147483748"},
		{{.magic = 0, .codec = KW_ZSTD}, {.offset = 101}, KT_EUNKNOWN,
		 "ZStandard compression is not supported for magic 0"},
		{{.magic = 0, .codec = 6}, {.offset = 101}, KT_EUNKNOWN, "Unknown compression type id: 6"},
	};
	struct kw_buf out;

	(void)state;
	kw_buf_init(&out, 0);
	kw_put(&out, "head", 4);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct kw_legacy messages[] = {three[0], rows[i].second};

		err = (struct kt_err){0};
		assert_int_equal(kw_legacy_build(&rows[i].spec, messages, 2, &out, &err), rows[i].code);
		assert_string_equal(err.text, rows[i].text);
		assert_int_equal(out.n, 4);
	}
	assert_int_equal(kw_legacy_build(&rows[0].spec, three, 0, &out, NULL), 0);
	assert_int_equal(out.n, 4);
	kw_buf_fini(&out);
	kw_buf_init(&out, 60);
	assert_int_equal(kw_legacy_build(&rows[0].spec, three, 3, &out, NULL), KT_ELIMIT);
	assert_int_equal(out.n, 0);
	kw_buf_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_every_field),
		cmocka_unit_test(cut_input_is_told_apart),
		cmocka_unit_test(places_of_faults),
		cmocka_unit_test(places_of_inner_faults),
		cmocka_unit_test(what_is_judged_only_on_request),
		cmocka_unit_test(fields_that_may_be_cut),
		cmocka_unit_test(what_a_cut_off_message_states),
		cmocka_unit_test(wrapper_of_another_magic),
		cmocka_unit_test(callback_stops_the_walk),
		cmocka_unit_test(inflation_is_bounded),
		cmocka_unit_test(builds_what_kafka_builds),
		cmocka_unit_test(wrapped_sets_come_back),
		cmocka_unit_test(what_kafka_does_not_build),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
