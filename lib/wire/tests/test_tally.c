#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/text/base64.h"
#include "lib/wire/tally.h"
#include "lib/wire/tests/check_tally.h"
#include "lib/wire/tests/random_message.h"
#include "lib/wire/varint.h"

enum { RECORDS = 100, BATCHES = 3000, DAMAGES = 12 };
enum { FENCED = 4 << 20 };

/* Memory that nobody may touch, behind FENCED bytes: so a read behind a batch is noticed in any build. */
static uint8_t *fence;

static struct random_source source;

static int32_t below(uint32_t n)
{
	return (int32_t)random_below(&source, n);
}

static bool one_in(uint32_t n)
{
	return random_below(&source, n) == 0;
}

/* Records as clients send them: deltas and lengths of one byte and of two, keys and none, headers and none. */
static void most_batches_are_tallied(void **state)
{
	static const struct kw_header header = {{"h", 1}, {(const uint8_t *)"v", 1}};
	struct kw_batch_spec spec = kw_batch_spec_default;
	uint8_t value[300] = {0};
	struct kw_record records[200];

	(void)state;
	spec.baseTimestamp = 1000000;
	for (int32_t i = 0; i < 200; i++)
		records[i] = (struct kw_record){.offsetDelta = i, .timestampDelta = i % 90,
						.key = {value, i % 3 ? i : -1},
						.value = {value, i % 7 ? i + i / 2 : -1},
						.nheaders = i % 50 == 49, .headers = &header};
	for (spec.attributes = KW_NONE; spec.attributes <= KW_ZSTD; spec.attributes++) {
		struct kw_buf out = {0};
		struct kw_batch batch;

		assert_int_equal(kw_batch_build(&spec, records, 200, &out, NULL), 0);
		assert_int_equal(kw_batch_parse(out.p, out.n, &batch, NULL), 0);
		assert_true(check_tally(&batch, NULL));
		assert_true(check_tally(&batch, &(struct kw_walk_opts){.skip_bodies = true}));
		kw_buf_fini(&out);
	}
}

static bool check_area(const struct kw_batch_spec *spec, const struct kw_buf *area, int32_t n,
		       const struct kw_walk_opts *opts);

/* Two records of the same lengths, of which the last has one byte that is another. Record 1 begins with its length
 * (of two bytes from 64 on), attributes, timestampDelta, offsetDelta, length of the key. */
static const struct tampering {
	const char *name;
	int32_t key, value;
	size_t at;                 /* of that record; beyond it: nothing is tampered with */
	uint8_t byte;
	bool good;
	size_t cut;                /* bytes off its end */
} tamperings[] = {
	{"as it was", 1, 6, 14, 0, true, 0},
	{"other attributes", 1, 6, 1, 0x7f, true, 0},
	{"another time", 1, 6, 2, 0x7f, true, 0},
	{"another offset delta", 1, 6, 3, 0x06, true, 0},
	{"longer", 1, 6, 0, 0x1c, false, 0},
	{"shorter", 1, 6, 0, 0x18, false, 0},
	{"negative length", 1, 6, 0, 0x1b, false, 0},
	{"key as long as the rest but for one byte", 1, 6, 4, 0x10, false, 0},
	{"key as long as the rest", 1, 6, 4, 0x12, false, 0},
	{"key longer than the rest", 1, 6, 4, 0x14, false, 0},
	{"null key, and what it was is the value's length", 1, 12, 4, 0x01, false, 0},
	{"value longer by one", 1, 6, 6, 0x0e, false, 0},
	{"value shorter by one", 1, 6, 6, 0x0a, false, 0},
	{"null value", 1, 6, 6, 0x01, false, 0},
	{"one header", 1, 6, 13, 0x02, false, 0},
	{"value of 64 bytes, length of two that says 0", 1, 64, 8, 0x00, false, 0},
	{"value of 64 bytes, length of three", 1, 64, 8, 0x80, false, 0},
	{"value of 64 bytes, of which 63 are there", 1, 64, 0, 0x8e, false, 1},
	{"length of three bytes", 1, 64, 1, 0x81, false, 0},
};

