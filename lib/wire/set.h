/* Record sets: what a `records` field, a log segment or a fetch response holds, whatever the magics in it.
 *
 *   struct kw_set set = {.p = p, .n = n};
 *   struct kw_entry entry;
 *
 *   while ((code = kw_set_next(&set, &entry, &err)) > 0)
 *           if (kw_entry_check(&entry, &err) == 0)
 *                   kw_entry_walk(&entry, NULL, show, NULL, &why, &err);
 */
#ifndef KASSAY_WIRE_SET_H
#define KASSAY_WIRE_SET_H

#include "lib/wire/batch.h"
#include "lib/wire/entry.h"
#include "lib/wire/legacy.h"

struct kw_set {
	const uint8_t *p;
	size_t n;
	size_t at;             /* of the next entry; may be set by the caller */
};

/* Takes the next batch or message; entry->at is its place. Returns
 *   1           there is one; at has moved behind it
 *   0           the set ends behind the last one
 *   KT_ETRUNC   the set ends inside of this one. Usual at the end of a fetch response, which the broker cuts at a
 *               size: Kafka's readers stop there without a word
 *   KT_ECORRUPT its length is below the minimum, or its magic is not 0, 1 or 2; Kafka's words and the offset of the
 *               field in the set are in err
 * At a failure at stays, entry has what could be read, and nothing says where another entry could begin. */
int kw_set_next(struct kw_set *set, struct kw_entry *entry, struct kt_err *err);

/* The following take an entry of kw_set_next. Offsets in err count from the beginning of the set, but see
 * kw_entry_walk. */

/* Size and CRC: Kafka's ensureValid. 0 or KT_ECORRUPT. */
int kw_entry_check(const struct kw_entry *entry, struct kt_err *err);

/* A record of any magic. */
struct kw_item {
	int64_t offset;              /* absolute */
	int64_t timestamp;           /* ms; KW_NO_TIMESTAMP */
	int8_t timestampType;        /* enum kw_timestamp_type */
	int8_t magic;                /* of the record itself: in a wrapper it may differ from the entry's */
	int8_t attributes;           /* of the record itself */
	struct kw_bytes key, value;  /* n == -1: null */
	bool cut;                    /* as in struct kw_legacy */
	int32_t nheaders;            /* 0 in magic 0 and 1 */
	const struct kw_header *headers;
	size_t at, size;             /* bytes it takes in the inflated records area or inner set; in an uncompressed
				        batch, in the records area; as a message of its own, 0 and all of it */
};

/* Lifetime of what item points to as for kw_record_fn. A non-zero return stops the walk and is returned. */
typedef int kw_item_fn(void *arg, int32_t index, const struct kw_item *item);

/* Visits the records of an entry; kw_batch_walk and kw_legacy_walk say what is judged, where err's offset counts from
 * and what is returned. An entry that is too small for its own fields ends it with KW_WALK_BEYOND, and then the offset
 * counts from the beginning of the entry. */
int kw_entry_walk(const struct kw_entry *entry, const struct kw_walk_opts *opts, kw_item_fn *fn, void *arg,
		  enum kw_walk *why, struct kt_err *err);

/* Codec of an entry, from its attributes: enum kw_codec, or 5..7. */
int kw_entry_codec(const struct kw_entry *entry);

#endif
