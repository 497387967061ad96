/* The engine that drives librdkafka's producer: what a real client does at this rate.
 *
 * The calling thread hands records over at their intended times; a second thread serves the delivery reports, so that a
 * sleeping pacer never delays the end of a latency.
 */
#include <jansson.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "loadgen/clock.h"
#include "loadgen/load.h"
#include "loadgen/rdclient.h"

#define REACH_MS 10000
/* How long what is in flight may take after the user asked to stop. */
#define STOP_FLUSH (5 * LG_SECOND)

struct producer {
	struct lg_load *load;
	rd_kafka_t *rk;
	rd_kafka_topic_t *rkt;
	uint8_t *value;
	struct lg_schedule schedule;
	uint64_t random;              /* picks illegal records */
	pthread_t server;             /* of the delivery reports */
	atomic_bool done;
};

/* What a delivery report must know of its record. */
struct delivery {
	const struct lg_illegal *illegal;
	int64_t intended, sent, sequence;
	int32_t partition;
};

/* ---- delivery reports ---- */

/* RD_KAFKA_RESP_ERR__INVALID_DIFFERENT_RECORD, which the headers of older releases lack. */
enum { INVALID_DIFFERENT_RECORD = -138 };

/* Refused by the broker for what the batch contains: as the illegal record that it is, or as a legal one that shares a
 * batch with one. librdkafka gives every record of the batch the same code; newer releases, which read record_errors,
 * may give the legal ones a code of their own. */
static bool refusal_is_due(const struct lg_load *load, const struct delivery *delivery, int code)
{
	if (delivery->illegal && code == delivery->illegal->code)
		return true;
	if (code == INVALID_DIFFERENT_RECORD)
		return !delivery->illegal && load->phase->illegal.n > 0;
	return lg_illegal_mix_has_code(&load->phase->illegal, code);
}

static enum lg_fate fate_of(const struct lg_load *load, const struct delivery *delivery,
			    const rd_kafka_message_t *message, bool *expected)
{
	int code = message->err;

	*expected = code == 0 && !delivery->illegal;
	if (code == 0)
		return LG_ACKED;
	if (refusal_is_due(load, delivery, code)) {
		*expected = true;
		return delivery->illegal ? LG_REFUSED : LG_REFUSED_WITH_BATCH;
	}
	/* what a stopped run still had in its queues proves nothing */
	*expected = lg_stopped() && (code == RD_KAFKA_RESP_ERR__PURGE_QUEUE ||
				     code == RD_KAFKA_RESP_ERR__PURGE_INFLIGHT);
	if (code == RD_KAFKA_RESP_ERR_INVALID_RECORD)
		return LG_REFUSED;
	return rd_kafka_message_status(message) == RD_KAFKA_MSG_STATUS_NOT_PERSISTED ? LG_FAILED : LG_UNKNOWN;
}

static void on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *message, void *opaque)
{
	struct lg_load *load = ((struct producer *)opaque)->load;
	struct delivery *delivery = message->_private;
	int64_t now = lg_now();
	bool expected;
	enum lg_fate fate = fate_of(load, delivery, message, &expected);

	(void)rk;
	if (fate == LG_ACKED) {
		lg_meter_acked(&load->meter, delivery->intended, delivery->sent, now);
		load->last_acked = now;
	}
	if (message->err || delivery->illegal)
		lg_outcomes_add(&load->outcomes, delivery->illegal, message->err, expected,
				message->err ? rd_kafka_err2str(message->err) : "accepted");
	lg_load_settle(load, delivery->partition, delivery->sequence, fate);
	free(delivery);
}

static void on_error(rd_kafka_t *rk, int code, const char *reason, void *opaque)
{
	(void)rk;
	(void)code;
	lg_load_event(((struct producer *)opaque)->load, reason);
}

