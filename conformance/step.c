#include "conformance/step.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/match.h"
#include "lib/text/near.h"
#include "lib/wire/edit.h"

const char *const cf_grade_words[] = {"strict", "lenient", "observe", NULL};
const char *const cf_answer_words[] = {"some", "none", "any", NULL};
const char *const cf_connection_words[] = {"kept", "closed", "any", NULL};

/* ---- arguments of a verb ---- */

static const char *const type_words[] = {"a string", "a whole number", "true or false", "an object", "an array",
					 "an array of edits", "anything"};

static bool type_fits(enum cf_arg_type type, json_t *v, bool expanded)
{
	if (!expanded && json_is_string(v) && json_string_value(v)[0] == '$')
		return true;
	switch (type) {
	case CF_ARG_STR: return json_is_string(v);
	case CF_ARG_INT: return json_is_integer(v);
	case CF_ARG_BOOL: return json_is_boolean(v);
	case CF_ARG_OBJECT: return json_is_object(v);
	case CF_ARG_ARRAY:
	case CF_ARG_EDITS: return json_is_array(v);
	case CF_ARG_ANY: break;
	}
	return true;
}

/* Which edits there are, and with which members, is told when the case is read. */
static int check_edits(struct kt_obj *obj, const char *name, json_t *edits)
{
	struct kt_err err = {0};

	if (json_is_array(edits) && kw_edits_check(edits, &err))
		kt_obj_fail(obj, name, err.code, "%s: %s", err.path, err.text);
	return obj->err->code;
}

int cf_args_check(const struct cf_verb *verb, struct kt_obj *obj, bool expanded)
{
	for (const struct cf_arg *arg = verb->args; arg->name; arg++) {
		json_t *v = kt_obj_any(obj, arg->name);

		if (v && !type_fits(arg->type, v, expanded))
			return kt_obj_fail(obj, arg->name, KT_ETYPE, "must be %s", type_words[arg->type]);
		if (arg->type == CF_ARG_EDITS && check_edits(obj, arg->name, v))
			return obj->err->code;
		if (!v && arg->need)
			kt_obj_need(obj, arg->name, NULL);
	}
	return kt_obj_done(obj);
}

/* ---- alternatives ---- */

static json_t *named_error(json_t *name, struct kt_err *err)
{
	struct kt_near near;
	int code;

	if (!json_is_string(name)) {
		kt_fail(err, KT_ETYPE, "must be the name of a Kafka error");
		return NULL;
	}
	if (kw_error_code(json_string_value(name), &code) == 0)
		return json_pack("{s:s}", "$error", json_string_value(name));
	kt_near_init(&near, json_string_value(name));
	for (code = -1; code < 200; code++)
		kt_near_offer(&near, kw_error_name(code));
	kt_fail(err, KT_EUNKNOWN, "unknown error name \"%s\"%s%s%s", json_string_value(name),
		near.best ? "; did you mean \"" : "", near.best ? near.best : "", near.best ? "\"?" : "");
	return NULL;
}

static json_t *any_of(json_t *names, struct kt_err *err)
{
	json_t *patterns = json_array(), *name;
	size_t i;

	json_array_foreach(names, i, name) {
		json_t *pattern = cf_error_pattern(name, err);

		if (!pattern) {
			json_decref(patterns);
			return NULL;
		}
		json_array_append_new(patterns, pattern);
	}
	return json_pack("{s:o}", "$oneOf", patterns);
}

json_t *cf_error_pattern(json_t *error, struct kt_err *err)
{
	json_t *inner;

	if (json_is_array(error) && json_array_size(error) > 0)
		return any_of(error, err);
	if (!json_is_object(error))
		return named_error(error, err);
	if (json_object_size(error) != 1 || !json_object_get(error, "$not")) {
		kt_fail(err, KT_ETYPE, "must be a name, an array of names, or {\"$not\": NAME}");
		return NULL;
	}
	inner = cf_error_pattern(json_object_get(error, "$not"), err);
	return inner ? json_pack("{s:o}", "$not", inner) : NULL;
}

static json_t *read_pattern(struct kt_obj *obj, const char *name)
{
	json_t *pattern = kt_obj_any(obj, name);

	if (pattern && obj->err->code == KT_OK && cf_pattern_check(pattern, false, obj->err))
		kt_obj_place(obj, name);
	return pattern;
}

static int read_alternative(struct cf_alternative *alt, struct kt_obj *obj)
{
	alt->json = obj->json;
	kt_obj_str(obj, "name", &alt->name);
	kt_obj_enum(obj, "grade", cf_grade_words, &alt->grade);
	kt_obj_enum(obj, "connection", cf_connection_words, &alt->connection);
	alt->answer = alt->connection == CF_WANT_KEPT ? CF_ANSWER_SOME : CF_ANSWER_NONE;
	kt_obj_enum(obj, "answer", cf_answer_words, &alt->answer);
	alt->error = kt_obj_any(obj, "error");
	if (alt->error && obj->err->code == KT_OK) {
		json_t *pattern = cf_error_pattern(alt->error, obj->err);

		if (!pattern)
			return kt_obj_place(obj, "error");
		json_decref(pattern);
	}
	alt->message = read_pattern(obj, "message");
	alt->body = read_pattern(obj, "body");
	return kt_obj_done(obj);
}

