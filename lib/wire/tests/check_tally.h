/* What a tally tells is what a look at each record tells. For tests; it fails the one that calls it. */
#ifndef KASSAY_WIRE_TESTS_CHECK_TALLY_H
#define KASSAY_WIRE_TESTS_CHECK_TALLY_H

#include "lib/wire/batch.h"

/* And it makes no difference to the verdict whether there is one. opts may be NULL. Returns whether there was one. */
bool check_tally(const struct kw_batch *batch, const struct kw_walk_opts *opts);

#endif
