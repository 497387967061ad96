/* What the records of a batch come to, for kw_batch_walk when nobody wants to see them. Private to the walk. */
#ifndef KASSAY_WIRE_TALLY_H
#define KASSAY_WIRE_TALLY_H

#include "lib/wire/batch.h"

/* Reads the batch->count records in [p, end), which is the batch's records area, inflated. record_max: most bytes that
 * a record's length may state if above 0. Returns false when there are none, when one is not in good order, or when it
 * may be judged in more than one way: a walk has the words for that. */
bool kw_tally_records(const struct kw_batch *batch, const uint8_t *p, const uint8_t *end, int32_t record_max,
		      struct kw_tally *tally);

#endif
