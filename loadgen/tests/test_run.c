/* Whole runs against librdkafka's mock cluster, in this process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include "lib/text/opt.h"
#include "loadgen/report.h"

static rd_kafka_t *host;
static rd_kafka_mock_cluster_t *cluster;

static int setup(void **state)
{
	rd_kafka_conf_t *conf;

	(void)state;
	conf = rd_kafka_conf_new();
	rd_kafka_conf_set_log_cb(conf, NULL);
	host = rd_kafka_new(RD_KAFKA_PRODUCER, conf, NULL, 0);
	cluster = rd_kafka_mock_cluster_new(host, 2);
	return !cluster || rd_kafka_mock_topic_create(cluster, "t", 3, 1) ? -1 : 0;
}

static int teardown(void **state)
{
	(void)state;
	rd_kafka_mock_cluster_destroy(cluster);
	rd_kafka_destroy(host);
	return 0;
}

static struct lg_property quick[] = {{"linger.ms", "1"}, {"message.timeout.ms", "2000"}};

static void plan_for(struct lg_plan *plan, struct lg_phase *phase, int64_t records)
{
	lg_plan_init(plan);
	lg_phase_init(phase);
	phase->name = "p";
	phase->topic = "t";
	phase->rate.count = records;
	phase->properties = (struct lg_properties){2, quick};
	plan->bootstrap = rd_kafka_mock_cluster_bootstraps(cluster);
	plan->phases = phase;
	plan->nphases = 1;
}

static char *report_of(const struct lg_run *run)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	lg_report(run, out);
	fclose(out);
	return text;
}

static void test_a_run_accounts_for_every_record(void **state)
{
	struct lg_phase phase;
	struct lg_plan plan;
	struct lg_run run;
	struct lg_tally tally;
	char *text;

	(void)state;
	plan_for(&plan, &phase, 500);
	phase.rate.from = phase.rate.to = 2000;
	phase.shape.size_max = 700;
	phase.shape.key_mode = LG_KEY_COUNT;
	phase.shape.keys = 20;
	phase.shape.headers[phase.shape.nheaders++] = (struct lg_header_spec){"trace-id", "7"};
	assert_int_equal(lg_run(&run, &plan, &(struct lg_run_opts){0}, &(struct kt_err){0}), 0);
	assert_true(run.verified);
	assert_string_equal(run.doubt, "");
	assert_int_equal(run.phases[0].load.counters.sent, 500);
	assert_int_equal(run.phases[0].load.counters.acked, 500);
	assert_true(run.phases[0].load.complete);
	for (int i = 0; i < LG_NLATENCIES; i++)
		assert_int_equal(run.phases[0].load.meter.total[i].total, 500);
	assert_true(run.phases[0].load.last_sent - run.phases[0].load.started >= 499 * 500000);
	lg_run_tally(&run, 0, -1, &tally);
	assert_int_equal(tally.seen, 500);
	assert_int_equal(tally.lost + tally.duplicated + tally.corrupt, 0);
	lg_run_tally(&run, 0, 2, &tally);
	assert_int_equal(tally.seen, 166);
	assert_int_equal(lg_run_exit(&run), KT_EXIT_OK);
	text = report_of(&run);
	assert_non_null(strstr(text, "phase p: topic t (3 partitions), engine rdkafka, acks=all, codec none"));
	assert_non_null(strstr(text, "read 500, lost 0, duplicated 0, reordered 0, corrupt 0"));
	assert_non_null(strstr(text, "\nok\n"));
	free(text);
	lg_run_fini(&run);
	lg_plan_fini(&plan);
}

static void test_what_was_there_before_is_not_read(void **state)
{
	struct lg_phase phase;
	struct lg_plan plan;
	struct lg_run run;
	int64_t begin = 0;

	(void)state;
	for (int i = 0; i < 2; i++) {
		plan_for(&plan, &phase, 30);
		assert_int_equal(lg_run(&run, &plan, &(struct lg_run_opts){0}, &(struct kt_err){0}), 0);
		assert_int_equal(lg_reader_records(run.reader), 30);
		if (i == 1)
			assert_int_equal(lg_reader_at(run.reader, 0)->begin, begin);
		begin = lg_reader_at(run.reader, 0)->position;
		assert_int_equal(lg_run_exit(&run), KT_EXIT_OK);
		lg_run_fini(&run);
		lg_plan_fini(&plan);
	}
}

static void test_an_unexpected_refusal_is_a_violation(void **state)
{
	struct lg_phase phase;
	struct lg_plan plan;
	struct lg_run run;
	struct lg_tally tally;
	char *text;

	(void)state;
	plan_for(&plan, &phase, 1);
	rd_kafka_mock_push_request_errors(cluster, 0, 1, RD_KAFKA_RESP_ERR_INVALID_RECORD);
	assert_int_equal(lg_run(&run, &plan, &(struct lg_run_opts){0}, &(struct kt_err){0}), 0);
	assert_int_equal(run.phases[0].load.counters.refused, 1);
	assert_int_equal(lg_run_violations(&run), 1);
	assert_int_equal(lg_run_exit(&run), KT_EXIT_VERDICT);
	lg_run_tally(&run, 0, -1, &tally);
	assert_int_equal(tally.refused_present, 0);
	text = report_of(&run);
	assert_non_null(strstr(text, "legal                     1  INVALID_RECORD (87)  UNEXPECTED"));
	assert_non_null(strstr(text, "FAILED: 1 violation\n  p: 1 legal record: INVALID_RECORD (87)\n"));
	free(text);
	lg_run_fini(&run);
	lg_plan_fini(&plan);
}

static void test_a_due_refusal_takes_its_batch_along(void **state)
{
	struct lg_phase phase;
	struct lg_plan plan;
	struct lg_run run;

	(void)state;
	plan_for(&plan, &phase, 1);
	phase.shape.key_mode = LG_KEY_SEQUENCE;
	assert_int_equal(lg_illegal_mix_add(&phase.illegal, "null-key", 1, NULL), 0);
	rd_kafka_mock_push_request_errors(cluster, 0, 1, RD_KAFKA_RESP_ERR_INVALID_RECORD);
	assert_int_equal(lg_run(&run, &plan, &(struct lg_run_opts){0}, &(struct kt_err){0}), 0);
	assert_int_equal(run.phases[0].load.counters.refused, 1);
	assert_int_equal(lg_run_exit(&run), KT_EXIT_OK);
	lg_run_fini(&run);
	lg_plan_fini(&plan);
}

/* The mock cluster accepts everything. */
static void test_an_illegal_record_that_is_accepted(void **state)
{
	struct lg_phase phase;
	struct lg_plan plan;
	struct lg_run run;
	struct lg_tally tally;

	(void)state;
	plan_for(&plan, &phase, 4);
	assert_int_equal(lg_illegal_mix_add(&phase.illegal, "empty-value", 1, NULL), 0);
	assert_int_equal(lg_run(&run, &plan, &(struct lg_run_opts){0}, &(struct kt_err){0}), 0);
	assert_int_equal(run.phases[0].load.outcomes.unexpected, 4);
	assert_string_equal(run.phases[0].load.outcomes.v[0].text, "accepted");
	lg_run_tally(&run, 0, -1, &tally);
	/* found by the stamp in their header */
	assert_int_equal(tally.seen, 4);
	assert_int_equal(lg_run_exit(&run), KT_EXIT_VERDICT);
	lg_run_fini(&run);
	lg_plan_fini(&plan);
}

