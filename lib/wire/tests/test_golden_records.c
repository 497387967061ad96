/* Record sets and varints against what Kafka's own classes make of them: golden_records.def. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "lib/text/base64.h"
#include "lib/wire/control.h"
#include "lib/wire/convert.h"
#include "lib/wire/varint.h"

/* Java's words of a fault that are not Kafka's own are not compared. */
#define OTHER_CODE (-1)

static const struct set {
	const char *name, *hex, *found;
} sets[] = {
#define READ(name, hex, found) {name, hex, found},
#define LEAD(...)
#define DOWN(...)
#define UP(...)
#define CONTROL(...)
#define VARINT(...)
#include "lib/wire/tests/golden_records.def"
#undef READ
#undef LEAD
#undef DOWN
#undef UP
#undef CONTROL
#undef VARINT
};

static const struct lead {
	const char *name, *found;
} leads[] = {
#define READ(...)
#define LEAD(name, found) {name, found},
#define DOWN(...)
#define UP(...)
#define CONTROL(...)
#define VARINT(...)
#include "lib/wire/tests/golden_records.def"
#undef LEAD
#undef DOWN
#define LEAD(...)
};

static const struct down {
	const char *name;
	int magic;
	int64_t first;
	const char *outcome;
} downs[] = {
#define DOWN(name, magic, first, outcome) {name, magic, first, outcome},
#include "lib/wire/tests/golden_records.def"
#undef DOWN
#undef UP
#define DOWN(...)
};

static const struct up {
	const char *name;
	int magic, codec, type;
	const char *outcome;
} ups[] = {
#define UP(name, magic, codec, type, outcome) {name, magic, codec, type, outcome},
#include "lib/wire/tests/golden_records.def"
#undef UP
#undef CONTROL
#define UP(...)
};

static const struct control {
	int type;
	const char *name, *json, *hex;
} controls[] = {
#define CONTROL(type, json, hex) {KW_CONTROL_##type, #type, json, hex},
#include "lib/wire/tests/golden_records.def"
#undef CONTROL
#undef VARINT
#define CONTROL(...)
};

enum kind { VARINT, UVARINT, VARLONG };

