#include "conformance/match.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/pairs.h"
#include "conformance/vars.h"
#include "lib/text/near.h"
#include "lib/text/regex.h"
#include "lib/wire/message.h"

struct operator {
	const char *name;
	int (*check)(json_t *operand, bool expanded, struct kt_err *err);
	bool (*match)(json_t *operand, json_t *got, struct cf_mismatch *why);
};

static const struct operator *find_operator(json_t *pattern, json_t **operand);
static bool may_be_number(json_t *json, bool expanded);

const char *cf_brief(json_t *json, char *buf, size_t size)
{
	char *text;

	if (!json) {
		snprintf(buf, size, "nothing");
		return buf;
	}
	text = json_dumps(json, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS);
	if (text && strlen(text) >= size) {
		text[size - sizeof "..."] = '\0';
		kt_clean(text);   /* no half character in front of the dots */
		snprintf(buf, size, "%s...", text);
	} else {
		snprintf(buf, size, "%s", text ? text : "?");
	}
	free(text);
	return buf;
}

/* ---- where and why ---- */

__attribute__((format(printf, 2, 3)))
static bool differ(struct cf_mismatch *why, const char *fmt, ...)
{
	va_list ap;

	if (!why)
		return false;
	why->path[0] = '\0';
	va_start(ap, fmt);
	vsnprintf(why->text, sizeof why->text, fmt, ap);
	va_end(ap);
	kt_clean(why->text);
	return false;
}

/* Puts one step in front of the path, on the way back from the place of the difference. */
static bool below(struct cf_mismatch *why, const char *step)
{
	char rest[sizeof why->path];

	if (!why)
		return false;
	memcpy(rest, why->path, sizeof rest);
	snprintf(why->path, sizeof why->path, "%.90s%s%.100s", step, rest[0] && rest[0] != '[' ? "." : "", rest);
	kt_clean(why->path);
	return false;
}

static bool below_index(struct cf_mismatch *why, size_t i)
{
	char step[24];

	snprintf(step, sizeof step, "[%zu]", i);
	return below(why, step);
}

static bool expected(struct cf_mismatch *why, const char *what, json_t *got)
{
	char text[240];

	return differ(why, "expected %s, got %s", what, cf_brief(got, text, sizeof text));
}

/* ---- operators ---- */

static int check_true(json_t *operand, bool expanded, struct kt_err *err)
{
	(void)expanded;
	return json_is_true(operand) ? 0 : kt_fail(err, KT_ETYPE, "must be true");
}

static bool match_any(json_t *operand, json_t *got, struct cf_mismatch *why)
{
	(void)operand;
	return got ? true : differ(why, "expected anything, got nothing");
}

static bool match_absent(json_t *operand, json_t *got, struct cf_mismatch *why)
{
	(void)operand;
	return got ? expected(why, "nothing", got) : true;
}

static bool match_not(json_t *operand, json_t *got, struct cf_mismatch *why)
{
	char text[160], what[200];

	if (got && !cf_match(operand, got, NULL))
		return true;
	snprintf(what, sizeof what, "anything but %s", cf_brief(operand, text, sizeof text));
	return expected(why, what, got);
}

static int check_list(json_t *operand, bool expanded, struct kt_err *err)
{
	size_t i;
	json_t *v;

	if (!json_is_array(operand) || json_array_size(operand) == 0)
		return kt_fail(err, KT_ETYPE, "must be an array of patterns");
	json_array_foreach(operand, i, v)
		if (cf_pattern_check(v, expanded, err))
			return err->code;
	return 0;
}

static bool match_one_of(json_t *operand, json_t *got, struct cf_mismatch *why)
{
	char text[240], what[260];
	size_t i;
	json_t *v;

	json_array_foreach(operand, i, v)
		if (cf_match(v, got, NULL))
			return true;
	snprintf(what, sizeof what, "one of %s", cf_brief(operand, text, sizeof text));
	return expected(why, what, got);
}

/* Of numbers: below 0 when a is less than b. Whole ones are not made reals, which have fewer digits. */
static int compare(json_t *a, json_t *b)
{
	json_int_t ia = json_integer_value(a), ib = json_integer_value(b);
	double ra = json_number_value(a), rb = json_number_value(b);

	return json_is_integer(a) && json_is_integer(b) ? (ia > ib) - (ia < ib) : (ra > rb) - (ra < rb);
}

