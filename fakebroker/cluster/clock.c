#include "fakebroker/cluster/clock.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct fb_clock {
	pthread_mutex_t lock;
	int64_t ahead_ms;          /* of the system's clock, while it runs */
	int64_t frozen_ms;         /* what it shows, while it does not */
	bool frozen;
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

	if (clock)
		pthread_mutex_init(&clock->lock, NULL);
	return clock;
}

void fb_clock_free(struct fb_clock *clock)
{
	if (!clock)
		return;
	pthread_mutex_destroy(&clock->lock);
	free(clock);
}

int64_t fb_clock_now(struct fb_clock *clock)
{
	int64_t now;

	pthread_mutex_lock(&clock->lock);
	now = clock->frozen ? clock->frozen_ms : system_ms() + clock->ahead_ms;
	pthread_mutex_unlock(&clock->lock);
	return now;
}

bool fb_clock_frozen(struct fb_clock *clock)
{
	bool frozen;

	pthread_mutex_lock(&clock->lock);
	frozen = clock->frozen;
	pthread_mutex_unlock(&clock->lock);
	return frozen;
}

void fb_clock_set(struct fb_clock *clock, int64_t ms, bool frozen)
{
	pthread_mutex_lock(&clock->lock);
	clock->frozen = frozen;
	clock->frozen_ms = ms;
	clock->ahead_ms = ms - system_ms();
	pthread_mutex_unlock(&clock->lock);
}
