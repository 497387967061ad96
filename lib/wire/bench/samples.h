/* Messages of the shapes that brokers and clients exchange, filled with plausible values. */
#ifndef KASSAY_WIRE_BENCH_SAMPLES_H
#define KASSAY_WIRE_BENCH_SAMPLES_H

#include "kw_messages.h"

/* How much of everything: topics, partitions of each, bytes of records in each. */
struct sample_shape {
	int32_t topics, partitions, bytes;
};

/* A struct of the message in the arena; NULL when memory is exhausted. */
typedef void *sample_fn(const struct sample_shape *shape, struct kw_arena *arena);

sample_fn sample_ProduceRequest, sample_ProduceResponse, sample_FetchRequest, sample_FetchResponse;
/* One partition in ten has the tagged field that tells a consumer where the leader went. */
sample_fn sample_FetchResponse_moved;
/* Three brokers, three replicas of each partition. */
sample_fn sample_MetadataRequest, sample_MetadataResponse;

#endif
