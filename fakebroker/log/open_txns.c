#include "fakebroker/log/open_txns.h"

#include <assert.h>
#include <stdlib.h>

#include "lib/text/err.h"

enum { FIRST_CAP = 4 };

void fb_open_txns_fini(struct fb_open_txns *open)
{
	free(open->v);
	*open = (struct fb_open_txns){0};
}

static void close_gaps(struct fb_open_txns *open)
{
	size_t n = 0;

	for (size_t i = open->head; i < open->n; i++)
		if (!open->v[i].ended)
			open->v[n++] = open->v[i];
	open->head = open->gaps = 0;
	open->n = n;
}

int fb_open_txns_reserve(struct fb_open_txns *open)
{
	size_t cap = open->cap ? open->cap * 2 : FIRST_CAP;
	struct fb_open_txn *v;

	if (open->n < open->cap)
		return 0;
	if ((open->head + open->gaps) * 2 >= open->n)
		close_gaps(open);
	if (open->n < open->cap)
		return 0;
	v = realloc(open->v, cap * sizeof *v);
	if (!v)
		return KT_ENOMEM;
	open->v = v;
	open->cap = cap;
	return 0;
}

void fb_open_txns_begin(struct fb_open_txns *open, int64_t firstOffset)
{
	open->v[open->n++] = (struct fb_open_txn){.firstOffset = firstOffset};
}

void fb_open_txns_end(struct fb_open_txns *open, int64_t firstOffset)
{
	size_t low = open->head, high = open->n;

	assert(low < high);
	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (open->v[mid].firstOffset <= firstOffset)
			low = mid;
		else
			high = mid;
	}
	open->v[low].ended = true;
	open->gaps++;
	while (open->head < open->n && open->v[open->head].ended) {
		open->head++;
		open->gaps--;
	}
}
