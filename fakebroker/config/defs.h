/* The inside of a set of definitions, for the files that build one. */
#ifndef KASSAY_FAKEBROKER_CONFIG_DEFS_H
#define KASSAY_FAKEBROKER_CONFIG_DEFS_H

#include "fakebroker/config/configdef.h"

/* The words of the .def files. */
#define V_NONE                    {.kind = FB_V_NONE}
#define V_ATLEAST(low)            {.kind = FB_V_RANGE, .has_min = true, .lmin = (int64_t)(low), .dmin = (double)(low)}
#define V_BETWEEN(low, high)                                                                                           \
	{.kind = FB_V_RANGE, .has_min = true, .lmin = (int64_t)(low), .dmin = (double)(low),                           \
	 .has_max = true, .lmax = (int64_t)(high), .dmax = (double)(high)}
#define V_BETWEEN_OR(low, high, or)                                                                                    \
	{.kind = FB_V_RANGE_OR, .has_min = true, .lmin = (low), .has_max = true, .lmax = (high), .other = (or)}
#define V_NAMES(...)              (const char *const[]){__VA_ARGS__, NULL}
#define V_ONEOF(...)              {.kind = FB_V_ONEOF, .names = V_NAMES(__VA_ARGS__)}
#define V_ONEOF_CASE(...)         {.kind = FB_V_ONEOF_CASE, .names = V_NAMES(__VA_ARGS__)}
#define V_LISTOF(...)             {.kind = FB_V_LISTOF, .names = V_NAMES(__VA_ARGS__)}
#define V_LISTOF_OR_EMPTY(...)    {.kind = FB_V_LISTOF, .empty_ok = true, .names = V_NAMES(__VA_ARGS__)}
#define V_LIST                    {.kind = FB_V_LIST}
#define V_LIST_OR_EMPTY           {.kind = FB_V_LIST, .empty_ok = true}
#define V_LIST_OR_NULL            {.kind = FB_V_LIST, .null_ok = true}
#define V_LIST_OR_EMPTY_OR_NULL   {.kind = FB_V_LIST, .empty_ok = true, .null_ok = true}
#define V_OLD_LISTOF(...)         {.kind = FB_V_LISTOF, .loose = true, .names = V_NAMES(__VA_ARGS__)}
#define V_ENTRIES(most)           {.kind = FB_V_ENTRIES, .lmax = (most)}
#define V_NONEMPTY                {.kind = FB_V_NONEMPTY}
#define V_NONNULL                 {.kind = FB_V_NONNULL}
#define V_REPLICAS                {.kind = FB_V_REPLICAS}
#define V_VOTERS                  {.kind = FB_V_VOTERS}
#define V_BOOTSTRAP               {.kind = FB_V_BOOTSTRAP}
#define V_OFFSET_RESET            {.kind = FB_V_OFFSET_RESET}
#define V_VERSION                 {.kind = FB_V_VERSION}

#define DEF(scope_, origin_, name_, type_, importance_, update_, internal_, synonym_, default_, ...)                   \
	{.scope = FB_##scope_, .origin = (origin_), .name = (name_), .type = FB_##type_, .def = (default_),            \
	 .importance = FB_##importance_, .dynamic = FB_##update_, .sensitive = FB_##type_ == FB_PASSWORD,              \
	 .internal = (internal_), .synonym = (synonym_), .validator = __VA_ARGS__}

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

/* Adds what only an earlier release has (gone.def), takes away and changes back what it did not have or had otherwise
 * (earlier.def). Of all built-in definitions, before any has rules. 0 or KT_ENOMEM. */
int fb_configdefs_make_earlier(struct fb_configdefs *defs, const char *release);

/* KEY of "listener.name.NAME.KEY", null for other names. Source: DynamicBrokerConfig.brokerConfigSynonyms. */
struct kw_str fb_listener_key(struct kw_str name);

#endif
