/* From what a case found to what it means for this target and this run. */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "conformance/runner.h"

static void set(json_t *row, enum cf_verdict verdict, const char *reason)
{
	json_object_set_new(row, "verdict", json_string(cf_verdict_word(verdict)));
	json_object_set_new(row, "reason", json_string(reason));
}

/* Only a must is failed; what merely should be so is red when the user is strict. */
static void weigh(json_t *row, bool strict)
{
	const char *level = cf_text(row, "level");
	enum cf_verdict verdict = cf_row_verdict(row);
	char reason[1200];

	if (verdict == CF_PASS_LENIENT && strict) {
		snprintf(reason, sizeof reason, "only allowed, and --strict asks for the right answer: %s",
			 cf_text(row, "alternative"));
		set(row, CF_FAIL, reason);
	}
	if (verdict != CF_FAIL || strcmp(level, "must") == 0)
		return;
	snprintf(reason, sizeof reason, "%s: %s", cf_text(row, "level"), cf_text(row, "reason"));
	if (strcmp(level, "should") != 0)
		set(row, CF_PASS, reason);
	else if (!strict)
		set(row, CF_PASS_LENIENT, reason);
}

static bool names(const char *glob, json_t *row)
{
	return fnmatch(glob, cf_text(row, "id"), 0) == 0 || fnmatch(glob, cf_text(row, "case"), 0) == 0;
}

const struct cf_expected_failure *cf_policy_failure(json_t *row, const struct cf_profile *profile)
{
	for (size_t i = 0; i < profile->nfailures; i++)
		if (names(profile->failures[i].glob, row))
			return &profile->failures[i];
	return NULL;
}

bool cf_policy_is_failure(json_t *row, const struct cf_expected_failure *failure)
{
	return strncmp(cf_text(row, "reason"), failure->message, strlen(failure->message)) == 0;
}

static void expect_failure(json_t *row, const struct cf_expected_failure *failure)
{
	enum cf_verdict verdict = cf_row_verdict(row);
	const char *reason = cf_text(row, "reason");
	char text[1400];

	if (verdict == CF_PASS || verdict == CF_PASS_LENIENT) {
		snprintf(text, sizeof text, "it was expected to fail (%s)", failure->why);
		set(row, CF_XPASS, text);
	} else if (verdict == CF_FAIL && cf_policy_is_failure(row, failure)) {
		snprintf(text, sizeof text, "%s (%s)", reason, failure->why);
		set(row, CF_XFAIL, text);
	} else if (verdict == CF_FAIL) {
		snprintf(text, sizeof text, "%s; expected was \"%s\"", reason, failure->message);
		set(row, CF_FAIL, text);
	}
}

void cf_policy(json_t *row, const struct cf_profile *profile, bool strict)
{
	const struct cf_expected_failure *failure = cf_policy_failure(row, profile);

	weigh(row, strict);
	if (failure)
		expect_failure(row, failure);
}
