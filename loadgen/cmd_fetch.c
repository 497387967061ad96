#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/text/file.h"
#include "lib/text/number.h"
#include "lib/text/opt.h"
#include "loadgen/clock.h"
#include "loadgen/cluster.h"
#include "loadgen/commands.h"
#include "loadgen/report.h"
#include "loadgen/wire_fetch.h"

#define IDLE_MS 10000

static struct lg_plan plan;

static struct {
	const char *topic, *out, *from;
	int engine, in_flight;
	double rate, duration;
	int64_t count;
	struct kt_list properties;
} given = {.from = "earliest", .in_flight = LG_PHASE_IN_FLIGHT};

static const struct kt_opt options[] = {
	KT_GROUP("Target"),
	KT_STR('b', "bootstrap-server", "HOST:PORT", &plan.bootstrap, "brokers to ask first, separated by commas"),
	KT_STR('t', "topic", "NAME", &given.topic, "topic to read"),
	KT_STR(0, "from", "WHERE", &given.from, "earliest (default), latest, or an offset in each partition"),
	KT_GROUP("Load"),
	KT_CHOICE('e', "engine", "NAME", &given.engine, lg_engine_names,
		  "rdkafka: a real client's consumer (default); wire: single Fetch requests that do not wait for data"),
	KT_REAL('r', "rate", "R", &given.rate, 0.001, 1e8,
		"rdkafka: records per second at most; wire: requests per second"),
	KT_REAL('d', "duration", "S", &given.duration, 0.001, 1e6,
		"seconds; without it the engine rdkafka reads up to where the partitions end now"),
	KT_INT64('n', "records", "N", &given.count, 1, INT64_C(1) << 40,
		 "rdkafka: stop after so many records, if there are as many; wire: after so many requests"),
	KT_INT(0, "in-flight", "N", &given.in_flight, 1, 10000, "wire: requests without an answer per connection (32)"),
	KT_LIST('X', "property", "NAME=VALUE", &given.properties,
		"property of librdkafka; may be repeated. security.protocol and sasl.* hold for the kit's own "
		"requests, too"),
	KT_GROUP("Output"),
	KT_STR('o', "out", "DIR", &given.out, "write result.json to this directory"),
	KT_END
};

