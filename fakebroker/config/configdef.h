/* The definitions of Kafka's configurations, and of the kit's own: what each is called, its type, default and rules.
 *
 * The tables are topic.def, broker.def, group.def, client_metrics.def (Apache Kafka 4.4.0, as its classes LogConfig,
 * AbstractKafkaConfig, GroupConfig and ClientMetricsConfigs define them) and kit.def (the kit's own). A scenario file
 * can add more at run time. A set of definitions is read-only once it is in use: any number of threads may read it.
 *
 * Names and values are kw_str slices, as they come from a request; a value with n == -1 is null.
 * Messages are Kafka's own words. They are allocated in the caller's arena and can be as long as the value they quote.
 */
#ifndef KASSAY_FAKEBROKER_CONFIG_CONFIGDEF_H
#define KASSAY_FAKEBROKER_CONFIG_CONFIGDEF_H

#include "lib/text/err.h"
#include "lib/wire/arena.h"
#include "lib/wire/types.h"

/* X(symbol, number that DescribeConfigs reports, name) */
#define FB_CONFIG_TYPES(X)                \
	X(FB_BOOLEAN,  1, "BOOLEAN")      \
	X(FB_STRING,   2, "STRING")       \
	X(FB_INT,      3, "INT")          \
	X(FB_SHORT,    4, "SHORT")        \
	X(FB_LONG,     5, "LONG")         \
	X(FB_DOUBLE,   6, "DOUBLE")       \
	X(FB_LIST,     7, "LIST")         \
	X(FB_CLASS,    8, "CLASS")        \
	X(FB_PASSWORD, 9, "PASSWORD")

enum fb_config_type {
#define FB_X(sym, num, name) sym = (num),
	FB_CONFIG_TYPES(FB_X)
#undef FB_X
};

/* What a configuration belongs to, with the resource type numbers of the protocol (ConfigResource.Type). */
enum fb_scope {
	FB_TOPIC = 2,
	FB_BROKER = 4,
	FB_BROKER_LOGGER = 8,      /* log levels: no definitions, any logger name that exists */
	FB_CLIENT_METRICS = 16,
	FB_GROUP = 32,
};

enum fb_importance { FB_HIGH, FB_MEDIUM, FB_LOW };

/* How a BROKER configuration can change while the broker runs. The other scopes are always dynamic (CLUSTER_WIDE). */
enum fb_dynamic { FB_READ_ONLY, FB_PER_BROKER, FB_CLUSTER_WIDE };

enum fb_origin { FB_FROM_KAFKA, FB_FROM_KIT, FB_FROM_USER };

/* What a value must satisfy once it has its type. X(symbol, name) */
#define FB_VALIDATORS(X)                                                                                       \
	X(FB_V_NONE)              /* nothing */                                                                \
	X(FB_V_RANGE)             /* min <= number <= max, either may be open */                               \
	X(FB_V_RANGE_OR)          /* min <= number <= max, or the one other number `other` */                  \
	X(FB_V_ONEOF)             /* one of names */                                                           \
	X(FB_V_ONEOF_CASE)        /* one of names, whatever the case */                                        \
	X(FB_V_LISTOF)            /* a list of names; no duplicates */                                         \
	X(FB_V_LIST)              /* a list of anything; no duplicates */                                      \
	X(FB_V_ENTRIES)           /* a list of at most max entries (the kit's) */                              \
	X(FB_V_NONEMPTY)          /* a string that is not empty */                                             \
	X(FB_V_NONNULL)                                                                                        \
	X(FB_V_REPLICAS)          /* PARTITION:BROKER,... or the one entry * */                                \
	X(FB_V_VOTERS)            /* ID@HOST:PORT,... */                                                       \
	X(FB_V_BOOTSTRAP)         /* HOST:PORT,... */                                                          \
	X(FB_V_VERSION)           /* a release or a metadata.version: 0.10.2, 3.9-IV0 */                       \
	X(FB_V_OFFSET_RESET)      /* earliest, latest or by_duration:ISO-8601 */

