/* Which cases run, and in which order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/globs.h"
#include "conformance/runner.h"

#define SANITY "sanity"

static bool is_sanity(const struct cf_instance *instance)
{
	return strcmp(instance->cas->family, SANITY) == 0;
}

/* Is a row's id the instance's, at the start or at the end of the run? */
static bool is_of(const char *id, const struct cf_instance *instance)
{
	size_t n = strlen(instance->id);

	return strncmp(id, instance->id, n) == 0 && (!id[n] || strcmp(id + n, CF_AT_END) == 0);
}

/* Claims of the profile are judged by every run; one that runs nothing else has the sanity case. */
static bool is_wanted_again(json_t *result, const struct cf_instance *instance)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(result, "cases"), i, row)
		if (cf_row_red(row) && (is_of(cf_text(row, "id"), instance) ||
					(is_sanity(instance) && strcmp(cf_text(row, "family"), CF_CLAIMS) == 0)))
			return true;
	json_array_foreach(json_object_get(result, "notRun"), i, row)
		if (json_is_string(row) && is_of(json_string_value(row), instance))
			return true;
	return false;
}

static bool selected(const struct cf_selection *selection, const struct cf_instance *instance)
{
	if (selection->rerun && !is_wanted_again(selection->rerun, instance))
		return false;
	return selection->only->n == 0 || cf_globs_fit(selection->only, instance);
}

const char *cf_left_out_by(const struct cf_selection *selection, const struct cf_profile *profile,
			   const struct cf_instance *instance)
{
	for (size_t i = 0; i < selection->skip->n; i++)
		if (cf_glob_fits(selection->skip->v[i], instance))
			return selection->skip->v[i];
	for (size_t i = 0; i < profile->ndisabled; i++)
		if (cf_glob_fits(profile->disabled[i], instance))
			return profile->disabled[i];
	return instance->cas->destructive && !selection->destructive ? CF_NOT_DESTRUCTIVE : NULL;
}

/* Cases run at three times: many at once, alone, and when nothing is to come. */
enum turn { TOGETHER, ALONE, LAST };

static enum turn turn_of(const struct cf_case *cas)
{
	return cas->destructive ? LAST : cas->exclusive ? ALONE : TOGETHER;
}

static void add(struct cf_items *items, const struct cf_instance *instance, const char *why_not)
{
	struct cf_item *item = &items->v[items->n++];

	item->instance = *instance;
	item->disabled_by = why_not;
	item->disabled = why_not != NULL;
	item->alone = turn_of(instance->cas) != TOGETHER || is_sanity(instance);
}

static void add_sanity(const struct cf_suite *suite, const struct cf_profile *profile,
		       const struct cf_selection *selection, struct cf_items *items, const char *suffix)
{
	for (size_t i = 0; i < suite->ninstances; i++) {
		struct cf_instance instance = suite->instances[i];
		size_t n = strlen(instance.id);

		if (!is_sanity(&instance))
			continue;
		snprintf(instance.id + n, sizeof instance.id - n, "%s", suffix);
		add(items, &instance, cf_left_out_by(selection, profile, &suite->instances[i]));
	}
}

/* Adds the cases of one turn; returns how many fit the selection, the sanity case included. */
static size_t add_cases(const struct cf_suite *suite, const struct cf_profile *profile,
			const struct cf_selection *selection, struct cf_items *items, enum turn turn)
{
	size_t chosen = 0;

	for (size_t i = 0; i < suite->ninstances; i++) {
		const struct cf_instance *instance = &suite->instances[i];

		if (turn_of(instance->cas) != turn || !selected(selection, instance))
			continue;
		chosen++;
		if (!is_sanity(instance))
			add(items, instance, cf_left_out_by(selection, profile, instance));
	}
	return chosen;
}

int cf_select(const struct cf_suite *suite, const struct cf_profile *profile, const struct cf_selection *selection,
	      struct cf_items *items, struct kt_err *err)
{
	size_t chosen;

	items->n = 0;
	items->v = NULL;
	if (cf_globs_check(selection->only, "--only", suite, err) ||
	    cf_globs_check(selection->skip, "--skip", suite, err))
		return err->code;
	items->v = calloc(suite->ninstances * 2 + 1, sizeof *items->v);
	if (!items->v)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	add_sanity(suite, profile, selection, items, "");
	chosen = add_cases(suite, profile, selection, items, TOGETHER);
	chosen += add_cases(suite, profile, selection, items, ALONE);
	chosen += add_cases(suite, profile, selection, items, LAST);
	if (chosen == 0)
		return kt_fail(err, KT_EUSAGE, "no case is selected: of what failed in that result %s",
			       selection->only->n ? "nothing fits --only" : "the suite has nothing");
	add_sanity(suite, profile, selection, items, CF_AT_END);
	return 0;
}
