#include "fakebroker/log/log.h"

#include <assert.h>
#include <stdlib.h>

#include "fakebroker/mutants.h"
#include "lib/wire/record_time.h"
#include "lib/wire/set.h"

enum { FIRST_CAP = 16 };

void fb_log_init(struct fb_log *log, size_t max_bytes)
{
	*log = (struct fb_log){.max_bytes = max_bytes};
}

/* ---- append ---- */

static size_t pinned_by(const struct fb_entry *entry)
{
	return sizeof *entry + entry->frame->cap;
}

/* Room for one entry more. Entries removed at the front make room first, once they are half of all. */
static int reserve(struct fb_log *log)
{
	struct fb_entry *entries;
	size_t cap;

	if (log->n < log->cap)
		return 0;
	if (log->first > log->cap / 2) {
		log->n -= log->first;
		memmove(log->entries, log->entries + log->first, log->n * sizeof *log->entries);
		log->first = 0;
		return 0;
	}
	cap = log->cap ? log->cap * 2 : FIRST_CAP;
	entries = realloc(log->entries, cap * sizeof *entries);
	if (!entries)
		return KT_ENOMEM;
	log->entries = entries;
	log->cap = cap;
	return 0;
}

/* The body in a frame of its own, behind its header so that a walker finds a batch as it was sent. */
static struct fb_frame *copy_out(const uint8_t *header, const uint8_t *body, size_t body_size)
{
	struct fb_frame *frame = fb_frame_new(KW_B_RECORDS + body_size);

	if (!frame)
		return NULL;
	frame->n = KW_B_RECORDS + body_size;
	memcpy(frame->p, header, KW_B_RECORDS);
	memcpy(frame->p + KW_B_RECORDS, body, body_size);
	return frame;
}

static void drop_first(struct fb_log *log)
{
	struct fb_entry *entry = &log->entries[log->first++];

	log->bytes -= entry->size;
	log->pinned -= pinned_by(entry);
	fb_frame_unref(entry->frame);
}

static void obey_limit(struct fb_log *log)
{
	while (log->max_bytes && log->pinned > log->max_bytes && log->n - log->first > 1) {
		drop_first(log);
		log->dropped++;
		if (log->logStartOffset < log->entries[log->first].baseOffset)
			log->logStartOffset = log->entries[log->first].baseOffset;
	}
}

/* LogSegment.timeWaitedForRoll. */
static bool is_too_late(const struct fb_log *log, const struct fb_entry *entry)
{
	if (log->activeTimestamp < 0)
		return log->now - log->activeMs > log->segmentMs;
	/* Timestamps are whatever a client sent: their difference may not fit. */
	return entry->maxTimestamp > log->activeTimestamp &&
	       entry->maxTimestamp - log->activeTimestamp > log->segmentMs;
}

/* LogSegment.shouldRoll. */
static bool must_roll(const struct fb_log *log, const struct fb_entry *entry)
{
	if (log->activeBytes == 0 || (log->segmentBytes && log->activeBytes + entry->size > log->segmentBytes))
		return true;
	return log->segmentMs && is_too_late(log, entry);
}

static void add_to_segment(struct fb_log *log, struct fb_entry *entry)
{
	entry->rolled = must_roll(log, entry);
	if (entry->rolled) {
		log->activeBytes = 0;
		log->activeTimestamp = entry->maxTimestamp;
		log->activeMs = log->now;
	}
	log->activeBytes += entry->size;
}

/* There is room for it; its frame's reference is taken. */
static void add_entry(struct fb_log *log, const struct fb_entry *entry)
{
	log->entries[log->n] = *entry;
	log->entries[log->n].appendedMs = log->now;
	add_to_segment(log, &log->entries[log->n++]);
	log->logEndOffset = entry->lastOffset + 1;
	log->bytes += entry->size;
	log->pinned += pinned_by(entry);
	obey_limit(log);
}

