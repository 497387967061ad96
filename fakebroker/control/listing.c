#include "fakebroker/control/listing.h"

#include "lib/text/err.h"

static int end_with(int code, json_t *row)
{
	json_decref(row);
	return code;
}

int fb_listing_add(struct fb_listing *listing, json_t *row)
{
	size_t n = json_array_size(listing->rows), bytes;

	if (!row || !listing->rows)
		return end_with(KT_ENOMEM, row);
	if (n >= listing->limit)
		return end_with(0, row);
	bytes = json_dumpb(row, NULL, 0, JSON_INDENT(2));
	if (bytes == 0)   /* it takes memory, too */
		return end_with(KT_ENOMEM, row);
	if (n > 0 && listing->bytes + bytes > FB_LISTING_BYTES)
		return end_with(0, row);
	listing->bytes += bytes;
	return json_array_insert_new(listing->rows, listing->backwards ? 0 : n, row) < 0 ? KT_ENOMEM : 1;
}
