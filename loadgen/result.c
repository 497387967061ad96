#include <inttypes.h>
#include <string.h>

#include "lib/text/json.h"
#include "lib/wire/message.h"
#include "loadgen/clock.h"
#include "loadgen/report.h"

/* ---- members; one that finds no memory is left out ---- */

static void put_int(json_t *object, const char *name, int64_t v)
{
	json_object_set_new(object, name, json_integer((json_int_t)v));
}

static void put_real(json_t *object, const char *name, double v)
{
	json_object_set_new(object, name, json_real(v));
}

static void put_bool(json_t *object, const char *name, bool v)
{
	json_object_set_new(object, name, json_boolean(v));
}

/* What came from a broker need not be UTF-8, which JSON must be. */
static void put_text(json_t *object, const char *name, const char *s)
{
	json_t *string = json_string(s);
	char ascii[2048];

	if (!string) {
		snprintf(ascii, sizeof ascii, "%s", s);
		for (char *c = ascii; *c; c++)
			if (*c & 0x80)
				*c = '?';
		string = json_string(ascii);
	}
	json_object_set_new(object, name, string);
}

/* ---- numbers ---- */

static json_t *hist_json(const struct kh_hist *hist)
{
	static const struct { const char *name; double percentile; } percentiles[] = {
		{"p50", 50}, {"p90", 90}, {"p99", 99}, {"p99.9", 99.9}, {"p99.99", 99.99},
	};
	json_t *object = json_object();

	put_int(object, "count", hist->total);
	put_int(object, "min", kh_min(hist));
	put_real(object, "mean", kh_mean(hist));
	for (size_t i = 0; i < sizeof percentiles / sizeof percentiles[0]; i++)
		put_int(object, percentiles[i].name, kh_percentile(hist, percentiles[i].percentile));
	put_int(object, "max", kh_max(hist));
	put_int(object, "clamped", hist->clamped);
	return object;
}

static json_t *latencies_json(const struct lg_meter *meter)
{
	json_t *object = json_object();

	for (int i = 0; i < LG_NLATENCIES; i++)
		json_object_set_new(object, lg_latency_tag((enum lg_latency)i), hist_json(&meter->total[i]));
	return object;
}

static json_t *tally_json(const struct lg_tally *tally, bool with_readings)
{
	json_t *object = json_object(), *fates = json_object();

	for (int i = 0; i < LG_NFATES; i++)
		put_int(fates, lg_fate_name((enum lg_fate)i), tally->fates[i]);
	json_object_set_new(object, "fates", fates);
	if (!with_readings)
		return object;
	put_int(object, "read", tally->seen);
	put_int(object, "lost", tally->lost);
	put_int(object, "duplicated", tally->duplicated);
	put_int(object, "reordered", tally->reordered);
	put_int(object, "corrupt", tally->corrupt);
	put_int(object, "refusedButPresent", tally->refused_present);
	put_int(object, "unacknowledgedButPresent", tally->unacked_present);
	put_int(object, "neverSentButPresent", tally->unsent_present);
	return object;
}

static json_t *counters_json(const struct lg_counters *counters)
{
	json_t *object = json_object();

#define LG_X(member, name) put_int(object, name, counters->member);
	LG_COUNTERS(LG_X)
#undef LG_X
	return object;
}

static json_t *outcomes_json(const struct lg_outcomes *outcomes)
{
	json_t *array = json_array();

	for (int i = 0; i < outcomes->n; i++) {
		const struct lg_outcome *outcome = &outcomes->v[i];
		json_t *object = json_object();

		put_text(object, "of", outcome->illegal ? outcome->illegal->name : "legal");
		put_text(object, "error", lg_code_name(outcome->code));
		put_int(object, "code", outcome->code);
		put_bool(object, "expected", outcome->expected);
		put_int(object, "operations", outcome->count);
		put_text(object, "example", outcome->text);
		json_array_append_new(array, object);
	}
	return array;
}

/* ---- phases ---- */

