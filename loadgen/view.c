#include "loadgen/view.h"

#include <stdio.h>
#include <stdlib.h>

#include "loadgen/clock.h"
#include "loadgen/rdclient.h"

#define WAIT_MS 15000

struct sighting {
	struct lg_view *view;
	int index;
	enum lg_fate fate;
};

static enum lg_fate fate_of(const rd_kafka_message_t *message, int index)
{
	if (message->err == 0)
		return LG_ACKED;
	if (rd_kafka_message_status(message) != RD_KAFKA_MSG_STATUS_NOT_PERSISTED && message->err < 0)
		return LG_UNKNOWN;
	return index == LG_VIEW_ILLEGAL ? LG_REFUSED : LG_REFUSED_WITH_BATCH;
}

static void on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *message, void *opaque)
{
	struct sighting *sighting = message->_private;

	(void)rk;
	(void)opaque;
	sighting->view->records[sighting->index].code = message->err;
	snprintf(sighting->view->records[sighting->index].text, sizeof sighting->view->records[0].text, "%s",
		 message->err ? rd_kafka_err2str(message->err) : "accepted");
	sighting->fate = fate_of(message, sighting->index);
}

/* The three records must share a batch: they wait for each other, and for nothing else. They are sent once, for the
 * phase's engine promises that of all of its records. */
static rd_kafka_t *open_client(const struct lg_load *load, struct kt_err *err)
{
	const struct lg_plan *plan = load->plan;
	rd_kafka_conf_t *conf = lg_rd_conf(plan->bootstrap, &plan->properties, &load->phase->properties, err);

	if (!conf)
		return NULL;
	if (lg_rd_set(conf, "linger.ms", "200", err) || lg_rd_set(conf, "acks", "all", err) ||
	    lg_rd_set(conf, "message.send.max.retries", "0", err) ||
	    lg_rd_set(conf, "compression.codec", kw_codec_name(load->phase->codec), err)) {
		rd_kafka_conf_destroy(conf);
		return NULL;
	}
	rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
	return lg_rd_new(RD_KAFKA_PRODUCER, conf, err);
}

/* The topic with its partitions known: records that wait for them are handed on one by one, and a batch may go out
 * between two. */
static int open_topic(const struct lg_load *load, rd_kafka_t *rk, rd_kafka_topic_t **rkt, struct kt_err *err)
{
	const struct rd_kafka_metadata *metadata;
	rd_kafka_resp_err_t code;

	*rkt = rd_kafka_topic_new(rk, load->phase->topic, NULL);
	code = *rkt ? rd_kafka_metadata(rk, 0, *rkt, &metadata, WAIT_MS) : rd_kafka_last_error();
	if (code)
		return kt_fail(err, KT_ENET, "librdkafka learns nothing of topic %s: %s", load->phase->topic,
			       rd_kafka_err2str(code));
	rd_kafka_metadata_destroy(metadata);
	return 0;
}

static int produce(rd_kafka_t *rk, rd_kafka_topic_t *rkt, const struct lg_draft *draft,
		   struct sighting *sighting, struct kt_err *err)
{
	rd_kafka_resp_err_t code = lg_rd_produce(rk, rkt, draft, sighting);

	if (code)
		return kt_fail(err, KT_EUSAGE, "librdkafka does not take a record: %s", rd_kafka_err2str(code));
	return 0;
}

static int show(struct lg_load *load, rd_kafka_t *rk, rd_kafka_topic_t *rkt, struct lg_view *view, uint8_t *value,
		struct kt_err *err)
{
	struct sighting sightings[LG_VIEW_RECORDS];
	struct lg_stamp stamps[LG_VIEW_RECORDS];
	int32_t spread = lg_spread(&load->phase->shape, load->npartitions);
	int rc = 0, n = 0;

	for (; n < LG_VIEW_RECORDS && rc == 0; n++) {
		struct lg_draft draft;

		rc = lg_load_stamp(load, 0, lg_now(), &stamps[n]);
		if (rc)
			return kt_fail(err, rc, "no memory for the ledger");
		sightings[n] = (struct sighting){view, n, LG_UNKNOWN};
		lg_draft_make(&draft, &load->phase->shape, &stamps[n], spread, value);
		if (n == LG_VIEW_ILLEGAL)
			view->illegal->spoil_record(&draft);
		rc = produce(rk, rkt, &draft, &sightings[n], err);
		if (rc)
			sightings[n].fate = LG_NOT_SENT;
	}
	if (rd_kafka_flush(rk, WAIT_MS)) {
		rd_kafka_purge(rk, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
		rd_kafka_flush(rk, 1000);
	}
	for (int i = 0; i < n; i++)
		lg_ledger_settle(load->ledger, 0, stamps[i].sequence, sightings[i].fate);
	view->made = rc == 0;
	return rc;
}

int lg_rdkafka_view(struct lg_load *load, struct lg_view *views, struct kt_err *err)
{
	const struct lg_illegal_mix *mix = &load->phase->illegal;
	uint8_t *value = malloc((size_t)load->phase->shape.size_max);
	rd_kafka_t *rk = value ? open_client(load, err) : NULL;
	rd_kafka_topic_t *rkt = NULL;
	int rc = value ? err->code : kt_fail(err, KT_ENOMEM, "no memory for a value");

	if (rc == 0)
		rc = open_topic(load, rk, &rkt, err);
	for (int i = 0; i < mix->n && rc == 0; i++) {
		views[i] = (struct lg_view){.illegal = mix->v[i].illegal};
		if (views[i].illegal->spoil_record)
			rc = show(load, rk, rkt, &views[i], value, err);
	}
	if (rkt)
		rd_kafka_topic_destroy(rkt);
	if (rk)
		rd_kafka_destroy(rk);
	free(value);
	return rc;
}
