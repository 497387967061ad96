/* Record batches of magic 2: read, built, checked.
 *
 * Source of the layout and of every verdict: Kafka's DefaultRecordBatch and DefaultRecord (release 4.4.0); KIP-98.
 * Nothing here judges the magic: messages of magic 0 and 1 (legacy.h) have offset, length and magic at the same places,
 * but a caller must not walk them as a batch. set.h tells the formats apart.
 */
#ifndef KASSAY_WIRE_BATCH_H
#define KASSAY_WIRE_BATCH_H

#include <jansson.h>

#include "lib/text/err.h"
#include "lib/wire/arena.h"
#include "lib/wire/compress.h"
#include "lib/wire/entry.h"
#include "lib/wire/types.h"
#include "lib/wire/walk.h"

enum {
	KW_B_BASE_OFFSET = KW_E_OFFSET, /* int64 */
	KW_B_LENGTH = KW_E_LENGTH, /* int32: bytes after this field */
	KW_B_LEADER_EPOCH = 12,    /* int32 */
	KW_B_MAGIC = KW_E_MAGIC,   /* int8 */
	KW_B_CRC = 17,             /* uint32, CRC-32C of [21, end) */
	KW_B_ATTRIBUTES = 21,      /* int16 */
	KW_B_LAST_OFFSET_DELTA = 23, /* int32 */
	KW_B_BASE_TIMESTAMP = 27,  /* int64 */
	KW_B_MAX_TIMESTAMP = 35,   /* int64 */
	KW_B_PRODUCER_ID = 43,     /* int64 */
	KW_B_PRODUCER_EPOCH = 51,  /* int16 */
	KW_B_BASE_SEQUENCE = 53,   /* int32 */
	KW_B_COUNT = 57,           /* int32 */
	KW_B_RECORDS = 61,         /* size of the header */
	KW_B_LOG_OVERHEAD = KW_E_BODY, /* offset and length */
	KW_B_MIN_LEGACY = KW_E_MIN_LENGTH,
};

enum {
	KW_A_CODEC = 7,            /* mask of enum kw_codec */
	KW_A_LOG_APPEND_TIME = 8,
	KW_A_TRANSACTIONAL = 16,
	KW_A_CONTROL = 32,
	KW_A_DELETE_HORIZON = 64,
};

struct kw_batch {
	const uint8_t *p;          /* first byte of the batch */
	size_t size;               /* whole batch, header included */
	int64_t baseOffset;
	int32_t length, partitionLeaderEpoch;
	int8_t magic;
	uint32_t crc;
	int16_t attributes;
	int32_t lastOffsetDelta;
	int64_t baseTimestamp, maxTimestamp, producerId;
	int16_t producerEpoch;
	int32_t baseSequence, count;
};

struct kw_header {
	struct kw_str key;
	struct kw_bytes value;
};

struct kw_record {
	int8_t attributes;
	int64_t timestampDelta;
	int32_t offsetDelta;
	struct kw_bytes key, value;   /* n == -1: null */
	int32_t nheaders;
	const struct kw_header *headers;   /* NULL: none, or skimmed (skip_bodies) */
	size_t at, size;              /* bytes it takes in the (inflated) records area, length prefix included; set by
					 kw_batch_walk, not read by kw_record_put */
};

/* Reads the header fields of the batch at p; batch->size tells where the next one is. KT_ETRUNC when the n bytes
 * end before the batch does; KT_ECORRUPT on a length below KW_E_MIN_LENGTH, and when the batch is whole but
 * smaller than its header. On failure batch has what could be read, the rest is zero. */
int kw_batch_parse(const uint8_t *p, size_t n, struct kw_batch *batch, struct kt_err *err);
uint32_t kw_crc32c(uint32_t crc, const void *p, size_t n);   /* start with 0; result is the finished CRC-32C */
uint32_t kw_batch_crc(const uint8_t *p, size_t size);        /* of [21, size); size is at least 21 */

/* Called once per record; the record and all it points to live for the call only, except that key, value and header
 * bytes of an uncompressed batch lie in the batch itself. A non-zero return stops the walk and is returned. The last
 * record is shown only when nothing follows it, as Kafka's iterator does. */
typedef int kw_record_fn(void *arg, int32_t index, const struct kw_record *record);

/* Visits every record of the batch (CRC and magic are not checked). opts may be NULL for a full decode, fn may be NULL
 * to check only. *why says how it ended; err gets Kafka's own words and the offset of the fault in the inflated
 * records area. Returns 0, fn's non-zero result, or KT_ECORRUPT / KT_ELIMIT / KT_ENOMEM. */
int kw_batch_walk(const struct kw_batch *batch, const struct kw_walk_opts *opts, kw_record_fn *fn, void *arg,
		  enum kw_walk *why, struct kt_err *err);

/* ---- building ---- */

