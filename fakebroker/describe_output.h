/* What kafka-configs.sh --describe prints: the configuration of a running cluster, as text.
 *
 *	All configs for broker 1 are:
 *	  num.io.threads=7 sensitive=false synonyms={DYNAMIC_BROKER_CONFIG:num.io.threads=7, ...}
 *	Default configs for brokers in the cluster are:
 *	Dynamic configs for topic plain are:
 *
 * with and without --all, for brokers, topics, groups and client metrics, any number of them one after the other.
 * Source: ConfigCommand.describeResourceConfig (unchanged between Kafka 2.5 and 4.4). Logger levels, quotas and SCRAM
 * credentials are skipped.
 */
#ifndef KASSAY_FAKEBROKER_DESCRIBE_OUTPUT_H
#define KASSAY_FAKEBROKER_DESCRIBE_OUTPUT_H

#include "fakebroker/config/values.h"

/* A value that somebody set. Strings are slices of the text. */
struct fb_output_value {
	enum fb_scope scope;
	struct kw_str resource;      /* a broker's id in decimal, "" for all brokers */
	struct kw_str name;
	struct kw_str value;         /* null: Kafka does not show it */
	bool isStatic;               /* of server.properties; else dynamic */
	int line;
};

/* A non-zero return ends the reading and is returned. */
typedef int fb_output_fn(void *arg, const struct fb_output_value *value, struct kt_err *err);

/* A heading; of all brokers, resource is "". The id of a broker is from 0 to INT32_MAX. all: everything is described,
 * with
 * --all, and not only what is dynamic. As above. */
typedef int fb_output_heading_fn(void *arg, enum fb_scope scope, struct kw_str resource, bool all, struct kt_err *err);

struct fb_output_ops {
	fb_output_fn *value;
	fb_output_heading_fn *heading;
	void *arg;
};

/* Calls ops->heading for each resource and ops->value for each value that somebody set, of a topic, group or
 * subscription only its own and those of all brokers; some more than once. The n bytes at text are called `file` in
 * errors. KT_ESYNTAX for a line that is nothing of the above, KT_EUNKNOWN if nothing is described. err must not be
 * NULL. */
int fb_output_read(const char *file, const char *text, size_t n, const struct fb_output_ops *ops, struct kt_err *err);

#endif
