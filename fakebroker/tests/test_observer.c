#include "fakebroker/tests/hook_fixtures.h"

#include "fakebroker/tests/show_exchange.h"

/* ---- helpers ---- */

static struct fb_observer *make(const char *classes, struct fixture *fixture)
{
	struct fb_hook_env env = fixture_env(fixture);
	struct fb_observer *observer;
	struct kt_err err = {0};

	assert_int_equal(fb_observer_new(classes, &env, &observer, &err), 0);
	if (err.code)
		fail_msg("%s", err.text);
	return observer;
}

static void record_times(struct fb_observer *observer, int n)
{
	struct fb_exchange exchange;

	exchange_init(&exchange);
	exchange.view.api = "Metadata";
	while (n-- > 0)
		show_exchange(observer, &exchange, false);
}

/* A counter of the first observer: seen, produce_seen, failed, nanoseconds. */
static json_int_t counter(struct fb_observer *observer, const char *name)
{
	json_t *json = fb_observer_json(observer), *first = json_array_get(json_object_get(json, "observers"), 0);
	json_int_t value = json_integer_value(json_object_get(first, name));

	json_decref(json);
	return value;
}

/* ---- names ---- */

static void test_no_op(void **state)
{
	struct fixture fixture = FIXTURE(NULL);
	struct fb_observer *observer = make("NoOpObserver", &fixture);

	(void)state;
	assert_string_equal(fb_observer_classes(observer), "NoOpObserver");
	assert_false(fb_observer_wants_produce(observer));
	record_times(observer, 3);
	assert_int_equal(counter(observer, "seen"), 3);
	assert_int_equal(counter(observer, "failed"), 0);
	assert_int_equal(fb_observer_close(observer, 1000, NULL), 0);
	fb_observer_unref(observer);
	assert_int_equal(fixture.lines, 0);
}

static void test_fallback(void **state)
{
	static const struct setting failing[] = {{"observer.FailingObserver.create", "true"}, {0}};
	static const struct setting bad_option[] = {{"observer.TrafficObserver.limit", "many"}, {0}};
	static char longer[5000];
	static const struct {
		const char *classes;
		const struct setting *settings;
		int code;
		const char *reason;
	} rows[] = {
		{"", NULL, KT_EUSAGE, "the name is blank"},
		{longer, NULL, KT_EUSAGE, "the name is too long"},
		{" \t", NULL, KT_EUSAGE, "the name is blank"},
		{"TraficObserver", NULL, KT_EUNKNOWN, "no observer 'TraficObserver', did you mean 'TrafficObserver'"},
		{"FailingObserver", failing, KT_EPLUGIN, "fails as it was told to"},
		{"TrafficObserver", bad_option, KT_EPLUGIN,
		 "option limit is 'many', but must be a whole number of 1 to 100000"},
	};
	size_t i;

	(void)state;
	memset(longer, 'a', sizeof longer - 1);
	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct fixture fixture = FIXTURE(rows[i].settings);
		struct fb_hook_env env = fixture_env(&fixture);
		struct fb_observer *observer;
		struct kt_err err = {0};
		json_t *json;
		const char *name, *reason;

		assert_int_equal(fb_observer_new(rows[i].classes, &env, &observer, &err), 0);
		assert_int_equal(err.code, rows[i].code);
		assert_non_null(strstr(err.text, rows[i].reason));
		assert_int_equal(fixture.lines, 1);
		assert_int_equal(fixture.last_level, KASSAY_ERROR);
		assert_non_null(strstr(fixture.last, "NoOpObserver takes its place"));
		assert_non_null(strstr(fixture.last, rows[i].reason));
		record_times(observer, 1);
		json = fb_observer_json(observer);
		assert_int_equal(json_unpack(json, "{s:[{s:s, s:s}]}", "observers", "name", &name,
					     "fallback", &reason), 0);
		assert_string_equal(name, "NoOpObserver");
		assert_string_equal(reason, rows[i].reason);
		json_decref(json);
		fb_observer_unref(observer);
	}
}

