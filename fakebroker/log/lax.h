/* The store that takes everything: what --lax makes of a produced record set. */
#ifndef KASSAY_FAKEBROKER_LOG_LAX_H
#define KASSAY_FAKEBROKER_LOG_LAX_H

#include "fakebroker/log/log.h"

/* Appends the n bytes of a record set. Batches that are whole by their length field, of magic 2 and not smaller than
 * their header, each get the next offset and the leader epoch, and take up the offsets that lastOffsetDelta says (one
 * if that is negative); no other byte changes, and the CRC covers neither field. From the first place on where there is
 * no such batch to the end of the set, messages of magic 0 and 1 included, it is kept untouched as one entry, which
 * takes up one offset. Nothing is kept of an empty set. 0, or KT_ELIMIT or KT_ENOMEM, when some batches may be
 * there. */
int fb_log_append_lax(struct fb_log *log, const uint8_t *p, size_t n, int32_t leaderEpoch);

#endif
