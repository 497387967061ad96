/* Inside control/: what producers sent, readable. */
#ifndef KASSAY_FAKEBROKER_CONTROL_BATCHES_JSON_H
#define KASSAY_FAKEBROKER_CONTROL_BATCHES_JSON_H

#include <jansson.h>

#include "kw_messages.h"

enum {
	FB_SHOWN_RECORDS = 100,    /* of one request */
	FB_SHOWN_BYTES = 1024,     /* of one key, value or header; of a longer one there is only its size */
};

/* Puts "batches" beside every "records" of a Produce request's body, which json is the form of. */
void fb_add_batches(json_t *json, const struct kw_ProduceRequest *body);

#endif
