/* The broker's own log: one line per event, on stderr. */
#ifndef KASSAY_FAKEBROKER_CLUSTER_LOG_LINE_H
#define KASSAY_FAKEBROKER_CLUSTER_LOG_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "fakebroker/hooks/kassay_validator.h"

/* Lines below the level are not written. KASSAY_WARN at first. */
void fb_log_level(enum kassay_level level);
/* "2026-11-29T21:44:02.123Z WARN text" */
void fb_log_line(enum kassay_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* For what clients try again and again: the same text at most once a second, and of more than 16 different ones within
 * a second the first 16; the next line tells how much was left out. */
void fb_log_repeated(enum kassay_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
struct fb_left_out {
	uint64_t same, others;       /* times this text, and lines of other texts */
};

/* Shall this text be logged now, by a monotonic clock in ns? If so *left_out is what was not since the last one that
 * was. Any thread may ask. */
bool fb_log_is_due(const char *text, int64_t now_ns, struct fb_left_out *left_out);
/* The same in the shape that the hooks want; arg is not used. */
void fb_hook_line(void *arg, int level, const char *line);

#endif
