#include "fakebroker/cluster/log_line.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "fakebroker/hooks/env.h"

static atomic_int threshold = KASSAY_WARN;

void fb_log_level(enum kassay_level level)
{
	atomic_store(&threshold, level);
}

void fb_log_line(enum kassay_level level, const char *fmt, ...)
{
	static const char *const names[] = {"DEBUG", "INFO", "WARN", "ERROR"};
	char text[2048], when[32];
	struct timespec ts;
	struct tm tm;
	va_list ap;

	if ((int)level < atomic_load(&threshold))
		return;
	clock_gettime(CLOCK_REALTIME, &ts);
	gmtime_r(&ts.tv_sec, &tm);
	strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S", &tm);
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	for (char *p = text; *p; p++)   /* names and texts come from clients */
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	fprintf(stderr, "%s.%03dZ %s %s\n", when, (int)(ts.tv_nsec / 1000000), names[level], text);
}

/* ---- what is repeated ---- */

enum { TEXTS = 16, SECOND_NS = 1000000000 };

static pthread_mutex_t repeats_lock = PTHREAD_MUTEX_INITIALIZER;
static struct repeat {
	uint64_t hash;             /* of the text; 0: none yet */
	int64_t next_ns;           /* not before */
	uint64_t unsaid;
} repeats[TEXTS];

/* FNV-1a, and never 0. */
static uint64_t hash_of(const char *text)
{
	uint64_t hash = 14695981039346656037u;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 1099511628211u;
	return hash ? hash : 1;
}

bool fb_log_is_due(const char *text, int64_t now_ns, uint64_t *unsaid)
{
	struct repeat *repeat = repeats;
	uint64_t hash = hash_of(text);
	bool due;

	pthread_mutex_lock(&repeats_lock);
	for (int i = 0; i < TEXTS && repeat->hash != hash; i++)
		if (repeats[i].hash == hash || repeats[i].next_ns < repeat->next_ns)
			repeat = &repeats[i];
	if (repeat->hash != hash)
		*repeat = (struct repeat){.hash = hash, .next_ns = now_ns};
	due = now_ns >= repeat->next_ns;
	*unsaid = repeat->unsaid;
	repeat->unsaid = due ? 0 : repeat->unsaid + 1;
	if (due)
		repeat->next_ns = now_ns + SECOND_NS;
	pthread_mutex_unlock(&repeats_lock);
	return due;
}

void fb_log_repeated(enum kassay_level level, const char *fmt, ...)
{
	char text[2048];
	uint64_t unsaid;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (!fb_log_is_due(text, fb_hook_now(), &unsaid))
		return;
	if (unsaid)
		fb_log_line(level, "%s (and %llu times since this was logged)", text, (unsigned long long)unsaid);
	else
		fb_log_line(level, "%s", text);
}

void fb_hook_line(void *arg, int level, const char *line)
{
	(void)arg;
	fb_log_line((enum kassay_level)level, "%s", line);
}
