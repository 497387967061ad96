#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fakebroker/log/log.h"

enum { PAD = 8 };

/* A frame that holds `pad` other bytes and then one batch of n records with value_size bytes each, timestamps base,
 * base + step, ... */
struct shape {
	int64_t baseOffset, baseTimestamp, step;
	int32_t n, value_size;
	int codec;
	size_t pad;
};

static struct fb_frame *frame_of(const struct shape *shape)
{
	struct kw_batch_spec spec = kw_batch_spec_default;
	struct kw_record records[16] = {0};
	static const uint8_t x[4096];
	struct fb_frame *frame;
	struct kw_buf buf = {0};

	assert_true(shape->n <= 16 && shape->value_size <= 4096);
	for (int32_t i = 0; i < shape->n; i++)
		records[i] = (struct kw_record){
			.offsetDelta = i, .timestampDelta = i * shape->step,
			.key = {NULL, -1}, .value = {x, shape->value_size},
		};
	spec.baseOffset = shape->baseOffset;
	spec.baseTimestamp = shape->baseTimestamp;
	spec.attributes = (int16_t)shape->codec;
	kw_put(&buf, x, shape->pad);
	assert_int_equal(kw_batch_build(&spec, records, shape->n, &buf, NULL), 0);
	frame = fb_frame_new(buf.n);
	assert_non_null(frame);
	memcpy(frame->p, buf.p, buf.n);
	frame->n = buf.n;
	kw_buf_fini(&buf);
	return frame;
}

static unsigned refs(const struct fb_frame *frame)
{
	return atomic_load(&frame->refs);
}

/* Appends at the log's end and gives the caller's reference of the frame back. */
static struct fb_frame *append(struct fb_log *log, struct shape shape)
{
	struct fb_frame *frame;
	const uint8_t *p;
	int64_t max = shape.baseTimestamp + (shape.step > 0 ? (shape.n - 1) * shape.step : 0);
	int64_t of_max = shape.baseOffset = log->logEndOffset;

	if (shape.step > 0)
		of_max += shape.n - 1;
	frame = frame_of(&shape);
	p = frame->p + shape.pad;
	assert_int_equal(fb_log_append(log, p, frame, p + KW_B_RECORDS, frame->n - shape.pad - KW_B_RECORDS, max,
				       of_max), 0);
	return frame;
}

static void add(struct fb_log *log, struct shape shape)
{
	fb_frame_unref(append(log, shape));
}

static const struct shape plain = {.n = 3, .value_size = 100, .baseTimestamp = 1000, .step = 10, .pad = PAD};

/* ---- memory ---- */

static void test_large_slice_stays_in_its_frame(void **state)
{
	struct fb_log log;
	struct fb_frame *frame;

	(void)state;
	fb_log_init(&log, 0);
	frame = append(&log, plain);
	assert_int_equal(refs(frame), 2);
	assert_ptr_equal(log.entries[0].frame, frame);
	assert_ptr_equal(log.entries[0].body, frame->p + PAD + KW_B_RECORDS);
	assert_int_equal(log.bytes, frame->n - PAD);
	assert_int_equal(log.pinned, sizeof log.entries[0] + frame->cap);
	fb_log_fini(&log);
	assert_int_equal(refs(frame), 1);
	fb_frame_unref(frame);
}

static void test_small_slice_is_copied_out(void **state)
{
	struct shape small = plain;
	struct fb_log log;
	struct fb_frame *frame;
	struct kw_batch batch;

	(void)state;
	fb_log_init(&log, 0);
	small.pad = 2000;
	frame = append(&log, small);
	assert_int_equal(refs(frame), 1);
	assert_int_equal(log.entries[0].size, frame->n - 2000);
	assert_memory_equal(log.entries[0].body, frame->p + 2000 + KW_B_RECORDS, frame->n - 2000 - KW_B_RECORDS);
	fb_frame_unref(frame);
	fb_entry_batch(&log.entries[0], &batch);
	assert_int_equal(kw_batch_crc(batch.p, batch.size), batch.crc);
	fb_log_fini(&log);
}