static json_int_t number(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

/* librdkafka puts one batch of one partition into each Produce request. */
static int on_stats(rd_kafka_t *rk, char *json, size_t n, void *opaque)
{
	struct lg_load *load = ((struct producer *)opaque)->load;
	json_t *root = json_loadb(json, n, 0, NULL), *broker;
	json_int_t requests = 0;
	const char *name;

	(void)rk;
	json_object_foreach(json_object_get(root, "brokers"), name, broker)
		requests += number(json_object_get(broker, "req"), "Produce");
	if (requests > 0)
		load->records_per_request = (double)number(root, "txmsgs") / (double)requests;
	json_decref(root);
	return 0;
}

static void *serve(void *arg)
{
	struct producer *producer = arg;

	while (!atomic_load(&producer->done))
		rd_kafka_poll(producer->rk, 50);
	rd_kafka_poll(producer->rk, 0);
	return NULL;
}

/* ---- set-up ---- */

static bool conf_is(const rd_kafka_conf_t *conf, const char *name, const char *value)
{
	char text[64];
	size_t n = sizeof text;

	return rd_kafka_conf_get(conf, name, text, &n) == RD_KAFKA_CONF_OK && strcmp(text, value) == 0;
}

static void read_guarantee(struct lg_load *load, const rd_kafka_conf_t *conf)
{
	bool idempotent = conf_is(conf, "enable.idempotence", "true");
	bool no_retry = conf_is(conf, "message.send.max.retries", "0");

	load->guarantee.kept = load->phase->acks != 0;
	load->guarantee.once = idempotent || no_retry;
	load->guarantee.ordered = idempotent || no_retry || conf_is(conf, "max.in.flight", "1");
}

static rd_kafka_conf_t *make_conf(struct producer *producer, struct kt_err *err)
{
	const struct lg_phase *phase = producer->load->phase;
	rd_kafka_conf_t *conf = lg_rd_conf(producer->load->plan->bootstrap, &producer->load->plan->properties, NULL,
					   err);
	char acks[16];

	if (!conf)
		return NULL;
	snprintf(acks, sizeof acks, "%d", phase->acks);
	if (lg_rd_set(conf, "acks", acks, err) ||
	    lg_rd_set(conf, "compression.codec", kw_codec_name(phase->codec), err) ||
	    lg_rd_set(conf, "statistics.interval.ms", "500", err))
		goto fail;
	for (int i = 0; i < phase->properties.n; i++)
		if (lg_rd_set(conf, phase->properties.v[i].name, phase->properties.v[i].value, err))
			goto fail;
	rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
	rd_kafka_conf_set_error_cb(conf, on_error);
	rd_kafka_conf_set_stats_cb(conf, on_stats);
	rd_kafka_conf_set_opaque(conf, producer);
	read_guarantee(producer->load, conf);
	return conf;
fail:
	rd_kafka_conf_destroy(conf);
	return NULL;
}

static int open_producer(struct producer *producer, struct kt_err *err)
{
	const struct lg_phase *phase = producer->load->phase;
	const struct rd_kafka_metadata *metadata;
	rd_kafka_conf_t *conf = make_conf(producer, err);
	rd_kafka_resp_err_t code;

	if (!conf || !(producer->rk = lg_rd_new(RD_KAFKA_PRODUCER, conf, err)))
		return err->code;
	producer->rkt = rd_kafka_topic_new(producer->rk, phase->topic, NULL);
	if (!producer->rkt)
		return kt_fail(err, KT_EUSAGE, "librdkafka refuses the topic name \"%s\"", phase->topic);
	/* the first record must not wait for what every later one finds ready */
	code = rd_kafka_metadata(producer->rk, 0, producer->rkt, &metadata, REACH_MS);
	if (code)
		return kt_fail(err, KT_ENET, "no metadata of topic %s: %s", phase->topic, rd_kafka_err2str(code));
	rd_kafka_metadata_destroy(metadata);
	return 0;
}

/* ---- sending ---- */

static void send_record(struct producer *producer, const struct lg_draft *draft, struct delivery *delivery)
{
	struct lg_load *load = producer->load;
	int64_t sent = delivery->sent = lg_now(), intended = delivery->intended;
	rd_kafka_resp_err_t code;
	bool held = false;

	/* once taken, the delivery belongs to librdkafka */
	while ((code = lg_rd_produce(producer->rk, producer->rkt, draft, delivery)) == RD_KAFKA_RESP_ERR__QUEUE_FULL &&
	       !lg_stopped()) {
		held = true;
		lg_pause(LG_MS);
		sent = delivery->sent = lg_now();
	}
	load->counters.held += held;
	if (code) {
		bool stopped = code == RD_KAFKA_RESP_ERR__QUEUE_FULL && lg_stopped();

		lg_outcomes_add(&load->outcomes, delivery->illegal, code, stopped, rd_kafka_err2str(code));
		lg_load_settle(load, delivery->partition, delivery->sequence, LG_NOT_SENT);
		free(delivery);
		return;
	}
	load->last_sent = sent;
	lg_meter_sent(&load->meter, intended, sent);
	load->counters.sent++;
	load->counters.operations++;
	if (draft->value.n > 0)
		load->counters.bytes += draft->value.n;
}

static int send_next(struct producer *producer, int64_t index, int64_t intended, struct kt_err *err)
{
	struct lg_load *load = producer->load;
	int32_t spread = lg_spread(&load->phase->shape, load->npartitions);
	struct delivery *delivery = malloc(sizeof *delivery);
	struct lg_draft draft;
	struct lg_stamp stamp;

	if (!delivery)
		return kt_fail(err, KT_ENOMEM, "no memory for a record");
	if (lg_load_stamp(load, (int32_t)(index % spread), intended, &stamp)) {
		free(delivery);
		return kt_fail(err, KT_ENOMEM, "no memory for the ledger");
	}
	lg_draft_make(&draft, &load->phase->shape, &stamp, spread, producer->value);
	*delivery = (struct delivery){
		.illegal = lg_illegal_pick(&load->phase->illegal, lg_random_unit(&producer->random)),
		.intended = intended, .sequence = stamp.sequence, .partition = stamp.partition,
	};
	if (delivery->illegal)
		delivery->illegal->spoil_record(&draft);
	send_record(producer, &draft, delivery);
	return 0;
}

static int send_all(struct producer *producer, struct kt_err *err)
{
	struct lg_load *load = producer->load;
	bool paced = lg_schedule_paced(&producer->schedule);
	int64_t end = load->started + (int64_t)(load->phase->rate.seconds * 1e9), at;
	int rc = 0;

	for (int64_t i = 0; rc == 0 && (at = lg_schedule_next(&producer->schedule)) >= 0; i++) {
		int64_t intended = paced ? load->started + at : lg_now();

		lg_sleep_until(intended);
		if (lg_stopped() || (!paced && load->phase->rate.seconds > 0 && intended >= end))
			return 0;
		rc = send_next(producer, i, intended, err);
	}
	load->complete = rc == 0;
	return rc;
}

/* ---- the end ---- */

static void flush(struct producer *producer)
{
	int64_t give_up = INT64_MAX;

	while (rd_kafka_outq_len(producer->rk) > 0 && lg_now() < give_up) {
		if (lg_stopped() && give_up == INT64_MAX)
			give_up = lg_now() + STOP_FLUSH;
		lg_pause(2 * LG_MS);
	}
	if (rd_kafka_outq_len(producer->rk) > 0) {
		producer->load->complete = false;
		rd_kafka_purge(producer->rk, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
		rd_kafka_flush(producer->rk, 1000);
	}
}

static void close_producer(struct producer *producer)
{
	if (producer->rkt)
		rd_kafka_topic_destroy(producer->rkt);
	if (producer->rk)
		rd_kafka_destroy(producer->rk);
	free(producer->value);
}

int lg_rdkafka_run(struct lg_load *load, struct kt_err *err)
{
	struct producer producer = {.load = load, .random = lg_mix(load->plan->seed, load->number, 1)};
	int rc = lg_schedule_init(&producer.schedule, &load->phase->rate, load->plan->seed + load->number, err);

	producer.value = malloc((size_t)load->phase->shape.size_max);
	if (!producer.value)
		rc = kt_fail(err, KT_ENOMEM, "no memory for a value of %d bytes", load->phase->shape.size_max);
	if (rc || (rc = open_producer(&producer, err)))
		goto out;
	lg_precise_timers();
	if (pthread_create(&producer.server, NULL, serve, &producer)) {
		rc = kt_fail(err, KT_ESYS, "cannot start a thread");
		goto out;
	}
	load->started = lg_now();
	rc = send_all(&producer, err);
	flush(&producer);
	atomic_store(&producer.done, true);
	pthread_join(producer.server, NULL);
out:
	close_producer(&producer);
	return rc;
}
