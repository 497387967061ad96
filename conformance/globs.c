#include "conformance/globs.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "lib/text/near.h"

enum { ID_MAX = 120, HINT_MAX = 180 };

bool cf_glob_fits(const char *glob, const struct cf_instance *instance)
{
	return fnmatch(glob, instance->id, 0) == 0 || fnmatch(glob, instance->cas->id, 0) == 0;
}

bool cf_globs_fit(const struct kt_list *globs, const struct cf_instance *instance)
{
	for (size_t i = 0; i < globs->n; i++)
		if (cf_glob_fits(globs->v[i], instance))
			return true;
	return false;
}

static bool fits_any(const char *glob, const struct cf_suite *suite)
{
	for (size_t i = 0; i < suite->ninstances; i++)
		if (cf_glob_fits(glob, &suite->instances[i]))
			return true;
	return false;
}

/* ---- what was meant ---- */

/* A name that the best one may be replaced by, kept in `kept`. */
static void offer(struct kt_near *near, char kept[ID_MAX], const char *id, size_t n)
{
	char name[ID_MAX];

	snprintf(name, sizeof name, "%.*s", (int)n, id);
	kt_near_offer(near, name);
	if (near->best == name) {
		memcpy(kept, name, sizeof name);
		near->best = kept;
	}
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

/* Ids are near to an id, and their beginnings to the beginning of a glob that ends with ".*". */
static void find_near(const struct cf_suite *suite, struct kt_near *near, char kept[ID_MAX], bool beginnings)
{
	for (size_t i = 0; i < suite->ninstances; i++) {
		const char *id = suite->instances[i].cas->id, *dot = id;

		if (!beginnings) {
			offer(near, kept, id, strlen(id));
			offer(near, kept, suite->instances[i].id, strlen(suite->instances[i].id));
		}
		while (beginnings && (dot = strchr(dot, '.'))) {
			offer(near, kept, id, (size_t)(dot - id));
			dot++;
		}
	}
}

/* "; did you mean ...?", or where to look. */
static const char *hint(const struct cf_suite *suite, const char *glob, char out[HINT_MAX])
{
	char stem[ID_MAX], kept[ID_MAX];
	size_t n = strlen(glob);
	bool family = n > 2 && strcmp(glob + n - 2, ".*") == 0;
	struct kt_near near;

	snprintf(stem, sizeof stem, "%.*s", (int)(family ? n - 2 : n), glob);
	kt_near_init(&near, stem);
	if (n < sizeof stem && !strpbrk(stem, "*?[\\"))
		find_near(suite, &near, kept, family);
	if (is_beginning(suite, glob))
		snprintf(out, HINT_MAX, "; did you mean \"%.100s.*\"?", glob);
	else if (near.best)
		snprintf(out, HINT_MAX, "; did you mean \"%s%s\"?", near.best, family ? ".*" : "");
	else
		snprintf(out, HINT_MAX, "; `conformance list` shows all");
	return out;
}

/* ---- checks ---- */

int cf_globs_check(const struct kt_list *globs, const char *option, const struct cf_suite *suite, struct kt_err *err)
{
	char text[HINT_MAX];

	for (size_t i = 0; i < globs->n; i++) {
		if (!kt_is_utf8(globs->v[i]))
			return kt_fail(err, KT_EUSAGE, "%s \"%.150s\" is not UTF-8", option, globs->v[i]);
		if (!fits_any(globs->v[i], suite))
			return kt_fail(err, KT_EUSAGE, "%s \"%.150s\" fits no case%s", option, globs->v[i],
				       hint(suite, globs->v[i], text));
	}
	return 0;
}

static int check_member(const struct cf_profile *profile, const char *path, const char *glob,
			const struct cf_suite *suite, struct kt_err *err)
{
	char text[HINT_MAX];

	if (fits_any(glob, suite))
		return 0;
	return kt_json_fail(&profile->doc, path, err, KT_EUNKNOWN, "\"%.150s\" fits no case%s", glob,
			    hint(suite, glob, text));
}

int cf_globs_check_profile(const struct cf_profile *profile, const struct cf_suite *suite, struct kt_err *err)
{
	char path[64];

	for (size_t i = 0; i < profile->ndisabled && !err->code; i++) {
		snprintf(path, sizeof path, "$.disabled[%zu]", i);
		check_member(profile, path, profile->disabled[i], suite, err);
	}
	for (size_t i = 0; i < profile->nfailures && !err->code; i++) {
		snprintf(path, sizeof path, "$.expectedFailures[%zu].case", i);
		check_member(profile, path, profile->failures[i].glob, suite, err);
	}
	return err->code;
}
