/* Record batches: read one behind the other and walked, whole and as Kafka skims them; what they come to all at once
 * is what they come to one by one. What a whole walk shows makes a new batch that shows the same. */
#include "lib/text/fuzz/fuzz.h"
#include "lib/wire/batch.h"
#include "lib/wire/record_time.h"

FUZZ_TARGET

enum { INFLATE_MAX = 1 << 20 };

struct seen {
	const struct kw_batch *batch;
	struct kw_buf records;    /* as kw_record_put() writes them */
	struct kw_tally tally;    /* of them */
	int32_t n;
};

static void put_number(struct kw_buf *buf, int32_t n, const void *p)
{
	kw_put_u32(buf, (uint32_t)n);
	if (n > 0)
		kw_put(buf, p, (size_t)n);   /* reads each byte */
}

static void add(struct seen *seen, const struct kw_record *record)
{
	struct kw_tally *tally = &seen->tally;
	int64_t timestamp = kw_record_time(seen->batch, record);

	if (seen->n == 0)
		*tally = (struct kw_tally){.minTimestamp = timestamp, .firstDelta = record->offsetDelta};
	if (seen->n == 0 || timestamp > tally->maxTimestamp) {
		tally->maxTimestamp = timestamp;
		tally->indexOfMax = seen->n;
		tally->deltaOfMax = record->offsetDelta;
	}
	if (timestamp < tally->minTimestamp)
		tally->minTimestamp = timestamp;
	tally->odd |= record->offsetDelta != seen->n;
	tally->null_key |= record->key.n < 0;
}

static int note(void *arg, int32_t index, const struct kw_record *record)
{
	struct seen *seen = arg;

	FUZZ_CHECK(index == seen->n);
	add(seen, record);
	seen->n++;
	if (record->headers || record->nheaders == 0) {
		kw_record_put(&seen->records, record);
	} else {
		put_number(&seen->records, record->key.n, record->key.p);
		put_number(&seen->records, record->value.n, record->value.p);
	}
	return 0;
}

/* It is told after all records were shown: it is what they come to. */
static bool check_tally(void *arg, const struct kw_tally *tally)
{
	const struct kw_tally *want = &((struct seen *)arg)->tally;

	FUZZ_CHECK(tally->minTimestamp == want->minTimestamp && tally->maxTimestamp == want->maxTimestamp);
	FUZZ_CHECK(tally->indexOfMax == want->indexOfMax && tally->deltaOfMax == want->deltaOfMax);
	FUZZ_CHECK(tally->firstDelta == want->firstDelta);
	FUZZ_CHECK(tally->odd == want->odd && tally->null_key == want->null_key);
	return true;
}

static enum kw_walk walk(const struct kw_batch *batch, bool skim, struct seen *seen)
{
	struct kw_walk_opts opts = {.skip_bodies = skim, .inflate_max = INFLATE_MAX};
	enum kw_walk why, again;
	struct kt_err err = {0};
	int code;

	seen->batch = batch;
	code = kw_batch_walk(batch, &opts, note, seen, &why, &err);

	FUZZ_CHECK((code == 0) == (why == KW_WALK_END) && code == err.code);
	FUZZ_CHECK(why != KW_WALK_STOPPED);
	FUZZ_CHECK(why != KW_WALK_END || seen->n == (batch->count > 0 ? batch->count : 0));
	opts.tally = check_tally;
	kw_batch_walk(batch, &opts, NULL, seen, &again, NULL);
	FUZZ_CHECK(why == again);
	return why;
}

/* A batch of the same records, without compression. */
static void rebuild(const struct seen *seen)
{
	uint8_t header[KW_B_RECORDS] = {0};
	struct seen twin = {0};
	struct kw_batch batch;
	struct kw_buf buf = {0};
	struct kt_err err = {0};

	kw_wr32(header + KW_B_LENGTH, (uint32_t)(KW_B_RECORDS - KW_B_LOG_OVERHEAD + seen->records.n));
	kw_wr32(header + KW_B_COUNT, (uint32_t)seen->n);
	kw_put(&buf, header, sizeof header);
	if (seen->records.n)
		kw_put(&buf, seen->records.p, seen->records.n);
	FUZZ_CHECK(kw_batch_parse(buf.p, buf.n, &batch, &err) == 0 && batch.size == buf.n);
	FUZZ_CHECK(walk(&batch, false, &twin) == KW_WALK_END && twin.n == seen->n);
	FUZZ_CHECK(twin.records.n == seen->records.n &&
		   (twin.records.n == 0 || memcmp(twin.records.p, seen->records.p, twin.records.n) == 0));
	kw_buf_fini(&twin.records);
	kw_buf_fini(&buf);
}

static void check(const struct kw_batch *batch)
{
	struct seen whole = {0}, skimmed = {0};
	enum kw_walk why = walk(batch, false, &whole), skim_why = walk(batch, true, &skimmed);

	if ((batch->attributes & KW_A_CODEC) == KW_NONE)
		FUZZ_CHECK(why == skim_why && whole.n == skimmed.n);
	if (why == KW_WALK_END)
		rebuild(&whole);
	kw_batch_crc(batch->p, batch->size);
	kw_buf_fini(&whole.records);
	kw_buf_fini(&skimmed.records);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct kw_batch batch;
	struct kt_err err = {0};

	while (n > 0 && kw_batch_parse(p, n, &batch, &err) == 0) {
		FUZZ_CHECK(batch.p == p && batch.size <= n && batch.size >= KW_B_RECORDS);
		check(&batch);
		p += batch.size;
		n -= batch.size;
	}
	FUZZ_CHECK(n == 0 || (err.code && err.text[0]));
	return 0;
}
