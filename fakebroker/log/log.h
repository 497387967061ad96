/* A partition's log, in memory: record batches v2 with the offsets that the broker gave them, and whatever else was put
 * in as it is.
 *
 * A batch is kept as a 61-byte header of its own (base offset, epoch, timestamps, CRC as the broker set them) and a
 * slice of the frame that it came in; a slice that is less than half of its frame is copied out, so that a small batch
 * does not pin a large frame. Nothing here locks: the owner holds the partition's lock.
 */
#ifndef KASSAY_FAKEBROKER_LOG_LOG_H
#define KASSAY_FAKEBROKER_LOG_LOG_H

#include "fakebroker/log/frame.h"
#include "lib/text/err.h"
#include "lib/wire/batch.h"

struct fb_entry {
	int64_t baseOffset, lastOffset;
	int64_t maxTimestamp;
	int64_t appendedMs;        /* fb_log.now of then */
	int64_t offsetOfMaxTimestamp; /* of the first record that has it; -1 if none has */
	uint32_t size;             /* whole batch, header included */
	uint32_t hole;             /* of a segment's first: offsets before baseOffset that it has, too, and
				      compaction emptied */
	bool rolled;               /* the first of its segment */
	bool opaque;               /* no whole batch of magic 2: nothing but its bytes is known */
	struct fb_frame *frame;    /* holds the bytes after the header */
	const uint8_t *body;       /* size - KW_B_RECORDS bytes; KW_B_RECORDS bytes before them are in the frame too */
	uint8_t header[KW_B_RECORDS];   /* of an opaque one that is shorter: all of it, then zeros */
};

struct fb_log {
	struct fb_entry *entries;  /* entries[first..n), ascending offsets */
	size_t first, n, cap;
	_Atomic int64_t logStartOffset; /* changed under the owner's lock; fb_verdict_check reads it without */
	int64_t logEndOffset;
	int64_t now;               /* ms by the broker's clock; the owner sets it before an append */
	size_t bytes;              /* of the batches kept, as a Kafka log would count them */
	size_t pinned;             /* memory that they hold: headers, and frames whole */
	size_t max_bytes;          /* kit.log.max.bytes, a limit of `pinned`: above it the oldest batches go and
				      logStartOffset moves; 0 = none */
	uint64_t dropped;          /* batches that the limit removed */
	int64_t cleanedTo;         /* compaction came up to here; 0 = never */
	/* The active segment; a batch that does not fit, or is too much later than the first, begins another one. */
	size_t segmentBytes;       /* segment.bytes; 0 = no limit */
	int64_t segmentMs;         /* segment.ms; 0 = no limit */
	size_t activeBytes;
	int64_t activeTimestamp;   /* of its first batch; -1 if that has none */
	int64_t activeMs;          /* when it was begun, by the broker's clock */
};

/* What the topic's configuration says of old segments. */
struct fb_retention {
	bool deletes;              /* cleanup.policy contains delete */
	int64_t ms, bytes;         /* retention.ms, retention.bytes; negative = no limit */
};

void fb_log_init(struct fb_log *log, size_t max_bytes);
void fb_log_fini(struct fb_log *log);

/* Appends one batch: header is copied, body is the rest of the batch inside frame, right behind the header that came
 * with it (a reference is taken, or the body is copied out). With frame NULL the body lies anywhere and is always
 * copied. header's base offset must be logEndOffset; lastOffsetDelta tells the new end. Beyond max_bytes the oldest
 * batches are removed, never the one just appended. 0 or KT_ENOMEM (then nothing changed). */
int fb_log_append(struct fb_log *log, const uint8_t header[KW_B_RECORDS], struct fb_frame *frame, const uint8_t *body,
		  size_t body_size, int64_t maxTimestamp, int64_t offsetOfMaxTimestamp);

/* Appends a record set as it is, for a client to choke on: nothing is judged, no CRC redone. Every batch of magic 2
 * gets the next offsets and the leader epoch, as a leader's batch has them; with keep_offsets both stay, and so do
 * those of messages of magic 0 and 1, which need it. The set is cut into entries by its lengths; what is left where
 * they are wrong, or end, is one entry more, which takes up one offset. Offsets that are kept may leave gaps, but rise:
 * an entry is found by its last one. err, which must not be NULL, has the place in the set. 0, or KT_ELIMIT (an entry
 * of 2 GiB) and KT_ERANGE (an offset below the log's end, or above 2^62; a message without keep_offsets), when nothing
 * changed, or KT_ENOMEM, when some entries may be there. */
