#include "fakebroker/api/hash_order.h"

#include "fakebroker/config/java_hash.h"

enum { FIRST_SIZE = 16, PRIME = 31 };

/* TopicPartition.hashCode. */
static uint32_t hash_of(struct kw_str topic, int32_t partition)
{
	return PRIME * (PRIME + (uint32_t)partition) + fb_java_hash(topic);
}

/* By bucket, and in a bucket by hash, which is a signed number. A map that is three quarters full is made twice as
 * large. */
uint64_t fb_hash_rank(struct kw_str topic, int32_t partition, int32_t n)
{
	uint32_t hash = hash_of(topic, partition), size = FIRST_SIZE;

	while ((uint32_t)n >= size / 4 * 3)
		size *= 2;
	hash ^= hash >> 16;
	return (uint64_t)(hash & (size - 1)) << 32 | (hash ^ UINT32_C(0x80000000));
}
