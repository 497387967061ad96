/* Conversion of record sets between magics, as Kafka's brokers did it: down, for a consumer whose fetch version is too
 * old for what the log holds (up to 3.9), and up, for a producer whose messages are older than the topic's format.
 *
 * Source: Kafka's RecordsUtil.downConvert and LogValidator (release 3.9.0).
 */
#ifndef KASSAY_WIRE_CONVERT_H
#define KASSAY_WIRE_CONVERT_H

#include "lib/wire/set.h"

/* Appends the set, with what is newer than `magic` converted to it; what is not newer is copied as it is.
 *   - Offsets and timestamps stay; with LogAppendTime every record gets the batch's timestamp. Headers, producer id,
 *     epochs and the transactional mark are dropped. Magic 0 has no timestamps.
 *   - A compressed batch becomes one wrapper of the same codec, an uncompressed one a message for each record; of the
 *     latter, records below firstOffset are left out. lz4 is written with the historic checksum in magic 0.
 *   - Control batches are left out, as are batches without records. An entry that is cut off at the end is left out.
 * CRCs are not checked. opts may be NULL; its inflate_max bounds what a compressed batch comes to, too.
 * KT_EUNKNOWN for zstd below magic 2, in whatever entry; KT_ERANGE for what Kafka's builder refuses (a timestamp below
 * -1, offsets that do not rise), and for a magic other than 0, 1 and 2; otherwise as from kw_set_next and
 * kw_entry_walk. err has the offset of the entry in the set. On failure out is as before. */
int kw_convert_down(const uint8_t *p, size_t n, int magic, int64_t firstOffset, const struct kw_walk_opts *opts,
		    struct kw_buf *out, struct kt_err *err);

struct kw_convert_up {
	int magic;                    /* 1 or 2, and newer than the set */
	int codec;                    /* of the outcome; -1: that of the set */
	int64_t baseOffset;           /* of the first record; the others follow without gaps, whatever they had */
	int8_t timestampType;         /* of the outcome */
	int64_t now;                  /* with KW_LOG_APPEND_TIME, its time (ms) */
	int32_t partitionLeaderEpoch; /* of a batch */
};

/* Appends the set as the leader stores it: in magic 2 one batch of all records, in magic 1 one wrapper, or without
 * compression a message for each record. Records of magic 0 have KW_NO_TIMESTAMP. Refuses, with Kafka's words, what the
 * leader refuses in a set as such: no message at all, messages of several magics, more than one where one is
 * compressed, a wrong CRC (that of inner messages, too), inner messages of another magic. Errors as for
 * kw_convert_down. */
int kw_convert_up(const uint8_t *p, size_t n, const struct kw_convert_up *to, const struct kw_walk_opts *opts,
		  struct kw_buf *out, struct kt_err *err);

#endif
