#include "loadgen/report.h"

#include <inttypes.h>
#include <stdarg.h>

#include "lib/wire/errors.h"
#include "loadgen/clock.h"

static double per_second(int64_t n, int64_t from, int64_t to)
{
	return to > from ? (double)n / ((double)(to - from) / 1e9) : 0;
}

const char *lg_limit_text(const struct lg_load *load, char *buf, size_t size)
{
	int64_t lag = kh_percentile(&load->meter.total[LG_LAG], 99);

	buf[0] = '\0';
	if (load->phase->rate.from + load->phase->rate.to == 0)
		snprintf(buf, size, "no rate was set: the load was closed, so the schedule lag is 0 by definition and "
			 "the response time is the service time");
	else if (lag > LG_LAG_LIMIT && load->counters.held > 0)
		snprintf(buf, size, "the client's queue or connection had no room for %" PRId64 " when they were due, "
			 "and the schedule lag reached %.1f ms (p99): the broker, or the client's settings, take less "
			 "than this rate",
			 (int64_t)load->counters.held, (double)lag / 1e6);
	else if (lag > LG_LAG_LIMIT)
		snprintf(buf, size, "the generator was the limit: its own schedule lag reached %.1f ms (p99), so the "
			 "response times are not the broker's", (double)lag / 1e6);
	return buf;
}

/* ---- one phase ---- */

static void report_plan(const struct lg_load *load, FILE *out)
{
	const struct lg_phase *phase = load->phase;
	const struct lg_plan_rate *rate = &phase->rate;

	fprintf(out, "\nphase %s: topic %s (%d partition%s), engine %s, acks=%s, codec %s\n", phase->name, phase->topic,
		(int)load->npartitions, load->npartitions == 1 ? "" : "s", lg_engine_names[phase->engine],
		phase->acks < 0 ? "all" : phase->acks == 0 ? "0" : "1", kw_codec_name(phase->codec));
	fprintf(out, "  asked        ");
	if (rate->from + rate->to == 0)
		fprintf(out, "as fast as possible");
	else if (rate->from == rate->to)
		fprintf(out, "%g records/s", rate->from);
	else
		fprintf(out, "%g to %g records/s", rate->from, rate->to);
	if (rate->seconds > 0)
		fprintf(out, ", %g s", rate->seconds);
	if (rate->count > 0)
		fprintf(out, ", %" PRId64 " records", rate->count);
	fprintf(out, "%s\n", rate->poisson ? ", Poisson arrivals" : "");
}

static void report_counts(const struct lg_load *load, FILE *out)
{
	const struct lg_counters *counters = &load->counters;

	fprintf(out, "  sent         %-10" PRId64 " %.1f records/s, %.3f MB/s of values", (int64_t)counters->sent,
		per_second(counters->sent, load->started, load->last_sent),
		per_second(counters->bytes, load->started, load->last_sent) / 1e6);
	if (load->records_per_request > 0)
		fprintf(out, ", %.1f records per request", load->records_per_request);
	fprintf(out, "\n  acked        %-10" PRId64 " %.1f records/s\n", (int64_t)counters->acked,
		per_second(counters->acked, load->started, lg_load_end(load)));
	fprintf(out, "  refused      %-10" PRId64 " refused with batch %" PRId64 ", failed %" PRId64
		", unknown %" PRId64, (int64_t)counters->refused, (int64_t)counters->refused_with_batch,
		(int64_t)counters->failed, (int64_t)counters->unknown);
	if (counters->not_sent > 0)
		fprintf(out, ", not sent %" PRId64, (int64_t)counters->not_sent);
	fputc('\n', out);
}

/* "-" where nothing was measured. */
static void put_ms(const struct kh_hist *hist, int64_t ns, FILE *out)
{
	if (hist->total > 0)
		fprintf(out, "%10.3f", (double)ns / 1e6);
	else
		fprintf(out, "%10s", "-");
}

void lg_report_latencies(const struct lg_meter *meter, FILE *out)
{
	static const double percentiles[] = {50, 90, 99, 99.9};

	fprintf(out, "  %-16s%10s%10s%10s%10s%10s\n", "ms", "p50", "p90", "p99", "p99.9", "max");
	for (int i = 0; i < LG_NLATENCIES; i++) {
		const struct kh_hist *hist = &meter->total[i];

		fprintf(out, "  %-16s", lg_latency_text((enum lg_latency)i));
		for (size_t p = 0; p < sizeof percentiles / sizeof percentiles[0]; p++)
			put_ms(hist, kh_percentile(hist, percentiles[p]), out);
		put_ms(hist, kh_max(hist), out);
		fputc('\n', out);
	}
}

