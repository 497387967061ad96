#include "fakebroker/log/compact.h"

#include <stdlib.h>

#include "fakebroker/log/cleaned_txns.h"
#include "fakebroker/log/thin.h"
#include "fakebroker/mutants.h"
#include "lib/wire/control.h"

/* A round. */
struct round {
	const struct fb_log *log;
	const struct fb_producers *producers;
	const struct fb_compaction *conf;
	size_t end;                 /* entries[first..end) are compacted */
	int64_t firstDirtyOffset, endOffset;
	struct kw_walk_opts opts;
	struct fb_latest latest;
	struct fb_cleaned_txns txns;
	struct fb_thinning how;
	struct fb_entry *entries;   /* what stays; each has a reference of its frame */
	size_t n;
	struct fb_compacted *done;
	struct kt_err *err;
};

/* ---- segments ---- */

/* Where the segment of an entry begins; that of the log's end is the active one. */
static size_t segment_of(const struct fb_log *log, size_t i)
{
	if (i == log->n && (i == log->first || log->activeBytes == 0))
		return i;
	if (i == log->n)
		i--;
	while (!fb_log_begins_segment(log, i))
		i--;
	return i;
}

/* The first segment, from that of firstDirtyOffset on and below `end`, that has a record younger than the lag. */
static size_t first_too_young(const struct round *round, size_t end)
{
	const struct fb_log *log = round->log;
	size_t i = segment_of(log, fb_log_find(log, round->firstDirtyOffset));

	while (i < end) {
		struct fb_segment segment = fb_log_segment(log, i);

		if (segment.largestTimestamp > round->how.now - round->conf->minLagMs)
			return i;
		i += segment.n;
	}
	return end;
}

/* LogCleanerManager.cleanableOffsets and calculateCleanableBytes. */
static void find_range(struct round *round)
{
	const struct fb_log *log = round->log;
	int64_t stable = fb_last_stable_offset(log, round->producers);
	size_t active = segment_of(log, log->n), unstable = segment_of(log, fb_log_find(log, stable));

	round->firstDirtyOffset = log->cleanedTo > log->logStartOffset ? log->cleanedTo : log->logStartOffset;
	if (fb_mutant(FB_M_ACTIVE_COMPACTED) && stable == log->logEndOffset)
		active = unstable = log->n;
	if (fb_mutant(FB_M_OPEN_COMPACTED))
		unstable = active;
	round->end = unstable < active ? unstable : active;
	if (fb_mutant(FB_M_ONE_ROUND) && log->cleanedTo > 0)
		round->end = log->first;
	if (round->conf->minLagMs > 0 && !fb_mutant(FB_M_MIN_LAG_IGNORED))
		round->end = first_too_young(round, round->end);
	round->endOffset = round->end < log->n ? fb_segment_base(&log->entries[round->end]) : log->logEndOffset;
}

/* ---- one batch ---- */

static int take_type(void *arg, int32_t index, const struct kw_record *record)
{
	int *type = arg;

	(void)index;
	/* An unreadable key stays -1, and is told apart by the result. */
	return kw_control_read_key(record->key, NULL, type, NULL) < 0 ? KT_ECORRUPT : 1;
}

/* Of a control batch; -1 if it is empty. KT_ECORRUPT if it cannot be read, KT_ENOMEM. */
static int read_type(const struct round *round, const struct kw_batch *batch, int *type)
{
	enum kw_walk why;
	int code;

	*type = -1;
	code = kw_batch_walk(batch, &round->opts, take_type, type, &why, NULL);
	if (code < 0 && code != KT_ENOMEM)
		return kt_fail(round->err, KT_ECORRUPT, "no control record can be read in it");
	return code < 0 ? code : 0;
}

/* Reads the entry's batch and shows it to the transactions. 1: it can go, whatever its keys; 0 or an error. */
static int pass(const struct round *round, struct fb_cleaned_txns *txns, const struct fb_entry *entry,
		struct kw_batch *batch)
{
	int type, code;

	if (entry->opaque)
		return kt_fail(round->err, KT_ECORRUPT, "only batches of magic 2 are compacted");
	fb_entry_batch(entry, batch);
	if (batch->attributes & KW_A_CONTROL) {
		code = read_type(round, batch, &type);
		if (!code)
			code = fb_cleaned_txns_marker(txns, batch, type);
	} else {
		code = fb_cleaned_txns_data(txns, batch);
	}
	return code == KT_ENOMEM ? kt_fail(round->err, KT_ENOMEM, "out of memory") : code;
}

