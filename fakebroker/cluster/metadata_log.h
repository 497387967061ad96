/* The metadata log: the records that Kafka's controller would have written for what happened to the cluster, as batches
 * of partition 0 of __cluster_metadata.
 *
 * A batch is begun by its first record and closed by fb_metadata_close(): one for each request, as Kafka writes them.
 * None is larger than Kafka's controller appends. What it appends as one batch or not at all, its changes of brokers,
 * topics and configurations, is asked about first, with fb_metadata_fits(); what else does not fit becomes several.
 * The oldest batches are dropped when all of them take more than `max` bytes. All under the cluster's lock.
 *
 * Source: RecordSerde and MetadataRecordSerde (framing), ApiMessageAndVersion, KafkaRaftClient and BatchBuilder
 * (MAX_BATCH_SIZE_BYTES); checked against the log of a Kafka 4.4.0.
 */
#ifndef KASSAY_FAKEBROKER_CLUSTER_METADATA_LOG_H
#define KASSAY_FAKEBROKER_CLUSTER_METADATA_LOG_H

#include "lib/wire/control.h"

enum { FB_METADATA_LOG_MAX = 16 * 1024 * 1024, FB_METADATA_BATCH_MAX = 8 * 1024 * 1024, FB_METADATA_EPOCH = 1 };

struct fb_metadata_batch {
	int64_t baseOffset;
	struct kw_buf bytes;
};

struct fb_metadata_log {
	struct fb_metadata_batch *batches;   /* by offset */
	size_t n, cap;
	size_t bytes, max;
	int64_t start, end;          /* offsets: of the first record that is kept, and of the next one */
	/* The batch that is being made. */
	struct kw_arena arena;
	struct kw_record *records;   /* `size` is what it takes in the batch */
	int32_t nrecords;
	size_t open_bytes;           /* of its records */
	int failed;                  /* why a record could not be made, or 0 */
	int32_t failed_at;           /* the first of these */
	bool control;
};

void fb_metadata_init(struct fb_metadata_log *log, size_t max);
void fb_metadata_fini(struct fb_metadata_log *log);

/* The offset that the next record gets. */
int64_t fb_metadata_next(const struct fb_metadata_log *log);
/* Adds a record to the batch: `in` is the struct of msg, a metadata record, e.g. struct kw_TopicRecord. */
void fb_metadata_add(struct fb_metadata_log *log, const struct kw_msg *msg, int version, const void *in);
/* Adds one that could not be made, with the reason, such as KT_ENOMEM. */
void fb_metadata_add_failed(struct fb_metadata_log *log, int code);
/* Takes back records of the open batch, down to so many. */
void fb_metadata_rewind(struct fb_metadata_log *log, int32_t nrecords);
/* Could all records of the open batch be made, and are they no more than one batch? 0, KT_ELIMIT if not, KT_ENOMEM. */
int fb_metadata_fits(const struct fb_metadata_log *log);
/* Closes the batch; nothing happens when it has no records. now: milliseconds since the epoch. Without memory for a
 * record or for the batch its offsets are lost, and all batches before it are dropped: a log has no holes. That is
 * logged as an error. */
void fb_metadata_close(struct fb_metadata_log *log, int64_t now);
/* The same for a control record; `in` is the struct of kw_control_message(type). A batch has either these or the
 * others: the caller closes it in between. */
void fb_metadata_add_control(struct fb_metadata_log *log, enum kw_control type, const void *in);

/* The batches, as a log segment has them. */
void fb_metadata_segment(const struct fb_metadata_log *log, struct kw_buf *out);

struct fb_metadata_record {
	int64_t offset, timestamp;
	int64_t baseOffset;          /* of its batch */
	bool control;                /* type is enum kw_control, else the apiKey of a metadata record */
	int type, version;
	const struct kw_msg *msg;
	const void *data;            /* struct of msg */
};

typedef int fb_metadata_fn(void *arg, const struct fb_metadata_record *record);

/* Calls fn for each record from an offset on; a non-zero return ends it and is returned. KT_ENOMEM. */
int fb_metadata_each(const struct fb_metadata_log *log, int64_t from, fb_metadata_fn *fn, void *arg);

#endif