static void report_outcomes(const struct lg_load *load, FILE *out)
{
	if (load->outcomes.n > 0)
		fprintf(out, "  answers (in %s)\n", load->phase->engine == LG_WIRE ? "batches" : "records");
	for (int i = 0; i < load->outcomes.n; i++) {
		const struct lg_outcome *outcome = &load->outcomes.v[i];

		fprintf(out, "    %-18s %8" PRId64 "  %s (%d)%s\n", outcome->illegal ? outcome->illegal->name : "legal",
			outcome->count, lg_code_name(outcome->code), outcome->code,
			outcome->expected ? "" : "  UNEXPECTED");
		if (outcome->text[0])
			fprintf(out, "        %s\n", outcome->text);
	}
}

static void report_view(const struct lg_run_phase *phase, FILE *out)
{
	for (int i = 0; i < phase->nviews; i++) {
		const struct lg_view *view = &phase->views[i];

		if (!view->illegal)
			continue;
		fprintf(out, "  librdkafka's view of %s (%s)%s\n", view->illegal->name, view->illegal->what,
			view->made ? ", one batch of three records" : ": it never builds such a batch");
		for (int r = 0; r < LG_VIEW_RECORDS && view->made; r++)
			fprintf(out, "    %-8s %s (%d): %s\n", r == LG_VIEW_ILLEGAL ? "illegal" : "legal",
				lg_code_name(view->records[r].code), view->records[r].code, view->records[r].text);
	}
}

static void report_tally(const struct lg_run *run, int i, FILE *out)
{
	const struct lg_load *load = &run->phases[i].load;
	struct lg_tally tally;

	if (!run->reader)
		return;
	lg_run_tally(run, i, -1, &tally);
	fprintf(out, "  guarantee    %s\n", lg_guarantee_text(&load->guarantee));
	if (!run->verified) {
		fprintf(out, "  verified     no: %s\n", run->doubt);
		return;
	}
	fprintf(out, "  verified     read %" PRId64 ", lost %" PRId64 "%s, duplicated %" PRId64 "%s, reordered %" PRId64
		"%s, corrupt %" PRId64 "\n", tally.seen, tally.lost,
		tally.lost && !load->guarantee.kept ? " (allowed)" : "", tally.duplicated,
		tally.duplicated && !load->guarantee.once ? " (allowed)" : "", tally.reordered,
		tally.reordered && !load->guarantee.ordered ? " (allowed)" : "", tally.corrupt);
	fprintf(out, "               refused but present %" PRId64 ", unacknowledged but present %" PRId64 "\n",
		tally.refused_present, tally.unacked_present);
	if (tally.unsent_present > 0)
		fprintf(out, "               never sent but present %" PRId64 "\n", tally.unsent_present);
}

static void report_phase(const struct lg_run *run, int i, FILE *out)
{
	const struct lg_run_phase *phase = &run->phases[i];
	char limit[400];

	report_plan(&phase->load, out);
	if (!phase->load.started) {
		fprintf(out, "  not begun%s%s\n", phase->err.code ? ": " : "", phase->err.text);
		return;
	}
	report_counts(&phase->load, out);
	lg_report_latencies(&phase->load.meter, out);
	report_outcomes(&phase->load, out);
	report_view(phase, out);
	report_tally(run, i, out);
	if (phase->load.counters.not_sent > 0)
		fprintf(out, "  note: the records that were not sent are in no latency\n");
	if (lg_limit_text(&phase->load, limit, sizeof limit)[0])
		fprintf(out, "  note: %s\n", limit);
	if (phase->load.counters.events > 0)
		fprintf(out, "  note: the client reported %" PRId64 " disturbances, the last one: %s\n",
			(int64_t)phase->load.counters.events, phase->load.event);
	if (phase->err.code)
		fprintf(out, "  ended early: %s\n", phase->err.text);
}

/* ---- the run ---- */

static void report_reader(const struct lg_run *run, FILE *out)
{
	int64_t foreign = 0;

	if (!run->reader)
		return;
	for (size_t i = 0; i < lg_reader_count(run->reader); i++) {
		const struct lg_reader_partition *at = lg_reader_at(run->reader, i);

		foreign += at->foreign;
		if (at->damage[0])
			fprintf(out, "  corrupt in %s-%d: %s\n", at->topic, (int)at->partition, at->damage);
	}
	if (foreign > 0)
		fprintf(out, "  %" PRId64 " records of others were in the same partitions\n", foreign);
}

static void report_steps(const struct lg_run *run, FILE *out)
{
	int ok = 0;

	for (int i = 0; run->steps && i < run->plan->nsteps; i++)
		ok += lg_steps_result(run->steps, i)->ok;
	if (run->plan->nsteps > 0)
		fprintf(out, "\nsteps: %d of %d as expected\n", ok, run->plan->nsteps);
}