/* Says which batch it was. Returns the code. */
static int place(const struct round *round, const struct fb_entry *entry, int code)
{
	if (code < 0 && round->err)
		snprintf(round->err->path, sizeof round->err->path, "batch at offset %lld",
			 (long long)entry->baseOffset);
	return code;
}

/* ---- keys ---- */

struct indexing {
	struct round *round;
	const struct kw_batch *batch;
};

static int add_key(void *arg, int32_t index, const struct kw_record *record)
{
	struct indexing *indexing = arg;
	struct round *round = indexing->round;
	int64_t offset = indexing->batch->baseOffset + record->offsetDelta;
	bool copy = indexing->batch->attributes & KW_A_CODEC;

	(void)index;
	if (record->key.n < 0 || offset < round->firstDirtyOffset)
		return 0;
	if (fb_latest_add(&round->latest, record->key, offset, copy) < 0)
		return kt_fail(round->err, KT_ENOMEM, "out of memory");
	return 0;
}

static int index_entry(struct round *round, struct fb_cleaned_txns *txns, const struct fb_entry *entry)
{
	struct kw_batch batch;
	enum kw_walk why;
	int gone = pass(round, txns, entry, &batch);

	if (gone < 0 || (gone > 0 && !fb_mutant(FB_M_ABORTED_COUNT)) || batch.attributes & KW_A_CONTROL)
		return gone < 0 ? gone : 0;
	return kw_batch_walk(&batch, &round->opts, add_key, &(struct indexing){round, &batch}, &why, round->err);
}

/* Cleaner.buildOffsetMap: the latest offset of each key, aborted records aside, of the segments that are dirty. */
static int index_keys(struct round *round, const struct fb_txns *known)
{
	const struct fb_log *log = round->log;
	struct fb_cleaned_txns txns;
	int code = 0;

	if (fb_cleaned_txns_init(&txns, known, round->firstDirtyOffset) < 0)
		return kt_fail(round->err, KT_ENOMEM, "out of memory");
	for (size_t i = segment_of(log, fb_log_find(log, round->firstDirtyOffset)); !code && i < round->end; i++)
		code = place(round, &log->entries[i], index_entry(round, &txns, &log->entries[i]));
	fb_cleaned_txns_fini(&txns);
	fb_latest_sort(&round->latest);
	return code;
}

/* ---- what stays ---- */

/* Does the batch have what is known last of its producer: its sequences, or without any its epoch? */
static bool is_last_of_producer(const struct round *round, const struct fb_entry *entry, const struct kw_batch *batch)
{
	const struct fb_producer *producer = fb_producers_find(round->producers, batch->producerId);

	if (fb_mutant(FB_M_EMPTY_BATCHES_STAY))
		return true;
	if (!fb_has_producer_id(batch) || !producer || fb_mutant(FB_M_LAST_BATCH_GOES))
		return false;
	if (producer->n > 0)
		return entry->lastOffset == producer->batches[producer->n - 1].lastOffset;
	return batch->attributes & KW_A_CONTROL && batch->producerEpoch == producer->producerEpoch;
}

/* The batch that ends at the high watermark stays as well, so that no log ends before it. */
static bool is_last_of_log(const struct round *round, const struct fb_entry *entry)
{
	return entry->lastOffset + 1 == round->log->logEndOffset;
}

/* The filter of Cleaner.cleanInto. */
static int clean_entry(struct round *round, const struct fb_entry *entry)
{
	struct fb_thinned thinned = {0};
	struct kw_batch batch;
	int code = pass(round, &round->txns, entry, &batch);
	bool control, gone, due;

	if (code < 0)
		return code;
	control = batch.attributes & KW_A_CONTROL;
	gone = code > 0 || (control && fb_mutant(FB_M_MARKERS_UNASKED));
	due = (!control && !fb_mutant(FB_M_ABORTED_STAY)) ||
	      (batch.attributes & KW_A_DELETE_HORIZON && batch.baseTimestamp <= round->how.now);
	if (control && fb_mutated())
		due = fb_mutant(FB_M_MARKERS_AT_ONCE) || (due && !fb_mutant(FB_M_MARKERS_FOR_EVER));
	round->how.discard = gone && due;
	round->how.marker_of_nothing = gone && control;
	round->how.stays_empty = is_last_of_producer(round, entry, &batch) || is_last_of_log(round, entry);
	code = fb_thin(&round->how, entry, &thinned, round->err);
	if (code)
		return code;
	round->done->batchesRead++;
	round->done->recordsRead += (uint64_t)thinned.read;
	round->done->bytesRead += entry->size;
	if (!thinned.entry.frame)
		return 0;
	round->done->batchesKept++;
	round->done->recordsKept += (uint64_t)thinned.kept;
	round->done->bytesKept += thinned.entry.size;
	thinned.entry.rolled = false;
	thinned.entry.hole = 0;
	round->entries[round->n++] = thinned.entry;
	return 0;
}

