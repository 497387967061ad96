#include "fakebroker/hooks/callers.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

atomic_int fb_callers_awaited;
atomic_bool fb_callers_fenced;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;      /* guards the list, and what waits on `left` */
static pthread_cond_t left = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static struct fb_caller *callers;
_Thread_local struct fb_caller fb_caller_own;

/* Puts a barrier into every running thread of the process. */
static bool barrier(void)
{
	return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

/* When a thread ends, while its memory is still there. It may come again: from the destructor of another key. */
static void strike_off(void *arg)
{
	struct fb_caller *caller = arg, **link = &callers;

	pthread_mutex_lock(&lock);
	while (*link != caller)
		link = &(*link)->next;
	*link = caller->next;
	caller->known = false;
	pthread_mutex_unlock(&lock);
}

static void prepare(void)
{
	if (pthread_key_create(&key, strike_off) != 0)
		abort();   /* without it the list would keep places of threads that are gone */
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0 || !barrier())
		atomic_store(&fb_callers_fenced, true);
}

void fb_callers_prepare(void)
{
	pthread_once(&once, prepare);
}

void fb_caller_enlist(void)
{
	fb_callers_prepare();
	if (pthread_setspecific(key, &fb_caller_own) != 0)
		abort();
	pthread_mutex_lock(&lock);
	fb_caller_own.next = callers;
	fb_caller_own.known = true;
	callers = &fb_caller_own;
	pthread_mutex_unlock(&lock);
}

void fb_callers_tell(void)
{
	pthread_mutex_lock(&lock);
	pthread_cond_broadcast(&left);
	pthread_mutex_unlock(&lock);
}

/* Under the lock. */
static bool is_inside(const void *what, size_t at)
{
	for (struct fb_caller *caller = callers; caller; caller = caller->next)
		if (atomic_load(&caller->inside) == what && atomic_load(&caller->at) <= at)
			return true;
	return false;
}

void fb_callers_wait(const void *what, size_t at)
{
	fb_callers_prepare();
	atomic_fetch_add(&fb_callers_awaited, 1);
	if (!atomic_load(&fb_callers_fenced))
		while (!barrier())   /* it worked before: the kernel is out of memory */
			sched_yield();
	pthread_mutex_lock(&lock);
	while (is_inside(what, at))
		pthread_cond_wait(&left, &lock);
	pthread_mutex_unlock(&lock);
	atomic_fetch_sub(&fb_callers_awaited, 1);
}
