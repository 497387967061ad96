#include "fakebroker/config/parse.h"

#include "fakebroker/mutants.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct kw_str fb_trim(struct kw_str text)
{
	while (text.n > 0 && (uint8_t)text.s[0] <= ' ') {
		text.s++;
		text.n--;
	}
	while (text.n > 0 && (uint8_t)text.s[text.n - 1] <= ' ')
		text.n--;
	return text;
}

bool fb_parse_long(struct kw_str text, int64_t min, int64_t max, int64_t *l)
{
	bool minus = text.n > 0 && text.s[0] == '-';
	int32_t i = minus || (text.n > 0 && text.s[0] == '+') ? 1 : 0;
	int64_t v = 0;

	if (i >= text.n)
		return false;
	for (; i < text.n; i++) {
		int digit = text.s[i] - '0';

		/* Downwards, because the smallest number has no positive counterpart. */
		if (digit < 0 || digit > 9 || __builtin_mul_overflow(v, 10, &v) || __builtin_sub_overflow(v, digit, &v))
			return false;
	}
	if (!minus && v == INT64_MIN)
		return false;
	v = minus ? v : -v;
	if (v < min || v > max)
		return false;
	*l = v;
	return true;
}

static int32_t skip_digits(struct kw_str text, int32_t i)
{
	while (i < text.n && text.s[i] >= '0' && text.s[i] <= '9')
		i++;
	return i;
}

/* Is text from i on [digits][.digits][e[sign]digits][f|d], with at least one digit before the exponent? */
static bool decimal(struct kw_str text, int32_t i)
{
	int32_t from = i, digits;

	i = skip_digits(text, i);
	digits = i - from;
	if (i < text.n && text.s[i] == '.') {
		from = ++i;
		i = skip_digits(text, i);
		digits += i - from;
	}
	if (digits == 0)
		return false;
	if (i < text.n && (text.s[i] == 'e' || text.s[i] == 'E')) {
		i++;
		if (i < text.n && (text.s[i] == '-' || text.s[i] == '+'))
			i++;
		from = i;
		i = skip_digits(text, i);
		if (i == from)
			return false;
	}
	if (i < text.n && strchr("fFdD", text.s[i]))
		i++;
	return i == text.n;
}

bool fb_parse_double(struct kw_str text, double *d)
{
	int32_t i = text.n > 0 && (text.s[0] == '-' || text.s[0] == '+') ? 1 : 0;
	struct kw_str rest = {text.s + i, text.n - i};
	char buf[512];

	if (kw_str_is(rest, "NaN"))
		*d = NAN;
	else if (kw_str_is(rest, "Infinity"))
		*d = INFINITY;
	else if (text.n < (int32_t)sizeof buf && decimal(text, i)) {
		memcpy(buf, rest.s, (size_t)rest.n);
		buf[rest.n] = '\0';
		*d = strtod(buf, NULL);
	} else {
		return false;
	}
	if (i && text.s[0] == '-')
		*d = -*d;
	return true;
}

/* The shortest digits that read back as d, and the power of ten of the first one. */
static int shortest(double d, char digits[24], int *exponent)
{
	char buf[40];
	int n = 0;

	for (int precision = 1; precision <= 17; precision++) {
		snprintf(buf, sizeof buf, "%.*e", precision - 1, d);
		if (strtod(buf, NULL) == d)
			break;
	}
	for (const char *p = buf; *p && *p != 'e'; p++) {
		if (*p != '.')
			digits[n++] = *p;
	}
	*exponent = (int)strtol(strchr(buf, 'e') + 1, NULL, 10);
	while (n > 1 && digits[n - 1] == '0')
		n--;
	digits[n] = '\0';
	return n;
}

char *fb_double_text(double d, char out[FB_DOUBLE_TEXT])
{
	const char *sign = signbit(d) ? "-" : "";
	char digits[24];
	int n, exponent;

	if (isnan(d)) {
		snprintf(out, FB_DOUBLE_TEXT, "NaN");
		return out;
	}
	if (isinf(d) || d == 0) {
		snprintf(out, FB_DOUBLE_TEXT, "%s%s", sign, d == 0 ? "0.0" : "Infinity");
		return out;
	}
	d = fabs(d);
	n = shortest(d, digits, &exponent);
	if (d < 1e-3 || d >= 1e7)
		snprintf(out, FB_DOUBLE_TEXT, "%s%c.%sE%d", sign, digits[0], n > 1 ? digits + 1 : "0", exponent);
	else if (exponent < 0)
		snprintf(out, FB_DOUBLE_TEXT, "%s0.%.*s%s", sign, -exponent - 1, "00", digits);
	else if (n <= exponent + 1)
		snprintf(out, FB_DOUBLE_TEXT, "%s%s%.*s.0", sign, digits, exponent + 1 - n, "000000");
	else
		snprintf(out, FB_DOUBLE_TEXT, "%s%.*s.%s", sign, exponent + 1, digits, digits + exponent + 1);
	return out;
}

struct kw_str *fb_split_list(struct kw_str text, struct kw_arena *arena, size_t *n)
{
	struct kw_str *parts, rest = fb_trim(text);
	size_t max = 1;

	*n = 0;
	for (int32_t i = 0; i < rest.n; i++)
		max += rest.s[i] == ',';
	parts = kw_alloc(arena, max * sizeof *parts);
	if (!parts || rest.n <= 0)
		return parts;
	for (;;) {
		const char *comma = memchr(rest.s, ',', (size_t)rest.n);
		int32_t len = comma ? (int32_t)(comma - rest.s) : rest.n;

		parts[(*n)++] = fb_trim((struct kw_str){rest.s, len});
		if (!comma)
			return parts;
		rest = (struct kw_str){comma + 1, rest.n - len - 1};
	}
}

