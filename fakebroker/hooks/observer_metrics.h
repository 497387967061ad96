/* What an observer's collect() reports, as JSON and as Prometheus text. */
#ifndef KASSAY_FAKEBROKER_HOOKS_OBSERVER_METRICS_H
#define KASSAY_FAKEBROKER_HOOKS_OBSERVER_METRICS_H

#include <jansson.h>
#include <stdbool.h>

#include "fakebroker/hooks/kassay_observer.h"

/* Adds {METRIC: {"help": .., "samples": [{LABEL: value, .., "value": n}, ..]}} to an object. Names that would spoil
 * what Prometheus reads are left out; wrong tells of one, and is empty if there is none. */
void fb_metrics_collect(const struct kassay_observer_class *class, void *instance, json_t *metrics, char *wrong,
			size_t wrong_size);
/* Is it a metric, without its prefix, that the broker has itself? */
bool fb_metric_is_brokers(const char *name);

#endif
