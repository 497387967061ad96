/* Inside lib/wire: what the edits are made of. */
#ifndef KASSAY_WIRE_EDIT_STEPS_H
#define KASSAY_WIRE_EDIT_STEPS_H

#include "lib/wire/edit.h"

/* Bytes that an edit means. */
struct kw_place {
	size_t at, size;
	struct kw_span *span;        /* of the field; NULL for an offset. Valid until bytes come or go */
};

/* One edit: reads its members from obj, where failures are left, and does it. */
typedef void kw_edit_fn(struct kw_editing *editing, struct kt_obj *obj);

#define KW_EDIT(fn, name, members, help) kw_edit_fn kw_edit_##fn;
#include "lib/wire/edits.def"
#undef KW_EDIT

/* The place that a member names, or json, which stands in the member. False with a failure in obj. `extra`: how many
 * bytes at an offset are meant, which must be there. */
bool kw_place_read(struct kw_editing *editing, struct kt_obj *obj, const char *member, json_t *json, size_t extra,
		   struct kw_place *place);
/* "at" with "plus" and "size". */
bool kw_place_at(struct kw_editing *editing, struct kt_obj *obj, size_t extra, struct kw_place *place);
/* The member's hex as bytes in the arena. */
bool kw_edit_hex(struct kw_editing *editing, struct kt_obj *obj, struct kw_bytes *bytes);
/* Puts n bytes in the place of `size` at `at`, and keeps the map right. with may lie in the buffer. */
bool kw_splice(struct kw_editing *editing, struct kt_obj *obj, size_t at, size_t size, const void *with, size_t n);

#endif
