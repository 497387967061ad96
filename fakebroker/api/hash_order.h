/* The order in which Kafka 3.9 goes through the partitions of a Produce request: that of a Scala 2.13 hash map of
 * TopicPartition. It tells where what is wrong in one partition fails the whole request: the first one decides. */
#ifndef KASSAY_FAKEBROKER_API_HASH_ORDER_H
#define KASSAY_FAKEBROKER_API_HASH_ORDER_H

#include <stdint.h>

#include "lib/wire/types.h"

/* Less than that of another one if it comes before that, in a map of n. */
uint64_t fb_hash_rank(struct kw_str topic, int32_t partition, int32_t n);

#endif
