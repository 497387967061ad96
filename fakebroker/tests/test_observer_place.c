/* Observers that are called by their place, and exchanged meanwhile: with the barriers that membarrier(2) puts into the
 * callers, and, in a process that may not use it, with those that callers have of their own. */
#include "fakebroker/tests/hook_fixtures.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "fakebroker/hooks/callers.h"
#include "fakebroker/tests/show_exchange.h"

static bool refused;     /* membarrier() is, in this process */

static struct fb_observer *make(const char *classes, struct fixture *fixture)
{
	struct fb_hook_env env = fixture_env(fixture);
	struct fb_observer *observer;
	struct kt_err err = {0};

	assert_int_equal(fb_observer_new(classes, &env, &observer, &err), 0);
	return observer;
}

/* What the observers of a list saw or dropped: each of them the same. */
static json_int_t accounted(struct fb_observer *observer)
{
	json_t *json = fb_observer_json(observer), *one;
	json_int_t seen, dropped, sum = -1;
	size_t i;

	json_array_foreach(json_object_get(json, "observers"), i, one) {
		assert_int_equal(json_unpack(one, "{s:I, s:I}", "seen", &seen, "dropped", &dropped), 0);
		if (sum >= 0)
			assert_int_equal(seen + dropped, sum);
		sum = seen + dropped;
	}
	json_decref(json);
	return sum;
}

static struct fb_exchange metadata(void)
{
	struct fb_exchange exchange;

	exchange_init(&exchange);
	exchange.view.api = "Metadata";
	return exchange;
}

/* Where no observer is in force, where one is closed, and where it is exchanged. */
static void test_place(void **state)
{
	struct fixture fixture = FIXTURE(NULL);
	struct fb_exchange exchange = metadata();
	fb_observer_place place = NULL;
	struct fb_observer *first, *second;
	int64_t now = 0, before = fb_hook_now();

	(void)state;
	assert_false(fb_observer_show(&place, &exchange, false, &now));
	first = make("TrafficObserver,NoOpObserver", &fixture);
	second = make("NoOpObserver,TrafficObserver", &fixture);
	atomic_store(&place, first);
	assert_true(fb_observer_show(&place, &exchange, false, &now));
	assert_in_range(now, before, fb_hook_now());
	assert_int_equal(accounted(first), 1);
	assert_int_equal(fb_observer_close(first, 1000, NULL), 0);
	assert_false(fb_observer_show(&place, &exchange, false, &now));
	atomic_store(&place, second);
	assert_true(fb_observer_show(&place, &exchange, false, &now));
	assert_int_equal(accounted(first), 1);
	assert_int_equal(accounted(second), 1);
	fb_observer_unref(first);
	fb_observer_unref(second);
	assert_int_equal(atomic_load(&fb_callers_fenced), refused);
}

/* ---- exchanged under load ---- */

/* Of each thread that serves: exchanges, threads that it starts meanwhile, and exchanges of each of those. */
enum { SERVERS = 4, ROUNDS = 40000, GUESTS = 20, SHOTS = 20 };

struct swapped {
	fb_observer_place place;
	atomic_int serving;
};

/* A thread that ends after a few exchanges, and leaves its place. One that is lost will be missing in the sum. */
static void *serve_some(void *arg)
{
	struct fb_exchange exchange = metadata();
	int64_t now = 0;

	for (int i = 0; i < SHOTS; i++)
		fb_observer_show(arg, &exchange, false, &now);
	return NULL;
}

static void *serve(void *arg)
{
	struct swapped *swapped = arg;
	struct fb_exchange exchange = metadata();
	pthread_t thread;
	int64_t now = 0;

	for (int i = 0; i < ROUNDS; i++) {
		fb_observer_show(&swapped->place, &exchange, false, &now);
		if (i % (ROUNDS / GUESTS) == 0 && pthread_create(&thread, NULL, serve_some, &swapped->place) == 0)
			pthread_join(thread, NULL);
	}
	atomic_fetch_sub(&swapped->serving, 1);
	return NULL;
}

/* Each exchange is shown to the observers that were in force or to their successors, to all of a list, and once. */
static void swap_under_load(const struct setting *settings)
{
	static const char *const lists[] = {"TrafficObserver", "FailingObserver,TrafficObserver", "SlowObserver", ""};
	struct fixture fixture = FIXTURE(settings);
	struct swapped swapped = {make(lists[0], &fixture), SERVERS};
	struct fb_observer *old;
	pthread_t threads[SERVERS];
	json_int_t sum = 0;

	for (int i = 0; i < SERVERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, serve, &swapped), 0);
	for (int i = 1; atomic_load(&swapped.serving) > 0; i++) {
		old = atomic_exchange(&swapped.place, make(lists[i % 4], &fixture));
		assert_int_equal(fb_observer_close(old, 100000, NULL), 0);
		sum += accounted(old);
		fb_observer_unref(old);
	}
	for (int i = 0; i < SERVERS; i++)
		pthread_join(threads[i], NULL);
	old = atomic_exchange(&swapped.place, NULL);
	assert_int_equal(fb_observer_close(old, 100000, NULL), 0);
	sum += accounted(old);
	fb_observer_unref(old);
	assert_int_equal(sum, SERVERS * (ROUNDS + GUESTS * SHOTS));
}

static void test_swap_inline(void **state)
{
	(void)state;
	swap_under_load(NULL);
}

