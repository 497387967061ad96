/* Wrong on purpose: bytes are encoded right, then edited.
 *
 * Edits are JSON, an array of objects, applied in order; docs/edits.md describes them for people, edits.def lists them.
 *
 *	[{"edit": "set-length", "at": "topicData[0].name", "value": -2}, {"edit": "flip-bit", "at": -1, "bit": 0}]
 *
 * Members:
 *   at      a field's path (map.h), or an offset: a number, negative ones from the end. Paths go on meaning the same
 *           fields while bytes come and go; behind a swap they mean the places. Of split: an array of them
 *   plus    so many bytes behind where the field begins
 *   size    bytes that are meant: unless given, the rest of a field; the number of new bytes, or 1, at an offset. Of
 *           overlong-varint: bytes that it shall take (5 unless given)
 *   with    the other field
 *   value   a number; of lengths also "max", "actual" and "remaining", each also with "+N" or "-N": the greatest that
 *           the form of the length takes, that which fits the bytes, and the bytes left behind it
 *   hex     bytes
 *   bit, tag, from, to
 * Nothing cascades: a length that an edit makes wrong stays wrong. The one exception is the size of a frame, which is
 * set right at the end unless a "size" edit says otherwise.
 */
#ifndef KASSAY_WIRE_EDIT_H
#define KASSAY_WIRE_EDIT_H

#include "lib/text/json.h"
#include "lib/wire/map.h"

enum { KW_EDIT_CUTS = 64 };

/* What edits work on. */
struct kw_editing {
	struct kw_buf *buf;          /* the bytes; without references */
	struct kw_map map;           /* of them, with buf->p as base; arena set */
	bool frame;                  /* the bytes are a request frame, its size in front */
	/* What becomes of a frame, set by edits: */
	bool half_close;
	bool size_stale, size_given;
	int64_t size;                /* if given; added to the right one when size_relative */
	bool size_relative;
	size_t cuts[KW_EDIT_CUTS], ncuts;   /* rising offsets where a new piece begins */
};

/* Applies one edit: an object that was opened and of which nothing was asked yet. Errors, in obj->err: KT_EUNKNOWN
 * (edit, member or path, with the nearest known), KT_ETYPE, KT_ERANGE, KT_ESYNTAX, KT_ELIMIT, KT_ENOMEM. */
int kw_edit_apply(struct kw_editing *editing, struct kt_obj *obj);

/* Edits a whole request frame in place, its size field included. `result` tells how to send it: half_close and cuts. It
 * needs no _fini, but its map is gone. Errors as above, err->path like "edits[0].at". Whatever cannot be read of the
 * frame has no paths. */
int kw_edit_frame(json_t *edits, struct kw_buf *frame, struct kw_editing *result, struct kt_err *err);

/* Are the edits well formed, as far as can be told without the bytes? KT_EUNKNOWN, KT_ETYPE; err->path as above. */
int kw_edits_check(json_t *edits, struct kt_err *err);

/* The i-th row of edits.def, false behind the last. */
bool kw_edit_row(size_t i, const char **name, const char **members, const char **help);

#endif