static json_t *view_json(const struct lg_view *view)
{
	json_t *object = json_object(), *records = json_array();

	for (int i = 0; i < LG_VIEW_RECORDS && view->made; i++) {
		json_t *record = json_object();

		put_bool(record, "illegal", i == LG_VIEW_ILLEGAL);
		put_text(record, "error", lg_code_name(view->records[i].code));
		put_int(record, "code", view->records[i].code);
		put_text(record, "text", view->records[i].text);
		json_array_append_new(records, record);
	}
	put_text(object, "of", view->illegal->name);
	json_object_set_new(object, "records", records);
	return object;
}

static json_t *views_json(const struct lg_run_phase *phase)
{
	json_t *array = json_array();

	for (int i = 0; i < phase->nviews; i++)
		if (phase->views[i].illegal)
			json_array_append_new(array, view_json(&phase->views[i]));
	return array;
}

static json_t *partitions_json(const struct lg_run *run, int i)
{
	json_t *array = json_array();

	for (int32_t p = 0; p < run->phases[i].load.npartitions; p++) {
		struct lg_tally tally;
		json_t *object;

		lg_run_tally(run, i, p, &tally);
		object = tally_json(&tally, run->verified);
		put_int(object, "partition", p);
		json_array_append_new(array, object);
	}
	return array;
}

static double rate(int64_t n, int64_t from, int64_t to)
{
	return from && to > from ? (double)n / ((double)(to - from) / 1e9) : 0;
}

static json_t *rates_json(const struct lg_load *load)
{
	json_t *object = json_object();

	put_real(object, "askedFrom", load->phase->rate.from);
	put_real(object, "askedTo", load->phase->rate.to);
	put_real(object, "sent", rate(load->counters.sent, load->started, load->last_sent));
	put_real(object, "acked", rate(load->counters.acked, load->started, lg_load_end(load)));
	put_real(object, "recordsPerRequest", load->records_per_request);
	return object;
}

static json_t *guarantee_json(const struct lg_guarantee *guarantee)
{
	json_t *object = json_object();

	put_bool(object, "kept", guarantee->kept);
	put_bool(object, "once", guarantee->once);
	put_bool(object, "ordered", guarantee->ordered);
	return object;
}

static json_t *phase_json(const struct lg_run *run, int i)
{
	const struct lg_run_phase *phase = &run->phases[i];
	const struct lg_load *load = &phase->load;
	json_t *object = json_object();
	struct lg_tally tally;
	char limit[400];

	put_text(object, "name", load->phase->name);
	put_text(object, "topic", load->phase->topic);
	put_text(object, "engine", lg_engine_names[load->phase->engine]);
	put_int(object, "acks", load->phase->acks);
	put_text(object, "codec", kw_codec_name(load->phase->codec));
	put_bool(object, "complete", load->complete);
	put_text(object, "limit", lg_limit_text(load, limit, sizeof limit));
	put_text(object, "error", phase->err.text);
	json_object_set_new(object, "guarantee", guarantee_json(&load->guarantee));
	json_object_set_new(object, "records", counters_json(&load->counters));
	json_object_set_new(object, "perSecond", rates_json(load));
	json_object_set_new(object, "latencyNs", latencies_json(&load->meter));
	json_object_set_new(object, "answers", outcomes_json(&load->outcomes));
	json_object_set_new(object, "rdkafkaView", views_json(phase));
	lg_run_tally(run, i, -1, &tally);
	json_object_set_new(object, "total", tally_json(&tally, run->verified));
	json_object_set_new(object, "partitions", partitions_json(run, i));
	return object;
}

/* ---- steps and reader ---- */

static json_t *step_json(const struct lg_step *step, const struct lg_step_result *result)
{
	json_t *object = json_object();
	char text[512];

	put_text(object, "step", step->name ? step->name : lg_step_text(step, text, sizeof text));
	put_real(object, "at", result->at);
	put_bool(object, "done", result->done);
	put_bool(object, "ok", result->ok);
	put_text(object, "error", result->done ? kw_error_name(result->error) : "");
	put_text(object, "expected", kw_error_name(step->error));
	put_text(object, "message", result->message);
	put_text(object, "why", result->why);
	put_real(object, "seconds", result->took);
	return object;
}

