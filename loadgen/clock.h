/* Time: one monotonic clock for all schedules and latencies, and the wall clock for what is written into records. */
#ifndef KASSAY_LOADGEN_CLOCK_H
#define KASSAY_LOADGEN_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define LG_MS INT64_C(1000000)
#define LG_SECOND INT64_C(1000000000)

/* Nanoseconds of CLOCK_MONOTONIC. */
int64_t lg_now(void);
/* Nanoseconds since 1970. */
int64_t lg_wall(void);

/* Asks the kernel for timers of this thread that are not rounded to 50 us. */
void lg_precise_timers(void);

/* Sleeps until the monotonic time `until`; wakes before, within 50 ms, when the user asks to stop. */
void lg_sleep_until(int64_t until);
/* Sleeps that long whatever happens: for short waits in loops that look for a stop themselves. */
void lg_pause(int64_t ns);

/* SIGINT and SIGTERM end a run cleanly: the first one is remembered here, a second one kills the program. */
void lg_stop_on_signals(void);
bool lg_stopped(void);
/* What the signals do. */
void lg_stop(void);

#endif
