/* A round of compaction for which there is not memory enough says so, whatever call it was that failed, and leaves the
 * log as it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fakebroker/log/compact.h"
#include "lib/wire/tests/failing_malloc.h"

/* Two batches of which the first loses a record, and a compressed marker. */
static void fill(struct fb_log *log, int codec)
{
	static const uint8_t value[300] = "value", marker_key[] = {0, 0, 0, 1}, marker[] = {0, 0, 0, 0, 0, 1};
	struct kw_header headers[20];
	struct kw_record records[] = {
		{.key = {(const uint8_t *)"a", 1}, .value = {value, 300}, .nheaders = 20, .headers = headers},
		{.offsetDelta = 1, .key = {(const uint8_t *)"b", 1}, .value = {value, 300}},
	};
	const struct kw_record end = {.key = {marker_key, sizeof marker_key}, .value = {marker, sizeof marker}};
	struct kw_batch_spec spec = kw_batch_spec_default;
	struct kw_buf set = {0};
	struct kt_err err = {0};

	for (int i = 0; i < 20; i++)
		headers[i] = (struct kw_header){kw_str("h"), {value, 1}};
	spec.attributes = (int16_t)codec;
	assert_int_equal(kw_batch_build(&spec, records, 2, &set, NULL), 0);
	records[1].offsetDelta = 0;
	assert_int_equal(kw_batch_build(&spec, records + 1, 1, &set, NULL), 0);
	spec.attributes = (int16_t)(codec | KW_A_CONTROL | KW_A_TRANSACTIONAL);
	spec.producerId = 7;
	spec.producerEpoch = 0;
	assert_int_equal(kw_batch_build(&spec, &end, 1, &set, NULL), 0);
	fb_log_init(log, 0);
	assert_int_equal(fb_log_append_set(log, set.p, set.n, false, 0, &err), 0);
	fb_log_roll(log);
	kw_buf_fini(&set);
}

static void exhaust(int codec)
{
	const struct fb_compaction conf = {.compacts = true};
	struct fb_producers producers;
	struct fb_compacted done = {0};
	struct fb_txns txns = {0};
	struct fb_log log;
	int code = KT_ENOMEM;
	long calls;

	fill(&log, codec);
	fb_producers_init(&producers);
	for (calls = 0; code; calls++) {
		struct kt_err err = {0};

		failing_malloc_left = calls;
		code = fb_log_compact(&log, &producers, &txns, &conf, 1000, &done, &err);
		failing_malloc_left = -1;
		if (code && (code != KT_ENOMEM || err.code != KT_ENOMEM))
			fail_msg("codec %d, call %ld: %d and %d: %s", codec, calls, code, err.code, err.text);
		assert_int_equal(log.cleanedTo, code ? 0 : 4);
	}
	assert_true(calls > 5);
	assert_int_equal(done.batchesRead, 3);
	assert_int_equal(done.recordsRead, 4);
	assert_true(done.recordsKept < 4);
	fb_log_fini(&log);
	fb_producers_fini(&producers);
	fb_txns_fini(&txns);
}

static void memory_is_what_lacks(void **state)
{
	(void)state;
	for (int codec = KW_NONE; codec <= KW_ZSTD; codec++)
		exhaust(codec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_what_lacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
