/* Threads for what may not come back: a hook with a time limit runs on one of them while its caller waits.
 *
 * There are as many as callers at a time, made when they are needed and kept for the next. A worker that is not back in
 * time is retired: nobody waits for it any more, and it ends when, and if, its job returns.
 */
#ifndef KASSAY_FAKEBROKER_HOOKS_WORKERS_H
#define KASSAY_FAKEBROKER_HOOKS_WORKERS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* The head of a caller's own struct. A job outlives its caller's patience: whatever run() touches belongs to the
 * job. */
struct fb_job {
	void (*run)(struct fb_job *job);   /* on the worker */
	void (*free)(struct fb_job *job);  /* on the worker, after run(), of a job that was given up */
	atomic_size_t stage;               /* run() may say here what it is at */
	pthread_cond_t over;               /* what follows is fb_job_do()'s */
	struct timespec deadline;          /* once it has begun */
	int64_t ms;
	bool begun, done, given_up;
};

enum fb_job_end { FB_JOB_DONE, FB_JOB_GIVEN_UP, FB_JOB_NO_WORKER };

/* Runs the job and waits for it, for at most ms from when a worker has begun with it. FB_JOB_DONE: run() has returned,
 * the job is the caller's again. FB_JOB_GIVEN_UP: it is the worker's from now on, which frees it; *stage is where it
 * was. FB_JOB_NO_WORKER: no thread could be had, the job is the caller's and was not run. */
enum fb_job_end fb_job_do(struct fb_job *job, int64_t ms, size_t *stage);

/* Ends the workers that are idle. Callers are gone by then. */
void fb_workers_stop(void);

#endif
