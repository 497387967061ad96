/* Offset, time and transaction index: are they in order, and do they point where they should? */
#include "conformance/inspect/indexes.h"

#include <inttypes.h>

enum { FAULTS_MAX = 8 };

/* An index while it is held against the segment. */
struct index {
	struct cf_inspector *inspector;
	enum kw_index kind;
	const struct cf_beside *beside;
	const struct cf_segment *segment;
	size_t faults;
	size_t number; /* of the entry */
	struct kw_index_entry entry, before;
};

/* A fault of the entry; [at, at + size) of it are the bytes. */
__attribute__((format(printf, 4, 5))) static void wrong(struct index *index, size_t at, size_t size, const char *fmt,
							...)
{
	struct cf_place place = {index->number * kw_index_entry_size(index->kind) + at, size, false, false};
	char where[120], text[240];
	va_list ap;

	if (index->faults++ >= FAULTS_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	snprintf(where, sizeof where, "%.60s, entry %zu", index->beside->name, index->number);
	cf_inspect_fault(index->inspector, &place, &index->beside->bytes, where, text, 0);
}

/* ---- one entry ---- */

static void show_entry(struct index *index)
{
	const struct kw_index_entry *entry = &index->entry;
	size_t size = kw_index_entry_size(index->kind);
	struct cf_place place = {index->number * size, size, false, false};
	char name[40], text[200];
	json_t *value;

	snprintf(name, sizeof name, "entry %zu", index->number);
	switch (index->kind) {
	case KW_INDEX_OFFSET:
		snprintf(text, sizeof text, "offset %" PRId64 " at byte %d", entry->offset, entry->position);
		value = json_pack("{sIsi}", "offset", (json_int_t)entry->offset, "position", entry->position);
		break;
	case KW_INDEX_TIME:
		snprintf(text, sizeof text, "timestamp %" PRId64 " at offset %" PRId64, entry->timestamp,
			 entry->offset);
		value = json_pack("{sIsI}", "timestamp", (json_int_t)entry->timestamp, "offset",
				  (json_int_t)entry->offset);
		break;
	default:
		snprintf(text, sizeof text,
			 "producer %" PRId64 ", offsets %" PRId64 " to %" PRId64 ", last stable offset %" PRId64,
			 entry->producerId, entry->firstOffset, entry->offset, entry->lastStableOffset);
		value = json_pack("{sIsIsIsI}", "producerId", (json_int_t)entry->producerId, "firstOffset",
				  (json_int_t)entry->firstOffset, "lastOffset", (json_int_t)entry->offset,
				  "lastStableOffset", (json_int_t)entry->lastStableOffset);
		break;
	}
	cf_tree_leaf(&index->inspector->tree, &place, name, value, text, false);
}

/* The offset is the last one of the batch at the position. That of a batch behind it does no harm and is let pass, for
 * those who append several at once: whoever looks for an offset reads on from the position. Batches are searched only
 * for those, since the search takes the offsets to rise, which in a broken segment they may not. */
static void check_last_offset(struct index *index, const struct cf_batch_place *there)
{
	const struct kw_index_entry *entry = &index->entry;
	const struct cf_batch_place *batch = there->last == entry->offset ? there :
							 cf_segment_holding(index->segment, entry->offset);

	if (!batch || batch->last != entry->offset)
		wrong(index, 0, 4, "offset is %" PRId64 ", no batch ends with it", entry->offset);
	else if (batch->at < (size_t)entry->position)
		wrong(index, 0, 4, "the batch that ends with offset %" PRId64 " begins at %zu, in front of position %d",
		      entry->offset, batch->at, entry->position);
}

static void check_offset(struct index *index)
{
	const struct kw_index_entry *entry = &index->entry, *before = &index->before;
	const struct cf_batch_place *batch;

	if (entry->offset < index->beside->first_offset)
		wrong(index, 0, 4, "offset %" PRId64 " is in front of the segment, which begins at %" PRId64,
		      entry->offset, index->beside->first_offset);
	else if (index->number > 0 && entry->offset <= before->offset)
		wrong(index, 0, 4, "offset %" PRId64 " does not rise: the entry before has %" PRId64, entry->offset,
		      before->offset);
	if (entry->position < 0 || (index->number > 0 && entry->position <= before->position)) {
		wrong(index, 4, 4, "position %d does not rise: the entry before has %d", entry->position,
		      before->position);
		return;
	}
	if (!index->segment)
		return;
	batch = cf_segment_at(index->segment, (size_t)entry->position);
	if (!batch && (size_t)entry->position >= index->segment->end)
		wrong(index, 4, 4, "position %d is behind the last batch that can be read, which ends at %zu",
		      entry->position, index->segment->end);
	else if (!batch)
		wrong(index, 4, 4, "no batch begins at position %d", entry->position);
	else
		check_last_offset(index, batch);
}

static void check_time(struct index *index)
{
	const struct kw_index_entry *entry = &index->entry, *before = &index->before;
	const struct cf_batch_place *batch;

	if (index->number > 0 && entry->timestamp <= before->timestamp)
		wrong(index, 0, 8, "timestamp %" PRId64 " does not rise: the entry before has %" PRId64,
		      entry->timestamp, before->timestamp);
	if (index->number > 0 && entry->offset < before->offset) {
		wrong(index, 8, 4, "offset %" PRId64 " falls: the entry before has %" PRId64, entry->offset,
		      before->offset);
		return;
	}
	if (!index->segment)
		return;
	batch = cf_segment_holding(index->segment, entry->offset);
	if (!batch)
		wrong(index, 8, 4, "no batch has offset %" PRId64, entry->offset);
	else if (entry->timestamp != batch->maxTimestamp)
		wrong(index, 0, 8,
		      "timestamp is %" PRId64 ", the batch with offset %" PRId64 " has maxTimestamp %" PRId64,
		      entry->timestamp, entry->offset, batch->maxTimestamp);
	else if (batch->maxSoFar > entry->timestamp)
		wrong(index, 0, 8, "timestamp is %" PRId64 ", but a batch in front of offset %" PRId64 " has %" PRId64,
		      entry->timestamp, entry->offset, batch->maxSoFar);
}

static void check_txn(struct index *index)
{
	const struct kw_index_entry *entry = &index->entry;
	const struct cf_batch_place *marker;

	if (entry->version != 0)
		wrong(index, 0, 2, "version is %d, Kafka knows 0 only", entry->version);
	if (entry->firstOffset > entry->offset)
		wrong(index, 10, 8, "firstOffset %" PRId64 " is behind lastOffset %" PRId64, entry->firstOffset,
		      entry->offset);
	if (index->number > 0 && entry->offset <= index->before.offset)
		wrong(index, 18, 8, "lastOffset %" PRId64 " does not rise: the entry before has %" PRId64,
		      entry->offset, index->before.offset);
	if (!index->segment)
		return;
	marker = cf_segment_holding(index->segment, entry->offset);
	if (!marker && !index->segment->holes)
		wrong(index, 18, 8, "no batch has lastOffset %" PRId64, entry->offset);
	else if (marker && (!marker->abort || marker->producerId != entry->producerId))
		wrong(index, 18, 8, "at lastOffset %" PRId64 " there is no abort marker of producer %" PRId64,
		      entry->offset, entry->producerId);
}

/* ---- the file ---- */

static void check_entries(struct index *index, size_t n)
{
	static void (*const checks[])(struct index * index) = {
		[KW_INDEX_OFFSET] = check_offset,
		[KW_INDEX_TIME] = check_time,
		[KW_INDEX_TXN] = check_txn,
	};

	for (index->number = 0; index->number < n; index->number++) {
		kw_index_read(index->kind, index->beside->first_offset,
			      index->beside->bytes.p + index->number * kw_index_entry_size(index->kind), &index->entry);
		if (index->beside->entries)
			show_entry(index);
		checks[index->kind](index);
		index->before = index->entry;
	}
}

/* Kafka's sanity check of an index: then it is made anew. */
static void check_size(struct index *index)
{
	size_t size = kw_index_entry_size(index->kind), n = index->beside->bytes.n, rest = n % size;
	struct cf_place place = {n - rest, rest, false, false};
	char text[120];

	if (rest == 0)
		return;
	snprintf(text, sizeof text, "%zu bytes, which is no whole number of entries of %zu", n, size);
	cf_inspect_fault(index->inspector, &place, &index->beside->bytes, index->beside->name, text, 0);
}

/* An aborted transaction that is not in the index is shown to consumers that read committed records only. Compaction
 * takes entries out together with the records. */
static void check_missing(struct index *index, size_t n)
{
	const struct cf_segment *segment = index->segment;
	struct cf_place place = {index->beside->bytes.n, 0, false, false};
	struct kw_index_entry entry = {0};
	char text[160];
	size_t at = 0;

	for (size_t i = 0; i < segment->n && !segment->holes; i++) {
		const struct cf_batch_place *batch = &segment->v[i];

		for (; batch->abort && at < n && (at == 0 || entry.offset < batch->last); at++)
			kw_index_read(KW_INDEX_TXN, 0, index->beside->bytes.p + at * kw_index_entry_size(KW_INDEX_TXN),
				      &entry);
		if (!batch->abort || (at > 0 && entry.offset == batch->last) || index->faults++ >= FAULTS_MAX)
			continue;
		snprintf(text, sizeof text,
			 "no entry for the abort marker of producer %" PRId64 " at offset %" PRId64 " (byte %zu of the "
			 "segment)",
			 batch->producerId, batch->last, batch->at);
		cf_inspect_fault(index->inspector, &place, NULL, index->beside->name, text, 0);
	}
}

void cf_inspect_index(struct cf_inspector *inspector, enum kw_index kind, const struct cf_beside *beside,
		      const struct cf_segment *segment)
{
	struct index index = {.inspector = inspector, .kind = kind, .beside = beside, .segment = segment};
	size_t size = kw_index_entry_size(kind), n = kw_index_count(kind, beside->bytes.p, beside->bytes.n);
	struct cf_place place = {0, beside->bytes.n, false, beside->bytes.n == 0};
	char text[160], room[80] = "";

	if (n < beside->bytes.n / size)
		snprintf(room, sizeof room, ", room for %zu more", beside->bytes.n / size - n);
	snprintf(text, sizeof text, "%s: %zu %s%s", kw_index_word(kind), n, n == 1 ? "entry" : "entries", room);
	cf_tree_open(&inspector->tree, &place, beside->name, text);
	check_size(&index);
	check_entries(&index, n);
	if (kind == KW_INDEX_TXN && segment)
		check_missing(&index, n);
	if (index.faults > FAULTS_MAX) {
		snprintf(text, sizeof text, "%zu more", index.faults - FAULTS_MAX);
		cf_tree_leaf(&inspector->tree, &(struct cf_place){.none = true}, "wrong", json_string(text), text,
			     true);
		inspector->faults += index.faults - FAULTS_MAX;
	}
	cf_tree_close(&inspector->tree);
}
