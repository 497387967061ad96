#include "fakebroker/hooks/workers.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "fakebroker/thread.h"

struct worker {
	pthread_t thread;
	pthread_cond_t wake;
	struct fb_job *job;        /* NULL: idle */
	bool stop;
	struct worker *next;       /* among the idle */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct worker *idle;

static struct timespec after(int64_t ms)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	ts.tv_sec += (time_t)(ms / 1000);
	ts.tv_nsec += (long)(ms % 1000) * 1000000;
	if (ts.tv_nsec >= 1000000000) {
		ts.tv_sec++;
		ts.tv_nsec -= 1000000000;
	}
	return ts;
}

/* ---- on a worker ---- */

/* True when the worker is of further use. Under the lock, which it gives up while the job runs. */
static bool do_job(struct worker *self)
{
	struct fb_job *job = self->job;

	job->begun = true;
	job->deadline = after(job->ms);
	pthread_mutex_unlock(&lock);
	job->run(job);
	pthread_mutex_lock(&lock);
	self->job = NULL;
	if (!job->given_up) {
		job->done = true;
		pthread_cond_signal(&job->over);
		return true;
	}
	pthread_mutex_unlock(&lock);
	pthread_cond_destroy(&job->over);
	job->free(job);
	pthread_mutex_lock(&lock);
	return false;
}

static void *work(void *arg)
{
	struct worker *self = arg;
	bool retired = false;

	pthread_mutex_lock(&lock);
	while (!retired && !self->stop) {
		if (!self->job) {
			pthread_cond_wait(&self->wake, &lock);
			continue;
		}
		if (do_job(self)) {
			self->next = idle;
			idle = self;
		} else {
			retired = true;
		}
	}
	pthread_mutex_unlock(&lock);
	if (retired) {
		pthread_cond_destroy(&self->wake);
		free(self);
	}
	return NULL;
}

/* ---- for callers ---- */

static struct worker *worker_new(void)
{
	struct worker *worker = calloc(1, sizeof *worker);

	if (!worker)
		return NULL;
	pthread_cond_init(&worker->wake, NULL);
	if (fb_thread_start(&worker->thread, NULL, work, worker) != 0) {
		pthread_cond_destroy(&worker->wake);
		free(worker);
		return NULL;
	}
	return worker;
}

static void cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

/* Under the lock. That a busy machine lets a worker wait is not the fault of what it is to run: its time begins with
 * it. */
static void await(struct fb_job *job)
{
	struct timespec until = after(job->ms);
	bool last = false;

	while (!job->done) {
		if (pthread_cond_timedwait(&job->over, &lock, &until) != ETIMEDOUT)
			continue;
		if (last)
			break;
		last = job->begun;
		until = last ? job->deadline : after(job->ms);
	}
}

enum fb_job_end fb_job_do(struct fb_job *job, int64_t ms, size_t *stage)
{
	struct worker *worker;

	job->ms = ms;
	job->begun = job->done = job->given_up = false;
	pthread_mutex_lock(&lock);
	worker = idle;
	if (worker)
		idle = worker->next;
	else
		worker = worker_new();
	if (!worker) {
		pthread_mutex_unlock(&lock);
		return FB_JOB_NO_WORKER;
	}
	cond_init(&job->over);
	worker->job = job;
	pthread_cond_signal(&worker->wake);
	await(job);
	if (job->done) {
		pthread_mutex_unlock(&lock);
		pthread_cond_destroy(&job->over);
		return FB_JOB_DONE;
	}
	job->given_up = true;
	*stage = atomic_load(&job->stage);
	pthread_detach(worker->thread);
	pthread_mutex_unlock(&lock);
	return FB_JOB_GIVEN_UP;
}

void fb_workers_stop(void)
{
	pthread_mutex_lock(&lock);
	while (idle) {
		struct worker *worker = idle;

		idle = worker->next;
		worker->stop = true;
		pthread_cond_signal(&worker->wake);
		pthread_mutex_unlock(&lock);
		pthread_join(worker->thread, NULL);
		pthread_cond_destroy(&worker->wake);
		free(worker);
		pthread_mutex_lock(&lock);
	}
	pthread_mutex_unlock(&lock);
}
