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
static uint64_t others;            /* lines left out whose texts had no place */

/* FNV-1a, and never 0. */
static uint64_t hash_of(const char *text)
{
	uint64_t hash = 14695981039346656037u;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 1099511628211u;
	return hash ? hash : 1;
}

/* The text's place, or else one that is free or has had its second; NULL if all are younger. */
static struct repeat *place_of(uint64_t hash, int64_t now_ns)
{
	struct repeat *oldest = repeats;

	for (int i = 0; i < TEXTS; i++) {
		if (repeats[i].hash == hash)
			return &repeats[i];
		if (repeats[i].next_ns < oldest->next_ns)
			oldest = &repeats[i];
	}
	if (oldest->hash && oldest->next_ns > now_ns)
		return NULL;
	others += oldest->unsaid;
	*oldest = (struct repeat){.hash = hash, .next_ns = now_ns};
	return oldest;
}

bool fb_log_is_due(const char *text, int64_t now_ns, struct fb_left_out *left_out)
{
	struct repeat *repeat;
	bool due = false;

	pthread_mutex_lock(&repeats_lock);
	repeat = place_of(hash_of(text), now_ns);
	if (!repeat) {
		others++;
	} else if (now_ns < repeat->next_ns) {
		repeat->unsaid++;
	} else {
		due = true;
		*left_out = (struct fb_left_out){repeat->unsaid, others};
		repeat->unsaid = others = 0;
		repeat->next_ns = now_ns + SECOND_NS;
	}
	pthread_mutex_unlock(&repeats_lock);
	return due;
}

void fb_log_repeated(enum kassay_level level, const char *fmt, ...)
{
	struct fb_left_out left_out;
	char text[1800];           /* leaves room for what is added */
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (!fb_log_is_due(text, fb_hook_now(), &left_out))
		return;
	if (left_out.same || left_out.others)
		fb_log_line(level, "%s (left out since: %llu times this, %llu other lines)", text,
			    (unsigned long long)left_out.same, (unsigned long long)left_out.others);
	else
		fb_log_line(level, "%s", text);
}

void fb_hook_line(void *arg, int level, const char *line)
{
	(void)arg;
	fb_log_line((enum kassay_level)level, "%s", line);
}
