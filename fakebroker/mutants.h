/* Mutants: faults that a broker's author could make, built in and off. With one of them on (--mutant NAME) the
 * conformance suite must find fault with exactly the cases that conformance/mutants/ lists for it: that is how the
 * suite is tested.
 *
 * A mutant is a row of mutants.def and one decision in the code, which reads it where it breaks something:
 *
 *	if (crc != batch->crc && !fb_mutant(FB_M_CRC_UNCHECKED))
 */
#ifndef KASSAY_FAKEBROKER_MUTANTS_H
#define KASSAY_FAKEBROKER_MUTANTS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/text/err.h"

enum fb_mutant {
#define X(sym, name, place, breaks) sym,
#include "fakebroker/mutants.def"
#undef X
	FB_NMUTANTS
};

struct fb_mutant_row {
	const char *name;         /* "records.crc-unchecked": the family of the cases that it is about, and the fault */
	const char *place;        /* file below fakebroker/ that reads it */
	const char *breaks;       /* one sentence */
};

extern const struct fb_mutant_row fb_mutants[FB_NMUTANTS];

/* Which are on, and whether any is. Changed before any thread is started, only read afterwards. */
extern bool fb_mutants_on[FB_NMUTANTS], fb_mutants_any;

/* Is any on? For what is done per record, which without mutants shall cost one test in all. */
static inline bool fb_mutated(void)
{
	return __builtin_expect(fb_mutants_any, false);
}

static inline bool fb_mutant(enum fb_mutant mutant)
{
	return fb_mutated() && fb_mutants_on[mutant];
}

/* Switches exactly the n named ones on; writes nothing where they are on already, so that a second cluster can start in
 * a process while the first one runs. KT_EUNKNOWN names the nearest one, and changes nothing. */
int fb_mutants_switch(const char *const *names, size_t n, struct kt_err *err);

#endif
