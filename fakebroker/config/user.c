#include "fakebroker/config/user.h"

#include <math.h>
#include <stdlib.h>

#include "fakebroker/config/defs.h"
#include "fakebroker/config/levels.h"

static const char *const scope_names[] = {"topic", "broker", "group", "clientMetrics", NULL};
static const enum fb_scope scopes[] = {FB_TOPIC, FB_BROKER, FB_GROUP, FB_CLIENT_METRICS};

/* In the order of their numbers, which start at 1. */
static const char *const type_names[] = {
#define FB_X(sym, num, name) name,
	FB_CONFIG_TYPES(FB_X)
#undef FB_X
	NULL};

static const char *const dynamic_names[] = {"read-only", "per-broker", "cluster-wide", NULL};
static const char *const importance_names[] = {"high", "medium", "low", NULL};

static const char *copy(struct fb_configdefs *defs, struct kt_obj *obj, const char *text)
{
	const char *dup = kw_strndup(&defs->arena, text, strlen(text));

	if (!dup)
		kt_obj_fail(obj, NULL, KT_ENOMEM, "out of memory");
	return dup;
}

/* ---- validators ---- */

static bool numeric(enum fb_config_type type)
{
	return type == FB_INT || type == FB_SHORT || type == FB_LONG || type == FB_DOUBLE;
}

static void set_bound(struct kt_obj *obj, const char *member, json_t *v, bool *has, int64_t *l, double *d)
{
	if (!json_is_number(v)) {
		kt_obj_fail(obj, member, KT_ETYPE, "a number is expected");
		return;
	}
	*has = true;
	*d = json_number_value(v);
	*l = json_is_integer(v) ? json_integer_value(v) : fabs(*d) < 0x1p63 ? (int64_t)*d : 0;
}

static void read_at_least(struct kt_obj *obj, const char *member, json_t *v, struct fb_validator *validator)
{
	validator->kind = FB_V_RANGE;
	set_bound(obj, member, v, &validator->has_min, &validator->lmin, &validator->dmin);
}

static void read_at_most(struct kt_obj *obj, const char *member, json_t *v, struct fb_validator *validator)
{
	validator->kind = FB_V_RANGE;
	set_bound(obj, member, v, &validator->has_max, &validator->lmax, &validator->dmax);
}

static void read_between(struct kt_obj *obj, const char *member, json_t *v, struct fb_validator *validator)
{
	if (json_array_size(v) != 2) {
		kt_obj_fail(obj, member, KT_ETYPE, "an array of two numbers is expected");
		return;
	}
	read_at_least(obj, member, json_array_get(v, 0), validator);
	read_at_most(obj, member, json_array_get(v, 1), validator);
	if (validator->dmin > validator->dmax)
		kt_obj_fail(obj, member, KT_ERANGE, "the first number is above the second");
}

static void read_max_entries(struct kt_obj *obj, const char *member, json_t *v, struct fb_validator *validator)
{
	validator->kind = FB_V_ENTRIES;
	validator->lmax = json_integer_value(v);
	if (!json_is_integer(v) || validator->lmax < 0)
		kt_obj_fail(obj, member, KT_ETYPE, "a number of entries is expected");
}

static void read_non_empty(struct kt_obj *obj, const char *member, json_t *v, struct fb_validator *validator)
{
	validator->kind = FB_V_NONEMPTY;
	if (!json_is_true(v))
		kt_obj_fail(obj, member, KT_ETYPE, "true is expected");
}

static void read_names(struct fb_configdefs *defs, struct kt_obj *obj, const char *member, json_t *v,
		       struct fb_validator *validator)
{
	size_t n = json_array_size(v);
	const char **names = kw_alloc(&defs->arena, (n + 1) * sizeof *names);

	if (n == 0)
		kt_obj_fail(obj, member, KT_ETYPE, "an array of words is expected");
	for (size_t i = 0; names && i < n; i++) {
		const char *word = json_string_value(json_array_get(v, i));

		if (word)
			names[i] = copy(defs, obj, word);
		else
			kt_obj_fail(obj, member, KT_ETYPE, "an array of words is expected");
	}
	validator->names = names;
	if (!names)
		kt_obj_fail(obj, member, KT_ENOMEM, "out of memory");
}

