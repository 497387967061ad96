/* Runs one instance of a case and judges it. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "conformance/judge.h"
#include "conformance/result.h"
#include "conformance/run.h"
#include "conformance/vars.h"

enum { POLL = 25 };

/* A question that could not be put says nothing about what was to be asked. */
static struct cf_judgement not_put(const struct kt_err *err)
{
	struct cf_judgement j = {.verdict = CF_ERROR};

	if (err->code == KT_ENET || err->code == KT_ECLOSED || err->code == KT_ETIMEOUT || err->code == KT_EPEER ||
	    err->code == KT_ECORRUPT)
		j.verdict = CF_INCONCLUSIVE;
	else if (err->code == KT_EABSENT)
		j.verdict = CF_UNSUPPORTED;
	snprintf(j.reason, sizeof j.reason, "%s%s%s", err->path, err->path[0] ? ": " : "", err->text);
	return j;
}

static int ask(struct cf_run *run, const struct cf_step *step, struct cf_outcome *out, struct kt_err *err)
{
	json_t *args = cf_expand(step->args, run->vars, err);
	struct kt_obj obj;

	if (!args)
		return err->code;
	kt_obj_open(&obj, NULL, args, step->path, err);
	run->used = NULL;
	json_object_clear(run->asked);
	if (cf_args_check(step->verb, &obj, true) == 0)
		step->verb->run(run, args, out, err);
	if (err->code == KT_OK && run->used && out->fate != CF_NO_CONNECTION)
		out->fate = cf_link_fate(run->used, out->evidence);
	json_decref(args);
	return err->code;
}

static json_t *expected_json(const struct cf_step *step, json_t *vars)
{
	json_t *list = json_array();

	for (size_t i = 0; i < step->nalternatives; i++) {
		struct kt_err err = {0};
		json_t *expanded = cf_expand(step->alternatives[i].json, vars, &err);

		json_array_append_new(list, expanded ? expanded : json_deep_copy(step->alternatives[i].json));
	}
	return list;
}

static void capture(struct cf_run *run, const struct cf_step *step, const struct cf_outcome *out,
		    struct cf_judgement *j)
{
	struct kt_err err = {0};
	json_t *paths = step->capture ? cf_expand(step->capture, run->vars, &err) : NULL, *path;
	const char *name;

	if (err.code) {
		j->verdict = CF_ERROR;
		snprintf(j->reason, sizeof j->reason, "capture.%s: %s", err.path, err.text);
	}
	json_object_foreach(paths, name, path) {
		json_t *value = cf_at(out->subject, json_string_value(path));

		if (value) {
			cf_run_set(run, name, json_incref(value));
		} else if (j->verdict <= CF_PASS_LENIENT) {
			j->verdict = CF_FAIL;
			snprintf(j->reason, sizeof j->reason,
				 "%s: expected a value, got nothing", json_string_value(path));
		}
	}
	json_decref(paths);
}

/* An answer that is there and cannot be read is no right answer to anything, also where the kit asks on the way. */
static struct cf_judgement ask_and_judge(struct cf_run *run, const struct cf_step *step, struct cf_outcome *out)
{
	struct kt_err err = {0};
	struct cf_judgement j;

	if (ask(run, step, out, &err) == 0)
		return cf_judge(step, out, run->vars);
	j = not_put(&err);
	if (err.code == KT_ECORRUPT)
		j.verdict = CF_FAIL;
	return j;
}

/* Would the same question find something else a moment later? A node that cannot be reached may come back; what the
 * target lacks, and what is wrong with the case, stays so. */
static bool may_change(enum cf_verdict verdict)
{
	return verdict == CF_FAIL || verdict == CF_INCONCLUSIVE;
}

/* Runs a step until it is as expected, cannot become so, or its time is up, and adds its row. */
static struct cf_judgement run_step(struct cf_run *run, const struct cf_step *step, json_t *rows)
{
	int64_t start = kc_now_ms(), deadline = start + cf_profile_wait(run->target->profile, step->within);
	json_t *row = json_pack("{s:s, s:s}", "verb", step->verb->name, "path", step->path);
	struct cf_outcome out = {0};
	struct cf_judgement j;

