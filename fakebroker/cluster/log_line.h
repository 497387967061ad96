/* The broker's own log: one line per event, on stderr. */
#ifndef KASSAY_FAKEBROKER_CLUSTER_LOG_LINE_H
#define KASSAY_FAKEBROKER_CLUSTER_LOG_LINE_H

#include "fakebroker/hooks/kassay_validator.h"

/* Lines below the level are not written. KASSAY_WARN at first. */
void fb_log_level(enum kassay_level level);
/* "2026-11-29T21:44:02.123 WARN text" */
void fb_log_line(enum kassay_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same in the shape that the hooks want; arg is not used. */
void fb_hook_line(void *arg, int level, const char *line);

#endif