/* ---- violations, the first few ---- */

struct listing {
	FILE *out;
	int left;                 /* lines that may still be printed */
};

static void __attribute__((format(printf, 2, 3))) list(struct listing *listing, const char *fmt, ...)
{
	va_list ap;

	if (listing->left-- <= 0)
		return;
	fputs("  ", listing->out);
	va_start(ap, fmt);
	vfprintf(listing->out, fmt, ap);
	va_end(ap);
	fputc('\n', listing->out);
}

static void list_answers(struct listing *listing, const struct lg_load *load)
{
	for (int i = 0; i < load->outcomes.n; i++) {
		const struct lg_outcome *outcome = &load->outcomes.v[i];

		if (!outcome->expected)
			list(listing, "%s: %" PRId64 " %s %s%s: %s (%d)", load->phase->name, outcome->count,
			     outcome->illegal ? outcome->illegal->name : "legal",
			     load->phase->engine == LG_WIRE ? "batch" : "record",
			     outcome->count == 1 ? "" : load->phase->engine == LG_WIRE ? "es" : "s",
			     lg_code_name(outcome->code), outcome->code);
	}
}

static void list_records(struct listing *listing, const struct lg_load *load, const struct lg_tally *tally)
{
	const struct {
		const char *what;
		int64_t n;
		bool violation;
	} kinds[] = {
		{"lost", tally->lost, load->guarantee.kept},
		{"duplicated", tally->duplicated, load->guarantee.once},
		{"reordered", tally->reordered, load->guarantee.ordered},
		{"corrupt", tally->corrupt, true},
		{"refused but present", tally->refused_present, true},
		{"never sent but present", tally->unsent_present, true},
	};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (kinds[i].violation && kinds[i].n > 0)
			list(listing, "%s: %" PRId64 " record%s %s", load->phase->name, kinds[i].n,
			     kinds[i].n == 1 ? "" : "s", kinds[i].what);
}

static void list_step(struct listing *listing, int i, const struct lg_step_result *result)
{
	char message[240];

	snprintf(message, sizeof message, "%s%.200s", result->message[0] ? ": " : "", result->message);
	kt_clean(message);
	if (result->done)
		list(listing, "step %d: %s, got %s (%d)%s", i + 1, result->why, kw_error_name(result->error),
		     result->error, message);
	else
		list(listing, "step %d: %s", i + 1, result->why);
}

static void report_violations(const struct lg_run *run, FILE *out)
{
	enum { SHOWN = 8 };
	struct listing listing = {out, SHOWN};

	for (int i = 0; i < run->plan->nphases; i++) {
		struct lg_tally tally;

		lg_run_tally(run, i, -1, &tally);
		list_answers(&listing, &run->phases[i].load);
		list_records(&listing, &run->phases[i].load, &tally);
	}
	for (size_t i = 0; run->reader && i < lg_reader_count(run->reader); i++) {
		const struct lg_reader_partition *at = lg_reader_at(run->reader, i);

		if (at->stray > 0)
			list(&listing, "%s-%d: %" PRId64 " record%s corrupt, of no phase that sends there", at->topic,
			     (int)at->partition, at->stray, at->stray == 1 ? "" : "s");
	}
	for (int i = 0; run->steps && i < run->plan->nsteps; i++) {
		const struct lg_step_result *result = lg_steps_result(run->steps, i);

		if (!result->ok && (result->done || !run->stopped))
			list_step(&listing, i, result);
	}
	if (listing.left < 0)
		fprintf(out, "  and %d more kinds\n", -listing.left);
}

static void report_verdict(const struct lg_run *run, FILE *out)
{
	int64_t violations = lg_run_violations(run);

	if (violations > 0) {
		fprintf(out, "\nFAILED: %" PRId64 " violation%s\n", violations, violations == 1 ? "" : "s");
		report_violations(run, out);
	} else if (!run->doubt[0])
		fprintf(out, "\nok\n");
	if (run->doubt[0])
		fprintf(out, "%sinconclusive: %s\n", violations > 0 ? "also " : "\n", run->doubt);
}

void lg_report(const struct lg_run *run, FILE *out)
{
	const char *name = run->plan->name;

	fprintf(out, "\n%s%srun %016" PRIx64 " against %s, seed %" PRIu64 ", %.1f s\n", name ? name : "",
		name ? ": " : "", run->id, run->plan->bootstrap, run->plan->seed, run->seconds);
	for (int i = 0; i < run->plan->nphases; i++)
		report_phase(run, i, out);
	report_reader(run, out);
	report_steps(run, out);
	report_verdict(run, out);
	fflush(out);
}
