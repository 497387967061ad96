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
#include "lib/text/opt.h"

/* Makes DIR = out/failures/ID. `repeat` has the options of the run, but for the address and the cases. */
int cf_evidence_write(const char *out, json_t *row, const struct cf_case *cas, const struct kt_list *repeat,
		      const char *bootstrap, struct kt_err *err);

#endif
