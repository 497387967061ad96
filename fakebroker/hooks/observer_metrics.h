/* What an observer's collect() reports, as JSON and as Prometheus text. */
#ifndef KASSAY_FAKEBROKER_HOOKS_OBSERVER_METRICS_H
#define KASSAY_FAKEBROKER_HOOKS_OBSERVER_METRICS_H

#include <jansson.h>

#include "fakebroker/hooks/kassay_observer.h"

/* Adds {METRIC: {"help": .., "samples": [{LABEL: value, .., "value": n}, ..]}} to an object. */
void fb_metrics_collect(const struct kassay_observer_class *class, void *instance, json_t *metrics);

#endif
