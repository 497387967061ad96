/* What the tests of the hooks share: configs from a table, a log that is kept, records made of strings. */
#ifndef KASSAY_FAKEBROKER_TESTS_HOOK_FIXTURES_H
#define KASSAY_FAKEBROKER_TESTS_HOOK_FIXTURES_H

/* cmocka.h needs the first four. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fakebroker/hooks/env.h"
#include "lib/wire/batch.h"

/* NULL-terminated pairs of name and value. */
struct setting {
	const char *name, *value;
};

struct fixture {
	const struct setting *settings;
	pthread_mutex_t lock;
	int lines;                /* logged so far */
	int last_level;
	char last[1024];
};

static const char *fixture_config(void *arg, const char *name)
{
	const struct setting *setting = ((struct fixture *)arg)->settings;

	for (; setting && setting->name; setting++)
		if (strcmp(setting->name, name) == 0)
			return setting->value;
	return NULL;
}

static void fixture_log(void *arg, int level, const char *line)
{
	struct fixture *fixture = arg;

	pthread_mutex_lock(&fixture->lock);
	fixture->lines++;
	fixture->last_level = level;
	snprintf(fixture->last, sizeof fixture->last, "%s", line);
	pthread_mutex_unlock(&fixture->lock);
}

#define FIXTURE(settings_) {.settings = (settings_), .lock = PTHREAD_MUTEX_INITIALIZER}

static inline struct fb_hook_env fixture_env(struct fixture *fixture)
{
	return (struct fb_hook_env){fixture_config, fixture_log, fixture, NULL};
}

/* Path of a plugin that the makefile built: plugins/NAME.so in a directory above the test program. */
static inline const char *plugin_path(const char *name, char path[PATH_MAX])
{
	char dir[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", dir, sizeof dir - 1);
	char *slash;

	assert_true(n > 0);
	dir[n] = '\0';
	while ((slash = strrchr(dir, '/'))) {
		*slash = '\0';
		if (snprintf(path, PATH_MAX, "%s/plugins/%s.so", dir, name) < PATH_MAX && access(path, R_OK) == 0)
			return path;
	}
	fail_msg("plugin %s is not built", name);
	return NULL;
}

static inline struct kw_bytes bytes_of(const char *s)
{
	return (struct kw_bytes){(const uint8_t *)s, s ? (int32_t)strlen(s) : -1};
}

#endif
