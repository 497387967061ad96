#include "fakebroker/bench/program.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void bench_give_up(const char *what)
{
	perror(what);
	exit(3);
}

double bench_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

void program_start(struct program *program, char *const *argv)
{
	int out[2];

	if (pipe(out) || (program->pid = fork()) < 0)
		bench_give_up(argv[0]);
	if (program->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);   /* nothing is left over when a benchmark gives up */
		dup2(out[1], STDOUT_FILENO);
		close(out[0]);
		close(out[1]);
		execv(argv[0], argv);
		_exit(127);
	}
	close(out[1]);
	program->out = fdopen(out[0], "r");
	if (!program->out || !fgets(program->ready, sizeof program->ready, program->out)) {
		fprintf(stderr, "%s does not start\n", argv[0]);
		exit(3);
	}
}

void program_stop(struct program *program)
{
	kill(program->pid, SIGTERM);
	waitpid(program->pid, NULL, 0);
	fclose(program->out);
}

double program_cpu(const struct program *program)
{
	struct timespec ts;
	clockid_t clock;

	if (clock_getcpuclockid(program->pid, &clock) || clock_gettime(clock, &ts))
		bench_give_up("CPU time of a program");
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

const char *program_bootstrap(const struct program *program, char *buf, size_t size)
{
	static const char key[] = "bootstrap=";
	const char *at = strstr(program->ready, key);

	at = at ? at + strlen(key) : "";
	snprintf(buf, size, "%.*s", (int)strcspn(at, " ,\n"), at);
	return buf;
}
