/* What Fetch had for old consumers up to Kafka 3.9: down-conversion, and refusals of what cannot be had in an old
 * version. */
#ifndef KASSAY_FAKEBROKER_API_FETCH_OLD_H
#define KASSAY_FAKEBROKER_API_FETCH_OLD_H

#include "fakebroker/cluster/fetch_sessions.h"
#include "fakebroker/request.h"

/* The first version whose records are of magic 1; the last that is sent nothing beyond what it takes; the last that is
 * sent old magics. */
enum { FB_FETCH_MAGIC_1 = 2, FB_FETCH_HARD_LIMIT = 2, FB_FETCH_LAST_OLD = 3 };

/* The answer for a topic whose records the request's version cannot have, which went before any other until 4.0: 0, or
 * UNSUPPORTED_COMPRESSION_TYPE (all of it is zstd), or UNSUPPORTED_VERSION (message.downconversion.enable is false).
 * Under the cluster's lock. */
int16_t fb_fetch_old_refuses(const struct fb_request *req, const struct fb_topic *topic);
/* The answer of a partition that is refused for such a reason. */
void fb_fetch_old_fail(struct kw_FetchResponse_PartitionData *data, int16_t error);
/* Converts the records of all partitions, which are answered in the order of context->wants. It may take its time, so
 * that it is called under no lock. FB_REPLY, or FB_CLOSE where Kafka fails while it sends. */
enum fb_outcome fb_fetch_old_convert(struct fb_request *req, const struct fb_fetch_context *context);

#endif
