/* Messages of magic 0 and 1 and their sets: read, built, checked. Kafka wrote magic 0 up to 0.9, magic 1 in 0.10, and
 * read and converted both up to 3.9.
 *
 * A message set is a run of messages. A compressed set is one message, the wrapper, whose value is the compressed inner
 * set. In magic 0 the inner messages have their offsets; in magic 1 those count from 0 and the wrapper has the offset
 * of the last one.
 *
 * Source of the layout and of every verdict: Kafka's LegacyRecord and AbstractLegacyRecordBatch (releases 3.9.0 and
 * 4.4.0); KIP-31, KIP-32.
 */
#ifndef KASSAY_WIRE_LEGACY_H
#define KASSAY_WIRE_LEGACY_H

#include "lib/wire/compress.h"
#include "lib/wire/entry.h"
#include "lib/wire/types.h"
#include "lib/wire/walk.h"

enum {
	KW_L_OFFSET = KW_E_OFFSET,   /* int64 */
	KW_L_LENGTH = KW_E_LENGTH,   /* int32: bytes after this field */
	KW_L_CRC = 12,               /* uint32, CRC-32 (that of zlib) of [16, end) */
	KW_L_MAGIC = KW_E_MAGIC,     /* int8 */
	KW_L_ATTRIBUTES = 17,        /* int8: codec, and in magic 1 KW_A_LOG_APPEND_TIME */
	KW_L_TIMESTAMP = 18,         /* int64, magic 1 only; ms, -1 = none */
	KW_L_KEY_V0 = 18,            /* int32 length, -1 = null, and that many bytes; then the value alike */
	KW_L_KEY_V1 = 26,
};

enum { KW_NO_TIMESTAMP = -1 };

/* Kafka's TimestampType, with its ids. */
enum kw_timestamp_type { KW_NO_TIMESTAMP_TYPE = -1, KW_CREATE_TIME, KW_LOG_APPEND_TIME };

struct kw_legacy {
	const uint8_t *p;            /* first byte of the message */
	size_t size;                 /* whole message, offset and length included */
	int64_t offset;
	int32_t length;
	uint32_t crc;
	int8_t magic, attributes;
	int8_t timestampType;        /* enum kw_timestamp_type: none in magic 0 */
	int64_t timestamp;           /* ms; KW_NO_TIMESTAMP in magic 0 */
	struct kw_bytes key, value;  /* n == -1: null */
	bool cut;                    /* key or value goes beyond the message: enum kw_fields */
	size_t at;                   /* of an inner message: its place in the inflated set. 0 after kw_legacy_parse */
};

/* Reads the message at p. Any magic but 0 is read as 1, as Kafka does. KT_ETRUNC when the n bytes end before the
 * message does; KT_ECORRUPT on a length below KW_E_MIN_LENGTH, and when a field, the key or the value goes beyond the
 * message. What follows the value inside the message is ignored, as Kafka does. err has the offset of the fault in the
 * message. On failure legacy has what could be read; size is right after the second kind of KT_ECORRUPT. */
int kw_legacy_parse(const uint8_t *p, size_t n, struct kw_legacy *legacy, struct kt_err *err);
/* The same, but of what follows the timestamp only the given fields must lie in the message. */
int kw_legacy_parse_fields(const uint8_t *p, size_t n, enum kw_fields fields, struct kw_legacy *legacy,
			   struct kt_err *err);
uint32_t kw_legacy_crc(const uint8_t *p, size_t size);   /* of [16, size); size is at least 16 */

/* Called once per message: for the message itself, or for each one in the wrapper. Offset, timestamp type and timestamp
 * are those that count, whatever stands in the inner message: offsets are absolute, and a wrapper with
 * LogAppendTime gives its time to all. An inner message and all it points to live for the call only. A non-zero return
 * stops the walk and is returned. */
typedef int kw_legacy_fn(void *arg, int32_t index, const struct kw_legacy *message);

/* Visits a message that kw_legacy_parse has read: itself when it is not compressed, else the messages inside. The CRC
 * and magic of the message itself are not checked. As in Kafka, an inner message that is cut off at the end counts for
 * nothing, and a fault of the wrapper, of the stream or of an inner frame shows no record at all, while other faults of
 * an inner message come after the messages before it were shown. A wrapper of magic 1 with offset 0 is taken for one
 * whose first inner message has offset 0, because old producers sent that.
 * opts and fn may be NULL. *why says how it ended; err gets Kafka's own words (but for BEYOND) and the offset of the
 * fault: in the message for KW_WALK_WRAPPER_* and BEYOND of a message that is not inner, otherwise in the inflated set.
 * Returns 0, fn's non-zero result, or KT_ECORRUPT / KT_ELIMIT / KT_ENOMEM. */
int kw_legacy_walk(const struct kw_legacy *message, const struct kw_walk_opts *opts, kw_legacy_fn *fn, void *arg,
		   enum kw_walk *why, struct kt_err *err);

/* ---- building ---- */

/* Appends one message: offset, magic, attributes, timestamp (not in magic 0), key and value as given; length and CRC
 * are right. */
void kw_legacy_put(struct kw_buf *out, const struct kw_legacy *message);

struct kw_legacy_spec {
	int8_t magic;                    /* 0 or 1 */
	int8_t codec;                    /* KW_NONE: message behind message; else all in one wrapper */
	int8_t timestampType;            /* of magic 1 */
	int64_t logAppendTime;           /* with KW_LOG_APPEND_TIME, the timestamp of every message */
	struct kw_deflate_opts deflate;  /* Kafka itself writes lz4_historic in magic 0 */
};

/* A set under construction. */
struct kw_legacy_set {
	struct kw_legacy_spec spec;
	struct kw_buf *out, inner;
	int64_t first, last, maxTimestamp;
	int32_t n;
};

/* _add takes offset (absolute), timestamp, key and value of the message; nothing is kept of it. KT_ERANGE where Kafka's
 * builder refuses: offsets that do not rise or span more than an int32, and timestamps below -1.
 * _end appends what the set needs to out, nothing if it has no messages; KT_EUNKNOWN for zstd and codecs that do not
 * exist, KT_ELIMIT when it is too large. _fini must follow on failure, too; out may then have half a set. */
void kw_legacy_set_init(struct kw_legacy_set *set, const struct kw_legacy_spec *spec, struct kw_buf *out);
int kw_legacy_set_add(struct kw_legacy_set *set, const struct kw_legacy *message, struct kt_err *err);
int kw_legacy_set_end(struct kw_legacy_set *set, struct kt_err *err);
void kw_legacy_set_fini(struct kw_legacy_set *set);
/* All of that for n messages. On failure out is as before. */
int kw_legacy_build(const struct kw_legacy_spec *spec, const struct kw_legacy *messages, int32_t n, struct kw_buf *out,
		    struct kt_err *err);

#endif
