/* One resource of a request that alters configurations, on its way through the checks. */
#ifndef KASSAY_FAKEBROKER_CONFIG_ALTER_H
#define KASSAY_FAKEBROKER_CONFIG_ALTER_H

#include "fakebroker/config/state.h"
#include "lib/wire/errors.h"

struct fb_alter {
	const struct fb_configs *configs;
	const struct fb_config_facts *facts;
	struct kw_arena *arena;
	const struct fb_alter_resource *resource;
	bool legacy;
	bool create;                  /* a topic that does not exist yet */
	const struct fb_kvs *existing;    /* dynamic values of the resource now; never NULL */
	struct fb_change *touched;    /* the keys that the request touches, at their resulting values */
	size_t ntouched;
	struct fb_alter_result *result;
	enum fb_fault *fault;         /* what Kafka's controller trips over; not needed if create */
};

/* Sets the error of the result; fmt NULL: a null message. Returns false, so that `return fb_refuse(...)` reads well. */
bool fb_refuse(struct fb_alter *alter, int16_t code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* What a request gets that the memory of one request does not suffice for. */
bool fb_refuse_memory(struct fb_alter *alter);

/* Who computes the resulting values: Kafka's broker and controller refuse impossible operations in different words. */
enum fb_stage { FB_AT_BROKER, FB_AT_CONTROLLER };

/* Fills touched. */
bool fb_alter_compute(struct fb_alter *alter, enum fb_stage stage);
/* Existing values under the touched ones; without those that are deleted. Lives in the arena. False: no memory. */
bool fb_alter_merge(struct fb_alter *alter, struct fb_kvs *merged);

/* ConfigAdminManager.preprocess, after the checks that all types have: the broker's own checks of BROKER resources. */
bool fb_alter_check_broker(struct fb_alter *alter);
/* Values that make no sense together, or not after what is in force: KafkaConfig.validateValues and the
 * validateReconfiguration of DynamicBrokerConfig's parts. merged: dynamic values of the resource as they would be. */
bool fb_alter_check_reconfiguration(struct fb_alter *alter, const struct fb_kvs *merged);
/* All of a BROKER_LOGGER resource. */
bool fb_alter_check_loggers(struct fb_alter *alter);
/* ControllerConfigurationValidator.validate for TOPIC, GROUP and CLIENT_METRICS. */
bool fb_alter_check_topic(struct fb_alter *alter, const struct fb_kvs *merged);
bool fb_alter_check_group(struct fb_alter *alter, const struct fb_kvs *merged);
bool fb_alter_check_client_metrics(struct fb_alter *alter, const struct fb_kvs *merged);

/* What check_topic ends with: a topic's remote storage. */
bool fb_alter_check_remote(struct fb_alter *alter, const struct fb_kvs *merged);

/* A value of the resource as it would be: its own, or what it inherits; null if there is none. */
struct kw_str fb_alter_value(struct fb_alter *alter, const struct fb_kvs *merged, const char *name);
/* The same as a number, 0 if it is none; of a BOOLEAN 0 or 1. */
int64_t fb_alter_number(struct fb_alter *alter, const struct fb_kvs *merged, const char *name);

/* Refuses the first bad value in order of definition. Unknown names are none of its business. */
bool fb_alter_check_values(struct fb_alter *alter, const struct fb_kvs *merged, enum fb_scope scope, int16_t code);
/* The name of the request, the first in Java's order, that the scope does not define; null if there is none. */
struct kw_str fb_alter_unknown(struct fb_alter *alter, const struct fb_kvs *merged, enum fb_scope scope);

/* The parts of a list as ConfigurationControlManager splits it: as they are, with empty ones at the end dropped. */
struct kw_str *fb_java_split(struct kw_str text, struct kw_arena *arena, size_t *n);

#endif
