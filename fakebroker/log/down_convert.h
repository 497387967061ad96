/* What a consumer of Fetch 0 to 3 is sent in the place of batches of magic 2: messages of magic 0 or 1.
 *
 * As Kafka up to 3.9 does it (LazyDownConversionRecords, LazyDownConversionRecordsSend): the answer announces as many
 * bytes as the batches have, or as the first one has converted if that is more, and is then filled with what the
 * batches come to, chunk by chunk; the last message may be cut off. What is missing in the end is filled up with the
 * beginning of a batch that is said to be larger than the answer, so that every client takes it for one that was cut
 * off. */
#ifndef KASSAY_FAKEBROKER_LOG_DOWN_CONVERT_H
#define KASSAY_FAKEBROKER_LOG_DOWN_CONVERT_H

#include "fakebroker/log/frame.h"
#include "lib/text/err.h"
#include "lib/wire/types.h"

/* Converts records, which need not be whole batches at the end, to magic 0 or 1. Of the first uncompressed batch,
 * records below firstOffset are left out. *out is a frame with what is to be sent. A batch that inflates to more than
 * 64 MiB, or comes to more as messages, is not converted.
 *
 * Returns 0, or how Kafka fails: KT_EUNKNOWN when the first batch that is not dropped is of zstd (control batches are
 * dropped); KT_ECORRUPT, KT_ERANGE or KT_ELIMIT when that cannot be read or converted; KT_ECLOSED when that befalls a
 * later one, which Kafka finds when the answer is half sent, so that it ends the connection; KT_ENOMEM. err has the
 * place in records. */
int fb_down_convert(const struct kw_records *records, int magic, int64_t firstOffset, struct fb_frame **out,
		    struct kt_err *err);

#endif
