/* Where the entry of a producer id lies in an array: a hash table, so that a new producer costs the others nothing.
 *
 * Clients choose the ids: the table is keyed, so that they cannot choose such as collide. Nothing here locks.
 */
#ifndef KASSAY_FAKEBROKER_LOG_PRODUCER_IDS_H
#define KASSAY_FAKEBROKER_LOG_PRODUCER_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fb_producer_slot {
	int64_t producerId;
	size_t place;                    /* in the array, plus 1; 0: the slot is free */
};

/* All zero: empty. */
struct fb_producer_ids {
	struct fb_producer_slot *slots;
	size_t n;
	unsigned bits;                   /* there are 2^bits slots, at most half of them taken; 0: none */
	uint64_t key;
};

void fb_producer_ids_fini(struct fb_producer_ids *ids);
/* Room for one more, so that the next fb_producer_ids_put cannot fail. 0 or KT_ENOMEM. */
int fb_producer_ids_reserve(struct fb_producer_ids *ids);
/* The place of the id; false if there is none. */
bool fb_producer_ids_find(const struct fb_producer_ids *ids, int64_t producerId, size_t *place);
/* Sets the place of an id; if it is a new one there is room. */
void fb_producer_ids_put(struct fb_producer_ids *ids, int64_t producerId, size_t place);
/* Nothing happens if the id is not there. */
void fb_producer_ids_remove(struct fb_producer_ids *ids, int64_t producerId);
/* Forgets all ids; the room stays. */
void fb_producer_ids_clear(struct fb_producer_ids *ids);

#endif