static void a_record_after_another(void **state)
{
	static const uint8_t bytes[64];

	(void)state;
	for (size_t i = 0; i < sizeof tamperings / sizeof *tamperings; i++) {
		const struct tampering *row = &tamperings[i];
		struct kw_buf area = {0};
		size_t at = 0;

		for (int32_t j = 0; j < 2; j++) {
			struct kw_record record = {.offsetDelta = j, .key = {bytes, row->key},
						   .value = {bytes, row->value}};

			at = area.n + row->at;
			kw_record_put(&area, &record);
		}
		if (at < area.n)
			area.p[at] = row->byte;
		area.n -= row->cut;
		if (check_area(&kw_batch_spec_default, &area, 2, NULL) != row->good)
			fail_msg("%s: there is %s tally", row->name, row->good ? "no" : "a");
		kw_buf_fini(&area);
	}
}

/* What is looked at reaches up to ten bytes into a record: where one ends before that, or its head goes on behind. Row
 * by row what there is to misread. */
static const struct {
	const char *name, *hex;
	int32_t n;
	bool good;
} edges[] = {
	{"the last has 8 bytes, 2 of them its length", "8c00 00 00 00 01 00 00  8c00 00 00 02 01 00 00", 2, true},
	{"the last has 9 bytes, 2 of them its length", "8c00 00 00 00 01 00 00  8e00 00 00 02 01 02aa 00", 2, true},
	{"the last has 7 bytes", "0c 00 00 00 01 00 00  0c 00 00 02 01 00 00", 2, true},
	{"the last is cut by a byte", "18 00 00 00 01 0caabbccddeeff 00  18 00 00 02 01 0caabbccddeeff", 2, false},
	{"nothing behind the last one's value", "10 00 00 00 06616161 00 00  10 00 00 02 08616161 61", 2, false},
	{"null key, length of two, and no count of headers",
	 "0c 00 00 00 01 00 00  0e 00 00 02 8100 00 00  20 00 00 04 01 14 00000000000000000000 00", 3, true},
	{"null key, length of three",
	 "0c 00 00 00 01 00 00  0e 00 00 02 818000 00  20 00 00 04 01 14 00000000000000000000 00", 3, false},
	{"key of 1 byte, its length in the head's last byte", "1a 00 80808002 8000 02 61 04aabb 00", 1, true},
	{"key of 1 byte, its length half in the head", "1a 00 80808002 8000 8200 61 02aa 00", 1, true},
	{"key of 64 bytes, that look like a value and no headers", "18 00 80808002 8000 8001 02aa 00", 1, false},
	{"the same behind a longer time", "18 00 8080808002 00 8001 02aa 00", 1, false},
	{"no records", "", 0, false},
	{"a negative count of records", "", -1, false},
};

static void at_the_edges(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
		uint8_t bytes[64];
		struct kw_buf area = {0};

		kw_put(&area, bytes, (size_t)kt_hex_decode(edges[i].hex, strlen(edges[i].hex), bytes));
		if (check_area(&kw_batch_spec_default, &area, edges[i].n, NULL) != edges[i].good)
			fail_msg("%s: there is %s tally", edges[i].name, edges[i].good ? "no" : "a");
		kw_buf_fini(&area);
	}
}

/* The walk does not ask for the tally of a batch without records. */
static void no_tally_of_nothing(void **state)
{
	struct kw_tally tally;
	uint8_t byte = 0;

	(void)state;
	for (int32_t n = 0; n > -3; n--)
		assert_false(kw_tally_records(&(struct kw_batch){.count = n}, &byte, &byte, 0, &tally));
}

/* Offset deltas of one byte, of two and of three. */
static void many_records(void **state)
{
	enum { MANY = 9000 };
	struct kw_buf area = {0};

	(void)state;
	for (int32_t i = 0; i < MANY; i++) {
		struct kw_record record = {.timestampDelta = i / 100, .offsetDelta = i,
					   .key = {(const uint8_t *)"key", 3},
					   .value = {(const uint8_t *)"value", 5}};

		kw_record_put(&area, &record);
	}
	assert_true(check_area(&kw_batch_spec_default, &area, MANY, NULL));
	kw_buf_fini(&area);
}

/* Where an offset delta of two bytes goes from fe 01 to 80 02 there is 00 02, which is an offset delta of one byte and
 * another length of the key, in a record as long as is expected. */
static void an_addition_that_carries(void **state)
{
	static const uint8_t impostor[] = {16, 0, 0, 0x00, 0x02, 0x01, 2, 'v', 0};
	enum { IMPOSTOR = 128 };
	struct kw_buf area = {0};

	(void)state;
	for (int32_t i = 0; i < IMPOSTOR + 2; i++) {
		struct kw_record record = {.offsetDelta = i, .key = {NULL, -1}, .value = {(const uint8_t *)"v", 1}};

		if (i == IMPOSTOR)
			kw_put(&area, impostor, sizeof impostor);
		else
			kw_record_put(&area, &record);
	}
	assert_true(check_area(&kw_batch_spec_default, &area, IMPOSTOR + 2, NULL));
	kw_buf_fini(&area);
}