static void test_list(void **state)
{
	struct fixture fixture = FIXTURE(NULL);
	struct fb_hook_env env = fixture_env(&fixture);
	struct fb_observer *observer;
	struct kt_err err = {0};
	json_t *json;
	json_int_t failed, seen;

	(void)state;
	assert_int_equal(fb_observer_new("FailingObserver, TrafficObserver,TrafficObserver", &env, &observer, &err), 0);
	assert_int_equal(err.code, KT_EUSAGE);
	assert_string_equal(err.text, "observer 'TrafficObserver': it is in the list twice");
	record_times(observer, 2);
	json = fb_observer_json(observer);
	assert_int_equal(json_unpack(json, "{s:[{s:I}, {s:I}, {s:s}!]}", "observers", "failed", &failed, "seen", &seen,
				     "name", &(const char *){NULL}), 0);
	assert_int_equal(failed, 2);
	assert_int_equal(seen, 2);
	json_decref(json);
	fb_observer_unref(observer);
}

static void test_check_option(void **state)
{
	struct fixture fixture = FIXTURE(NULL);
	struct fb_observer *observer = make("NoOpObserver", &fixture);
	struct kt_err err = {0};

	(void)state;
	assert_int_equal(fb_observer_check_option(NULL, "observer.TrafficObserver.limit", NULL), 0);
	assert_int_equal(fb_observer_check_option(NULL, "observer.Nobody.limits", NULL), 0);
	assert_int_equal(fb_observer_check_option(NULL, "observer.TrafficObserver.limits", &err), KT_EUNKNOWN);
	assert_string_equal(err.text, "'TrafficObserver.limits' is no option, did you mean 'limit'");
	fb_observer_unref(observer);
}

/* ---- failures ---- */

static void test_failures_are_counted_and_logged_at_a_bounded_rate(void **state)
{
	static const struct setting settings[] = {{"observer.FailingObserver.n", "2"}, {0}};
	struct fixture fixture = FIXTURE(settings);
	struct fb_observer *observer = make("FailingObserver", &fixture);
	int64_t start = fb_hook_now();

	(void)state;
	record_times(observer, 2);
	assert_int_equal(fixture.lines, 1);
	assert_int_equal(fixture.last_level, KASSAY_ERROR);
	assert_string_equal(fixture.last, "FailingObserver failed (failure 1): "
					  "fails at a request of API Metadata, as it was told to");
	record_times(observer, 9998);
	assert_int_equal(counter(observer, "seen"), 10000);
	assert_int_equal(counter(observer, "failed"), 5000);
	assert_true(fixture.lines <= 1 + (fb_hook_now() - start) / 1000000000);
	fb_observer_unref(observer);
}

static void test_produce_callback(void **state)
{
	static const struct setting settings[] = {
		{"observer.FailingObserver.produce", "true"}, {"observer.FailingObserver.n", "1000"}, {0},
	};
	struct fixture fixture = FIXTURE(settings);
	struct fb_observer *observer = make("FailingObserver", &fixture);
	struct fb_exchange exchange;

	(void)state;
	exchange_init(&exchange);
	assert_true(fb_observer_wants_produce(observer));
	show_exchange(observer, &exchange, true);
	assert_int_equal(counter(observer, "produce_seen"), 1);
	assert_int_equal(counter(observer, "seen"), 0);
	assert_int_equal(counter(observer, "failed"), 1);
	assert_string_equal(fixture.last, "FailingObserver failed (failure 1): "
					  "fails before an append, as it was told to");
	fb_observer_unref(observer);
}

/* ---- closing ---- */

static void test_no_record_after_close(void **state)
{
	struct fixture fixture = FIXTURE(NULL);
	struct fb_observer *observer = make("TrafficObserver", &fixture);
	struct fb_exchange exchange;

	(void)state;
	record_times(observer, 5);
	assert_int_equal(fb_observer_close(observer, 1000, NULL), 0);
	exchange_init(&exchange);
	assert_false(show_exchange(observer, &exchange, false));
	assert_false(show_exchange(observer, &exchange, true));
	assert_int_equal(counter(observer, "seen"), 5);
	assert_int_equal(fb_observer_close(observer, 1000, NULL), 0);
	fb_observer_unref(observer);
	assert_int_equal(fixture.lines, 0);
}