/* Cleaner.groupSegmentsBySize: as many segments as one can hold. Kafka's bound for indexes is never the first to be
 * met. */
static size_t group_end(const struct round *round, size_t at)
{
	const struct fb_log *log = round->log;
	struct fb_segment segment = fb_log_segment(log, at);
	int64_t base = fb_segment_base(&log->entries[at]);
	size_t bytes = segment.bytes, end = at + segment.n;

	while (end < round->end) {
		int64_t next;

		segment = fb_log_segment(log, end);
		next = end + segment.n < round->end ? fb_segment_base(&log->entries[end + segment.n])
						    : round->endOffset;
		if ((log->segmentBytes && bytes + segment.bytes > log->segmentBytes) || next - 1 - base > INT32_MAX)
			break;
		bytes += segment.bytes;
		end += segment.n;
	}
	return end;
}

/* The group's first batch begins a segment, which has the offsets before it that were emptied since `base`. */
static void begin_segment(struct fb_entry *entry, int64_t base)
{
	int64_t hole = entry->baseOffset - base;

	entry->rolled = true;
	entry->hole = hole > UINT32_MAX ? UINT32_MAX : (uint32_t)hole;
}

static int clean(struct round *round)
{
	const struct fb_log *log = round->log;
	int64_t base = round->end > log->first ? fb_segment_base(&log->entries[log->first]) : 0;
	int code = 0;

	for (size_t at = log->first, end; !code && at < round->end; at = end) {
		size_t n = round->n;

		end = group_end(round, at);
		for (size_t i = at; !code && i < end; i++)
			code = place(round, &log->entries[i], clean_entry(round, &log->entries[i]));
		if (round->n == n)   /* nothing stays: those offsets are the next segment's that is compacted */
			continue;
		begin_segment(&round->entries[n], base);
		base = end < log->n ? fb_segment_base(&log->entries[end]) : 0;
	}
	return code;
}

/* ---- the round ---- */

static void give_up(struct round *round)
{
	for (size_t i = 0; i < round->n; i++)
		fb_frame_unref(round->entries[i].frame);
}

int fb_log_compact(struct fb_log *log, const struct fb_producers *producers, struct fb_txns *txns,
		   const struct fb_compaction *conf, int64_t now, struct fb_compacted *done, struct kt_err *err)
{
	struct round round = {
		.log = log, .producers = producers, .conf = conf,
		.opts = {.record_max = conf->record_max, .inflate_max = conf->inflate_max}, .done = done, .err = err,
	};
	int code;

	*done = (struct fb_compacted){0};
	fb_latest_init(&round.latest);
	round.how = (struct fb_thinning){
		.latest = &round.latest, .opts = &round.opts, .now = now, .deleteRetentionMs = conf->deleteRetentionMs,
	};
	find_range(&round);
	done->firstDirtyOffset = round.firstDirtyOffset;
	done->firstUncleanableOffset = round.endOffset;
	round.entries = calloc(round.end - log->first + 1, sizeof *round.entries);
	code = round.entries && fb_cleaned_txns_init(&round.txns, txns, 0) == 0
		       ? index_keys(&round, txns)
		       : kt_fail(err, KT_ENOMEM, "out of memory");
	if (!code)
		code = clean(&round);
	if (code) {
		give_up(&round);
	} else {
		fb_log_replace(log, round.end, round.entries, round.n);
		fb_cleaned_txns_apply(&round.txns, txns, round.endOffset);
		log->cleanedTo = round.endOffset > round.firstDirtyOffset ? round.endOffset : round.firstDirtyOffset;
		if (fb_mutant(FB_M_START_MOVES) && log->first < log->n)
			log->logStartOffset = log->entries[log->first].baseOffset;
	}
	fb_cleaned_txns_fini(&round.txns);
	fb_latest_fini(&round.latest);
	free(round.entries);
	return code;
}
