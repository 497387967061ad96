#include "fakebroker/log/producer_ids.h"

#include <stdlib.h>
#include <string.h>

#include "lib/text/err.h"

enum { FIRST_BITS = 3 };

void fb_producer_ids_fini(struct fb_producer_ids *ids)
{
	free(ids->slots);
	*ids = (struct fb_producer_ids){0};
}

static size_t mask(const struct fb_producer_ids *ids)
{
	return ((size_t)1 << ids->bits) - 1;
}

/* Where the search for an id begins (the mixing of SplitMix64). */
static size_t home(const struct fb_producer_ids *ids, int64_t producerId)
{
	uint64_t x = (uint64_t)producerId ^ ids->key;

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return (size_t)(x >> 32) & mask(ids);
}

/* The slot of the id, or the free one where it belongs. There are slots. */
static size_t seek(const struct fb_producer_ids *ids, int64_t producerId)
{
	size_t i = home(ids, producerId);

	while (ids->slots[i].place && ids->slots[i].producerId != producerId)
		i = (i + 1) & mask(ids);
	return i;
}

int fb_producer_ids_reserve(struct fb_producer_ids *ids)
{
	struct fb_producer_ids grown = {.n = ids->n, .bits = ids->bits ? ids->bits + 1 : FIRST_BITS};

	if (ids->bits && ids->n < (mask(ids) + 1) / 2)
		return 0;
	grown.slots = calloc(mask(&grown) + 1, sizeof *grown.slots);
	if (!grown.slots)
		return KT_ENOMEM;
	/* Where the system put the slots is what a client cannot know. */
	grown.key = (uint64_t)(uintptr_t)grown.slots * UINT64_C(0x9e3779b97f4a7c15);
	for (size_t i = 0; ids->bits && i <= mask(ids); i++)
		if (ids->slots[i].place)
			grown.slots[seek(&grown, ids->slots[i].producerId)] = ids->slots[i];
	free(ids->slots);
	*ids = grown;
	return 0;
}

bool fb_producer_ids_find(const struct fb_producer_ids *ids, int64_t producerId, size_t *place)
{
	size_t i;

	if (!ids->n)
		return false;
	i = seek(ids, producerId);
	*place = ids->slots[i].place - 1;
	return ids->slots[i].place > 0;
}

void fb_producer_ids_put(struct fb_producer_ids *ids, int64_t producerId, size_t place)
{
	struct fb_producer_slot *slot = &ids->slots[seek(ids, producerId)];

	ids->n += !slot->place;
	*slot = (struct fb_producer_slot){producerId, place + 1};
}

/* Whoever was pushed beyond the slot that became free moves up, so that no search ends too early. */
void fb_producer_ids_remove(struct fb_producer_ids *ids, int64_t producerId)
{
	size_t place, hole, i;

	if (!fb_producer_ids_find(ids, producerId, &place))
		return;
	hole = seek(ids, producerId);
	for (i = (hole + 1) & mask(ids); ids->slots[i].place; i = (i + 1) & mask(ids)) {
		size_t pushed = (i - home(ids, ids->slots[i].producerId)) & mask(ids);

		if (pushed >= ((i - hole) & mask(ids))) {
			ids->slots[hole] = ids->slots[i];
			hole = i;
		}
	}
	ids->slots[hole].place = 0;
	ids->n--;
}

void fb_producer_ids_clear(struct fb_producer_ids *ids)
{
	if (ids->bits)
		memset(ids->slots, 0, (mask(ids) + 1) * sizeof *ids->slots);
	ids->n = 0;
}