static void test_close_is_bounded(void **state)
{
	static const struct setting settings[] = {{"observer.SlowObserver.close.us", "10000000"}, {0}};
	struct fixture fixture = FIXTURE(settings);
	struct fb_observer *observer = make("SlowObserver,TrafficObserver", &fixture);
	struct kt_err err = {0};

	(void)state;
	/* TrafficObserver has its turn meanwhile, on a machine that does other things, too. */
	assert_int_equal(fb_observer_close(observer, 500, &err), KT_ETIMEOUT);
	assert_string_equal(err.text, "observer SlowObserver did not close within 500 ms");
	assert_int_equal(fixture.lines, 1);
	assert_int_equal(fixture.last_level, KASSAY_ERROR);
	fb_observer_unref(observer);
}

/* "Never" is a time, too, and no time at all is another. */
static void test_close_of_any_timeout(void **state)
{
	static const struct setting settings[] = {{"observer.SlowObserver.close.us", "20000"}, {0}};
	struct fixture fixture = FIXTURE(settings);
	struct fb_observer *observer = make("SlowObserver", &fixture);

	(void)state;
	assert_int_equal(fb_observer_close(observer, INT64_MAX, NULL), 0);
	assert_int_equal(fb_hook_deadline(5, 2), 2000005);
	assert_int_equal(fb_hook_deadline(1000000, INT64_MAX / 1000000), INT64_MAX);
	fb_observer_unref(observer);
	assert_int_equal(fixture.lines, 0);
}

struct busy {
	struct fb_observer *observer;
	struct fb_hook_env env;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int entered, leave, closed;
};

static void *record_once(void *arg)
{
	struct busy *busy = arg;

	record_times(busy->observer, 1);
	fb_observer_unref(busy->observer);
	return NULL;
}

/* Runs in the observer's record(): through the log, which FailingObserver calls from there. */
static void blocking_log(void *arg, int level, const char *line)
{
	struct busy *busy = arg;

	if (level != KASSAY_ERROR || !strstr(line, "FailingObserver failed"))
		return;
	pthread_mutex_lock(&busy->lock);
	busy->entered = 1;
	pthread_cond_broadcast(&busy->changed);
	while (!busy->leave)
		pthread_cond_wait(&busy->changed, &busy->lock);
	pthread_mutex_unlock(&busy->lock);
}

static const char *queued_config(void *arg, const char *name)
{
	(void)arg;
	return strcmp(name, "observer.mode") == 0 ? "queued" : strcmp(name, "observer.queue.entries") == 0 ? "4" : NULL;
}

static void test_close_waits_for_a_running_record_but_not_for_ever(void **state)
{
	struct busy busy = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
	pthread_t thread;

	(void)state;
	busy.env = (struct fb_hook_env){.log = blocking_log, .arg = &busy};
	assert_int_equal(fb_observer_new("FailingObserver", &busy.env, &busy.observer, NULL), 0);
	fb_observer_ref(busy.observer);
	assert_int_equal(pthread_create(&thread, NULL, record_once, &busy), 0);
	pthread_mutex_lock(&busy.lock);
	while (!busy.entered)
		pthread_cond_wait(&busy.changed, &busy.lock);
	pthread_mutex_unlock(&busy.lock);

	assert_int_equal(fb_observer_close(busy.observer, 10, NULL), KT_ETIMEOUT);
	record_times(busy.observer, 1);
	assert_int_equal(counter(busy.observer, "seen"), 0);

	pthread_mutex_lock(&busy.lock);
	busy.leave = 1;
	pthread_cond_broadcast(&busy.changed);
	pthread_mutex_unlock(&busy.lock);
	pthread_join(thread, NULL);
	assert_int_equal(counter(busy.observer, "seen"), 1);
	fb_observer_unref(busy.observer);
}

/* ---- queued ---- */