static const struct varint {
	enum kind kind;
	const char *hex;
	bool written;
	int used;
	uint64_t v;
} varints[] = {
#define VARINT(kind, hex, written, used, v) {kind, hex, written, used, v},
#include "lib/wire/tests/golden_records.def"
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- a set in words ---- */

/* Bytes in memory of exactly their size, so that AddressSanitizer sees a read beyond them. */
static struct kw_slice unhex(const char *hex)
{
	uint8_t *p = malloc(strlen(hex) / 2 + 1), *exact;
	long n;

	assert_non_null(p);
	n = kt_hex_decode(hex, strlen(hex), p);
	assert_true(n >= 0);
	exact = malloc(n ? (size_t)n : 1);
	assert_non_null(exact);
	memcpy(exact, p, (size_t)n);
	free(p);
	return (struct kw_slice){exact, (size_t)n};
}

static void free_bytes(struct kw_slice bytes)
{
	free((void *)(uintptr_t)bytes.p);
}

static void say(struct kw_buf *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void say(struct kw_buf *out, const char *fmt, ...)
{
	char text[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	kw_put(out, text, strlen(text));
}

static void say_bytes(struct kw_buf *out, const void *bytes, int32_t n)
{
	const uint8_t *p = bytes;

	if (n < 0) {
		say(out, "null");
		return;
	}
	say(out, "'");
	for (int32_t i = 0; i < n; i++)
		say(out, p[i] > 0x20 && p[i] < 0x7f ? "%c" : "%%%02x", p[i]);
	say(out, "'");
}

static const char *type_name(int type)
{
	return type == KW_CREATE_TIME ? "create" : type == KW_LOG_APPEND_TIME ? "append" : "none";
}

static void say_fault(struct kw_buf *out, int code, const char *text)
{
	if (code == OTHER_CODE)
		say(out, "!%d", code);
	else
		say(out, "!%d %s", code, text);
}

static int say_item(void *arg, int32_t index, const struct kw_item *item)
{
	struct kw_buf *out = arg;

	(void)index;
	say(out, " {%lld %lld %s ", (long long)item->offset, (long long)item->timestamp,
	    type_name(item->timestampType));
	say_bytes(out, item->key.p, item->key.n);
	say(out, " ");
	say_bytes(out, item->value.p, item->value.n);
	for (int32_t i = 0; i < item->nheaders; i++) {
		say(out, " %.*s=", (int)item->headers[i].key.n, item->headers[i].key.s);
		say_bytes(out, item->headers[i].value.p, item->headers[i].value.n);
	}
	say(out, "}");
	return 0;
}

/* Codec, timestamp type and greatest timestamp. */
static void say_head(struct kw_buf *out, const struct kw_entry *entry)
{
	const char *codec = kw_codec_name(kw_entry_codec(entry));
	struct kw_legacy message;
	struct kw_batch batch;

	if (!codec || (entry->magic == 2 && kw_batch_parse(entry->p, entry->size, &batch, NULL)))
		return;
	if (entry->magic == 2) {
		say(out, "%s %s %lld", codec, type_name(batch.attributes & KW_A_LOG_APPEND_TIME ? 1 : 0),
		    (long long)batch.maxTimestamp);
	} else {
		kw_legacy_parse(entry->p, entry->size, &message, NULL);
		say(out, "%s %s %lld", codec, type_name(message.timestampType), (long long)message.timestamp);
	}
	say(out, kw_entry_check(entry, NULL) == 0 ? " ok" : " bad");
}

static void say_entry(struct kw_buf *out, const struct kw_entry *entry, const struct kw_walk_opts *opts)
{
	int64_t last = entry->offset;
	struct kt_err err = {0};
	enum kw_walk why;

	if (entry->magic == 2 && entry->size >= KW_B_RECORDS)
		last += (int32_t)kw_rd32(entry->p + KW_B_LAST_OFFSET_DELTA);
	say(out, "[m%d o%lld ", entry->magic, (long long)last);
	say_head(out, entry);
	if (kw_entry_walk(entry, opts, say_item, out, &why, &err)) {
		assert_true(err.has_offset);
		say(out, " ");
		say_fault(out, kw_walk_code(why), err.text);
	} else {
		assert_int_equal(why, KW_WALK_END);
	}
	say(out, "]");
}

/* A string that is to be freed. */
static char *describe(const uint8_t *p, size_t n, const struct kw_walk_opts *opts)
{
	struct kw_set set = {.p = p, .n = n};
	struct kt_err err = {0};
	struct kw_entry entry;
	struct kw_buf out;
	char *text;
	int code;

	kw_buf_init(&out, 0);
	while ((code = kw_set_next(&set, &entry, &err)) > 0) {
		say(&out, out.n ? " " : "%s", "");
		say_entry(&out, &entry, opts);
	}
	if (code == KT_ECORRUPT) {
		say(&out, out.n ? " " : "%s", "");
		say_fault(&out, 2, err.text);
	}
	assert_true(code == 0 || code == KT_ECORRUPT || code == KT_ETRUNC);
	kw_put_u8(&out, 0);
	text = strdup((const char *)out.p);
	kw_buf_fini(&out);
	return text;
}

static struct kw_slice find(const char *name)
{
	for (size_t i = 0; i < COUNT(sets); i++)
		if (strcmp(sets[i].name, name) == 0)
			return unhex(sets[i].hex);
	fail_msg("no set %s", name);
	return (struct kw_slice){NULL, 0};
}

/* ---- reading ---- */

/* As a Kafka before 4.4, without its limit of a record's size. */
static void reads_as_kafka_does(void **state)
{
	const struct kw_walk_opts opts = {.record_max = -1};

	(void)state;
	for (size_t i = 0; i < COUNT(sets); i++) {
		struct kw_slice bytes = unhex(sets[i].hex);
		char *found = describe(bytes.p, bytes.n, &opts);

		if (strcmp(found, sets[i].found) != 0)
			fail_msg("%s:\n%s\nKafka: %s", sets[i].name, found, sets[i].found);
		free(found);
		free_bytes(bytes);
	}
}

static void reads_as_a_leader_does(void **state)
{
	const struct kw_walk_opts opts = {.record_max = -1, .inner_crc = true};

	(void)state;
	for (size_t i = 0; i < COUNT(leads); i++) {
		struct kw_slice bytes = find(leads[i].name);
		char *found = describe(bytes.p, bytes.n, &opts);

		assert_string_equal(found, leads[i].found);
		free(found);
		free_bytes(bytes);
	}
}

/* ---- conversion ---- */

/* Compressed bytes may differ, what they hold may not. */
static void assert_outcome(const char *name, int code, const struct kw_buf *out, const struct kt_err *err,
			   const char *outcome)
{
	struct kw_slice want;
	char *ours, *kafkas;

	if (outcome[0] == '!') {
		assert_true(code < 0);
		assert_string_equal(err->text, outcome + 1);
		return;
	}
	if (code)
		fail_msg("%s: %s", name, err->text);
	want = unhex(outcome);
	ours = describe(out->p, out->n, NULL);
	kafkas = describe(want.p, want.n, NULL);
	if (strcmp(ours, kafkas) != 0)
		fail_msg("%s:\n%s\nKafka: %s", name, ours, kafkas);
	if (strstr(kafkas, " gzip ") == NULL && strstr(kafkas, " lz4 ") == NULL && strstr(kafkas, " zstd ") == NULL &&
	    strstr(kafkas, " snappy ") == NULL) {
		assert_int_equal(out->n, want.n);
		if (want.n)
			assert_memory_equal(out->p, want.p, want.n);
	}
	free(ours);
	free(kafkas);
	free_bytes(want);
}

static void converts_down_as_kafka_does(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(downs); i++) {
		const struct down *down = &downs[i];
		struct kw_slice bytes = find(down->name);
		struct kt_err err = {0};
		struct kw_buf out;
		int code;

		kw_buf_init(&out, 0);
		code = kw_convert_down(bytes.p, bytes.n, down->magic, down->first, NULL, &out, &err);
		assert_outcome(down->name, code, &out, &err, down->outcome);
		kw_buf_fini(&out);
		free_bytes(bytes);
	}
}

static void converts_up_as_kafka_does(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(ups); i++) {
		const struct up *up = &ups[i];
		struct kw_convert_up to = {
			.magic = up->magic, .codec = up->codec, .baseOffset = 500, .timestampType = (int8_t)up->type,
			.now = 1700000000000, .partitionLeaderEpoch = 9,
		};
		struct kw_slice bytes = find(up->name);
		struct kt_err err = {0};
		struct kw_buf out;
		int code;

		kw_buf_init(&out, 0);
		code = kw_convert_up(bytes.p, bytes.n, &to, NULL, &out, &err);
		assert_outcome(up->name, code, &out, &err, up->outcome);
		kw_buf_fini(&out);
		free_bytes(bytes);
	}
}

/* Nothing that a set can hold may do more than fail. */
static void damaged_sets_do_no_harm(void **state)
{
	const struct kw_convert_up to = {.magic = 2, .codec = -1};
	size_t harmless = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(sets); i++) {
		struct kw_slice bytes = unhex(sets[i].hex);
		uint8_t *p = (uint8_t *)(uintptr_t)bytes.p;

		for (size_t at = 0; at < bytes.n; at++) {
			struct kw_buf out;
			char *found;

			p[at] ^= (uint8_t)(1 << (at + i) % 8);
			found = describe(p, bytes.n, NULL);
			harmless += strcmp(found, sets[i].found) == 0;
			free(found);
			kw_buf_init(&out, 0);
			kw_convert_down(p, bytes.n, 0, 0, NULL, &out, NULL);
			kw_convert_up(p, bytes.n, &to, NULL, &out, NULL);
			kw_buf_fini(&out);
			p[at] ^= (uint8_t)(1 << (at + i) % 8);
		}
		free_bytes(bytes);
	}
	assert_in_range(harmless, 1, 2000);
}

