/* Which cases run, and in which order. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/runner.h"
#include "lib/text/near.h"

#define SANITY "sanity"

static bool glob_fits(const char *glob, const struct cf_instance *instance)
{
	return fnmatch(glob, instance->id, 0) == 0 || fnmatch(glob, instance->cas->id, 0) == 0;
}

static bool was_red(json_t *result, const char *id)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(result, "cases"), i, row)
		if (strcmp(cf_text(row, "id"), id) == 0)
			return cf_row_red(row);
	return false;
}

static bool selected(const struct cf_selection *selection, const struct cf_instance *instance)
{
	if (selection->rerun && !was_red(selection->rerun, instance->id))
		return false;
	for (size_t i = 0; i < selection->only->n; i++)
		if (glob_fits(selection->only->v[i], instance))
			return true;
	return selection->only->n == 0;
}

static const char *disabled_by(const struct cf_selection *selection, const struct cf_profile *profile,
			       const struct cf_instance *instance)
{
	for (size_t i = 0; i < selection->skip->n; i++)
		if (glob_fits(selection->skip->v[i], instance))
			return selection->skip->v[i];
	for (size_t i = 0; i < profile->ndisabled; i++)
		if (glob_fits(profile->disabled[i], instance))
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
	item->alone = turn_of(instance->cas) != TOGETHER || strcmp(instance->cas->family, SANITY) == 0;
}

/* "records.crc" of "records.crc.mismatch" */
static bool is_beginning(const struct cf_suite *suite, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i < suite->ncases; i++)
		if (strncmp(suite->cases[i]->id, word, n) == 0 && suite->cases[i]->id[n] == '.')
			return true;
	return false;
}

/* A glob that fits nothing is most likely misspelt. */
static int none_selected(const struct cf_suite *suite, const struct cf_selection *selection, struct kt_err *err)
{
	struct kt_near near;

	if (selection->rerun)
		return kt_fail(err, KT_EUSAGE,
			       "no case is selected: the suite has none of those that failed in that result");
	if (selection->only->n && is_beginning(suite, selection->only->v[0]))
		return kt_fail(err, KT_EUSAGE, "no case is selected; did you mean \"%s.*\"?", selection->only->v[0]);
	kt_near_init(&near, selection->only->n ? selection->only->v[0] : "");
	for (size_t i = 0; i < suite->ncases; i++)
		kt_near_offer(&near, suite->cases[i]->id);
	if (near.best)
		return kt_fail(err, KT_EUSAGE, "no case is selected; did you mean \"%s\"?", near.best);
	return kt_fail(err, KT_EUSAGE, "no case is selected; `conformance list` shows all");
}

static void add_sanity(const struct cf_suite *suite, const struct cf_profile *profile,
		       const struct cf_selection *selection, struct cf_items *items, const char *suffix)
{
	for (size_t i = 0; i < suite->ninstances; i++) {
		struct cf_instance instance = suite->instances[i];
		size_t n = strlen(instance.id);

		if (strcmp(instance.cas->family, SANITY) != 0)
			continue;
		snprintf(instance.id + n, sizeof instance.id - n, "%s", suffix);
		add(items, &instance, disabled_by(selection, profile, &suite->instances[i]));
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
		if (strcmp(instance->cas->family, SANITY) != 0)
			add(items, instance, disabled_by(selection, profile, instance));
	}
	return chosen;
}

int cf_select(const struct cf_suite *suite, const struct cf_profile *profile, const struct cf_selection *selection,
	      struct cf_items *items, struct kt_err *err)
{
	size_t chosen;

	items->n = 0;
	items->v = calloc(suite->ninstances * 2 + 1, sizeof *items->v);
	if (!items->v)
		return kt_fail(err, KT_ENOMEM, "out of memory");
	add_sanity(suite, profile, selection, items, "");
	chosen = add_cases(suite, profile, selection, items, TOGETHER);
	chosen += add_cases(suite, profile, selection, items, ALONE);
	chosen += add_cases(suite, profile, selection, items, LAST);
	if (chosen == 0)
		return none_selected(suite, selection, err);
	add_sanity(suite, profile, selection, items, "@end");
	return 0;
}
