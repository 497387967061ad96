/* A log segment and a file beside it: an octet that says which and where the segment begins, the segment's length in
 * two octets, the segment, the file. What inspect shows of them is a whole tree; an index that is made of the segment's
 * own batches agrees with it. */
#include <stdlib.h>

#include "conformance/fuzz/whole_tree.h"
#include "conformance/inspect/indexes.h"

FUZZ_TARGET

enum { HEAD = 3, JSON = 128, AS_ITS_BATCH = 64, NAME = 63 };

static const char *const names[] = {
	"00000000000000000000.index",	 "00000000000000000000.timeindex", "00000000000000000000.txnindex",
	"00000000000000000000.snapshot", "leader-epoch-checkpoint",	   "partition.metadata",
};

enum { NAMES = sizeof names / sizeof *names };

/* 0, or the offset of the first batch. */
static int64_t first_offset(const struct kw_slice *bytes, int options)
{
	return options & AS_ITS_BATCH && bytes->n >= 8 ? (int64_t)(kw_rd64(bytes->p) & INT64_MAX) : 0;
}

static void put_entry(struct kw_buf *index, const struct cf_batch_place *batch, int64_t first)
{
	uint8_t entry[8];

	kw_wr32(entry, (uint32_t)(batch->last - first));
	kw_wr32(entry + 4, (uint32_t)batch->at);
	kw_put(index, entry, sizeof entry);
}

/* Entries as Kafka would write them, one for each batch behind the first whose offsets rise and fit. */
static void check_own_index(const struct cf_segment *segment, int64_t first)
{
	struct cf_inspector inspector = {0};
	struct cf_beside beside = {.name = names[0], .first_offset = first};
	struct kw_buf index = {0};
	int64_t last = first - 1;
	char *text = NULL;
	size_t size = 0;

	for (size_t i = 0; i < segment->n; i++) {
		const struct cf_batch_place *batch = &segment->v[i];

		FUZZ_CHECK(cf_segment_at(segment, batch->at) == batch);
		if (i == 0 || batch->last <= last || batch->last - first > INT32_MAX)
			continue;
		put_entry(&index, batch, first);
		last = batch->last;
	}
	beside.bytes = (struct kw_slice){index.p, index.n};
	inspector.tree.out = open_memstream(&text, &size);
	cf_inspect_index(&inspector, KW_INDEX_OFFSET, &beside, segment);
	fclose(inspector.tree.out);
	FUZZ_CHECK(inspector.faults == 0);
	kw_buf_fini(&index);
	free(text);
}

static void show(const struct kw_slice *bytes, const struct kw_slice *file, const char *name,
		 int64_t first, struct cf_inspector *inspector)
{
	struct cf_beside beside = {.name = name, .bytes = *file, .first_offset = first, .entries = true};
	struct cf_segment segment;

	cf_inspect_recovery(inspector, bytes, first);
	FUZZ_CHECK(cf_segment_read(&segment, bytes, first, NULL) == 0 && segment.end <= bytes->n);
	cf_inspect_alone(inspector, name, file, first);
	for (enum kw_index index = 0; index < KW_INDEX_KINDS; index++)
		cf_inspect_index(inspector, index, &beside, &segment);
	cf_inspect_epochs(inspector, &beside, &segment);
	check_own_index(&segment, first);
	cf_segment_fini(&segment);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct cf_inspector inspector = {0};
	struct kw_slice bytes, file;
	struct whole_tree whole = {0};

	if (n < HEAD)
		return 0;
	bytes = (struct kw_slice){p + HEAD, kw_rd16(p + 1)};
	if (bytes.n > n - HEAD)
		bytes.n = n - HEAD;
	file = (struct kw_slice){p + HEAD + bytes.n, n - HEAD - bytes.n};
	inspector.tree.json = p[0] & JSON;
	whole_tree_begin(&whole, &inspector);
	cf_tree_open(&inspector.tree, &(struct cf_place){.none = true}, "all", NULL);
	show(&bytes, &file, names[(p[0] & NAME) % NAMES], first_offset(&bytes, p[0]), &inspector);
	cf_tree_close(&inspector.tree);
	whole_tree_end(&whole, &inspector);
	return 0;
}