/* ---- control batches ---- */

static void writes_and_reads_control_batches(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(controls); i++) {
		const struct control *control = &controls[i];
		bool marker = control->type <= KW_CONTROL_COMMIT;
		struct kw_batch_spec spec = kw_batch_spec_default;
		struct kw_slice want = unhex(control->hex);
		json_t *json = json_loads(control->json, 0, NULL);
		struct kw_arena arena;
		struct kt_err err = {0};
		struct kw_buf out;
		void *in;

		kw_arena_init(&arena, 1 << 16);
		kw_buf_init(&out, 0);
		assert_int_equal(kw_from_json(kw_control_message(control->type), 0, json, &arena, &in, &err), 0);
		spec.baseOffset = 12;
		spec.partitionLeaderEpoch = 4;
		spec.baseTimestamp = 1700000000000;
		if (marker) {
			spec.producerId = 77;
			spec.producerEpoch = 3;
		}
		assert_int_equal(kw_control_build(&spec, control->type, 0, in, &out, NULL), 0);
		assert_int_equal(out.n, want.n);
		assert_memory_equal(out.p, want.p, want.n);
		assert_string_equal(kw_control_name(control->type), control->name);
		kw_buf_fini(&out);
		kw_arena_fini(&arena);
		json_decref(json);
		free_bytes(want);
	}
}

