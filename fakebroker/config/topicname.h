/* The rule for topic names. */
#ifndef KASSAY_FAKEBROKER_CONFIG_TOPICNAME_H
#define KASSAY_FAKEBROKER_CONFIG_TOPICNAME_H

#include "lib/wire/arena.h"

/* NULL if the name is legal, else Kafka's message, e.g. "Topic name is invalid: '.' is not allowed", in arena.
 * Source: org.apache.kafka.common.internals.Topic. */
const char *fb_topic_name_fault(struct kw_str name, struct kw_arena *arena);

/* The order of names in which '.' and '_' are one: Topic.unifyCollisionChars. */
int fb_topic_name_cmp_alike(struct kw_str a, struct kw_str b);

#endif
