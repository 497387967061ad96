/* A partition's log, in memory: record batches v2 with the offsets that the broker gave them.
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
	int64_t offsetOfMaxTimestamp; /* of the first record that has it; -1 if none has */
	uint32_t size;             /* whole batch, header included */
	struct fb_frame *frame;    /* holds the bytes after the header */
	const uint8_t *body;       /* size - KW_B_RECORDS bytes; KW_B_RECORDS bytes before them are in the frame too */
	uint8_t header[KW_B_RECORDS];
};

struct fb_log {
	struct fb_entry *entries;  /* entries[first..n), ascending offsets */
	size_t first, n, cap;
	_Atomic int64_t logStartOffset; /* changed under the owner's lock; fb_verdict_check reads it without */
	int64_t logEndOffset;
	size_t bytes;              /* of the batches kept, as a Kafka log would count them */
	size_t pinned;             /* memory that they hold: headers, and frames whole */
	size_t max_bytes;          /* kit.log.max.bytes, a limit of `pinned`: above it the oldest batches go and
				      logStartOffset moves; 0 = none */
	uint64_t dropped;          /* batches that the limit removed */
};

void fb_log_init(struct fb_log *log, size_t max_bytes);
void fb_log_fini(struct fb_log *log);

/* Appends one batch: header is copied, body is the rest of the batch inside frame, right behind the header that came
 * with it (a reference is taken, or the body is copied out). With frame NULL the body lies anywhere and is always
 * copied. header's base offset must be logEndOffset; lastOffsetDelta tells the new end. Beyond max_bytes the oldest
 * batches are removed, never the one just appended. 0 or KT_ENOMEM (then nothing changed). */
int fb_log_append(struct fb_log *log, const uint8_t header[KW_B_RECORDS], struct fb_frame *frame, const uint8_t *body,
		  size_t body_size, int64_t maxTimestamp, int64_t offsetOfMaxTimestamp);

/* Index (into entries) of the batch that holds offset, or of the next one after it; log->n if there is none. */
size_t fb_log_find(const struct fb_log *log, int64_t offset);
/* The batch of an entry, for kw_batch_walk: header fields as stored, p such that the body is in place behind it. Lives
 * as long as the entry. */
void fb_entry_batch(const struct fb_entry *entry, struct kw_batch *batch);

/* The batches from the one that holds `offset` on and below `end`, for a records field: at most max bytes, so that the
 * last batch may be cut off; but the first one is whole or not there, and with `min_one` it comes whatever its size
 * (KIP-74). Slices, two a batch (header and body), and the array of referenced frames are put into arena; the caller unrefs
 * frames when the bytes are sent. Headers are copied into the arena, since entries move. Without a batch, out->records is
 * empty (not null). Returns 0, or KT_ENOMEM with no reference held. */
struct fb_read {
	struct kw_records records;
	size_t whole;              /* batches that are not cut off */
	int64_t end;               /* behind the last batch, one that is cut off included; the offset asked for if none */
	struct fb_frame **frames;  /* one reference each; a frame may come more than once */
	size_t nframes;            /* = number of batches, a cut one included */
};
int fb_log_read(const struct fb_log *log, int64_t offset, int64_t end, size_t max, bool min_one, struct kw_arena *arena,
		struct fb_read *out);

/* ListOffsets: by timestamp, the first offset whose record timestamp is >= timestamp; false if there is none.
 * Looks into the batch for the exact record, as Kafka does (FileRecords.searchForTimestamp). A batch whose records
 * cannot be read counts up to the record that is broken. */
bool fb_log_by_time(const struct fb_log *log, int64_t timestamp, int64_t *offset, int64_t *found_timestamp);
/* The greatest timestamp and the offset of the first record that has it (-1, -1 in an empty log): ListOffsets
 * timestamp -3. */
void fb_log_max_time(const struct fb_log *log, int64_t *offset, int64_t *timestamp);
/* DeleteRecords: moves logStartOffset up to offset (at most logEndOffset) and drops whole batches below it. */
void fb_log_trim(struct fb_log *log, int64_t offset);

#endif
