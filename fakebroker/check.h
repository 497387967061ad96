/* --check: would this cluster's configuration be legal at a metadata.version? Answered without starting anything, from
 * a scenario, from server.properties files and from what kafka-configs.sh --describe printed of a running cluster.
 *
 * Checked is what the controller checks when metadata.version moves (KIP-1294), and every static value against its
 * plain validator. All offenders are found, not only the first.
 */
#ifndef KASSAY_FAKEBROKER_CHECK_H
#define KASSAY_FAKEBROKER_CHECK_H

#include "fakebroker/start.h"

struct fb_offender {
	struct fb_violation violation;
	/* Where it is set: file with line and, in a scenario, path; or an option. Nothing, if nobody set it. */
	const char *file, *path, *option;
	int line;
};

/* A value under a rule that is set but cannot be seen: Kafka does not show it, or a config provider has it. */
struct fb_unjudged {
	const char *where;           /* as in fb_violation */
	struct kw_str name;          /* null: all of it, no server.properties and no description with --all is there */
};

struct fb_check {
	struct fb_broker_process process;
	int16_t level;
	struct fb_offender *offenders;
	size_t noffenders;
	struct fb_unjudged *unjudged;
	size_t nunjudged;
	struct kw_arena arena;       /* of all that is in here */
};

/* 0 whether or not there are offenders; negative when something cannot be read or had. err must not be NULL. fini may
 * be called whatever the outcome. */
int fb_check(struct fb_check *check, const struct fb_settings *settings, struct kt_err *err);
void fb_check_fini(struct fb_check *check);

/* Prints what was found to stdout: a line for each offender or "ok", or JSON; what was not judged goes to stderr.
 * Returns the exit code. */
int fb_check_print(const struct fb_check *check, bool json);

#endif
