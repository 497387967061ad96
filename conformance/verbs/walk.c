/* walk: metadata.version level by level, and from each the question for every other with every upgrade type. The
 * outcome of each is predicted from the tables that the case gives: where Kafka refuses a downgrade, and which levels
 * make a configuration illegal. */
#include <stdio.h>
#include <string.h>

#include "conformance/verbs/verbs.h"
#include "lib/wire/errors.h"

enum { UPGRADE = 1, SAFE_DOWNGRADE = 2, UNSAFE_DOWNGRADE = 3, SHOWN = 10, ILLEGAL = KW_ERR_INVALID_CONFIG,
       INVALID = KW_ERR_INVALID_UPDATE_VERSION };

const struct cf_arg cf_args_walk[] = {
	{"to", CF_ARG_INT, true, "the last level to ask from; levels are then what they are there"},
	{"changes", CF_ARG_ARRAY, true, "levels that changed metadata records: no downgrade goes below one"},
	{"illegal", CF_ARG_ARRAY, false, "[{\"levels\": [first, last], \"names\": [...]}]: a config is illegal there, "
	 "and the message has these texts"},
	{0},
};

struct walk {
	struct cf_run *run;
	struct cf_link *link;
	json_t *changes, *illegal;       /* of the arguments */
	json_t *levels, *surprises, *otherWords;
	int at, asked;
	bool lost;                       /* it is not where it should be any more */
};

struct question {
	int to, type;
	bool validateOnly;
};

/* What is to come: the code, and texts that the message has. */
struct prediction {
	int error;
	char why[200];
	json_t *names;                   /* borrowed, or NULL */
};

/* ---- the tables ---- */

/* Would a downgrade lose records? */
static bool crosses(const struct walk *walk, int low, int high)
{
	json_t *level;
	size_t i;

	json_array_foreach(walk->changes, i, level)
		if (json_integer_value(level) > low && json_integer_value(level) <= high)
			return true;
	return false;
}

/* The row of `illegal` that a level is in. */
static json_t *illegal_at(const struct walk *walk, int level)
{
	json_t *row;
	size_t i;

	json_array_foreach(walk->illegal, i, row) {
		json_t *levels = json_object_get(row, "levels");

		if (level >= json_integer_value(json_array_get(levels, 0)) &&
		    level <= json_integer_value(json_array_get(levels, 1)))
			return row;
	}
	return NULL;
}

static struct prediction refusal(int error, const char *why)
{
	struct prediction p = {.error = error};

	snprintf(p.why, sizeof p.why, "%s", why);
	return p;
}

static struct prediction predict(const struct walk *walk, const struct question *q)
{
	struct prediction p = {0};
	json_t *row;

	if (q->to < walk->at && q->type == UPGRADE)
		return refusal(INVALID, "Can't downgrade the version of this feature without setting the upgrade type "
			       "to either safe or unsafe downgrade.");
	if (q->to > walk->at && q->type != UPGRADE)
		return refusal(INVALID, "Can't downgrade to a newer version.");
	if (q->to < walk->at && crosses(walk, q->to, walk->at)) {
		p.error = INVALID;
		snprintf(p.why, sizeof p.why,
			 "Unsupported metadata.version downgrade from %d to %d. %s", walk->at, q->to,
			 q->type == UNSAFE_DOWNGRADE ? "Unsafe metadata downgrade is not supported in this version."
						     : "Refusing to perform the requested downgrade because it might "
						       "delete metadata information.");
		return p;
	}
	row = q->to == walk->at ? NULL : illegal_at(walk, q->to);
	if (row) {
		p.error = ILLEGAL;
		p.names = json_object_get(row, "names");
		snprintf(p.why, sizeof p.why, "%d", q->to);
	}
	return p;
}

/* ---- asking ---- */

static void note(struct walk *walk, json_t *list, const struct question *q, const struct prediction *p, int error,
		 const char *message)
{
	if (json_array_size(list) < SHOWN)
		json_array_append_new(list, json_pack("{s:i, s:i, s:i, s:b, s:s, s:s, s:s, s:s?}", "from", walk->at,
						      "to", q->to, "upgradeType", q->type, "validateOnly",
						      q->validateOnly, "expected", kw_error_name(p->error), "words",
						      p->why, "got", kw_error_name(error), "message", message));
}

static bool words_fit(const struct prediction *p, const char *message)
{
	json_t *name;
	size_t i;

	if (!p->error)
		return true;
	if (!message || !strstr(message, p->why))
		return false;
	json_array_foreach(p->names, i, name)
		if (!strstr(message, json_string_value(name)))
			return false;
	return true;
}

