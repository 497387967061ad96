#include "fakebroker/hooks/observer.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fakebroker/hooks/builtin_observers.h"
#include "fakebroker/hooks/callers.h"
#include "fakebroker/hooks/observer_metrics.h"
#include "fakebroker/hooks/observer_queue.h"
#include "fakebroker/hooks/options.h"
#include "fakebroker/hooks/plugin.h"
#include "fakebroker/hooks/utf8.h"
#include "fakebroker/mutants.h"
#include "fakebroker/thread.h"
#include "lib/text/number.h"

/* One observer of the list. */
struct watcher {
	/* What a call needs comes first, so that it lies together. */
	int (*record)(void *instance, const struct kassay_exchange *exchange, struct kassay_text *why);
	int (*produce)(void *instance, const struct kassay_exchange *exchange, struct kassay_text *why);   /* or NULL */
	void *instance;
	struct fb_queue *queue;   /* NULL: called from the requests' own threads */
	atomic_uint_fast64_t seen, produce_seen, nanoseconds;
	struct fb_observer *owner;
	struct fb_class_ref ref;
	struct fb_host host;
	char *fallback;           /* why NoOpObserver stands in for what was wanted; NULL if it does not */
	struct fb_failures failures;
	atomic_bool told;         /* that a metric has a wrong name */
	int64_t deadline;         /* of close(), ns */
	pthread_mutex_t lock;     /* guards the following */
	pthread_cond_t changed;
	bool closed, late;        /* late: nobody waits for closed any more */
};

struct fb_observer {
	atomic_int refs;
	atomic_bool closing;
	char *classes;
	bool queued, idle;
	const atomic_uint_fast64_t *passed;      /* exchanges that an idle observer was not shown, or NULL */
	uint64_t passed_before;
	size_t n;
	struct watcher watchers[];
};

/* ---- waiting for close ---- */

