/* From a mutation to the smallest one that still makes a difference. */
#ifndef KASSAY_CONFORMANCE_DIFF_SHRINK_H
#define KASSAY_CONFORMANCE_DIFF_SHRINK_H

#include <jansson.h>
#include <stdbool.h>

/* Does the mutation, alone on empty logs, make the two brokers differ? */
typedef bool cf_differs_fn(void *arg, json_t *mutation);

/* Leaves out partitions, batches, records, headers, edits and members one by one, and makes what is left plainer, as
 * long as the difference stays; asks at most `most` times. Returns a new reference: the mutation itself when it makes
 * no difference alone, because it takes what went before. */
json_t *cf_shrink(json_t *mutation, cf_differs_fn *differs, void *arg, int most);

#endif
