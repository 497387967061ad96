/* The broker's clock: that of the system, until a script stops it, sets it or moves it.
 *
 * Record timestamps, retention and the time-outs of transactions go by it. What waits for a socket or for a client (a
 * fetch, a rule's delay) goes by real time. Any thread may ask; one at a time changes it.
 */
#ifndef KASSAY_FAKEBROKER_CLUSTER_CLOCK_H
#define KASSAY_FAKEBROKER_CLUSTER_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct fb_clock;

/* NULL without memory. */
struct fb_clock *fb_clock_new(void);
void fb_clock_free(struct fb_clock *clock);

/* Milliseconds since the epoch. */
int64_t fb_clock_now(struct fb_clock *clock);
bool fb_clock_frozen(struct fb_clock *clock);
/* By how many milliseconds it is ahead of the system's; 0 as long as nobody set it. */
int64_t fb_clock_ahead(struct fb_clock *clock);
/* Shows ms, at least 0, from now on; it runs on, or stands still. */
void fb_clock_set(struct fb_clock *clock, int64_t ms, bool frozen);

#endif
