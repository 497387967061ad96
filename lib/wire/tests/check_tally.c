#include "lib/wire/tests/check_tally.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "lib/wire/record_time.h"

struct tallying {
	const struct kw_batch *batch;
	struct kw_tally want;      /* by what is shown */
	int shown, told;
	bool enough;               /* what the tally is answered */
};

static int add_to_tally(void *arg, int32_t index, const struct kw_record *record)
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

static bool take_tally(void *arg, const struct kw_tally *tally)
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

bool check_tally(const struct kw_batch *batch, const struct kw_walk_opts *opts)
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
