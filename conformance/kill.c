#include "conformance/kill.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void no_row(void *arg, json_t *row, size_t done, size_t of)
{
	(void)arg;
	(void)row;
	(void)done;
	(void)of;
}

/* The broker ended badly, which explains whatever else failed; says when it was gone. */
static void died(struct cf_mishap *mishap, const struct kt_err *end, json_t *rows)
{
	json_t *row;
	size_t i;

	mishap->err = *end;
	json_array_foreach(rows, i, row) {
		enum cf_verdict verdict = cf_row_verdict(row);

		if (verdict != CF_ERROR && verdict != CF_INCONCLUSIVE)
			continue;
		snprintf(mishap->err.path, sizeof mishap->err.path, "in or before %s", cf_text(row, "id"));
		return;
	}
}

/* Runs items against a fresh broker. The rows of result.json, NULL with a mishap. */
static json_t *run(const struct cf_killer *killer, const char *mutant, int level, struct cf_items items,
		   struct cf_mishap *mishap)
{
	const struct cf_fake_setup setup = {killer->program, killer->scenario, mutant, level};
	struct cf_target target = {0};
	struct cf_runner runner = {
		.suite = killer->suite, .target = &target, .items = items, .jobs = killer->jobs, .seed = killer->seed,
		.strict = true, .stop = killer->stop, .on_row = no_row,
	};
	struct kt_err end = {0};
	json_t *rows = NULL;
	struct cf_fake fake;

	if (cf_fake_start(&fake, &setup, &mishap->err))
		goto out;
	if (cf_target_probe(&target, fake.bootstrap, killer->profile, &mishap->err) == 0)
		rows = cf_runner_run(&runner);
	cf_target_fini(&target);
	if (cf_fake_stop(&fake, &end))
		died(mishap, &end, rows);
out:
	if (mishap->err.code) {
		memcpy(mishap->said, fake.said, sizeof fake.said);
		json_decref(rows);
		rows = NULL;
	}
	return rows;
}

static json_t *run_all(const struct cf_killer *killer, const char *mutant, struct cf_mishap *mishap)
{
	static const struct kt_list all;
	static const struct cf_selection selection = {.only = &all, .skip = &all, .destructive = true};
	struct cf_items items = {0};
	json_t *rows = NULL;

	if (cf_select(killer->suite, killer->profile, &selection, &items, &mishap->err) == 0)
		rows = run(killer, mutant, 0, items, mishap);
	free(items.v);
	return rows;
}

static json_t *run_one(const struct cf_killer *killer, const char *mutant, size_t i, struct cf_mishap *mishap)
{
	struct cf_item item = {.instance = killer->suite->instances[i]};
	json_t *rows = run(killer, mutant, killer->levels[i], (struct cf_items){&item, 1}, mishap);

	if (!rows)
		snprintf(mishap->err.path, sizeof mishap->err.path, "%s alone", item.instance.id);
	return rows;
}

/* The instance's row; NULL if it did not run. */
static json_t *row_of(json_t *rows, const struct cf_instance *instance)
{
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
		if (strcmp(cf_text(row, "id"), instance->id) == 0)
			return row;
	return NULL;
}

static bool only_observes(json_t *row)
{
	const char *level = cf_text(row, "level");

	return strcmp(level, "must") != 0 && strcmp(level, "should") != 0;
}

static bool is_red(const struct cf_killer *killer, size_t i, json_t *rows)
{
	json_t *row = row_of(rows, &killer->suite->instances[i]);

	if (!row)
		return false;
	if (cf_row_verdict(row) == CF_UNSUPPORTED)   /* it was not asked, so it noticed nothing */
		return false;
	if (cf_row_verdict(row) != CF_PASS)
		return true;
	return only_observes(row) &&
	       (*cf_text(row, "reason") || strcmp(cf_text(row, "alternative"), killer->observed[i]) != 0);
}

/* What the instance shows without a mutant: among the others, or else at the level that it needs. */
static int observe(struct cf_killer *killer, size_t i, json_t *rows, struct cf_mishap *mishap)
{
	const struct cf_instance *instance = &killer->suite->instances[i];
	json_t *row = json_incref(row_of(rows, instance)), *own = NULL;

	if (row && cf_row_verdict(row) == CF_UNSUPPORTED && instance->cas->min_level > 0) {
		killer->levels[i] = instance->cas->min_level;
		own = run_one(killer, NULL, i, mishap);
		json_decref(row);
		row = json_incref(row_of(own, instance));
	}
	if (!mishap->err.code && !*killer->stop && (!row || cf_row_verdict(row) != CF_PASS))
		kt_fail(&mishap->err, KT_EPEER,
			"%s does not pass on the fakebroker without a mutant: %s %s", instance->id,
			row ? cf_text(row, "verdict") : "", row ? cf_text(row, "reason") : "");
	killer->observed[i] = strdup(row ? cf_text(row, "alternative") : "");
	if (!killer->observed[i])
		kt_fail(&mishap->err, KT_ENOMEM, "out of memory");
	json_decref(row);
	json_decref(own);
	return mishap->err.code;
}

int cf_killer_init(struct cf_killer *killer, struct cf_mishap *mishap)
{
	size_t n = killer->suite->ninstances;
	json_t *rows;

	killer->observed = calloc(n + 1, sizeof *killer->observed);
	killer->levels = calloc(n + 1, sizeof *killer->levels);
	if (!killer->observed || !killer->levels)
		return kt_fail(&mishap->err, KT_ENOMEM, "out of memory");
	rows = run_all(killer, NULL, mishap);
	for (size_t i = 0; rows && i < n && !mishap->err.code && !*killer->stop; i++)
		observe(killer, i, rows, mishap);
	json_decref(rows);
	return mishap->err.code;
}

void cf_killer_fini(struct cf_killer *killer)
{
	for (size_t i = 0; killer->observed && i < killer->suite->ninstances; i++)
		free(killer->observed[i]);
	free(killer->observed);
	free(killer->levels);
	killer->observed = NULL;
	killer->levels = NULL;
}

int cf_kill(const struct cf_killer *killer, const char *mutant, bool *red, struct cf_mishap *mishap)
{
	const struct cf_suite *suite = killer->suite;
	json_t *rows = run_all(killer, mutant, mishap);

	for (size_t i = 0; rows && i < suite->ninstances; i++)
		red[i] = killer->levels[i] || is_red(killer, i, rows);
	json_decref(rows);
	for (size_t i = 0; i < suite->ninstances && !mishap->err.code && !*killer->stop; i++) {
		if (!red[i])
			continue;
		rows = run_one(killer, mutant, i, mishap);
		red[i] = rows && is_red(killer, i, rows);
		json_decref(rows);
	}
	return mishap->err.code;
}
