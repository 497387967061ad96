#include "fakebroker/config/faults.h"

#include <string.h>

const struct fb_fault_row fb_faults[FB_NFAULTS] = {
#define FB_FAULT(sym, name, api, fate, sent, does, healthy, releases, source) \
	[sym] = {name, api, fate, sent, does, healthy, releases, source},
#include "fakebroker/config/faults.def"
#undef FB_FAULT
};

bool fb_fault_since(enum fb_fault fault, const char *release)
{
	const char *seen = fb_faults[fault].releases;

	return strncmp(release, seen, strcspn(seen, "-")) >= 0;
}

const char *fb_fate_text(enum fb_fate fate)
{
	static const char *const texts[] = {
#define FB_X(sym, text) [sym] = text,
		FB_FATES(FB_X)
#undef FB_X
	};

	return texts[fate];
}
