#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lib/wire/message.h"
#include "loadgen/clock.h"
#include "loadgen/report.h"

/* ---- pieces; an allocation that fails leaves a member out, and lg_result_json() notices at the end ---- */

static json_t *integer(int64_t v)
{
	return json_integer((json_int_t)v);
}

/* Text that came from a broker need not be UTF-8, which JSON must be. */
static json_t *text(const char *s)
{
	json_t *string = json_string(s);
	char ascii[2048];

	if (string)
		return string;
	snprintf(ascii, sizeof ascii, "%s", s);
	for (char *c = ascii; *c; c++)
		if (*c & 0x80)
			*c = '?';
	return json_string(ascii);
}

json_t *lg_hist_json(const struct kh_hist *hist)
{
	return json_pack("{s:I, s:I, s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "count", (json_int_t)hist->total, "min",
			 (json_int_t)kh_min(hist), "mean", kh_mean(hist), "p50", (json_int_t)kh_percentile(hist, 50),
			 "p90", (json_int_t)kh_percentile(hist, 90), "p99", (json_int_t)kh_percentile(hist, 99), "p99.9",
			 (json_int_t)kh_percentile(hist, 99.9), "p99.99", (json_int_t)kh_percentile(hist, 99.99), "max",
			 (json_int_t)kh_max(hist), "clamped", (json_int_t)hist->clamped);
}

static json_t *tally_json(const struct lg_tally *tally, bool with_readings)
{
	json_t *object = json_object(), *fates = json_object();

	for (int i = 0; i < LG_NFATES; i++)
		json_object_set_new(fates, lg_fate_name((enum lg_fate)i), integer(tally->fates[i]));
	json_object_set_new(object, "fates", fates);
	if (!with_readings)
		return object;
	json_object_set_new(object, "read", integer(tally->seen));
	json_object_set_new(object, "lost", integer(tally->lost));
	json_object_set_new(object, "duplicated", integer(tally->duplicated));
	json_object_set_new(object, "reordered", integer(tally->reordered));
	json_object_set_new(object, "corrupt", integer(tally->corrupt));
	json_object_set_new(object, "refusedButPresent", integer(tally->refused_present));
	json_object_set_new(object, "unacknowledgedButPresent", integer(tally->unacked_present));
	json_object_set_new(object, "neverSentButPresent", integer(tally->unsent_present));
	return object;
}

static json_t *counters_json(const struct lg_counters *counters)
{
	json_t *object = json_object();

#define LG_X(member, name) json_object_set_new(object, name, integer(counters->member));
	LG_COUNTERS(LG_X)
#undef LG_X
	return object;
}

static json_t *latencies_json(const struct lg_meter *meter)
{
	json_t *object = json_object();

	for (int i = 0; i < LG_NLATENCIES; i++)
		json_object_set_new(object, lg_latency_tag((enum lg_latency)i), lg_hist_json(&meter->total[i]));
	return object;
}

static json_t *outcomes_json(const struct lg_outcomes *outcomes)
{
	json_t *array = json_array();

	for (int i = 0; i < outcomes->n; i++) {
		const struct lg_outcome *outcome = &outcomes->v[i];

		json_array_append_new(array, json_pack("{s:s, s:s, s:i, s:b, s:I, s:o}", "of",
						       outcome->illegal ? outcome->illegal->name : "legal", "error",
						       lg_code_name(outcome->code), "code", outcome->code, "expected",
						       outcome->expected, "operations", (json_int_t)outcome->count,
						       "example", text(outcome->text)));
	}
	return array;
}

static json_t *views_json(const struct lg_run_phase *phase)
{
	json_t *array = json_array();

	for (int i = 0; i < phase->nviews; i++) {
		const struct lg_view *view = &phase->views[i];
		json_t *records = json_array();

		for (int r = 0; r < LG_VIEW_RECORDS && view->made; r++)
			json_array_append_new(records, json_pack("{s:b, s:s, s:i, s:o}", "illegal", r == LG_VIEW_ILLEGAL,
								 "error", lg_code_name(view->records[r].code), "code",
								 view->records[r].code, "text", text(view->records[r].text)));
		if (view->illegal)
			json_array_append_new(array, json_pack("{s:s, s:o}", "of", view->illegal->name, "records", records));
		else
			json_decref(records);
	}
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
		json_object_set_new(object, "partition", json_integer(p));
		json_array_append_new(array, object);
	}
	return array;
}

/* ---- phases, steps, reader ---- */

static double seconds_between(int64_t from, int64_t to)
{
	return from && to > from ? (double)(to - from) / 1e9 : 0;
}

static json_t *rates_json(const struct lg_load *load)
{
	double sending = seconds_between(load->started, load->last_sent);
	double acking = seconds_between(load->started, load->last_acked);

	return json_pack("{s:f, s:f, s:f, s:f, s:f}", "askedFrom", load->phase->rate.from, "askedTo", load->phase->rate.to,
			 "sent", sending > 0 ? (double)load->counters.sent / sending : 0, "acked",
			 acking > 0 ? (double)load->counters.acked / acking : 0, "recordsPerRequest",
			 load->records_per_request);
}

