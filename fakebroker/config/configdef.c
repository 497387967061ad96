#include "fakebroker/config/configdef.h"

#include <assert.h>
#include <stdlib.h>

#include "fakebroker/config/defs.h"
#include "fakebroker/config/parse.h"
#include "fakebroker/config/upgrade.h"
#include "lib/text/near.h"

static const struct fb_configdef builtin[] = {
#define FB_CONFIG(name, type, importance, synonym, def, ...) \
	DEF(TOPIC, FB_FROM_KAFKA, name, type, importance, CLUSTER_WIDE, false, synonym, def, __VA_ARGS__),
#define FB_HIDDEN(name, type, importance, synonym, def, ...) \
	DEF(TOPIC, FB_FROM_KAFKA, name, type, importance, CLUSTER_WIDE, true, synonym, def, __VA_ARGS__),
#include "fakebroker/config/topic.def"
#undef FB_CONFIG
#undef FB_HIDDEN
#define FB_CONFIG(name, type, importance, update, def, ...) \
	DEF(BROKER, FB_FROM_KAFKA, name, type, importance, update, false, NULL, def, __VA_ARGS__),
#define FB_HIDDEN(name, type, importance, update, def, ...) \
	DEF(BROKER, FB_FROM_KAFKA, name, type, importance, update, true, NULL, def, __VA_ARGS__),
#include "fakebroker/config/broker.def"
#undef FB_CONFIG
#undef FB_HIDDEN
#define FB_CONFIG(name, type, importance, synonym, def, ...) \
	DEF(GROUP, FB_FROM_KAFKA, name, type, importance, CLUSTER_WIDE, false, synonym, def, __VA_ARGS__),
#define FB_HIDDEN(name, type, importance, synonym, def, ...) \
	DEF(GROUP, FB_FROM_KAFKA, name, type, importance, CLUSTER_WIDE, true, synonym, def, __VA_ARGS__),
#include "fakebroker/config/group.def"
#undef FB_CONFIG
#undef FB_HIDDEN
#define FB_CONFIG(name, type, importance, synonym, def, ...) \
	DEF(CLIENT_METRICS, FB_FROM_KAFKA, name, type, importance, CLUSTER_WIDE, false, synonym, def, __VA_ARGS__),
#include "fakebroker/config/client_metrics.def"
#undef FB_CONFIG
#define FB_KIT(scope, name, type, importance, update, synonym, def, ...) \
	DEF(scope, FB_FROM_KIT, name, type, importance, update, false, synonym, def, __VA_ARGS__),
#include "fakebroker/config/kit.def"
#undef FB_KIT
};

/* Rows of one key stand together, levels ascending. */
static const struct {
	enum fb_scope scope;
	const char *name;
	struct fb_mv_rule rule;
} rules[] = {
#define FB_RULE(scope, name, level, validator, message, source) {FB_##scope, name, {level, validator, message}},
#include "fakebroker/config/mv.def"
#undef FB_RULE
};

static const struct {
	enum fb_scope scope;
	const char *name, *text;
} texts[] = {
#define FB_TEXT(scope, name, text) {FB_##scope, name, text},
#include "fakebroker/config/texts.def"
#undef FB_TEXT
};

enum { NBUILTIN = sizeof builtin / sizeof *builtin, NRULES = sizeof rules / sizeof *rules,
       NTEXTS = sizeof texts / sizeof *texts };

static int compare(const struct fb_configdef *def, enum fb_scope scope, struct kw_str name)
{
	if (def->scope != scope)
		return def->scope < scope ? -1 : 1;
	return kw_str_cmp(kw_str(def->name), name);
}