/* An observer that hangs in its first call holds nobody up: the queue takes what it has room for, the rest is dropped
 * and counted, and close gives up at its time. */
static void test_queued_observer_that_hangs(void **state)
{
	struct busy busy = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
	struct kt_err err = {0};

	(void)state;
	busy.env = (struct fb_hook_env){.log = blocking_log, .config = queued_config, .arg = &busy};
	assert_int_equal(fb_observer_new("FailingObserver", &busy.env, &busy.observer, NULL), 0);
	record_times(busy.observer, 1);
	pthread_mutex_lock(&busy.lock);
	while (!busy.entered)
		pthread_cond_wait(&busy.changed, &busy.lock);
	pthread_mutex_unlock(&busy.lock);
	record_times(busy.observer, 10);
	assert_int_equal(counter(busy.observer, "queued"), 4);
	assert_int_equal(counter(busy.observer, "dropped"), 6);
	assert_int_equal(counter(busy.observer, "seen"), 0);
	fb_observer_ref(busy.observer);
	assert_int_equal(fb_observer_close(busy.observer, 10, &err), KT_ETIMEOUT);
	record_times(busy.observer, 1);
	assert_int_equal(counter(busy.observer, "queued"), 4);
	fb_observer_unref(busy.observer);
	pthread_mutex_lock(&busy.lock);
	busy.leave = 1;
	pthread_cond_broadcast(&busy.changed);
	pthread_mutex_unlock(&busy.lock);
	while (counter(busy.observer, "dropped") < 10)
		sched_yield();
	assert_int_equal(counter(busy.observer, "seen"), 1);
	fb_observer_unref(busy.observer);
}

/* Copies are complete: an observer behind a queue counts what one before it counts, and close waits for all of it. */
static void test_queued_counts_the_same(void **state)
{
	static const struct setting queued[] = {{"observer.mode", "queued"}, {0}};
	struct kassay_partition partitions[3];
	struct fb_exchange exchange;
	char *texts[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct fixture fixture = FIXTURE(i == 0 ? NULL : queued);
		struct fb_observer *observer = make("TrafficObserver", &fixture);
		const int32_t node = 1;
		char topics[] = "orderspayments", client[] = "app", *found;

		exchange_init(&exchange);
		exchange.view.api = "Produce";
		exchange.view.principal = (struct kassay_str){"User:alice", 10};
		exchange.view.clientId = (struct kassay_str){client, 3};
		exchange.view.partition_count = 3;
		exchange.partitions = partitions;
		for (int k = 0; k < 3; k++) {
			fb_partition_init(&partitions[k]);
			partitions[k].topic = (struct kassay_str){topics + (k < 2 ? 0 : 6), k < 2 ? 6 : 8};
			partitions[k].direction = KASSAY_PRODUCED;
			partitions[k].records = k + 1;
			partitions[k].bytes = 10 * k + 7;
		}
		for (int k = 0; k < 1000; k++)
			show_exchange(observer, &exchange, false);
		memset(topics, 'x', sizeof topics - 1);
		memset(client, 'x', sizeof client - 1);
		while (counter(observer, "seen") < 1000)
			sched_yield();
		texts[i] = fb_observer_prometheus(&observer, &node, 1);
		found = strstr(texts[i], "# HELP kassay_traffic");
		assert_non_null(found);
		memmove(texts[i], found, strlen(found) + 1);
		assert_int_equal(counter(observer, "dropped"), 0);
		assert_int_equal(fb_observer_close(observer, 10000, NULL), 0);
		fb_observer_unref(observer);
	}
	assert_non_null(strstr(texts[0], "topic=\"payments\",direction=\"produced\",outcome=\"accepted\"} 3000"));
	assert_string_equal(texts[0], texts[1]);
	free(texts[0]);
	free(texts[1]);
}

/* ---- exchanged while in use ---- */

struct swapped {
	pthread_mutex_t lock;
	struct fb_observer *observer;
	int rounds;
};

