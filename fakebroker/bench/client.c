#include "fakebroker/bench/client.h"

#include <stdlib.h>
#include <string.h>

#include "fakebroker/bench/program.h"

enum { TEXT = 1 << 20, FLUSH_MS = 60000, ANSWER_MS = 30000 };

static void set(rd_kafka_conf_t *conf, const char *name, const char *value)
{
	char text[256];

	if (rd_kafka_conf_set(conf, name, value, text, sizeof text) == RD_KAFKA_CONF_OK)
		return;
	fprintf(stderr, "%s: %s\n", name, text);
	exit(3);
}

static void set_number(rd_kafka_conf_t *conf, const char *name, int value)
{
	char text[16];

	snprintf(text, sizeof text, "%d", value);
	set(conf, name, text);
}

static rd_kafka_t *make(rd_kafka_type_t type, rd_kafka_conf_t *conf)
{
	char text[256];
	rd_kafka_t *rk = rd_kafka_new(type, conf, text, sizeof text);

	if (rk)
		return rk;
	fprintf(stderr, "librdkafka: %s\n", text);
	exit(3);
}

static void on_report(rd_kafka_t *rk, const rd_kafka_message_t *message, void *opaque)
{
	(void)rk;
	(void)opaque;
	if (!message->err)
		return;
	fprintf(stderr, "a record was not taken: %s\n", rd_kafka_err2str(message->err));
	exit(3);
}

rd_kafka_t *client_producer(const char *bootstrap, const struct load *load)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();

	if (bootstrap)
		set(conf, "bootstrap.servers", bootstrap);
	else
		set_number(conf, "test.mock.num.brokers", 1);
	set(conf, "log_level", "4");       /* the mock says that it is one */
	set(conf, "acks", "all");
	set(conf, "compression.codec", load->codec);
	set(conf, "linger.ms", "200");     /* batches are full, whatever the broker's speed */
	set_number(conf, "batch.num.messages", load->batch);
	if (load->in_flight)
		set_number(conf, "max.in.flight", load->in_flight);
	set_number(conf, "queue.buffering.max.messages", load->records + 1);
	rd_kafka_conf_set_dr_msg_cb(conf, on_report);
	return make(RD_KAFKA_PRODUCER, conf);
}

/* Words at random: lz4 makes about half of them. */
static const char *some_text(void)
{
	static const char *const words[] = {"order ", "region ", "eu-west-1 ", "amount ", "paid ", "42 ", "7311 ",
					    "shipped ", "customer ", "GBP ", "retry ", "null ", "9 ", "basket ", "ok ",
					    "x17fa "};
	static char text[TEXT];
	uint32_t seed = 1;

	for (size_t n = 0; !text[TEXT - 1];) {
		const char *word;
		size_t size;

		seed = seed * 1664525 + 1013904223;
		word = words[seed >> 28];
		size = strlen(word) < TEXT - n ? strlen(word) : TEXT - n;
		memcpy(text + n, word, size);
		n += size;
	}
	return text;
}

void client_produce(rd_kafka_t *producer, const struct load *load)
{
	rd_kafka_topic_t *topic = rd_kafka_topic_new(producer, "bench", NULL);
	const char *text = some_text();
	size_t at = 0;

	for (int i = 0; i < load->records; i++) {
		void *value = (void *)(uintptr_t)(text + at);

		if (rd_kafka_produce(topic, i / load->batch % load->partitions, RD_KAFKA_MSG_F_COPY, value, load->size,
				     NULL, 0, NULL))
			bench_give_up("rd_kafka_produce");
		at = (at + load->size) % (TEXT - load->size);
		if (i % 1000 == 0)
			rd_kafka_poll(producer, 0);
	}
	if (rd_kafka_flush(producer, FLUSH_MS))
		bench_give_up("rd_kafka_flush");
	rd_kafka_topic_destroy(topic);
}

/* Where the last records of partition 0 begin: nothing behind them can be fetched ahead. */
static int64_t last_of(rd_kafka_t *consumer, int records)
{
	int64_t low, high;

	if (rd_kafka_query_watermark_offsets(consumer, "bench", 0, &low, &high, ANSWER_MS) || high - low < records)
		bench_give_up("rd_kafka_query_watermark_offsets");
	return high - records;
}

void client_consume(const char *bootstrap, int records)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	rd_kafka_t *consumer;

	set(conf, "bootstrap.servers", bootstrap);
	set(conf, "group.id", "bench");
	set(conf, "enable.auto.commit", "false");
	consumer = make(RD_KAFKA_CONSUMER, conf);
	rd_kafka_topic_partition_list_add(list, "bench", 0)->offset = last_of(consumer, records);
	if (rd_kafka_assign(consumer, list))
		bench_give_up("rd_kafka_assign");
	while (records > 0) {
		rd_kafka_message_t *message = rd_kafka_consumer_poll(consumer, ANSWER_MS);

		if (!message || message->err)
			bench_give_up("rd_kafka_consumer_poll");
		records--;
		rd_kafka_message_destroy(message);
	}
	rd_kafka_topic_partition_list_destroy(list);
	rd_kafka_consumer_close(consumer);
	rd_kafka_destroy(consumer);
}
