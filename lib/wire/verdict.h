/* What a Kafka leader makes of the record set that a client produces, as far as bytes, topic and release decide: no
 * log, no producer state, no socket.
 *
 * Source: Apache Kafka 4.4.0, in the order of its stages:
 *   B, C  RequestUtils and KafkaApis.handleProduceRequest: a peek at the first batches   kw_verdict_request
 *   E, F  ProduceRequest.validateRecords, ReplicaManager.handleProduceAppend: shape      kw_verdict_shape
 *   I     UnifiedLog.analyzeAndValidateRecords: the batch as a whole                     kw_verdict_check
 *   J     bytes behind the first batch are dropped
 *   K     LogValidator: header, then records; KIP-729's validators after its own checks
 *   L     UnifiedLog.append: sizes
 * (A, D, G and H are about the request, the topic, acks and the replica; sequences and epochs, the rest of L, need what
 * the partition has seen before: fakebroker/log/verdict.h.) The rules are those of rules.h.
 */
#ifndef KASSAY_WIRE_VERDICT_H
#define KASSAY_WIRE_VERDICT_H

#include "kw_messages.h"
#include "lib/wire/arena.h"
#include "lib/wire/rules.h"

/* A partition's answer. */
struct kw_verdict {
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
	int rule;                        /* enum kw_rule that is broken; -1 = none, or it is none of the batch's */
};

/* Sets v to "no error" with offsets -1. */
void kw_verdict_init(struct kw_verdict *v);

/* Stages B and C over all partitions of a request: a record set that breaks framing, or a transactional one without
 * transactional id, fails every partition of the request alike. Returns true if the request goes on; otherwise *v is
 * the answer for all. */
bool kw_verdict_request(const struct kw_ProduceRequest *request, struct kw_arena *arena, struct kw_verdict *v);

/* Stages E and F for one partition, E before F: shape of the record set for the request's version. Returns false with
 * *v set when it is refused; *whole is then set when the failure fails every partition of the request (a batch too
 * short for a producer id; codec 5..7 below version 7; a second batch whose length overflows; up to version 2, which
 * ask for no shape, any batch whose framing is broken), and left alone otherwise. v->records and v->codec are set as
 * far as the batch can be read. Null records, which a Kafka broker never answers at all, are refused as
 * INVALID_RECORD. */
bool kw_verdict_shape(int version, const struct kw_records *records, struct kw_arena *arena, struct kw_verdict *v,
		      bool *whole);

/* The rest of stage F, over the partitions that got past kw_verdict_shape, once that has been called for all: the
 * transactional batches of a request must be of one producer id and epoch. Call it for each with the same `first`,
 * zeroed before. Returns false with *v the answer for every partition (INVALID_PRODUCER_ID_MAPPING). */
struct kw_first_producer {
	bool seen;
	int64_t producerId;
	int16_t producerEpoch;
};
bool kw_verdict_one_producer(const struct kw_records *records, struct kw_first_producer *first, struct kw_verdict *v);

/* A record that passed Kafka's own checks. Returns false to refuse it, with *code INVALID_TIMESTAMP or any other for
 * INVALID_RECORD, and *text for record_errors, which must live until the next call. */
typedef bool kw_validate_fn(void *arg, const struct kw_batch *batch, int32_t index, const struct kw_record *record,
			    int16_t *code, const char **text);

/* The leader that is asked. */
struct kw_leader {
	const char *topic;
	int32_t partition;
	const struct kw_topic_conf *conf;
	int64_t logStartOffset;          /* for the answers that tell it */
	int64_t now;                     /* ms since the epoch, by the broker's clock */
	size_t inflate_max;              /* most bytes to inflate one batch to; 0 = 256 MiB */
	struct kw_buf *inflated;         /* where batches are inflated: struct kw_walk_opts */
	struct kw_meters *meters;        /* added to without a lock: let it be the caller's own */
	kw_validate_fn *validate;        /* NULL = stock Kafka, byte for byte; else records are read whole */
	void *validate_arg;
	/* For brokers that are to judge wrongly, by which a suite is tested; 0 and false = as Kafka. */
	uint64_t without;                /* rules about batch and header that are not asked: 1 << enum kw_rule */
	bool skim;                       /* validate is shown compressed records as Kafka skims them, without bodies */
};
_Static_assert(KW_RULES <= 64, "a bit for each rule");

/* What to append. */
struct kw_append_plan {
	struct kw_batch batch;         /* fields as in header; p is not that of the stored batch */
	uint8_t header[KW_B_RECORDS];  /* as it is stored, but for base offset and leader epoch */
	struct kw_slice body;          /* what follows the header: in the request's frame, or in the arena if rebuilt */
	bool rebuilt;
	bool hasMax;                   /* some record has the header's maxTimestamp: */
	int32_t deltaOfMax;            /* offset delta of the first that has */
};

/* Stages I to K, and the size of L: header and records of the first batch. Returns true with *plan, or false with *v
 * set when the batch is refused. Everything lives in arena, or where the records lie. */
bool kw_verdict_check(const struct kw_leader *leader, const struct kw_records *records, struct kw_arena *arena,
		      struct kw_append_plan **plan, struct kw_verdict *v);

/* In the place of kw_verdict_check for Produce 0 to 2, which Kafka 3.9 was the last to serve: any magic, and several
 * messages of magic 0 and 1, which are converted to one batch of magic 2. Those versions answer with the error code
 * alone, so that v has no record errors; and they take a set without any batch, for which *plan is NULL: nothing is
 * appended. */
enum { KW_OLD_PRODUCE = 2 };
bool kw_verdict_old(const struct kw_leader *leader, const struct kw_records *records, struct kw_arena *arena,
		    struct kw_append_plan **plan, struct kw_verdict *v);

/* What a broken rule answers and counts. reason is in the arena or static; NULL when the arena is full. set_size: bytes
 * of the whole record set. Returns false. */
bool kw_verdict_refuse(const struct kw_leader *leader, enum kw_rule rule, size_t set_size, const char *reason,
		       struct kw_verdict *v);

#endif
