/* librdkafka's configuration, as all of its clients here share it. */
#ifndef KASSAY_LOADGEN_RDCLIENT_H
#define KASSAY_LOADGEN_RDCLIENT_H

#include <librdkafka/rdkafka.h>

#include "lib/text/err.h"
#include "loadgen/plan.h"

/* Kit defaults, then bootstrap servers, then the properties of both lists (either may be NULL). Its log is dropped:
 * what matters comes as an error event. NULL and KT_EUSAGE when librdkafka refuses a property, with its own words. */
rd_kafka_conf_t *lg_rd_conf(const char *bootstrap, const struct lg_properties *plan,
			    const struct lg_properties *phase, struct kt_err *err);
/* KT_EUSAGE with librdkafka's words. */
int lg_rd_set(rd_kafka_conf_t *conf, const char *name, const char *value, struct kt_err *err);
/* rd_kafka_new(); takes conf in any case. */
rd_kafka_t *lg_rd_new(rd_kafka_type_t type, rd_kafka_conf_t *conf, struct kt_err *err);

/* Hands a copy of the record to librdkafka, for the partition in its stamp. If the result is 0, opaque comes back with
 * the delivery report. */
rd_kafka_resp_err_t lg_rd_produce(rd_kafka_t *rk, rd_kafka_topic_t *rkt, const struct lg_draft *draft, void *opaque);

#endif
