/* Can each of several have a partner of its own? */
#ifndef KASSAY_CONFORMANCE_PAIRS_H
#define KASSAY_CONFORMANCE_PAIRS_H

#include <stdbool.h>
#include <stddef.h>

/* Would number `right` do for number `left`? */
typedef bool cf_fits_fn(void *arg, size_t left, size_t right);

/* Gives each of nleft one of nright that fits it, and each of nright to one of nleft at most, if that can be done.
 * *without: the first of nleft for which, with those before it, there is none; nleft if all have one. 0 or
 * KT_ENOMEM. */
int cf_pairs(size_t nleft, size_t nright, cf_fits_fn *fits, void *arg, size_t *without);

#endif
