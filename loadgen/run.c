#include "loadgen/run.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/text/opt.h"
#include "loadgen/clock.h"
#include "loadgen/cluster.h"
#include "loadgen/ticker.h"

/* The reader gives up when it reads nothing for so long although there is something left. */
#define READER_IDLE_MS 10000
#define STOPPED_IDLE_MS 2000

/* ---- topics ---- */

static void list_topics(struct lg_run *run)
{
	for (int i = 0; i < run->plan->nphases; i++) {
		const char *name = run->plan->phases[i].topic;
		int t = 0;

		while (t < run->ntopics && strcmp(run->topics[t].name, name) != 0)
			t++;
		if (t == run->ntopics)
			run->topics[run->ntopics++].name = name;
	}
}

/* What a user whose topic is missing can do. */
static void add_hint(struct kt_err *err)
{
	size_t n = strlen(err->text);

	snprintf(err->text + n, sizeof err->text - n, "; to create it give --partitions N, or name it under \"topics\" "
		 "in the scenario");
}

static int look_at_topic(struct lg_run_topic *topic, rd_kafka_t *rk, struct kt_err *err)
{
	int rc = lg_cluster_partitions(rk, topic->name, &topic->npartitions, err);

	if (rc == KT_EUNKNOWN)
		add_hint(err);
	if (rc)
		return rc;
	topic->before = calloc((size_t)topic->npartitions, sizeof *topic->before);
	if (!topic->before)
		return kt_fail(err, KT_ENOMEM, "no memory for %d partitions", (int)topic->npartitions);
	return lg_cluster_ranges(rk, topic->name, topic->npartitions, topic->before, err);
}

static int prepare_topics(struct lg_run *run, rd_kafka_t *rk, struct kt_err *err)
{
	int rc = 0;

	run->topics = calloc((size_t)run->plan->nphases, sizeof *run->topics);
	if (!run->topics)
		return kt_fail(err, KT_ENOMEM, "no memory");
	list_topics(run);
	for (int i = 0; i < run->plan->ntopics && rc == 0; i++)
		rc = lg_cluster_create(rk, &run->plan->topics[i], err);
	for (int t = 0; t < run->ntopics && rc == 0; t++)
		rc = look_at_topic(&run->topics[t], rk, err);
	return rc;
}

static const struct lg_run_topic *topic_of(const struct lg_run *run, const char *name)
{
	int t = 0;

	while (strcmp(run->topics[t].name, name) != 0)
		t++;
	return &run->topics[t];
}

static int prepare_phases(struct lg_run *run, struct kt_err *err)
{
	int rc = 0;

	run->phases = calloc((size_t)run->plan->nphases, sizeof *run->phases);
	if (!run->phases)
		return kt_fail(err, KT_ENOMEM, "no memory");
	for (int i = 0; i < run->plan->nphases && rc == 0; i++) {
		const struct lg_run_topic *topic = topic_of(run, run->plan->phases[i].topic);

		run->phases[i].made = true;
		rc = lg_load_init(&run->phases[i].load, run->plan, (uint32_t)i, run->id, topic->npartitions, err);
	}
	return rc;
}

/* ---- reader ---- */

static struct lg_ledger *ledger_of(void *arg, uint32_t producer, uint32_t topic)
{
	const struct lg_run *run = arg;

	if (producer >= (uint32_t)run->plan->nphases || lg_topic_id(run->plan->phases[producer].topic) != topic)
		return NULL;
	return run->phases[producer].load.ledger;
}

/* Only what the run itself appends is of interest. */
static int add_to_reader(struct lg_reader *reader, const struct lg_run_topic *topic, struct kt_err *err)
{
	int rc = lg_reader_add(reader, topic->name, topic->npartitions, err);

	for (int32_t p = 0; p < topic->npartitions && rc == 0; p++)
		lg_reader_set_begin(reader, topic->name, p, topic->before[p].end);
	return rc;
}