static void *serve(void *arg)
{
	struct swapped *swapped = arg;
	struct kassay_partition partitions[2];
	struct fb_exchange exchange;
	int i;

	fb_partition_init(&partitions[0]);
	fb_partition_init(&partitions[1]);
	exchange_init(&exchange);
	exchange.view.api = "Fetch";
	exchange.view.partition_count = 2;
	exchange.partitions = partitions;
	for (i = 0; i < swapped->rounds; ) {
		struct fb_observer *observer;

		pthread_mutex_lock(&swapped->lock);
		observer = fb_observer_ref(swapped->observer);
		pthread_mutex_unlock(&swapped->lock);
		/* One that is closed shows nothing to anybody: its successor does. */
		i += show_exchange(observer, &exchange, false);
		fb_observer_unref(observer);
	}
	return NULL;
}

/* What the observers of a list saw: each of them the same. */
static void add_seen(struct fb_observer *observer, json_int_t *seen)
{
	json_t *json = fb_observer_json(observer), *list = json_object_get(json, "observers"), *one;
	size_t i;

	json_array_foreach(list, i, one)
		assert_int_equal(json_integer_value(json_object_get(one, "seen")),
				 json_integer_value(json_object_get(json_array_get(list, 0), "seen")));
	*seen += json_integer_value(json_object_get(json_array_get(list, 0), "seen"));
	json_decref(json);
}

static void test_swap_and_close_under_load(void **state)
{
	json_int_t seen = 0;
	static const char *const lists[] = {"TrafficObserver", "FailingObserver,TrafficObserver", "SlowObserver", ""};
	struct fixture fixture = FIXTURE(NULL);
	struct fb_hook_env env = fixture_env(&fixture);
	struct swapped swapped = {PTHREAD_MUTEX_INITIALIZER, make(lists[0], &fixture), 5000};
	const int32_t node = 1;
	pthread_t threads[3];
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, serve, &swapped), 0);
	for (i = 1; i < 40; i++) {
		struct fb_observer *fresh, *old;

		assert_int_equal(fb_observer_new(lists[i % 4], &env, &fresh, NULL), 0);
		pthread_mutex_lock(&swapped.lock);
		old = swapped.observer;
		swapped.observer = fresh;
		pthread_mutex_unlock(&swapped.lock);
		free(fb_observer_prometheus(&old, &node, 1));
		assert_int_equal(fb_observer_close(old, 10000, NULL), 0);
		add_seen(old, &seen);
		fb_observer_unref(old);
	}
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	add_seen(swapped.observer, &seen);
	fb_observer_unref(swapped.observer);
	assert_int_equal(seen, 3 * swapped.rounds);
}

/* What no NoOpObserver can stand in for: the reason comes in place of an entry's. */
static void a_queue_that_cannot_be_made(void **state)
{
	static const struct setting settings[] = {{"observer.mode", "queued"}, {"observer.queue.entries", "0"}, {0}};
	struct fixture fixture = FIXTURE(settings);
	struct fb_hook_env env = fixture_env(&fixture);
	struct fb_observer *observer;
	struct kt_err err = {0};

	(void)state;
	assert_int_equal(fb_observer_new("NoSuchObserver,NoOpObserver", &env, &observer, &err), KT_ERANGE);
	assert_null(observer);
	assert_int_equal(err.code, KT_ERANGE);
	assert_ptr_equal(strstr(err.text, "observer.queue.entries: "), err.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_queue_that_cannot_be_made),
		cmocka_unit_test(test_no_op),
		cmocka_unit_test(test_fallback),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_check_option),
		cmocka_unit_test(test_failures_are_counted_and_logged_at_a_bounded_rate),
		cmocka_unit_test(test_produce_callback),
		cmocka_unit_test(test_no_record_after_close),
		cmocka_unit_test(test_close_is_bounded),
		cmocka_unit_test(test_close_of_any_timeout),
		cmocka_unit_test(test_close_waits_for_a_running_record_but_not_for_ever),
		cmocka_unit_test(test_queued_observer_that_hangs),
		cmocka_unit_test(test_queued_counts_the_same),
		cmocka_unit_test(test_swap_and_close_under_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
