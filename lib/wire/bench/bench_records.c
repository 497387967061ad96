/* Walking the records of a batch by kw_batch_walk() against a plain walker. */
#include <stdio.h>
#include <stdlib.h>

#include "lib/text/bench/pairs.h"
#include "lib/wire/batch.h"
#include "lib/wire/varint.h"

enum { PAIRS = 61, BLOCK_US = 1500, BATCH_BYTES = 64 << 10, KEY_BYTES = 8, HEADERS_MAX = 2 };

static const double LIMIT = 1.3;

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

struct run {
	struct kw_batch batch;
	struct sum sum;
};

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

static void build(int32_t value_bytes, int32_t nheaders, struct kw_buf *out)
{
	static const uint8_t bytes[1024];
	static const struct kw_header headers[HEADERS_MAX] = {
		{{"trace-id", 8}, {bytes, 16}},
		{{"schema", 6}, {bytes, 4}},
	};
	int32_t n = BATCH_BYTES / (KEY_BYTES + value_bytes + 16);
	struct kw_record *records = calloc((size_t)n, sizeof *records);

	if (!records)
		abort();
	for (int32_t i = 0; i < n; i++)
		records[i] = (struct kw_record){.timestampDelta = i / 10, .offsetDelta = i, .key = {bytes, KEY_BYTES},
						.value = {bytes, value_bytes}, .nheaders = nheaders,
						.headers = headers};
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

int main(void)
{
	static const int32_t sizes[] = {16, 100, 1024};
	struct pairs_tally tally = {0};

	pairs_head("walk, ns per record", "kit", "plain", "ns");
	for (int32_t nheaders = 0; nheaders <= HEADERS_MAX; nheaders += HEADERS_MAX)
		for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
			struct pairs_result result;
			struct kw_buf buf = {0};
			struct run run = {.sum = {0}};
			char name[64];

			build(sizes[i], nheaders, &buf);
			if (kw_batch_parse(buf.p, buf.n, &run.batch, NULL) || !same_sums(&run)) {
				fprintf(stderr, "the two walkers disagree\n");
				return 3;
			}
			result = pairs_measure(by_kit, by_plain, &run, PAIRS, BLOCK_US);
			result.a /= run.batch.count;
			result.b /= run.batch.count;
			snprintf(name, sizeof name, "values of %d bytes, %d headers", (int)sizes[i], (int)nheaders);
			pairs_line(&tally, name, &result, LIMIT);
			kw_buf_fini(&buf);
		}
	return pairs_end(&tally);
}
