/* Record batches, version 2 (magic 2): read, built, checked.
 *
 * Source of the layout: Kafka's DefaultRecordBatch, DefaultRecord; KIP-98. Offsets of the header fields are below.
 * Magic 0 and 1 are recognised (kw_batch_peek) but not iterated here.
 */
#ifndef KASSAY_WIRE_BATCH_H
#define KASSAY_WIRE_BATCH_H

#include <jansson.h>

#include "lib/text/err.h"
#include "lib/wire/arena.h"
#include "lib/wire/buf.h"
#include "lib/wire/types.h"

enum {
	KW_B_BASE_OFFSET = 0,      /* int64 */
	KW_B_LENGTH = 8,           /* int32: bytes after this field */
	KW_B_LEADER_EPOCH = 12,    /* int32 */
	KW_B_MAGIC = 16,           /* int8 */
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
	KW_B_LOG_OVERHEAD = 12,    /* offset and length */
	KW_B_MIN_LEGACY = 14,      /* smallest legal value of the length field (Records.LEGACY_RECORD_OVERHEAD_V0) */
};

enum kw_codec { KW_NONE, KW_GZIP, KW_SNAPPY, KW_LZ4, KW_ZSTD };

enum {
	KW_A_CODEC = 7, KW_A_LOG_APPEND_TIME = 8, KW_A_TRANSACTIONAL = 16, KW_A_CONTROL = 32, KW_A_DELETE_HORIZON = 64,
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
	const struct kw_header *headers;
	size_t at, size;              /* place in the (inflated) records area, length prefix included */
};

/* Reads the header fields. KT_ETRUNC below 61 bytes or when the batch is longer than n; KT_ECORRUPT on a length below
 * KW_B_MIN_LEGACY. The magic is not judged: fields are only meaningful for magic 2. */
int kw_batch_parse(const uint8_t *p, size_t n, struct kw_batch *batch, struct kt_err *err);
uint32_t kw_crc32c(uint32_t crc, const void *p, size_t n);   /* start with 0; result is the finished CRC-32C */
uint32_t kw_batch_crc(const uint8_t *p, size_t size);        /* of [21, size) */

/* "none", "gzip", "snappy", "lz4", "zstd"; NULL for other numbers. And back; -1 if unknown. */
const char *kw_codec_name(int codec);
int kw_codec_find(const char *name);

/* Why iteration of records stopped. What Kafka answers to each differs by codec: see kw_walk_code(). */
enum kw_walk {
	KW_WALK_END,              /* all `count` records read, nothing left */
	KW_WALK_BAD_RECORD,       /* InvalidRecordException: structure of a record */
	KW_WALK_BAD_VARINT,       /* IllegalArgumentException: over-long varint in a record length, uncompressed */
	KW_WALK_EARLY_EOF,        /* count says more records than there are */
	KW_WALK_TRAILING,         /* records remain after count */
	KW_WALK_BAD_CODEC,        /* the compressed stream cannot be read, or the codec id is 5..7 */
	KW_WALK_LIMIT,            /* inflated size limit of the kit */
};

/* Called once per record; the record and all it points to live for the call only, unless the batch is uncompressed.
 * A non-zero return stops the walk and is returned. */
typedef int kw_record_fn(void *arg, int32_t index, const struct kw_record *record);

struct kw_walk_opts {
	bool skip_bodies;         /* as Kafka does for a compressed batch that need not be re-encoded: key, value and
				     headers are skipped, the record's own length is ignored */
	size_t inflate_max;       /* most inflated bytes; 0 = 256 MiB */
};

/* Visits every record of the batch (CRC is not checked). *why says how it ended; err gets Kafka's own words and the
 * offset in the inflated records area. Returns 0, fn's non-zero result, or KT_ECORRUPT / KT_ELIMIT / KT_ENOMEM. */
int kw_batch_walk(const struct kw_batch *batch, const struct kw_walk_opts *opts, kw_record_fn *fn, void *arg,
		  enum kw_walk *why, struct kt_err *err);

/* ---- compression ---- */

/* Appends the compressed form of the n bytes at p to out. snappy is the xerial framing that Kafka's clients write. */
int kw_compress(int codec, const uint8_t *p, size_t n, struct kw_buf *out, struct kt_err *err);
/* Appends the inflated form; snappy takes raw and xerial. Fails with KT_ELIMIT beyond max bytes while inflating. */
int kw_decompress(int codec, const uint8_t *p, size_t n, size_t max, struct kw_buf *out, struct kt_err *err);

/* ---- building ---- */

struct kw_batch_spec {
	int64_t baseOffset;
	int32_t partitionLeaderEpoch;   /* -1 as clients send it */
	int16_t attributes;             /* codec bits included */
	int64_t baseTimestamp;          /* of the first record */
	int64_t maxTimestamp;           /* -2: the greatest of the records */
	int64_t producerId;             /* -1 */
	int16_t producerEpoch;          /* -1 */
	int32_t baseSequence;           /* -1 */
};
extern const struct kw_batch_spec kw_batch_spec_default;

/* Appends a batch of n records (their offsetDelta and timestampDelta are written as given) with correct length, count,
 * lastOffsetDelta and CRC. */
int kw_batch_build(const struct kw_batch_spec *spec, const struct kw_record *records, int32_t n, struct kw_buf *out,
		   struct kt_err *err);
/* Appends one encoded record with its length prefix. */
void kw_record_put(struct kw_buf *out, const struct kw_record *record);

/* Appends the batches of a JSON array, the form that kw_from_json takes under {"batches": [...]}: each is an object with
 * any of
 *   baseOffset partitionLeaderEpoch magic attributes codec lastOffsetDelta baseTimestamp maxTimestamp producerId
 *   producerEpoch baseSequence count length crc        (header fields: the right value unless given; "crc": "stale"
 *                                                       keeps the CRC of the batch before `edits`)
 *   records: [ {key, value, headers: [{key, value}], offsetDelta, timestampDelta, attributes, repeat} ]
 *            key and value: null, a string, {"hex": ".."}, {"base64": ".."}, {"size": n} (n bytes 'x')
 *   body: {"hex": ".."}     the records area as it is (before compression), in place of records
 *   payload: {"hex": ".."}  the bytes after the header as they are (after compression), in place of records and body
 *   edits: [ {"at": n, "hex": ".."} | {"at": n, "xor": ".."} | {"truncate": n} | {"append": {"hex"..}} ]
 *            on the finished batch; negative n counts from the end
 *   raw: {"hex": ".."}      the whole batch as it is
 * baseTimestamp may be a number, "now", or "now+3600000" / "now-1000" (ms). Unknown members are errors. */
int kw_batches_from_json(json_t *batches, struct kw_buf *out, struct kt_err *err);

#endif