int fb_log_append_set(struct fb_log *log, const uint8_t *p, size_t n, bool keep_offsets, int32_t leaderEpoch,
		      struct kt_err *err);

/* Appends n bytes, at least one, as an entry of which nothing else is known; it takes up one offset. 0, KT_ELIMIT (2
 * GiB) or KT_ENOMEM, when nothing changed. */
int fb_log_append_opaque(struct fb_log *log, const uint8_t *p, size_t n);

/* Index (into entries) of the batch that holds offset, or of the next one after it; log->n if there is none. */
size_t fb_log_find(const struct fb_log *log, int64_t offset);
/* The batch of an entry that is not opaque, for kw_batch_walk: header fields as stored, p such that the body is in
 * place behind it. Lives as long as the entry. */
void fb_entry_batch(const struct fb_entry *entry, struct kw_batch *batch);

/* The batches from the one that holds `offset` on and below `end`, up to the end of its segment, for a records field:
 * at most max bytes, so that the last batch may be cut off; but the first one is whole or not there, and with `min_one`
 * it comes whatever its size (KIP-74). Slices, two a batch (header and body), and the array of referenced frames are
 * put into arena; the caller unrefs frames when the bytes are sent. Headers are copied into the arena, since entries
 * move. Without a batch, out->records is empty (not null). Returns 0, or KT_ENOMEM with no reference held. */
struct fb_read {
	struct kw_records records;
	size_t whole;              /* batches that are not cut off */
	int64_t count;             /* records that those say to have */
	int codec;                 /* of the first one; -1 if it is cut off, or opaque */
	int64_t end;               /* behind the last batch, one that is cut off included; the offset asked
				      for if none */
	struct fb_frame **frames;  /* one reference each; a frame may come more than once */
	size_t nframes;            /* = number of batches, a cut one included */
};
int fb_log_read(const struct fb_log *log, int64_t offset, int64_t end, size_t max, bool min_one, struct kw_arena *arena,
		struct fb_read *out);

/* A record that ListOffsets names, and the leader epoch of its batch, -1 if that says none. All -1: there is none. */
struct fb_found {
	int64_t offset, timestamp;
	int32_t leaderEpoch;
};
/* The first record whose timestamp is >= timestamp. Looks into the batch for the exact record, as Kafka does
 * (FileRecords.searchForTimestamp). A batch whose records cannot be read counts up to the record that is broken. */
struct fb_found fb_log_by_time(const struct fb_log *log, int64_t timestamp);
/* The first record that has the greatest timestamp: ListOffsets timestamp -3. None in an empty log, and if the batch
 * that says to have the greatest has no such record. */
struct fb_found fb_log_max_time(const struct fb_log *log);
/* A run of entries that Kafka would have in one file. */
struct fb_segment {
	size_t n, bytes;           /* batches */
	int64_t largestTimestamp;  /* of its batches; if none has one, when the last was written */
};
static inline bool fb_log_begins_segment(const struct fb_log *log, size_t at)
{
	return at == log->first || log->entries[at].rolled;
}
/* The first offset of the segment that the entry begins. */
static inline int64_t fb_segment_base(const struct fb_entry *entry)
{
	return entry->baseOffset - entry->hole;
}
/* The segment that the entry at `at` begins; of no entries at the log's end. */
struct fb_segment fb_log_segment(const struct fb_log *log, size_t at);
/* Removes the segments that are beyond the size, then those that are too old, oldest first, as
 * UnifiedLog.deleteOldSegments does. now: ms since the epoch. Returns the number of batches. */
size_t fb_log_retain(struct fb_log *log, const struct fb_retention *retention, int64_t now);
/* Begins a new segment with the next batch. */
void fb_log_roll(struct fb_log *log);
/* The same if Kafka would do it for a batch of that size, by log->now. fb_log_append sees to it by itself: this is for
 * batches that are not appended after all. */
void fb_log_roll_for(struct fb_log *log, size_t size, int64_t maxTimestamp);
/* Compaction: the batches entries[first..end) become these, not more than they are, with the references of their
 * frames. logStartOffset stays. */
void fb_log_replace(struct fb_log *log, size_t end, const struct fb_entry *entries, size_t n);
/* DeleteRecords: moves logStartOffset up to offset (at most logEndOffset) and drops whole batches below it. */
void fb_log_trim(struct fb_log *log, int64_t offset);

#endif