struct kw_batch_spec {
	int64_t baseOffset;
	int32_t partitionLeaderEpoch;   /* -1 as clients send it */
	int16_t attributes;             /* codec bits included */
	int64_t baseTimestamp;          /* ms; a record's timestamp is this and its delta */
	int64_t maxTimestamp;           /* -2: the greatest of the records */
	int64_t producerId;             /* -1 */
	int16_t producerEpoch;          /* -1 */
	int32_t baseSequence;           /* -1 */
};
/* The values in brackets; base offset, attributes and base timestamp are 0, the maximum timestamp is -2. */
extern const struct kw_batch_spec kw_batch_spec_default;

/* Appends a batch of n records (their offsetDelta and timestampDelta are written as given) with correct length, count,
 * CRC and lastOffsetDelta (that of the last record, -1 if there is none). KT_EUNKNOWN on codec bits 5..7, KT_ELIMIT
 * when the batch is too large for out or for its length field. */
int kw_batch_build(const struct kw_batch_spec *spec, const struct kw_record *records, int32_t n, struct kw_buf *out,
		   struct kt_err *err);
/* Appends a batch whose records area, before compression, is the `size` bytes at area; spec->maxTimestamp is written as
 * given. Else like kw_batch_build. */
int kw_batch_wrap(const struct kw_batch_spec *spec, const uint8_t *area, size_t size, int32_t count,
		  int32_t lastOffsetDelta, struct kw_buf *out, struct kt_err *err);
/* Why a Kafka broker's MemoryRecordsBuilder would not write a batch with this header anew; NULL if it would. */
const char *kw_batch_unwritable(const struct kw_batch *batch);
/* Appends one encoded record with its length prefix. Null header keys are written as null, which no broker accepts. */
void kw_record_put(struct kw_buf *out, const struct kw_record *record);
/* How many bytes that would be. */
size_t kw_record_size(const struct kw_record *record);

/* Appends the batches of a JSON array, the form that kw_from_json takes under {"batches": [...]}: each is an object
 * with any of
 *   baseOffset partitionLeaderEpoch magic attributes lastOffsetDelta baseTimestamp maxTimestamp producerId
 *   producerEpoch baseSequence count length crc
 *            header fields. Each has its right value unless given; a given one is written as it is and changes no
 *            other. Numbers may be signed or unsigned, the timestamps also "now", "now+3600000", "now-1000" (ms);
 *            baseTimestamp is "now" unless given. "crc" is right for the bytes before `edits` unless it is a number,
 *            or "fix": right after the edits, or "stale": that of the batch before header fields were given
 *   codec    name: compresses the records area and sets the attributes' codec bits, unless attributes are given
 *   lz4Checksum    "right", or "historic": struct kw_deflate_opts
 *   snappyFraming  "xerial", or "raw"
 *   records  [ {key, value, headers: [{key, value}], offsetDelta, timestampDelta, attributes, repeat} ]
 *            key and value: null (also when missing), a string, {"hex": ".."}, {"base64": ".."}, {"size": n} (n bytes
 *            'x'); offsetDelta is the place in the batch unless given; repeat: that many such records
 *   body     bytes: the records area before compression, in place of records; count is then 1 unless given
 *   payload  bytes: what follows the header as it is, in place of records and body; count as for body
 *   edits    as in edit.h, without those of frames. Where "at" is "records" or begins with "records[", they are made on
 *            the records area before it is compressed, and header and CRC are right for what comes of it, the count
 *            aside; all others on the finished batch, whose fields have bare names ("lastOffsetDelta")
 *   raw      bytes: the whole batch as it is; nothing but edits and "crc": "fix" can stand beside it
 * With "magic": 0 or 1 it is messages instead (legacy.h; another magic number, which Kafka does not have, gives a
 * batch). Without codec, body and payload each record is a message behind the other; with one of them there is one
 * message, the wrapper. Then the members are
 *   baseOffset     of the first record; 0 unless given
 *   records        [ {key, value, offset, timestamp, attributes, magic, length, crc, repeat} ]
 *                  each written as given. offset: baseOffset and the place in the set unless given; in a wrapper of
 *                  magic 1 the place alone. timestamp (not in magic 0): as baseTimestamp above
 *   codec          compresses the inner set and sets the wrapper's attributes
 *   lz4Checksum    as above, but "historic" in magic 0 unless given
 *   snappyFraming  as above
 *   offset timestamp attributes key length crc
 *                  of the wrapper. Unless given: that of the last record, that of the greatest of the records, the
 *                  codec, null, and right ones
 *   body           bytes: the inner set before compression, in place of records
 *   payload        bytes or null: the wrapper's value as it is, in place of records and body
 *   edits          as above, all on the finished bytes, whose fields are "messages[0].offset", length, crc, magic,
 *                  attributes, timestamp, key, value
 *   raw            as above; "crc": "fix" rights that of every message that is whole after the edits
 * bytes are given like a key, but not null. Unknown members are errors (KT_EUNKNOWN); others are KT_ETYPE, KT_ERANGE,
 * KT_ESYNTAX, KT_ELIMIT; err->path is like "batches[0].records[2].key". On failure out is as before. One call appends
 * at most 256 MiB. */
int kw_batches_from_json(json_t *batches, struct kw_buf *out, struct kt_err *err);

#endif
