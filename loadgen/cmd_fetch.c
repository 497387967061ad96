#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/text/number.h"
#include "lib/text/opt.h"
#include "loadgen/clock.h"
#include "loadgen/cluster.h"
#include "loadgen/commands.h"
#include "loadgen/report.h"

#define IDLE_MS 10000

static struct lg_plan plan;

static struct {
	const char *topic, *out, *from;
	double rate, duration;
	int64_t records;
	struct kt_list properties;
} given = {.from = "earliest"};

static const struct kt_opt options[] = {
	KT_GROUP("Target"),
	KT_STR('b', "bootstrap-server", "HOST:PORT", &plan.bootstrap, "brokers to ask first, separated by commas"),
	KT_STR('t', "topic", "NAME", &given.topic, "topic to read"),
	KT_STR(0, "from", "WHERE", &given.from, "earliest (default), latest, or an offset in each partition"),
	KT_GROUP("Load"),
	KT_REAL('r', "rate", "R", &given.rate, 0.001, 1e8, "records per second at most"),
	KT_REAL('d', "duration", "S", &given.duration, 0.001, 1e6,
		"read on for so many seconds; without it, up to where the partitions end now"),
	KT_INT64('n', "records", "N", &given.records, 1, INT64_C(1) << 40, "stop after so many records"),
	KT_LIST('X', "property", "NAME=VALUE", &given.properties, "property of librdkafka; may be repeated"),
	KT_GROUP("Output"),
	KT_STR('o', "out", "DIR", &given.out, "write result.json to this directory"),
	KT_END
};

static const struct kt_cli cli = {
	.program = "loadgen fetch",
	.about = "Reads a topic with librdkafka's consumer, without a group, and checks every record that the load generator "
		 "wrote: its checksum, its body, and that it lies where it was sent. Latency is counted from the intended time "
		 "in the record, so it means something only on the machine that produced.",
	.options = options,
	.examples = "loadgen fetch -b 127.0.0.1:9092 -t t\n"
		    "loadgen fetch -b 127.0.0.1:9092 -t t --from latest --duration 30",
	.exits = {"no record is corrupt", "a record is corrupt", "wrong usage or directory", "the target cannot be reached",
		  "stopped, or a partition could not be read to its end"},
};

/* ---- where to begin and to end ---- */

static int begin_of(const struct lg_range *range, int64_t *begin, struct kt_err *err)
{
	if (strcmp(given.from, "earliest") == 0)
		*begin = range->begin;
	else if (strcmp(given.from, "latest") == 0)
		*begin = range->end;
	else if (kt_parse_int(given.from, 0, INT64_MAX, begin, NULL))
		return kt_fail(err, KT_EUSAGE, "--from must be earliest, latest or an offset, not \"%s\"", given.from);
	return 0;
}

static int add_partitions(rd_kafka_t *rk, struct lg_reader *reader, struct kt_err *err)
{
	struct lg_range *ranges;
	int32_t n;
	int rc = lg_cluster_partitions(rk, given.topic, &n, err);

	if (rc)
		return rc;
	ranges = calloc((size_t)n, sizeof *ranges);
	if (!ranges)
		return kt_fail(err, KT_ENOMEM, "no memory for %d partitions", (int)n);
	rc = lg_cluster_ranges(rk, given.topic, n, ranges, err);
	if (rc == 0)
		rc = lg_reader_add(reader, given.topic, n, err);
	for (int32_t p = 0; p < n && rc == 0; p++) {
		int64_t begin = 0;

		rc = begin_of(&ranges[p], &begin, err);
		lg_reader_set_begin(reader, given.topic, p, begin);
		if (given.duration == 0)
			lg_reader_set_target(reader, given.topic, p, ranges[p].end);
	}
	free(ranges);
	return rc;
}

/* ---- reading ---- */

static bool enough(const struct lg_reader *reader)
{
	return given.records > 0 && lg_reader_records(reader) >= given.records;
}

/* True when all that was asked for has been read. */
static bool read_all(struct lg_reader *reader, int64_t start)
{
	int64_t end = given.duration > 0 ? start + (int64_t)(given.duration * 1e9) : INT64_MAX;
	bool done = false;

	while (!lg_stopped() && !enough(reader) && lg_now() < end && !done) {
		if (given.duration > 0)
			lg_pause(10 * LG_MS);
		else if (!lg_reader_wait(reader, given.records > 0 ? 10 : IDLE_MS, true) && given.records == 0)
			return false;
		else
			done = given.records == 0;
	}
	return !lg_stopped();
}

