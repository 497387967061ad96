/* The inside of a set of definitions, for the files that build one. */
#ifndef KASSAY_FAKEBROKER_CONFIG_DEFS_H
#define KASSAY_FAKEBROKER_CONFIG_DEFS_H

#include "fakebroker/config/configdef.h"

struct fb_configdefs {
	struct fb_configdef **sorted;    /* by scope and name */
	size_t n;
	const char *release;             /* whose definitions these are */
	struct kw_arena arena;           /* what definitions of a scenario file point to */
};

/* Adds a copy of def, whose strings must live as long as defs. The name must be new in its scope. NULL when memory is
 * exhausted. */
struct fb_configdef *fb_configdefs_insert(struct fb_configdefs *defs, const struct fb_configdef *def);

/* The same definition, to be changed. */
struct fb_configdef *fb_configdefs_own(struct fb_configdefs *defs, const struct fb_configdef *def);

/* Takes away, and changes back, what a release before the newest one did not have or had otherwise (earlier.def). Of all
 * built-in definitions, before any has rules. */
void fb_configdefs_make_earlier(struct fb_configdefs *defs, const char *release);

/* KEY of "listener.name.NAME.KEY", null for other names. Source: DynamicBrokerConfig.brokerConfigSynonyms. */
struct kw_str fb_listener_key(struct kw_str name);

#endif
