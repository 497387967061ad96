#include "conformance/judge.h"

#include <stdio.h>

#include "conformance/match.h"
#include "conformance/vars.h"

const char *const cf_fate_words[] = {"kept", "closed", "silent", ""};

/* ---- one alternative ---- */

static bool connection_fits(int wanted, enum cf_fate fate)
{
	return wanted == CF_WANT_ANY || fate == CF_NO_CONNECTION || (wanted == CF_WANT_KEPT && fate == CF_KEPT) ||
	       (wanted == CF_WANT_CLOSED && fate == CF_CLOSED);
}

static bool answer_fits(const struct cf_alternative *alt, const struct cf_outcome *out, struct cf_mismatch *why)
{
	why->path[0] = '\0';
	if (alt->answer == CF_ANSWER_SOME && !out->answered) {
		snprintf(why->text, sizeof why->text, "expected an answer, got none");
		return false;
	}
	if (alt->answer == CF_ANSWER_NONE && out->answered) {
		snprintf(why->text, sizeof why->text, "expected no answer, got one");
		return false;
	}
	return true;
}

/* One pattern of an alternative against a part of the subject. */
static bool part_fits(json_t *pattern, json_t *vars, json_t *part, const char *name, struct cf_mismatch *why)
{
	struct kt_err err = {0};
	json_t *expanded = cf_expand(pattern, vars, &err);
	bool ok;

	if (!expanded) {
		snprintf(why->path, sizeof why->path, "%s", name);
		snprintf(why->text, sizeof why->text, "%s", err.text);
		return false;
	}
	ok = cf_match(expanded, part, why);
	if (!ok && name[0])
		snprintf(why->path, sizeof why->path, "%s", name);
	json_decref(expanded);
	return ok;
}

static bool error_fits(json_t *error, json_t *subject, struct cf_mismatch *why)
{
	struct kt_err err = {0};
	json_t *pattern = cf_error_pattern(error, &err);
	bool ok = pattern && cf_match(pattern, json_object_get(subject, "errorCode"), why);

	if (!ok)
		snprintf(why->path, sizeof why->path, "errorCode");
	json_decref(pattern);
	return ok;
}

static bool frame_fits(const struct cf_alternative *alt, const struct cf_outcome *out, json_t *vars,
		       struct cf_mismatch *why)
{
	const char *unreadable = json_string_value(json_object_get(out->evidence, "unreadable"));
	bool looked_at = alt->error || alt->message || alt->body;

	if (!answer_fits(alt, out, why))
		return false;
	if (unreadable && looked_at) {
		snprintf(why->text, sizeof why->text, "the answer cannot be read: %s", unreadable);
		return false;
	}
	if (alt->error && !error_fits(alt->error, out->subject, why))
		return false;
	if (alt->message &&
	    !part_fits(alt->message, vars, json_object_get(out->subject, "errorMessage"), "errorMessage", why))
		return false;
	return !alt->body || part_fits(alt->body, vars, out->subject, "", why);
}

/* ---- one step ---- */

static void set_reason(struct cf_judgement *j, const struct cf_mismatch *why)
{
	snprintf(j->reason, sizeof j->reason, "%s%s%s", why->path, why->path[0] ? ": " : "", why->text);
}

struct cf_judgement cf_judge(const struct cf_step *step, const struct cf_outcome *out, json_t *vars)
{
	static const enum cf_verdict by_grade[] = {CF_PASS, CF_PASS_LENIENT, CF_PASS};
	struct cf_judgement j = {.verdict = CF_FAIL};

	for (size_t i = 0; i < step->nalternatives; i++) {
		const struct cf_alternative *alt = &step->alternatives[i];
		struct cf_mismatch why = {0};
		bool frame = frame_fits(alt, out, vars, &why), connection = connection_fits(alt->connection, out->fate);

		if (frame && connection) {
			j.verdict = by_grade[alt->grade];
			snprintf(j.alternative, sizeof j.alternative, "%s", alt->name ? alt->name : "");
			j.grade = cf_grade_words[alt->grade];
			j.reason[0] = '\0';
			return j;
		}
		if (frame && !connection)
			snprintf(why.text, sizeof why.text, "connection: expected %s, got %s",
				 cf_connection_words[alt->connection], cf_fate_words[out->fate]);
		if (i == 0 || (frame && !connection))
			set_reason(&j, &why);
	}
	if (step->nalternatives == 0)
		j.verdict = CF_PASS;
	return j;
}
