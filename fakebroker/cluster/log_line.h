/* The broker's own log: one line per event, on stderr. */
#ifndef KASSAY_FAKEBROKER_CLUSTER_LOG_LINE_H
#define KASSAY_FAKEBROKER_CLUSTER_LOG_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "fakebroker/hooks/kassay_validator.h"

/* Lines below the level are not written. KASSAY_WARN at first. */
void fb_log_level(enum kassay_level level);
/* "2026-11-29T21:44:02.123 WARN text" */
void fb_log_line(enum kassay_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* For what clients try again and again: the same text at most once a second; the next line tells how often it was left
 * out. */
void fb_log_repeated(enum kassay_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Shall this text be logged now, by a monotonic clock in ns? If so *unsaid is how often it was not since it was logged
 * last. Of many texts in turn the one that was logged longest ago is forgotten. */
bool fb_log_is_due(const char *text, int64_t now_ns, uint64_t *unsaid);
/* The same in the shape that the hooks want; arg is not used. */
void fb_hook_line(void *arg, int level, const char *line);

#endif
