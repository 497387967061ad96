/* The nearest known name, for messages that say "did you mean". */
#ifndef KASSAY_TEXT_NEAR_H
#define KASSAY_TEXT_NEAR_H

#include <stddef.h>

#include "lib/text/err.h"

/* Names are offered one by one, so that a table need not be copied into an array first. */
struct kt_near {
	const char *word;
	const char *best;     /* nearest name so far, NULL if none is near */
	size_t distance;      /* of best; while there is none, one more than is still near */
};

void kt_near_init(struct kt_near *near, const char *word);
/* Considers one more name, which must outlive near. Of equally near names the first one stays. */
void kt_near_offer(struct kt_near *near, const char *name);

/* The nearest of n words, or NULL if none is near.
 *
 * Distance is Damerau-Levenshtein's (insert, delete, replace, swap neighbours), upper and lower case being the same.
 * A name is near within 2 or a third of the word's length, whichever is more, if it has anything in common with the
 * word; failing that, when the word is its beginning. Words and names above 128 bytes are near to nothing, which bounds
 * the cost. */
const char *kt_nearest(const char *word, const char *const *words, size_t n);

/* Finds word in names, which ends with NULL, and sets *v to its index. KT_EUNKNOWN tells what was meant or else what
 * there is. */
int kt_choose(const char *word, const char *const *names, int *v, struct kt_err *err);

#endif
