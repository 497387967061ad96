/* The programs that a benchmark of brokers starts. Whatever goes wrong in a benchmark ends it: exit code 3. */
#ifndef KASSAY_FAKEBROKER_BENCH_PROGRAM_H
#define KASSAY_FAKEBROKER_BENCH_PROGRAM_H

#include <stdio.h>
#include <sys/types.h>

struct program {
	pid_t pid;
	FILE *out;
	char ready[512];           /* its first line */
};

/* argv[0] is its path. Waits for the first line. */
void program_start(struct program *program, char *const *argv);
/* SIGTERM, and waits for its end. */
void program_stop(struct program *program);
/* CPU time of all its threads so far, user and system, in nanoseconds: the sum that /proc/PID/stat shows in ticks. */
double program_cpu(const struct program *program);
/* "127.0.0.1:9092" from "bootstrap=..." in its first line, in buf. Returns buf. */
const char *program_bootstrap(const struct program *program, char *buf, size_t size);

/* Says what failed, with the text of errno. */
_Noreturn void bench_give_up(const char *what);
/* A steady clock. */
double bench_now_ms(void);

#endif
