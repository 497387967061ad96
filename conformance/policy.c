/* From what a case found to what it means for this target and this run. */
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "conformance/runner.h"

static void set(json_t *row, enum cf_verdict verdict, const char *reason)
{
	json_object_set_new(row, "verdict", json_string(cf_verdict_word(verdict)));
	json_object_set_new(row, "reason", cf_clean_json(reason));
}

/* Is it ever red? What may be so, and what is only observed, is not: neither the worst answer nor a better one. */
static bool can_be_red(json_t *row)
{
	return strcmp(cf_text(row, "level"), "must") == 0 || strcmp(cf_text(row, "level"), "should") == 0;
}

/* Why a pass-lenient is none for who is strict. */
static const char *only_allowed(json_t *row, char *buf, size_t size)
{
	snprintf(buf, size, "only allowed, and --strict asks for the right answer: %s", cf_text(row, "alternative"));
	return buf;
}

/* A failure that weighs less than one. */
static void lighten(json_t *row, enum cf_verdict verdict)
{
	char reason[1600];

	snprintf(reason, sizeof reason, "%s: %s", cf_text(row, "level"), cf_text(row, "reason"));
	set(row, verdict, reason);
}

/* How much does it matter? The level of the requirement comes first, then whether the user is strict. */
static void weigh(json_t *row, bool strict)
{
	enum cf_verdict verdict = cf_row_verdict(row);
	char reason[1200];

	if (!can_be_red(row)) {
		if (verdict == CF_FAIL)
			lighten(row, CF_PASS);
	} else if (strict) {
		if (verdict == CF_PASS_LENIENT)
			set(row, CF_FAIL, only_allowed(row, reason, sizeof reason));
	} else if (verdict == CF_FAIL && strcmp(cf_text(row, "level"), "should") == 0) {
		lighten(row, CF_PASS_LENIENT);
	}
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

static bool begins_with(const char *reason, const struct cf_expected_failure *failure)
{
	return strncmp(reason, failure->message, strlen(failure->message)) == 0;
}

bool cf_policy_is_failure(json_t *row, const struct cf_expected_failure *failure)
{
	return begins_with(cf_text(row, "reason"), failure);
}

static void __attribute__((format(printf, 3, 4))) say(json_t *row, enum cf_verdict verdict, const char *fmt, ...)
{
	char text[1400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	kt_clean(text);
	set(row, verdict, text);
}

/* Is a lenient answer what is expected to fail? Then it is, when the user is strict, and passes for others. */
static bool expects_lenient(json_t *row, const struct cf_expected_failure *failure, bool strict)
{
	char reason[1200];

	if (!can_be_red(row) || !begins_with(only_allowed(row, reason, sizeof reason), failure))
		return false;
	if (strict)
		say(row, CF_XFAIL, "%s (%s)", reason, failure->why);
	return true;
}

/* What was found is compared with what is expected, not what it weighs: a profile serves all who use it, strict or not.
 * True when that settles the verdict. */
static bool expect_failure(json_t *row, const struct cf_expected_failure *failure, bool strict)
{
	enum cf_verdict verdict = cf_row_verdict(row);

	if (verdict == CF_FAIL && cf_policy_is_failure(row, failure)) {
		say(row, CF_XFAIL, "%s (%s)", cf_text(row, "reason"), failure->why);
		return true;
	}
	if (verdict == CF_FAIL)
		say(row, CF_FAIL, "%s; expected was \"%s\"", cf_text(row, "reason"), failure->message);
	if (verdict == CF_PASS_LENIENT && expects_lenient(row, failure, strict))
		return true;
	if (verdict == CF_PASS || verdict == CF_PASS_LENIENT)
		say(row, CF_XPASS, "it was expected to fail (%s)", failure->why);
	return verdict != CF_FAIL;
}

void cf_policy(json_t *row, const struct cf_profile *profile, bool strict)
{
	const struct cf_expected_failure *failure = cf_policy_failure(row, profile);

	if (!failure || !expect_failure(row, failure, strict))
		weigh(row, strict);
}
