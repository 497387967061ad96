/* The releases of Apache Kafka whose verdict on a batch is known (produce_releases.def), and their default
 * configuration. */
#ifndef KASSAY_WIRE_PRODUCE_RELEASE_H
#define KASSAY_WIRE_PRODUCE_RELEASE_H

#include "lib/wire/rules.h"

struct kw_release {
	const char *name;                /* "4.1" */
	const char *measured;            /* "4.1.1": the one that was asked */
	int minVersion, maxVersion;      /* of Produce */
	int64_t afterMaxMs;
	int32_t maxDecompressedMessageBytes;
};

/* In order; the last is the newest. */
extern const struct kw_release kw_releases[];
extern const size_t kw_nreleases;

/* By name, or by that of a bug fix release of it ("4.1.1"); NULL if there is none. */
const struct kw_release *kw_release_find(const char *name);
/* What a topic has that nobody configured. */
struct kw_topic_conf kw_release_conf(const struct kw_release *release);
/* Sets a topic configuration by Kafka's name. KT_EUNKNOWN (err names the nearest of those that matter here), KT_ERANGE,
 * KT_ETYPE. */
int kw_topic_conf_set(struct kw_topic_conf *conf, const char *name, const char *value, struct kt_err *err);

#endif