/* Index of the first definition that is not before (scope, name). */
static size_t lower_bound(const struct fb_configdefs *defs, enum fb_scope scope, struct kw_str name)
{
	size_t from = 0, to = defs->n;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (compare(defs->sorted[mid], scope, name) < 0)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

struct fb_configdef *fb_configdefs_insert(struct fb_configdefs *defs, const struct fb_configdef *def)
{
	size_t at = lower_bound(defs, def->scope, kw_str(def->name));
	struct fb_configdef **sorted = realloc(defs->sorted, (defs->n + 1) * sizeof(*sorted));
	struct fb_configdef *copy = malloc(sizeof *copy);

	if (sorted)
		defs->sorted = sorted;
	if (!sorted || !copy) {
		free(copy);
		return NULL;
	}
	*copy = *def;
	copy->order = defs->n;
	memmove(sorted + at + 1, sorted + at, (defs->n - at) * sizeof *sorted);
	sorted[at] = copy;
	defs->n++;
	return copy;
}

struct fb_configdef *fb_configdefs_own(struct fb_configdefs *defs, const struct fb_configdef *def)
{
	return defs->sorted[lower_bound(defs, def->scope, kw_str(def->name))];
}

/* Gives the built-in keys their rules. */
static int add_rules(struct fb_configdefs *defs)
{
	for (size_t i = 0; i < NRULES; i++) {
		const struct fb_configdef *found = fb_configdef_find(defs, rules[i].scope, kw_str(rules[i].name));
		struct fb_configdef *def;
		struct fb_mv_rule *mv;

		if (!found)   /* in an earlier release */
			continue;
		def = fb_configdefs_own(defs, found);
		mv = kw_alloc(&defs->arena, (def->nmv + 1) * sizeof *mv);
		if (!mv)
			return KT_ENOMEM;
		if (def->nmv)
			memcpy(mv, def->mv, def->nmv * sizeof *mv);
		mv[def->nmv++] = rules[i].rule;
		def->mv = mv;
	}
	return 0;
}

static void add_texts(struct fb_configdefs *defs)
{
	for (size_t i = 0; i < NTEXTS; i++) {
		const struct fb_configdef *found = fb_configdef_find(defs, texts[i].scope, kw_str(texts[i].name));

		if (found)   /* not of a later release */
			fb_configdefs_own(defs, found)->text = texts[i].text;
	}
}

struct fb_configdefs *fb_configdefs_new(void)
{
	return fb_configdefs_new_as_of("4.4");
}

struct fb_configdefs *fb_configdefs_new_as_of(const char *release)
{
	struct fb_configdefs *defs = calloc(1, sizeof *defs);

	if (!defs)
		return NULL;
	kw_arena_init(&defs->arena, 0);
	defs->release = release;
	for (size_t i = 0; i < NBUILTIN; i++) {
		if (!fb_configdefs_insert(defs, &builtin[i]))
			goto fail;
	}
	if (fb_configdefs_make_earlier(defs, release))
		goto fail;
	add_texts(defs);
	if (!add_rules(defs))
		return defs;
fail:
	fb_configdefs_free(defs);
	return NULL;
}

bool fb_configdefs_before(const struct fb_configdefs *defs, const char *release)
{
	const struct fb_release *own = fb_release_find(defs->release);

	assert(own);
	return fb_release_before(own, release);
}

bool fb_configdefs_has(const struct fb_configdefs *defs, enum fb_scope scope)
{
	return fb_configdef_next(defs, scope, NULL) != NULL;
}

void fb_configdefs_free(struct fb_configdefs *defs)
{
	if (!defs)
		return;
	for (size_t i = 0; i < defs->n; i++)
		free(defs->sorted[i]);
	free(defs->sorted);
	kw_arena_fini(&defs->arena);
	free(defs);
}

/* Mechanism configs can have the mechanism, too, in front: listener.name.NAME.plain.sasl.jaas.config. */
static struct kw_str without_mechanism(struct kw_str key)
{
	static const char *const keys[] = {"sasl.login.class", "sasl.jaas.config", "sasl.login.callback.handler.class",
					   "connections.max.reauth.ms", "sasl.server.callback.handler.class"};

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		int32_t n = (int32_t)strlen(keys[i]);

		if (key.n > n && key.s[key.n - n - 1] == '.' && memcmp(key.s + key.n - n, keys[i], (size_t)n) == 0)
			return kw_str(keys[i]);
	}
	return key;
}

struct kw_str fb_listener_key(struct kw_str name)
{
	static const char prefix[] = "listener.name.";
	int32_t n = (int32_t)strlen(prefix);
	const char *dot;