struct kw_str fb_join(const struct kw_str *parts, size_t n, const char *sep, struct kw_arena *arena)
{
	size_t len = 0, nsep = strlen(sep);
	char *text, *p;

	for (size_t i = 0; i < n; i++)
		len += (size_t)parts[i].n + (i ? nsep : 0);
	text = p = len < INT32_MAX ? kw_alloc(arena, len + 1) : NULL;
	if (!text)
		return KW_NULL_STR;
	for (size_t i = 0; i < n; i++) {
		if (i)
			p = mempcpy(p, sep, nsep);
		if (parts[i].n)
			p = mempcpy(p, parts[i].s, (size_t)parts[i].n);
	}
	return (struct kw_str){text, (int32_t)len};
}

const char *fb_invalid(const struct fb_configdef *def, struct kw_str value, const char *why, struct kw_arena *arena)
{
	/* Kafka's Password prints itself like this. */
	if (def->sensitive && value.n >= 0)
		value = kw_str("[hidden]");
	return kw_sprintf(arena, "Invalid value %.*s for configuration %s%s%s", FB_STR(value), def->name,
		why ? ": " : "", why ? why : "");
}

/* Kafka can load only the classes it has; a fake cannot know those of a user. */
static bool class_exists(const struct fb_configdef *def, struct kw_str name)
{
	return def->origin != FB_FROM_KAFKA || (name.n > 17 && memcmp(name.s, "org.apache.kafka.", 17) == 0);
}

static bool parse_number(const struct fb_configdef *def, struct kw_str text, struct fb_value *value)
{
	switch (def->type) {
	case FB_INT:
		if (fb_mutant(FB_M_INT_WIDE))
			return fb_parse_long(text, INT64_MIN, INT64_MAX, &value->l);
		return fb_parse_long(text, INT32_MIN, INT32_MAX, &value->l);
	case FB_SHORT:
		return fb_parse_long(text, INT16_MIN, INT16_MAX, &value->l);
	case FB_LONG:
		return fb_parse_long(text, INT64_MIN, INT64_MAX, &value->l);
	default:
		return fb_parse_double(text, &value->d);
	}
}

static bool parse_boolean(struct kw_str text, struct fb_value *value)
{
	value->l = text.n == 4 && strncasecmp(text.s, "true", 4) == 0;
	return value->l || (text.n == 5 && strncasecmp(text.s, "false", 5) == 0);
}

bool fb_parse(const struct fb_configdef *def, struct kw_str text, struct kw_arena *arena, struct fb_value *value,
	      const char **message)
{
	struct kw_str trimmed = fb_trim(text);
	const char *why = "Expected value to be either true or false";
	bool good = true;

	*value = (struct fb_value){.null = text.n < 0, .s = trimmed};
	if (value->null)
		return true;
	switch (def->type) {
	case FB_BOOLEAN:
		good = parse_boolean(trimmed, value) || fb_mutant(FB_M_BOOLEAN_ANY);
		break;
	case FB_INT: case FB_SHORT: case FB_LONG: case FB_DOUBLE:
		good = parse_number(def, trimmed, value) || fb_mutant(FB_M_NUMBER_ANY);
		if (!good)
			why = kw_sprintf(arena, "Not a number of type %s", fb_config_type_name(def->type));
		break;
	case FB_LIST:
		value->items = fb_split_list(text, arena, &value->nitems);
		*message = NULL;
		return value->items;
	case FB_CLASS:
		good = class_exists(def, trimmed);
		if (!good)
			why = kw_sprintf(arena, "Class %.*s could not be found.", FB_STR(trimmed));
		break;
	case FB_STRING: case FB_PASSWORD:
		break;
	}
	if (!good)
		*message = fb_invalid(def, text, why, arena);
	return good;
}

struct kw_str fb_value_text(const struct fb_configdef *def, const struct fb_value *value, struct kw_arena *arena)
{
	char buf[FB_DOUBLE_TEXT];

	if (value->null)
		return KW_NULL_STR;
	switch (def->type) {
	case FB_BOOLEAN:
		return kw_str(value->l ? "true" : "false");
	case FB_INT: case FB_SHORT: case FB_LONG:
		return kw_str(kw_sprintf(arena, "%lld", (long long)value->l));
	case FB_DOUBLE:
		return kw_str(kw_sprintf(arena, "%s", fb_double_text(value->d, buf)));
	case FB_LIST:
		return fb_join(value->items, value->nitems, ",", arena);
	default:
		return value->s;
	}
}

struct kw_str fb_canonical(const struct fb_configdef *def, struct kw_str text, struct kw_arena *arena)
{
	struct fb_value value;
	const char *message;

	if (text.n < 0 || !fb_parse(def, text, arena, &value, &message))
		return text;
	/* Only for the duplicates that it drops. */
	fb_validate(def, &def->validator, &value, arena, &message);
	return fb_value_text(def, &value, arena);
}

bool fb_config_parse_check(const struct fb_configdef *def, struct kw_str text, struct kw_arena *arena,
			   const char **message)
{
	struct fb_value value;

	return fb_parse(def, text, arena, &value, message) &&
	       fb_validate(def, &def->validator, &value, arena, message);
}
