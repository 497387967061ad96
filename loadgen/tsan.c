#include "loadgen/tsan.h"

#ifdef LG_TSAN

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>

/* glibc's C11 types are its pthread types under other names, so that the casts below are what it does itself. */

void lg_tsan_threads(void)
{
}

/* librdkafka counts references with atomics of its own, which are not seen, so that the end of an object that several
 * threads had looks like a race. What is left out is what librdkafka itself does, and the freeing of memory, which
 * AddressSanitizer watches better; not what the kit's callbacks do. */
const char *__tsan_default_suppressions(void);

const char *__tsan_default_suppressions(void)
{
	return "race_top:librdkafka.so\n"
	       "race_top:pthread_rwlock_destroy\n"
	       "race_top:free\n";
}

struct start {
	thrd_start_t run;
	void *arg;
};

static void *run(void *arg)
{
	struct start start = *(struct start *)arg;

	free(arg);
	return (void *)(intptr_t)start.run(start.arg);
}

int thrd_create(thrd_t *thread, thrd_start_t func, void *arg)
{
	struct start *start = malloc(sizeof *start);

	if (!start)
		return thrd_nomem;
	*start = (struct start){func, arg};
	if (pthread_create(thread, NULL, run, start)) {
		free(start);
		return thrd_error;
	}
	return thrd_success;
}

int thrd_join(thrd_t thread, int *result)
{
	void *value;

	if (pthread_join(thread, &value))
		return thrd_error;
	if (result)
		*result = (int)(intptr_t)value;
	return thrd_success;
}

int mtx_init(mtx_t *mutex, int type)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	if (type & mtx_recursive)
		pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init((pthread_mutex_t *)mutex, &attr);
	pthread_mutexattr_destroy(&attr);
	return thrd_success;
}

void mtx_destroy(mtx_t *mutex)
{
	pthread_mutex_destroy((pthread_mutex_t *)mutex);
}

int mtx_lock(mtx_t *mutex)
{
	return pthread_mutex_lock((pthread_mutex_t *)mutex) ? thrd_error : thrd_success;
}

int mtx_unlock(mtx_t *mutex)
{
	return pthread_mutex_unlock((pthread_mutex_t *)mutex) ? thrd_error : thrd_success;
}

int cnd_init(cnd_t *cond)
{
	return pthread_cond_init((pthread_cond_t *)cond, NULL) ? thrd_error : thrd_success;
}

void cnd_destroy(cnd_t *cond)
{
	pthread_cond_destroy((pthread_cond_t *)cond);
}

int cnd_signal(cnd_t *cond)
{
	return pthread_cond_signal((pthread_cond_t *)cond) ? thrd_error : thrd_success;
}

int cnd_broadcast(cnd_t *cond)
{
	return pthread_cond_broadcast((pthread_cond_t *)cond) ? thrd_error : thrd_success;
}

int cnd_wait(cnd_t *cond, mtx_t *mutex)
{
	return pthread_cond_wait((pthread_cond_t *)cond, (pthread_mutex_t *)mutex) ? thrd_error : thrd_success;
}

int cnd_timedwait(cnd_t *restrict cond, mtx_t *restrict mutex, const struct timespec *restrict until)
{
	switch (pthread_cond_timedwait((pthread_cond_t *)cond, (pthread_mutex_t *)mutex, until)) {
	case 0: return thrd_success;
	case ETIMEDOUT: return thrd_timedout;
	default: return thrd_error;
	}
}

#endif
