#include "fakebroker/mutants.h"

#include <string.h>

#include "lib/text/near.h"

const struct fb_mutant_row fb_mutants[FB_NMUTANTS] = {
#define X(sym, name, place, breaks) [sym] = {name, place, breaks},
#include "fakebroker/mutants.def"
#undef X
};

bool fb_mutants_on[FB_NMUTANTS], fb_mutants_any;

static int switch_on(bool *on, const char *name, struct kt_err *err)
{
	struct kt_near near;

	kt_near_init(&near, name);
	for (int i = 0; i < FB_NMUTANTS; i++) {
		if (strcmp(fb_mutants[i].name, name) == 0) {
			on[i] = true;
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
	bool on[FB_NMUTANTS] = {false};
	int code = 0;

	for (size_t i = 0; i < n && !code; i++)
		code = switch_on(on, names[i], err);
	if (!code && memcmp(on, fb_mutants_on, sizeof on) != 0) {
		memcpy(fb_mutants_on, on, sizeof on);
		fb_mutants_any = n > 0;
	}
	return code;
}
