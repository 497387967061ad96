#include "fakebroker/cluster/clock.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

/* What frozen_ms is while the clock runs. */
static const int64_t RUNS = INT64_MIN;

/* Read without a lock, once or twice a request. Who sees that it runs, sees how far ahead it is then or later. */
struct fb_clock {
	_Atomic int64_t ahead_ms;  /* of the system's clock, while it runs */
	_Atomic int64_t frozen_ms; /* what it shows, while it does not */
};

static int64_t system_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

struct fb_clock *fb_clock_new(void)
{
	struct fb_clock *clock = calloc(1, sizeof *clock);

	if (clock) {
		atomic_init(&clock->ahead_ms, 0);
		atomic_init(&clock->frozen_ms, RUNS);
	}
	return clock;
}

void fb_clock_free(struct fb_clock *clock)
{
	free(clock);
}

int64_t fb_clock_now(struct fb_clock *clock)
{
	int64_t frozen_ms = atomic_load(&clock->frozen_ms);

	return frozen_ms != RUNS ? frozen_ms : system_ms() + atomic_load(&clock->ahead_ms);
}

bool fb_clock_frozen(struct fb_clock *clock)
{
	return atomic_load(&clock->frozen_ms) != RUNS;
}

int64_t fb_clock_ahead(struct fb_clock *clock)
{
	int64_t frozen_ms = atomic_load(&clock->frozen_ms);

	return frozen_ms != RUNS ? frozen_ms - system_ms() : atomic_load(&clock->ahead_ms);
}

void fb_clock_set(struct fb_clock *clock, int64_t ms, bool frozen)
{
	atomic_store(&clock->ahead_ms, ms - system_ms());
	atomic_store(&clock->frozen_ms, frozen ? ms : RUNS);
}
