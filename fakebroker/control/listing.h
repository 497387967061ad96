/* A list in an answer of the control API: while it is made, the API answers nobody else, and its JSON takes several
 * times the memory that it has bytes. So it ends where it would come to more than 16 MiB, but has one row at least. */
#ifndef KASSAY_FAKEBROKER_CONTROL_LISTING_H
#define KASSAY_FAKEBROKER_CONTROL_LISTING_H

#include <jansson.h>
#include <stdbool.h>

enum { FB_LISTING_BYTES = 16 << 20 };

struct fb_listing {
	json_t *rows;              /* an array; the caller's */
	size_t limit;              /* of rows */
	bool backwards;            /* rows come last one first, and are put in front */
	size_t bytes;              /* as they are printed, less some white space */
};

/* Adds a row, an object, which is taken and may be NULL for want of memory. Returns 1, 0 when it has no room and
 * nothing shall be added any more, or KT_ENOMEM. */
int fb_listing_add(struct fb_listing *listing, json_t *row);

#endif