static void test_limit_drops_the_oldest_but_never_the_last(void **state)
{
	struct shape big = plain;
	struct fb_log log;
	size_t one;

	(void)state;
	fb_log_init(&log, 1);
	add(&log, plain);
	assert_int_equal(log.dropped, 0);
	one = log.pinned;
	log.max_bytes = 3 * one;
	for (int i = 0; i < 9; i++)
		add(&log, plain);
	assert_int_equal(log.n - log.first, 3);
	assert_int_equal(log.dropped, 7);
	assert_int_equal(log.pinned, 3 * one);
	assert_int_equal(log.logStartOffset, 21);
	assert_int_equal(log.logEndOffset, 30);
	assert_int_equal(log.entries[log.first].baseOffset, 21);
	big.value_size = 4096;
	add(&log, big);
	assert_int_equal(log.n - log.first, 1);
	assert_int_equal(log.logStartOffset, 30);
	fb_log_fini(&log);
}

/* ---- read ---- */

static void test_find(void **state)
{
	struct fb_log log;

	(void)state;
	fb_log_init(&log, 0);
	assert_int_equal(fb_log_find(&log, 0), 0);
	for (int i = 0; i < 40; i++)
		add(&log, plain);
	for (int64_t offset = 0; offset < 120; offset++)
		assert_int_equal(log.entries[fb_log_find(&log, offset)].baseOffset, offset / 3 * 3);
	assert_int_equal(fb_log_find(&log, 120), log.n);
	assert_int_equal(fb_log_find(&log, -1), 0);
	fb_log_fini(&log);
}

static void release(struct fb_read *read)
{
	for (size_t i = 0; i < read->nframes; i++)
		fb_frame_unref(read->frames[i]);
}

/* Number of whole batches that a read gives; *cut gets the bytes of one more. */
static size_t batches(const struct fb_log *log, int64_t offset, size_t max, bool min_one, size_t *cut)
{
	struct kw_arena arena;
	struct fb_read read;
	size_t bytes = 0;

	kw_arena_init(&arena, 0);
	assert_int_equal(fb_log_read(log, offset, INT64_MAX, max, min_one, &arena, &read), 0);
	for (int32_t i = 0; i < read.records.nv; i++)
		bytes += read.records.v[i].n;
	assert_int_equal(read.records.n, bytes);
	assert_int_equal(read.records.nv, 2 * read.nframes);
	*cut = bytes - read.whole * log->entries[0].size;
	assert_int_equal(read.nframes, read.whole + (*cut > 0));
	release(&read);
	kw_arena_fini(&arena);
	return read.whole;
}

static void test_read_limits(void **state)
{
	struct fb_log log;
	size_t one, cut;

	(void)state;
	fb_log_init(&log, 0);
	for (int i = 0; i < 5; i++)
		add(&log, plain);
	one = log.entries[0].size;
	assert_int_equal(batches(&log, 0, SIZE_MAX, false, &cut), 5);
	assert_int_equal(batches(&log, 4, SIZE_MAX, false, &cut), 4);
	assert_int_equal(batches(&log, 15, SIZE_MAX, true, &cut), 0);
	assert_int_equal(batches(&log, 0, 2 * one, false, &cut), 2);
	assert_int_equal(cut, 0);
	assert_int_equal(batches(&log, 0, 2 * one + one - 1, true, &cut), 2);
	assert_int_equal(cut, one - 1);
	assert_int_equal(batches(&log, 0, one + 1, false, &cut), 1);
	assert_int_equal(cut, 1);
	assert_int_equal(batches(&log, 12, one + 1, false, &cut), 1);   /* the last */
	assert_int_equal(cut, 0);
	assert_int_equal(batches(&log, 0, one - 1, false, &cut), 0);
	assert_int_equal(cut, 0);
	assert_int_equal(batches(&log, 0, one - 1, true, &cut), 1);
	assert_int_equal(cut, 0);
	assert_int_equal(batches(&log, 0, 0, true, &cut), 1);
	assert_int_equal(cut, 0);
	fb_log_fini(&log);
}

