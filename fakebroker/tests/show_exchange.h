/* Showing an exchange to an observer that no node has. */
#ifndef KASSAY_FAKEBROKER_TESTS_SHOW_EXCHANGE_H
#define KASSAY_FAKEBROKER_TESTS_SHOW_EXCHANGE_H

#include "fakebroker/hooks/observer.h"

/* False: it is closed. */
static inline bool show_exchange(struct fb_observer *observer, const struct fb_exchange *exchange, bool produce)
{
	fb_observer_place place = observer;
	int64_t now = 0;

	return fb_observer_show(&place, exchange, produce, &now);
}

#endif