	if (name.n <= n || memcmp(name.s, prefix, (size_t)n) != 0)
		return KW_NULL_STR;
	dot = memchr(name.s + n, '.', (size_t)(name.n - n));
	if (!dot)
		return KW_NULL_STR;
	return without_mechanism((struct kw_str){dot + 1, (int32_t)(name.s + name.n - dot - 1)});
}

/* PREFIX.NAME.OPTION, an option of a validator or observer: what there is depends on which are loaded, so it has no row
 * of its own. */
static const struct fb_configdef *find_option(enum fb_scope scope, struct kw_str name)
{
	static const struct {
		const char *prefix;
		struct fb_configdef def;
	} options[] = {
		{"record.validator.", {.scope = FB_TOPIC, .origin = FB_FROM_KIT, .name = "record.validator.*",
				       .type = FB_STRING, .importance = FB_LOW, .dynamic = FB_CLUSTER_WIDE}},
		{"record.validator.", {.scope = FB_BROKER, .origin = FB_FROM_KIT, .name = "record.validator.*",
				       .type = FB_STRING, .importance = FB_LOW, .dynamic = FB_CLUSTER_WIDE}},
		{"observer.", {.scope = FB_BROKER, .origin = FB_FROM_KIT, .name = "observer.*", .type = FB_STRING,
			       .importance = FB_LOW, .dynamic = FB_READ_ONLY}},
	};

	for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
		int32_t n = (int32_t)strlen(options[i].prefix);

		if (options[i].def.scope == scope && name.n > n && memcmp(name.s, options[i].prefix, (size_t)n) == 0 &&
		    memchr(name.s + n, '.', (size_t)(name.n - n)))
			return &options[i].def;
	}
	return NULL;
}

const struct fb_configdef *fb_configdef_find(const struct fb_configdefs *defs, enum fb_scope scope, struct kw_str name)
{
	size_t at;

	if (name.n < 0)
		return NULL;
	at = lower_bound(defs, scope, name);
	if (at < defs->n && compare(defs->sorted[at], scope, name) == 0)
		return defs->sorted[at];
	return scope == FB_BROKER && fb_listener_key(name).n >= 0
		       ? fb_configdef_find(defs, scope, fb_listener_key(name))
		       : find_option(scope, name);
}

const struct fb_configdef *fb_configdef_next(const struct fb_configdefs *defs, enum fb_scope scope,
					     const struct fb_configdef *prev)
{
	size_t at = prev ? lower_bound(defs, scope, kw_str(prev->name)) + 1 : lower_bound(defs, scope, kw_str(""));

	return at < defs->n && defs->sorted[at]->scope == scope ? defs->sorted[at] : NULL;
}

const char *fb_configdef_near(const struct fb_configdefs *defs, enum fb_scope scope, struct kw_str name)
{
	struct kt_near near;
	char word[256];

	if (name.n <= 0 || name.n >= (int32_t)sizeof word)
		return NULL;
	memcpy(word, name.s, (size_t)name.n);
	word[name.n] = '\0';
	kt_near_init(&near, word);
	for (const struct fb_configdef *def = NULL; (def = fb_configdef_next(defs, scope, def));)
		kt_near_offer(&near, def->name);
	return near.best;
}

const char *fb_config_type_name(enum fb_config_type type)
{
	switch (type) {
#define FB_X(sym, num, name) case sym: return name;
	FB_CONFIG_TYPES(FB_X)
#undef FB_X
	}
	return "UNKNOWN";
}

/* Parses a number or boolean, which needs no memory. */
static bool parse_scalar(const struct fb_configdef *def, struct kw_str text, struct fb_value *value)
{
	struct kw_arena none;
	const char *message;
	bool good;

	if (def->type == FB_LIST || text.n < 0)
		return false;
	kw_arena_init(&none, 1);
	good = fb_parse(def, text, &none, value, &message);
	kw_arena_fini(&none);
	return good;
}

int64_t fb_config_long(const struct fb_configdef *def, struct kw_str text, int64_t fallback)
{
	struct fb_value value;

	if (!def || def->type == FB_DOUBLE || def->type == FB_STRING || def->type == FB_CLASS ||
	    def->type == FB_PASSWORD || !parse_scalar(def, text, &value))
		return fallback;
	return value.l;
}
