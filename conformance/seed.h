/* The seed of a command that is given none. */
#ifndef KASSAY_CONFORMANCE_SEED_H
#define KASSAY_CONFORMANCE_SEED_H

#include <stdint.h>

/* Another one each time, 0 to 2^32-1: short enough to be typed in again. */
int64_t cf_random_seed(void);

#endif
