#include "fakebroker/describe_output.h"

#include <stdio.h>

#include "fakebroker/config/message.h"
#include "fakebroker/config/parse.h"

struct reader {
	const char *file;
	int line;
	const struct fb_output_ops *ops;
	struct kt_err *err;
	/* under which heading it is */
	bool skips, headed;
	enum fb_scope scope;
	struct kw_str resource;
};

static int fail(struct reader *r, const char *text, struct kw_str line)
{
	enum { SHOWN = 80 };

	kt_fail(r->err, KT_ESYNTAX, "%s: %.*s%s", text, line.n < SHOWN ? line.n : SHOWN, line.s,
		line.n < SHOWN ? "" : "...");
	r->err->line = r->line;
	snprintf(r->err->file, sizeof r->err->file, "%s", r->file);
	return KT_ESYNTAX;
}

/* ---- slices ---- */

static bool cut_front(struct kw_str *text, const char *front)
{
	int32_t n = (int32_t)strlen(front);

	if (text->n < n || memcmp(text->s, front, (size_t)n) != 0)
		return false;
	text->s += n;
	text->n -= n;
	return true;
}

static bool cut_back(struct kw_str *text, const char *back)
{
	int32_t n = (int32_t)strlen(back);

	if (text->n < n || memcmp(text->s + text->n - n, back, (size_t)n) != 0)
		return false;
	text->n -= n;
	return true;
}

/* Place of the last `what` in text, -1 if there is none. */
static int32_t find_last(struct kw_str text, const char *what)
{
	int32_t n = (int32_t)strlen(what);

	for (int32_t at = text.n - n; at >= 0; at--)
		if (memcmp(text.s + at, what, (size_t)n) == 0)
			return at;
	return -1;
}

/* ---- headings ---- */

static const struct {
	const char *begin;
	enum fb_scope scope;
} headings[] = {
	{"broker ", FB_BROKER}, {"topic ", FB_TOPIC}, {"group ", FB_GROUP}, {"client-metric ", FB_CLIENT_METRICS},
};

static int begin_resource(struct reader *r, struct kw_str line, enum fb_scope scope, struct kw_str resource, bool all)
{
	int64_t id;

	r->skips = false;
	r->scope = scope;
	r->resource = resource;
	if (scope == FB_BROKER && resource.n && !fb_parse_long(resource, 0, INT32_MAX, &id))
		return fail(r, "a broker's number is expected", line);
	return r->ops->heading(r->ops->arg, scope, resource, all, r->err);
}

/* False if the line is no heading. */
static bool read_heading(struct reader *r, struct kw_str line, int *code)
{
	struct kw_str text = line;
	bool all;

	*code = 0;
	if (!cut_back(&text, " are:")) {
		/* "Quota configs for user-principal 'u' are a=1", "SCRAM credential configs for ... are ..." */
		r->skips = cut_front(&text, "Quota configs for ") || cut_front(&text, "SCRAM credential configs for ");
		return r->skips;
	}
	if (kw_str_is(text, "Default configs for brokers in the cluster")) {
		*code = begin_resource(r, line, FB_BROKER, kw_str(""), false);
		return true;
	}
	all = cut_front(&text, "All configs for ");
	if (!all && !cut_front(&text, "Dynamic configs for "))
		return false;
	for (size_t i = 0; i < sizeof headings / sizeof *headings; i++) {
		if (!cut_front(&text, headings[i].begin))
			continue;
		*code = text.n ? begin_resource(r, line, headings[i].scope, text, all)
			       : fail(r, "a name is expected", line);
		return true;
	}
	r->skips = cut_front(&text, "broker-logger ");
	return r->skips;
}

/* ---- entries ---- */

/* Names of ConfigSource that somebody set. */
static const struct {
	const char *name;
	enum fb_scope scope;         /* under a heading of this scope; BROKER: under any */
	bool isStatic, all;          /* all: of all brokers */
} sources[] = {
	{"DYNAMIC_BROKER_CONFIG:", FB_BROKER, false, false},
	{"DYNAMIC_DEFAULT_BROKER_CONFIG:", FB_BROKER, false, true},
	{"STATIC_BROKER_CONFIG:", FB_BROKER, true, false},
	{"DYNAMIC_TOPIC_CONFIG:", FB_TOPIC, false, false},
	{"DYNAMIC_GROUP_CONFIG:", FB_GROUP, false, false},
	{"DYNAMIC_CLIENT_METRICS_CONFIG:", FB_CLIENT_METRICS, false, false},
};

