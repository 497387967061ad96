/* What only mutants find wrong, or fail to find: checks that Kafka does not make, and the faults that a mutant is blind
 * to. Without a mutant all of these are false. For mutant_verdict.c. */
#ifndef KASSAY_FAKEBROKER_LOG_MUTANT_CHECKS_H
#define KASSAY_FAKEBROKER_LOG_MUTANT_CHECKS_H

#include "fakebroker/log/verdict.h"

/* Is the batch compressed in a way that a mutant does not know? */
bool fb_mutant_lacks_codec(const struct kw_batch *batch);
/* Does a mutant refuse this header, or this record, which Kafka takes? The record lies in the batch. */
bool fb_mutant_refuses_header(const struct kw_batch *batch);
bool fb_mutant_refuses_record(const struct fb_append *a, const struct kw_batch *batch, int32_t index,
			      const struct kw_record *record);
/* Does a mutant keep this record from the validators? refused: how many records of the batch are refused so far. */
bool fb_mutant_hides_record(const struct fb_append *a, const struct kw_batch *batch, int32_t index, int32_t refused,
			    struct kw_arena *arena);
/* Does a mutant not see why the walk stopped? text is the reason. */
bool fb_mutant_misses(enum kw_walk why, const char *text);

#endif