static const struct kt_cli cli = {
	.program = "loadgen fetch",
	.about = "Reads a topic and checks every record that the load generator wrote: its checksum, its body, and "
		 "that it lies where it was sent.\n\n"
		 "The engine rdkafka reads without a group, as fast as it can or at most at a rate; its latency is "
		 "counted from the intended time in the record, so it means something only on the machine that "
		 "produced. The engine wire sends Fetch requests at a set rate and counts their latencies from the "
		 "intended times, those of empty answers apart.",
	.options = options,
	.examples = "loadgen fetch -b 127.0.0.1:9092 -t t\n"
		    "loadgen fetch -b 127.0.0.1:9092 -t t --from latest --duration 30\n"
		    "loadgen fetch -b 127.0.0.1:9092 -t t -e wire --rate 500 --duration 10",
	.exits = {"no record is corrupt", "a record is corrupt, or an answer was an error", "wrong usage or directory",
		  "the target cannot be reached",
		  "stopped, a partition could not be read to its end, or not every request could be sent"},
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

/* Begin and end of each partition: where to read. *ranges is the caller's to free. */
static int find_ranges(rd_kafka_t *rk, struct lg_range **ranges, int32_t *n, struct kt_err *err)
{
	int rc = lg_cluster_partitions(rk, given.topic, n, err);

	*ranges = NULL;
	if (rc)
		return rc;
	*ranges = calloc((size_t)*n, sizeof **ranges);
	if (!*ranges)
		return kt_fail(err, KT_ENOMEM, "no memory for %d partitions", (int)*n);
	rc = lg_cluster_ranges(rk, given.topic, *n, *ranges, err);
	for (int32_t p = 0; p < *n && rc == 0; p++)
		rc = begin_of(&(*ranges)[p], &(*ranges)[p].begin, err);
	return rc;
}

static int add_partitions(struct lg_reader *reader, const struct lg_range *ranges, int32_t n, struct kt_err *err)
{
	int rc = lg_reader_add(reader, given.topic, n, err);

	for (int32_t p = 0; p < n && rc == 0; p++) {
		lg_reader_set_begin(reader, given.topic, p, ranges[p].begin);
		if (given.duration == 0)
			lg_reader_set_target(reader, given.topic, p, ranges[p].end);
	}
	return rc;
}

/* ---- reading ---- */

static bool enough(const struct lg_reader *reader)
{
	return given.count > 0 && lg_reader_records(reader) >= given.count;
}

/* True when all that was asked for has been read. */
static bool read_all(struct lg_reader *reader, int64_t start)
{
	int64_t end = start + (int64_t)(given.duration * 1e9);

	if (given.duration == 0)
		return lg_reader_wait(reader, IDLE_MS, true);
	while (!lg_stopped() && !enough(reader) && lg_now() < end)
		lg_pause(10 * LG_MS);
	return !lg_stopped();
}

struct totals {
	int64_t records, bytes, foreign, corrupt;
	const char *trouble;
	bool out_of_range;
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
		totals.out_of_range = totals.out_of_range || at->out_of_range;
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

static int write_result(json_t *result, struct kt_err *err)
{
	int rc = given.out ? lg_result_write(result, given.out, err) : 0;

	json_decref(result);
	return rc;
}

static int fetch(struct lg_reader *reader, const struct lg_range *ranges, int32_t n, struct kt_err *err)
{
	struct totals totals;
	int64_t start;
	bool complete;
	double seconds;

	if (add_partitions(reader, ranges, n, err) || lg_reader_start(reader, err))
		return lg_exit_of(err);
	start = lg_now();
	complete = read_all(reader, start);
	seconds = (double)(lg_now() - start) / 1e9;
	lg_reader_stop(reader);
	totals = sum_up(reader);
	report(reader, &totals, seconds);
	complete = complete && !totals.trouble;
	if (write_result(lg_fetch_json(reader, plan.bootstrap, seconds, complete), err))
		return KT_EXIT_USAGE;
	if (totals.corrupt > 0 || totals.out_of_range)
		return KT_EXIT_VERDICT;
	return complete ? KT_EXIT_OK : KT_EXIT_INCOMPLETE;
}

static int run_rdkafka(const struct lg_range *ranges, int32_t n, struct kt_err *err)
{
	struct lg_reader_opts opts = {.plan = &plan, .rate = given.rate, .most = given.count};
	struct lg_reader *reader = NULL;
	int status;

	if (lg_reader_new(&opts, NULL, NULL, &reader, err))
		status = lg_exit_of(err);
	else
		status = fetch(reader, ranges, n, err);
	lg_reader_free(reader);
	return status;
}

/* ---- the engine wire ---- */

static void report_wire(const struct lg_fetch_stats *stats)
{
	double seconds = stats->last > stats->started ? (double)(stats->last - stats->started) / 1e9 : 0;

	printf("sent %" PRId64 " requests in %.2f s: %" PRId64 " answers with records, %" PRId64 " without, %" PRId64
	       " unanswered\n",
	       stats->requests, seconds, stats->with_records, stats->without_records, stats->unanswered);
	printf("  read %" PRId64 " records, %.3f MB/s of batches; intact %" PRId64 ", corrupt %" PRId64
	       ", of others %" PRId64 "\n",
	       stats->records, seconds > 0 ? (double)stats->bytes / seconds / 1e6 : 0, stats->intact, stats->corrupt,
	       stats->foreign);
	lg_report_latencies(&stats->meter, stdout);
	if (stats->not_sent > 0)
		printf("  not sent %" PRId64 ", which are in none of these: %s\n", stats->not_sent,
		       stats->not_sent_why);
	if (stats->empty.total > 0)
		printf("  response time of empty answers, ms: p50 %.3f, p99 %.3f, max %.3f\n",
		       (double)kh_percentile(&stats->empty, 50) / 1e6, (double)kh_percentile(&stats->empty, 99) / 1e6,
		       (double)kh_max(&stats->empty) / 1e6);
	for (int i = 0; i < stats->outcomes.n; i++) {
		const struct lg_outcome *outcome = &stats->outcomes.v[i];

		printf("  %" PRId64 " times %s (%d)%s%s\n", outcome->count, lg_code_name(outcome->code), outcome->code,
		       outcome->text[0] ? ": " : "", outcome->text);
	}
	if (stats->damage[0])
		printf("  first corrupt: %s\n", stats->damage);
	if (stats->held > 0)
		printf("  note: %" PRId64 " requests had to wait for room on their connection\n", stats->held);
}

static int run_wire(const struct lg_range *ranges, int32_t n, struct kt_err *err)
{
	struct lg_fetch_opts opts = {
		.bootstrap = plan.bootstrap, .login = &plan.login, .topic = given.topic, .npartitions = n,
		.rate = {given.rate, given.rate, given.duration, given.count, false}, .seed = plan.seed,
		.in_flight = given.in_flight, .max_bytes = 1 << 20,
	};
	int64_t *begins = calloc((size_t)n, sizeof *begins);
	struct lg_fetch_stats stats;
	int status = KT_EXIT_OK;

	for (int32_t p = 0; begins && p < n; p++)
		begins[p] = ranges[p].begin;
	opts.begins = begins;
	if (!begins)
		kt_fail(err, KT_ENOMEM, "no memory for %d partitions", (int)n);
	if (lg_fetch_stats_init(&stats, err) || !begins || lg_wire_fetch(&opts, &stats, err)) {
		status = lg_exit_of(err);
	} else {
		report_wire(&stats);
		if (write_result(lg_wire_fetch_json(&stats, plan.bootstrap), err))
			status = KT_EXIT_USAGE;
		else if (stats.corrupt + stats.outcomes.unexpected > 0)
			status = KT_EXIT_VERDICT;
		else if (lg_stopped() || stats.not_sent > 0)
			status = KT_EXIT_INCOMPLETE;
	}
	lg_fetch_stats_fini(&stats);
	free(begins);
	return status;
}

/* ---- the command ---- */

static int check(struct kt_err *err)
{
	if (!plan.bootstrap || !given.topic)
		return kt_fail(err, KT_EUSAGE, "--%s is missing", plan.bootstrap ? "topic" : "bootstrap-server");
	if (given.engine == LG_WIRE && given.duration == 0 && given.count == 0)
		return kt_fail(err, KT_EUSAGE, "the engine wire needs --duration or --records to end");
	if (given.out && kt_file_make_dir(given.out, err))
		return err->code;
	return lg_properties_cut(&plan.arena, given.properties.v, given.properties.n, &plan.properties, err);
}

static int run(struct kt_err *err)
{
	struct lg_range *ranges = NULL;
	rd_kafka_t *rk = NULL;
	int32_t n;
	int status;

	if (check(err))
		return KT_EXIT_USAGE;
	if (lg_cluster_open(&plan, &rk, err) || find_ranges(rk, &ranges, &n, err))
		status = lg_exit_of(err);
	else
		status = given.engine == LG_WIRE ? run_wire(ranges, n, err) : run_rdkafka(ranges, n, err);
	free(ranges);
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
