/* What commands that speak to a target begin with: suite, profile, target. */
#ifndef KASSAY_CONFORMANCE_SETUP_H
#define KASSAY_CONFORMANCE_SETUP_H

#include "conformance/command.h"
#include "conformance/target.h"

struct cf_setup {
	struct cf_suite suite;
	struct cf_profile profile;
	struct cf_target target;
};

/* Loads suite and profile; the latter's file may be NULL. Tells what is wrong on stderr. 0 or the exit code.
 * cf_setup_fini() may be called whatever the outcome. */
int cf_setup_load(struct cf_setup *setup, const char *data, const char *profile, const char *program);
/* Finds out about the target, by bootstrap or as the profile says. 0 or the exit code. */
int cf_setup_target(struct cf_setup *setup, const char *bootstrap, const char *program);
void cf_setup_fini(struct cf_setup *setup);

#endif
