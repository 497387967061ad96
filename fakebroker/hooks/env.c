#include "fakebroker/hooks/env.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "fakebroker/hooks/utf8.h"

void fb_hook_log(const struct fb_hook_env *env, enum kassay_level level, const char *fmt, ...)
{
	char line[1024], *p;
	va_list ap;

	if (!env->log)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	fb_utf8_mend(line);
	for (p = line; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = ' ';
	env->log(env->arg, (int)level, line);
}

static const struct fb_host *host_of(const struct kassay_host *host)
{
	return (const struct fb_host *)(const void *)host;
}

static void host_log(const struct kassay_host *host, enum kassay_level level, const char *line)
{
	const struct fb_host *self = host_of(host);

	fb_hook_log(&self->env, level, "%s: %s", self->name, line);
}

static const char *host_config(const struct kassay_host *host, const char *name)
{
	const struct fb_hook_env *env = &host_of(host)->env;

	return env->config ? env->config(env->arg, name) : NULL;
}

static const char *host_option(const struct kassay_host *host, const char *name)
{
	const struct fb_host *self = host_of(host);
	char config[256];
	int n = snprintf(config, sizeof config, "%s%s.%s", self->prefix, self->name, name);

	return n < (int)sizeof config ? host_config(host, config) : NULL;
}

void fb_host_init(struct fb_host *host, const struct fb_hook_env *env, const char *prefix, const char *name)
{
	*host = (struct fb_host){
		.host = {sizeof host->host, host_log, host_option, host_config},
		.env = *env, .prefix = prefix, .name = name,
	};
}

void fb_host_created(struct fb_host *host)
{
	host->env.config = NULL;
}

int64_t fb_hook_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t fb_hook_deadline(int64_t now, int64_t ms)
{
	const int64_t ns = 1000000;

	return ms > (INT64_MAX - now) / ns ? INT64_MAX : now + ms * ns;
}

void fb_hook_failed(struct fb_failures *failures, const struct fb_hook_env *env, const char *name, const char *why)
{
	uint_fast64_t count = atomic_fetch_add(&failures->count, 1) + 1;
	int_fast64_t now = fb_hook_now(), next = atomic_load(&failures->next_log);

	/* Of several threads that fail at once only one gets the turn. */
	if (now >= next && atomic_compare_exchange_strong(&failures->next_log, &next, now + 1000000000))
		fb_hook_log(env, KASSAY_ERROR, "%s failed (failure %llu): %s", name, (unsigned long long)count,
			    *why ? why : "no reason given");
}
