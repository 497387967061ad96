/* How a walk over the records of a batch (batch.h) or of a message (legacy.h) is bounded, and why it ended. */
#ifndef KASSAY_WIRE_WALK_H
#define KASSAY_WIRE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kw_buf;

/* Why a walk stopped, and the error code with which Kafka's leader answers a produce request for it. In a batch:
 *   END         all `count` records were read and nothing is left (or count is 0: Kafka then looks no further)
 *   BAD_RECORD  InvalidRecordException: structure of a record, or a negative count
 *   BAD_VARINT  IllegalArgumentException, which nothing catches: over-long varint in a record length, uncompressed
 *   EARLY_EOF   InvalidRecordException: count says more records than there are
 *   TRAILING    InvalidRecordException: bytes remain after the last record
 *   BAD_CODEC   KafkaException: the compressed stream cannot be read; or the codec is 5..7
 *   LIMIT       more inflated bytes than the limits allow, or no memory for them (Kafka has no such limits: it is
 *               answered like the OutOfMemoryError that Kafka meets)
 *   STOPPED     the callback returned non-zero
 * In a message of magic 0 or 1 END, BAD_CODEC, LIMIT and STOPPED mean the same, and there are
 *   BAD_RECORD      InvalidRecordException: an inner message states a size above record_max
 *   BEYOND          an exception that nothing catches: a field, key or value goes beyond its message
 *   WRAPPER_MAGIC   InvalidRecordException: a compressed message is of another magic than 0 and 1
 *   WRAPPER_ZSTD    InvalidRecordException: zstd is for magic 2 only
 *   WRAPPER_NULL    InvalidRecordException: a compressed message has no value
 *   WRAPPER_EMPTY   InvalidRecordException: there is no whole inner message
 *   WRAPPER_OFFSET  InvalidRecordException: a wrapper of magic 1 has a smaller offset than its last inner message
 *   INNER_SIZE      CorruptRecordException: an inner message states less bytes than its fixed fields take
 *   INNER_MAGIC     InvalidRecordException: an inner message is not of its wrapper's magic
 *   INNER_CODEC     InvalidRecordException: an inner message is compressed
 *   INNER_CRC       CorruptRecordException: the CRC of an inner message is wrong
 * X(symbol, name, Kafka's error code) */
#define KW_WALKS(X)                                       \
	X(KW_WALK_END, "end", 0)                          \
	X(KW_WALK_BAD_RECORD, "bad-record", 87)           \
	X(KW_WALK_BAD_VARINT, "bad-varint", -1)           \
	X(KW_WALK_EARLY_EOF, "early-eof", 87)             \
	X(KW_WALK_TRAILING, "trailing", 87)               \
	X(KW_WALK_BAD_CODEC, "bad-codec", -1)             \
	X(KW_WALK_LIMIT, "limit", -1)                     \
	X(KW_WALK_STOPPED, "stopped", 0)                  \
	X(KW_WALK_BEYOND, "beyond", -1)                   \
	X(KW_WALK_WRAPPER_MAGIC, "wrapper-magic", 87)     \
	X(KW_WALK_WRAPPER_ZSTD, "wrapper-zstd", 87)       \
	X(KW_WALK_WRAPPER_NULL, "wrapper-null", 87)       \
	X(KW_WALK_WRAPPER_EMPTY, "wrapper-empty", 87)     \
	X(KW_WALK_WRAPPER_OFFSET, "wrapper-offset", 87)   \
	X(KW_WALK_INNER_SIZE, "inner-size", 2)            \
	X(KW_WALK_INNER_MAGIC, "inner-magic", 87)         \
	X(KW_WALK_INNER_CODEC, "inner-codec", 87)         \
	X(KW_WALK_INNER_CRC, "inner-crc", 2)

enum kw_walk {
#define KW_X(sym, name, code) sym,
	KW_WALKS(KW_X)
#undef KW_X
};

/* The columns of the table: "early-eof", and Kafka's error code (errors.h; -1 UNKNOWN_SERVER_ERROR, 0 none). */
const char *kw_walk_name(enum kw_walk why);
int kw_walk_code(enum kw_walk why);

/* Of a message of magic 0 or 1: all of it, or up to the length of the key, or up to the timestamp. What goes beyond the
 * message and need not lie in it is shown as null, but a key as that many bytes at NULL if its length can be read: so a
 * Kafka leader looks at messages that it is to encode anew, before it does. */
enum kw_fields { KW_FIELDS_ALL, KW_FIELDS_KEY_LENGTH, KW_FIELDS_TIMESTAMP };

/* What all records of a batch come to. */
struct kw_tally {
	int64_t minTimestamp, maxTimestamp; /* ms, as kw_record_time() */
	int32_t indexOfMax, deltaOfMax; /* the first record that has maxTimestamp, and its offset delta */
	int32_t firstDelta;       /* offset delta of the first record */
	bool odd;                 /* offset deltas are not 0, 1, 2, ... */
	bool null_key;            /* some record has none */
};

/* Returns true when that is all there is to know. */
typedef bool kw_tally_fn(void *arg, const struct kw_tally *tally);

struct kw_walk_opts {
	kw_tally_fn *tally;       /* NULL, or asked first if every record is well-formed and nothing is odd about sizes:
				     when it returns true, no record is shown. It gets the walk's arg. Several times
				     faster than a look at each */
	struct kw_buf *inflated;  /* NULL, or where compressed records are inflated, in place of memory of the walk's
				     own that is taken and freed: it is cleared first, and keeps what it grew to */
	bool skip_bodies;         /* read a compressed batch as Kafka does when it need not re-encode it: a record's own
				     length is not used to find its end, and its headers are counted (nheaders) but not
				     collected (headers is NULL); without effect on anything else */
	bool inner_magic;         /* judge the magic of inner messages before any is shown; Kafka's readers and clients
				     let messages of magic 0 and 1 stand in each other's wrappers, and its leader
				     refuses such a one as a record when its turn comes */
	bool inner_crc;           /* judge the CRC of inner messages of the wrapper's magic, as a Kafka leader does; its
				     other readers and its clients look at that of the wrapper only */
	enum kw_fields fields;    /* of messages, but not of wrappers: what must lie in them */
	int32_t record_max;       /* most bytes that the length of a record in a compressed batch or message may state:
				     the topic's max.decompressed.message.bytes (Kafka 4.4); 0 = that config's default,
				     2147483639; -1 = as before 4.4: with skip_bodies the length is not judged at all,
				     else memory is taken for what it states before a byte is read, and LIMIT is what
				     states more than inflate_max */
	size_t inflate_max;       /* limits of struct kw_inflate_opts: 0 = the defaults of compress.h */
	size_t inflate_ratio;
	size_t inflate_ratio_from;
};

/* Most bytes that a record or message may state before memory for it is taken: SIZE_MAX where none is. */
size_t kw_walk_memory(const struct kw_walk_opts *opts);

#endif
