/* Jobs that end, that do not in time, and that come back when nobody waits any more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fakebroker/hooks/workers.h"

enum { SOON = 1, EVER = 60000 };

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t freed = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t was_freed = PTHREAD_COND_INITIALIZER;
static int nfreed;

struct job {
	struct fb_job job;
	bool waits;                /* until the gate opens */
	int runs;
};

static void run_job(struct fb_job *base)
{
	struct job *job = (struct job *)(void *)base;

	atomic_store(&base->stage, 7);
	if (job->waits) {
		pthread_mutex_lock(&gate);
		pthread_mutex_unlock(&gate);
	}
	job->runs++;
}

static void free_job(struct fb_job *base)
{
	free(base);
	pthread_mutex_lock(&freed);
	nfreed++;
	pthread_cond_signal(&was_freed);
	pthread_mutex_unlock(&freed);
}

static struct job *job_new(bool waits)
{
	struct job *job = calloc(1, sizeof *job);

	assert_non_null(job);
	job->job.run = run_job;
	job->job.free = free_job;
	job->waits = waits;
	return job;
}

static void wait_until_freed(int n)
{
	pthread_mutex_lock(&freed);
	while (nfreed < n)
		pthread_cond_wait(&was_freed, &freed);
	pthread_mutex_unlock(&freed);
}

static void a_job_that_ends_is_the_callers(void **state)
{
	struct job *job = job_new(false);
	size_t stage;

	(void)state;
	for (int i = 1; i <= 100; i++) {
		assert_int_equal(fb_job_do(&job->job, EVER, &stage), FB_JOB_DONE);
		assert_int_equal(job->runs, i);
	}
	free(job);
	assert_int_equal(nfreed, 0);
}

/* The gate stays shut until all three were given up; others go on meanwhile. */
static void a_job_that_is_late_is_given_up(void **state)
{
	struct job *job = job_new(false);
	size_t stage;

	(void)state;
	pthread_mutex_lock(&gate);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(fb_job_do(&job_new(true)->job, SOON, &stage), FB_JOB_GIVEN_UP);
		assert_true(stage == 7 || stage == 0);   /* 0: it had but begun */
	}
	assert_int_equal(fb_job_do(&job->job, EVER, &stage), FB_JOB_DONE);
	assert_int_equal(nfreed, 0);
	pthread_mutex_unlock(&gate);
	wait_until_freed(3);
	assert_int_equal(fb_job_do(&job->job, EVER, &stage), FB_JOB_DONE);
	assert_int_equal(job->runs, 2);
	free(job);
}

static void *caller(void *arg)
{
	atomic_int *done = arg;

	for (int i = 0; i < 200; i++) {
		struct job *job = job_new(false);
		size_t stage;

		if (fb_job_do(&job->job, EVER, &stage) == FB_JOB_DONE && job->runs == 1)
			atomic_fetch_add(done, 1);
		free(job);
	}
	return NULL;
}

static void callers_do_not_mix(void **state)
{
	pthread_t threads[4];
	atomic_int done = 0;

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, caller, &done), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(done, 800);
}

/* After the end there can be a beginning. */
static void workers_stop(void **state)
{
	struct job *job = job_new(false);
	size_t stage;

	(void)state;
	fb_workers_stop();
	assert_int_equal(fb_job_do(&job->job, EVER, &stage), FB_JOB_DONE);
	fb_workers_stop();
	free(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_that_ends_is_the_callers),
		cmocka_unit_test(a_job_that_is_late_is_given_up),
		cmocka_unit_test(callers_do_not_mix),
		cmocka_unit_test(workers_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
