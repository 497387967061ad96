#include "conformance/pairs.h"

#include <stdint.h>
#include <stdlib.h>

#include "lib/text/err.h"

#define NONE SIZE_MAX

struct pairs {
	size_t nright;
	cf_fits_fn *fits;
	void *arg;
	size_t *right_of;    /* of each left one, or NONE */
	size_t *queue;       /* left ones from which the search has to go on */
	size_t *left_of;     /* of each right one, or NONE */
	size_t *from;        /* of each right one: the left one from which the search came to it, or NONE */
};

/* A right one is free: along the way back each left one takes the right one that was found for it, and leaves its own
 * to the one before. */
static void hand_on(struct pairs *pairs, size_t right)
{
	while (right != NONE) {
		size_t left = pairs->from[right], leaves = pairs->right_of[left];

		pairs->left_of[right] = left;
		pairs->right_of[left] = right;
		right = leaves;
	}
}

/* Finds one for one more, breadth first; those that have one already may have to take another (an augmenting path). */
static bool add(struct pairs *pairs, size_t left)
{
	size_t n = 0;

	for (size_t right = 0; right < pairs->nright; right++)
		pairs->from[right] = NONE;
	pairs->queue[n++] = left;
	for (size_t i = 0; i < n; i++)
		for (size_t right = 0; right < pairs->nright; right++) {
			if (pairs->from[right] != NONE || !pairs->fits(pairs->arg, pairs->queue[i], right))
				continue;
			pairs->from[right] = pairs->queue[i];
			if (pairs->left_of[right] == NONE) {
				hand_on(pairs, right);
				return true;
			}
			pairs->queue[n++] = pairs->left_of[right];
		}
	return false;
}

int cf_pairs(size_t nleft, size_t nright, cf_fits_fn *fits, void *arg, size_t *without)
{
	size_t *v = malloc((2 * nleft + 2 * nright + 1) * sizeof *v);
	struct pairs pairs = {nright, fits, arg, v, v + nleft, v + 2 * nleft, v + 2 * nleft + nright};

	if (!v)
		return KT_ENOMEM;
	for (size_t i = 0; i < nleft; i++)
		pairs.right_of[i] = NONE;
	for (size_t i = 0; i < nright; i++)
		pairs.left_of[i] = NONE;
	*without = 0;
	while (*without < nleft && add(&pairs, *without))
		++*without;
	free(v);
	return 0;
}
