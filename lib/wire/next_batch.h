/* The batches of a record set, found as Kafka's ByteBufferLogInputStream finds them. */
#ifndef KASSAY_WIRE_NEXT_BATCH_H
#define KASSAY_WIRE_NEXT_BATCH_H

#include "lib/wire/rules.h"

enum kw_next {
	KW_NEXT_BATCH,     /* *batch is a whole batch with magic 0, 1 or 2, of at least 26 bytes */
	KW_NEXT_NONE,      /* nothing more, or less than a whole batch */
	KW_NEXT_BROKEN,    /* *rule is broken: KW_R_RECORD_SIZE, KW_R_MAGIC, KW_R_SIZE_OVERFLOW */
};

/* Takes the next batch off the front of *rest. What can be read of the header is in *batch, also when it is broken. */
enum kw_next kw_next_batch(struct kw_slice *rest, struct kw_batch *batch, enum kw_rule *rule);

#endif