static void test_the_view_of_librdkafka(void **state)
{
	struct lg_phase phase;
	struct lg_plan plan;
	struct lg_load load;
	struct lg_view views[2];
	struct lg_tally tally;

	(void)state;
	plan_for(&plan, &phase, 1);
	phase.properties.n = 0;
	assert_int_equal(lg_illegal_mix_add(&phase.illegal, "empty-value", 0.5, NULL), 0);
	assert_int_equal(lg_illegal_mix_add(&phase.illegal, "crc", 0.5, NULL), 0);
	assert_int_equal(lg_load_init(&load, &plan, 0, 1, 3, NULL), 0);
	rd_kafka_mock_push_request_errors(cluster, 0, 1, RD_KAFKA_RESP_ERR_INVALID_RECORD);
	assert_int_equal(lg_rdkafka_view(&load, views, &(struct kt_err){0}), 0);
	assert_true(views[0].made);
	for (int i = 0; i < LG_VIEW_RECORDS; i++) {
		assert_int_equal(views[0].records[i].code, 87);
		assert_string_equal(views[0].records[i].text, "Broker: Broker failed to validate record");
	}
	assert_false(views[1].made);
	/* They are none of the phase's load, but the reader must know of them. */
	assert_int_equal(load.counters.sent, 0);
	assert_int_equal(load.counters.refused, 0);
	lg_ledger_tally(load.ledger, 0, false, &tally);
	assert_int_equal(tally.fates[LG_REFUSED], 1);
	assert_int_equal(tally.fates[LG_REFUSED_WITH_BATCH], 2);
	lg_load_fini(&load);
	lg_plan_fini(&plan);
}

