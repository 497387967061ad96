/* The batches of a record set, found as Kafka's ByteBufferLogInputStream finds them. */
#ifndef KASSAY_FAKEBROKER_LOG_NEXT_BATCH_H
#define KASSAY_FAKEBROKER_LOG_NEXT_BATCH_H

#include "lib/wire/arena.h"
#include "lib/wire/types.h"

enum fb_next {
	FB_NEXT_BATCH,     /* *batch is a whole batch with magic 0, 1 or 2, of at least 26 bytes */
	FB_NEXT_NONE,      /* nothing more, or less than a whole batch */
	FB_NEXT_CORRUPT,   /* CorruptRecordException: length or magic; the client sees its message */
	FB_NEXT_OVERFLOW,  /* IllegalArgumentException: the size overflows; the client sees UNKNOWN_SERVER_ERROR */
};

/* Takes the next batch off the front of *rest. *message says what is wrong (in arena; NULL if that is full). */
enum fb_next fb_next_batch(struct kw_slice *rest, struct kw_arena *arena, struct kw_slice *batch, const char **message);

#endif
