/* Threads of the broker. */
#ifndef KASSAY_FAKEBROKER_THREAD_H
#define KASSAY_FAKEBROKER_THREAD_H

#include <pthread.h>
#include <signal.h>

/* Those that only the main thread takes: SIGTERM, SIGINT and SIGALRM. */
void fb_main_signals(sigset_t *set);

/* pthread_create() with these signals blocked in the new thread: no call in it is interrupted by them, and the main
 * thread, which waits for them, is. Returns 0, or an error number. */
int fb_thread_start(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *arg), void *arg);

#endif
