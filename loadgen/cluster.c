#include "loadgen/cluster.h"

#include <stdlib.h>
#include <string.h>

#include "lib/client/login.h"
#include "loadgen/clock.h"
#include "loadgen/dial.h"
#include "loadgen/outcome.h"
#include "loadgen/rdclient.h"

#define CALL_MS 10000

/* The kit's own connections log in as librdkafka is told to. */
static int take_login(struct lg_plan *plan, struct kt_err *err)
{
	const struct lg_properties *properties = &plan->properties;
	int rc = 0;

	plan->login.how =
		"-X security.protocol=sasl_plaintext -X sasl.username=USER -X sasl.password=PASSWORD gives it";
	for (int i = 0; i < properties->n && rc >= 0; i++)
		rc = kc_login_set(&plan->login, properties->v[i].name, properties->v[i].value, err);
	return rc < 0 ? rc : kc_login_check(&plan->login, err);
}

int lg_cluster_open(struct lg_plan *plan, rd_kafka_t **rk, struct kt_err *err)
{
	rd_kafka_conf_t *conf;
	int rc = take_login(plan, err);

	if (rc == 0)
		rc = lg_reach(plan->bootstrap, &plan->login, kc_now_ms() + CALL_MS, err);

	*rk = NULL;
	if (rc)
		return rc;
	conf = lg_rd_conf(plan->bootstrap, &plan->properties, NULL, err);
	/* a producer would have the broker create what it asks about */
	*rk = conf ? lg_rd_new(RD_KAFKA_CONSUMER, conf, err) : NULL;
	return *rk ? 0 : err->code;
}

static int fail(const char *what, const char *topic, rd_kafka_resp_err_t code, const char *text, struct kt_err *err)
{
	return kt_fail(err, code < -1 ? KT_ENET : KT_EUNKNOWN, "%s %s: %s (%s)", what, topic,
		       text && text[0] ? text : rd_kafka_err2str(code), lg_code_name(code));
}

int lg_cluster_partitions(rd_kafka_t *rk, const char *topic, int32_t *n, struct kt_err *err)
{
	rd_kafka_topic_t *rkt = rd_kafka_topic_new(rk, topic, NULL);
	const struct rd_kafka_metadata *metadata;
	rd_kafka_resp_err_t code;

	*n = 0;
	if (!rkt)
		return kt_fail(err, KT_EUSAGE, "librdkafka refuses the topic name \"%s\"", topic);
	code = rd_kafka_metadata(rk, 0, rkt, &metadata, CALL_MS);
	rd_kafka_topic_destroy(rkt);
	if (code)
		return fail("no metadata of topic", topic, code, NULL, err);
	if (metadata->topic_cnt == 1 && metadata->topics[0].err == 0)
		*n = metadata->topics[0].partition_cnt;
	else
		code = metadata->topic_cnt == 1 ? metadata->topics[0].err : RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
	rd_kafka_metadata_destroy(metadata);
	return *n > 0 ? 0 : fail("no metadata of topic", topic, code, NULL, err);
}

static rd_kafka_NewTopic_t *new_topic(const struct lg_topic *topic, struct kt_err *err)
{
	char text[256];
	rd_kafka_NewTopic_t *request = rd_kafka_NewTopic_new(topic->name, topic->partitions,
							     topic->replication_factor, text, sizeof text);

	if (!request) {
		kt_fail(err, KT_EUSAGE, "topic %s: %s", topic->name, text);
		return NULL;
	}
	for (int i = 0; i < topic->configs.n; i++)
		rd_kafka_NewTopic_set_config(request, topic->configs.v[i].name, topic->configs.v[i].value);
	return request;
}

static int judge_creation(const struct lg_topic *topic, rd_kafka_event_t *event, struct kt_err *err)
{
	const rd_kafka_topic_result_t **results;
	rd_kafka_resp_err_t code = event ? rd_kafka_event_error(event) : RD_KAFKA_RESP_ERR__TIMED_OUT;
	const char *text = event ? rd_kafka_event_error_string(event) : NULL;
	size_t n = 0;

	if (code == 0) {
		results = rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &n);
		code = n == 1 ? rd_kafka_topic_result_error(results[0]) : RD_KAFKA_RESP_ERR__BAD_MSG;
		text = n == 1 ? rd_kafka_topic_result_error_string(results[0]) : NULL;
	}
	return code == 0 || code == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS ?
	       0 : fail("cannot create topic", topic->name, code, text, err);
}

