/* Globs of ids: those of --only and --skip, and of profiles. One that fits nothing is most likely misspelt, and what it
 * was to leave out would run. */
#ifndef KASSAY_CONFORMANCE_GLOBS_H
#define KASSAY_CONFORMANCE_GLOBS_H

#include "conformance/case.h"
#include "conformance/profile.h"
#include "lib/text/opt.h"

/* By its own id ("records.crc.mismatch@v9"), or by its case's. */
bool cf_glob_fits(const char *glob, const struct cf_instance *instance);
bool cf_globs_fit(const struct kt_list *globs, const struct cf_instance *instance);

/* Does every glob of an option fit a case of the suite? KT_EUSAGE names the first that does not, and what is near. */
int cf_globs_check(const struct kt_list *globs, const char *option, const struct cf_suite *suite, struct kt_err *err);
/* The same for `disabled` and `expectedFailures` of a profile; the error has file, line and path. KT_EUNKNOWN. */
int cf_globs_check_profile(const struct cf_profile *profile, const struct cf_suite *suite, struct kt_err *err);

#endif
