/* A cluster without ports, as --check makes it. */
#ifndef KASSAY_FAKEBROKER_FUZZ_CHECKED_START_H
#define KASSAY_FAKEBROKER_FUZZ_CHECKED_START_H

#include "fakebroker/start.h"
#include "lib/text/fuzz/fuzz.h"

/* scenario: a file, or NULL. 0, or why it cannot start. fb_stop() whatever the outcome. */
static inline int checked_start(struct fb_broker_process *process, const char *scenario, struct kt_err *err)
{
	const struct fb_settings settings = {
		.scenario = scenario, .host = "127.0.0.1", .advertise = "127.0.0.1", .threads = 1, .check = true,
		.log_level = -1, .list = FB_LIST_NONE,
	};

	return fb_start(process, &settings, err);
}

#endif
