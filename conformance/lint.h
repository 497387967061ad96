/* Rules that the reader of cases does not know. */
#ifndef KASSAY_CONFORMANCE_LINT_H
#define KASSAY_CONFORMANCE_LINT_H

#include "conformance/case.h"

typedef void cf_finding_fn(void *arg, const char *where, const char *text);

/* Calls fn for each finding; returns their number. */
size_t cf_lint(const struct cf_suite *suite, cf_finding_fn *fn, void *arg);

#endif
