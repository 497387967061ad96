/* Inside lib/wire: what the two halves of decoding share. decode.c takes the common cases of each step of a plan,
 * decode_field.c any field, and says what is wrong with it.
 *
 * All that reads takes the place to read at and returns the place behind, or NULL after a failure: so the place stays
 * in a register, and one look at it is enough.
 */
#ifndef KASSAY_WIRE_DECODE_H
#define KASSAY_WIRE_DECODE_H

#include "lib/wire/map.h"
#include "lib/wire/plan.h"

struct kw_dec {
	const uint8_t *base, *end;
	struct kw_arena *arena;
	struct kt_err *err;
	struct kw_map *map;        /* gets the place of each field; or NULL */
	const uint8_t *stop;       /* where the first failure was */
	int code;                  /* of the first failure */
};

static inline bool kw_has(const struct kw_dec *d, const uint8_t *p, size_t n)
{
	return (size_t)(d->end - p) >= n;
}

/* One struct: the field of `up`, or the element of it at up->index. The memory is zeroed. */
const uint8_t *kw_read_struct(struct kw_dec *d, const uint8_t *p, const struct kw_plan *plan, char *out,
			      struct kw_frame *up);
/* All n > 0 elements of an array, without a map. The memory is zeroed. */
const uint8_t *kw_read_structs(struct kw_dec *d, const uint8_t *p, const struct kw_plan *plan, char *out, int32_t n,
			       struct kw_frame *up);
/* One field; `out` is its struct. */
const uint8_t *kw_read_field(struct kw_dec *d, const uint8_t *p, const struct kw_op *op, struct kw_frame *frame,
			     char *out);
/* The tagged fields at the end of a struct. */
const uint8_t *kw_read_tags(struct kw_dec *d, const uint8_t *p, const struct kw_plan *plan, char *out,
			    struct kw_frame *frame);

#endif
