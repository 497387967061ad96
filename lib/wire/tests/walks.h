/* What the tests of kw_batch_walk() share: batches of bytes as they are, walked; and that a tally tells what a look at
 * each record does. */
#ifndef KASSAY_WIRE_TESTS_WALKS_H
#define KASSAY_WIRE_TESTS_WALKS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "lib/wire/base64.h"
#include "lib/wire/batch.h"
#include "lib/wire/record_time.h"

/* A record of a whole batch: 9 bytes, 8 of them after the length. */
#define OK "10 00 00 00 026b 0276 00 "

/* How a batch is read: as it lies there; out of gzip, bodies skipped; out of gzip, whole. */
enum mode { PLAIN, SKIP, WHOLE };

static struct kt_err err;
static enum kw_walk why;
static int seen;

static inline int count_records(void *arg, int32_t index, const struct kw_record *record)
{
	(void)arg;
	(void)record;
	assert_int_equal(index, seen);
	seen++;
	return 0;
}

/* A batch with this payload, in memory of exactly its size so that AddressSanitizer sees a read beyond it. */
static inline struct kw_batch batch_of(int codec, const uint8_t *payload, size_t n, int32_t count)
{
	struct kw_batch_spec spec = kw_batch_spec_default;
	struct kw_batch batch;
	struct kw_buf out;
	uint8_t *p;

	kw_buf_init(&out, 0);
	assert_int_equal(kw_batch_build(&spec, NULL, 0, &out, NULL), 0);
	kw_put(&out, payload, n);
	kw_wr32(out.p + KW_B_LENGTH, (uint32_t)(out.n - KW_B_LOG_OVERHEAD));
	kw_wr16(out.p + KW_B_ATTRIBUTES, (uint16_t)codec);
	kw_wr32(out.p + KW_B_COUNT, (uint32_t)count);
	p = malloc(out.n);
	assert_non_null(p);
	memcpy(p, out.p, out.n);
	assert_int_equal(kw_batch_parse(p, out.n, &batch, NULL), 0);
	kw_buf_fini(&out);
	return batch;
}

static inline void free_batch(struct kw_batch *batch)
{
	free((void *)(uintptr_t)batch->p);
}

/* ---- the tally ---- */

struct tallying {
	const struct kw_batch *batch;
	struct kw_tally want;      /* by what is shown */
	int shown, told;
	bool enough;               /* what the tally is answered */
};

static inline int add_to_tally(void *arg, int32_t index, const struct kw_record *record)
{
	struct tallying *t = arg;
	int64_t timestamp = kw_record_time(t->batch, record);

	if (index == 0)
		t->want = (struct kw_tally){.minTimestamp = timestamp, .maxTimestamp = timestamp,
					    .deltaOfMax = record->offsetDelta, .firstDelta = record->offsetDelta};
	if (timestamp > t->want.maxTimestamp) {
		t->want.maxTimestamp = timestamp;
		t->want.indexOfMax = index;
		t->want.deltaOfMax = record->offsetDelta;
	}
	if (timestamp < t->want.minTimestamp)
		t->want.minTimestamp = timestamp;
	t->want.odd = t->want.odd || record->offsetDelta != index;
	t->want.null_key = t->want.null_key || record->key.n < 0;
	t->shown++;
	return 0;
}

static inline bool take_tally(void *arg, const struct kw_tally *tally)
{
	struct tallying *t = arg;

	assert_int_equal(tally->minTimestamp, t->want.minTimestamp);
	assert_int_equal(tally->maxTimestamp, t->want.maxTimestamp);
	assert_int_equal(tally->indexOfMax, t->want.indexOfMax);
	assert_int_equal(tally->deltaOfMax, t->want.deltaOfMax);
	assert_int_equal(tally->firstDelta, t->want.firstDelta);
	assert_int_equal(tally->odd, t->want.odd);
	assert_int_equal(tally->null_key, t->want.null_key);
	t->told++;
	return t->enough;
}

/* What a tally tells is what a look at each record tells; and it makes no difference to the verdict whether there is
 * one. Returns whether there was one. */
static inline bool check_tally(const struct kw_batch *batch, const struct kw_walk_opts *opts)
{
	struct kw_walk_opts with = opts ? *opts : (struct kw_walk_opts){0};
	struct tallying t = {.batch = batch};
	enum kw_walk ended, again;
	struct kw_buf inflated = {0};
	int code = kw_batch_walk(batch, opts, add_to_tally, &t, &ended, NULL);
	int shown = t.shown;

	with.tally = take_tally;
	with.inflated = &inflated;
	for (int enough = 0; enough < 2; enough++) {
		t.enough = enough;
		t.shown = t.told = 0;
		assert_int_equal(kw_batch_walk(batch, &with, add_to_tally, &t, &again, NULL), code);
		assert_int_equal(again, ended);
		assert_int_equal(t.shown, t.told && enough ? 0 : shown);
		assert_true(!t.told || ended == KW_WALK_END);
	}
	kw_buf_fini(&inflated);
	return t.told;
}

static inline int walk_payload(int codec, const uint8_t *payload, size_t n, int32_t count,
			       const struct kw_walk_opts *opts)
{
	struct kw_batch batch = batch_of(codec, payload, n, count);
	int code;

	err = (struct kt_err){0};
	seen = 0;
	code = kw_batch_walk(&batch, opts, count_records, NULL, &why, &err);
	check_tally(&batch, opts);
	free_batch(&batch);
	return code;
}

static inline int walk_area(enum mode mode, const uint8_t *area, size_t n, int32_t count)
{
	struct kw_walk_opts opts = {.skip_bodies = mode == SKIP};
	struct kw_buf packed;
	int code;

	kw_buf_init(&packed, 0);
	assert_int_equal(kw_compress(mode == PLAIN ? KW_NONE : KW_GZIP, area, n, &packed, NULL), 0);
	code = walk_payload(mode == PLAIN ? KW_NONE : KW_GZIP, packed.p, packed.n, count, &opts);
	kw_buf_fini(&packed);
	return code;
}

#endif
