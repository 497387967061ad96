#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text/json.h"
#include "lib/text/near.h"
#include "lib/text/number.h"

enum { PATH = sizeof((struct kt_obj *)0)->path };

/* ---- places and failures ---- */

/* A value and where it stands: what the getters of objects and arrays have in common. */
struct spot {
	const struct kt_json *doc;
	json_t *json;
	struct kt_err *err;
	char path[PATH];
};

static bool is_identifier(const char *name)
{
	return *name && !strchr("0123456789", *name) &&
	       !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")];
}

static void member_path(char out[PATH], const char *parent, const char *name)
{
	json_t *string;
	char *quoted;

	if (is_identifier(name)) {
		snprintf(out, PATH, "%s.%s", parent, name);
		return;
	}
	string = json_string(name);
	quoted = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
	snprintf(out, PATH, "%s[%s]", parent, quoted ? quoted : "...");
	free(quoted);
	json_decref(string);
}

static void element_path(char out[PATH], const char *parent, size_t index)
{
	snprintf(out, PATH, "%.230s[%zu]", parent, index);
}

static const char *kind_of(const json_t *json)
{
	if (!json)
		return "nothing";
	switch (json_typeof(json)) {
	case JSON_OBJECT: return "an object";
	case JSON_ARRAY: return "an array";
	case JSON_STRING: return "a string";
	case JSON_INTEGER: return "a whole number";
	case JSON_REAL: return "a number with fraction or exponent";
	case JSON_NULL: return "null";
	default: return json_is_true(json) ? "true" : "false";
	}
}

static bool wrong_type(const struct spot *spot, const char *wanted)
{
	kt_json_fail(spot->doc, spot->path, spot->err, KT_ETYPE, "must be %s, not %s", wanted, kind_of(spot->json));
	return false;
}

static bool out_of_range(const struct spot *spot, const struct kt_err *range)
{
	kt_json_fail(spot->doc, spot->path, spot->err, range->code, "%s", range->text);
	return false;
}

/* ---- values ---- */

static bool read_int64(const struct spot *spot, int64_t min, int64_t max, int64_t *v)
{
	struct kt_err range = {0};
	int64_t got;

	if (!json_is_integer(spot->json))
		return wrong_type(spot, "a whole number");
	got = json_integer_value(spot->json);
	if (kt_check_int(got, min, max, &range) < 0)
		return out_of_range(spot, &range);
	*v = got;
	return true;
}

static bool read_int(const struct spot *spot, int min, int max, int *v)
{
	int64_t wide;
	bool ok = read_int64(spot, min, max, &wide);

	if (ok)
		*v = (int)wide;
	return ok;
}

static bool read_str(const struct spot *spot, const char **s)
{
	if (!json_is_string(spot->json))
		return wrong_type(spot, "a string");
	*s = json_string_value(spot->json);
	return true;
}

static bool read_object(const struct spot *spot, struct kt_obj *obj)
{
	kt_obj_open(obj, spot->doc, spot->json, spot->path, spot->err);
	return obj->json != NULL;
}

static bool read_array(const struct spot *spot, struct kt_arr *arr)
{
	*arr = (struct kt_arr){.doc = spot->doc, .err = spot->err};
	if (!json_is_array(spot->json))
		return wrong_type(spot, "an array");
	arr->json = spot->json;
	arr->n = json_array_size(spot->json);
	memcpy(arr->path, spot->path, sizeof arr->path);
	return true;
}

/* ---- objects ---- */

void kt_obj_open(struct kt_obj *obj, const struct kt_json *doc, json_t *json, const char *path, struct kt_err *err)
{
	struct spot spot = {.doc = doc, .json = json, .err = err};

	*obj = (struct kt_obj){.doc = doc, .err = err};
	snprintf(obj->path, sizeof obj->path, "%s", path);
	snprintf(spot.path, sizeof spot.path, "%s", path);
	if (json_is_object(json))
		obj->json = json;
	else
		wrong_type(&spot, "an object");
}

void kt_obj_root(struct kt_obj *obj, const struct kt_json *doc, struct kt_err *err)
{
	kt_obj_open(obj, doc, doc->root, "$", err);
}