/* `expect` is an alternative or an array of them. */
static int read_expect(struct cf_step *step, struct kt_obj *obj)
{
	json_t *expect = kt_obj_any(obj, "expect");
	size_t n = json_is_array(expect) ? json_array_size(expect) : 1;
	struct kt_obj sub;
	struct kt_arr arr;

	if (!expect)
		return 0;
	step->alternatives = calloc(n ? n : 1, sizeof *step->alternatives);
	if (!step->alternatives)
		return kt_obj_fail(obj, "expect", KT_ENOMEM, "out of memory");
	if (!json_is_array(expect)) {
		if (kt_obj_object(obj, "expect", &sub))
			read_alternative(&step->alternatives[step->nalternatives++], &sub);
		return obj->err->code;
	}
	kt_obj_array(obj, "expect", &arr);
	while (kt_arr_object(&arr, &sub)) {
		struct cf_alternative *alt = &step->alternatives[step->nalternatives++];

		if (read_alternative(alt, &sub))
			break;
		if (!alt->name)
			return kt_obj_fail(&sub, NULL, KT_EUSAGE, "one of several alternatives needs a name");
	}
	return obj->err->code;
}

/* ---- steps ---- */

static const struct cf_verb *find_verb(struct kt_obj *obj)
{
	const struct cf_verb *found = NULL;

	for (const struct cf_verb *verb = cf_verbs; verb->name; verb++) {
		if (!json_object_get(obj->json, verb->name))
			continue;
		if (found) {
			kt_obj_fail(obj, verb->name, KT_EUSAGE,
				    "a step has one verb, and \"%s\" is there already", found->name);
			return NULL;
		}
		found = verb;
	}
	return found;
}

/* Says which member of a step without a verb was meant to be one. */
static int no_verb(struct kt_obj *obj)
{
	char known[200] = "";
	const char *name;
	json_t *value;

	json_object_foreach(obj->json, name, value) {
		struct kt_near near;

		kt_near_init(&near, name);
		for (const struct cf_verb *verb = cf_verbs; verb->name; verb++)
			kt_near_offer(&near, verb->name);
		if (near.best)
			return kt_obj_fail(obj, name, KT_EUNKNOWN,
					   "unknown verb \"%s\"; did you mean \"%s\"?", name, near.best);
	}
	for (const struct cf_verb *verb = cf_verbs; verb->name; verb++) {
		strncat(known, verb == cf_verbs ? "" : ", ", sizeof known - strlen(known) - 1);
		strncat(known, verb->name, sizeof known - strlen(known) - 1);
	}
	return kt_obj_fail(obj, NULL, KT_EUSAGE, "a step needs a verb: one of %s", known);
}

static int read_capture(struct cf_step *step, struct kt_obj *obj)
{
	struct kt_obj capture;
	const char *name, *path;

	if (!kt_obj_object(obj, "capture", &capture))
		return obj->err->code;
	step->capture = capture.json;
	while (kt_obj_each(&capture, &name))
		kt_obj_str(&capture, name, &path);
	return kt_obj_done(&capture);
}

static int read_step(struct cf_step *step, struct kt_obj *obj)
{
	struct kt_obj args;

	step->verb = find_verb(obj);
	if (!step->verb)
		return obj->err->code ? obj->err->code : no_verb(obj);
	if (kt_obj_object(obj, step->verb->name, &args)) {
		step->args = args.json;
		cf_args_check(step->verb, &args, false);
	}
	read_expect(step, obj);
	read_capture(step, obj);
	kt_obj_int(obj, "within", 1, 60000, &step->within);
	if (kt_obj_done(obj))
		return obj->err->code;
	if (step->verb->need_expect && step->nalternatives == 0)
		return kt_obj_fail(obj, NULL, KT_EUSAGE, "\"%s\" needs \"expect\"", step->verb->name);
	return 0;
}

int cf_steps_read(struct cf_steps *steps, struct kt_arr *arr)
{
	struct kt_obj obj;

	steps->v = calloc(arr->n ? arr->n : 1, sizeof *steps->v);
	if (!steps->v)
		return kt_fail(arr->err, KT_ENOMEM, "out of memory");
	while (kt_arr_object(arr, &obj)) {
		struct cf_step *step = &steps->v[steps->n++];

		snprintf(step->path, sizeof step->path, "%.39s", obj.path);
		if (read_step(step, &obj))
			break;
	}
	return arr->err->code;
}

void cf_steps_fini(struct cf_steps *steps)
{
	for (size_t i = 0; i < steps->n; i++)
		free(steps->v[i].alternatives);
	free(steps->v);
	memset(steps, 0, sizeof *steps);
}
