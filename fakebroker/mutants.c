#include "fakebroker/mutants.h"

#include <string.h>

#include "lib/text/near.h"

const struct fb_mutant_row fb_mutants[FB_NMUTANTS] = {
#define X(sym, name, place, breaks) [sym] = {name, place, breaks},
#include "fakebroker/mutants.def"
#undef X
};

bool fb_mutants_on[FB_NMUTANTS], fb_mutants_any;

static int switch_on(const char *name, struct kt_err *err)
{
	struct kt_near near;

	kt_near_init(&near, name);
	for (int i = 0; i < FB_NMUTANTS; i++) {
		if (strcmp(fb_mutants[i].name, name) == 0) {
			fb_mutants_on[i] = fb_mutants_any = true;
			return 0;
		}
		kt_near_offer(&near, fb_mutants[i].name);
	}
	if (near.best)
		return kt_fail(err, KT_EUNKNOWN, "unknown mutant \"%s\"; did you mean \"%s\"?", name, near.best);
	return kt_fail(err, KT_EUNKNOWN, "unknown mutant \"%s\"; --list mutants shows all", name);
}

int fb_mutants_switch(const char *const *names, size_t n, struct kt_err *err)
{
	int code = 0;

	memset(fb_mutants_on, 0, sizeof fb_mutants_on);
	fb_mutants_any = false;
	for (size_t i = 0; i < n && !code; i++)
		code = switch_on(names[i], err);
	return code;
}
