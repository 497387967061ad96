/* What can be said of a case, and what a run of cases means for the exit code. */
#ifndef KASSAY_CONFORMANCE_VERDICT_H
#define KASSAY_CONFORMANCE_VERDICT_H

#include <stdbool.h>

#include "lib/text/opt.h"

/* X(symbol, word, enum kt_exit that it asks for, enum cf_tap, meaning) */
#define CF_VERDICTS(X)                                                                                     \
	X(PASS, "pass", OK, OK, "answered as required")                                                    \
	X(PASS_LENIENT, "pass-lenient", OK, OK, "answered in a way that is allowed but not the right one") \
	X(FAIL, "fail", VERDICT, NOT_OK, "answered otherwise than required")                               \
	X(XFAIL, "xfail", OK, TODO, "failed as the profile expects")                                       \
	X(XPASS, "xpass", VERDICT, NOT_OK, "passed although the profile expects a failure")                \
	X(UNSUPPORTED, "unsupported", OK, SKIP, "needs what the target does not have")                     \
	X(DISABLED, "disabled", OK, SKIP, "left out by the user")                                          \
	X(INCONCLUSIVE, "inconclusive", INCOMPLETE, NOT_OK, "could not be brought to its question")        \
	X(ERROR, "error", ENGINE, NOT_OK, "could not be run because of a fault in the kit or the case")

enum cf_tap { CF_TAP_OK, CF_TAP_NOT_OK, CF_TAP_TODO, CF_TAP_SKIP };

enum cf_verdict {
#define CF_X(sym, word, exits, tap, meaning) CF_##sym,
	CF_VERDICTS(CF_X)
#undef CF_X
	CF_NVERDICTS
};

const char *cf_verdict_word(enum cf_verdict verdict);
const char *cf_verdict_meaning(enum cf_verdict verdict);
enum cf_tap cf_verdict_tap(enum cf_verdict verdict);
/* CF_NVERDICTS for a word that is none. */
enum cf_verdict cf_verdict_find(const char *word);
/* Was the target asked? False for unsupported, disabled, inconclusive and error. */
bool cf_verdict_judged(enum cf_verdict verdict);

/* Exit code of a run with so many cases of each verdict: the engine's faults before failures before what is incomplete.
 * A run in which no case was judged is incomplete. */
int cf_exit_code(const int counts[CF_NVERDICTS]);

#endif
