/* Which aborted transactions concern a reader, as against a look at all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fakebroker/log/txns.h"

enum { PRODUCERS = 6, STEPS = 300 };

struct course {
	struct fb_log log;
	struct fb_producers producers;
	struct fb_txns txns;
	int64_t began[PRODUCERS];            /* -1: no transaction is open */
};

/* A batch of the producer, or the end of its transaction. */
static void go_on(struct course *course, uint32_t random)
{
	struct fb_marker marker = {.producerId = random % PRODUCERS, .commit = random / 64 % 4 == 0, .timestamp = 5};
	struct kw_batch batch = {
		.producerId = marker.producerId, .attributes = KW_A_TRANSACTIONAL, .baseSequence = 0, .count = 1,
	};
	uint8_t header[KW_B_RECORDS] = {0};

	if (course->began[marker.producerId] >= 0 && random / 8 % 3 == 0) {
		assert_int_equal(fb_txns_mark(&course->txns, &course->log, &course->producers, &marker, 0), 0);
		course->began[marker.producerId] = -1;
		return;
	}
	kw_wr64(header + KW_B_BASE_OFFSET, (uint64_t)course->log.logEndOffset);
	assert_int_equal(fb_producers_add(&course->producers, &batch, course->log.logEndOffset, 5), 0);
	if (course->began[marker.producerId] < 0)
		course->began[marker.producerId] = course->log.logEndOffset;
	assert_int_equal(fb_log_append(&course->log, header, NULL, header, 0, 5, course->log.logEndOffset), 0);
}

static void test_aborted_of_concern(void **state)
{
	struct course course = {.began = {-1, -1, -1, -1, -1, -1}};
	uint32_t seed = 7;
	size_t skipped = 0;

	(void)state;
	fb_log_init(&course.log, 0);
	fb_producers_init(&course.producers);
	for (int step = 0; step < STEPS; step++)
		go_on(&course, (seed = seed * 1664525u + 1013904223u) >> 8);
	assert_true(course.txns.n > 20);
	for (int64_t from = 0; from <= course.log.logEndOffset; from++)
		for (int64_t end = from; end <= course.log.logEndOffset; end++) {
			size_t first, last = fb_txns_aborted(&course.txns, from, end, &first);

			for (size_t i = 0; i < course.txns.n; i++) {
				const struct fb_aborted *row = &course.txns.aborted[i];
				bool concerns = row->lastOffset >= from && row->firstOffset < end;
				bool listed = i >= first && i < last;

				assert_true(listed || !concerns);
				assert_true(!listed || row->firstOffset >= end || concerns);
				skipped += !listed;
			}
		}
	assert_true(skipped > 0);
	fb_txns_fini(&course.txns);
	fb_producers_fini(&course.producers);
	fb_log_fini(&course.log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_aborted_of_concern)};

	return cmocka_run_group_tests_name("txns", tests, NULL, NULL);
}
