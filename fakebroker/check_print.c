/* What --check found, for people and for programs. */
#include <stdio.h>

#include "fakebroker/check.h"
#include "fakebroker/config/parse.h"

static const char *const layers[] = {
#define FB_X(sym, name) [sym] = name,
	FB_LAYERS(FB_X)
#undef FB_X
};

static const char *scope_name(enum fb_scope scope)
{
	return scope == FB_TOPIC ? "topic" : scope == FB_GROUP ? "group" :
	       scope == FB_CLIENT_METRICS ? "clientMetrics" : "broker";
}

/* Names and values that are no UTF-8 are shown as far as they are. */
static json_t *text(struct kw_str str)
{
	json_t *json = str.n < 0 ? json_null() : json_stringn(str.s, (size_t)str.n);

	return json ? json : json_string("?");
}

static json_t *place_json(const struct fb_offender *offender)
{
	if (offender->option)
		return json_pack("{s:s}", "option", offender->option);
	if (!offender->file)
		return json_null();
	return json_pack("{s:s, s:i, s:s*}", "file", offender->file, "line", offender->line, "path", offender->path);
}

static json_t *check_json(const struct fb_check *check)
{
	json_t *offenders = json_array(), *unjudged = json_array();
	const char *name = fb_level_name(check->level);

	for (size_t i = 0; i < check->noffenders; i++) {
		const struct fb_violation *v = &check->offenders[i].violation;

		json_array_append_new(offenders, json_pack("{s:s, s:o, s:s, s:o, s:o, s:s, s:o}", "resourceType",
			scope_name(v->scope), "resourceName", text(v->resource), "layer", layers[v->layer], "name",
			text(v->name), "value", text(v->value), "message", v->message, "place",
			place_json(&check->offenders[i])));
	}
	for (size_t i = 0; i < check->nunjudged; i++)
		json_array_append_new(unjudged, json_pack("{s:s, s:o}", "where", check->unjudged[i].where, "name",
							  text(check->unjudged[i].name)));
	return json_pack("{s:i, s:s*, s:b, s:o, s:o}", "metadataVersion", check->level, "metadataVersionName", name,
			 "legal", check->noffenders == 0, "offenders", offenders, "notJudged", unjudged);
}

static void print_offender(const struct fb_offender *offender)
{
	const struct fb_violation *v = &offender->violation;

	if (offender->option)
		printf("%s: ", offender->option);
	else if (offender->file)
		printf("%s:%d: ", offender->file, offender->line);
	printf("%s %.*s=%.*s: %s\n", v->where, FB_STR(v->name), FB_STR(v->value), v->message);
}

static void print_unjudged(const struct fb_unjudged *unjudged)
{
	if (unjudged->name.n < 0)
		fprintf(stderr,
			"fakebroker: not judged, as it is not known: %s; describe it with --all, or give its "
			"properties\n",
			unjudged->where);
	else
		fprintf(stderr, "fakebroker: not judged, as its value cannot be seen: %s %.*s\n", unjudged->where,
			FB_STR(unjudged->name));
}

static void print_text(const struct fb_check *check)
{
	for (size_t i = 0; i < check->noffenders; i++)
		print_offender(&check->offenders[i]);
	if (!check->noffenders)
		printf("ok\n");
	fflush(stdout);   /* what is said of it on stderr comes behind it, in one pipe, too */
	for (size_t i = 0; i < check->nunjudged; i++)
		print_unjudged(&check->unjudged[i]);
	if (check->noffenders)
		fprintf(stderr, "fakebroker: %zu configuration%s illegal at metadata.version %d (%s)\n",
			check->noffenders, check->noffenders == 1 ? " is" : "s are", check->level,
			fb_level_name(check->level));
}

int fb_check_print(const struct fb_check *check, bool json)
{
	json_t *found = json ? check_json(check) : NULL;

	if (json) {
		json_dumpf(found, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(found);
	} else {
		print_text(check);
	}
	return check->noffenders ? KT_EXIT_VERDICT : KT_EXIT_OK;
}