static int check_range(json_t *operand, bool expanded, struct kt_err *err)
{
	json_t *low = json_array_get(operand, 0), *high = json_array_get(operand, 1);

	if (json_array_size(operand) != 2 || !may_be_number(low, expanded) || !may_be_number(high, expanded))
		return kt_fail(err, KT_ETYPE, "must be an array of two numbers");
	if (json_is_number(low) && json_is_number(high) && compare(low, high) > 0)
		return kt_fail(err, KT_ERANGE, "holds no number: its low end is above its high end");
	return 0;
}

static bool match_range(json_t *operand, json_t *got, struct cf_mismatch *why)
{
	json_t *low = json_array_get(operand, 0), *high = json_array_get(operand, 1);
	char text[80], what[100];

	if (json_is_number(low) && json_is_number(high) && json_is_number(got) && compare(low, got) <= 0 &&
	    compare(got, high) <= 0)
		return true;
	snprintf(what, sizeof what, "a number in %s", cf_brief(operand, text, sizeof text));
	return expected(why, what, got);
}

static int compile(json_t *operand, struct kt_regex **regex, struct kt_err *err)
{
	struct kt_err why = {0};
	int code;

	if (!json_is_string(operand))
		return kt_fail(err, KT_ETYPE, "must be a string");
	code = kt_regex_compile(regex, json_string_value(operand), json_string_length(operand), KT_REGEX_FOUND, &why);
	return code ? kt_fail(err, code, "not a regular expression: %s", why.text) : 0;
}

static int check_regex(json_t *operand, bool expanded, struct kt_err *err)
{
	struct kt_regex *regex = NULL;
	int rc = compile(operand, &regex, err);

	(void)expanded;
	kt_regex_free(regex);
	return rc;
}

static bool match_regex(json_t *operand, json_t *got, struct cf_mismatch *why)
{
	char text[300], what[340];
	struct kt_regex *regex;
	int found;

	if (compile(operand, &regex, NULL))
		return differ(why, "the pattern is not a regular expression");
	found = json_is_string(got) ? kt_regex_matches(regex, json_string_value(got), json_string_length(got)) : 0;
	kt_regex_free(regex);
	if (found == 1)
		return true;
	if (found < 0)
		return differ(why, "a text of %zu bytes cannot be matched with %s: %s", json_string_length(got),
			      cf_brief(operand, text, sizeof text), kt_strerror(found));
	snprintf(what, sizeof what, "a text like %s", cf_brief(operand, text, sizeof text));
	return expected(why, what, got);
}

static bool match_length(json_t *operand, json_t *got, struct cf_mismatch *why)
{
	json_t *length;
	bool ok;

	if (!json_is_array(got) && !json_is_string(got))
		return expected(why, "an array or a string", got);
	length = json_integer((json_int_t)(json_is_array(got) ? json_array_size(got) : json_string_length(got)));
	ok = cf_match(operand, length, why);
	json_decref(length);
	return ok ? true : below(why, "length");
}

static int check_contains(json_t *operand, bool expanded, struct kt_err *err)
{
	size_t i;
	json_t *v;

	if (!json_is_string(operand) && check_list(operand, expanded, err))
		return err->code;
	json_array_foreach(operand, i, v)
		if (json_is_string(v) && json_string_length(v) == 0)
			return kt_fail(err, KT_EUSAGE, "holds an empty text, which is in every text");
	return json_is_string(operand) && json_string_length(operand) == 0
	       ? kt_fail(err, KT_EUSAGE, "must not be empty: that is in every text") : 0;
}

struct elements {
	json_t *patterns, *got;
};

static bool element_fits(void *arg, size_t pattern, size_t element)
{
	const struct elements *elements = arg;

	return cf_match(json_array_get(elements->patterns, pattern), json_array_get(elements->got, element), NULL);
}

