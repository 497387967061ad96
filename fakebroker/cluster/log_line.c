#include "fakebroker/cluster/log_line.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

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

void fb_hook_line(void *arg, int level, const char *line)
{
	(void)arg;
	fb_log_line((enum kassay_level)level, "%s", line);
}
