/* librdkafka as the client of a benchmark: the same for every broker. */
#ifndef KASSAY_FAKEBROKER_BENCH_CLIENT_H
#define KASSAY_FAKEBROKER_BENCH_CLIENT_H

#include <librdkafka/rdkafka.h>

/* Of the topic "bench". */
struct load {
	const char *codec;         /* "none", "lz4" */
	size_t size;               /* bytes of a record's value; it has no key */
	int records;               /* of a block */
	int batch;                 /* records of a batch */
	int partitions;            /* that the batches go to, in turn */
	int in_flight;             /* requests; 0 = as many as librdkafka likes */
};

/* bootstrap NULL: to librdkafka's own mock of one broker, in this process. */
rd_kafka_t *client_producer(const char *bootstrap, const struct load *load);
/* Sends a block with acks=all and waits until all is acknowledged. */
void client_produce(rd_kafka_t *producer, const struct load *load);
/* Reads the last so many records of partition 0 with a new consumer. */
void client_consume(const char *bootstrap, int records);

#endif
