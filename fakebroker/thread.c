#include "fakebroker/thread.h"

void fb_main_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGALRM);
}

int fb_thread_start(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *arg), void *arg)
{
	sigset_t set, before;
	int failed;

	fb_main_signals(&set);
	pthread_sigmask(SIG_BLOCK, &set, &before);
	failed = pthread_create(thread, attr, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failed;
}