static int start_reader(struct lg_run *run, struct kt_err *err)
{
	struct lg_reader_opts opts = {.plan = run->plan, .run = run->id};
	int rc;

	if (!run->plan->verify)
		return 0;
	rc = lg_reader_new(&opts, ledger_of, run, &run->reader, err);
	for (int t = 0; t < run->ntopics && rc == 0; t++)
		rc = add_to_reader(run->reader, &run->topics[t], err);
	return rc ? rc : lg_reader_start(run->reader, err);
}

static void doubt(struct lg_run *run, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void doubt(struct lg_run *run, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (!run->doubt[0])
		vsnprintf(run->doubt, sizeof run->doubt, fmt, ap);
	va_end(ap);
}

static int set_targets(struct lg_run *run, rd_kafka_t *rk, struct kt_err *err)
{
	int rc = 0;

	for (int t = 0; t < run->ntopics && rc == 0; t++) {
		const struct lg_run_topic *topic = &run->topics[t];
		struct lg_range *now = calloc((size_t)topic->npartitions, sizeof *now);

		if (!now)
			return kt_fail(err, KT_ENOMEM, "no memory for %d partitions", (int)topic->npartitions);
		rc = lg_cluster_ranges(rk, topic->name, topic->npartitions, now, err);
		for (int32_t p = 0; p < topic->npartitions && rc == 0; p++)
			lg_reader_set_target(run->reader, topic->name, p, now[p].end);
		free(now);
	}
	return rc;
}

/* Why a reader that did not come to the end stopped. */
static void doubt_reader(struct lg_run *run)
{
	for (size_t i = 0; i < lg_reader_count(run->reader); i++) {
		const struct lg_reader_partition *at = lg_reader_at(run->reader, i);

		if (at->trouble[0])
			doubt(run, "verification is incomplete: %s-%d cannot be read on from offset %lld: %s",
			      at->topic, (int)at->partition, (long long)at->position, at->trouble);
		else if (!at->finished)
			doubt(run, "verification is incomplete: %s-%d was read to offset %lld of %lld", at->topic,
			      (int)at->partition, (long long)at->position, (long long)at->target);
	}
}

static void finish_reader(struct lg_run *run, rd_kafka_t *rk)
{
	struct kt_err err = {0};

	if (!run->reader)
		return;
	if (set_targets(run, rk, &err))
		doubt(run, "verification is incomplete: %s", err.text);
	else
		run->verified = lg_reader_wait(run->reader, run->stopped ? STOPPED_IDLE_MS : READER_IDLE_MS,
					       !run->stopped);
	lg_reader_stop(run->reader);
	if (!run->verified && !run->stopped && lg_stopped())
		doubt(run, "the verification was stopped");
	if (!run->verified)
		doubt_reader(run);
}

/* ---- phases ---- */

/* Where no line is drawn again and again, one for each phase has to do. */
static void tell_begin(const struct lg_run *run)
{
	fprintf(stderr, "loadgen: %d phase%s against %s\n", run->plan->nphases, run->plan->nphases == 1 ? "" : "s",
		run->plan->bootstrap);
}

static void tell_end(const struct lg_run *run, int i)
{
	const struct lg_load *load = &run->phases[i].load;
	const struct lg_counters *counters = &load->counters;

	fprintf(stderr, "loadgen: phase %s ended at %.1f s: sent %lld, acked %lld, refused %lld, failed %lld\n",
		load->phase->name, (double)(lg_now() - run->start) / 1e9, (long long)counters->sent,
		(long long)counters->acked, (long long)(counters->refused + counters->refused_with_batch),
		(long long)counters->failed);
}

static void run_phase(struct lg_run *run, int i, const struct lg_run_opts *opts)
{
	struct lg_run_phase *phase = &run->phases[i];
	struct lg_ticker *ticker;

	if (lg_ticker_start(&phase->load, opts->out, opts->progress, &ticker, &phase->err)) {
		doubt(run, "phase %s did not begin: %s", phase->load.phase->name, phase->err.text);
		return;
	}
	if (phase->load.phase->engine == LG_WIRE)
		lg_wire_run(&phase->load, &phase->err);
	else
		lg_rdkafka_run(&phase->load, &phase->err);
	lg_ticker_stop(ticker, &phase->err);
	if (!opts->progress && opts->tell_phases)
		tell_end(run, i);
	if (phase->load.phase->show_rdkafka_view && phase->err.code == 0 && !lg_stopped()) {
		phase->nviews = phase->load.phase->illegal.n;
		lg_rdkafka_view(&phase->load, phase->views, &phase->err);
	}
	if (phase->err.code)
		doubt(run, "phase %s ended early: %s", phase->load.phase->name, phase->err.text);
}

static int run_phases(struct lg_run *run, const struct lg_run_opts *opts, struct kt_err *err)
{
	int rc;

	run->start = lg_now();
	rc = lg_steps_start(run->plan, run->start, opts->tell_steps ? stdout : NULL, &run->steps, err);
	if (rc)
		return rc;
	if (!opts->progress && opts->tell_phases)
		tell_begin(run);
	for (int i = 0; i < run->plan->nphases && !lg_stopped(); i++)
		run_phase(run, i, opts);
	lg_steps_join(run->steps);
	run->stopped = lg_stopped();
	if (run->stopped)
		doubt(run, "the run was stopped");
	return 0;
}

int lg_run(struct lg_run *run, struct lg_plan *plan, const struct lg_run_opts *opts, struct kt_err *err)
{
	uint64_t seed = (uint64_t)lg_wall();
	int64_t begin = lg_now();
	rd_kafka_t *rk = NULL;
	int rc;

	memset(run, 0, sizeof *run);
	run->plan = plan;
	run->id = lg_mix(seed, plan->seed, 0) | 1;
	run->began_ms = lg_wall() / LG_MS;
	rc = lg_cluster_open(plan, &rk, err);
	if (rc == 0)
		rc = prepare_topics(run, rk, err);
	if (rc == 0)
		rc = prepare_phases(run, err);
	if (rc == 0)
		rc = start_reader(run, err);
	if (rc == 0)
		rc = run_phases(run, opts, err);
	if (rc == 0)
		finish_reader(run, rk);
	run->seconds = (double)(lg_now() - begin) / 1e9;
	if (rk)
		rd_kafka_destroy(rk);
	return rc;
}

void lg_run_fini(struct lg_run *run)
{
	lg_steps_free(run->steps);
	lg_reader_free(run->reader);
	for (int i = 0; run->phases && i < run->plan->nphases; i++)
		if (run->phases[i].made)
			lg_load_fini(&run->phases[i].load);
	for (int t = 0; t < run->ntopics; t++)
		free(run->topics[t].before);
	free(run->phases);
	free(run->topics);
}

/* ---- judgement ---- */

void lg_run_tally(const struct lg_run *run, int phase, int32_t partition, struct lg_tally *tally)
{
	struct lg_ledger *ledger = run->phases[phase].load.ledger;

	if (partition >= 0) {
		lg_ledger_tally(ledger, partition, run->verified, tally);
		return;
	}
	memset(tally, 0, sizeof *tally);
	for (int32_t p = 0; p < lg_ledger_partitions(ledger); p++) {
		struct lg_tally part;

		lg_ledger_tally(ledger, p, run->verified, &part);
		lg_tally_add(tally, &part);
	}
}

int64_t lg_run_violations(const struct lg_run *run)
{
	int64_t n = 0;

	for (int i = 0; i < run->plan->nphases; i++) {
		struct lg_load *load = &run->phases[i].load;
		struct lg_tally tally;

		lg_run_tally(run, i, -1, &tally);
		n += load->outcomes.unexpected + lg_tally_violations(&tally, &load->guarantee);
	}
	for (size_t i = 0; run->reader && i < lg_reader_count(run->reader); i++)
		n += lg_reader_at(run->reader, i)->stray;
	for (int i = 0; run->steps && i < run->plan->nsteps; i++) {
		const struct lg_step_result *result = lg_steps_result(run->steps, i);

		n += !result->ok && (result->done || !run->stopped);
	}
	return n;
}

int lg_run_exit(const struct lg_run *run)
{
	if (lg_run_violations(run) > 0)
		return KT_EXIT_VERDICT;
	return run->doubt[0] ? KT_EXIT_INCOMPLETE : KT_EXIT_OK;
}
