#include "conformance/vars.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text/near.h"

enum { NAME_MAX_LENGTH = 64 };

static size_t name_length(const char *s)
{
	size_t n = 0;

	if (!isalpha((unsigned char)s[0]))
		return 0;
	while (isalnum((unsigned char)s[n]) || s[n] == '_' || s[n] == '-' ||
	       (s[n] == '.' && isalnum((unsigned char)s[n + 1])))
		n++;
	return n < NAME_MAX_LENGTH ? n : 0;
}

static json_t *lookup(const char *s, size_t n, json_t *vars, struct kt_err *err)
{
	char name[NAME_MAX_LENGTH];
	struct kt_near near;
	const char *known;
	json_t *value;

	memcpy(name, s, n);
	name[n] = '\0';
	value = json_object_get(vars, name);
	if (value)
		return value;
	kt_near_init(&near, name);
	json_object_foreach(vars, known, value)
		kt_near_offer(&near, known);
	if (near.best)
		kt_fail(err, KT_EUNKNOWN, "variable $%s is not set; did you mean $%s?", name, near.best);
	else
		kt_fail(err, KT_EUNKNOWN, "variable $%s is not set", name);
	return NULL;
}

/* ---- strings ---- */

struct text {
	char *s;
	size_t n, cap;
};

static int append(struct text *text, const char *s, size_t n)
{
	if (text->cap - text->n <= n) {
		size_t cap = (text->n + n) * 2 + 64;
		char *grown = realloc(text->s, cap);

		if (!grown)
			return -1;
		text->s = grown;
		text->cap = cap;
	}
	memcpy(text->s + text->n, s, n);
	text->n += n;
	text->s[text->n] = '\0';
	return 0;
}

static int append_value(struct text *text, json_t *value)
{
	char *dump;
	int rc;

	if (json_is_string(value))
		return append(text, json_string_value(value), json_string_length(value));
	dump = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
	rc = dump ? append(text, dump, strlen(dump)) : -1;
	free(dump);
	return rc;
}

/* Bytes of what stands at a dollar sign inside a string; 0 with err. */
static size_t dollar_length(const char *s, struct kt_err *err)
{
	size_t n = name_length(s + 1);

	if (s[1] == '$')
		return 2;
	if (n > 0) {
		kt_fail(err, KT_ESYNTAX, "inside a text a variable is written ${%.*s}", (int)n, s + 1);
		return 0;
	}
	if (s[1] != '{')
		return 1;
	n = name_length(s + 2);
	if (n == 0 || s[2 + n] != '}') {
		kt_fail(err, KT_ESYNTAX, "\"${\" needs a name and \"}\"");
		return 0;
	}
	return n + 3;
}

static size_t expand_one(struct text *text, const char *s, json_t *vars, struct kt_err *err)
{
	size_t n = dollar_length(s, err);
	json_t *value;

	if (n == 0)
		return 0;
	if (n < 3)
		return append(text, "$", 1) ? 0 : n;
	value = lookup(s + 2, n - 3, vars, err);
	return value && append_value(text, value) == 0 ? n : 0;
}

static bool is_whole(const char *s)
{
	return s[0] == '$' && s[1] && name_length(s + 1) == strlen(s + 1);
}

static json_t *expand_string(const char *s, json_t *vars, struct kt_err *err)
{
	struct text text = {0};
	json_t *out = NULL;

	if (is_whole(s))
		return json_incref(lookup(s + 1, strlen(s + 1), vars, err));
	if (append(&text, "", 0))
		goto out;
	while (*s) {
		size_t n = strcspn(s, "$");

		if (append(&text, s, n))
			goto out;
		s += n;
		if (*s == '$') {
			n = expand_one(&text, s, vars, err);
			if (n == 0)
				goto out;
			s += n;
		}
	}
	out = json_stringn(text.s, text.n);
out:
	free(text.s);
	if (!out)
		kt_fail(err, KT_ENOMEM, "out of memory");
	return out;
}

/* ---- documents ---- */

void cf_err_under(struct kt_err *err, const char *fmt, ...)
{
	char rest[sizeof err->path], step[120];
	va_list ap;

	if (!err)
		return;
	va_start(ap, fmt);
	vsnprintf(step, sizeof step, fmt, ap);
	va_end(ap);
	memcpy(rest, err->path, sizeof rest);
	snprintf(err->path, sizeof err->path, "%s%s%.130s", step, rest[0] && rest[0] != '[' ? "." : "", rest);
}

