/* Inside control/: whether a request is about a topic. */
#ifndef KASSAY_FAKEBROKER_CONTROL_MENTIONS_H
#define KASSAY_FAKEBROKER_CONTROL_MENTIONS_H

#include "fakebroker/request.h"

struct fb_wanted_topic {
	const char *name;          /* the caller's */
	struct kw_uuid id;         /* zero if there is no such topic */
};

/* Looks the id up, under the cluster's lock. */
struct fb_wanted_topic fb_want_topic(struct fb_cluster *cluster, const char *name);
/* Does a decoded body name the topic, by name or id, in whatever field the API has for it? */
bool fb_mentions(const struct kw_struct *st, const void *body, const struct fb_wanted_topic *want);

#endif