static void test_a_lost_record_is_a_violation(void **state)
{
	struct lg_phase phase;
	struct lg_plan plan;
	struct lg_run run;
	struct lg_ledger *ledger;
	char *text;

	(void)state;
	plan_for(&plan, &phase, 5);
	assert_int_equal(lg_run(&run, &plan, &(struct lg_run_opts){0}, &(struct kt_err){0}), 0);
	ledger = run.phases[0].load.ledger;
	lg_ledger_settle(ledger, 1, lg_ledger_open(ledger, 1), LG_ACKED);
	assert_int_equal(lg_run_violations(&run), 1);
	assert_int_equal(lg_run_exit(&run), KT_EXIT_VERDICT);
	text = report_of(&run);
	assert_non_null(strstr(text, "read 5, lost 1, duplicated 0"));
	free(text);
	/* without acknowledgements it is none */
	run.phases[0].load.guarantee.kept = false;
	assert_int_equal(lg_run_exit(&run), KT_EXIT_OK);
	text = report_of(&run);
	assert_non_null(strstr(text, "lost 1 (allowed)"));
	free(text);
	/* and a reader that did not come to the end proves nothing */
	run.phases[0].load.guarantee.kept = true;
	run.verified = false;
	snprintf(run.doubt, sizeof run.doubt, "the reader stopped");
	assert_int_equal(lg_run_exit(&run), KT_EXIT_INCOMPLETE);
	lg_run_fini(&run);
	lg_plan_fini(&plan);
}

/* ---- the reader ---- */

static void append(rd_kafka_t *producer, const char *topic, const void *value, size_t n)
{
	assert_int_equal(rd_kafka_producev(producer, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_PARTITION(0),
					   RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_VALUE((void *)value, n),
					   RD_KAFKA_V_END), 0);
}

/* Five records of topic: one of ours, one changed, one of another run, one of another partition, one of others. */
static void append_odd_records(const char *topic)
{
	struct lg_stamp stamp = {.run = 7, .topic = lg_topic_id(topic), .sequence = 1, .intended = 1};
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	rd_kafka_t *producer;
	uint8_t value[100];

	rd_kafka_conf_set(conf, "bootstrap.servers", rd_kafka_mock_cluster_bootstraps(cluster), NULL, 0);
	rd_kafka_conf_set(conf, "linger.ms", "1", NULL, 0);
	producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, NULL, 0);
	lg_payload_write(value, sizeof value, &stamp);
	append(producer, topic, value, sizeof value);
	value[80] ^= 1;
	append(producer, topic, value, sizeof value);
	stamp.run = 8;
	lg_payload_write(value, sizeof value, &stamp);
	append(producer, topic, value, sizeof value);
	stamp.run = 7;
	stamp.partition = 1;
	lg_payload_write(value, sizeof value, &stamp);
	append(producer, topic, value, sizeof value);
	append(producer, topic, "hello", 5);
	assert_int_equal(rd_kafka_flush(producer, 10000), 0);
	rd_kafka_destroy(producer);
}

