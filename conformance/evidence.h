/* The folder of a failure: all that is needed to look at it, and to repeat it, without this run.
 *
 *	DIR/case.json            the case as it ran
 *	DIR/result.json          its row of result.json, bytes whole
 *	DIR/1-produce.request    the bytes that were sent, and
 *	DIR/1-produce.response   those that came back; .hex beside each is the same for people
 *	DIR/repeat.sh            the command that runs it again
 */
#ifndef KASSAY_CONFORMANCE_EVIDENCE_H
#define KASSAY_CONFORMANCE_EVIDENCE_H

#include "conformance/case.h"

/* Makes DIR = out/failures/ID. */
int cf_evidence_write(const char *out, json_t *row, const struct cf_case *cas, const char *bootstrap, const char *seed,
		      struct kt_err *err);
/* The program that runs, for commands that repeat what it did. */
const char *cf_own_path(void);

#endif
