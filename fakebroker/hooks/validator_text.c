/* Validators that read the key or the value as text. Null passes all of them except KeyPattern. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fakebroker/hooks/builtin_validators.h"
#include "fakebroker/hooks/utf8.h"
#include "lib/text/regex.h"

/* ---- KeyPattern ---- */

struct key_pattern {
	bool nulls;
	struct kt_regex *regex;
	char pattern[256];        /* for the message */
};

const struct kassay_option fb_key_pattern_options[] = {
	{"pattern", NULL, "regular expression as RE2's; matches anywhere in the key unless it has ^ and $"},
	{"nulls", "false", "true: accept records without a key"},
	{0},
};

int fb_key_pattern_create(const struct kassay_host *host, void **instance, struct kassay_text *why)
{
	struct key_pattern *self;
	const char *pattern;
	struct kt_err err = {0};
	bool nulls;

	if (fb_option_text(host, "pattern", &pattern, why) < 0 || fb_option_bool(host, "nulls", false, &nulls, why) < 0)
		return -1;
	self = fb_validator_alloc(sizeof *self, why);
	if (!self)
		return -1;
	self->nulls = nulls;
	snprintf(self->pattern, sizeof self->pattern, "%s", pattern);
	if (kt_regex_compile(&self->regex, pattern, strlen(pattern), KT_REGEX_FOUND, &err) < 0) {
		snprintf(why->text, why->size, "option pattern is '%s': %s", pattern, err.text);
		free(self);
		return -1;
	}
	*instance = self;
	return 0;
}

int fb_key_pattern(void *instance, const struct kassay_record *record, struct kassay_verdict *verdict)
{
	const struct key_pattern *self = instance;
	int matches;

	if (record->key.size < 0)
		return self->nulls ? KASSAY_OK : fb_validator_refuse(verdict, "KeyPattern: the record has no key");
	matches = kt_regex_matches(self->regex, record->key.data, (size_t)record->key.size);
	if (matches == 1)
		return KASSAY_OK;
	if (matches < 0)
		return fb_validator_refuse(verdict, "KeyPattern: the key of %d bytes cannot be matched with %s: %s",
					   (int)record->key.size, self->pattern, kt_strerror(matches));
	return fb_validator_refuse(verdict, "KeyPattern: the key does not match %s", self->pattern);
}

void fb_key_pattern_close(void *instance)
{
	struct key_pattern *self = instance;

	kt_regex_free(self->regex);
	free(self);
}

/* ---- Utf8 ---- */

const struct kassay_option fb_utf8_options[] = {
	FB_PART_OPTIONS("true"),
	{0},
};

int fb_utf8_create(const struct kassay_host *host, void **instance, struct kassay_text *why)
{
	struct fb_parts parts, *self;

	if (fb_option_parts(host, true, &parts, why) < 0)
		return -1;
	self = fb_validator_alloc(sizeof *self, why);
	if (!self)
		return -1;
	*self = parts;
	*instance = self;
	return 0;
}

static int check_utf8(const void *self, struct kassay_bytes bytes, const char *what, struct kassay_verdict *verdict)
{
	size_t n = (size_t)bytes.size, good = fb_utf8_valid(bytes.data, n);

	(void)self;
	if (good == n)
		return KASSAY_OK;
	return fb_validator_refuse(verdict, "Utf8: the %s is not UTF-8 (at byte %zu)", what, good);
}

int fb_utf8(void *instance, const struct kassay_record *record, struct kassay_verdict *verdict)
{
	return fb_check_parts(instance, "Utf8", record, check_utf8, NULL, verdict);
}

/* ---- JsonSyntax ---- */

const struct kassay_option fb_json_syntax_options[] = {
	FB_PART_OPTIONS("false"),
	{"unique.keys", "false", "true: refuse objects that have a member twice"},
	{0},
};

struct json_syntax {
	struct fb_parts parts;
	size_t flags;
};

int fb_json_syntax_create(const struct kassay_host *host, void **instance, struct kassay_text *why)
{
	struct json_syntax *self;
	struct fb_parts parts;
	bool unique;

	if (fb_option_parts(host, false, &parts, why) < 0 ||
	    fb_option_bool(host, "unique.keys", false, &unique, why) < 0)
		return -1;
	self = fb_validator_alloc(sizeof *self, why);
	if (!self)
		return -1;
	self->parts = parts;
	self->flags = FB_JSON_FLAGS | (unique ? JSON_REJECT_DUPLICATES : 0);
	*instance = self;
	return 0;
}

static int check_json(const void *self, struct kassay_bytes bytes, const char *what, struct kassay_verdict *verdict)
{
	const struct json_syntax *json_syntax = self;
	json_error_t error;
	json_t *json = json_loadb((const char *)bytes.data, (size_t)bytes.size, json_syntax->flags, &error);

	if (!json)
		return fb_validator_refuse(verdict, "JsonSyntax: the %s is not JSON: %s (at byte %d)", what, error.text,
					   error.position);
	json_decref(json);
	return KASSAY_OK;
}

int fb_json_syntax(void *instance, const struct kassay_record *record, struct kassay_verdict *verdict)
{
	const struct json_syntax *self = instance;

	return fb_check_parts(&self->parts, "JsonSyntax", record, check_json, self, verdict);
}
