/* The index files beside a log segment: entries of a fixed size, in the order of what they point at.
 *
 * Source: Kafka's OffsetIndex, TimeIndex, TransactionIndex and AbortedTxn (release 4.4.0). An active segment's offset
 * and time index are made at their full size, so that zeros follow the last entry; when the segment is rolled they are
 * cut.
 */
#ifndef KASSAY_WIRE_INDEX_FILE_H
#define KASSAY_WIRE_INDEX_FILE_H

#include <stdbool.h>

#include "lib/wire/types.h"

/* X(symbol, suffix, size of an entry, word)
 *   offset  int32 offset, relative to the segment's; int32 position of a batch, whose last offset it is
 *   time    int64 greatest timestamp so far; int32 relative offset of (the batch of) the record that has it
 *   txn     int16 version 0; int64 producerId, firstOffset and lastOffset of an aborted transaction,
 *           lastStableOffset */
#define KW_INDEXES(X)                                         \
	X(KW_INDEX_OFFSET, ".index", 8, "offset index")       \
	X(KW_INDEX_TIME, ".timeindex", 12, "time index")      \
	X(KW_INDEX_TXN, ".txnindex", 34, "index of aborted transactions")

enum kw_index {
#define KW_X(sym, suffix, size, word) sym,
	KW_INDEXES(KW_X)
#undef KW_X
	KW_INDEX_KINDS,
};

/* Offsets are absolute. What an index does not have is 0. */
struct kw_index_entry {
	int64_t offset;          /* of a transaction: that of its marker */
	int32_t position;        /* in the segment */
	int64_t timestamp;       /* ms */
	int16_t version;
	int64_t producerId, firstOffset, lastStableOffset;
};

const char *kw_index_suffix(enum kw_index index);
const char *kw_index_word(enum kw_index index);
size_t kw_index_entry_size(enum kw_index index);

/* How many entries the n bytes hold, without the zeros behind them. What is left at the end, less than an entry, counts
 * for nothing. */
size_t kw_index_count(enum kw_index index, const uint8_t *p, size_t n);
/* Reads the entry at p. first_offset: of the segment. */
void kw_index_read(enum kw_index index, int64_t first_offset, const uint8_t *p, struct kw_index_entry *entry);

#endif
