/* The definitions of an earlier release, made of the newest ones. */
#include <stdlib.h>

#include "fakebroker/config/defs.h"

enum difference { LATER, WAS, CHECK, UPDATE, HIDE, ALONE };

static const struct {
	enum difference difference;
	const char *release;
	enum fb_scope scope;
	const char *name;
	enum fb_config_type type;    /* WAS */
	const char *def;
	enum fb_dynamic update;      /* UPDATE */
	struct fb_validator validator;  /* CHECK */
} rows[] = {
#define FB_LATER(release_, scope_, name_) \
	{.difference = LATER, .release = (release_), .scope = FB_##scope_, .name = (name_)},
#define FB_WAS(release_, scope_, name_, type_, def_) \
	{.difference = WAS, .release = (release_), .scope = FB_##scope_, .name = (name_), .type = FB_##type_, \
	 .def = (def_)},
#define FB_CHECK(release_, scope_, name_, ...) \
	{.difference = CHECK, .release = (release_), .scope = FB_##scope_, .name = (name_), .validator = __VA_ARGS__},
#define FB_UPDATE(release_, scope_, name_, update_) \
	{.difference = UPDATE, .release = (release_), .scope = FB_##scope_, .name = (name_), .update = FB_##update_},
#define FB_HIDE(release_, scope_, name_) \
	{.difference = HIDE, .release = (release_), .scope = FB_##scope_, .name = (name_)},
#define FB_ALONE(release_, scope_, name_) \
	{.difference = ALONE, .release = (release_), .scope = FB_##scope_, .name = (name_)},
#include "fakebroker/config/earlier.def"
#undef FB_LATER
#undef FB_WAS
#undef FB_CHECK
#undef FB_UPDATE
#undef FB_HIDE
#undef FB_ALONE
};

static const struct {
	const char *release;
	struct fb_configdef def;
} gone[] = {
#define FB_GONE(release_, scope_, name_, type_, importance_, update_, internal_, synonym_, default_, ...) \
	{.release = (release_), .def = DEF(scope_, FB_FROM_KAFKA, name_, type_, importance_, update_, internal_, \
					   synonym_, default_, __VA_ARGS__)},
#include "fakebroker/config/gone.def"
#undef FB_GONE
};

/* Releases that do not have a scope yet. */
static const struct {
	const char *release;
	enum fb_scope scope;
} no_scopes[] = {{"3.9", FB_GROUP}};

static void remove_def(struct fb_configdefs *defs, const struct fb_configdef *def)
{
	size_t at = 0;

	while (defs->sorted[at] != def)
		at++;
	free(defs->sorted[at]);
	defs->n--;
	memmove(&defs->sorted[at], &defs->sorted[at + 1], (defs->n - at) * sizeof(*defs->sorted));
}

static void change(struct fb_configdefs *defs, struct fb_configdef *def, size_t row)
{
	switch (rows[row].difference) {
	case LATER:
		remove_def(defs, def);
		break;
	case WAS:
		if (def->type != rows[row].type)
			def->validator = (struct fb_validator){.kind = FB_V_NONE};
		def->type = rows[row].type;
		def->def = rows[row].def;
		break;
	case CHECK:
		def->validator = rows[row].validator;
		break;
	case UPDATE:
		def->dynamic = rows[row].update;
		break;
	case HIDE:
		def->internal = true;
		break;
	case ALONE:
		def->synonym = NULL;
		break;
	}
}

static void remove_scope(struct fb_configdefs *defs, enum fb_scope scope)
{
	for (const struct fb_configdef *def; (def = fb_configdef_next(defs, scope, NULL));)
		remove_def(defs, def);
}

int fb_configdefs_make_earlier(struct fb_configdefs *defs, const char *release)
{
	for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
		if (strcmp(gone[i].release, release) == 0 && !fb_configdefs_insert(defs, &gone[i].def))
			return KT_ENOMEM;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (strcmp(rows[i].release, release) == 0)
			change(defs,
			       fb_configdefs_own(defs, fb_configdef_find(defs, rows[i].scope, kw_str(rows[i].name))),
			       i);
	for (size_t i = 0; i < sizeof no_scopes / sizeof *no_scopes; i++)
		if (strcmp(no_scopes[i].release, release) == 0)
			remove_scope(defs, no_scopes[i].scope);
	return 0;
}
