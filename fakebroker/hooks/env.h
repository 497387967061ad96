/* What the hooks get from the broker, and the host structure that plugins get from the hooks. */
#ifndef KASSAY_FAKEBROKER_HOOKS_ENV_H
#define KASSAY_FAKEBROKER_HOOKS_ENV_H

#include <stdatomic.h>

#include "fakebroker/hooks/kassay_validator.h"

/* Copied where it is passed; arg lives as long as what was made with it. */
struct fb_hook_env {
	/* Value of a config by its whole name, NULL if it is not set. Called only while a chain or an observer is
	 * made; the string lives at least until then. May be NULL: nothing is set. */
	const char *(*config)(void *arg, const char *name);
	/* One line without newline, with an enum kassay_level. From any thread at any time. May be NULL. */
	void (*log)(void *arg, int level, const char *line);
	void *arg;
	/* Plugin files whose classes are known by their plain names (--plugin), NULL-terminated; may be NULL.
	 * Searched in order, after the built-in names, while a chain or an observer is made. */
	const char *const *plugins;
};

/* The host that one instance sees. */
struct fb_host {
	struct kassay_host host;
	struct fb_hook_env env;
	const char *prefix;           /* of option names: "record.validator." or "observer." */
	const char *name;             /* of the class */
};

/* Ready for create(). */
void fb_host_init(struct fb_host *host, const struct fb_hook_env *env, const char *prefix, const char *name);
/* Ends the time in which configs can be read. */
void fb_host_created(struct fb_host *host);

/* Logs one line in printf's way. */
void fb_hook_log(const struct fb_hook_env *env, enum kassay_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Failures of one instance: all are counted, but at most one a second is logged. Zeroed at the start. */
struct fb_failures {
	atomic_uint_fast64_t count;
	atomic_int_fast64_t next_log;     /* ns, fb_hook_now() */
};

/* Counts a failure of `name` and logs it as an error, with the number so far: "NAME failed (failure 7): why". */
__attribute__((cold)) void fb_hook_failed(struct fb_failures *failures, const struct fb_hook_env *env, const char *name,
					  const char *why);

/* Nanoseconds of the monotonic clock. */
int64_t fb_hook_now(void);
/* So many milliseconds after now, both by fb_hook_now(); INT64_MAX if that is in 292 years or later. ms: not below
 * 0. */
int64_t fb_hook_deadline(int64_t now, int64_t ms);

#endif
