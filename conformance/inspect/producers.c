/* The snapshot of a partition's producers, and the checkpoint of its leader epochs. */
#include <inttypes.h>
#include <stdlib.h>

#include "conformance/inspect/indexes.h"
#include "kw_messages.h"

/* Source: ProducerStateManager.readSnapshot (Kafka 4.4.0): version, CRC-32C of what follows it, producers. */
enum { SNAPSHOT_VERSION = 1, CRC_AT = 2, PRODUCERS_AT = 6, FAULTS_MAX = 8 };

static void fault(struct cf_inspector *inspector, const struct cf_beside *beside, size_t at, size_t size, const char *text)
{
	struct cf_place place = {at, size, false, false};

	cf_inspect_fault(inspector, &place, &beside->bytes, beside->name, text, 0);
}

/* ---- producers ---- */

static void show_producer(struct cf_inspector *inspector, const struct kw_ProducerSnapshot_ProducerEntry *entry)
{
	struct cf_place nowhere = {.none = true};
	char name[40], text[240], open[60] = "";

	snprintf(name, sizeof name, "producer %" PRId64, entry->producerId);
	if (entry->currentTxnFirstOffset >= 0)
		snprintf(open, sizeof open, ", a transaction open since offset %" PRId64, entry->currentTxnFirstOffset);
	snprintf(text, sizeof text, "epoch %d, last sequence %d at offset %" PRId64 "%s", entry->epoch, entry->lastSequence,
		 entry->lastOffset, open);
	cf_tree_leaf(&inspector->tree, &nowhere, name,
		     json_pack("{sisisIsIsI}", "epoch", entry->epoch, "lastSequence", entry->lastSequence, "lastOffset",
			       (json_int_t)entry->lastOffset, "timestamp", (json_int_t)entry->timestamp, "currentTxnFirstOffset",
			       (json_int_t)entry->currentTxnFirstOffset), text, false);
}

static void check_snapshot(struct cf_inspector *inspector, const struct cf_beside *beside,
			   const struct kw_ProducerSnapshot *snapshot, size_t used)
{
	const struct kw_slice *bytes = &beside->bytes;
	uint32_t computed = kw_crc32c(0, bytes->p + PRODUCERS_AT, bytes->n - PRODUCERS_AT);
	char text[120];

	if (snapshot->crc != computed) {
		snprintf(text, sizeof text, "crc says %08x, the bytes behind it have %08x", snapshot->crc, computed);
		fault(inspector, beside, CRC_AT, 4, text);
	}
	if (CRC_AT + used < bytes->n)
		fault(inspector, beside, CRC_AT + used, bytes->n - CRC_AT - used, "bytes behind the last producer");
}

static void show_snapshot(struct cf_inspector *inspector, const struct cf_beside *beside, struct kw_arena *arena)
{
	const struct kw_slice *bytes = &beside->bytes;
	struct cf_place place = {0, bytes->n, false, bytes->n == 0};
	struct kw_ProducerSnapshot *snapshot = NULL;
	int version = bytes->n >= CRC_AT ? (int16_t)kw_rd16(bytes->p) : -1;
	struct kt_err err = {0};
	size_t used = 0;
	void *decoded;
	char text[120];

	if (version != SNAPSHOT_VERSION)
		kt_fail(&err, KT_EVERSION, "version is %d, Kafka knows 1 only", version);
	else if (kw_decode(&kw_msg_ProducerSnapshot, version, bytes->p + CRC_AT, bytes->n - CRC_AT, arena, &decoded, &used,
			   &err) == 0)
		snapshot = decoded;
	snprintf(text, sizeof text, "producers in front of offset %" PRId64 ": %d", beside->first_offset,
		 snapshot ? snapshot->producerEntries.n : 0);
	cf_tree_open(&inspector->tree, &place, beside->name, text);
	for (int32_t i = 0; snapshot && i < snapshot->producerEntries.n && beside->entries; i++)
		show_producer(inspector, &snapshot->producerEntries.v[i]);
	if (snapshot)
		check_snapshot(inspector, beside, snapshot, used);
	else
		fault(inspector, beside, err.code == KT_EVERSION ? 0 : CRC_AT + err.offset, err.code == KT_EVERSION ? 2 : 1, err.text);
	cf_tree_close(&inspector->tree);
}

void cf_inspect_producers(struct cf_inspector *inspector, const struct cf_beside *beside)
{
	struct kw_arena arena;

	kw_arena_init(&arena, KW_INFLATE_MAX);
	show_snapshot(inspector, beside, &arena);
	kw_arena_fini(&arena);
}

/* ---- leader epochs ---- */

struct epoch {
	int64_t epoch, start;
	size_t at, size;             /* its line */
};

struct epochs {
	struct cf_inspector *inspector;
	const struct cf_beside *beside;
	struct epoch *v;
	size_t n;
};

