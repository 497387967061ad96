#include "fakebroker/control/listing.h"

#include "lib/text/err.h"

int fb_listing_add(struct fb_listing *listing, json_t *row)
{
	size_t n = json_array_size(listing->rows);

	if (!row || !listing->rows) {
		json_decref(row);
		return KT_ENOMEM;
	}
	listing->bytes += json_dumpb(row, NULL, 0, JSON_INDENT(2));
	if (n >= listing->limit || (n > 0 && listing->bytes > FB_LISTING_BYTES)) {
		json_decref(row);
		return 0;
	}
	return json_array_insert_new(listing->rows, listing->backwards ? 0 : n, row) < 0 ? KT_ENOMEM : 1;
}
