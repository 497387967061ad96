/* Walking the records of a batch by kw_batch_walk() against a plain walker: with a look at each record, and for no more
 * than what they all come to. */
#include <stdio.h>
#include <stdlib.h>

#include "lib/text/bench/pairs.h"
#include "lib/wire/batch.h"
#include "lib/wire/record_time.h"
#include "lib/wire/varint.h"

enum { PAIRS = 61, BLOCK_US = 1500, BATCH_BYTES = 64 << 10, KEY_BYTES = 8, HEADERS_MAX = 2,
       VARIES_MAX = 40 };

#define LIMIT 1.3
#define TALLY_LIMIT 0.8
#define ALIKE_LIMIT 0.4

/* Adds up what it sees, so that every field of a record is read. */
struct sum {
	uint64_t bytes, headers;
	int64_t deltas;
};

static int add(void *arg, int32_t index, const struct kw_record *record)
{
	struct sum *sum = arg;

	(void)index;
	sum->bytes += (uint64_t)(record->key.n + record->value.n);
	sum->deltas += record->timestampDelta + record->offsetDelta + record->attributes;
	for (int32_t i = 0; i < record->nheaders; i++)
		sum->headers += (uint64_t)(record->headers[i].key.n + record->headers[i].value.n);
	return 0;
}

struct run {
	struct kw_batch batch;
	struct sum sum;
	struct kw_tally tally;
};

static int add_to_tally(void *arg, int32_t index, const struct kw_record *record)
{
	struct run *run = arg;
	struct kw_tally *tally = &run->tally;
	int64_t timestamp = kw_record_time(&run->batch, record);

	if (index == 0)
		*tally = (struct kw_tally){.minTimestamp = timestamp, .maxTimestamp = timestamp,
					   .deltaOfMax = record->offsetDelta, .firstDelta = record->offsetDelta};
	if (timestamp > tally->maxTimestamp) {
		tally->maxTimestamp = timestamp;
		tally->indexOfMax = index;
		tally->deltaOfMax = record->offsetDelta;
	}
	if (timestamp < tally->minTimestamp)
		tally->minTimestamp = timestamp;
	tally->odd |= record->offsetDelta != index;
	tally->null_key |= record->key.n < 0;
	return 0;
}

/* ---- the plain walker ----
 * As one writes it by hand: the same record for the same callback, every length checked, at the end nothing left. Of a
 * fault it says no more than that there is one. */

struct plain {
	const uint8_t *p, *end;
};

static inline bool plain_run(struct plain *plain, const uint8_t **run, int32_t *n)
{
	int used = kw_get_varint(plain->p, plain->end, n);

	if (used <= 0)
		return false;
	plain->p += used;
	*run = NULL;
	if (*n < 0) {
		*n = -1;
		return true;
	}
	if (*n > plain->end - plain->p)
		return false;
	*run = plain->p;
	plain->p += *n;
	return true;
}

static inline bool plain_headers(struct plain *plain, struct kw_record *record, struct kw_header *headers, int32_t most)
{
	int used = kw_get_varint(plain->p, plain->end, &record->nheaders);

	if (used <= 0 || record->nheaders < 0 || record->nheaders > most)
		return false;
	plain->p += used;
	record->headers = record->nheaders ? headers : NULL;
	for (int32_t i = 0; i < record->nheaders; i++) {
		const uint8_t *key;

		if (!plain_run(plain, &key, &headers[i].key.n) || headers[i].key.n < 0 ||
		    !plain_run(plain, &headers[i].value.p, &headers[i].value.n))
			return false;
		headers[i].key.s = (const char *)key;
	}
	return true;
}

static bool plain_walk(const struct kw_batch *batch, kw_record_fn *fn, void *arg)
{
	const uint8_t *start = batch->p + KW_B_RECORDS;
	struct plain plain = {start, batch->p + batch->size};
	struct kw_header headers[16];

	for (int32_t i = 0; i < batch->count; i++) {
		const uint8_t *at = plain.p, *body;
		struct kw_record record;
		int32_t size;
		int used = kw_get_varint(plain.p, plain.end, &size);

		if (used <= 0 || size <= 0 || size > plain.end - plain.p - used)
			return false;
		body = plain.p += used;
		record.attributes = (int8_t)*plain.p++;
		used = kw_get_varlong(plain.p, plain.end, &record.timestampDelta);
		if (used <= 0)
			return false;
		plain.p += used;
		used = kw_get_varint(plain.p, plain.end, &record.offsetDelta);
		if (used <= 0)
			return false;
		plain.p += used;
		if (!plain_run(&plain, &record.key.p, &record.key.n) ||
		    !plain_run(&plain, &record.value.p, &record.value.n) ||
		    !plain_headers(&plain, &record, headers, 16) || plain.p - body != size ||
		    (i == batch->count - 1 && plain.p != plain.end))
			return false;
		record.at = (size_t)(at - start);
		record.size = (size_t)(plain.p - at);
		if (fn(arg, i, &record))
			return false;
	}
	return true;
}

/* ---- the comparison ---- */

static void by_kit(void *arg, unsigned times)
{
	struct run *run = arg;
	enum kw_walk why;

	while (times--)
		if (kw_batch_walk(&run->batch, NULL, add, &run->sum, &why, NULL))
			abort();
}

static void by_plain(void *arg, unsigned times)
{
	struct run *run = arg;

	while (times--)
		if (!plain_walk(&run->batch, add, &run->sum))
			abort();
}