static json_t *steps_json(const struct lg_run *run)
{
	json_t *array = json_array();

	for (int i = 0; run->steps && i < run->plan->nsteps; i++)
		json_array_append_new(array, step_json(&run->plan->steps[i], lg_steps_result(run->steps, i)));
	return array;
}

static json_t *reading_json(const struct lg_reader_partition *at)
{
	json_t *object = json_object();

	put_text(object, "topic", at->topic);
	put_int(object, "partition", at->partition);
	put_int(object, "from", at->begin);
	put_int(object, "to", at->position);
	put_int(object, "records", at->records);
	put_int(object, "bytes", at->bytes);
	put_int(object, "foreign", at->foreign);
	put_int(object, "corrupt", at->corrupt);
	put_int(object, "stray", at->stray);
	put_text(object, "damage", at->damage);
	put_text(object, "trouble", at->trouble);
	return object;
}

static json_t *reader_json(const struct lg_reader *reader, bool complete)
{
	json_t *object = json_object(), *partitions = json_array();

	put_bool(object, "complete", complete);
	json_object_set_new(object, "endToEndNs", hist_json(lg_reader_latency(reader)));
	for (size_t i = 0; i < lg_reader_count(reader); i++)
		json_array_append_new(partitions, reading_json(lg_reader_at(reader, i)));
	json_object_set_new(object, "partitions", partitions);
	return object;
}

/* ---- whole results ---- */

static json_t *new_result(const char *target)
{
	json_t *object = json_object();

	put_text(object, "program", "loadgen " KASSAY_VERSION);
	put_text(object, "target", target);
	return object;
}

json_t *lg_result_json(const struct lg_run *run)
{
	json_t *object = new_result(run->plan->bootstrap), *phases = json_array();
	char id[17];

	snprintf(id, sizeof id, "%016" PRIx64, run->id);
	put_text(object, "name", run->plan->name ? run->plan->name : "");
	put_text(object, "run", id);
	put_int(object, "seed", (int64_t)run->plan->seed);
	put_int(object, "beganMs", run->began_ms);
	put_real(object, "seconds", run->seconds);
	put_int(object, "exit", lg_run_exit(run));
	put_int(object, "violations", lg_run_violations(run));
	put_text(object, "doubt", run->doubt);
	for (int i = 0; i < run->plan->nphases; i++)
		json_array_append_new(phases, phase_json(run, i));
	json_object_set_new(object, "phases", phases);
	json_object_set_new(object, "steps", steps_json(run));
	if (run->reader)
		json_object_set_new(object, "reader", reader_json(run->reader, run->verified));
	return object;
}

json_t *lg_fetch_json(const struct lg_reader *reader, const char *target, double seconds, bool complete)
{
	json_t *object = new_result(target);

	put_real(object, "seconds", seconds);
	json_object_set_new(object, "reader", reader_json(reader, complete));
	return object;
}

json_t *lg_wire_fetch_json(const struct lg_fetch_stats *stats, const char *target)
{
	json_t *object = new_result(target);

	put_int(object, "requests", stats->requests);
	put_int(object, "withRecords", stats->with_records);
	put_int(object, "withoutRecords", stats->without_records);
	put_int(object, "unanswered", stats->unanswered);
	put_int(object, "notSent", stats->not_sent);
	put_int(object, "heldBack", stats->held);
	put_int(object, "records", stats->records);
	put_int(object, "bytes", stats->bytes);
	put_int(object, "intact", stats->intact);
	put_int(object, "corrupt", stats->corrupt);
	put_int(object, "foreign", stats->foreign);
	put_text(object, "damage", stats->damage);
	json_object_set_new(object, "latencyNs", latencies_json(&stats->meter));
	json_object_set_new(object, "emptyNs", hist_json(&stats->empty));
	json_object_set_new(object, "answers", outcomes_json(&stats->outcomes));
	return object;
}

int lg_result_write(json_t *result, const char *directory, struct kt_err *err)
{
	char path[1024];

	if (!result)
		return kt_fail(err, KT_ENOMEM, "no memory for the result");
	snprintf(path, sizeof path, "%s/result.json", directory);
	return kt_json_write(path, result, JSON_INDENT(2), err);
}
