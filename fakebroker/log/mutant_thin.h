/* What mutants make of a batch that compaction thins out. Without a mutant none of these does anything. For thin.c. */
#ifndef KASSAY_FAKEBROKER_LOG_MUTANT_THIN_H
#define KASSAY_FAKEBROKER_LOG_MUTANT_THIN_H

#include "fakebroker/log/thin.h"

enum fb_mutant_choice { FB_MUTANT_GOES, FB_MUTANT_STAYS, FB_MUTANT_HAS_NO_SAY };

/* Of a record that neither is a marker nor has to go whatever its key. */
enum fb_mutant_choice fb_mutant_keeps(const struct fb_thinning *how, const struct kw_batch *batch,
				      const struct kw_record *record);
/* Of the record at an offset, which is written anew as the next after `written` others; spec is that of the new
 * batch. */
void fb_mutant_record(struct kw_record *record, struct kw_batch_spec *spec, int64_t offset, int32_t written);
/* Of a batch whose records are written; last is the offset of the last one, -1 if there is none. */
void fb_mutant_header(struct kw_batch_spec *spec, const struct kw_batch *batch, int64_t last, int32_t *lastOffsetDelta);

#endif
