/* The last records that validators refused, with their bytes: for people who want to know what arrived. */
#ifndef KASSAY_FAKEBROKER_HOOKS_REFUSED_H
#define KASSAY_FAKEBROKER_HOOKS_REFUSED_H

#include <stdatomic.h>

#include "fakebroker/hooks/validators.h"

/* What is kept, `kit.refused.records`; the words are those of the config. */
enum fb_refused_keep { FB_KEEP_FULL, FB_KEEP_METADATA, FB_KEEP_NONE };

/* The oldest go when there are more records or bytes than these; of each key, value, header name and header value no
 * more than the first FB_REFUSED_PART bytes are kept, and of headers the first FB_REFUSED_HEADERS. */
enum {
	FB_REFUSED_RECORDS = 1000, FB_REFUSED_BYTES = 4 << 20, FB_REFUSED_PART = 16384, FB_REFUSED_HEADERS = 64,
};

struct fb_refused;

/* NULL without memory. */
struct fb_refused *fb_refused_new(enum fb_refused_keep keep);
void fb_refused_free(struct fb_refused *refused);

/* Copies what is kept of a record. now: ms since 1970 by the broker's clock. clientId may be null. NULL for refused,
 * and a lack of memory, are no errors: then nothing is kept. From any thread. */
void fb_refused_add(struct fb_refused *refused, const struct fb_batch_place *place, struct kw_str clientId, int64_t now,
		    int32_t index, const struct kw_record *record, const struct fb_rejection *rejection);

/* Bytes as they came. */
struct fb_refused_bytes {
	const uint8_t *p;
	int32_t size;             /* of the original; -1: null */
	int32_t n;                /* bytes at p, its first; 0 with FB_KEEP_METADATA */
};

struct fb_refused_header {
	struct fb_refused_bytes key, value;
};

/* One of them, with all that it points to. Never changes. */
struct fb_refused_record {
	atomic_int refs;
	uint64_t id;              /* counts from 1 */
	int64_t time;             /* ms since 1970 */
	const char *topic, *validator, *reason;
	struct fb_refused_bytes clientId, key, value;
	int32_t partition, index, offsetDelta;
	int32_t size;             /* as in struct kassay_record: record_size */
	int64_t timestamp;
	int16_t error;
	int32_t nheaders;         /* of the original */
	int32_t nkept;            /* of them at `headers` */
	const struct fb_refused_header *headers;
};

/* What is there now, oldest first: a reference to each goes to out, which has room for FB_REFUSED_RECORDS. Returns how
 * many; *total is how many were ever refused. */
size_t fb_refused_get(struct fb_refused *refused, struct fb_refused_record **out, uint64_t *total);
void fb_refused_record_unref(struct fb_refused_record *record);

#endif
