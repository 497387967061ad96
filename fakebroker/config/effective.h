/* How the layers of a configuration lie above each other. */
#ifndef KASSAY_FAKEBROKER_CONFIG_EFFECTIVE_H
#define KASSAY_FAKEBROKER_CONFIG_EFFECTIVE_H

#include "fakebroker/config/defs.h"
#include "fakebroker/config/state.h"

enum { FB_MAX_SYNONYMS = 3 };

/* The names that a broker configuration can be set by, strongest first, and what one unit of each is worth in units of
 * the first. Source: DynamicBrokerConfig.brokerConfigSynonyms. */
struct fb_names {
	struct kw_str name[FB_MAX_SYNONYMS];
	int64_t factor[FB_MAX_SYNONYMS];
	size_t n;
};
void fb_broker_names(struct kw_str name, struct fb_names *names);

/* Can the key only be altered for one listener (listener.name.NAME.KEY)? Source: DYNAMIC_SECURITY_CONFIGS. */
bool fb_security_key(struct kw_str name);

/* Would Kafka use this dynamic BROKER value? (DynamicBrokerConfig.fromPersistentProps leaves the others out.) */
bool fb_dynamic_usable(const struct fb_configdefs *defs, struct kw_str name, struct kw_str value, bool perBroker,
		       struct kw_arena *arena);

/* The value of exactly this name of a broker in one layer; null if it is not set there. */
struct kw_str fb_layer(const struct fb_configs *configs, int32_t node, enum fb_source layer, struct kw_str name,
		       struct kw_arena *arena);

#endif