static void test_read_outlives_the_log(void **state)
{
	struct shape shape = plain;
	struct fb_frame *frame;
	struct kw_arena arena;
	struct fb_read read;
	struct fb_log log;

	(void)state;
	kw_arena_init(&arena, 0);
	fb_log_init(&log, 0);
	add(&log, plain);
	add(&log, plain);
	assert_int_equal(fb_log_read(&log, 4, INT64_MAX, SIZE_MAX, false, &arena, &read), 0);
	fb_log_fini(&log);
	shape.baseOffset = 3;
	frame = frame_of(&shape);
	assert_int_equal(read.records.n, frame->n - PAD);
	assert_memory_equal(read.records.v[0].p, frame->p + PAD, KW_B_RECORDS);
	assert_memory_equal(read.records.v[1].p, frame->p + PAD + KW_B_RECORDS, frame->n - PAD - KW_B_RECORDS);
	fb_frame_unref(frame);
	release(&read);
	kw_arena_fini(&arena);
}

static void test_read_without_memory_holds_nothing(void **state)
{
	struct kw_arena arena;
	struct fb_frame *frame;
	struct fb_read read;
	struct fb_log log;

	(void)state;
	kw_arena_init(&arena, 64);
	fb_log_init(&log, 0);
	frame = append(&log, plain);
	add(&log, plain);
	assert_int_equal(fb_log_read(&log, 0, INT64_MAX, SIZE_MAX, false, &arena, &read), KT_ENOMEM);
	assert_int_equal(refs(frame), 2);
	assert_int_equal(read.nframes, 0);
	fb_frame_unref(frame);
	fb_log_fini(&log);
	kw_arena_fini(&arena);
}

/* ---- time ---- */

static void assert_found(const struct fb_log *log, int64_t timestamp, int64_t want_offset, int64_t want_timestamp)
{
	struct fb_found found = fb_log_by_time(log, timestamp);

	assert_int_equal(found.offset, want_offset);
	assert_int_equal(found.timestamp, want_timestamp);
}

static void test_by_time_finds_the_record(void **state)
{
	struct shape gzip = plain, descending = plain;
	struct fb_log log;

	(void)state;
	fb_log_init(&log, 0);
	assert_found(&log, 0, -1, -1);
	add(&log, plain);                                     /* 0..2: 1000 1010 1020 */
	gzip.codec = KW_GZIP;
	gzip.baseTimestamp = 2000;
	add(&log, gzip);                                      /* 3..5: 2000 2010 2020 */
	descending.baseTimestamp = 3000;
	descending.step = -10;
	add(&log, descending);                                /* 6..8: 3000 2990 2980 */
	assert_found(&log, 0, 0, 1000);
	assert_found(&log, 1001, 1, 1010);
	assert_found(&log, 1020, 2, 1020);
	assert_found(&log, 1021, 3, 2000);
	assert_found(&log, 2015, 5, 2020);
	assert_found(&log, 2985, 6, 3000);
	assert_found(&log, 3001, -1, -1);
	fb_log_trim(&log, 7);
	assert_found(&log, 0, 7, 2990);
	fb_log_fini(&log);
}

static void test_by_time_of_log_append_time(void **state)
{
	struct shape shape = plain;
	struct fb_frame *frame;
	struct fb_log log;

	(void)state;
	fb_log_init(&log, 0);
	frame = frame_of(&shape);
	kw_wr16(frame->p + PAD + KW_B_ATTRIBUTES, KW_A_LOG_APPEND_TIME);
	kw_wr64(frame->p + PAD + KW_B_MAX_TIMESTAMP, 5000);
	assert_int_equal(fb_log_append(&log, frame->p + PAD, frame, frame->p + PAD + KW_B_RECORDS,
				       frame->n - PAD - KW_B_RECORDS, 5000, 0), 0);
	fb_frame_unref(frame);
	assert_found(&log, 1005, 0, 5000);
	assert_found(&log, 5000, 0, 5000);
	assert_found(&log, 5001, -1, -1);
	fb_log_fini(&log);
}

static size_t segments(const struct fb_log *log)
{
	size_t n = 0;

	for (size_t i = log->first; i < log->n; i++)
		n += log->entries[i].rolled;
	return n;
}

/* Also when segment.bytes is set below what the segment has already. */
static void test_segments_roll_by_size(void **state)
{
	struct fb_log log;

	(void)state;
	fb_log_init(&log, 0);
	log.segmentBytes = 1000000;
	for (int i = 0; i < 4; i++)
		add(&log, plain);
	assert_int_equal(segments(&log), 1);
	log.segmentBytes = log.entries[0].size;
	for (int i = 0; i < 3; i++)
		add(&log, plain);
	assert_int_equal(segments(&log), 4);
	log.segmentBytes = 1;
	add(&log, plain);
	assert_int_equal(segments(&log), 5);
	fb_log_fini(&log);
}