static void test_swap_queued(void **state)
{
	static const struct setting queued[] = {{"observer.mode", "queued"}, {"observer.queue.entries", "100"}, {0}};

	(void)state;
	swap_under_load(queued);
}

/* ---- hanging ---- */

struct hanging {
	fb_observer_place place;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool entered, leave;
	int late;
};

/* Runs in record() of FailingObserver. */
static void hang(void *arg, int level, const char *line)
{
	struct hanging *hanging = arg;

	(void)level;
	hanging->late += strstr(line, "did not close") != NULL;   /* by the one thread that closes */
	if (!strstr(line, "FailingObserver failed"))
		return;
	pthread_mutex_lock(&hanging->lock);
	hanging->entered = true;
	pthread_cond_broadcast(&hanging->changed);
	while (!hanging->leave)
		pthread_cond_wait(&hanging->changed, &hanging->lock);
	pthread_mutex_unlock(&hanging->lock);
}

static void *show_once(void *arg)
{
	struct fb_exchange exchange = metadata();
	int64_t now = 0;

	fb_observer_show(arg, &exchange, false, &now);
	return NULL;
}

/* A thread that hangs in one observer holds up neither the closing of others, nor of others in the same list before
 * it. */
static void test_hangs_in_one(void **state)
{
	struct hanging hanging = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
	const struct fb_hook_env env = {.log = hang, .arg = &hanging};
	struct fixture fixture = FIXTURE(NULL);
	struct fb_observer *first = make("TrafficObserver", &fixture), *second;
	struct kt_err err = {0};
	pthread_t thread;

	(void)state;
	assert_int_equal(fb_observer_new("TrafficObserver,FailingObserver", &env, &second, NULL), 0);
	atomic_store(&hanging.place, first);
	show_once(&hanging.place);
	atomic_store(&hanging.place, second);
	assert_int_equal(pthread_create(&thread, NULL, show_once, &hanging.place), 0);
	pthread_mutex_lock(&hanging.lock);
	while (!hanging.entered)
		pthread_cond_wait(&hanging.changed, &hanging.lock);
	pthread_mutex_unlock(&hanging.lock);
	assert_int_equal(fb_observer_close(first, 100000, NULL), 0);
	fb_observer_unref(first);
	atomic_store(&hanging.place, NULL);
	assert_int_equal(fb_observer_close(second, 300, &err), KT_ETIMEOUT);
	assert_string_equal(err.text, "observer FailingObserver did not close within 300 ms");
	assert_int_equal(hanging.late, 1);
	pthread_mutex_lock(&hanging.lock);
	hanging.leave = true;
	pthread_cond_broadcast(&hanging.changed);
	pthread_mutex_unlock(&hanging.lock);
	pthread_join(thread, NULL);
	assert_int_equal(accounted(second), 1);
	fb_observer_unref(second);
}

/* ---- going on ---- */

enum { STEPS = 5000, PATIENCE_S = 10 };

/* Rounds that the one who calls, the one who waits, and what that waits for have come to. */
struct steps {
	atomic_int inside, awaited, passed;
	atomic_bool lost;      /* nobody was told in the last one */
};

/* Waits inside, at the second part, until the other one has seen that the first is over. */
static void *go_on(void *arg)
{
	struct steps *steps = arg;
	struct fb_caller *caller = fb_caller_here();

	for (int i = 1; i <= STEPS && !atomic_load(&steps->lost); i++) {
		int64_t end;

		fb_caller_enter(caller, steps, 0);
		atomic_store(&steps->inside, i);
		while (atomic_load(&steps->awaited) < i)
			;
		for (volatile int k = 0; k < i % 40; k++)
			;
		fb_caller_goes_on(caller, 1);
		end = fb_hook_now() + PATIENCE_S * INT64_C(1000000000);
		while (atomic_load(&steps->passed) < i && !atomic_load(&steps->lost))
			atomic_store(&steps->lost, fb_hook_now() > end);
		fb_caller_leave(caller);
	}
	return NULL;
}

/* Who waits for a part of a list is told at once when a thread goes on to the next, however the two meet. */
static void test_goes_on(void **state)
{
	struct steps steps = {0};
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, go_on, &steps), 0);
	for (int i = 1; i <= STEPS && !atomic_load(&steps.lost); i++) {
		while (atomic_load(&steps.inside) < i)
			;
		atomic_store(&steps.awaited, i);
		for (volatile int k = 0; k < i / 40 % 40; k++)
			;
		fb_callers_wait(&steps, 0);
		atomic_store(&steps.passed, i);
	}
	pthread_join(thread, NULL);
	assert_false(atomic_load(&steps.lost));
}

/* ---- both kinds of barriers ---- */

/* From now on membarrier() fails with EPERM in this process. */
static void refuse_membarrier(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {sizeof filter / sizeof *filter, filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
		perror("seccomp");
		exit(1);
	}
	refused = true;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_place),
		cmocka_unit_test(test_swap_inline),
		cmocka_unit_test(test_swap_queued),
		cmocka_unit_test(test_hangs_in_one),
		cmocka_unit_test(test_goes_on),
	};
	pid_t child = fork();
	int status;

	if (child == 0) {
		refuse_membarrier();
		return cmocka_run_group_tests_name("membarrier() is refused", tests, NULL, NULL);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		return 1;
	return cmocka_run_group_tests_name("membarrier()", tests, NULL, NULL);
}