	for (;;) {
		struct timespec ts = {.tv_nsec = POLL * 1000000L};

		cf_outcome_fini(&out);
		j = ask_and_judge(run, step, &out);
		if (!may_change(j.verdict) || kc_now_ms() >= deadline)
			break;
		nanosleep(&ts, NULL);
	}
	if (j.verdict <= CF_PASS_LENIENT)
		capture(run, step, &out, &j);
	json_object_set_new(row, "verdict", json_string(cf_verdict_word(j.verdict)));
	json_object_set_new(row, "reason", cf_clean_json(j.reason));
	json_object_set_new(row, "alternative", cf_clean_json(j.alternative));
	json_object_set_new(row, "grade", j.grade ? json_string(j.grade) : json_null());
	json_object_set_new(row, "connection", json_string(out.evidence ? cf_fate_words[out.fate] : ""));
	json_object_set_new(row, "ms", json_integer(kc_now_ms() - start));
	json_object_set_new(row, "expected", expected_json(step, run->vars));
	if (out.subject)
		json_object_set(row, "got", out.subject);
	if (out.evidence)
		json_object_update(row, out.evidence);
	json_object_update(row, run->asked);
	json_array_append_new(rows, row);
	cf_outcome_fini(&out);
	return j;
}

/* ---- one case ---- */

static struct cf_judgement unsupported(const char *why)
{
	struct cf_judgement j = {.verdict = CF_UNSUPPORTED};

	snprintf(j.reason, sizeof j.reason, "%s", why);
	return j;
}

struct missing_name {
	json_t *names;
	char name[100];
};

static int find_missing(void *arg, const char *name)
{
	struct missing_name *missing = arg;

	if (!json_is_null(json_object_get(missing->names, name)))
		return 0;
	snprintf(missing->name, sizeof missing->name, "%s", name);
	return 1;
}

static bool has_all(const struct cf_instance *instance, const struct cf_target *target, struct cf_judgement *j)
{
	const struct cf_case *cas = instance->cas;
	struct missing_name missing = {.names = target->profile->names};
	char why[500], need[80];

	for (size_t i = 0; i < cas->nneeds; i++)
		if (!cf_target_has(target, cas->needs[i], why, sizeof why))
			return *j = unsupported(why), false;
	if (instance->version >= 0) {
		snprintf(need, sizeof need, "api:%s@%d", kw_api_name(cas->api), instance->version);
		if (!cf_target_has(target, need, why, sizeof why))
			return *j = unsupported(why), false;
	}
	if (cas->min_level >= 0 && (target->level < cas->min_level || target->level > cas->max_level)) {
		snprintf(why, sizeof why,
			 "metadata.version is %d, the case needs %d to %d", target->level, cas->min_level,
			 cas->max_level);
		return *j = unsupported(why), false;
	}
	if (cf_each_variable(cas->doc.root, find_missing, &missing)) {
		snprintf(why, sizeof why, "the profile has no name for %s", missing.name);
		return *j = unsupported(why), false;
	}
	return true;
}

static void set_variables(struct cf_run *run, const char *run_name, size_t index)
{
	const struct cf_target *target = run->target;
	char name[128];
	json_t *names;

	snprintf(name, sizeof name, "%s%s-%zu", target->profile->topicPrefix, run_name, index);
	cf_run_set(run, "run", json_string(name));
	cf_run_set(run, "broker", json_sprintf("%d", target->broker_id));
	cf_run_set(run, "brokerId", json_integer(target->broker_id));
	cf_run_set(run, "newBroker", json_integer(1000000 + (json_int_t)(cf_random(run) % 1000000000)));
	cf_run_set(run, "clusterId", json_string(target->cluster_id));
	cf_run_set(run, "controllerId", json_integer(target->controller_id));
	cf_run_set(run, "level", json_integer(target->level));
	cf_run_set(run, "minLevel", json_integer(target->min_level));
	cf_run_set(run, "maxLevel", json_integer(target->max_level));
	cf_run_set(run, "principal",
		   json_sprintf("User:%s", target->profile->login.user ? target->profile->login.user : "ANONYMOUS"));
	if (run->instance->version >= 0)
		cf_run_set(run, "version", json_integer(run->instance->version));
	names = json_deep_copy(target->profile->names);
	json_object_update(run->vars, names);
	json_decref(names);
}

