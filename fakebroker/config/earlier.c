/* The definitions of an earlier release, made of the newest ones. */
#include <stdlib.h>

#include "fakebroker/config/defs.h"

enum difference { LATER, WAS, FREE, ALONE };

static const struct {
	enum difference difference;
	const char *release;
	enum fb_scope scope;
	const char *name;
	enum fb_config_type type;    /* WAS */
	const char *def;
} rows[] = {
#define FB_LATER(release, scope, name) {LATER, release, FB_##scope, name, FB_STRING, NULL},
#define FB_WAS(release, scope, name, type, def) {WAS, release, FB_##scope, name, FB_##type, def},
#define FB_FREE(release, scope, name) {FREE, release, FB_##scope, name, FB_STRING, NULL},
#define FB_ALONE(release, scope, name) {ALONE, release, FB_##scope, name, FB_STRING, NULL},
#include "fakebroker/config/earlier.def"
#undef FB_LATER
#undef FB_WAS
#undef FB_FREE
#undef FB_ALONE
};

static void remove_def(struct fb_configdefs *defs, const struct fb_configdef *def)
{
	size_t at = 0;

	while (defs->sorted[at] != def)
		at++;
	free(defs->sorted[at]);
	defs->n--;
	memmove(&defs->sorted[at], &defs->sorted[at + 1], (defs->n - at) * sizeof(*defs->sorted));
}

void fb_configdefs_make_earlier(struct fb_configdefs *defs, const char *release)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct fb_configdef *found = fb_configdef_find(defs, rows[i].scope, kw_str(rows[i].name));
		struct fb_configdef *def = fb_configdefs_own(defs, found);

		if (strcmp(rows[i].release, release) != 0)
			continue;
		if (rows[i].difference == LATER) {
			remove_def(defs, def);
		} else if (rows[i].difference == FREE) {
			def->validator = (struct fb_validator){.kind = FB_V_NONE};
		} else if (rows[i].difference == ALONE) {
			def->synonym = NULL;
		} else {
			if (def->type != rows[i].type)
				def->validator = (struct fb_validator){.kind = FB_V_NONE};
			def->type = rows[i].type;
			def->def = rows[i].def;
		}
	}
}