static bool match_elements(json_t *patterns, json_t *got, struct cf_mismatch *why)
{
	struct elements elements = {patterns, got};
	char text[240], what[280];
	size_t without;

	if (cf_pairs(json_array_size(patterns), json_array_size(got), element_fits, &elements, &without))
		return differ(why, "out of memory");
	if (without == json_array_size(patterns))
		return true;
	snprintf(what, sizeof what, "an element like %s",
		 cf_brief(json_array_get(patterns, without), text, sizeof text));
	return expected(why, what, got);
}

static bool holds(json_t *text, json_t *got, struct cf_mismatch *why)
{
	char brief[240], what[280];

	if (json_is_string(text) && strstr(json_string_value(got), json_string_value(text)))
		return true;
	snprintf(what, sizeof what, "a text that holds %s", cf_brief(text, brief, sizeof brief));
	return expected(why, what, got);
}

static bool match_contains(json_t *operand, json_t *got, struct cf_mismatch *why)
{
	json_t *text;
	size_t i;

	if (json_is_array(got) && json_is_array(operand))
		return match_elements(operand, got, why);
	if (!json_is_string(got))
		return expected(why, json_is_array(operand) ? "an array or a text" : "a text", got);
	if (json_is_string(operand))
		return holds(operand, got, why);
	json_array_foreach(operand, i, text)
		if (!holds(text, got, why))
			return false;
	return true;
}

static int check_error(json_t *operand, bool expanded, struct kt_err *err)
{
	int code;

	(void)expanded;
	if (!json_is_string(operand))
		return kt_fail(err, KT_ETYPE, "must be the name of a Kafka error");
	if (kw_error_code(json_string_value(operand), &code))
		return kt_fail(err, KT_EUNKNOWN, "unknown error name \"%s\"", json_string_value(operand));
	return 0;
}

static bool match_error(json_t *operand, json_t *got, struct cf_mismatch *why)
{
	const char *name = json_string_value(operand);
	int code = 0;

	kw_error_code(name, &code);
	if (json_is_integer(got) && json_integer_value(got) == code)
		return true;
	if (!json_is_integer(got))
		return expected(why, name, got);
	return differ(why, "expected %s (%d), got %s (%d)", name, code, kw_error_name((int)json_integer_value(got)),
		      (int)json_integer_value(got));
}

static int check_plus(json_t *operand, bool expanded, struct kt_err *err)
{
	size_t i;
	json_t *v;

	if (json_array_size(operand) < 2)
		return kt_fail(err, KT_ETYPE, "must be an array of whole numbers");
	json_array_foreach(operand, i, v)
		if (json_is_real(v) || !may_be_number(v, expanded))
			return kt_fail(err, KT_ETYPE, "must be an array of whole numbers");
	return 0;
}

/* What is no number, or too great for one, is a sum that nothing equals. */
static bool match_plus(json_t *operand, json_t *got, struct cf_mismatch *why)
{
	json_int_t sum = 0;
	char text[240], what[280];
	bool is_sum = true;
	size_t i;
	json_t *v;

	json_array_foreach(operand, i, v)
		is_sum = is_sum && json_is_integer(v) && !__builtin_add_overflow(sum, json_integer_value(v), &sum);
	if (is_sum && json_is_integer(got) && json_integer_value(got) == sum)
		return true;
	if (is_sum)
		snprintf(what, sizeof what, "%" JSON_INTEGER_FORMAT, sum);
	else
		snprintf(what, sizeof what, "the sum of %s", cf_brief(operand, text, sizeof text));
	return expected(why, what, got);
}

static const struct operator operators[] = {
	{"$any", check_true, match_any},
	{"$absent", check_true, match_absent},
	{"$not", cf_pattern_check, match_not},
	{"$oneOf", check_list, match_one_of},
	{"$range", check_range, match_range},
	{"$regex", check_regex, match_regex},
	{"$length", cf_pattern_check, match_length},
	{"$contains", check_contains, match_contains},
	{"$error", check_error, match_error},
	{"$plus", check_plus, match_plus},
};

static const char *operator_word(json_t *pattern, json_t **operand)
{
	void *iter;

	if (!json_is_object(pattern) || json_object_size(pattern) != 1)
		return NULL;
	iter = json_object_iter(pattern);
	*operand = json_object_iter_value(iter);
	return json_object_iter_key(iter)[0] == '$' ? json_object_iter_key(iter) : NULL;
}

