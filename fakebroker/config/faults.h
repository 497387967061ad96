/* Faults of Apache Kafka that a node imitates when kit.imitate.faults says so: faults.def. */
#ifndef KASSAY_FAKEBROKER_CONFIG_FAULTS_H
#define KASSAY_FAKEBROKER_CONFIG_FAULTS_H

#include <stdbool.h>

/* X(symbol, what docs and lists say) */
#define FB_FATES(X)                                                                                      \
	X(FB_MUTE,    "the connection is open, and never answers again")                                 \
	X(FB_RESIGN,  "the controller resigns, and is elected again 1 to 2 s later")                     \
	X(FB_END,     "the connection is closed, and the controller's process ends")                     \
	X(FB_SURVIVE, "the broker goes on")

enum fb_fate {
#define FB_X(sym, text) sym,
	FB_FATES(FB_X)
#undef FB_X
};

enum fb_fault {
	FB_NO_FAULT,
#define FB_FAULT(sym, name, api, fate, sent, does, healthy, releases, source) sym,
#include "fakebroker/config/faults.def"
#undef FB_FAULT
	FB_NFAULTS
};

struct fb_fault_row {
	const char *name, *api;
	enum fb_fate fate;
	const char *sent, *does, *healthy, *releases, *source;   /* for people */
};

/* By number; the first, FB_NO_FAULT, is all zeros. */
extern const struct fb_fault_row fb_faults[FB_NFAULTS];
const char *fb_fate_text(enum fb_fate fate);
/* Is the release ("4.4") the first that was seen to have the fault, or one after that? */
bool fb_fault_since(enum fb_fault fault, const char *release);

#endif
