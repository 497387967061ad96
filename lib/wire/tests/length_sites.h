/* Where the lengths of an encoded message lie, and copies of it in which one of them is a lie. */
#ifndef KASSAY_WIRE_TESTS_LENGTH_SITES_H
#define KASSAY_WIRE_TESTS_LENGTH_SITES_H

#include "lib/wire/message.h"

enum length_kind {
	LENGTH_STRING, LENGTH_BYTES, LENGTH_RECORDS, LENGTH_ARRAY,
	LENGTH_PRESENCE,      /* before a nullable struct; not a length, but a number that negatives make null */
	LENGTH_TAG_COUNT, LENGTH_TAG_SIZE,
	LENGTH_KNOWN_SIZE,    /* of a tagged field that the schema has */
};

struct length_site {
	enum length_kind kind;
	const char *path;     /* of the field; of the struct that has the tags, "" at the top */
	size_t at, end;       /* the number itself */
	size_t content_end;   /* of what it counts */
	int width;            /* bytes of a fixed number, 0 for an unsigned varint */
	int bias;             /* what an unsigned varint adds: 1 for the compact lengths */
	bool nullable;        /* in this version */
	bool tagged;          /* inside of a tagged field of the schema, whose size is then stale */
};

struct length_sites {
	struct length_site *v;
	size_t n, cap;
};

/* All lengths of the encoding of `in`, which is appended to buf (empty before). What it finds lives in arena. Ends the
 * program when memory is out: for tests. */
void length_sites_find(struct length_sites *sites, const struct kw_msg *msg, int version, const void *in,
		       struct kw_buf *buf, struct kw_arena *arena);
/* The n bytes at p with `value` as the site's number, in a buffer of their exact size for free(); with `drop` what the
 * number counts is left out. *prefix_end gets the offset behind the number. */
uint8_t *length_site_edit(const struct length_site *site, const uint8_t *p, size_t n, int64_t value, bool drop,
			  size_t *out_n, size_t *prefix_end);

#endif
