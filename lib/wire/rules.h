/* Kafka's rules about the bytes of a batch, each stated once in rules.def. */
#ifndef KASSAY_WIRE_RULES_H
#define KASSAY_WIRE_RULES_H

#include "lib/wire/batch.h"

enum kw_rule {
#define KW_RULE(sym, who, code, answer, meter, place, size, broken, kafka, own) sym,
#include "lib/wire/rules.def"
#undef KW_RULE
	KW_RULES,                        /* how many there are */
};

/* Some things are right in one place only: a log has control batches, batches that lost records to compaction, and real
 * base offsets; what a client sends has none of these. */
enum kw_role { KW_STORED, KW_PRODUCED };

/* The topic configuration that matters here. */
struct kw_topic_conf {
	int32_t maxMessageBytes;         /* max.message.bytes */
	int32_t segmentBytes;            /* segment.bytes */
	int compression;                 /* compression.type: enum kw_codec, or -1 for producer */
	int levels[KW_ZSTD + 1];         /* compression.CODEC.level, by codec; 0 = its default */
	bool compact;                    /* cleanup.policy contains compact */
	bool logAppendTime;              /* message.timestamp.type */
	int64_t beforeMaxMs, afterMaxMs; /* message.timestamp.{before,after}.max.ms */
	/* max.decompressed.message.bytes, new in Kafka 4.4: bounds each record of a compressed batch; 0 = that config's
	 * default, -1 = there is no such config (before 4.4). */
	int32_t maxDecompressedMessageBytes;
};

/* kafka.server:type=BrokerTopicMetrics: the four validation meters, and what else a verdict moves. They are named after
 * records, but Kafka counts one per batch in all of them except noKeyCompactedTopicRecords. */
struct kw_meters {
	uint64_t invalidMagicNumberRecords, invalidMessageCrcRecords, invalidOffsetOrSequenceRecords,
		noKeyCompactedTopicRecords, bytesRejected, failedProduceRequests;
};

/* What the words of a rule are filled with; what a rule does not speak of may be NULL or 0. */
struct kw_rule_facts {
	const struct kw_batch *batch;
	const struct kw_topic_conf *conf;
	const char *topic;
	int32_t partition;
	int version;                     /* of the Produce request */
	size_t size;                     /* of the batch, where it is not batch->size; 0 = it is */
};

/* Of whole batches: the first rule from `from` on that the header breaks, in Kafka's order; KW_RULES if there is none.
 * conf NULL: those that depend on it are not asked. Of one shorter than a header only what comes up to KW_R_NO_HEADER
 * is asked. */
enum kw_rule kw_rule_broken(enum kw_role role, const struct kw_batch *batch, const struct kw_topic_conf *conf,
			    enum kw_rule from);

int kw_rule_code(enum kw_rule rule);               /* Kafka's error code */
/* The field that is wrong, as place in the batch; false if the header does not tell. */
bool kw_rule_place(enum kw_rule rule, size_t *at, size_t *size);
/* Writes Kafka's words (a log line), or our own, cut at size; "" if the rule has none. Returns out. */
char *kw_rule_words(enum kw_rule rule, bool own, const struct kw_rule_facts *facts, char *out, size_t size);

/* Does its answer tell log_start_offset, and count as a failed request? */
bool kw_rule_is_unforeseen(enum kw_rule rule);
/* The meter that moves besides, as place in struct kw_meters; SIZE_MAX = none. */
size_t kw_rule_meter(enum kw_rule rule);
/* "InvalidMessageCrcRecordsPerSec"; NULL for SIZE_MAX. */
const char *kw_meter_name(size_t meter);

#endif
