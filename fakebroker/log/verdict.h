/* What the broker makes of the record sets of a Produce request: Kafka's verdict on every byte.
 *
 * Source: Apache Kafka 4.4.0, in the order of its stages: RequestUtils and KafkaApis.handleProduceRequest (peek),
 * ProduceRequest.validateRecords (shape), ReplicaManager, UnifiedLog.analyzeAndValidateRecords (header), LogValidator
 * (records, with KIP-729's validators after its own checks), ProducerAppendInfo (sequences).
 */
#ifndef KASSAY_FAKEBROKER_LOG_VERDICT_H
#define KASSAY_FAKEBROKER_LOG_VERDICT_H

#include "fakebroker/hooks/validators.h"
#include "fakebroker/log/log.h"
#include "fakebroker/log/producers.h"
#include "kw_messages.h"

/* The topic configuration that matters here. */
struct fb_append_conf {
	int32_t maxMessageBytes;         /* max.message.bytes */
	int32_t segmentBytes;            /* segment.bytes */
	int compression;                 /* compression.type: enum kw_codec, or -1 for producer */
	bool compact;                    /* cleanup.policy contains compact */
	bool logAppendTime;              /* message.timestamp.type */
	int64_t beforeMaxMs, afterMaxMs; /* message.timestamp.{before,after}.max.ms */
};

/* kafka.server:type=BrokerTopicMetrics, the four validation meters and what else a verdict moves. */
struct fb_meters {
	uint64_t invalidMagicNumberRecords, invalidMessageCrcRecords, invalidOffsetOrSequenceRecords,
		noKeyCompactedTopicRecords, bytesRejected, failedProduceRequests;
};

/* A partition's answer. */
struct fb_verdict {
	int16_t errorCode;
	const char *errorMessage;        /* NULL = null; in the arena or static */
	const char *reason;              /* why, in Kafka's words, for log and control API; may be set without errorMessage */
	struct kw_ProduceResponse_BatchIndexAndErrorMessage *recordErrors;
	int32_t nrecordErrors;
	int64_t baseOffset;              /* -1 on error */
	int64_t logAppendTimeMs;         /* -1 unless LogAppendTime (or a duplicate, see L3) */
	int64_t logStartOffset;          /* -1 for some errors */
	int32_t records;                 /* records of the batch as its header counts them; 0 if unreadable */
	int codec;                       /* enum kw_codec or the odd id; -1 if unreadable */
	bool duplicate;                  /* accepted without appending */
};

/* Sets v to "no error" with offsets -1. */
void fb_verdict_init(struct fb_verdict *v);

/* Stages B and C over all partitions of a request: a record set that breaks framing, or a transactional one without
 * transactional id, fails every partition of the request alike. Returns true if the request goes on; otherwise *v is
 * the answer for all. */
bool fb_verdict_request(const struct kw_ProduceRequest *request, struct kw_arena *arena, struct fb_verdict *v);

/* Stages E and F for one partition, E before F: shape of the record set for the request's version. *whole is set when
 * the failure fails every partition of the request (batch below 51 bytes; codec 5..7 below version 7). */
bool fb_verdict_shape(int version, const struct kw_records *records, struct fb_verdict *v, bool *whole);

/* What fb_verdict_append works on. */
struct fb_append {
	struct fb_log *log;
	struct fb_producers *producers;
	const char *topic;
	int32_t partition, leaderEpoch;
	const struct fb_append_conf *conf;
	struct fb_chain *chain;          /* NULL = stock Kafka, byte for byte */
	struct fb_meters *meters;        /* added to; under the caller's lock */
	int64_t now;                     /* ms since the epoch, by the broker's clock */
	size_t inflate_max;              /* most bytes to inflate one batch to; 0 = 256 MiB */
};

/* Stages I to K that need no lock: header and records of the first batch; with the chain the records are read whole.
 * *plan says what to append. Returns false with *v set when the batch is refused. Everything lives in arena. Meters are
 * added to a->meters by the caller's choice of lock; log and producers are not touched except for logStartOffset. */
struct fb_append_plan;
bool fb_verdict_check(const struct fb_append *a, const struct kw_records *records, struct kw_arena *arena,
		      struct fb_append_plan **plan, struct fb_verdict *v);
/* Stage L under the partition's lock: sizes of what was re-encoded, sequences and epochs, then the append. frame is the
 * one that `records` lies in. */
void fb_verdict_append(const struct fb_append *a, struct fb_append_plan *plan, struct fb_frame *frame,
		       struct kw_arena *arena, struct fb_verdict *v);

#endif