int fb_log_append(struct fb_log *log, const uint8_t header[KW_B_RECORDS], struct fb_frame *frame, const uint8_t *body,
		  size_t body_size, int64_t maxTimestamp, int64_t offsetOfMaxTimestamp)
{
	bool keep = frame && body_size >= frame->cap / 2;
	struct fb_entry entry;

	assert((int64_t)kw_rd64(header + KW_B_BASE_OFFSET) == log->logEndOffset);
	if (reserve(log) < 0)
		return KT_ENOMEM;
	frame = keep ? fb_frame_ref(frame) : copy_out(header, body, body_size);
	if (!frame)
		return KT_ENOMEM;
	entry = (struct fb_entry){
		.baseOffset = log->logEndOffset,
		.lastOffset = log->logEndOffset + (int32_t)kw_rd32(header + KW_B_LAST_OFFSET_DELTA),
		.maxTimestamp = maxTimestamp,
		.offsetOfMaxTimestamp = offsetOfMaxTimestamp,
		.size = (uint32_t)(KW_B_RECORDS + body_size),
		.frame = frame,
		.body = keep ? body : frame->p + KW_B_RECORDS,
	};
	memcpy(entry.header, header, KW_B_RECORDS);
	add_entry(log, &entry);
	return 0;
}

/* ---- read ---- */

