/* The JSON form of batches and messages (kw_batches_from_json in batch.h); private to its files.
 *
 * The first failure sticks in the error object and makes all later readers find nothing (lib/text/json.h), so most
 * functions here return nothing and the caller looks at err->code where it matters. */
#ifndef KASSAY_WIRE_BATCH_JSON_H
#define KASSAY_WIRE_BATCH_JSON_H

#include "lib/text/json.h"
#include "lib/wire/batch.h"
#include "lib/wire/legacy.h"

enum { KW_JSON_MAX = 256 << 20 };   /* most bytes of one call, of one value, of one records area */

/* One element of the array: a batch, or messages. */
struct kw_building {
	struct kw_arena *arena;  /* bytes of the value at hand */
	int64_t now;             /* ms, the same for the whole call */
	struct kw_buf area;      /* records area or inner set, before compression */
	struct kw_buf bytes;     /* the outcome */
	bool has_area;           /* area is that of a batch, so that edits can reach into it */
	int32_t count, last;     /* of a batch: records, offset delta of the last one */
	int64_t max_delta;       /* of a batch: greatest timestamp delta */
};

/* Getters as in lib/text/json.h. */

/* A number, "now", "now+1000", "now-1000". */
bool kw_obj_time(struct kw_building *building, struct kt_obj *obj, const char *name, int64_t *v);
/* A number that fits into so many bytes, signed or unsigned. */
bool kw_obj_field(struct kt_obj *obj, const char *name, int size, int64_t *v);
/* A string of hex digits, or of base64 if that is the name. */
void kw_obj_digits(struct kw_building *building, struct kt_obj *obj, const char *name, struct kw_bytes *out);
/* A string or {"hex"}, {"base64"}, {"size"}; *out is null if the member is null or missing, or after a failure. */
void kw_obj_bytes(struct kw_building *building, struct kt_obj *obj, const char *name, struct kw_bytes *out);
/* Appends a member of bytes that is there and must not be null. */
void kw_obj_put_bytes(struct kw_building *building, struct kt_obj *obj, const char *name, struct kw_buf *out);
/* Reads "codec", "lz4Checksum" and "snappyFraming"; *opts has the defaults. */
void kw_obj_codec(struct kt_obj *obj, int *codec, struct kw_deflate_opts *opts);
/* Whether "crc" is this word. */
bool kw_obj_crc_is(struct kt_obj *obj, const char *word);
/* Says that the buffer, of at most KW_JSON_MAX bytes, failed: without memory, or with more bytes "of records". */
void kw_obj_full(struct kt_obj *obj, const char *name, const struct kw_buf *buf, const char *of);

/* Messages of magic 0 or 1 into building->bytes. */
void kw_messages_from_json(struct kw_building *building, struct kt_obj *obj, int8_t magic);
/* Rights the CRCs of all whole messages in n bytes. */
void kw_messages_fix(uint8_t *p, size_t n);

#endif
