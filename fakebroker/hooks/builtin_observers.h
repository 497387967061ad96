/* The functions that observers.def names. */
#ifndef KASSAY_FAKEBROKER_HOOKS_BUILTIN_OBSERVERS_H
#define KASSAY_FAKEBROKER_HOOKS_BUILTIN_OBSERVERS_H

#include "fakebroker/hooks/kassay_observer.h"
#include "fakebroker/hooks/options.h"

typedef int fb_observer_create_fn(const struct kassay_host *host, void **instance, struct kassay_text *why);
typedef int fb_observe_fn(void *instance, const struct kassay_exchange *exchange, struct kassay_text *why);
typedef void fb_observer_collect_fn(void *instance, struct kassay_sink *sink);
typedef void fb_observer_close_fn(void *instance, int64_t timeout_ms);

extern const struct kassay_option fb_no_op_options[], fb_failing_observer_options[], fb_slow_observer_options[],
	fb_traffic_options[], fb_audit_options[], fb_cost_options[], fb_slo_options[], fb_journal_options[];
fb_observer_create_fn fb_failing_observer_create, fb_slow_observer_create, fb_traffic_create, fb_audit_create,
	fb_cost_create, fb_slo_create, fb_journal_create;
fb_observe_fn fb_no_op_record, fb_failing_observer_record, fb_slow_observer_record, fb_traffic_record, fb_audit_record,
	fb_cost_record, fb_slo_record, fb_journal_record;
fb_observe_fn fb_failing_observer_produce, fb_slow_observer_produce, fb_journal_produce;
fb_observer_close_fn fb_failing_observer_close, fb_slow_observer_close, fb_traffic_close, fb_bucketed_close,
	fb_slo_close, fb_journal_close;
fb_observer_collect_fn fb_traffic_collect, fb_audit_collect, fb_cost_collect, fb_slo_collect;

#endif
