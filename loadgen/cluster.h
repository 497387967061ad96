/* What a run must know and prepare before it loads a topic. */
#ifndef KASSAY_LOADGEN_CLUSTER_H
#define KASSAY_LOADGEN_CLUSTER_H

#include <librdkafka/rdkafka.h>

#include "loadgen/plan.h"

struct lg_range {
	int64_t begin, end;          /* log start offset, and the offset after the last record */
};

/* A client for the calls below; KT_EUSAGE, KT_ENET when nobody listens there. */
int lg_cluster_open(struct lg_plan *plan, rd_kafka_t **rk, struct kt_err *err);
/* Number of partitions; KT_EUNKNOWN when there is no such topic, KT_ENET when no broker answers. */
int lg_cluster_partitions(rd_kafka_t *rk, const char *topic, int32_t *n, struct kt_err *err);
/* Creates the topic unless it exists: then it is left as it is. */
int lg_cluster_create(rd_kafka_t *rk, const struct lg_topic *topic, struct kt_err *err);
/* The ranges of partitions 0..n-1. */
int lg_cluster_ranges(rd_kafka_t *rk, const char *topic, int32_t n, struct lg_range *ranges, struct kt_err *err);

#endif