/* ---- records at random, good and damaged ---- */

/* What is the same for all records of a batch: where a number stays, by how much it varies, how often there is
 * something odd. Most batches are plain in most ways. */
struct habit {
	int32_t first;              /* offset delta of the first record */
	int32_t value, key;         /* bytes; key -1: none */
	uint32_t value_varies, key_varies, time_varies;
	int64_t time;
	uint32_t headers, nulls, padded, gaps;   /* one in so many; 0 = never */
};

static struct habit random_habit(void)
{
	static const int32_t lengths[] = {0, 1, 6, 20, 50, 61, 62, 63, 64, 100, 300, 4000, 8170, 8191, 8192};
	static const uint32_t spans[] = {1, 1, 1, 2, 40, 200};
	static const int64_t times[] = {0, 0, 0, 30, 63, 64, 8191, 8192, 1 << 20, -1, -64, -65, INT64_C(1) << 40,
					INT64_MAX};
	struct habit habit = {
		.value = lengths[below(one_in(8) ? 15 : 11)], .key = one_in(2) ? -1 : lengths[below(10)],
		.value_varies = spans[below(6)], .key_varies = spans[below(6)], .time_varies = spans[below(6)],
		.time = times[below(14)],
	};

	habit.headers = one_in(6) ? (uint32_t)below(4) : 0;
	habit.nulls = one_in(6) ? (uint32_t)below(4) : 0;
	habit.padded = one_in(4) ? (uint32_t)below(20) : 0;
	habit.gaps = one_in(12) ? (uint32_t)below(20) : 0;
	habit.first = one_in(12) ? below(3) - 1 : 0;
	return habit;
}

/* Whether it is time for what comes once in n. */
static bool due(uint32_t n)
{
	return n && one_in(n);
}