static json_t *phase_json(const struct lg_run *run, int i)
{
	const struct lg_run_phase *phase = &run->phases[i];
	const struct lg_load *load = &phase->load;
	struct lg_tally tally;
	char limit[400];
	json_t *object = json_pack("{s:s, s:s, s:s, s:i, s:s, s:b, s:s, s:o}", "name", load->phase->name, "topic",
				   load->phase->topic, "engine", lg_engine_names[load->phase->engine], "acks",
				   load->phase->acks, "codec", kw_codec_name(load->phase->codec), "complete",
				   load->complete, "limit", lg_limit_text(load, limit, sizeof limit), "error",
				   text(phase->err.text));

	lg_run_tally(run, i, -1, &tally);
	json_object_set_new(object, "guarantee", json_pack("{s:b, s:b, s:b}", "kept", load->guarantee.kept, "once",
							   load->guarantee.once, "ordered", load->guarantee.ordered));
	json_object_set_new(object, "records", counters_json(&load->counters));
	json_object_set_new(object, "perSecond", rates_json(load));
	json_object_set_new(object, "latencyNs", latencies_json(&load->meter));
	json_object_set_new(object, "answers", outcomes_json(&load->outcomes));
	json_object_set_new(object, "rdkafkaView", views_json(phase));
	json_object_set_new(object, "total", tally_json(&tally, run->verified));
	json_object_set_new(object, "partitions", partitions_json(run, i));
	return object;
}

static json_t *steps_json(const struct lg_run *run)
{
	json_t *array = json_array();

	for (int i = 0; run->steps && i < run->plan->nsteps; i++) {
		const struct lg_step *step = &run->plan->steps[i];
		const struct lg_step_result *result = lg_steps_result(run->steps, i);
		char words[512];

		json_array_append_new(array, json_pack("{s:s, s:f, s:b, s:b, s:s, s:s, s:o, s:o, s:f}", "step",
						       step->name ? step->name : lg_step_text(step, words, sizeof words),
						       "at", result->at, "done", result->done, "ok", result->ok, "error",
						       result->done ? kw_error_name(result->error) : "", "expected",
						       kw_error_name(step->error), "message", text(result->message), "why",
						       text(result->why), "seconds", result->took));
	}
	return array;
}

static json_t *readings_json(const struct lg_reader *reader)
{
	json_t *array = json_array();

	for (size_t i = 0; i < lg_reader_count(reader); i++) {
		const struct lg_reader_partition *at = lg_reader_at(reader, i);

		json_array_append_new(array, json_pack("{s:s, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "topic",
						       at->topic, "partition", (int)at->partition, "from",
						       (json_int_t)at->begin, "to", (json_int_t)at->position, "records",
						       (json_int_t)at->records, "bytes", (json_int_t)at->bytes, "foreign",
						       (json_int_t)at->foreign, "corrupt", (json_int_t)at->corrupt,
						       "damage", text(at->damage), "trouble", text(at->trouble)));
	}
	return array;
}

static json_t *reader_json(const struct lg_reader *reader, bool complete)
{
	return json_pack("{s:b, s:o, s:o}", "complete", complete, "endToEndNs", lg_hist_json(lg_reader_latency(reader)),
			 "partitions", readings_json(reader));
}

json_t *lg_fetch_json(const struct lg_reader *reader, const char *target, double seconds, bool complete)
{
	return json_pack("{s:s, s:s, s:f, s:o}", "program", "loadgen " KASSAY_VERSION, "target", target, "seconds", seconds,
			 "reader", reader_json(reader, complete));
}

json_t *lg_wire_fetch_json(const struct lg_fetch_stats *stats, const char *target)
{
	json_t *root = json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "program",
				 "loadgen " KASSAY_VERSION, "target", target, "requests", (json_int_t)stats->requests,
				 "withRecords", (json_int_t)stats->with_records, "withoutRecords",
				 (json_int_t)stats->without_records, "unanswered", (json_int_t)stats->unanswered, "records",
				 (json_int_t)stats->records, "bytes", (json_int_t)stats->bytes, "intact",
				 (json_int_t)stats->intact, "corrupt", (json_int_t)stats->corrupt, "foreign",
				 (json_int_t)stats->foreign, "damage", text(stats->damage));

	if (!root)
		return NULL;
	json_object_set_new(root, "latencyNs", latencies_json(&stats->meter));
	json_object_set_new(root, "emptyNs", lg_hist_json(&stats->empty));
	json_object_set_new(root, "answers", outcomes_json(&stats->outcomes));
	return root;
}

json_t *lg_result_json(const struct lg_run *run)
{
	char id[17];
	json_t *root, *phases = json_array();

	snprintf(id, sizeof id, "%016" PRIx64, run->id);
	for (int i = 0; i < run->plan->nphases; i++)
		json_array_append_new(phases, phase_json(run, i));
	root = json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:f, s:i, s:I, s:o, s:o, s:o}", "program", "loadgen " KASSAY_VERSION,
			 "name", run->plan->name ? run->plan->name : "", "run", id, "target", run->plan->bootstrap, "seed",
			 (json_int_t)run->plan->seed, "beganMs", (json_int_t)run->began_ms, "seconds", run->seconds, "exit",
			 lg_run_exit(run), "violations", (json_int_t)lg_run_violations(run), "doubt", text(run->doubt), "phases",
			 phases, "steps", steps_json(run));
	if (root && run->reader)
		json_object_set_new(root, "reader", reader_json(run->reader, run->verified));
	return root;
}

int lg_result_write(json_t *result, const char *directory, struct kt_err *err)
{
	char path[1024];

	if (!result)
		return kt_fail(err, KT_ENOMEM, "no memory for the result");
	snprintf(path, sizeof path, "%s/result.json", directory);
	if (json_dump_file(result, path, JSON_INDENT(2)))
		return kt_fail(err, KT_EFILE, "cannot write %s: %s", path, strerror(errno));
	return 0;
}