/* No number with a fraction, nor one that is only a DOUBLE. */
static bool are_whole(const json_t *v)
{
	for (size_t i = 0; i < json_array_size(v); i++)
		if (json_is_real(json_array_get(v, i)))
			return false;
	return !json_is_real(v);
}

/* The members of a validator: one of them, or none for "anything goes". */
static const struct {
	const char *name;
	void (*read)(struct kt_obj *obj, const char *member, json_t *v, struct fb_validator *validator);
	enum fb_validator_kind names;        /* of those that have words and no function */
	enum fb_config_type type;            /* what they are for; INT stands for all numbers */
} members[] = {
	{"atLeast",    read_at_least,    FB_V_NONE,       FB_INT},
	{"atMost",     read_at_most,     FB_V_NONE,       FB_INT},
	{"between",    read_between,     FB_V_NONE,       FB_INT},
	{"oneOf",      NULL,             FB_V_ONEOF,      FB_STRING},
	{"oneOfNoCase", NULL,            FB_V_ONEOF_CASE, FB_STRING},
	{"nonEmpty",   read_non_empty,   FB_V_NONE,       FB_STRING},
	{"listOf",     NULL,             FB_V_LISTOF,     FB_LIST},
	{"maxEntries", read_max_entries, FB_V_NONE,       FB_LIST},
};

static void read_validator(struct fb_configdefs *defs, struct kt_obj *obj, enum fb_config_type type,
			   struct fb_validator *validator)
{
	const char *first = NULL;

	*validator = (struct fb_validator){.kind = FB_V_NONE};
	for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
		const char *name = members[i].name;
		json_t *v = kt_obj_any(obj, name);

		if (!v)
			continue;
		if (first)
			kt_obj_fail(obj, name, KT_EUSAGE, "there can be only one of \"%s\" and \"%s\"", first, name);
		if (members[i].type != (numeric(type) ? FB_INT : type))
			kt_obj_fail(obj, name, KT_ETYPE, "\"%s\" is not for a configuration of type %s", name,
				fb_config_type_name(type));
		else if (numeric(type) && type != FB_DOUBLE && !are_whole(v))
			kt_obj_fail(obj, name, KT_ETYPE, "a configuration of type %s has whole numbers for bounds",
				    fb_config_type_name(type));
		first = name;
		if (members[i].read) {
			members[i].read(obj, name, v, validator);
			continue;
		}
		validator->kind = members[i].names;
		validator->empty_ok = true;
		read_names(defs, obj, name, v, validator);
	}
	kt_obj_done(obj);
}

static int by_level(const void *pa, const void *pb)
{
	const struct fb_mv_rule *a = pa, *b = pb;

	return (a->level > b->level) - (a->level < b->level);
}

static void read_rules(struct fb_configdefs *defs, struct kt_obj *obj, enum fb_config_type type,
		       struct fb_configdef *def)
{
	struct fb_mv_rule *rules = kw_alloc(&defs->arena, json_object_size(obj->json) * sizeof *rules);
	struct kt_obj sub;
	const char *name;
	size_t n = 0;

	if (!rules) {
		kt_obj_fail(obj, NULL, KT_ENOMEM, "out of memory");
		return;
	}
	while (kt_obj_each(obj, &name)) {
		int16_t level = fb_level_find(name);

		if (level < 0) {
			kt_obj_fail(obj, name, KT_EUNKNOWN, "there is no metadata.version %s", name);
			return;
		}
		if (!kt_obj_object(obj, name, &sub))
			return;
		rules[n].level = level;
		read_validator(defs, &sub, type, &rules[n++].validator);
	}
	qsort(rules, n, sizeof *rules, by_level);
	for (size_t i = 1; i < n; i++) {
		if (rules[i].level == rules[i - 1].level)
			kt_obj_fail(obj, NULL, KT_ERANGE, "metadata.version %d has two validators", rules[i].level);
	}
	def->mv = rules;
	def->nmv = n;
}

/* ---- definitions ---- */

