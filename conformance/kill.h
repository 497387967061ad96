/* Runs the suite against one mutant of the fakebroker and finds out which cases notice it. */
#ifndef KASSAY_CONFORMANCE_KILL_H
#define KASSAY_CONFORMANCE_KILL_H

#include "conformance/fake.h"
#include "conformance/runner.h"

/* Why the suite could not be run against a fakebroker. */
struct cf_mishap {
	struct kt_err err;           /* its path says which case ran alone, or in which of all the broker was gone
					at the latest */
	char said[CF_FAKE_SAID];     /* of struct cf_fake */
};

struct cf_killer {
	const struct cf_suite *suite;
	const struct cf_profile *profile;
	const char *program, *scenario;      /* the fakebroker and what it is started with */
	int jobs;                            /* cases at a time */
	uint64_t seed;
	const volatile sig_atomic_t *stop;   /* once it is not 0, no further case is begun */
	char **observed;                     /* of each instance, the alternative that an unbroken fakebroker
						shows; owned */
	int *levels;                         /* of each instance, that of a broker of its own on which alone it
						can run; or 0 */
};

/* Runs the suite against the fakebroker without a mutant, on which every case must pass strictly. Fails with KT_EPEER
 * and names the first that does not. cf_killer_fini() may be called whatever the outcome. */
int cf_killer_init(struct cf_killer *killer, struct cf_mishap *mishap);
void cf_killer_fini(struct cf_killer *killer);

/* red has an element for each instance of the suite: did it notice the mutant?
 *
 * A case is red when --strict would not let it pass or, where it only observes, when it observed something else than on
 * the unbroken broker; one that cannot be asked because a capability seems to be missing is not red. It must be so
 * twice: among all others, and alone on a broker of its own, so that what one case leaves behind is not held against
 * another. Errors are those of starting a broker, finding out about it, and ending it: one that ended before is
 * KT_ESYS. */
int cf_kill(const struct cf_killer *killer, const char *mutant, bool *red, struct cf_mishap *mishap);

#endif