static struct lg_ledger *ledger_of(void *arg, uint32_t producer, uint32_t topic)
{
	assert_int_equal(topic, lg_topic_id("odd"));
	return producer == 0 ? arg : NULL;
}

static void test_the_reader_tells_records_apart(void **state)
{
	struct lg_plan plan = {.bootstrap = rd_kafka_mock_cluster_bootstraps(cluster)};
	struct lg_reader_opts opts = {.plan = &plan, .run = 7};
	const struct lg_reader_partition *at;
	struct lg_reader *reader;
	struct lg_ledger *ledger;
	struct lg_tally tally;

	(void)state;
	assert_int_equal(rd_kafka_mock_topic_create(cluster, "odd", 1, 1), 0);
	append_odd_records("odd");
	assert_int_equal(lg_ledger_new(1, &ledger, NULL), 0);
	lg_ledger_open(ledger, 0);
	lg_ledger_settle(ledger, 0, lg_ledger_open(ledger, 0), LG_ACKED);
	assert_int_equal(lg_reader_new(&opts, ledger_of, ledger, &reader, NULL), 0);
	assert_int_equal(lg_reader_add(reader, "odd", 1, NULL), 0);
	assert_int_equal(lg_reader_start(reader, NULL), 0);
	lg_reader_set_target(reader, "odd", 0, 5);
	assert_true(lg_reader_wait(reader, 10000, false));
	lg_reader_stop(reader);
	at = lg_reader_at(reader, 0);
	assert_int_equal(at->records, 5);
	assert_int_equal(at->bytes, 405);
	assert_int_equal(at->foreign, 2);
	assert_int_equal(at->corrupt, 2);
	assert_string_equal(at->damage,
			    "offset 1: the bytes differ from what was sent (100 bytes, wrong from byte 80)");
	assert_int_equal(lg_reader_latency(reader)->total, 1);
	lg_ledger_tally(ledger, 0, true, &tally);
	assert_int_equal(tally.seen, 1);
	assert_int_equal(tally.corrupt, 2);
	assert_int_equal(tally.lost, 0);
	lg_reader_free(reader);
	lg_ledger_free(ledger);
}

static void test_the_reader_gives_up(void **state)
{
	struct lg_plan plan = {.bootstrap = rd_kafka_mock_cluster_bootstraps(cluster)};
	struct lg_reader_opts opts = {.plan = &plan};
	struct lg_reader *reader;

	(void)state;
	assert_int_equal(lg_reader_new(&opts, NULL, NULL, &reader, NULL), 0);
	assert_int_equal(lg_reader_add(reader, "t", 1, NULL), 0);
	/* an offset that is not there: the reader must not skip to another one in silence */
	lg_reader_set_begin(reader, "t", 0, 1000000);
	lg_reader_set_target(reader, "t", 0, 1000001);
	assert_int_equal(lg_reader_start(reader, NULL), 0);
	assert_false(lg_reader_wait(reader, 5000, false));
	lg_reader_stop(reader);
	assert_string_not_equal(lg_reader_at(reader, 0)->trouble, "");
	lg_reader_free(reader);
}

/* ---- results ---- */