static bool was_asked(const struct kt_obj *obj, const char *name)
{
	for (size_t i = 0; i < obj->nasked; i++) {
		if (strcmp(obj->asked[i], name) == 0)
			return true;
	}
	return false;
}

static void ask(struct kt_obj *obj, const char *name)
{
	if (obj->any_name || was_asked(obj, name))
		return;
	assert(obj->nasked < KT_OBJ_MEMBERS);
	obj->asked[obj->nasked++] = name;
}

/* Finds a member unless something failed before. */
static bool find(struct kt_obj *obj, const char *name, struct spot *spot)
{
	ask(obj, name);
	if (obj->err->code != KT_OK || !obj->json)
		return false;
	spot->json = json_object_get(obj->json, name);
	if (!spot->json)
		return false;
	spot->doc = obj->doc;
	spot->err = obj->err;
	member_path(spot->path, obj->path, name);
	return true;
}

/* Names what the user may have meant to be the member. */
static void missing(struct kt_obj *obj, const char *name)
{
	struct kt_near near;
	const char *other;
	json_t *value;

	kt_near_init(&near, name);
	json_object_foreach(obj->json, other, value) {
		if (!was_asked(obj, other))
			kt_near_offer(&near, other);
	}
	if (near.best)
		kt_obj_fail(obj, NULL, KT_EUNKNOWN, "missing member \"%s\"; did you mean it by \"%s\"?", name,
			    near.best);
	else
		kt_obj_fail(obj, NULL, KT_EUNKNOWN, "missing member \"%s\"", name);
}

void kt_obj_need(struct kt_obj *obj, ...)
{
	const char *name;
	va_list ap;

	va_start(ap, obj);
	while ((name = va_arg(ap, const char *))) {
		if (obj->json && obj->err->code == KT_OK && !json_object_get(obj->json, name))
			missing(obj, name);
	}
	va_end(ap);
}

bool kt_obj_bool(struct kt_obj *obj, const char *name, bool *v)
{
	struct spot spot;

	if (!find(obj, name, &spot))
		return false;
	if (!json_is_boolean(spot.json))
		return wrong_type(&spot, "true or false");
	*v = json_is_true(spot.json);
	return true;
}

bool kt_obj_int(struct kt_obj *obj, const char *name, int min, int max, int *v)
{
	struct spot spot;

	return find(obj, name, &spot) && read_int(&spot, min, max, v);
}

bool kt_obj_int64(struct kt_obj *obj, const char *name, int64_t min, int64_t max, int64_t *v)
{
	struct spot spot;

	return find(obj, name, &spot) && read_int64(&spot, min, max, v);
}

bool kt_obj_real(struct kt_obj *obj, const char *name, double min, double max, double *v)
{
	struct kt_err range = {0};
	struct spot spot;
	double got;

	if (!find(obj, name, &spot))
		return false;
	if (!json_is_number(spot.json))
		return wrong_type(&spot, "a number");
	got = json_number_value(spot.json);
	if (kt_check_real(got, min, max, &range) < 0)
		return out_of_range(&spot, &range);
	*v = got;
	return true;
}

bool kt_obj_str(struct kt_obj *obj, const char *name, const char **s)
{
	struct spot spot;

	return find(obj, name, &spot) && read_str(&spot, s);
}

bool kt_obj_enum(struct kt_obj *obj, const char *name, const char *const *names, int *v)
{
	struct kt_err choice = {0};
	const char *got;

	if (!kt_obj_str(obj, name, &got))
		return false;
	if (kt_choose(got, names, v, &choice) < 0)
		kt_obj_fail(obj, name, choice.code, "%s", choice.text);
	return choice.code == KT_OK;
}

bool kt_obj_object(struct kt_obj *obj, const char *name, struct kt_obj *sub)
{
	struct spot spot;

	*sub = (struct kt_obj){.doc = obj->doc, .err = obj->err};
	return find(obj, name, &spot) && read_object(&spot, sub);
}