/* The next line of the text, at *at. False at the end. */
static bool next_line(const struct kw_slice *bytes, size_t *at, size_t *size)
{
	const uint8_t *end;

	if (*at >= bytes->n)
		return false;
	end = memchr(bytes->p + *at, '\n', bytes->n - *at);
	*size = end ? (size_t)(end - bytes->p) - *at : bytes->n - *at;
	return true;
}

/* "EPOCH START", or one number if start is NULL. */
static bool read_numbers(const struct kw_slice *bytes, size_t at, size_t size, int64_t *first, int64_t *second)
{
	char line[60], *end;

	if (size == 0 || size >= sizeof line)
		return false;
	memcpy(line, bytes->p + at, size);
	line[size] = '\0';
	*first = strtoll(line, &end, 10);
	if (end == line)
		return false;
	if (second) {
		if (*end != ' ')
			return false;
		*second = strtoll(end + 1, &end, 10);
	}
	return *end == '\0';
}

/* Version, number of entries, entries. Returns the place of what is wrong, SIZE_MAX = nothing. */
static size_t read_epochs(struct epochs *epochs)
{
	const struct kw_slice *bytes = &epochs->beside->bytes;
	size_t at = 0, size = 0;
	int64_t version, count;

	if (!next_line(bytes, &at, &size) || !read_numbers(bytes, at, size, &version, NULL) || version != 0)
		return at;
	at += size + 1;
	if (!next_line(bytes, &at, &size) || !read_numbers(bytes, at, size, &count, NULL) || count < 0 ||
	    (uint64_t)count > bytes->n)
		return at;
	epochs->v = calloc((size_t)count + 1, sizeof *epochs->v);
	for (at += size + 1; epochs->v && next_line(bytes, &at, &size); at += size + 1) {
		struct epoch *epoch = &epochs->v[epochs->n];

		if (epochs->n == (size_t)count || !read_numbers(bytes, at, size, &epoch->epoch, &epoch->start))
			return at;
		epoch->at = at;
		epoch->size = size;
		epochs->n++;
	}
	return epochs->n == (size_t)count ? SIZE_MAX : at;
}

static void check_epochs(struct epochs *epochs)
{
	for (size_t i = 1; i < epochs->n; i++) {
		const struct epoch *epoch = &epochs->v[i];

		if (epoch->epoch <= epoch[-1].epoch || epoch->start <= epoch[-1].start)
			fault(epochs->inspector, epochs->beside, epoch->at, epoch->size, "epochs and their first offsets must rise");
	}
}

/* Every batch is of the last epoch that begins at or in front of it. */
static void check_batches(struct epochs *epochs, const struct cf_segment *segment)
{
	size_t faults = 0, e = 0;
	char text[200];

	for (size_t i = 0; i < segment->n && faults < FAULTS_MAX; i++) {
		const struct cf_batch_place *batch = &segment->v[i];

		while (e + 1 < epochs->n && epochs->v[e + 1].start <= batch->first)
			e++;
		if (batch->leaderEpoch < 0 || epochs->v[e].start > batch->first || epochs->v[e].epoch == batch->leaderEpoch)
			continue;
		snprintf(text, sizeof text, "says epoch %" PRId64 " for offset %" PRId64 ", the batch there (byte %zu of the segment) has "
			 "partitionLeaderEpoch %d", epochs->v[e].epoch, batch->first, batch->at, batch->leaderEpoch);
		fault(epochs->inspector, epochs->beside, epochs->v[e].at, epochs->v[e].size, text);
		faults++;
	}
}

void cf_inspect_epochs(struct cf_inspector *inspector, const struct cf_beside *beside, const struct cf_segment *segment)
{
	struct epochs epochs = {.inspector = inspector, .beside = beside};
	struct cf_place place = {0, beside->bytes.n, false, beside->bytes.n == 0}, nowhere = {.none = true};
	size_t wrong = read_epochs(&epochs);
	char name[40], text[80];

	snprintf(text, sizeof text, "leader epochs: %zu", epochs.n);
	cf_tree_open(&inspector->tree, &place, beside->name, text);
	for (size_t i = 0; i < epochs.n && beside->entries; i++) {
		snprintf(name, sizeof name, "epoch %" PRId64, epochs.v[i].epoch);
		snprintf(text, sizeof text, "from offset %" PRId64 " on", epochs.v[i].start);
		cf_tree_leaf(&inspector->tree, &nowhere, name, json_integer(epochs.v[i].start), text, false);
	}
	if (wrong != SIZE_MAX)
		fault(inspector, beside, wrong, wrong < beside->bytes.n, "not what Kafka writes: a 0, the number of lines that follow, "
		      "and lines of epoch and first offset");
	check_epochs(&epochs);
	if (segment && epochs.n > 0)
		check_batches(&epochs, segment);
	cf_tree_close(&inspector->tree);
	free(epochs.v);
}
