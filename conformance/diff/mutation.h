/* Produce requests that are mostly wrong, made by chance: what `conformance diff` sends to two brokers.
 *
 * A mutation is JSON, so that it can be shrunk, printed and written as a case:
 *   {"topic": kind, "version": n, "acks": n,
 *    "partitions": [{"index": n, "batches": [...] in the form of lib/wire/batch.h; null for null records}]}
 */
#ifndef KASSAY_CONFORMANCE_DIFF_MUTATION_H
#define KASSAY_CONFORMANCE_DIFF_MUTATION_H

#include <jansson.h>

#include "conformance/diff/dice.h"

enum { CF_DIFF_PARTITIONS = 3 };

/* Kinds of topics: X(kind, configuration as JSON with ' for "). Nothing goes from their logs meanwhile: Kafka's cleaner
 * would compact what has ended, and remove what is old by its timestamps. */
#define CF_DIFF_TOPICS(X)                                                                                        \
	X(plain, "{}")                                                                                           \
	X(compacted, "{'cleanup.policy': 'compact', 'min.cleanable.dirty.ratio': '1'}")                          \
	X(append_time, "{'message.timestamp.type': 'LogAppendTime'}")                                            \
	X(gzip, "{'compression.type': 'gzip'}")                                                                  \
	X(uncompressed, "{'compression.type': 'uncompressed'}")                                                  \
	X(small, "{'max.message.bytes': '400'}")                                                                 \
	X(recent, "{'message.timestamp.before.max.ms': '3600000', 'message.timestamp.after.max.ms': '3600000'}") \
	X(compacted_zstd, "{'cleanup.policy': 'compact,delete', 'compression.type': 'zstd', "                    \
	  "'min.cleanable.dirty.ratio': '1', 'retention.ms': '-1'}")

struct cf_diff_topic {
	const char *kind, *configs;
};

/* Ends with a NULL kind. */
extern const struct cf_diff_topic cf_diff_topics[];

/* The configuration of a kind as an object; a new reference. */
json_t *cf_diff_configs(const char *kind);

/* A new reference, or NULL without memory. Timestamps are around now_ms; producers are made up, and go on from one
 * mutation to the next. With `old` one in two is of version 0 to 2, mostly with messages of magic 0 and 1. Some cannot
 * be encoded, because an edit finds nothing to edit. */
json_t *cf_mutation(struct cf_dice *dice, int64_t now_ms, bool old);

#endif