/* ---- varints ---- */

static int get(enum kind kind, const struct kw_slice *bytes, uint64_t *v)
{
	const uint8_t *end = bytes->p + bytes->n;
	uint32_t unsigned32 = 0;
	int32_t signed32 = 0;
	int64_t signed64 = 0;
	int used;

	switch (kind) {
	case VARINT:
		used = kw_get_varint(bytes->p, end, &signed32);
		*v = used < 0 ? (uint32_t)signed32 : (uint64_t)signed32;
		return used;
	case UVARINT:
		used = kw_get_uvarint(bytes->p, end, &unsigned32);
		*v = unsigned32;
		return used;
	case VARLONG:
		used = kw_get_varlong(bytes->p, end, &signed64);
		*v = (uint64_t)signed64;
		return used;
	}
	return 0;
}

static void put(enum kind kind, uint64_t v, struct kw_buf *out)
{
	if (kind == VARINT)
		kw_put_varint(out, (int32_t)v);
	else if (kind == UVARINT)
		kw_put_uvarint(out, (uint32_t)v);
	else
		kw_put_varlong(out, (int64_t)v);
}

static void varints_are_read_as_kafka_does(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(varints); i++) {
		struct kw_slice bytes = unhex(varints[i].hex), cut = bytes;
		uint64_t v;

		assert_int_equal(get(varints[i].kind, &bytes, &v), varints[i].used ? varints[i].used : -1);
		assert_int_equal(v, varints[i].v);
		for (cut.n = 0; (int)cut.n < varints[i].used; cut.n++)
			assert_int_equal(get(varints[i].kind, &cut, &v), 0);
		free_bytes(bytes);
	}
}

static void varints_are_written_as_kafka_does(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(varints); i++) {
		struct kw_slice bytes = unhex(varints[i].hex);
		struct kw_buf out;

		kw_buf_init(&out, 0);
		put(varints[i].kind, varints[i].v, &out);
		assert_int_equal(out.n == bytes.n && memcmp(out.p, bytes.p, out.n) == 0, varints[i].written);
		kw_buf_fini(&out);
		free_bytes(bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_as_kafka_does),
		cmocka_unit_test(reads_as_a_leader_does),
		cmocka_unit_test(converts_down_as_kafka_does),
		cmocka_unit_test(converts_up_as_kafka_does),
		cmocka_unit_test(damaged_sets_do_no_harm),
		cmocka_unit_test(writes_and_reads_control_batches),
		cmocka_unit_test(varints_are_read_as_kafka_does),
		cmocka_unit_test(varints_are_written_as_kafka_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
