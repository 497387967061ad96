/* What the broker makes of the record sets of a Produce request: Kafka's verdict on every byte.
 *
 * Source: Apache Kafka 4.4.0, in the order of its stages:
 *   B, C  RequestUtils and KafkaApis.handleProduceRequest: a peek at the first batches   fb_verdict_request
 *   E, F  ProduceRequest.validateRecords, ReplicaManager.handleProduceAppend: shape      fb_verdict_shape
 *   I     UnifiedLog.analyzeAndValidateRecords: the batch as a whole                     fb_verdict_check
 *   J     bytes behind the first batch are dropped
 *   K     LogValidator: header, then records; KIP-729's validators after its own checks
 *   L     UnifiedLog.append: sizes; ProducerAppendInfo: sequences                        fb_verdict_append
 * (A, D, G and H, which are about the request, the topic, acks and the replica, are the caller's.)
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
	/* max.decompressed.message.bytes, new in Kafka 4.4: bounds each record of a compressed batch; 0 = that config's
	 * default, -1 = there is no such config (before 4.4). */
	int32_t maxDecompressedMessageBytes;
};

/* kafka.server:type=BrokerTopicMetrics: the four validation meters, and what else a verdict moves. They are named after
 * records, but Kafka counts one per batch in all of them except noKeyCompactedTopicRecords. */
struct fb_meters {
	uint64_t invalidMagicNumberRecords, invalidMessageCrcRecords, invalidOffsetOrSequenceRecords,
		noKeyCompactedTopicRecords, bytesRejected, failedProduceRequests;
};

/* A partition's answer. */
struct fb_verdict {
	int16_t errorCode;
	const char *errorMessage;        /* NULL = null; in the arena or static */
	const char *reason;              /* why, in Kafka's words, for log and control API; often the only text. NULL
					    without error, and when the arena is full */
	struct kw_ProduceResponse_BatchIndexAndErrorMessage *recordErrors;
	int32_t nrecordErrors;
	int64_t baseOffset;              /* -1 on error */
	int64_t logAppendTimeMs;         /* -1 unless LogAppendTime, or a duplicate */
	int64_t logStartOffset;          /* -1 for some errors, as in Kafka */
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

/* Stages E and F for one partition, E before F: shape of the record set for the request's version. Returns false with
 * *v set when it is refused; *whole is then set when the failure fails every partition of the request (a batch too
 * short for a producer id; codec 5..7 below version 7; a second batch whose length overflows), and left alone
 * otherwise. v->records and v->codec are set as far as the batch can be read. Null records, which a Kafka broker never
 * answers at all, are refused as INVALID_RECORD. */
bool fb_verdict_shape(int version, const struct kw_records *records, struct kw_arena *arena, struct fb_verdict *v,
		      bool *whole);

/* The rest of stage F, over the partitions that got past fb_verdict_shape, once that has been called for all: the
 * transactional batches of a request must be of one producer id and epoch. Call it for each with the same `first`,
 * zeroed before. Returns false with *v the answer for every partition (INVALID_PRODUCER_ID_MAPPING). */
struct fb_first_producer {
	bool seen;
	int64_t producerId;
	int16_t producerEpoch;
};
bool fb_verdict_one_producer(const struct kw_records *records, struct fb_first_producer *first, struct fb_verdict *v);

/* What fb_verdict_check and fb_verdict_append work on. */
struct fb_append {
	struct fb_log *log;
	struct fb_producers *producers;
	const char *topic;
	int32_t partition, leaderEpoch;
	const struct fb_append_conf *conf;
	struct fb_chain *chain;          /* NULL = stock Kafka, byte for byte */
	struct fb_meters *meters;        /* added to without a lock: let it be the caller's own */
	int64_t now;                     /* ms since the epoch, by the broker's clock */
	size_t inflate_max;              /* most bytes to inflate one batch to; 0 = 256 MiB */
};

/* Stages I to K, which need no lock: header and records of the first batch; with a chain the records are read whole.
 * Returns true with *plan, what to append, or false with *v set when the batch is refused. Everything lives in arena,
 * or in the request's frame. Of a->log only logStartOffset is read, of a->producers nothing. */
struct fb_append_plan;
bool fb_verdict_check(const struct fb_append *a, const struct kw_records *records, struct kw_arena *arena,
		      struct fb_append_plan **plan, struct fb_verdict *v);
/* Stage L under the partition's lock: sequences and epochs, then the append. frame is the one that `records` lies in.
 * A duplicate is accepted without appending: v->baseOffset is the old one and v->logAppendTimeMs the old batch's
 * maximum timestamp even on a CreateTime topic, as in Kafka. */
void fb_verdict_append(const struct fb_append *a, struct fb_append_plan *plan, struct fb_frame *frame,
		       struct kw_arena *arena, struct fb_verdict *v);

#endif