static void init_closed(struct watcher *watcher)
{
	pthread_condattr_t monotonic;

	pthread_mutex_init(&watcher->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&watcher->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

static void fini_closed(struct watcher *watcher)
{
	pthread_mutex_destroy(&watcher->lock);
	pthread_cond_destroy(&watcher->changed);
}

/* ---- making ---- */

static const struct kassay_observer_class *class_of(const struct watcher *watcher)
{
	return &watcher->ref.class->observer;
}

/* entry: NULL if it is too long. */
static int try_create(struct watcher *watcher, const char *entry, const struct fb_hook_env *env, struct kt_err *err)
{
	char text[512] = "";
	struct kassay_text why = {text, sizeof text};
	const struct kassay_observer_class *class;
	const struct watcher *other;
	int rc = entry && *entry ? fb_class_find(FB_HOOK_OBSERVER, entry, env, &watcher->ref, err)
				 : kt_fail(err, KT_EUSAGE, "the name is %s", entry ? "blank" : "too long");

	if (rc < 0)
		return rc;
	class = class_of(watcher);
	for (other = watcher->owner->watchers; other < watcher; other++)
		if (!other->fallback && strcmp(class_of(other)->name, class->name) == 0)
			return kt_fail(err, KT_EUSAGE, "it is in the list twice");
	fb_host_init(&watcher->host, env, FB_OBSERVER_PREFIX, class->name);
	if (class->create && class->create(&watcher->host.host, &watcher->instance, &why) != 0) {
		fb_utf8_mend(text);
		return kt_fail(err, KT_EPLUGIN, "%s", *text ? text : "create() failed");
	}
	return 0;
}

/* Creates what the entry names, or puts NoOpObserver in its place. */
static int create(struct watcher *watcher, const char *entry, const struct fb_hook_env *env, struct kt_err *err,
		  struct kt_err *failure)
{
	struct kt_err why = {0};
	int rc = try_create(watcher, entry, env, &why);

	if (rc < 0) {
		entry = entry ? entry : "";
		fb_utf8_mend(why.text);
		fb_hook_log(env, KASSAY_ERROR, "creating an observer from the class name '%s' failed, "
			    "NoOpObserver takes its place: %s", entry, why.text);
		if (rc == KT_EUNKNOWN)   /* which names the entry itself */
			kt_fail(err, rc, "%s", why.text);
		else
			kt_fail(err, rc, "observer '%s': %s", entry, why.text);
		fb_class_release(&watcher->ref);
		watcher->instance = NULL;
		watcher->fallback = strdup(why.text);
		fb_class_find(FB_HOOK_OBSERVER, "NoOpObserver", env, &watcher->ref, NULL);
		fb_host_init(&watcher->host, env, FB_OBSERVER_PREFIX, class_of(watcher)->name);
		if (!watcher->fallback)
			return kt_fail(failure, KT_ENOMEM, "out of memory");
	}
	fb_host_created(&watcher->host);
	watcher->record = class_of(watcher)->record;
	watcher->produce = class_of(watcher)->observe_produce;
	return 0;
}

static fb_queue_deliver deliver;

static bool wants_queues(const struct fb_hook_env *env)
{
	const char *mode = env->config ? env->config(env->arg, "observer.mode") : NULL;

	return mode && strcmp(mode, "queued") == 0;
}

static int make_queue(struct watcher *watcher, const struct fb_hook_env *env, struct kt_err *err)
{
	const char *entries = env->config ? env->config(env->arg, "observer.queue.entries") : NULL;
	int64_t n = FB_QUEUE_ENTRIES;
	struct kt_err why = {0};

	if (entries && kt_parse_int(entries, 1, FB_QUEUE_ENTRIES_MAX, &n, &why) < 0)
		return kt_fail(err, KT_ERANGE, "observer.queue.entries: %s", why.text);
	return fb_queue_new((size_t)n, deliver, watcher, &watcher->queue, err);
}

/* Some thread may yet be about to find out that it came too late. */
static void free_observer(struct fb_observer *observer)
{
	fb_callers_wait(observer, observer->n);
	while (observer->n > 0) {
		struct watcher *watcher = &observer->watchers[--observer->n];

		fb_queue_free(watcher->queue);
		fini_closed(watcher);
		free(watcher->fallback);
		fb_class_release(&watcher->ref);
	}
	free(observer->classes);
	free(observer);
}

static bool is_idle(const struct fb_observer *observer)
{
	for (size_t i = 0; i < observer->n; i++)
		if (observer->watchers[i].queue || class_of(&observer->watchers[i])->record != fb_no_op_record)
			return false;
	return true;
}

int fb_observer_new(const char *classes, const struct fb_hook_env *env, struct fb_observer **out, struct kt_err *err)
{
	const char *list = classes;
	struct fb_observer *observer;
	struct kt_err failure = {0};
	char entry[4096];
	int rc = 0, more;

	*out = NULL;
	fb_callers_prepare();
	observer = calloc(1, sizeof *observer + fb_list_entries(classes) * sizeof observer->watchers[0]);
	if (!observer || !(observer->classes = strdup(classes))) {
		free(observer);
		return kt_fail(err, KT_ENOMEM, "out of memory");
	}
	fb_utf8_mend(observer->classes);
	observer->queued = wants_queues(env);
	atomic_init(&observer->refs, 1);
	while (rc == 0 && (more = fb_list_next(&list, entry, sizeof entry)) != 0) {
		struct watcher *watcher = &observer->watchers[observer->n++];

		watcher->owner = observer;
		init_closed(watcher);
		rc = create(watcher, more > 0 ? entry : NULL, env, err, &failure);
		if (rc == 0 && observer->queued)
			rc = make_queue(watcher, env, &failure);
	}
	observer->idle = is_idle(observer);
	if (rc < 0) {
		fb_observer_unref(observer);
		if (err)
			*err = failure;   /* in place of an entry's, which would have been put up with */
	} else {
		*out = observer;
	}
	return rc;
}

struct fb_observer *fb_observer_ref(struct fb_observer *observer)
{
	atomic_fetch_add_explicit(&observer->refs, 1, memory_order_relaxed);
	return observer;
}

void fb_observer_unref(struct fb_observer *observer)
{
	if (!observer || atomic_fetch_sub_explicit(&observer->refs, 1, memory_order_acq_rel) != 1)
		return;
	if (atomic_load(&observer->closing)) {
		free_observer(observer);
		return;
	}
	/* Closing takes references of its own, so there must be one again. */
	atomic_store(&observer->refs, 1);
	fb_observer_close(observer, FB_OBSERVER_TIMEOUT_MS, NULL);
	fb_observer_unref(observer);
}

const char *fb_observer_classes(const struct fb_observer *observer)
{
	return observer->classes;
}

bool fb_observer_idle(const struct fb_observer *observer)
{
	return observer->idle;
}

void fb_observer_passed_by(struct fb_observer *observer, const atomic_uint_fast64_t *passed)
{
	observer->passed_before = atomic_load(passed);
	observer->passed = passed;
}

bool fb_observer_queued(const struct fb_observer *observer)
{
	return observer->queued;
}

/* ---- exchanges ---- */

const struct kassay_partition *fb_exchange_partition(const struct kassay_exchange *view, int32_t i)
{
	const struct fb_exchange *exchange = (const struct fb_exchange *)(const void *)view;

	return i >= 0 && i < view->partition_count ? &exchange->partitions[i] : NULL;
}

/* *now: a reading of the clock, or 0 where that is too old; becomes that of the end. */
static void call(struct watcher *watcher, const struct fb_exchange *exchange, bool produce, int64_t *now)
{
	char text[512];
	struct kassay_text why = {text, sizeof text};
	int64_t start = *now ? *now : fb_hook_now();

	text[0] = '\0';   /* all of it would take longer than what many observers do */
	if ((produce ? watcher->produce : watcher->record)(watcher->instance, &exchange->view, &why) != 0 &&
	    !fb_mutant(FB_M_FAILURES_UNCOUNTED))
		fb_hook_failed(&watcher->failures, &watcher->host.env, watcher->host.name, text);
	*now = fb_hook_now();
	atomic_fetch_add_explicit(&watcher->nanoseconds, (uint64_t)(*now - start), memory_order_relaxed);
	atomic_fetch_add_explicit(produce ? &watcher->produce_seen : &watcher->seen, 1, memory_order_relaxed);
}

static void deliver(void *arg, const struct fb_exchange *exchange, bool produce)
{
	int64_t now = 0;

	call(arg, exchange, produce, &now);
}

static inline void show_one(struct watcher *watcher, const struct fb_exchange *exchange, bool produce, int64_t *now)
{
	if (produce && !watcher->produce)
		return;   /* it has no such call */
	if (watcher->queue) {
		fb_queue_put(watcher->queue, exchange, produce);
		*now = 0;
	} else {
		call(watcher, exchange, produce, now);
	}
}

/* The caller is inside. A list that is being closed is called as a whole or not at all, so that whoever finds it closed
 * can show the exchange to its successor. */
static inline bool show(struct fb_caller *caller, struct fb_observer *observer, const struct fb_exchange *exchange,
			bool produce, int64_t *now)
{
	struct watcher *watcher = observer->watchers;

	if (atomic_load(&observer->closing))
		return false;
	for (size_t i = 0; i < observer->n; i++, watcher++) {
		if (i > 0)
			fb_caller_goes_on(caller, i);
		show_one(fb_mutant(FB_M_FIRST_OBSERVER_ONLY) ? observer->watchers : watcher, exchange, produce, now);
	}
	return true;
}

bool fb_observer_show(fb_observer_place *place, const struct fb_exchange *exchange, bool produce, int64_t *now)
{
	struct fb_caller *caller = fb_caller_here();
	struct fb_observer *observer;

	while ((observer = atomic_load(place))) {
		bool there, shown, closed;

		fb_caller_enter(caller, observer, 0);
		there = atomic_load(place) == observer;   /* and is not freed while the caller is inside */
		shown = there && show(caller, observer, exchange, produce, now);
		closed = there && !shown && atomic_load(place) == observer;   /* without a successor */
		fb_caller_leave(caller);   /* before the next one, which may take its time */
		if (shown || closed)
			return shown;
	}
	return false;
}

bool fb_observer_wants_produce(const struct fb_observer *observer)
{
	size_t i;

	for (i = 0; i < observer->n; i++)
		if (class_of(&observer->watchers[i])->observe_produce)
			return true;
	return false;
}

/* ---- the end ---- */

/* Waits until the observer's calls have returned and closes it, however long that takes. */
static void *close_watcher(void *arg)
{
	struct watcher *watcher = arg;
	const struct kassay_observer_class *class = class_of(watcher);
	int64_t left;
	bool late;

	fb_callers_wait(watcher->owner, (size_t)(watcher - watcher->owner->watchers));
	if (watcher->queue)
		fb_queue_end(watcher->queue);
	left = (watcher->deadline - fb_hook_now()) / 1000000;
	if (class->close && !fb_mutant(FB_M_NEVER_CLOSED))
		class->close(watcher->instance, left > 0 ? left : 0);
	pthread_mutex_lock(&watcher->lock);
	watcher->closed = true;
	late = watcher->late;
	pthread_cond_broadcast(&watcher->changed);
	pthread_mutex_unlock(&watcher->lock);
	if (late)
		fb_observer_unref(watcher->owner);
	return NULL;
}

/* Starts a thread that closes the watcher. Its reference of the owner is dropped by whoever sees it closed. */
static void start_closing(struct watcher *watcher)
{
	pthread_attr_t detached;
	pthread_t thread;

	fb_observer_ref(watcher->owner);
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	if (fb_thread_start(&thread, &detached, close_watcher, watcher) != 0)
		close_watcher(watcher);
	pthread_attr_destroy(&detached);
}

static bool wait_closed(struct watcher *watcher)
{
	const struct timespec end = {watcher->deadline / 1000000000, watcher->deadline % 1000000000};
	int rc = 0;
	bool closed;

	pthread_mutex_lock(&watcher->lock);
	while (!watcher->closed && rc != ETIMEDOUT)
		rc = pthread_cond_timedwait(&watcher->changed, &watcher->lock, &end);
	closed = watcher->closed;
	watcher->late = !closed;
	pthread_mutex_unlock(&watcher->lock);
	if (closed)
		fb_observer_unref(watcher->owner);
	return closed;
}

int fb_observer_close(struct fb_observer *observer, int64_t timeout_ms, struct kt_err *err)
{
	const int64_t deadline = fb_hook_deadline(fb_hook_now(), timeout_ms);
	size_t i;
	int rc = 0;

	if (atomic_exchange(&observer->closing, true))
		return 0;
	/* Queues know it before anybody waits: nothing is handed over late because a thread came late to tell them. */
	for (i = 0; i < observer->n; i++) {
		observer->watchers[i].deadline = deadline;
		if (observer->watchers[i].queue)
			fb_queue_close_by(observer->watchers[i].queue, deadline);
	}
	for (i = 0; i < observer->n; i++)
		start_closing(&observer->watchers[i]);
	for (i = 0; i < observer->n; i++) {
		const struct fb_host *host = &observer->watchers[i].host;

		if (wait_closed(&observer->watchers[i]))
			continue;
		rc = kt_fail(err, KT_ETIMEOUT, "observer %s did not close within %lld ms", host->name,
			     (long long)timeout_ms);
		fb_hook_log(&host->env, KASSAY_ERROR, "observer %s did not close within %lld ms and is left alone",
			    host->name, (long long)timeout_ms);
	}
	return rc;
}

/* ---- numbers ---- */

static uint64_t exchanges(const struct watcher *watcher)
{
	const struct fb_observer *owner = watcher->owner;
	uint64_t seen = atomic_load(&watcher->seen);

	return owner->idle && owner->passed ? seen + atomic_load(owner->passed) - owner->passed_before : seen;
}

/* Of one that is closed there are none. */
static void collect(struct watcher *watcher, json_t *metrics)
{
	struct fb_observer *owner = watcher->owner;
	struct fb_caller *caller = fb_caller_here();
	char wrong[300] = "";

	fb_caller_enter(caller, owner, (size_t)(watcher - owner->watchers));
	if (!atomic_load(&owner->closing))
		fb_metrics_collect(class_of(watcher), watcher->instance, metrics, wrong, sizeof wrong);
	fb_caller_leave(caller);
	if (*wrong && !atomic_exchange(&watcher->told, true))
		watcher->host.host.log(&watcher->host.host, KASSAY_ERROR, wrong);
}

static json_t *watcher_json(struct watcher *watcher)
{
	json_t *metrics = json_object();
	struct fb_queue *queue = watcher->queue;

	if (class_of(watcher)->collect)
		collect(watcher, metrics);
	return json_pack("{s:s, s:s?, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "name", watcher->host.name,
			 "fallback", watcher->fallback, "mode", queue ? "queued" : "inline",
			 "seen", (json_int_t)exchanges(watcher),
			 "produce_seen", (json_int_t)atomic_load(&watcher->produce_seen),
			 "failed", (json_int_t)atomic_load(&watcher->failures.count),
			 "nanoseconds", (json_int_t)atomic_load(&watcher->nanoseconds),
			 "queued", (json_int_t)(queue ? fb_queue_depth(queue) : 0),
			 "dropped", (json_int_t)(queue ? fb_queue_dropped(queue) : 0), "metrics", metrics);
}

json_t *fb_observer_json(struct fb_observer *observer)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < observer->n; i++)
		json_array_append_new(list, watcher_json(&observer->watchers[i]));
	return json_pack("{s:s, s:o}", "classes", observer->classes, "observers", list);
}

int fb_observer_check_option(const char *const *plugins, const char *config, struct kt_err *err)
{
	struct fb_option_search search = {.name = config + strlen(FB_OBSERVER_PREFIX)};

	return fb_option_found(&search, FB_HOOK_OBSERVER, plugins, err);
}

int fb_observer_has_option(const char *classes, const char *const *plugins, const char *name, struct kt_err *err)
{
	struct fb_option_search search = {.name = name};

	return fb_option_of(&search, FB_HOOK_OBSERVER, classes, plugins, err);
}
