/* Validators for the control API: the chains, changing them, and what they refused. */
#ifndef KASSAY_FAKEBROKER_CONTROL_VALIDATORS_H
#define KASSAY_FAKEBROKER_CONTROL_VALIDATORS_H

#include <jansson.h>

#include "fakebroker/cluster/cluster.h"
#include "lib/text/json.h"

/* {TOPIC: {"classes": LIST, "validators": [as fb_chain_json()]}} of the topics that have a chain. */
json_t *fb_validators_json(struct fb_cluster *cluster);
/* Alters configurations that begin with record.validator, as IncrementalAlterConfigs would: the body is {"topic": NAME,
 * "configs": {NAME: VALUE or null}}, null deletes, and without a topic they are those of all brokers. 0 or the code in
 * obj->err; nothing is changed then. */
int fb_validators_put(struct fb_cluster *cluster, struct kt_obj *obj);

/* Which refused records. */
struct fb_refused_filter {
	const char *topic;        /* NULL: any */
	uint64_t after;           /* ids above this one */
	size_t limit;             /* at most so many: the first, or the last if newest is set */
	bool newest;
};

/* {"refused": how many there were in all, "records": [...]}, oldest first; the list is as bounded as in listing.h. NULL
 * without memory. */
json_t *fb_refused_json(struct fb_refused *refused, const struct fb_refused_filter *filter);

#endif