static struct cf_judgement run_steps(struct cf_run *run, json_t *rows)
{
	const struct cf_steps *steps = &run->instance->cas->steps;
	struct cf_judgement whole = {.verdict = CF_PASS};

	for (size_t i = 0; i < steps->n; i++) {
		struct cf_judgement j = run_step(run, &steps->v[i], rows);

		if (j.verdict > CF_PASS_LENIENT) {
			snprintf(whole.reason, sizeof whole.reason, "step %zu %s: %.900s", i + 1,
				 steps->v[i].verb->name, j.reason);
			whole.verdict = j.verdict;
			return whole;
		}
		if (j.verdict > whole.verdict || (whole.alternative[0] == '\0' && j.alternative[0]))
			memcpy(whole.alternative, j.alternative, sizeof whole.alternative);
		if (j.verdict > whole.verdict)
			whole.verdict = j.verdict;
	}
	if (whole.verdict == CF_PASS_LENIENT)
		snprintf(whole.reason, sizeof whole.reason, "%s", whole.alternative);
	return whole;
}

static void run_cleanup(struct cf_run *run, json_t *result)
{
	const struct cf_steps *steps = &run->instance->cas->cleanup;
	json_t *rows = json_array();
	char note[500] = "";

	for (size_t i = 0; i < steps->n; i++)
		run_step(run, &steps->v[i], rows);
	if (steps->n)
		json_object_set(result, "cleanup", rows);
	json_decref(rows);
	cf_run_undo(run, note, sizeof note);
	if (note[0])
		json_object_set_new(result, "leftBehind", cf_clean_json(note));
}

static uint64_t hash(const char *s)
{
	uint64_t h = 0xcbf29ce484222325u;

	while (*s)
		h = (h ^ (uint8_t)*s++) * 0x100000001b3u;
	return h;
}

/* What came of making the topics is told when an answer to that cannot be read. */
static struct cf_judgement not_set_up(struct cf_run *run, const struct kt_err *err, json_t *rows)
{
	struct cf_judgement j = not_put(err);
	json_t *row;

	if (json_object_size(run->asked) == 0)
		return j;
	row = json_pack("{s:s, s:s, s:s, s:s, s:s, s:n, s:s, s:i, s:[]}", "verb", "topics", "path", "$.topics",
			"verdict", cf_verdict_word(j.verdict), "reason", j.reason, "alternative", "", "grade",
			"connection", "", "ms", 0, "expected");
	json_object_update(row, run->asked);
	json_array_append_new(rows, row);
	return j;
}

static struct cf_judgement run_all(struct cf_run *run, const char *run_name, size_t index, json_t *result, json_t *rows)
{
	struct kt_err err = {0};
	struct cf_judgement j;

	if (!has_all(run->instance, run->target, &j))
		return j;
	run->vars = json_object();
	run->topics = json_array();
	run->topic_ids = json_object();
	run->brokers = json_array();
	run->configs = json_array();
	run->asked = json_object();
	run->observed_from = -1;
	set_variables(run, run_name, index);
	j = cf_topics_create(run, &err) ? not_set_up(run, &err, rows) : run_steps(run, rows);
	run_cleanup(run, result);
	for (size_t i = 0; i < run->nlinks; i++)
		cf_link_close(&run->links[i]);
	json_decref(run->vars);
	json_decref(run->topics);
	json_decref(run->topic_ids);
	json_decref(run->brokers);
	json_decref(run->configs);
	json_decref(run->asked);
	return j;
}

json_t *cf_instance_run(const struct cf_instance *instance, const struct cf_target *target, const char *run_name,
			size_t index, uint64_t seed)
{
	struct cf_run run = {.target = target, .instance = instance, .random = seed ^ hash(instance->id), .level = -1};
	json_t *result = json_pack("{s:s}", "id", instance->id), *rows = json_array();
	int64_t start = kc_now_ms();
	struct cf_judgement j = run_all(&run, run_name, index, result, rows);

	json_object_set_new(result, "verdict", json_string(cf_verdict_word(j.verdict)));
	json_object_set_new(result, "reason", cf_clean_json(j.reason));
	json_object_set_new(result, "alternative", cf_clean_json(j.alternative));
	json_object_set_new(result, "ms", json_integer(kc_now_ms() - start));
	json_object_set_new(result, "steps", rows);
	return result;
}