size_t fb_log_find(const struct fb_log *log, int64_t offset)
{
	size_t low = log->first, high = log->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (log->entries[mid].lastOffset < offset)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

void fb_entry_batch(const struct fb_entry *entry, struct kw_batch *batch)
{
	/* Only the header is read here, so that it is enough that the header is there. */
	kw_batch_parse(entry->header, entry->size, batch, NULL);
	batch->p = entry->body - KW_B_RECORDS;
}

/* What of the batches from `at` on fits. */
struct fit {
	size_t whole;              /* batches */
	size_t cut;                /* bytes of the next one */
	size_t total;              /* bytes */
};

/* As Kafka, which sends a piece of one segment's file: it may end within a batch, but not within the first. */
static struct fit fitting(const struct fb_log *log, size_t at, int64_t end, size_t max, bool min_one)
{
	struct fit fit = {0};

	for (; at + fit.whole < log->n && log->entries[at + fit.whole].baseOffset < end; fit.whole++) {
		size_t size = log->entries[at + fit.whole].size;

		if (fit.whole && log->entries[at + fit.whole].rolled)
			break;
		if (fit.total >= max && !(min_one && fit.whole == 0))
			break;
		if (size > max - fit.total && !(min_one && fit.whole == 0)) {
			fit.cut = fit.whole ? max - fit.total : 0;
			break;
		}
		fit.total += size;
	}
	fit.total += fit.cut;
	return fit;
}

static int32_t said_count(const struct fb_entry *entry)
{
	int32_t count = (int32_t)kw_rd32(entry->header + KW_B_COUNT);

	return count > 0 ? count : 0;
}

int fb_log_read(const struct fb_log *log, int64_t offset, int64_t end, size_t max, bool min_one, struct kw_arena *arena,
		struct fb_read *out)
{
	size_t at = fb_log_find(log, offset);
	struct fit fit = fitting(log, at, end, max < INT32_MAX ? max : INT32_MAX, min_one);
	size_t n = fit.whole + (fit.cut > 0);
	struct kw_slice *slices = kw_alloc(arena, 2 * n * sizeof *slices);
	struct fb_frame **frames = kw_alloc(arena, n * sizeof *frames);
	uint8_t *headers = kw_alloc(arena, n * KW_B_RECORDS);

	*out = (struct fb_read){.records = {.n = 0}, .codec = -1,
				.end = n ? log->entries[at + n - 1].lastOffset + 1 : offset};
	if (!slices || !frames || !headers)
		return KT_ENOMEM;
	for (size_t i = 0; i < n; i++, headers += KW_B_RECORDS) {
		const struct fb_entry *entry = &log->entries[at + i];
		size_t head = entry->size < KW_B_RECORDS ? entry->size : KW_B_RECORDS;

		memcpy(headers, entry->header, KW_B_RECORDS);
		slices[2 * i] = (struct kw_slice){headers, head};
		slices[2 * i + 1] = (struct kw_slice){entry->body, entry->size - head};
		frames[i] = fb_frame_ref(entry->frame);
		if (i < fit.whole && !entry->opaque)
			out->count += said_count(entry);
	}
	if (fit.whole && !log->entries[at].opaque)
		out->codec = kw_rd16(log->entries[at].header + KW_B_ATTRIBUTES) & KW_A_CODEC;
	if (fit.cut) {
		slices[2 * n - 2].n = fit.cut < KW_B_RECORDS ? fit.cut : KW_B_RECORDS;
		slices[2 * n - 1].n = fit.cut - slices[2 * n - 2].n;
	}
	out->records = (struct kw_records){.n = (int32_t)fit.total, .nv = (int32_t)(2 * n), .v = slices};
	out->whole = fit.whole;
	out->frames = frames;
	out->nframes = n;
	return 0;
}

/* ---- by time ---- */

struct time_search {
	const struct kw_batch *batch;
	int64_t timestamp, from;   /* wanted: timestamp >= `timestamp` at an offset >= `from` */
	int64_t offset, found;
};

static int search_record(void *arg, int32_t index, const struct kw_record *record)
{
	struct time_search *search = arg;
	int64_t offset = search->batch->baseOffset + record->offsetDelta;

	(void)index;
	search->found = kw_record_time(search->batch, record);
	search->offset = offset;
	return search->found >= search->timestamp && offset >= search->from;
}

static struct fb_found found_in(const struct fb_entry *entry, int64_t offset, int64_t timestamp)
{
	return (struct fb_found){offset, timestamp, (int32_t)kw_rd32(entry->header + KW_B_LEADER_EPOCH)};
}

struct fb_found fb_log_by_time(const struct fb_log *log, int64_t timestamp)
{
	for (size_t i = log->first; i < log->n; i++) {
		struct time_search search = {.timestamp = timestamp, .from = log->logStartOffset};
		struct kw_batch batch;
		enum kw_walk why;

		if (log->entries[i].opaque || log->entries[i].maxTimestamp < timestamp)
			continue;
		fb_entry_batch(&log->entries[i], &batch);
		search.batch = &batch;
		if (kw_batch_walk(&batch, NULL, search_record, &search, &why, NULL) > 0)
			return found_in(&log->entries[i],
					fb_mutant(FB_M_TIME_AT_BASE) ? batch.baseOffset : search.offset, search.found);
	}
	return (struct fb_found){-1, -1, -1};
}

struct fb_found fb_log_max_time(const struct fb_log *log)
{
	const struct fb_entry *latest = NULL;

	for (size_t i = log->first; i < log->n; i++)
		if (!latest || log->entries[i].maxTimestamp > latest->maxTimestamp)
			latest = &log->entries[i];
	if (!latest || latest->offsetOfMaxTimestamp < 0)
		return (struct fb_found){-1, -1, -1};
	return found_in(latest, latest->offsetOfMaxTimestamp, latest->maxTimestamp);
}

/* ---- append as it is ---- */

static const int64_t MAX_KEPT_OFFSET = INT64_MAX / 2;

/* The next entry of the set; false at its end. */
static bool next_entry(struct kw_set *set, struct kw_entry *entry, bool *whole)
{
	struct kt_err err = {0};

	if (set->at == set->n)
		return false;
	*whole = kw_set_next(set, entry, &err) > 0;
	if (!*whole) {
		*entry = (struct kw_entry){.p = set->p + set->at, .at = set->at, .size = set->n - set->at, .magic = -1};
		set->at = set->n;
	}
	return true;
}

/* A batch that is too small for its own header tells no more than a message. */
static bool is_batch(const struct kw_entry *entry)
{
	return entry->magic == 2 && entry->size >= KW_B_RECORDS;
}

/* Which offsets an entry takes up in a log that ends at *end. */
static int place_entry(const struct kw_entry *entry, bool whole, bool keep_offsets, int64_t *end, struct fb_entry *out,
		       struct kt_err *err)
{
	int64_t offset = whole && keep_offsets ? entry->offset : *end;
	int32_t delta = is_batch(entry) ? (int32_t)kw_rd32(entry->p + KW_B_LAST_OFFSET_DELTA) : 0;

	if (entry->size > INT32_MAX)
		return kw_fail_at(err, KT_ELIMIT, entry->at, "what lies here is larger than a records field can be");
	if (whole && !is_batch(entry) && !keep_offsets)
		return kw_fail_at(err, KT_ERANGE, entry->at, "messages of magic %d need \"keepOffsets\"", entry->magic);
	if (offset < *end || offset > MAX_KEPT_OFFSET)
		return kw_fail_at(err, KT_ERANGE, entry->at,
				  "offset %lld is not in %lld..%lld: the log ends there, and offsets rise",
				  (long long)offset, (long long)*end, (long long)MAX_KEPT_OFFSET);
	/* A message has the offset of its last record; where the first one is, only its inside knows. */
	*out = (struct fb_entry){.baseOffset = is_batch(entry) ? offset : *end,
				 .lastOffset = offset + (delta > 0 ? delta : 0), .size = (uint32_t)entry->size,
				 .opaque = !is_batch(entry), .maxTimestamp = KW_NO_TIMESTAMP,
				 .offsetOfMaxTimestamp = -1};
	*end = out->lastOffset + 1;
	return 0;
}

/* Of what the batch says is its greatest timestamp, Kafka's ListOffsets names the first record that has it. */
static void set_time(struct fb_entry *entry)
{
	struct time_search search = {.timestamp = (int64_t)kw_rd64(entry->header + KW_B_MAX_TIMESTAMP)};
	struct kw_batch batch;
	enum kw_walk why;

	fb_entry_batch(entry, &batch);
	search.batch = &batch;
	entry->maxTimestamp = search.timestamp;
	if (search.timestamp != KW_NO_TIMESTAMP && kw_batch_walk(&batch, NULL, search_record, &search, &why, NULL) > 0)
		entry->offsetOfMaxTimestamp = search.offset;
}

static int store_entry(struct fb_log *log, const struct kw_entry *from, struct fb_entry *entry, bool keep_offsets,
		       int32_t leaderEpoch)
{
	size_t head = from->size < KW_B_RECORDS ? from->size : KW_B_RECORDS;

	memcpy(entry->header, from->p, head);
	if (!entry->opaque && !keep_offsets) {
		kw_wr64(entry->header + KW_B_BASE_OFFSET, (uint64_t)entry->baseOffset);
		kw_wr32(entry->header + KW_B_LEADER_EPOCH, (uint32_t)leaderEpoch);
	}
	entry->frame = reserve(log) < 0 ? NULL : copy_out(entry->header, from->p + head, from->size - head);
	if (!entry->frame)
		return KT_ENOMEM;
	entry->body = entry->frame->p + KW_B_RECORDS;
	if (!entry->opaque)
		set_time(entry);
	add_entry(log, entry);
	return 0;
}

int fb_log_append_set(struct fb_log *log, const uint8_t *p, size_t n, bool keep_offsets, int32_t leaderEpoch,
		      struct kt_err *err)
{
	struct kw_set set = {.p = p, .n = n};
	int64_t end = log->logEndOffset;
	struct kw_entry from;
	struct fb_entry entry;
	bool whole;

	while (next_entry(&set, &from, &whole))
		if (place_entry(&from, whole, keep_offsets, &end, &entry, err))
			return err->code;
	end = log->logEndOffset;
	for (set.at = 0; next_entry(&set, &from, &whole);) {
		place_entry(&from, whole, keep_offsets, &end, &entry, err);
		if (store_entry(log, &from, &entry, keep_offsets, leaderEpoch) < 0)
			return kt_fail(err, KT_ENOMEM, "out of memory");
	}
	return 0;
}

int fb_log_append_opaque(struct fb_log *log, const uint8_t *p, size_t n)
{
	struct kw_entry from = {.p = p, .size = n, .magic = -1};
	int64_t end = log->logEndOffset;
	struct kt_err err = {0};
	struct fb_entry entry;

	if (place_entry(&from, false, false, &end, &entry, &err))
		return err.code;
	return store_entry(log, &from, &entry, false, -1);
}

/* ---- segments and retention ---- */

struct fb_segment fb_log_segment(const struct fb_log *log, size_t at)
{
	struct fb_segment segment = {.largestTimestamp = -1};
	int64_t written = -1;

	for (size_t i = at; i < log->n && (i == at || !fb_log_begins_segment(log, i)); i++) {
		segment.n++;
		segment.bytes += log->entries[i].size;
		if (log->entries[i].maxTimestamp > segment.largestTimestamp)
			segment.largestTimestamp = log->entries[i].maxTimestamp;
		written = log->entries[i].appendedMs;
	}
	if (segment.largestTimestamp < 0)   /* LogSegment.largestTimestamp */
		segment.largestTimestamp = written;
	return segment;
}

static size_t drop_segment(struct fb_log *log, const struct fb_segment *segment)
{
	for (size_t i = 0; i < segment->n; i++)
		drop_first(log);
	if (log->first == log->n)
		log->activeBytes = 0;
	log->logStartOffset = log->first < log->n ? fb_segment_base(&log->entries[log->first]) : log->logEndOffset;
	return segment->n;
}

size_t fb_log_retain(struct fb_log *log, const struct fb_retention *retention, int64_t now)
{
	struct fb_segment segment;
	size_t n = 0;

	if (!retention->deletes)
		return 0;
	while (segment = fb_log_segment(log, log->first), segment.n > 0 && retention->bytes >= 0 &&
	       log->bytes - segment.bytes >= (size_t)retention->bytes)
		n += drop_segment(log, &segment);
	while (segment = fb_log_segment(log, log->first), segment.n > 0 && retention->ms >= 0 &&
	       now - segment.largestTimestamp > retention->ms)
		n += drop_segment(log, &segment);
	return n;
}

/* ---- compaction ---- */

void fb_log_roll(struct fb_log *log)
{
	log->activeBytes = 0;
}

void fb_log_roll_for(struct fb_log *log, size_t size, int64_t maxTimestamp)
{
	const struct fb_entry entry = {.size = (uint32_t)size, .maxTimestamp = maxTimestamp};

	if (must_roll(log, &entry))
		fb_log_roll(log);
}

void fb_log_replace(struct fb_log *log, size_t end, const struct fb_entry *entries, size_t n)
{
	assert(end <= log->n && n <= end - log->first);
	while (log->first < end)
		drop_first(log);
	log->first = end - n;
	for (size_t i = 0; i < n; i++) {
		log->entries[log->first + i] = entries[i];
		log->bytes += entries[i].size;
		log->pinned += pinned_by(&entries[i]);
	}
}

/* ---- end ---- */

void fb_log_trim(struct fb_log *log, int64_t offset)
{
	if (offset > log->logEndOffset)
		offset = log->logEndOffset;
	if (offset <= log->logStartOffset)
		return;
	log->logStartOffset = offset;
	while (log->first < log->n && log->entries[log->first].lastOffset < offset)
		drop_first(log);
}

void fb_log_fini(struct fb_log *log)
{
	while (log->first < log->n)
		drop_first(log);
	free(log->entries);
	*log = (struct fb_log){0};
}