/* Rules for a configuration that exists. */
static void extend(struct fb_configdefs *defs, struct kt_obj *obj, struct fb_configdef *def)
{
	static const char *const others[] = {"type", "default", "dynamic", "importance", "sensitive", "synonym",
					     "validator"};
	struct kt_obj rules;

	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		if (kt_obj_any(obj, others[i]))
			kt_obj_fail(obj, others[i], KT_EUSAGE, "%s is defined: it takes \"mvValidators\" only",
				def->name);
	}
	kt_obj_need(obj, "mvValidators", NULL);
	if (!kt_obj_object(obj, "mvValidators", &rules))
		return;
	if (def->nmv)
		kt_obj_fail(obj, "mvValidators", KT_EUSAGE, "%s has validators by metadata.version already",
			def->name);
	else
		read_rules(defs, &rules, def->type, def);
}

static void check_default(struct kt_obj *obj, const struct fb_configdef *def)
{
	struct kw_arena arena;
	const char *message = NULL;

	kw_arena_init(&arena, 0);
	if (def->def && !fb_config_parse_check(def, kw_str(def->def), &arena, &message))
		kt_obj_fail(obj, "default", KT_ERANGE, "%s", message ? message : "out of memory");
	kw_arena_fini(&arena);
}

static const char *read_text(struct fb_configdefs *defs, struct kt_obj *obj, const char *member)
{
	const char *text;

	return kt_obj_str(obj, member, &text) ? copy(defs, obj, text) : NULL;
}

static void read_synonym(struct fb_configdefs *defs, struct kt_obj *obj, struct fb_configdef *def)
{
	def->synonym = read_text(defs, obj, "synonym");
	if (!def->synonym)
		return;
	if (def->scope != FB_TOPIC && def->scope != FB_GROUP)
		kt_obj_fail(obj, "synonym", KT_EUSAGE, "only a topic or group configuration has a broker's behind it");
	else if (!fb_configdef_find(defs, FB_BROKER, kw_str(def->synonym)))
		kt_obj_fail(obj, "synonym", KT_EUNKNOWN, "there is no broker configuration %s", def->synonym);
}

static void define(struct fb_configdefs *defs, struct kt_obj *obj, enum fb_scope scope, const char *name)
{
	struct fb_configdef def = {.scope = scope, .origin = FB_FROM_USER, .name = copy(defs, obj, name)};
	int type = 0, importance = FB_MEDIUM, dynamic = scope == FB_BROKER ? FB_READ_ONLY : FB_CLUSTER_WIDE;
	struct kt_obj sub;

	kt_obj_need(obj, "type", NULL);
	kt_obj_enum(obj, "type", type_names, &type);
	def.type = (enum fb_config_type)(type + 1);
	kt_obj_enum(obj, "importance", importance_names, &importance);
	def.importance = (enum fb_importance)importance;
	if (kt_obj_enum(obj, "dynamic", dynamic_names, &dynamic) && scope != FB_BROKER)
		kt_obj_fail(obj, "dynamic", KT_EUSAGE, "only a broker configuration can be anything but dynamic");
	def.dynamic = (enum fb_dynamic)dynamic;
	def.sensitive = def.type == FB_PASSWORD;
	kt_obj_bool(obj, "sensitive", &def.sensitive);
	read_synonym(defs, obj, &def);
	if (kt_obj_object(obj, "validator", &sub))
		read_validator(defs, &sub, def.type, &def.validator);
	if (kt_obj_object(obj, "mvValidators", &sub))
		read_rules(defs, &sub, def.type, &def);
	def.def = read_text(defs, obj, "default");
	if (!obj->err->code)
		check_default(obj, &def);
	if (!obj->err->code && !fb_configdefs_insert(defs, &def))
		kt_obj_fail(obj, NULL, KT_ENOMEM, "out of memory");
}

int fb_configdefs_add_json(struct fb_configdefs *defs, struct kt_arr *configs)
{
	struct kt_obj obj;

	while (kt_arr_object(configs, &obj)) {
		const struct fb_configdef *known;
		const char *name = "";
		int scope = 0;

		kt_obj_need(&obj, "name", "scope", NULL);
		kt_obj_str(&obj, "name", &name);
		kt_obj_enum(&obj, "scope", scope_names, &scope);
		if (obj.err->code)
			break;
		if (!*name)
			kt_obj_fail(&obj, "name", KT_ERANGE, "a name is expected");
		known = fb_configdef_find(defs, scopes[scope], kw_str(name));
		if (known && strcmp(known->name, name) == 0)
			extend(defs, &obj, fb_configdefs_own(defs, known));
		else
			define(defs, &obj, scopes[scope], name);
		kt_obj_done(&obj);
	}
	return configs->err->code;
}
