/* How mutants bend the verdict of lib/wire, which knows nothing of them: they alter what it is asked about and what it
 * has answered. All of this is for fb_mutated() only; a mutant that is none of the verdict's changes nothing here. */
#ifndef KASSAY_FAKEBROKER_LOG_MUTANT_VERDICT_H
#define KASSAY_FAKEBROKER_LOG_MUTANT_VERDICT_H

#include "fakebroker/log/verdict.h"

/* Before anything is judged: leaves of each record set what a mutant reads of it. */
void fb_mutant_sets(const struct kw_ProduceRequest *request, struct kw_arena *arena);
/* After kw_verdict_request refused with v: does the request go on all the same? */
bool fb_mutant_goes_on(struct kw_verdict *v);
/* In the place of kw_verdict_shape. */
bool fb_mutant_shape(int version, const struct kw_records *records, struct kw_arena *arena, struct kw_verdict *v,
		     bool *whole);
/* In the place of kw_verdict_check; leader is what that would be asked with. */
bool fb_mutant_check(const struct fb_append *a, const struct kw_leader *leader, const struct kw_records *records,
		     struct kw_arena *arena, struct kw_append_plan **plan, struct kw_verdict *v);

#endif