enum fb_validator_kind {
#define FB_X(sym) sym,
	FB_VALIDATORS(FB_X)
#undef FB_X
};

/* INT, SHORT, LONG and LIST (number of entries) are held against lmin and lmax, DOUBLE against dmin and dmax. */
struct fb_validator {
	enum fb_validator_kind kind;
	bool has_min, has_max;
	bool empty_ok, null_ok;           /* LIST, LISTOF */
	bool loose;                       /* LISTOF before 4.0: each entry is judged, and nothing else of the list */
	int64_t lmin, lmax, other;
	double dmin, dmax;
	const char *const *names;         /* ONEOF, ONEOF_CASE, LISTOF: NULL-terminated, in the order of the message */
};

/* One entry of the proposal's mvValidators: what the value must satisfy from this metadata.version level on, up to the
 * next entry. */
struct fb_mv_rule {
	int16_t level;
	struct fb_validator validator;
	const char *message;              /* instead of the validator's own; "{}" is the level's name; NULL: none */
};

struct fb_configdef {
	enum fb_scope scope;
	enum fb_origin origin;
	const char *name;
	enum fb_config_type type;
	const char *def;                  /* default as text; NULL: none (null) */
	const char *text;                 /* what it does, if the fakebroker acts on it (texts.def); else NULL */
	enum fb_importance importance;
	enum fb_dynamic dynamic;
	bool sensitive;                   /* value is never shown; always true for PASSWORD */
	bool internal;                    /* not listed by DescribeConfigs */
	struct fb_validator validator;
	const char *synonym;              /* TOPIC, GROUP: the BROKER configuration behind it; NULL: none */
	const struct fb_mv_rule *mv;      /* ascending levels */
	size_t nmv;
	size_t order;                     /* Kafka's order of definition, in which it finds errors; not by name */
};

/* A set of definitions. New: all built-in ones, of the newest release or as of an earlier one. NULL when memory is
 * exhausted. */
struct fb_configdefs;
struct fb_configdefs *fb_configdefs_new(void);
struct fb_configdefs *fb_configdefs_new_as_of(const char *release);
/* Are they of a release before this one ("4.2")? For what config/ answers in another way then; who has a cluster asks
 * its release. */
bool fb_configdefs_before(const struct fb_configdefs *defs, const char *release);
/* Has the scope any? Not all releases know all scopes. */
bool fb_configdefs_has(const struct fb_configdefs *defs, enum fb_scope scope);
void fb_configdefs_free(struct fb_configdefs *defs);

/* The definition, or NULL. For BROKER, "listener.name.NAME.KEY" finds KEY when nothing is defined by the full name. */
const struct fb_configdef *fb_configdef_find(const struct fb_configdefs *defs, enum fb_scope scope, struct kw_str name);
/* All definitions of a scope in the order of their names: prev NULL gives the first; NULL at the end. */
const struct fb_configdef *fb_configdef_next(const struct fb_configdefs *defs, enum fb_scope scope,
					     const struct fb_configdef *prev);
/* The known name of the scope that is nearest to a wrong one, or NULL if none is near. */
const char *fb_configdef_near(const struct fb_configdefs *defs, enum fb_scope scope, struct kw_str name);

/* Parses a value as ConfigDef.parseType does and runs the plain validator: true if it is good. Otherwise *message is
 * the text of Kafka's ConfigException, e.g. "Invalid value abc for configuration retention.ms: Not a number of type
 * LONG", allocated in arena. value null: good, unless the validator refuses null. */
bool fb_config_parse_check(const struct fb_configdef *def, struct kw_str value, struct kw_arena *arena,
			   const char **message);

/* The number that a value of type INT, SHORT, LONG or BOOLEAN (0, 1) means; fallback if it has another type or does not
 * parse. */
int64_t fb_config_long(const struct fb_configdef *def, struct kw_str value, int64_t fallback);

const char *fb_config_type_name(enum fb_config_type type);

#endif