/* An upgrade that must be refused for a config may be refused with the code of Kafka's own refusals. */
static void judge(struct walk *walk, const struct question *q, int error, const char *message)
{
	struct prediction p = predict(walk, q);

	if (error != p.error && !(p.error == ILLEGAL && error == INVALID)) {
		note(walk, walk->surprises, q, &p, error, message);
		walk->lost |= !q->validateOnly;
	} else if (error != p.error || !words_fit(&p, message)) {
		note(walk, walk->otherWords, q, &p, error, message);
	}
}

static int ask(struct walk *walk, const struct question *q, struct kt_err *err)
{
	json_t *answer = NULL;
	int code = cf_link_ask(walk->link, "UpdateFeatures", CF_LATEST,
			       json_pack("{s:i, s:[{s:s, s:i, s:i}], s:b}", "timeoutMs", 10000, "featureUpdates",
					 "feature", "metadata.version", "maxVersionLevel", q->to, "upgradeType",
					 q->type, "validateOnly", q->validateOnly), &answer, err);

	walk->asked++;
	if (!code) {
		json_t *told = cf_features_told(answer);

		judge(walk, q, cf_error_code(told), json_string_value(json_object_get(told, "errorMessage")));
	}
	json_decref(answer);
	return code;
}

/* Really goes there, and back again. */
static int go_and_return(struct walk *walk, const struct question *there, struct kt_err *err)
{
	int home = walk->at;
	struct question back = {home, there->to > home ? SAFE_DOWNGRADE : UPGRADE, false};

	if (ask(walk, there, err) || walk->lost)
		return err->code;
	walk->at = there->to;
	if (ask(walk, &back, err) == 0 && !walk->lost)
		walk->at = home;
	return err->code;
}

/* validateOnly first; then for good, unless there would be no way back. */
static int ask_both(struct walk *walk, int to, int type, struct kt_err *err)
{
	struct question q = {to, type, true};
	bool accepted = predict(walk, &q).error == 0;

	if (ask(walk, &q, err) || walk->lost)
		return err->code;
	q.validateOnly = false;
	if (!accepted || to == walk->at)
		return ask(walk, &q, err);
	if (to > walk->at && crosses(walk, walk->at, to))
		return 0;
	return go_and_return(walk, &q, err);
}

static int ask_all(struct walk *walk, struct kt_err *err)
{
	const struct cf_target *target = walk->run->target;

	for (int to = target->min_level; to <= target->max_level; to++)
		for (int type = UPGRADE; type <= UNSAFE_DOWNGRADE; type++)
			if (ask_both(walk, to, type, err) || walk->lost)
				return err->code;
	return 0;
}

/* The next level up at which everything is legal; -1 if there is none up to `last`. */
static int next_level(const struct walk *walk, int last)
{
	for (int level = walk->at + 1; level <= last; level++)
		if (!illegal_at(walk, level))
			return level;
	return -1;
}

static int go_all_the_way(struct walk *walk, int last, struct kt_err *err)
{
	while (!walk->lost) {
		int next = next_level(walk, last);

		json_array_append_new(walk->levels, json_integer(walk->at));
		if (ask_all(walk, err) || walk->lost || next < 0)
			return err->code;
		if (cf_level_await(walk->run, walk->at, err) || cf_level_move(walk->run, next, err))
			return err->code;
		walk->at = next;
	}
	return 0;
}

int cf_verb_walk(struct cf_run *run, json_t *args, struct cf_outcome *out, struct kt_err *err)
{
	struct walk walk = {.run = run, .link = cf_run_link(run, "broker", NULL, err),
			    .changes = json_object_get(args, "changes"), .illegal = json_object_get(args, "illegal")};
	int last = (int)json_integer_value(json_object_get(args, "to"));

	out->fate = CF_NO_CONNECTION;
	if (!walk.link)
		return err->code;
	walk.at = cf_level_at(walk.link);
	walk.levels = json_array();
	walk.surprises = json_array();
	walk.otherWords = json_array();
	if (go_all_the_way(&walk, last, err) == 0)
		out->answered = true;
	run->level = -1;         /* there is no way back */
	cf_run_set(run, "level", json_integer(walk.at));
	out->subject = json_pack("{s:o, s:i, s:o, s:o}", "levels", walk.levels, "asked", walk.asked, "surprises",
				 walk.surprises, "otherWords", walk.otherWords);
	out->evidence = json_pack("{s:O, s:O}", "request", args, "response", out->subject);
	return err->code;
}