struct totals {
	int64_t records, bytes, foreign, corrupt;
	const char *trouble;
};

static struct totals sum_up(const struct lg_reader *reader)
{
	struct totals totals = {0};

	for (size_t i = 0; i < lg_reader_count(reader); i++) {
		const struct lg_reader_partition *at = lg_reader_at(reader, i);

		totals.records += at->records;
		totals.bytes += at->bytes;
		totals.foreign += at->foreign;
		totals.corrupt += at->corrupt;
		if (at->trouble[0])
			totals.trouble = at->trouble;
	}
	return totals;
}

static void report(const struct lg_reader *reader, const struct totals *totals, double seconds)
{
	const struct kh_hist *latency = lg_reader_latency(reader);

	printf("read %" PRId64 " records, %" PRId64 " bytes in %.2f s: %.1f records/s, %.3f MB/s\n", totals->records,
	       totals->bytes, seconds, (double)totals->records / seconds, (double)totals->bytes / seconds / 1e6);
	printf("  intact %" PRId64 ", corrupt %" PRId64 ", of others %" PRId64 "\n",
	       totals->records - totals->corrupt - totals->foreign, totals->corrupt, totals->foreign);
	if (latency->total > 0)
		printf("  from intended time to reading, ms: p50 %.3f, p90 %.3f, p99 %.3f, p99.9 %.3f, max %.3f\n",
		       (double)kh_percentile(latency, 50) / 1e6, (double)kh_percentile(latency, 90) / 1e6,
		       (double)kh_percentile(latency, 99) / 1e6, (double)kh_percentile(latency, 99.9) / 1e6,
		       (double)kh_max(latency) / 1e6);
	for (size_t i = 0; i < lg_reader_count(reader); i++) {
		const struct lg_reader_partition *at = lg_reader_at(reader, i);

		if (at->damage[0])
			printf("  corrupt in %s-%d: %s\n", at->topic, (int)at->partition, at->damage);
		if (at->trouble[0])
			printf("  %s-%d: %s\n", at->topic, (int)at->partition, at->trouble);
	}
}

static int write_result(const struct lg_reader *reader, double seconds, bool complete, struct kt_err *err)
{
	json_t *result;
	int rc;

	if (!given.out)
		return 0;
	result = lg_fetch_json(reader, plan.bootstrap, seconds, complete);
	rc = lg_result_write(result, given.out, err);
	json_decref(result);
	return rc;
}

static int fetch(rd_kafka_t *rk, struct lg_reader *reader, struct kt_err *err)
{
	struct totals totals;
	int64_t start;
	bool complete;
	double seconds;

	if (add_partitions(rk, reader, err) || lg_reader_start(reader, err))
		return lg_exit_of(err);
	start = lg_now();
	complete = read_all(reader, start);
	seconds = (double)(lg_now() - start) / 1e9;
	lg_reader_stop(reader);
	totals = sum_up(reader);
	report(reader, &totals, seconds);
	complete = complete && !totals.trouble;
	if (write_result(reader, seconds, complete, err))
		return KT_EXIT_USAGE;
	if (totals.corrupt > 0)
		return KT_EXIT_VERDICT;
	return complete ? KT_EXIT_OK : KT_EXIT_INCOMPLETE;
}

static int run(struct kt_err *err)
{
	struct lg_reader_opts opts = {.plan = &plan, .rate = given.rate};
	struct lg_reader *reader = NULL;
	rd_kafka_t *rk = NULL;
	int status;

	if (!plan.bootstrap || !given.topic) {
		kt_fail(err, KT_EUSAGE, "--%s is missing", plan.bootstrap ? "topic" : "bootstrap-server");
		return KT_EXIT_USAGE;
	}
	if (lg_make_directory(given.out, err) ||
	    lg_properties_cut(&plan.arena, given.properties.v, given.properties.n, &plan.properties, err) ||
	    lg_cluster_open(&plan, &rk, err) || lg_reader_new(&opts, NULL, NULL, &reader, err))
		status = lg_exit_of(err);
	else
		status = fetch(rk, reader, err);
	lg_reader_free(reader);
	if (rk)
		rd_kafka_destroy(rk);
	return status;
}

int lg_cmd_fetch(int argc, char **argv)
{
	struct kt_err err = {0};
	int status;

	lg_plan_init(&plan);
	if (kt_cli_begin(&cli, &argc, argv, &status)) {
		status = run(&err);
		if (err.code)
			kt_complain(cli.program, &err);
	}
	kt_list_fini(&given.properties);
	lg_plan_fini(&plan);
	return status;
}