/* Whatever timestamps there are. */
static void test_segments_roll_by_time(void **state)
{
	static const struct {
		int64_t first, second, later;   /* timestamps; ms on the broker's clock between the two */
		size_t segments;
	} rows[] = {
		{1000, 2000, 0, 1}, {1000, 2001, 0, 2}, {2000, 1000, 0, 1}, {1000, INT64_MIN, 0, 1},
		{1000, INT64_MAX, 0, 2}, {-1, 5000, 0, 1}, {INT64_MAX, INT64_MIN, 0, 1}, {1000, 1000, 1001, 1},
		{-1, -1, 1000, 1}, {-1, -1, 1001, 2}, {-1, 5000, 1001, 2},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct shape shape = plain;
		struct fb_log log;

		fb_log_init(&log, 0);
		log.segmentMs = 1000;
		log.now = 7000;
		shape.step = 0;
		shape.baseTimestamp = rows[i].first;
		add(&log, shape);
		log.now += rows[i].later;
		shape.baseTimestamp = rows[i].second;
		add(&log, shape);
		assert_int_equal(segments(&log), rows[i].segments);
		fb_log_fini(&log);
	}
}

static void test_max_time(void **state)
{
	struct shape late = plain;
	struct fb_log log;

	(void)state;
	fb_log_init(&log, 0);
	assert_int_equal(fb_log_max_time(&log).offset, -1);
	assert_int_equal(fb_log_max_time(&log).timestamp, -1);
	add(&log, plain);
	late.baseTimestamp = 9000;
	add(&log, late);
	add(&log, plain);
	late.step = 0;
	late.baseTimestamp = 9020;
	add(&log, late);                                      /* as late as offset 5: the first one counts */
	assert_int_equal(fb_log_max_time(&log).offset, 5);
	assert_int_equal(fb_log_max_time(&log).timestamp, 9020);
	fb_log_fini(&log);
}

/* ---- trim ---- */

static void test_trim(void **state)
{
	struct fb_log log;

	(void)state;
	fb_log_init(&log, 0);
	for (int i = 0; i < 4; i++)
		add(&log, plain);
	fb_log_trim(&log, 4);
	assert_int_equal(log.logStartOffset, 4);
	assert_int_equal(log.n - log.first, 3);
	assert_int_equal(log.bytes, 3 * log.entries[log.first].size);
	fb_log_trim(&log, 2);
	assert_int_equal(log.logStartOffset, 4);
	fb_log_trim(&log, 1000);
	assert_int_equal(log.logStartOffset, 12);
	assert_int_equal(log.n - log.first, 0);
	assert_int_equal(log.bytes, 0);
	assert_int_equal(log.pinned, 0);
	add(&log, plain);
	assert_int_equal(log.entries[log.first].baseOffset, 12);
	assert_int_equal(log.dropped, 0);
	fb_log_fini(&log);
}

static void test_trimmed_entries_make_room(void **state)
{
	struct fb_log log;

	(void)state;
	fb_log_init(&log, 0);
	for (int i = 0; i < 500; i++) {
		add(&log, plain);
		fb_log_trim(&log, log.logEndOffset - 6);
		assert_true(log.n - log.first <= 2);
	}
	assert_true(log.cap <= 16);
	assert_int_equal(log.entries[fb_log_find(&log, 1498)].baseOffset, 1497);
	fb_log_fini(&log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_large_slice_stays_in_its_frame),
		cmocka_unit_test(test_small_slice_is_copied_out),
		cmocka_unit_test(test_limit_drops_the_oldest_but_never_the_last),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_read_limits),
		cmocka_unit_test(test_read_outlives_the_log),
		cmocka_unit_test(test_read_without_memory_holds_nothing),
		cmocka_unit_test(test_by_time_finds_the_record),
		cmocka_unit_test(test_by_time_of_log_append_time),
		cmocka_unit_test(test_segments_roll_by_size),
		cmocka_unit_test(test_segments_roll_by_time),
		cmocka_unit_test(test_max_time),
		cmocka_unit_test(test_trim),
		cmocka_unit_test(test_trimmed_entries_make_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
