#include "conformance/judge.h"

#include <stdio.h>

#include "conformance/match.h"
#include "conformance/vars.h"

const char *const cf_fate_words[] = {"kept", "closed", "silent", "unasked", ""};

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

/* Errors and messages are simple: their paths lead to the member alone. */
static bool member_fits(json_t *pattern, json_t *subject, const char *name, struct cf_mismatch *why)
{
	if (cf_match(pattern, json_object_get(subject, name), why))
		return true;
	snprintf(why->path, sizeof why->path, "%s", name);
	return false;
}

static bool error_fits(json_t *error, json_t *subject, struct cf_mismatch *why)
{
	struct kt_err err = {0};
	json_t *pattern = cf_error_pattern(error, &err);
	bool ok = member_fits(pattern, subject, "errorCode", why);

	json_decref(pattern);
	return ok;
}

/* expanded: the alternative as it was written, with its variables' values. */
static bool frame_fits(const struct cf_alternative *alt, json_t *expanded, const struct cf_outcome *out,
		       struct cf_mismatch *why)
{
	const char *unreadable = json_string_value(json_object_get(out->evidence, "unreadable"));
	bool looked_at = alt->error || alt->message || alt->body || alt->answer == CF_ANSWER_SOME;

	if (!answer_fits(alt, out, why))
		return false;
	if (unreadable && looked_at) {
		snprintf(why->text, sizeof why->text, "%s", unreadable);
		return false;
	}
	if (alt->error && !error_fits(alt->error, out->subject, why))
		return false;
	if (alt->message && !member_fits(json_object_get(expanded, "message"), out->subject, "errorMessage", why))
		return false;
	return !alt->body || cf_match(json_object_get(expanded, "body"), out->subject, why);
}

/* ---- all alternatives ---- */

static int check_pattern(json_t *alternative, const char *name, struct kt_err *err)
{
	json_t *pattern = json_object_get(alternative, name);

	if (pattern && cf_pattern_check(pattern, true, err))
		cf_err_under(err, "%s", name);
	return err->code;
}

/* All alternatives with the values of their variables, NULL with err when one cannot be put together: that is a fault
 * of the case, whatever the target answered. */
static json_t *expand(const struct cf_step *step, json_t *vars, struct kt_err *err)
{
	json_t *list = json_array();

	for (size_t i = 0; i < step->nalternatives; i++) {
		json_t *expanded = cf_expand(step->alternatives[i].json, vars, err);

		if (!expanded || check_pattern(expanded, "message", err) || check_pattern(expanded, "body", err)) {
			cf_err_under(err, step->nalternatives > 1 ? "expect[%zu]" : "expect", i);
			json_decref(expanded);
			json_decref(list);
			return NULL;
		}
		json_array_append_new(list, expanded);
	}
	return list;
}

/* ---- one step ---- */

static void set_reason(struct cf_judgement *j, const char *path, const char *text)
{
	snprintf(j->reason, sizeof j->reason, "%s%s%s", path, path[0] ? ": " : "", text);
	kt_clean(j->reason);
}

struct cf_judgement cf_judge(const struct cf_step *step, const struct cf_outcome *out, json_t *vars)
{
	static const enum cf_verdict by_grade[] = {CF_PASS, CF_PASS_LENIENT, CF_PASS};
	/* What a step without expectation asks is answered, and costs no connection. */
	static const struct cf_alternative harmless = {.answer = CF_ANSWER_SOME, .connection = CF_WANT_KEPT};
	const struct cf_alternative *alternatives = step->nalternatives ? step->alternatives : &harmless;
	size_t n = step->nalternatives ? step->nalternatives : 1;
	struct cf_judgement j = {.verdict = CF_FAIL};
	struct kt_err err = {0};
	json_t *expected = expand(step, vars, &err);

	if (!expected) {
		j.verdict = CF_ERROR;
		set_reason(&j, err.path, err.text);
		return j;
	}
	for (size_t i = 0; i < n; i++) {
		const struct cf_alternative *alt = &alternatives[i];
		struct cf_mismatch why = {0};
		bool frame = frame_fits(alt, json_array_get(expected, i), out, &why);
		bool connection = connection_fits(alt->connection, out->fate);

		if (frame && connection) {
			j.verdict = by_grade[alt->grade];
			snprintf(j.alternative, sizeof j.alternative, "%s", alt->name ? alt->name : "");
			j.grade = step->nalternatives ? cf_grade_words[alt->grade] : NULL;
			j.reason[0] = '\0';
			break;
		}
		if (frame && !connection)
			snprintf(why.text, sizeof why.text, "connection: expected %s, got %s",
				 cf_connection_words[alt->connection], cf_fate_words[out->fate]);
		if (i == 0 || (frame && !connection))
			set_reason(&j, why.path, why.text);
	}
	json_decref(expected);
	return j;
}