static const struct operator *find_operator(json_t *pattern, json_t **operand)
{
	const char *word = operator_word(pattern, operand);

	for (size_t i = 0; word && i < sizeof operators / sizeof *operators; i++)
		if (strcmp(operators[i].name, word) == 0)
			return &operators[i];
	return NULL;
}

/* ---- patterns ---- */

static bool match_object(json_t *pattern, json_t *got, struct cf_mismatch *why)
{
	const char *name;
	json_t *sub;

	if (!json_is_object(got))
		return expected(why, "an object", got);
	json_object_foreach(pattern, name, sub)
		if (!cf_match(sub, json_object_get(got, name), why))
			return below(why, name);
	return true;
}

static bool match_array(json_t *pattern, json_t *got, struct cf_mismatch *why)
{
	size_t n = json_array_size(pattern), i;
	char what[40];

	if (!json_is_array(got) || json_array_size(got) != n) {
		snprintf(what, sizeof what, n == 1 ? "an array of 1 element" : "an array of %zu elements", n);
		return expected(why, what, got);
	}
	for (i = 0; i < n; i++)
		if (!cf_match(json_array_get(pattern, i), json_array_get(got, i), why))
			return below_index(why, i);
	return true;
}

bool cf_match(json_t *pattern, json_t *got, struct cf_mismatch *why)
{
	json_t *operand = NULL;
	const struct operator *op = find_operator(pattern, &operand);
	char text[240];

	if (op)
		return op->match(operand, got, why);
	if (!got)
		return differ(why, "expected %s, got nothing", cf_brief(pattern, text, sizeof text));
	if (json_is_object(pattern))
		return match_object(pattern, got, why);
	if (json_is_array(pattern))
		return match_array(pattern, got, why);
	if (json_is_number(pattern) && json_is_number(got)) {
		if (compare(pattern, got) == 0)
			return true;
	} else if (json_equal(pattern, got)) {
		return true;
	}
	return expected(why, cf_brief(pattern, text, sizeof text), got);
}

/* ---- checking a pattern ---- */

static bool is_variable(json_t *json, bool expanded)
{
	return !expanded && json_is_string(json) && json_string_value(json)[0] == '$' &&
	       json_string_value(json)[1] != '$';
}

/* Text with a variable in it, "${name}", never is one. */
static bool may_be_number(json_t *json, bool expanded)
{
	return json_is_number(json) ||
	       (is_variable(json, expanded) && isalpha((unsigned char)json_string_value(json)[1]));
}

static int unknown_operator(const char *word, struct kt_err *err)
{
	struct kt_near near;

	kt_near_init(&near, word);
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
		kt_near_offer(&near, operators[i].name);
	if (near.best)
		return kt_fail(err, KT_EUNKNOWN, "unknown operator \"%s\"; did you mean \"%s\"?", word, near.best);
	return kt_fail(err, KT_EUNKNOWN, "unknown operator \"%s\"", word);
}

static int check_members(json_t *pattern, bool expanded, struct kt_err *err)
{
	const char *name;
	json_t *sub;

	json_object_foreach(pattern, name, sub) {
		int rc = name[0] == '$' ? kt_fail(err, KT_EUNKNOWN, "an operator stands alone in its object")
					: cf_pattern_check(sub, expanded, err);

		if (rc) {
			cf_err_under(err, "%s", name);
			return rc;
		}
	}
	return 0;
}

int cf_pattern_check(json_t *pattern, bool expanded, struct kt_err *err)
{
	json_t *operand = NULL;
	const char *word = operator_word(pattern, &operand);
	const struct operator *op = find_operator(pattern, &operand);
	size_t i;
	json_t *sub;

	if (word && !op)
		return unknown_operator(word, err);
	if (op) {
		if (is_variable(operand, expanded) || op->check(operand, expanded, err) == 0)
			return 0;
		cf_err_under(err, "%s", word);
		return err->code;
	}
	if (json_is_object(pattern))
		return check_members(pattern, expanded, err);
	json_array_foreach(pattern, i, sub) {
		if (cf_pattern_check(sub, expanded, err) == 0)
			continue;
		cf_err_under(err, "[%zu]", i);
		return err->code;
	}
	return 0;
}
