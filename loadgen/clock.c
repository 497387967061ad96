#include "loadgen/clock.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

static atomic_bool stopped;

static int64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * LG_SECOND + ts.tv_nsec;
}

int64_t lg_now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

int64_t lg_wall(void)
{
	return clock_ns(CLOCK_REALTIME);
}

void lg_precise_timers(void)
{
	prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}

void lg_sleep_until(int64_t until)
{
	const int64_t slice = 50 * LG_MS;

	for (int64_t now = lg_now(); now < until && !lg_stopped(); now = lg_now()) {
		int64_t end = until - now > slice ? now + slice : until;
		struct timespec ts = {.tv_sec = end / LG_SECOND, .tv_nsec = end % LG_SECOND};

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
	}
}

void lg_pause(int64_t ns)
{
	struct timespec ts = {.tv_sec = ns / LG_SECOND, .tv_nsec = ns % LG_SECOND};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
}

static void on_signal(int sig)
{
	(void)sig;
	atomic_store(&stopped, true);
}

void lg_stop_on_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

bool lg_stopped(void)
{
	return atomic_load(&stopped);
}

void lg_stop(void)
{
	atomic_store(&stopped, true);
}
