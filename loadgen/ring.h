/* Places in an array that is used as a ring: first in, first out. */
#ifndef KASSAY_LOADGEN_RING_H
#define KASSAY_LOADGEN_RING_H

struct lg_ring {
	int max;         /* places in all */
	int first, n;    /* the oldest one, and how many are taken */
};

/* Takes the next place and returns its index; -1 when all are taken. */
static inline int lg_ring_take(struct lg_ring *ring)
{
	return ring->n == ring->max ? -1 : (ring->first + ring->n++) % ring->max;
}

/* Gives the oldest place back; there must be one. */
static inline void lg_ring_drop(struct lg_ring *ring)
{
	ring->first = (ring->first + 1) % ring->max;
	ring->n--;
}

/* Gives the place that was taken last back. */
static inline void lg_ring_untake(struct lg_ring *ring)
{
	ring->n--;
}

#endif