static const char default_source[] = "DEFAULT_CONFIG:";

/* A synonym begins behind ", " with the name of a source: a value can have commas in it. */
static bool begins_synonym(struct kw_str text)
{
	for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
		if (cut_front(&text, sources[i].name))
			return true;
	return cut_front(&text, default_source);
}

/* SOURCE:NAME=VALUE */
static int read_synonym(struct reader *r, struct kw_str text, struct kw_str line, bool sensitive)
{
	for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
		struct fb_output_value value = {.scope = sources[i].scope, .resource = r->resource, .line = r->line,
						.isStatic = sources[i].isStatic};
		const char *equals;

		if (!cut_front(&text, sources[i].name))
			continue;
		equals = memchr(text.s, '=', (size_t)text.n);
		if (!equals)
			return fail(r, "a synonym without value", line);
		value.name = (struct kw_str){text.s, (int32_t)(equals - text.s)};
		value.value = (struct kw_str){equals + 1, text.n - value.name.n - 1};
		if (sensitive)
			value.value = KW_NULL_STR;
		if (sources[i].all)
			value.resource = kw_str("");
		else if (sources[i].scope != r->scope || r->resource.n == 0)
			return 0;   /* which broker's it is that a topic inherits, is not told */
		return r->ops->value(r->ops->arg, &value, r->err);
	}
	return 0;
}

/* NAME=VALUE sensitive=BOOL synonyms={...} */
static int read_entry(struct reader *r, struct kw_str line)
{
	struct kw_str text = line;
	int32_t at = find_last(line, " synonyms={");
	bool sensitive;
	int code = 0;

	if (!r->headed)
		return fail(r, "no heading says whose this is", line);
	if (at < 0 || !cut_back(&text, "}"))
		return fail(r, "neither a heading nor a configuration", line);
	text.n = at;
	sensitive = cut_back(&text, " sensitive=true");
	if ((!sensitive && !cut_back(&text, " sensitive=false")) || !memchr(text.s, '=', (size_t)text.n))
		return fail(r, "neither a heading nor a configuration", line);
	text = (struct kw_str){line.s + at, line.n - at - 1};
	cut_front(&text, " synonyms={");
	while (!code && text.n) {
		struct kw_str synonym = text;
		int32_t n = 0;

		for (; n < text.n; n++) {
			struct kw_str rest = {text.s + n, text.n - n};

			if (cut_front(&rest, ", ") && begins_synonym(rest))
				break;
		}
		synonym.n = n;
		n = n < text.n ? n + 2 : n;
		text = (struct kw_str){text.s + n, text.n - n};
		code = read_synonym(r, synonym, line, sensitive);
	}
	return code;
}

static int read_line(struct reader *r, struct kw_str line)
{
	int code;

	r->line++;
	cut_back(&line, "\r");
	if (line.n == 0)
		return 0;
	if (cut_front(&line, "  "))
		return r->skips ? 0 : read_entry(r, line);
	if (!read_heading(r, line, &code))
		return fail(r, "neither a heading nor a configuration", line);
	r->headed = true;
	return code;
}

int fb_output_read(const char *file, const char *text, size_t n, const struct fb_output_ops *ops, struct kt_err *err)
{
	struct reader r = {.file = file, .ops = ops, .err = err};
	const char *end = text + n;
	int code = 0;

	while (!code && text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t len = (size_t)((newline ? newline : end) - text);

		if (len > INT32_MAX)
			return kt_fail(err, KT_ELIMIT, "%s: a line is too long", file);
		code = read_line(&r, (struct kw_str){text, (int32_t)len});
		text = newline ? newline + 1 : end;
	}
	if (code || r.headed)
		return code;
	kt_fail(err, KT_EUNKNOWN, "this is not what kafka-configs.sh --describe prints");
	snprintf(err->file, sizeof err->file, "%s", file);
	return KT_EUNKNOWN;
}
