/* Observers that record nothing: the default, and two that misbehave, to try out what the broker makes of it. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "fakebroker/hooks/builtin_observers.h"

const struct kassay_option fb_no_op_options[] = {{0}};

int fb_no_op_record(void *instance, const struct kassay_exchange *exchange, struct kassay_text *why)
{
	(void)instance, (void)exchange, (void)why;
	return 0;
}

/* ---- FailingObserver ---- */

struct failing {
	uint64_t n;
	atomic_uint_fast64_t seen;
	bool produce;
};

const struct kassay_option fb_failing_observer_options[] = {
	{"n", "1", "fail at the nth, 2nth, 3nth, ... exchange"},
	{"produce", "false", "true: fail before every append as well (observe_produce)"},
	{"create", "false", "true: fail when the observer is made, so that NoOpObserver takes its place"},
	{0},
};

int fb_failing_observer_create(const struct kassay_host *host, void **instance, struct kassay_text *why)
{
	struct failing *self;
	bool fail, produce;
	int64_t n;

	if (fb_option_number(host, "n", 1, INT32_MAX, 1, &n, why) < 0 ||
	    fb_option_bool(host, "produce", false, &produce, why) < 0 ||
	    fb_option_bool(host, "create", false, &fail, why) < 0)
		return -1;
	self = fail ? NULL : calloc(1, sizeof *self);
	if (!self) {
		snprintf(why->text, why->size, "%s", fail ? "fails as it was told to" : "out of memory");
		return -1;
	}
	self->n = (uint64_t)n;
	self->produce = produce;
	*instance = self;
	return 0;
}

int fb_failing_observer_record(void *instance, const struct kassay_exchange *exchange, struct kassay_text *why)
{
	struct failing *self = instance;

	if ((atomic_fetch_add_explicit(&self->seen, 1, memory_order_relaxed) + 1) % self->n != 0)
		return 0;
	snprintf(why->text, why->size, "fails at a request of API %s, as it was told to", exchange->api);
	return -1;
}

int fb_failing_observer_produce(void *instance, const struct kassay_exchange *exchange, struct kassay_text *why)
{
	const struct failing *self = instance;

	(void)exchange;
	if (!self->produce)
		return 0;
	snprintf(why->text, why->size, "fails before an append, as it was told to");
	return -1;
}

void fb_failing_observer_close(void *instance, int64_t timeout_ms)
{
	(void)timeout_ms;
	free(instance);
}

/* ---- SlowObserver ---- */

struct slow {
	int64_t record_us, produce_us, close_us;
	bool busy;
};

const struct kassay_option fb_slow_observer_options[] = {
	{"us", "0", "microseconds that each exchange takes"},
	{"produce.us", "0", "microseconds that a Produce request takes before its append (observe_produce)"},
	{"busy", "false", "true: spin instead of sleeping, which a timer cannot do for less than some 50 microseconds"},
	{"close.us", "0", "microseconds that closing takes, whatever time-out it is given"},
	{0},
};

int fb_slow_observer_create(const struct kassay_host *host, void **instance, struct kassay_text *why)
{
	struct slow *self, slow;

	if (fb_option_number(host, "us", 0, INT32_MAX, 0, &slow.record_us, why) < 0 ||
	    fb_option_number(host, "produce.us", 0, INT32_MAX, 0, &slow.produce_us, why) < 0 ||
	    fb_option_bool(host, "busy", false, &slow.busy, why) < 0 ||
	    fb_option_number(host, "close.us", 0, INT32_MAX, 0, &slow.close_us, why) < 0)
		return -1;
	self = malloc(sizeof *self);
	if (!self) {
		snprintf(why->text, why->size, "out of memory");
		return -1;
	}
	*self = slow;
	*instance = self;
	return 0;
}

static void pause_us(const struct slow *self, int64_t us)
{
	struct timespec left = {us / 1000000, us % 1000000 * 1000};
	int64_t end = fb_hook_now() + us * 1000;

	if (self->busy)
		while (fb_hook_now() < end)
			;
	else
		while (us > 0 && nanosleep(&left, &left) != 0)
			;
}

int fb_slow_observer_record(void *instance, const struct kassay_exchange *exchange, struct kassay_text *why)
{
	const struct slow *self = instance;

	(void)exchange, (void)why;
	pause_us(self, self->record_us);
	return 0;
}

int fb_slow_observer_produce(void *instance, const struct kassay_exchange *exchange, struct kassay_text *why)
{
	const struct slow *self = instance;

	(void)exchange, (void)why;
	pause_us(self, self->produce_us);
	return 0;
}

void fb_slow_observer_close(void *instance, int64_t timeout_ms)
{
	const struct slow *self = instance;

	(void)timeout_ms;
	pause_us(self, self->close_us);
	free(instance);
}