static json_t *expand_object(json_t *json, json_t *vars, struct kt_err *err)
{
	json_t *out = json_object(), *value;
	const char *name;

	json_object_foreach(json, name, value) {
		json_t *new = cf_expand(value, vars, err), *key = NULL;

		if (new)
			key = strstr(name, "${") ? expand_string(name, vars, err) : json_string(name);
		if (!key || !json_is_string(key)) {
			cf_err_under(err, "%s", name);
			json_decref(key);
			json_decref(new);
			json_decref(out);
			return NULL;
		}
		json_object_set_new(out, json_string_value(key), new);
		json_decref(key);
	}
	return out;
}

static json_t *expand_array(json_t *json, json_t *vars, struct kt_err *err)
{
	json_t *out = json_array(), *value;
	size_t i;

	json_array_foreach(json, i, value) {
		json_t *new = cf_expand(value, vars, err);

		if (!new) {
			cf_err_under(err, "[%zu]", i);
			json_decref(out);
			return NULL;
		}
		json_array_append_new(out, new);
	}
	return out;
}

/* Threads share the JSON of a case: not even a reference count of it may change here. */
json_t *cf_expand(json_t *json, json_t *vars, struct kt_err *err)
{
	switch (json_typeof(json)) {
	case JSON_STRING: return expand_string(json_string_value(json), vars, err);
	case JSON_OBJECT: return expand_object(json, vars, err);
	case JSON_ARRAY: return expand_array(json, vars, err);
	default: return json_copy(json);
	}
}

static int check_string(const char *s, struct kt_err *err)
{
	for (const char *at = is_whole(s) ? NULL : strchr(s, '$'); at; at = strchr(at, '$')) {
		size_t n = dollar_length(at, err);

		if (n == 0)
			return err->code;
		at += n;
	}
	return 0;
}

int cf_vars_check(json_t *json, struct kt_err *err)
{
	const char *name;
	json_t *value;
	size_t i;

	if (json_is_string(json))
		return check_string(json_string_value(json), err);
	json_object_foreach(json, name, value) {
		if (cf_vars_check(value, err) == 0)
			continue;
		cf_err_under(err, "%s", name);
		return err->code;
	}
	json_array_foreach(json, i, value) {
		if (cf_vars_check(value, err) == 0)
			continue;
		cf_err_under(err, "[%zu]", i);
		return err->code;
	}
	return 0;
}

static int variables_of(const char *s, int (*fn)(void *arg, const char *name), void *arg)
{
	char name[NAME_MAX_LENGTH];

	if (is_whole(s))
		return fn(arg, s + 1);
	for (const char *at = s; (at = strchr(at, '$')); at++) {
		size_t n = at[1] == '{' ? name_length(at + 2) : 0;
		int rc;

		if (at[1] == '$')
			at++;
		if (n == 0)
			continue;
		memcpy(name, at + 2, n);
		name[n] = '\0';
		rc = fn(arg, name);
		if (rc)
			return rc;
	}
	return 0;
}

int cf_each_variable(json_t *json, int (*fn)(void *arg, const char *name), void *arg)
{
	const char *name;
	json_t *value;
	size_t i;
	int rc = 0;

	if (json_is_string(json))
		return variables_of(json_string_value(json), fn, arg);
	json_object_foreach(json, name, value) {
		if (rc == 0 && strstr(name, "${"))
			rc = variables_of(name, fn, arg);
		if (rc == 0)
			rc = cf_each_variable(value, fn, arg);
	}
	json_array_foreach(json, i, value)
		if (rc == 0)
			rc = cf_each_variable(value, fn, arg);
	return rc;
}

/* ---- paths ---- */

static bool member_is(json_t *element, const char *name, const char *text)
{
	json_t *value = json_object_get(element, name);
	char number[32];

	if (json_is_string(value))
		return strcmp(json_string_value(value), text) == 0;
	if (!json_is_integer(value))
		return false;
	snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	return strcmp(number, text) == 0;
}

static json_t *element(json_t *array, char *inside)
{
	char *text = strchr(inside, '=');
	json_t *value;
	size_t i;

	if (!text)
		return json_array_get(array, (size_t)strtoul(inside, NULL, 10));
	*text++ = '\0';
	json_array_foreach(array, i, value)
		if (member_is(value, inside, text))
			return value;
	return NULL;
}

json_t *cf_at(json_t *json, const char *path)
{
	char part[300];

	while (json && *path) {
		size_t n;

		if (*path == '[') {
			n = strcspn(path, "]");
			if (path[n] != ']' || n > sizeof part)
				return NULL;
			memcpy(part, path + 1, n - 1);
			part[n - 1] = '\0';
			json = element(json, part);
			path += n + 1;
		} else {
			path += *path == '.';
			n = strcspn(path, ".[");
			if (n == 0 || n >= sizeof part)
				return NULL;
			memcpy(part, path, n);
			part[n] = '\0';
			json = json_object_get(json, part);
			path += n;
		}
	}
	return json;
}
