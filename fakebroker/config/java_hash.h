/* Java's String.hashCode(), by which Kafka finds coordinators and goes through its hash maps. */
#ifndef KASSAY_FAKEBROKER_CONFIG_JAVA_HASH_H
#define KASSAY_FAKEBROKER_CONFIG_JAVA_HASH_H

#include "lib/wire/types.h"

/* Of the string that Java makes of these bytes: over UTF-16 units, with U+FFFD for what is no UTF-8. */
uint32_t fb_java_hash(struct kw_str s);
/* Kafka's Utils.abs(hashCode()) % n; n is above 0. */
int32_t fb_java_slot(struct kw_str s, int32_t n);

#endif
