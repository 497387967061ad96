/* Which answers are still to come on a connection: a client is out of step for good with a peer that sends another one.
 *
 * It goes by the bytes that are sent, right and wrong ones: each whole frame may be answered, with the correlation id
 * that stands in it. Not so Produce with acks=0, and a frame that is too short to have an id.
 */
#ifndef KASSAY_CONFORMANCE_DUE_H
#define KASSAY_CONFORMANCE_DUE_H

#include "lib/wire/buf.h"

/* All zero is a connection on which nothing was sent. */
struct cf_due {
	int32_t *ids;            /* correlation ids, those of the oldest requests first */
	size_t n, cap;
	struct kw_buf rest;      /* of a frame that is not whole yet, its size field in front */
};

/* Forgets it all. */
void cf_due_fini(struct cf_due *due);

/* Bytes that are sent, in pieces of any size. KT_ENOMEM, KT_ELIMIT. */
int cf_due_sent(struct cf_due *due, const uint8_t *p, size_t n, struct kt_err *err);
/* Is an answer with that correlation id to come? */
bool cf_due_has(const struct cf_due *due, int32_t id);
/* It came. False when nothing was to come with that id. */
bool cf_due_settle(struct cf_due *due, int32_t id);

#endif
