/* The observers that the broker shows every request with its response (KIP-388, `observer.class.name`).
 *
 * The caller fills a struct fb_exchange from the decoded request and response and calls fb_observer_show() once
 * for each request that could be parsed, after the response is built and before it is written. Nothing that an
 * observer does comes back to the caller.
 */
#ifndef KASSAY_FAKEBROKER_HOOKS_OBSERVER_H
#define KASSAY_FAKEBROKER_HOOKS_OBSERVER_H

#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "fakebroker/hooks/env.h"
#include "fakebroker/hooks/kassay_observer.h"
#include "lib/text/err.h"
#include "lib/wire/types.h"

#define FB_OBSERVER_PREFIX "observer."

/* observer.queue.entries: its default, and the most that it may be. */
enum { FB_QUEUE_ENTRIES = 10000, FB_QUEUE_ENTRIES_MAX = 1000000 };

struct fb_observer;

/* Makes the observers of a comma-separated list of entries: the name of a built-in observer, the name of a class in
 * one of env's plugins, or `path/plugin.so#Name`. They are called in list order. Options are the configs
 * `observer.NAME.OPTION`; NAME of a plugin's class is the part after '#'. With `observer.mode` queued each of them has
 * a queue of `observer.queue.entries` before it, and a thread that calls it. A blank list, a blank entry and an entry
 * whose class cannot be loaded or whose create() fails become NoOpObserver with an error in the log; the text of
 * the first of them is also put into err, if that is given, for a caller who would rather refuse. Returns 0 then,
 * too, with an observer that works. What cannot be put up with is told in err instead: KT_ENOMEM, KT_ERANGE (of
 * observer.queue.entries), KT_ESYS (no thread for a queue). *out has one reference. */
int fb_observer_new(const char *classes, const struct fb_hook_env *env, struct fb_observer **out, struct kt_err *err);

/* Where the observer that is in force is found: a pointer with a reference, replaced under a lock of its owner's. */
typedef _Atomic(struct fb_observer *) fb_observer_place;

/* An observer may be used by any number of threads; whoever uses it holds a reference, or calls it by its place. To
 * exchange it: replace the pointer in its place, then fb_observer_close() the old one. The last unref of an observer
 * that is still open closes it with the default timeout. */
struct fb_observer *fb_observer_ref(struct fb_observer *observer);
void fb_observer_unref(struct fb_observer *observer);

/* The list that the observer was made of, as it was written, but UTF-8. Lives as long as the observer. */
const char *fb_observer_classes(const struct fb_observer *observer);

/* Was `observer.mode` queued when it was made? */
bool fb_observer_queued(const struct fb_observer *observer);

/* Is NoOpObserver, called inline, all that it consists of? Then nobody need call it: exchanges that it was not shown
 * are counted in *passed, and those from this call on are among what fb_observer_json() says that it has seen. The call
 * comes before the observer is used; passed outlives all uses. */
bool fb_observer_idle(const struct fb_observer *observer);
void fb_observer_passed_by(struct fb_observer *observer, const atomic_uint_fast64_t *passed);

/* ---- exchanges ---- */

/* Who shows one sets every member: of view, and of each partition. */
struct fb_exchange {
	struct kassay_exchange view;                  /* what observers see */
	const struct kassay_partition *partitions;    /* view.partition_count of them */
};

/* What view.partition is set to. */
const struct kassay_partition *fb_exchange_partition(const struct kassay_exchange *view, int32_t i);

/* Sets every member: topic null, no records, codec -1, no error. Field by field: where one is set to something else
 * just after, the compiler leaves out what is written here. */
KT_ALL_MEMBERS(struct kassay_partition, error, 0, {NULL, 0}, 0, 0, 0, 0, 0, 0, 0);
static inline void fb_partition_init(struct kassay_partition *partition)
{
	partition->struct_size = sizeof *partition;
	partition->topic = (struct kassay_str){NULL, -1};
	partition->partition = 0;
	partition->direction = KASSAY_NO_RECORDS;
	partition->bytes = 0;
	partition->records = 0;
	partition->codec = -1;
	partition->flags = 0;
	partition->error = 0;
}

static inline struct kassay_str fb_hook_str(struct kw_str str)
{
	return (struct kassay_str){str.n < 0 ? NULL : str.s, str.n};
}

/* Calls the observers that are in force, found without a lock or a reference: with `produce` observe_produce(), before
 * the append, else record(), after the response is built; of one request in this order. Observers whose close has begun
 * are not called: those that have taken their place are. Returns false if there are none. *now is fb_hook_now() of just
 * now, or 0 for unknown, and afterwards likewise: readings of the clock are dear, and each ends one thing and begins
 * the next. */
bool fb_observer_show(fb_observer_place *place, const struct fb_exchange *exchange, bool produce, int64_t *now);
/* Does any of the observers have observe_produce()? Otherwise the caller need not fill an exchange for it. */
bool fb_observer_wants_produce(const struct fb_observer *observer);

/* ---- the end ---- */

#define FB_OBSERVER_TIMEOUT_MS 2000     /* default of observer.shutdown.timeout */

/* Lets no further call through, waits until those that are running have returned, and runs close() of each
 * observer, all of it within timeout_ms. One that is not done by then is left alone, which the log says: it closes
 * when its calls return, with a reference of its own, and may log until then, so env's arg should outlive it.
 * Returns 0, or KT_ETIMEOUT. A second call returns 0 at once. */
int fb_observer_close(struct fb_observer *observer, int64_t timeout_ms, struct kt_err *err);

/* ---- numbers ---- */

/* {"classes", "observers": [{"name", "fallback": reason or null, "seen", "produce_seen", "failed", "nanoseconds",
 *   "mode", "queued", "dropped",
 *   "metrics": {METRIC: {"help", "samples": [{LABEL: value.., "value": n}]}}}]}; new reference. */
json_t *fb_observer_json(struct fb_observer *observer);

/* The same as Prometheus text, of n observers that differ by the value of the label `node`; each metric's name has the
 * prefix `kassay_`. New string, for free(); NULL if memory is short. */
char *fb_observer_prometheus(struct fb_observer *const *observers, const int32_t *nodes, size_t n);

/* Is `config`, a whole name that starts with FB_OBSERVER_PREFIX and is none of the broker's own, misspelt? KT_EUNKNOWN
 * with the nearest name in err if a built-in class or one of the plugins (as in fb_hook_env) has that NAME and no such
 * OPTION. */
int fb_observer_check_option(const char *const *plugins, const char *config, struct kt_err *err);
/* Is `name`, NAME.OPTION, an option of one of the observers that are made of `classes`? KT_EUNKNOWN if not: nobody
 * would read it. An entry of the list that cannot be found is not judged here. */
int fb_observer_has_option(const char *classes, const char *const *plugins, const char *name, struct kt_err *err);

/* The built-in observers in the order of observers.def, NULL-terminated. */
extern const struct kassay_observer_class *const fb_observers[];

#endif
