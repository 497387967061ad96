/* What the failures of a run have in common, for those who wonder. */
#ifndef KASSAY_CONFORMANCE_HINTS_H
#define KASSAY_CONFORMANCE_HINTS_H

#include <stdio.h>

#include "conformance/profile.h"

/* Prints a line each, from the rows of a result: which profile of the kit expects failures that the run's own profile
 * did not, and that the clocks may not agree. data is the directory with profiles/. */
void cf_hints_print(FILE *out, json_t *rows, const char *data);

#endif