static bool take_tally(void *arg, const struct kw_tally *tally)
{
	((struct run *)arg)->tally = *tally;
	return true;
}

static void tally_by_kit(void *arg, unsigned times)
{
	struct run *run = arg;
	struct kw_walk_opts opts = {.tally = take_tally};
	enum kw_walk why;

	while (times--)
		if (kw_batch_walk(&run->batch, &opts, NULL, run, &why, NULL))
			abort();
}

static void tally_by_plain(void *arg, unsigned times)
{
	struct run *run = arg;

	while (times--)
		if (!plain_walk(&run->batch, add_to_tally, run))
			abort();
}

/* ---- the batches ---- */

/* Values and keys are of that length and by up to `varies` bytes longer; times go on by one in ten records, or are
 * any. */
struct form {
	const char *name;
	int32_t value, key, nheaders, varies;
	bool any_time;
	double limit;
};

static void build(const struct form *form, struct kw_buf *out)
{
	static const uint8_t bytes[1024 + VARIES_MAX];
	static const struct kw_header headers[HEADERS_MAX] = {
		{{"trace-id", 8}, {bytes, 16}},
		{{"schema", 6}, {bytes, 4}},
	};
	int32_t n = BATCH_BYTES / (KEY_BYTES + form->value + 16);
	struct kw_record *records = calloc((size_t)n, sizeof *records);
	uint32_t any = 1;

	if (!records)
		abort();
	for (int32_t i = 0; i < n; i++) {
		int32_t more;

		any = any * 1664525 + 1013904223;
		more = (int32_t)(any >> 16) % (form->varies + 1);
		records[i] = (struct kw_record){.timestampDelta = form->any_time ? any >> 12 : (uint32_t)i / 10,
						.offsetDelta = i,
						.key = {bytes, form->key < 0 ? -1 : form->key + more},
						.value = {bytes, form->value + more},
						.nheaders = form->nheaders, .headers = headers};
	}
	if (kw_batch_build(&kw_batch_spec_default, records, n, out, NULL))
		abort();
	free(records);
}

static bool same_sums(struct run *run)
{
	struct sum kit;

	by_kit(run, 1);
	kit = run->sum;
	run->sum = (struct sum){0};
	by_plain(run, 1);
	return kit.bytes == run->sum.bytes && kit.headers == run->sum.headers && kit.deltas == run->sum.deltas;
}

static bool same_tallies(struct run *run)
{
	struct kw_tally kit, *plain = &run->tally;

	tally_by_kit(run, 1);
	kit = run->tally;
	tally_by_plain(run, 1);
	return kit.minTimestamp == plain->minTimestamp && kit.maxTimestamp == plain->maxTimestamp &&
	       kit.indexOfMax == plain->indexOfMax && kit.deltaOfMax == plain->deltaOfMax &&
	       kit.firstDelta == plain->firstDelta && kit.odd == plain->odd && kit.null_key == plain->null_key;
}

static void measure(struct pairs_tally *tally, const struct form *form, pairs_fn *kit, pairs_fn *plain)
{
	struct pairs_result result;
	struct kw_buf buf = {0};
	struct run run = {.sum = {0}};

	build(form, &buf);
	if (kw_batch_parse(buf.p, buf.n, &run.batch, NULL) || !same_sums(&run) || !same_tallies(&run)) {
		fprintf(stderr, "the two walkers disagree\n");
		exit(3);
	}
	result = pairs_measure(kit, plain, &run, PAIRS, BLOCK_US);
	result.a /= run.batch.count;
	result.b /= run.batch.count;
	pairs_line(tally, form->name, &result, form->limit);
	kw_buf_fini(&buf);
}

static const struct form walked[] = {
	{"values of 16 bytes, 0 headers", 16, KEY_BYTES, 0, 0, false, LIMIT},
	{"values of 100 bytes, 0 headers", 100, KEY_BYTES, 0, 0, false, LIMIT},
	{"values of 1024 bytes, 0 headers", 1024, KEY_BYTES, 0, 0, false, LIMIT},
	{"values of 16 bytes, 2 headers", 16, KEY_BYTES, 2, 0, false, LIMIT},
	{"values of 100 bytes, 2 headers", 100, KEY_BYTES, 2, 0, false, LIMIT},
	{"values of 1024 bytes, 2 headers", 1024, KEY_BYTES, 2, 0, false, LIMIT},
}, tallied[] = {
	{"values of 100 bytes, no keys", 100, -1, 0, 0, false, ALIKE_LIMIT},
	{"values of 100 to 140 bytes, no keys", 100, -1, 0, 40, false, TALLY_LIMIT},
	{"values and keys of different lengths", 100, KEY_BYTES, 0, 40, false, TALLY_LIMIT},
	{"values of 100 bytes, any times", 100, -1, 0, 0, true, TALLY_LIMIT},
	{"values of 100 bytes, 2 headers", 100, KEY_BYTES, 2, 0, false, TALLY_LIMIT},
};

int main(void)
{
	struct pairs_tally tally = {0};

	pairs_head("walk, ns per record", "kit", "plain", "ns");
	for (size_t i = 0; i < sizeof walked / sizeof *walked; i++)
		measure(&tally, &walked[i], by_kit, by_plain);
	pairs_head("what all records come to, ns per record", "kit", "plain", "ns");
	for (size_t i = 0; i < sizeof tallied / sizeof *tallied; i++)
		measure(&tally, &tallied[i], tally_by_kit, tally_by_plain);
	return pairs_end(&tally);
}