/* A broker answers CreateTopics before every broker's metadata shows the topic. */
static int await_topic(rd_kafka_t *rk, const char *topic, struct kt_err *err)
{
	int64_t deadline = lg_now() + CALL_MS * LG_MS;

	for (;;) {
		struct kt_err now = {0};
		int32_t n;

		if (lg_cluster_partitions(rk, topic, &n, &now) == 0)
			return 0;
		if (lg_now() >= deadline || lg_stopped()) {
			*err = now;
			return now.code;
		}
		lg_pause(20 * LG_MS);
	}
}

int lg_cluster_create(rd_kafka_t *rk, const struct lg_topic *topic, struct kt_err *err)
{
	rd_kafka_NewTopic_t *request = new_topic(topic, err);
	rd_kafka_AdminOptions_t *options = rd_kafka_AdminOptions_new(rk, RD_KAFKA_ADMIN_OP_CREATETOPICS);
	rd_kafka_queue_t *queue = rd_kafka_queue_new(rk);
	rd_kafka_event_t *event = NULL;
	char text[128];
	int rc = err->code;

	if (!request)
		goto out;
	rd_kafka_AdminOptions_set_request_timeout(options, CALL_MS, text, sizeof text);
	rd_kafka_CreateTopics(rk, &request, 1, options, queue);
	event = rd_kafka_queue_poll(queue, CALL_MS + 1000);
	rc = judge_creation(topic, event, err);
	if (rc == 0)
		rc = await_topic(rk, topic->name, err);
out:
	if (event)
		rd_kafka_event_destroy(event);
	if (request)
		rd_kafka_NewTopic_destroy(request);
	rd_kafka_AdminOptions_destroy(options);
	rd_kafka_queue_destroy(queue);
	return rc;
}

/* ---- offsets ---- */

static rd_kafka_resp_err_t first_error(const rd_kafka_topic_partition_list_t *list)
{
	for (int i = 0; i < list->cnt; i++)
		if (list->elems[i].err)
			return list->elems[i].err;
	return RD_KAFKA_RESP_ERR_NO_ERROR;
}

/* Asks where all partitions begin or end. rd_kafka_query_watermark_offsets() would do the same but waits without end
 * for a broker that died. */
static rd_kafka_resp_err_t list_offsets(rd_kafka_t *rk, const char *topic, int32_t n, int64_t which, int64_t *offsets)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(n);
	rd_kafka_resp_err_t code;

	for (int32_t i = 0; i < n; i++)
		rd_kafka_topic_partition_list_add(list, topic, i)->offset = which;
	code = rd_kafka_offsets_for_times(rk, list, CALL_MS);
	if (code == 0)
		code = first_error(list);
	for (int i = 0; i < list->cnt; i++)
		offsets[list->elems[i].partition] = list->elems[i].offset;
	rd_kafka_topic_partition_list_destroy(list);
	return code;
}

static bool passes_soon(rd_kafka_resp_err_t code)
{
	return code == RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION || code == RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE ||
	       code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
}

int lg_cluster_ranges(rd_kafka_t *rk, const char *topic, int32_t n, struct lg_range *ranges, struct kt_err *err)
{
	int64_t deadline = lg_now() + CALL_MS * LG_MS, *begins = calloc((size_t)n * 2, sizeof *begins);
	rd_kafka_resp_err_t code;

	if (!begins)
		return kt_fail(err, KT_ENOMEM, "no memory for %d partitions", (int)n);
	/* the leader of a new partition may not know yet that it is one */
	for (;;) {
		code = list_offsets(rk, topic, n, RD_KAFKA_OFFSET_BEGINNING, begins);
		if (code == 0)
			code = list_offsets(rk, topic, n, RD_KAFKA_OFFSET_END, begins + n);
		if (!passes_soon(code) || lg_now() >= deadline || lg_stopped())
			break;
		lg_pause(20 * LG_MS);
	}
	for (int32_t i = 0; i < n && code == 0; i++)
		ranges[i] = (struct lg_range){begins[i], begins[n + i]};
	free(begins);
	return code ? fail("no offsets of topic", topic, code, NULL, err) : 0;
}
