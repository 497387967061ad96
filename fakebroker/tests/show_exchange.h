/* Making an exchange, and showing it to an observer that no node has. */
#ifndef KASSAY_FAKEBROKER_TESTS_SHOW_EXCHANGE_H
#define KASSAY_FAKEBROKER_TESTS_SHOW_EXCHANGE_H

#include "fakebroker/hooks/observer.h"

/* Zeroes it; sets struct_size and the accessor; strings null. */
static inline void exchange_init(struct fb_exchange *exchange)
{
	const struct kassay_str null = {NULL, -1};

	*exchange = (struct fb_exchange){
		.view = {
			.struct_size = sizeof exchange->view,
			.listener = null, .principal = null, .address = null, .clientId = null,
			.api = "",
			.partition = fb_exchange_partition,
		},
	};
}

/* False: it is closed. */
static inline bool show_exchange(struct fb_observer *observer, const struct fb_exchange *exchange, bool produce)
{
	fb_observer_place place = observer;
	int64_t now = 0;

	return fb_observer_show(&place, exchange, produce, &now);
}

#endif