static void test_the_result_holds_all_numbers(void **state)
{
	struct lg_phase phase;
	struct lg_plan plan;
	struct lg_run run;
	json_t *result, *first;

	(void)state;
	plan_for(&plan, &phase, 9);
	assert_int_equal(lg_run(&run, &plan, &(struct lg_run_opts){0}, &(struct kt_err){0}), 0);
	result = lg_result_json(&run);
	assert_non_null(result);
	first = json_array_get(json_object_get(result, "phases"), 0);
	assert_int_equal(json_integer_value(json_object_get(json_object_get(first, "records"), "acked")), 9);
	assert_int_equal(json_integer_value(json_object_get(json_object_get(first, "total"), "lost")), 0);
	assert_int_equal(json_array_size(json_object_get(first, "partitions")), 3);
	assert_int_equal(json_integer_value(json_object_get(
		json_object_get(json_object_get(first, "latencyNs"), "response"), "count")), 9);
	assert_true(json_is_true(json_object_get(json_object_get(result, "reader"), "complete")));
	assert_int_equal(json_integer_value(json_object_get(result, "exit")), 0);
	json_decref(result);
	lg_run_fini(&run);
	lg_plan_fini(&plan);
}

static void test_errors_before_the_first_record(void **state)
{
	struct kt_err err = {0};
	struct lg_phase phase;
	struct lg_plan plan;
	struct lg_run run;

	(void)state;
	plan_for(&plan, &phase, 1);
	plan.properties = (struct lg_properties){1, (struct lg_property[]){{"no.such", "x"}}};
	assert_int_equal(lg_run(&run, &plan, &(struct lg_run_opts){0}, &err), KT_EUSAGE);
	assert_string_equal(err.text, "librdkafka: No such configuration property: \"no.such\"");
	lg_run_fini(&run);
	/* the mock cluster does not speak what the engine wire needs */
	plan.properties.n = 0;
	phase.properties.n = 0;
	phase.engine = LG_WIRE;
	assert_int_equal(lg_run(&run, &plan, &(struct lg_run_opts){0}, &err), 0);
	assert_int_not_equal(run.phases[0].err.code, 0);
	assert_non_null(strstr(run.doubt, "phase p ended early: "));
	assert_int_equal(lg_run_exit(&run), KT_EXIT_INCOMPLETE);
	lg_run_fini(&run);
	lg_plan_fini(&plan);
}

static void test_limits_are_told(void **state)
{
	struct lg_phase phase;
	struct lg_plan plan;
	struct lg_load load;
	char text[400];

	(void)state;
	plan_for(&plan, &phase, 1);
	phase.rate.from = phase.rate.to = 100;
	assert_int_equal(lg_load_init(&load, &plan, 0, 1, 1, NULL), 0);
	lg_meter_sent(&load.meter, 0, 9 * INT64_C(1000000));
	assert_string_equal(lg_limit_text(&load, text, sizeof text), "");
	kh_record_n(&load.meter.total[LG_LAG], 20 * INT64_C(1000000), 10);
	assert_non_null(strstr(lg_limit_text(&load, text, sizeof text), "the generator was the limit"));
	load.counters.held = 3;
	assert_non_null(strstr(lg_limit_text(&load, text, sizeof text), "no room for 3 when they were due"));
	phase.rate.from = phase.rate.to = 0;
	assert_non_null(strstr(lg_limit_text(&load, text, sizeof text), "no rate was set"));
	lg_load_fini(&load);
	lg_plan_fini(&plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_run_accounts_for_every_record),
		cmocka_unit_test(test_what_was_there_before_is_not_read),
		cmocka_unit_test(test_an_unexpected_refusal_is_a_violation),
		cmocka_unit_test(test_a_due_refusal_takes_its_batch_along),
		cmocka_unit_test(test_an_illegal_record_that_is_accepted),
		cmocka_unit_test(test_the_view_of_librdkafka),
		cmocka_unit_test(test_a_lost_record_is_a_violation),
		cmocka_unit_test(test_the_reader_tells_records_apart),
		cmocka_unit_test(test_the_reader_gives_up),
		cmocka_unit_test(test_the_result_holds_all_numbers),
		cmocka_unit_test(test_errors_before_the_first_record),
		cmocka_unit_test(test_limits_are_told),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