/* A number as Kafka reads it, too: now and then with bytes that it does not need. */
static void put_number(struct kw_buf *area, int64_t v, int most, const struct habit *habit)
{
	uint64_t raw = (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
	int n = 1, want;

	for (uint64_t rest = raw; rest > 0x7f; rest >>= 7)
		n++;
	want = due(habit->padded) ? n + below((uint32_t)(most - n + 1)) : n;
	for (int i = 0; i < want; i++, raw >>= 7)
		kw_put_u8(area, (uint8_t)((raw & 0x7f) | (i < want - 1 ? 0x80 : 0)));
}

static void put_run(struct kw_buf *area, int32_t n, const struct habit *habit)
{
	put_number(area, n < 0 ? -1 - (habit->padded ? below(3) : 0) : n, KW_VARINT_MAX, habit);
	for (int32_t i = 0; i < n; i++)
		kw_put_u8(area, one_in(3) ? 0 : 0xff);
}

static void put_record(struct kw_buf *area, int32_t offsetDelta, const struct habit *habit)
{
	int32_t key = habit->key < 0 ? -1 : habit->key + below(habit->key_varies);
	int32_t value = habit->value + below(habit->value_varies);
	int32_t nheaders = due(habit->headers) ? 1 + below(2) : 0;
	struct kw_buf body = {0};

	kw_put_u8(&body, one_in(5) ? 0xff : 0);
	put_number(&body, habit->time + (habit->time == INT64_MAX ? 0 : below(habit->time_varies)), KW_VARLONG_MAX,
		   habit);
	put_number(&body, offsetDelta, KW_VARINT_MAX, habit);
	put_run(&body, due(habit->nulls) ? -1 : key, habit);
	put_run(&body, due(habit->nulls) ? -1 : value, habit);
	put_number(&body, nheaders, KW_VARINT_MAX, habit);
	for (int32_t i = 0; i < nheaders; i++) {
		put_run(&body, below(3), habit);
		put_run(&body, below(3) - 1, habit);
	}
	put_number(area, (int32_t)body.n, KW_VARINT_MAX, habit);
	kw_put(area, body.p, body.n);
	kw_buf_fini(&body);
}

/* Where each record begins goes to `at`. */
static void put_records(struct kw_buf *area, int32_t n, size_t *at)
{
	struct habit habit = random_habit();
	int32_t offsetDelta = habit.first + (one_in(8) ? 8170 : one_in(4) ? 50 : 0);

	for (int32_t i = 0; i < n; i++) {
		if (one_in(30))
			habit = random_habit();
		at[i] = area->n;
		put_record(area, offsetDelta, &habit);
		offsetDelta += due(habit.gaps) ? 2 : 1;
	}
}

/* The batch's last byte is the last before the fence, and what is read behind it ends the test. */
static bool check_area(const struct kw_batch_spec *spec, const struct kw_buf *area, int32_t n,
		       const struct kw_walk_opts *opts)
{
	struct kw_batch batch;
	struct kw_buf out = {0};
	uint8_t *p;
	bool told;

	assert_int_equal(kw_batch_wrap(spec, area->p, area->n, n, n - 1, &out, NULL), 0);
	assert_true(out.n <= FENCED);
	p = fence - out.n;
	memcpy(p, out.p, out.n);
	assert_int_equal(kw_batch_parse(p, out.n, &batch, NULL), 0);
	told = check_tally(&batch, opts);
	kw_buf_fini(&out);
	return told;
}

static struct kw_batch_spec random_spec(void)
{
	static const int64_t times[] = {0, 1000000, -1, INT64_MAX, INT64_MIN};
	struct kw_batch_spec spec = kw_batch_spec_default;

	spec.baseTimestamp = times[below(one_in(5) ? 5 : 2)];
	spec.maxTimestamp = 77;
	spec.attributes = one_in(6) ? KW_A_LOG_APPEND_TIME : 0;
	spec.attributes = (int16_t)(spec.attributes | (one_in(8) ? KW_LZ4 : KW_NONE));
	return spec;
}

/* Mostly where something is looked at: at the first bytes of a record and its last. */
static void damage(struct kw_buf *area, const size_t *at, int32_t n)
{
	size_t from = at[below((uint32_t)n)], where = one_in(4) ? from - 1 : from + (size_t)below(12);
	uint8_t *p = area->p + (where < area->n ? where : area->n - 1);

	switch (below(4)) {
	case 0:
		*p ^= 0x80;
		break;
	case 1:
		*p = (uint8_t)(*p ^ 1 << below(8));
		break;
	case 2:
		*p = (uint8_t)(*p + (one_in(2) ? 2 : -2));
		break;
	default:
		*p = (uint8_t)below(256);
	}
}

/* As long as nothing is damaged there is always a tally. */
static void what_a_tally_tells_is_so(void **state)
{
	int good = 0, told = 0, damaged = 0;

	(void)state;
	source = (struct random_source){.state = 88172645463325252u};
	for (int i = 0; i < BATCHES; i++) {
		int32_t n = 1 + below(one_in(4) ? RECORDS : 20);
		struct kw_batch_spec spec = random_spec();
		struct kw_walk_opts opts = {.skip_bodies = one_in(2)};
		struct kw_buf area = {0};
		size_t at[RECORDS];

		put_records(&area, n, at);
		good++;
		told += check_area(&spec, &area, n, &opts);
		opts.record_max = one_in(3) ? 1 + below(100) : one_in(3) ? -1 : 0;
		check_area(&spec, &area, n, &opts);
		opts.record_max = 0;
		for (int j = 0; j < DAMAGES; j++) {
			damage(&area, at, n);
			damaged += check_area(&spec, &area, n + (one_in(10) ? 1 : one_in(10) ? -1 : 0), &opts);
			if (j % 3 == 2) {
				kw_buf_clear(&area);
				put_records(&area, n, at);
			}
		}
		kw_buf_fini(&area);
	}
	assert_int_equal(told, good);
	assert_true(damaged > BATCHES && damaged < BATCHES * DAMAGES * 3 / 4);
}

static int put_fence(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *p = mmap(NULL, FENCED + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	if (p == MAP_FAILED || mprotect(p + FENCED, page, PROT_NONE))
		return -1;
	fence = p + FENCED;
	return 0;
}

static int remove_fence(void **state)
{
	(void)state;
	return munmap(fence - FENCED, FENCED + (size_t)sysconf(_SC_PAGESIZE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(most_batches_are_tallied),
		cmocka_unit_test(a_record_after_another),
		cmocka_unit_test(at_the_edges),
		cmocka_unit_test(no_tally_of_nothing),
		cmocka_unit_test(many_records),
		cmocka_unit_test(an_addition_that_carries),
		cmocka_unit_test(what_a_tally_tells_is_so),
	};

	return cmocka_run_group_tests(tests, put_fence, remove_fence);
}