bool kt_obj_array(struct kt_obj *obj, const char *name, struct kt_arr *arr)
{
	struct spot spot;

	*arr = (struct kt_arr){.doc = obj->doc, .err = obj->err};
	return find(obj, name, &spot) && read_array(&spot, arr);
}

json_t *kt_obj_any(struct kt_obj *obj, const char *name)
{
	struct spot spot;

	return find(obj, name, &spot) ? spot.json : NULL;
}

bool kt_obj_each(struct kt_obj *obj, const char **name)
{
	if (obj->err->code != KT_OK || !obj->json)
		return false;
	obj->iter = obj->any_name ? json_object_iter_next(obj->json, obj->iter) : json_object_iter(obj->json);
	obj->any_name = true;
	if (obj->iter)
		*name = json_object_iter_key(obj->iter);
	return obj->iter != NULL;
}

int kt_obj_fail(struct kt_obj *obj, const char *name, int code, const char *fmt, ...)
{
	char path[PATH];
	va_list ap;

	snprintf(path, sizeof path, "%s", obj->path);
	if (name)
		member_path(path, obj->path, name);
	va_start(ap, fmt);
	kt_json_vfail(obj->doc, path, obj->err, code, fmt, ap);
	va_end(ap);
	return code;
}

int kt_obj_place(struct kt_obj *obj, const char *name)
{
	struct kt_err found = *obj->err;
	char path[PATH], full[2 * PATH];

	if (found.code == KT_OK || found.file[0])
		return found.code;
	member_path(path, obj->path, name);
	snprintf(full, sizeof full, "%s%s%s", path, found.path[0] && found.path[0] != '[' ? "." : "", found.path);
	obj->err->code = KT_OK;
	return kt_json_fail(obj->doc, full, obj->err, found.code, "%s", found.text);
}

int kt_obj_done(struct kt_obj *obj)
{
	struct kt_near near;
	const char *name;
	json_t *value;

	if (obj->any_name || obj->err->code != KT_OK)
		return obj->err->code;
	json_object_foreach(obj->json, name, value) {
		if (was_asked(obj, name))
			continue;
		kt_near_init(&near, name);
		for (size_t i = 0; i < obj->nasked; i++)
			kt_near_offer(&near, obj->asked[i]);
		if (near.best)
			return kt_obj_fail(obj, name, KT_EUNKNOWN, "unknown member \"%s\"; did you mean \"%s\"?", name,
					   near.best);
		return kt_obj_fail(obj, name, KT_EUNKNOWN, "unknown member \"%s\"", name);
	}
	return KT_OK;
}

/* ---- arrays ---- */

static bool next(struct kt_arr *arr, struct spot *spot)
{
	if (arr->err->code != KT_OK || arr->next >= arr->n)
		return false;
	*spot = (struct spot){.doc = arr->doc, .json = json_array_get(arr->json, arr->next), .err = arr->err};
	element_path(spot->path, arr->path, arr->next++);
	return true;
}

bool kt_arr_object(struct kt_arr *arr, struct kt_obj *obj)
{
	struct spot spot;

	return next(arr, &spot) && read_object(&spot, obj);
}

bool kt_arr_array(struct kt_arr *arr, struct kt_arr *sub)
{
	struct spot spot;

	return next(arr, &spot) && read_array(&spot, sub);
}

bool kt_arr_str(struct kt_arr *arr, const char **s)
{
	struct spot spot;

	return next(arr, &spot) && read_str(&spot, s);
}

bool kt_arr_int(struct kt_arr *arr, int min, int max, int *v)
{
	struct spot spot;

	return next(arr, &spot) && read_int(&spot, min, max, v);
}

json_t *kt_arr_any(struct kt_arr *arr)
{
	struct spot spot;

	return next(arr, &spot) ? spot.json : NULL;
}

int kt_arr_fail(struct kt_arr *arr, int code, const char *fmt, ...)
{
	char path[PATH];
	va_list ap;

	element_path(path, arr->path, arr->next - 1);
	va_start(ap, fmt);
	kt_json_vfail(arr->doc, path, arr->err, code, fmt, ap);
	va_end(ap);
	return code;
}
